#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/spread.hpp>
#include <streamgauge/analyze/steady_state.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The type of the numbers in a range.
template <class Numbers>
using number_in = std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<Numbers const&>()))>>;

/// What numbers amount to. The members are the same for any count; what does not exist is absent, never 0 or NaN.
/// Units: those of the numbers.
template <class T>
struct number_statistics {
  std::size_t count = 0;
  std::optional<double> median;
  std::optional<T> minimum;
  std::optional<T> maximum;
  std::optional<double> q05;
  std::optional<double> q25;
  std::optional<double> q75;
  std::optional<double> q95;
  std::optional<double> q99;
  std::optional<double> iqr;            ///< the distance between the quartiles
  std::optional<double> mad;            ///< the median of the distances from the median, not scaled
  std::optional<double> mean;
  std::optional<double> sample_stddev;  ///< n - 1; absent for one number
  median_confidence<T> confidence;      ///< of the median
  streamgauge::drift drift{std::nullopt, std::nullopt, no_drift::too_few};
  std::optional<outliers<T>> outlying;  ///< how many lie far from the rest, and the one that lies farthest
};

/// The statistics of numbers in the order in which they were taken, as they are: no steady part is looked for.
template <class Numbers, class Number = number_in<Numbers>>
[[nodiscard]] number_statistics<Number> statistics_of_numbers(Numbers const& numbers) {
  number_statistics<Number> found;
  found.count = std::size(numbers);
  if (auto const ends = extremes_of(std::data(numbers), std::size(numbers))) {
    found.minimum = ends->minimum;
    found.maximum = ends->maximum;
  }
  if (auto const about = moments_of(std::data(numbers), std::size(numbers))) {
    auto const mean = static_cast<double>(about->mean);
    if (finite(mean)) found.mean = mean;
    found.sample_stddev = about->sample_stddev();
  }
  found.median = median(numbers);
  found.q05 = quantile(numbers, 0.05);
  found.q25 = quantile(numbers, 0.25);
  found.q75 = quantile(numbers, 0.75);
  found.q95 = quantile(numbers, 0.95);
  found.q99 = quantile(numbers, 0.99);
  if (found.q25 && found.q75 && finite(*found.q75 - *found.q25)) found.iqr = *found.q75 - *found.q25;
  found.mad = mad(numbers);
  found.confidence = confidence_interval(numbers);
  found.drift = drift_of(numbers);
  found.outlying = find_outliers(numbers, found.q25, found.median, found.q75);
  return found;
}

/// A series of durations: whether and from where it is steady, and the statistics of its parts.
template <class T>
struct number_summary {
  steady_state steadiness;
  number_statistics<T> all;     ///< where it is not steady, read these, and call them unsteady
  number_statistics<T> warmup;  ///< what comes before the steady part; none where there is no steady part
  number_statistics<T> steady;  ///< the steady part; none where there is none
};

/// Summarises durations in the order in which they were taken: a vector, an array, anything with `data()` and `size()` of
/// `std::int64_t` or `double`. Nothing else of the library is needed, and no CUDA.
/// Example: `auto what = sg::summarize(times); if (what.steady.median) use(*what.steady.median);`
template <class Numbers, class Number = number_in<Numbers>, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
[[nodiscard]] number_summary<Number> summarize(Numbers const& numbers) {
  number_summary<Number> found;
  found.steadiness = detect_steady(numbers);
  found.all = statistics_of_numbers(numbers);
  if (!found.steadiness.start) return found;
  auto const start = *found.steadiness.start;
  if (start == 0) {
    found.steady = found.all;
    return found;
  }
  found.warmup = statistics_of_numbers(number_span<Number>{std::data(numbers), start});
  found.steady = statistics_of_numbers(number_span<Number>{std::data(numbers) + start, std::size(numbers) - start});
  return found;
}

}  // namespace streamgauge
