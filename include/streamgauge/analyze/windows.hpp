#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/spread.hpp>
#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Samples or windows in a row: from `begin` up to but without `end`.
struct index_range {
  std::size_t begin = 0;
  std::size_t end = 0;
  [[nodiscard]] constexpr std::size_t size() const noexcept { return end - begin; }
};

/// Where a range of samples lies, as deviations from the level of its series.
struct level_center {
  double mean = 0.0;
  double median = 0.0;
};

/// What counts as the same level: one per cent.
inline constexpr double steady_band = 0.01;

/// Distance between the quartiles. Requires: numbers, none of them infinite.
template <class T>
[[nodiscard]] double quartile_distance(T const* first, std::size_t size) noexcept {
  number_span<T> const numbers{first, size};
  return *quantile(numbers, 0.75) - *quantile(numbers, 0.25);
}

/// The tick of the clock that numbers were read from, if it is a coarse one; 0 where there is none.
/// Why: without the lowest and the highest twentieth, since beside equal numbers one outlier is no tick.
/// Requires: at least one number, none of them infinite.
template <class T>
[[nodiscard]] double tick_of(T const* first, std::size_t size) {
  return smallest_step(first, size, 1);
}

/// A series as about 128 to 255 windows of equally many samples, in shares of its level: 0.02 is two per cent above the
/// median of the last half. Samples that lie far off are pulled in to `limit`, so that no single one moves a mean.
/// Why: whatever is decided about levels then costs the same for a thousand samples and for a million, and multiplying
/// every sample by a constant changes no bit of it.
/// Requires: at least two samples, finite, not negative, with a median of the last half above zero. They outlive it.
template <class T>
class windowed_series {
 public:
  windowed_series(T const* first, std::size_t size, double level)
      : first_{first},
        size_{size},
        level_{level},
        tick_{bounded(tick_of(first + size / 2, size - size / 2) / level)},
        limit_{limit_of(first, size, level, tick_)},
        per_window_{size < 2 * fewest_windows ? 1 : size / fewest_windows},
        windows_{size / per_window_},
        head_{size - windows_ * per_window_} {
    sums_.reserve(size + 1);
    sums_.push_back(0.0);
    for (std::size_t i = 0; i < size; ++i) sums_.push_back(sums_.back() + deviation(i));
    means_.reserve(windows_);
    for (std::size_t k = 0; k < windows_; ++k) means_.push_back(mean({edge(k), edge(k + 1)}));
  }

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t windows() const noexcept { return windows_; }
  [[nodiscard]] std::size_t per_window() const noexcept { return per_window_; }
  [[nodiscard]] double level() const noexcept { return level_; }
  [[nodiscard]] double tick() const noexcept { return tick_; }
  [[nodiscard]] double limit() const noexcept { return limit_; }
  [[nodiscard]] std::vector<double> const& means() const noexcept { return means_; }

  /// The sample at which a window begins; the first window takes the samples that are left over.
  [[nodiscard]] std::size_t edge(std::size_t window) const noexcept {
    return window == 0 ? 0 : head_ + window * per_window_;
  }
  /// The samples of a range of windows.
  [[nodiscard]] index_range samples(index_range windows) const noexcept {
    return {edge(windows.begin), edge(windows.end)};
  }

  /// One sample's deviation from the level, pulled in to the limit.
  [[nodiscard]] double deviation(std::size_t index) const noexcept {
    double const off = (static_cast<double>(first_[index]) - level_) / level_;
    return off > limit_ ? limit_ : off < -limit_ ? -limit_ : off;
  }
  /// Whether a sample had to be pulled in.
  [[nodiscard]] bool far_off(std::size_t index) const noexcept {
    double const off = deviation(index);
    return off >= limit_ || off <= -limit_;
  }
  /// Sum and mean of the deviations in a range of samples.
  [[nodiscard]] double sum(index_range samples) const noexcept { return sums_[samples.end] - sums_[samples.begin]; }
  [[nodiscard]] double mean(index_range samples) const noexcept {
    return sum(samples) / static_cast<double>(samples.size());
  }

  /// The median of the samples themselves, in their own unit.
  [[nodiscard]] double median_of(index_range samples) const noexcept {
    return *median(number_span<T>{first_ + samples.begin, samples.size()});
  }
  /// The median's deviation from the level, with each sample taken as spread over its tick.
  /// Why: with ticks of five per cent the plain median stands still while the mean moves by two.
  [[nodiscard]] double median_deviation(index_range samples) const noexcept {
    double const middle = median_of(samples);
    std::size_t below = 0;
    std::size_t equal = 0;
    for (std::size_t i = samples.begin; i < samples.end; ++i) {
      auto const number = static_cast<double>(first_[i]);
      if (number < middle) ++below;
      if (number == middle) ++equal;
    }
    double const off = bounded((middle - level_) / level_);
    if (equal == 0) return off;
    double const half = static_cast<double>(samples.size()) / 2.0;
    return off + tick_ * ((half - static_cast<double>(below)) / static_cast<double>(equal) - 0.5);
  }

  [[nodiscard]] level_center center(index_range samples) const noexcept {
    return {mean(samples), median_deviation(samples)};
  }
  /// Whether a range is at the same level as another: within a band of it, in the mean or in the median.
  /// Why: when the share of slow samples changes, one of the two may stand still while the other moves.
  [[nodiscard]] bool alike(level_center one, index_range other) const noexcept {
    auto const within = [](double a, double b) {
      double const limit = steady_band * (1.0 + a);
      return b - a <= limit && a - b <= limit;
    };
    return within(one.mean, mean(other)) || within(one.median, median_deviation(other));
  }

 private:
  static constexpr std::size_t fewest_windows = 128;

  /// Within a million levels, so that squares and their sums stay far from infinity.
  static constexpr double bounded(double share) noexcept { return share > 1e6 ? 1e6 : share < -1e6 ? -1e6 : share; }

  /// Three times the distance of the quartiles, but at least three bands and two ticks. The distance is that of the
  /// last half, or that of differences between near samples where it is the smaller one.
  /// Why: a change of level within the last half widens the first, not the second.
  static double limit_of(T const* first, std::size_t size, double level, double tick) {
    auto const half = size / 2;
    double spread = quartile_distance(first + half, size - half) / level;
    if (size >= 16) {
      constexpr std::size_t enough = 65536;
      auto const begin = size - half > enough ? size - enough : half;
      double nearest = 0.0;
      std::vector<double> steps;
      for (std::size_t const lag : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
        steps.resize(size - lag - begin);
        for (std::size_t i = begin; i + lag < size; ++i)
          steps[i - begin] = bounded((static_cast<double>(first[i + lag]) - static_cast<double>(first[i])) / level);
        double const distance = quartile_distance(steps.data(), steps.size()) * 0.70710678118654752;
        if (distance > nearest) nearest = distance;
      }
      if (nearest < spread) spread = nearest;
    }
    double limit = 3.0 * spread;
    if (limit < 3.0 * steady_band) limit = 3.0 * steady_band;
    if (limit < 2.0 * tick) limit = 2.0 * tick;
    return bounded(limit);
  }

  T const* first_;
  std::size_t size_;
  double level_;
  double tick_;
  double limit_;
  std::size_t per_window_;
  std::size_t windows_;
  std::size_t head_;
  std::vector<double> sums_;
  std::vector<double> means_;
};

}  // namespace streamgauge
