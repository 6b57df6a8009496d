#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/noise.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The segmentation of values into levels with the least sum of squares over `variance` plus `4 ln n` for each segment:
/// exact optimal partitioning.
/// Shape: O(n^2), meant for the few hundred windows of a series.
/// Requires: a variance above zero.
template <class = void>
[[nodiscard]] std::vector<index_range> change_points(std::vector<double> const& values, double variance) {
  auto const size = values.size();
  double const penalty = 4.0 * __builtin_log(static_cast<double>(size < 3 ? 3 : size)) * variance;
  std::vector<double> sums(size + 1, 0.0);
  std::vector<double> squares(size + 1, 0.0);
  std::vector<double> reciprocals(size + 1, 0.0);
  std::vector<double> costs(size + 1, 0.0);
  std::vector<std::size_t> previous(size + 1, 0);
  for (std::size_t i = 0; i < size; ++i) {
    sums[i + 1] = sums[i] + values[i];
    squares[i + 1] = squares[i] + values[i] * values[i];
    reciprocals[i + 1] = 1.0 / static_cast<double>(i + 1);
  }
  costs[0] = -penalty;
  for (std::size_t end = 1; end <= size; ++end) {
    double least = 0.0;
    for (std::size_t begin = 0; begin < end; ++begin) {
      double const sum = sums[end] - sums[begin];
      double const cost = costs[begin] - squares[begin] - sum * sum * reciprocals[end - begin];
      if (begin > 0 && !(cost < least)) continue;
      least = cost;
      previous[end] = begin;
    }
    costs[end] = least + squares[end] + penalty;
  }
  std::size_t count = 0;
  for (std::size_t end = size; end > 0; end = previous[end]) ++count;
  std::vector<index_range> found(count);
  for (std::size_t end = size; end > 0; end = previous[end]) found[--count] = {previous[end], end};
  return found;
}

/// The levels of a series' windows and the noise that they were told from.
struct levels {
  std::vector<index_range> segments;  ///< of windows
  double variance = 0.0;              ///< of one window's mean, as it counts over many windows
};

/// Levels of a series. Where what is left beside them remembers its neighbour, the noise has a memory, its mean over
/// many windows varies more than that of as many independent ones, and levels are sought again under that variance.
/// Why: under the variance of independent noise, a memory of a few samples looks like many small steps.
///
/// The memory has to show beside slow waves as well as beside levels, because levels fitted to a long cycle leave a
/// saw-tooth that looks like memory. And it has to be short: of what a sample passes on at 0.88 to the next, a twentieth
/// is left after two dozen of them. Anything longer is no noise but a level that wanders. Means of b samples remember
/// about the (b + 1)/2-th power of that.
template <class T>
[[nodiscard]] levels levels_of(windowed_series<T> const& series) {
  constexpr double least_memory = 0.4;
  constexpr double most_memory = 0.88;
  constexpr double most_counted = 0.8;
  auto const& means = series.means();
  auto const windows = means.size();
  auto const per_window = static_cast<double>(series.per_window());
  // Rounding to a tick is noise too, and no series is trusted to a ten-thousandth of its level.
  double const rounding = series.tick() * series.tick() / 12.0 / per_window;
  double const floor = rounding > 1e-8 ? rounding : 1e-8;
  double const noise = noise_variance(means.data(), windows);
  levels found;
  found.variance = noise > floor ? noise : floor;
  auto const independent = found.variance;
  found.segments = change_points(means, independent);
  if (windows < 40) return found;
  slow_waves<> waves{means};
  for (std::size_t i = 0; i < 8 && i < windows / 8; ++i) (void)waves.take();
  if (waves.memory_beside() < least_memory) return found;
  auto const in_window = [per_window](double memory) {
    return __builtin_exp((per_window + 1.0) / 2.0 * __builtin_log(memory));
  };
  double const steps = difference_variance(means.data(), windows, 1);
  for (int round = 0; round < 3; ++round) {
    double memory = memory_within(means, found.segments);
    if (memory < least_memory) break;
    if (memory > in_window(most_memory)) return {change_points(means, independent), independent};
    if (memory > in_window(most_counted)) memory = in_window(most_counted);
    double const variance = steps * (1.0 + memory) / ((1.0 - memory) * (1.0 - memory));
    if (!(variance > found.variance)) break;
    found.variance = variance;
    found.segments = change_points(means, variance);
  }
  return found;
}

}  // namespace streamgauge
