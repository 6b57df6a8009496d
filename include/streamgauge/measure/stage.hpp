#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

/// What an execution is by the fixed count of warm-up.
enum class stage : std::uint8_t {
  steady,
  counted,  ///< warm-up: one of as many first executions as its phase was told
  covered,  ///< warm-up: entered inside an execution that is, on the same thread, or a branch of a span that is
};

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

}  // namespace streamgauge

#endif
