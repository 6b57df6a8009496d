#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge {

// When nothing ran. Functions are templates, so that only a unit that calls them compiles their bodies.

/// Why there are no idle times.
enum class no_idle_times : std::uint8_t {
  none,          ///< there are: they are known, even where they are zero
  nothing_ran,   ///< no stretch with any time in it, and no window that says where to look
  empty_window,  ///< the window ends where or before it begins
  too_long,      ///< from the first begin to the last end is more than 2^63 ns
};

/// The reason in words that finish the sentence "no idle times: ...".
[[nodiscard]] constexpr char const* describe(no_idle_times why) noexcept {
  switch (why) {
    case no_idle_times::none: return "nothing is missing";
    case no_idle_times::nothing_ran: return "nothing ran, so there is nothing between (give a window to look in)";
    case no_idle_times::empty_window: return "the window ends where or before it begins";
    case no_idle_times::too_long: return "it reaches over more than 2^63 ns, which is 292 years";
  }
  return "unknown";
}

/// The time in which nothing ran. Busy and idle time of the same stretches add up to the length of `within`.
struct idle_times {
  std::optional<stretch> within;     ///< where was looked: the window, or from the first begin to the last end
  std::vector<stretch> gaps;         ///< in the order of time, none of them empty
  std::optional<nanoseconds> total;  ///< zero where something ran all the time; absent for a reason
  std::optional<stretch> longest;    ///< of equal ones the first; absent where there is no gap
  no_idle_times why_absent = no_idle_times::none;
};

/// The part of a stretch that lies in a window; an empty one where none does.
[[nodiscard]] constexpr stretch part_within(stretch const& of, stretch const& window) noexcept {
  return {of.begin < window.begin ? window.begin : of.begin, window.end < of.end ? window.end : of.end};
}

/// Whether a stretch is longer than a number of nanoseconds can say.
[[nodiscard]] constexpr bool too_long(stretch const& of) noexcept {
  nanoseconds::rep length = 0;
  return __builtin_sub_overflow(of.end.count(), of.begin.count(), &length);
}

/// From the first begin to the last end of what is not empty; absent where nothing is left.
template <class Stretches>
[[nodiscard]] std::optional<stretch> extent_of(Stretches const& stretches) noexcept {
  std::optional<stretch> found;
  auto const* const first = std::data(stretches);
  for (std::size_t i = 0; i < std::size(stretches); ++i) {
    stretch const& each = first[i];
    if (each.end <= each.begin) continue;
    if (!found) found = each;
    if (each.begin < found->begin) found->begin = each.begin;
    if (found->end < each.end) found->end = each.end;
  }
  return found;
}

/// The gaps in a window where none of the stretches ran; of those that reach over its ends only the part within counts.
/// Stretches that touch leave no gap. Takes a vector, an array, anything with `data()` and `size()`, in any order.
/// Shape: O(n log n); the input is copied, never reordered.
template <class Stretches>
[[nodiscard]] idle_times idle_times_of(Stretches const& stretches, stretch const& window) {
  idle_times found;
  found.within = window;
  if (window.end <= window.begin) found.why_absent = no_idle_times::empty_window;
  else if (too_long(window)) found.why_absent = no_idle_times::too_long;
  if (found.why_absent != no_idle_times::none) return found;
  std::vector<stretch> sorted;
  auto const* const first = std::data(stretches);
  for (std::size_t i = 0; i < std::size(stretches); ++i) {
    auto const part = part_within(first[i], window);
    if (part.begin < part.end) sorted.push_back(part);
  }
  put_in_order(sorted, [](stretch const& a, stretch const& b) { return a.begin < b.begin; });
  nanoseconds total{0};
  auto busy_until = window.begin;
  auto const idle_until = [&](nanoseconds next) {
    if (next <= busy_until) return;
    stretch const gap{busy_until, next};
    found.gaps.push_back(gap);
    total += gap.end - gap.begin;
    if (!found.longest || found.longest->end - found.longest->begin < gap.end - gap.begin) found.longest = gap;
  };
  for (auto const& each : sorted) {
    idle_until(each.begin);
    if (busy_until < each.end) busy_until = each.end;
  }
  idle_until(window.end);
  found.total = total;
  return found;
}

/// The gaps between stretches, from the first begin to the last end.
/// Why: what lies before the first and behind the last is no gap between anything. Give a window where it counts.
template <class Stretches>
[[nodiscard]] idle_times idle_times_of(Stretches const& stretches) {
  if (auto const extent = extent_of(stretches)) return idle_times_of(stretches, *extent);
  idle_times found;
  found.why_absent = no_idle_times::nothing_ran;
  return found;
}

}  // namespace streamgauge
