#pragma once

#include <chrono>

namespace streamgauge {

/// The unit of every time in the library: whole nanoseconds.
using std::chrono::nanoseconds;

/// A time that a statistic worked out, so that halves of a nanosecond exist (the median of an even count).
using fractional_nanoseconds = std::chrono::duration<double, std::nano>;

/// The clock of every host stamp. No other file names a clock.
/// Why: a wall clock jumps when it is set, and a duration that spans the jump is wrong without looking so.
using host_clock = std::chrono::steady_clock;
static_assert(host_clock::is_steady, "host durations need a clock that never jumps");

/// One reading of the host clock.
using host_stamp = std::chrono::time_point<host_clock, nanoseconds>;

/// The host's time now.
/// Why: one place to stamp, so that every duration of the library comes from the same clock.
[[nodiscard]] inline host_stamp host_now() noexcept {
  return std::chrono::time_point_cast<nanoseconds>(host_clock::now());
}

}  // namespace streamgauge
