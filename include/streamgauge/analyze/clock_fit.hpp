#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/clock_window.hpp>

namespace streamgauge {

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

/// Places moments of a device's clock on the host's, each with a bound that holds as far as the limits do.
/// Why: the two clocks drift apart by microseconds a second, so one offset is wrong soon; and a fitted line alone says
/// nothing of how far off it may be. Windows bound the offset where they are, and the limit on the change of drift bounds
/// it between and beyond.
/// Shape: O(n) for n windows, then O(log n) for each moment.
template <class = void>
class clock_fit {
 public:
  clock_fit() = default;
  /// The windows in any order. Where they contradict each other there is no fit.
  explicit clock_fit(std::vector<clock_window> windows, clock_limits limits = {})
      : windows_{std::move(windows)}, limits_{limits} {
    put_in_order(windows_, [](auto const& a, auto const& b) { return a.device < b.device; });
    knots_.reserve(windows_.size());
    for (clock_window const& each : windows_) {
      if (!knots_.empty() && knots_.back().device == each.device) continue;
      offset_range const range = solve(each.device, each.blur);
      if (range.least > range.most) contradicted_ = true;
      knots_.push_back({each.device, each.blur, range});
    }
  }

  /// Whether the windows cannot all be true of clocks within the limits.
  [[nodiscard]] bool contradicted() const noexcept { return contradicted_; }
  [[nodiscard]] clock_limits limits() const noexcept { return limits_; }
  [[nodiscard]] std::vector<clock_window> const& windows() const noexcept { return windows_; }

  /// A moment of the device's clock on the host's; absent where nothing bounds it from both sides, or windows contradict.
  [[nodiscard]] std::optional<placed_moment> at(std::int64_t device) const {
    if (contradicted_ || knots_.empty()) return std::nullopt;
    offset_range const range = range_at(device);
    if (!range.bounded() || range.least > range.most) return std::nullopt;
    double const middle = (range.least + range.most) / 2;
    double const half = (range.most - range.least) / 2 + static_cast<double>(limits_.resolution.count());
    auto const whole = static_cast<std::int64_t>(middle < 0 ? middle - 0.5 : middle + 0.5);
    return placed_moment{nanoseconds{device + base() + whole}, nanoseconds{static_cast<std::int64_t>(half) + 1}};
  }

  /// How much the host's clock gains on the device's, from the first bounded moment to the last; absent without two.
  [[nodiscard]] std::optional<clock_drift> drift() const {
    knot const* first = nullptr;
    knot const* last = nullptr;
    for (knot const& each : knots_) {
      if (!each.range.bounded()) continue;
      if (!first) first = &each;
      last = &each;
    }
    if (!first || first == last || contradicted_) return std::nullopt;
    double const apart = static_cast<double>(last->device - first->device);
    double const least = (last->range.least - first->range.most) / apart;
    double const most = (last->range.most - first->range.least) / apart;
    // How far apart they lie may be off as well: by what adds up from the one to the other, and by both readings.
    std::int64_t const blurred = last->blur > first->blur ? last->blur - first->blur : first->blur - last->blur;
    double const off = static_cast<double>(blurred + 2 * limits_.resolution.count()) / apart;
    return clock_drift{(least + most) / 2, (most - least) / 2 + off};
  }

 private:
  struct knot {
    std::int64_t device;
    std::int64_t blur;
    offset_range range;
  };
  // So many windows on each side count: further ones say little more.
  static constexpr std::size_t reach = 12;

  // Offsets are kept against one that is near all of them, where doubles are exact.
  [[nodiscard]] std::int64_t base() const noexcept {
    for (clock_window const& each : windows_) {
      if (each.earliest != clock_window::open_before) return each.earliest - each.device;
      if (each.latest != clock_window::open_after) return each.latest - each.device;
    }
    return 0;
  }

  // What a changing drift can amount to between a moment and two others, `before` and `after` seconds away.
  [[nodiscard]] double bend(double before, double after) const noexcept {
    return limits_.change_of_drift * 1e9 / 2 * before * after;
  }

  [[nodiscard]] std::size_t first_not_before(std::int64_t device) const noexcept {
    return partition_index(windows_.size(), [&](std::size_t i) { return windows_[i].device < device; });
  }

  [[nodiscard]] offset_range solve(std::int64_t device, std::int64_t blur) const {
    std::size_t const here = first_not_before(device);
    std::size_t const first = here > reach ? here - reach : 0;
    std::size_t const last = here + reach < windows_.size() ? here + reach + 1 : windows_.size();
    std::int64_t const against = base();
    offset_solver solver{limits_.drift * 1e9};
    for (std::size_t i = first; i < last; ++i) {
      clock_window const& each = windows_[i];
      double const after = static_cast<double>(each.device - device) / 1e9;
      std::int64_t const blurred = each.blur > blur ? each.blur - blur : blur - each.blur;
      double const slack = bend(after, after) + static_cast<double>(blurred);
      offset_range window;
      if (each.earliest != clock_window::open_before)
        window.least = static_cast<double>(each.earliest - each.device - against) - slack;
      if (each.latest != clock_window::open_after)
        window.most = static_cast<double>(each.latest - each.device - against) + slack;
      solver.add(after, window);
    }
    return solver.solve();
  }

  [[nodiscard]] offset_range range_at(std::int64_t device) const {
    std::size_t const low = partition_index(knots_.size(), [&](std::size_t i) { return knots_[i].device < device; });
    if (low < knots_.size() && knots_[low].device == device) return knots_[low].range;
    bool const outside = low == 0 || low == knots_.size();
    if (outside || !knots_[low - 1].range.bounded() || !knots_[low].range.bounded()) {
      std::size_t const nearest = low < knots_.size() ? low : low - 1;
      return solve(device, windows_[first_not_before(knots_[nearest].device)].blur);
    }
    // Between two knots the offset lies between the straight lines, but for what the drift changed meanwhile.
    knot const& a = knots_[low - 1];
    knot const& b = knots_[low];
    double const before = static_cast<double>(device - a.device) / 1e9;
    double const after = static_cast<double>(b.device - device) / 1e9;
    double const part = before / (before + after);
    double const slack = bend(before, after);
    return {a.range.least + part * (b.range.least - a.range.least) - slack,
            a.range.most + part * (b.range.most - a.range.most) + slack};
  }

  std::vector<clock_window> windows_;
  clock_limits limits_;
  std::vector<knot> knots_;
  bool contradicted_ = false;
};

}  // namespace streamgauge
