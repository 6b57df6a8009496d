#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// How many executions of a device were starved, of those that were entered within one window of time.
struct starved_window {
  int device = -1;           ///< as the program numbers its devices; -1: not known
  nanoseconds begin{0};      ///< host, since the recording's origin
  std::uint64_t starved = 0;
  std::uint64_t decided = 0;  ///< starved or clean; never 0: a window that tells nothing is not there
};

/// The starved share over time.
struct starved_course {
  nanoseconds window{0};             ///< how long each one is
  std::vector<starved_window> windows;  ///< by device, then by time
};

/// How long the windows are for executions that were entered over such a time: the shortest of 1, 2 and 5 ms, 10, 20 and 50
/// ms and so on of which a hundred hold all.
/// Why: long enough that a share is of more than one execution where phases take microseconds, and as many as a screen shows.
[[nodiscard]] constexpr nanoseconds starved_window_over(nanoseconds time) noexcept {
  constexpr int next[] = {2, 5, 10};
  std::int64_t power = 1'000'000;
  std::int64_t window = power;
  for (std::size_t i = 0; time.count() / 100 >= window && power < std::int64_t{1'000'000'000'000'000}; ++i) {
    window = power * next[i % 3];
    if (i % 3 == 2) power *= 10;
  }
  return nanoseconds{window};
}

/// The starved share of each device over time, of what the bounds leave no doubt of. Warm-up counts: it is part of what
/// happened then. A span as a whole does not, since its branches are there.
template <class Recording>
[[nodiscard]] starved_course starved_course_of(Recording const& of) {
  struct seen {
    int device;
    nanoseconds entered;
    std::uint64_t starved;
  };
  std::vector<seen> all;
  for (auto const& each : of.all) {
    for (sample const& one : each.samples) {
      feeding const how = feeding_of(one);
      if (how == feeding::unknown || one.part == span_part::whole) continue;
      all.push_back({device_of(of, one).value_or(-1), one.entered, how == feeding::starved ? 1U : 0U});
    }
  }
  starved_course found;
  if (all.empty()) return found;
  nanoseconds first = all.front().entered;
  nanoseconds last = first;
  for (seen const& each : all) {
    if (each.entered < first) first = each.entered;
    if (last < each.entered) last = each.entered;
  }
  found.window = starved_window_over(last - first);
  put_in_order(all, [](seen const& a, seen const& b) {
    return a.device != b.device ? a.device < b.device : a.entered < b.entered;
  });
  for (seen const& each : all) {
    nanoseconds const begin = first + (each.entered - first) / found.window.count() * found.window.count();
    bool const fresh = found.windows.empty() || found.windows.back().device != each.device || found.windows.back().begin != begin;
    if (fresh) found.windows.push_back({each.device, begin, 0, 0});
    found.windows.back().starved += each.starved;
    ++found.windows.back().decided;
  }
  return found;
}

}  // namespace streamgauge
