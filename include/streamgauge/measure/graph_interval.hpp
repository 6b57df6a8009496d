#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/phase.hpp>

namespace streamgauge {

/// A pair of events that was made before the capture began, for good; or why there is none.
[[nodiscard]] inline timed_slot* reserve_in_graph(lane& in, stream_ref stream, absence& why,
                                                  char const* phase) noexcept {
  driver_api const& cuda = *driver().api;
  context_answer const found = context_of(cuda, stream);
  int const status = found.status == cudaSuccess ? in_sound_capture(cuda, stream) : found.status;
  if (status != cudaSuccess) {
    why = in.refuse(status, phase);
    return nullptr;
  }
  // Nothing is made and nothing is read back here: a capture is to see the records alone.
  event_pool* const pool = in.known_pool(found.key);
  why = !pool ? absence::not_prepared : pool->empty() ? absence::pool_full : absence::none;
  if (why != absence::none) return nullptr;
  timed_slot& slot = pool->take_for_graph();
  slot.stream = stream.handle();
  slot.phase = phase;
  return &slot;
}

/// Records a timed event into the graph that the stream is being captured into: an event record node.
[[nodiscard]] inline int record_in_graph(driver_api const& cuda, cudaEvent_t event, stream_ref stream) noexcept {
  int const status = in_sound_capture(cuda, stream);
  return status == cudaSuccess ? cuda.event_record_flags(event, stream.handle(), cudaEventRecordExternal) : status;
}

inline constexpr graph_calls graph_calls_here{&reserve_in_graph, &record_in_graph};

/// Declares a phase, or the phase of a span, for graphs: inside a stream capture it records, and each replay by
/// `graph_replay` gives a sample. Outside it is as any other.
/// Why: a plain record in a capture is a dependency that cannot be read. A time needs a record node, and a node has
/// a price that not every phase should pay.
/// Capture: two event record nodes for an interval, no other node, and no call of ours but questions. The nodes cost: on an
/// H200 launching 50 empty kernels took the host 1.6 us, 3.7 with one interval inside and 9.8 with three. CUDA refuses to
/// instantiate record nodes in the body of a conditional node, and in a graph that is launched from the device.
/// Its events were made before: by a phase that this thread entered in that context outside the capture, or by
/// `prepare_capture`. They live as long as the context, since CUDA crashes where a graph records an event that was
/// destroyed: phase, recorder and graph may go in any order.
/// Example: `sg::phase decode{recorder, "decode", sg::in_graphs};`
inline constexpr graph_choice in_graphs{&graph_calls_here};

/// Makes what phases of this thread need inside a stream capture of that stream's context: events, and new ones for those
/// that earlier captures took for good. Call it before a capture begins; inside one it does nothing.
/// Sync: none.
inline void prepare_capture(recorder& of, stream_ref stream) noexcept {
  if (of.recorded() != mode::time) return;
  lane* const mine = lane_here(of.core());
  if (!mine) return;
  brief_guard const guard{mine->lock};
  absence why = absence::none;
  event_pool* const pool = mine->closed ? nullptr : mine->pool_for(stream, why, "");
  if (!pool) return;
  driver_api const& cuda = *driver().api;
  if (pool->half_used()) mine->harvest(cuda);
  context_scope const current{cuda, pool->context().handle};
  if (current.status() != cudaSuccess) return;
  pool->replace_taken(cuda);
  static_cast<void>(pool->make_edges(cuda));
}

}  // namespace streamgauge

#endif
