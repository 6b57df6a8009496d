#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

/// What a phase that was declared for graphs does inside a stream capture; `graph_interval.hpp` has the functions.
struct graph_calls {
  /// A slot for an interval that a graph will record; under the lane's lock.
  timed_slot* (*reserve)(lane& in, stream_ref stream, absence& why, char const* phase) noexcept;
  /// Records a timed event into the graph, while the stream is being captured.
  int (*record)(driver_api const& cuda, cudaEvent_t event, stream_ref stream) noexcept;
};

/// A slot for an interval of a phase: on the stream or, where the phase was declared for graphs, in the graph that the
/// stream is captured into; or why there is none. Under the lane's lock.
[[nodiscard]] inline timed_slot* reserve(lane& in, series_node& node, stream_ref stream, absence& why) noexcept {
  timed_slot* slot = in.reserve(stream, why, node.name());
  graph_calls const* const in_graph = node.entry.in_graph.load(std::memory_order_relaxed);
  if (why == absence::stream_capture && in_graph) slot = in_graph->reserve(in, stream, why, node.name());
  if (!slot) return nullptr;
  slot->series = node.index;
  if (device_clocks& clocks = node.core.clocks; clocks.calls && !slot->pool->clock) clocks.calls->provide(clocks, *slot->pool);
  if (stream.is_legacy() && !node.entry.on_legacy_stream.exchange(true, std::memory_order_relaxed))
    node.core.problems().note(trouble::legacy_stream, node.name());
  return slot;
}

/// Records an event of a slot: on its stream, or into the graph that its stream is captured into.
/// Sync: none.
[[nodiscard]] inline int record(driver_api const& cuda, series_node const& node, timed_slot const& slot,
                                cudaEvent_t event) noexcept {
  stream_ref const stream = stream_ref::resolved(slot.stream);
  if (slot.in_graph) return node.entry.in_graph.load(std::memory_order_relaxed)->record(cuda, event, stream);
  return record(cuda, event, stream, slot.pool->context());
}

/// Whether the events of a pool may be touched: `cudaSuccess`, or why not.
[[nodiscard]] inline int may_touch(driver_api const& cuda, event_pool const& pool) noexcept {
  absence const dead = pool.gone() ? absence::context_gone : why_dead(cuda, pool.context());
  if (dead == absence::none) return cudaSuccess;
  return dead == absence::forked ? cudaErrorInitializationError : cudaErrorContextIsDestroyed;
}

/// Whether the stop of an interval may be recorded now, on this thread: `cudaSuccess`, or why not.
[[nodiscard]] inline int may_stop(driver_api const& cuda, timed_slot const& slot) noexcept {
  if (int const status = may_touch(cuda, *slot.pool); status != cudaSuccess) return status;
  stream_ref const stream = stream_ref::resolved(slot.stream);
  return slot.in_graph ? in_sound_capture(cuda, stream) : may_record(cuda, stream, slot.pool->context());
}

/// Records a slot's edge: what another stream is made to wait for; CUDA's status. It counts among the lane's records.
/// Sync: none.
[[nodiscard]] inline int record_edge(driver_api const& cuda, lane& in, timed_slot const& slot, stream_ref on) noexcept {
  int const status = record(cuda, slot.edge, on, slot.pool->context());
  if (status == cudaSuccess) in.records.fetch_add(1, std::memory_order_relaxed);
  return status;
}

}  // namespace streamgauge

#endif
