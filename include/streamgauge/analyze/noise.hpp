#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/windows.hpp>

namespace streamgauge {

// How much numbers in a row scatter, and for how long one remembers the last, whatever their level does meanwhile.
// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The variance of one number, from the squares of differences between numbers `lag` apart, the largest twentieth left
/// out, or the largest eighth of fewer than forty. 0 where there are fewer than three differences.
/// Why: a step of the level touches few differences, and a slow change none of them much; either would swell the
/// variance around a mean. Of few differences, few are many.
/// Source: `kept_share` is what is left of a normal variance's squares without so many fortieths of the largest.
template <class = void>
[[nodiscard]] double difference_variance(double const* first, std::size_t size, std::size_t lag) {
  constexpr double kept_share[] = {1.0, 0.851, 0.759, 0.685, 0.623, 0.569};
  if (size <= lag + 2) return 0.0;
  std::vector<double> squares;
  squares.reserve(size - lag);
  for (std::size_t i = lag; i < size; ++i) squares.push_back((first[i] - first[i - lag]) * (first[i] - first[i - lag]));
  auto const count = squares.size();
  auto const left_out = count < 40 ? count / 8 : count / 20;
  auto const kept = count - left_out;
  auto const most =
      static_cast<double>(number_of(select(squares.data(), count, kept - 1).low, static_cast<double const*>(nullptr)));
  double sum = 0.0;
  std::size_t below = 0;
  for (double const square : squares) {
    if (!(square < most)) continue;
    sum += square;
    ++below;
  }
  sum += most * static_cast<double>(kept - below);
  double const fortieths = 40.0 * static_cast<double>(left_out) / static_cast<double>(count);
  auto const whole = static_cast<std::size_t>(fortieths < 4.0 ? fortieths : 4.0);
  double const beyond = fortieths - static_cast<double>(whole);
  double const share = kept_share[whole] + (kept_share[whole + 1] - kept_share[whole]) * beyond;
  return sum / static_cast<double>(kept) / (2.0 * share);
}

/// The largest of the above at lags 1, 2 and 4, which also covers short cycles; no lag is longer than a sixteenth of
/// all.
/// Why: across a longer lag, most differences of a short run span whatever changes in it.
template <class = void>
[[nodiscard]] double noise_variance(double const* first, std::size_t size) {
  double largest = difference_variance(first, size, 1);
  for (std::size_t lag = 2; lag <= 4 && 16 * lag <= size; lag *= 2) {
    double const one = difference_variance(first, size, lag);
    if (one > largest) largest = one;
  }
  return largest;
}

/// The autocorrelation of neighbours within segments, each freed of its own level and, from eight values on, of its
/// slope; corrected for what that takes away from white noise. 0 where fewer than eight degrees of freedom are left.
template <class = void>
[[nodiscard]] double memory_within(std::vector<double> const& values, std::vector<index_range> const& segments) {
  double products = 0.0;
  double squares = 0.0;
  double freedom = 0.0;
  double taken = 0.0;
  double pairs = 0.0;
  for (auto const& segment : segments) {
    if (segment.size() < 4) continue;
    auto const length = static_cast<double>(segment.size());
    double const middle = (length - 1.0) / 2.0;
    double mean = 0.0;
    for (std::size_t i = segment.begin; i < segment.end; ++i) mean += values[i];
    mean /= length;
    double slope = 0.0;
    double fitted = 1.0;
    if (segment.size() >= 8) {
      for (std::size_t i = segment.begin; i < segment.end; ++i)
        slope += (static_cast<double>(i - segment.begin) - middle) * (values[i] - mean);
      slope /= length * (length * length - 1.0) / 12.0;
      fitted = 2.0;
    }
    double last = 0.0;
    for (std::size_t i = segment.begin; i < segment.end; ++i) {
      double const rest = values[i] - mean - slope * (static_cast<double>(i - segment.begin) - middle);
      squares += rest * rest;
      products += rest * last;
      last = rest;
    }
    freedom += length - fitted;
    taken += fitted * (length - 1.0) / length;
    pairs += length - 1.0;
  }
  if (freedom < 8.0 || !(squares > 0.0)) return 0.0;
  double const variance = squares / freedom;
  return (products + variance * taken) / (variance * pairs);
}

/// Values as a sum of slow waves: the first one is half a cycle over all of them, each next one half a cycle more (the
/// discrete cosine transform). A drift, a long cycle and a wander show in the first few, noise equally in all.
template <class = void>
class slow_waves {
 public:
  /// Requires: at least one value. They outlive it.
  explicit slow_waves(std::vector<double> const& values) : values_{&values}, wave_(values.size(), 0.0) {
    for (double const value : values) mean_ += value;
    mean_ /= static_cast<double>(values.size());
    fit_.assign(values.size(), mean_);
  }

  /// Takes up one wave more and returns its energy: under white noise, the variance times a chi-square of one degree.
  double take() {
    ++taken_;
    auto const size = values_->size();
    double const step = 3.14159265358979324 * static_cast<double>(taken_) / static_cast<double>(size);
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i) {
      wave_[i] = __builtin_cos(step * (static_cast<double>(i) + 0.5));
      sum += ((*values_)[i] - mean_) * wave_[i];
    }
    double const height = 2.0 * sum / static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i) fit_[i] += height * wave_[i];
    return height * sum;
  }

  /// How far apart the highest and the lowest point of the waves taken so far are.
  [[nodiscard]] double height() const noexcept {
    double low = fit_[0];
    double high = fit_[0];
    for (double const at : fit_) {
      if (at < low) low = at;
      if (at > high) high = at;
    }
    return high - low;
  }

  /// The autocorrelation of neighbours in what the waves leave, corrected likewise.
  [[nodiscard]] double memory_beside() const noexcept {
    double products = 0.0;
    double squares = 0.0;
    double last = 0.0;
    for (std::size_t i = 0; i < fit_.size(); ++i) {
      double const rest = (*values_)[i] - fit_[i];
      squares += rest * rest;
      products += rest * last;
      last = rest;
    }
    if (!(squares > 0.0)) return 0.0;
    auto const fitted = static_cast<double>(taken_ + 1);
    double const variance = squares / (static_cast<double>(fit_.size()) - fitted);
    return (products + variance * fitted) / (variance * static_cast<double>(fit_.size() - 1));
  }

 private:
  std::vector<double> const* values_;
  std::size_t taken_ = 0;
  double mean_ = 0.0;
  std::vector<double> wave_;
  std::vector<double> fit_;
};

}  // namespace streamgauge
