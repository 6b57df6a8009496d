#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

/// Takes the next execution of a series into the count that decides which ones are warm-up.
/// Why: the fixed count alone decides, so a plain and a profiled run name the same executions alike, and the samples say
/// what the ranges are called. It goes over all threads, each set of conditions apart. An execution that leaves no sample
/// counts as well; one that a graph captured does not, its replays do.
[[nodiscard]] inline stage begins_in(series_node& node) noexcept {
  std::size_t const count = node.entry.warmup;
  bool const counts = count != 0 && node.warmed.load(std::memory_order_relaxed) < count;
  if (counts && node.warmed.fetch_add(1, std::memory_order_relaxed) < count) return stage::counted;
  return node.core.warming().covers_this_thread() ? stage::covered : stage::steady;
}

/// What the next execution of a series would be, taken into no count.
/// Why: a capture window is told before the execution begins. Threads that race for the last place may all be told of it.
[[nodiscard]] inline stage would_begin_in(series_node& node) noexcept {
  if (node.warmed.load(std::memory_order_relaxed) < node.entry.warmup) return stage::counted;
  return node.core.warming().covers_this_thread() ? stage::covered : stage::steady;
}

}  // namespace streamgauge

#endif
