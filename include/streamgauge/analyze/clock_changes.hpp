#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/environment.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/steady_state.hpp>
#include <streamgauge/analyze/clock_readings.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// What a device was read to be while a series was at one level.
struct level_clocks {
  std::size_t readings = 0;
  std::optional<double> sm_mhz;      ///< the median of the readings
  std::optional<double> memory_mhz;
  std::optional<std::uint64_t> slowed_by;  ///< the reasons that at least half of the readings have
};

/// Whether a change of level is one of the clock.
enum class clock_role : std::uint8_t {
  not_known,  ///< no reading of the clock at the one level or the other
  neither,    ///< no clock moved so, or not by as much
  sm,         ///< the SM clock moved with it, by about as much
  memory,     ///< the memory clock did, and the SM clock did not
};

/// A move of a series' level, with the clocks before and after.
struct clocked_change {
  level_change change;  ///< `at`: among the values that were judged, counted from the first
  level_clocks before;
  level_clocks after;
  clock_role role = clock_role::not_known;

  [[nodiscard]] bool follows_clock() const noexcept { return role == clock_role::sm || role == clock_role::memory; }
};

/// Whether times that changed by a factor did so since a clock changed.
/// Why: work that waits for memory does not follow the SM clock, and a level that moved at the same moment for another reason
/// does not move by as much. So it counts if the clock explains between half and five quarters of the change: a part of the
/// work may not depend on it. Clocks have steps of 15 MHz, so half a per cent is forgiven.
/// `times`: later over earlier; `clocks`: earlier over later, of the frequencies. Both are above 0.
[[nodiscard]] constexpr bool explains(double clocks, double times) noexcept {
  if ((clocks > 1.0) != (times > 1.0)) return false;
  double const by_clock = clocks > 1.0 ? clocks - 1.0 : 1.0 / clocks - 1.0;
  double const seen = times > 1.0 ? times - 1.0 : 1.0 / times - 1.0;
  double const apart = seen > by_clock ? seen - by_clock : by_clock - seen;
  if (by_clock < steady_band / 2) return false;
  return apart <= steady_band / 2 || (seen >= by_clock / 2 && seen <= by_clock * 1.25);
}

/// The clocks while executions ran, from the first one's begin to the last one's end.
template <class Readings>
[[nodiscard]] level_clocks clocks_within(host_stretch const& ran, Readings const& readings) {
  level_clocks found;
  std::vector<std::int64_t> sm, memory;
  std::uint64_t reasons_read = 0;
  std::uint64_t votes[64] = {};
  for (std::size_t i = first_reading_from(readings, ran.begin); i < readings.size() && readings[i].at <= ran.end; ++i) {
    auto const& one = readings[i];
    ++found.readings;
    if (one.sm_mhz) sm.push_back(*one.sm_mhz);
    if (one.memory_mhz) memory.push_back(*one.memory_mhz);
    if (!one.slowed_by) continue;
    ++reasons_read;
    for (std::size_t bit = 0; bit < 64; ++bit) votes[bit] += *one.slowed_by >> bit & 1U;
  }
  found.sm_mhz = median(sm);
  found.memory_mhz = median(memory);
  if (reasons_read == 0) return found;
  found.slowed_by = 0;
  for (std::size_t bit = 0; bit < 64; ++bit)
    if (2 * votes[bit] >= reasons_read) *found.slowed_by |= std::uint64_t{1} << bit;
  return found;
}

/// What the clocks had to do with it.
[[nodiscard]] inline clock_role role_of(level_change const& change, level_clocks const& before,
                                        level_clocks const& after) noexcept {
  auto const moved_so = [&](std::optional<double> const& from, std::optional<double> const& to) {
    return from && to && *from > 0 && *to > 0 && explains(*from / *to, change.to / change.from);
  };
  if (moved_so(before.sm_mhz, after.sm_mhz)) return clock_role::sm;
  if (moved_so(before.memory_mhz, after.memory_mhz)) return clock_role::memory;
  return before.sm_mhz && after.sm_mhz ? clock_role::neither : clock_role::not_known;
}

/// Each change of a series' level, by more than the band of one per cent, with what the clocks did: whether the work became
/// slower, or the device.
/// Why: the readings between two levels decide nothing, since the clock may have moved before or after them.
/// Shape: levels as `steadiness` has them; none of a series that was not judged, and none with clocks of merged recordings,
/// whose host times have no origin in common.
/// Requires: `judged` is of the device times behind the fixed warm-up, as in `distribution`; the readings are those of the
/// device that the series ran on, in order.
/// Example: `for (auto const& each : sg::clock_changes(series, summary.device.values.steadiness, device->readings)) ...`
template <class Readings>
[[nodiscard]] std::vector<clocked_change> clock_changes(series const& of, steady_state const& judged,
                                                        Readings const& readings) {
  std::vector<clocked_change> found;
  if (judged.segments.size() < 2) return found;
  std::vector<host_stretch> ran;
  for (sample const& one : of.samples)
    if (!one.warmup && one.device.known()) ran.push_back(stretch_of(one));
  if (ran.size() != judged.samples) return found;
  // Behind the last execution no level follows that a reading soon afterwards could be of.
  ran.back().end = later_by(ran.back().end, clock_reading_reach / 10);
  auto const clocks_of = [&](level_segment const& level) {
    if (of.runs > 1 || level.end <= level.begin || level.end > ran.size()) return level_clocks{};
    return clocks_within({ran[level.begin].begin, ran[level.end - 1].end}, readings);
  };
  level_clocks before = clocks_of(judged.segments.front());
  for (std::size_t i = 1; i < judged.segments.size(); ++i) {
    level_segment const& from = judged.segments[i - 1];
    level_segment const& to = judged.segments[i];
    level_clocks after = clocks_of(to);
    level_change const change{to.begin, from.median, to.median};
    auto const share = change.share();
    if (share && change.to > 0.0 && (*share > steady_band || *share < -steady_band))
      found.push_back({change, before, after, role_of(change, before, after)});
    before = after;
  }
  return found;
}

}  // namespace streamgauge
