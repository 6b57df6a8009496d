#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/graph_api.hpp>
#include <streamgauge/measure/span_group.hpp>
#include <streamgauge/measure/stage.hpp>

namespace streamgauge {

/// A sample of a captured interval for one replay, its device time still open; null without memory, which is counted.
/// Under the lock of the lane.
[[nodiscard]] inline stored_sample* add_replay(series_node& node, lane& mine, timed_slot const& captured,
                                               std::uint32_t parent, nanoseconds now, stage in) noexcept {
  stored_sample* const kept = mine.add_sample();
  if (!kept) {
    node.lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  kept->series = node.index;
  kept->warmup = in != stage::steady;
  kept->entered = now;
  kept->device = absence::still_open;
  kept->parent = captured.where->parent == stored_sample::no_series ? parent : captured.where->parent;
  kept->thread = mine.thread;
  kept->records_inside = captured.where->records_inside;
  kept->part = captured.where->part;
  return kept;
}

/// The place of what has none.
inline constexpr std::size_t no_place = static_cast<std::size_t>(-1);

/// An interval inside a graph, and the events that the executable graph records for it now.
/// Why: those events must not be used for anything else while a launch may still record them, also one that nobody saw.
struct replayed_pair {
  series_node* node = nullptr;     ///< whose samples its replays are
  timed_slot* captured = nullptr;  ///< what was recorded in the capture: the graph's own events
  lane* captured_in = nullptr;
  cudaGraphNode_t start = nullptr;
  cudaGraphNode_t stop = nullptr;
  timed_slot* now = nullptr;     ///< what the executable graph records now
  lane* now_in = nullptr;        ///< the lane of that slot; null: the graph's own
  std::size_t place = no_place;  ///< among what lies in one another; none: it gives no sample
  timed_slot* next = nullptr;    ///< what the launch under way is to record; null: the graph's own, and no sample
};

/// A span inside a graph, and its group of the launch under way.
struct replayed_span {
  series_node* node;
  span_group const* captured;  ///< what that group is made after
  span_group* group;
  std::size_t place;   ///< among what lies in one another
  std::size_t behind;  ///< how many pairs were left before it was, on its lane
};

}  // namespace streamgauge

#endif
