#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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

/// A moment of the device's clock on the host's.
struct placed_moment {
  nanoseconds host{0};
  nanoseconds bound{0};  ///< it was no further than this from `host`
};

/// How much faster one clock runs than another: 3e-6 is 3 us a second; it is no further than `bound` from `rate`.
struct clock_drift {
  double rate = 0;
  double bound = 0;
};

/// Between which offsets, host minus device, a moment lies.
struct offset_range {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();

  [[nodiscard]] bool bounded() const noexcept {
    return least > -std::numeric_limits<double>::infinity() && most < std::numeric_limits<double>::infinity();
  }
};

/// All that windows near a moment say of its offset, if the drift is a straight line there but for its change.
/// Why: with offset a and drift b at the moment, a window d seconds away says l - s <= a + b d <= h + s, where s is what a
/// changing drift can amount to over d. Taking b out of every two of these leaves the exact range of a.
/// Source: Fourier and Motzkin's elimination.
class offset_solver {
 public:
  explicit offset_solver(double most_drift) : lower_{{-most_drift, 0}}, upper_{{most_drift, 0}} {}

  /// `after`: seconds from the moment to the window.
  void add(double after, offset_range const& window) {
    constexpr double endless = std::numeric_limits<double>::infinity();
    if (after == 0) {
      if (window.least > direct_.least) direct_.least = window.least;
      if (window.most < direct_.most) direct_.most = window.most;
      return;
    }
    // b >= (l - a) / d and b <= (h - a) / d; the other way round where d is negative.
    if (window.least > -endless) (after > 0 ? lower_ : upper_).push_back({window.least / after, 1 / after});
    if (window.most < endless) (after > 0 ? upper_ : lower_).push_back({window.most / after, 1 / after});
  }

  /// Where no offset fits, `least` is above `most`.
  [[nodiscard]] offset_range solve() const noexcept {
    offset_range found = direct_;
    for (line const& low : lower_) {
      for (line const& high : upper_) {
        // low.at - low.slope a <= b <= high.at - high.slope a
        double const slope = high.slope - low.slope;
        double const room = high.at - low.at;
        if (slope > 0 && room / slope < found.most) found.most = room / slope;
        if (slope < 0 && room / slope > found.least) found.least = room / slope;
        if (slope == 0 && room < 0) return {1, -1};
      }
    }
    return found;
  }

 private:
  struct line {
    double at;
    double slope;
  };
  offset_range direct_;
  std::vector<line> lower_;
  std::vector<line> upper_;
};

}  // namespace streamgauge
