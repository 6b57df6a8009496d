#pragma once

#include <cstdint>
#include <limits>

#include <streamgauge/time.hpp>

namespace streamgauge {

/// One moment on a device's clock, and between which moments of the host's clock it lay.
/// Units: nanoseconds, each clock from a zero of its own.
struct clock_window {
  static constexpr std::int64_t open_before = (std::numeric_limits<std::int64_t>::min)();
  static constexpr std::int64_t open_after = (std::numeric_limits<std::int64_t>::max)();

  std::int64_t device = 0;
  std::int64_t earliest = open_before;  ///< it was not before this
  std::int64_t latest = open_after;     ///< nor after this
  std::int64_t blur = 0;  ///< how far `device` may be off against the device's zero; it never falls from window to window
};

/// What is assumed of two clocks. Everything else follows from windows.
struct clock_limits {
  double drift = 300e-6;           ///< how much faster or slower one runs than the other, at most
  double change_of_drift = 1e-6;   ///< by how much the drift changes in a second, at most
  nanoseconds resolution{64};      ///< how far a reading of the device's clock may be from the truth
};

/// By how much a stretch of one clock's time may be longer or shorter on the other, rounded up.
[[nodiscard]] constexpr nanoseconds drift_over(nanoseconds stretch, clock_limits const& limits = {}) noexcept {
  return nanoseconds{static_cast<std::int64_t>(static_cast<double>(stretch.count()) * limits.drift) + 1};
}

/// A moment of the device's clock on the host's.
struct placed_moment {
  nanoseconds host{0};
  nanoseconds bound{0};  ///< it was no further than this from `host`
};

}  // namespace streamgauge
