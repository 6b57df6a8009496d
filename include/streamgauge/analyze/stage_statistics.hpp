#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/observable_totals.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/spread.hpp>
#include <streamgauge/analyze/number_summary.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The 95 % confidence interval of a median.
struct median_interval {
  nanoseconds low;
  nanoseconds high;
};

/// Statistics of one stage, warm-up or steady. The members are the same for any count; what does not exist is absent.
/// Units: nanoseconds; halves and finer where a statistic lies between two samples.
struct stage_statistics {
  std::uint64_t count = 0;
  std::optional<fractional_nanoseconds> median;
  std::optional<nanoseconds> minimum;
  std::optional<nanoseconds> maximum;
  std::optional<fractional_nanoseconds> q05;
  std::optional<fractional_nanoseconds> q25;
  std::optional<fractional_nanoseconds> q75;
  std::optional<fractional_nanoseconds> q95;
  std::optional<fractional_nanoseconds> q99;
  std::optional<fractional_nanoseconds> iqr;  ///< the distance between the quartiles
  std::optional<fractional_nanoseconds> mad;  ///< the median of the distances from the median, not scaled
  std::optional<fractional_nanoseconds> mean;
  std::optional<fractional_nanoseconds> sample_stddev;  ///< n - 1; absent for one sample
  std::optional<median_interval> confidence;            ///< of the median: the one to go by, wider where samples depend
  std::optional<median_interval> plain_confidence;      ///< as if the samples were independent
  no_confidence why_no_confidence = no_confidence::too_few;
  double correlation = 1.0;  ///< what the variance of the median is taken to grow by, since neighbours depend
  std::optional<double> drift;  ///< median of the last third less that of the first, in shares of the whole; `drift_of`
  beyond_fences beyond_1_5_iqr;  ///< outliers: counted and shown, never taken out
  beyond_fences beyond_3_iqr;
  std::optional<nanoseconds> worst;        ///< the sample farthest from the median, an outlier or not
  std::optional<std::size_t> worst_index;  ///< its place among the samples of this stage
  /// 1: of every sample. Otherwise `mad`, the intervals, drift and outliers are of one sample in so many, as evenly chosen
  /// as a long series keeps them; count, extremes, mean and deviation are exact, quantiles within 1/2048.
  std::uint64_t one_in = 1;
  bool of_kept_alone = false;  ///< not even those: the stage begins or ends where only some samples were kept
};

/// A number as a time, absent where it is.
template <class = void>
[[nodiscard]] std::optional<fractional_nanoseconds> in_time(std::optional<double> number) noexcept {
  return number ? std::optional{fractional_nanoseconds{*number}} : std::nullopt;
}

/// Statistics of nanosecond counts in the order in which they were taken.
template <class Numbers = std::vector<std::int64_t>>
[[nodiscard]] stage_statistics statistics_of(Numbers const& numbers) {
  number_statistics<number_in<Numbers>> const of = statistics_of_numbers(numbers);
  auto const between = [](auto const& ends) {
    return ends ? std::optional{median_interval{nanoseconds{ends->low}, nanoseconds{ends->high}}} : std::nullopt;
  };
  stage_statistics found;
  found.count = of.count;
  if (of.minimum) found.minimum = nanoseconds{*of.minimum};
  if (of.maximum) found.maximum = nanoseconds{*of.maximum};
  found.median = in_time(of.median);
  found.q05 = in_time(of.q05);
  found.q25 = in_time(of.q25);
  found.q75 = in_time(of.q75);
  found.q95 = in_time(of.q95);
  found.q99 = in_time(of.q99);
  found.iqr = in_time(of.iqr);
  found.mad = in_time(of.mad);
  found.mean = in_time(of.mean);
  found.sample_stddev = in_time(of.sample_stddev);
  found.confidence = between(of.confidence.interval);
  found.plain_confidence = between(of.confidence.plain);
  found.why_no_confidence = of.confidence.why_absent;
  found.correlation = of.confidence.correlation.factor;
  found.drift = of.drift.share;
  if (!of.outlying) return found;
  found.beyond_1_5_iqr = of.outlying->beyond_1_5_iqr;
  found.beyond_3_iqr = of.outlying->beyond_3_iqr;
  found.worst = nanoseconds{of.outlying->worst};
  found.worst_index = of.outlying->worst_index;
  return found;
}

/// The same of more numbers than were kept: `kept` are those that were, one in `one_in`.
template <class = void>
[[nodiscard]] stage_statistics statistics_of(number_totals const& all, std::vector<std::int64_t> const& kept,
                                             std::uint64_t one_in) {
  // What was told to be warm-up only after it had been counted is none here.
  stage_statistics found = all.values.count() > 0 ? statistics_of(kept) : stage_statistics{};
  found.one_in = one_in;
  found.count = all.values.count();
  if (found.count == 0) return found;
  found.minimum = nanoseconds{*all.values.minimum()};
  found.maximum = nanoseconds{*all.values.maximum()};
  found.mean = fractional_nanoseconds{static_cast<double>(all.sum.rounded() / static_cast<long double>(found.count))};
  found.sample_stddev.reset();
  if (found.count > 1)
    found.sample_stddev = fractional_nanoseconds{
        __builtin_sqrt(all.squared_deviations / static_cast<double>(found.count - 1))};
  found.median = in_time(all.values.quantile(0.5));
  found.q05 = in_time(all.values.quantile(0.05));
  found.q25 = in_time(all.values.quantile(0.25));
  found.q75 = in_time(all.values.quantile(0.75));
  found.q95 = in_time(all.values.quantile(0.95));
  found.q99 = in_time(all.values.quantile(0.99));
  found.iqr.reset();
  if (found.q25 && found.q75) found.iqr = *found.q75 - *found.q25;
  return found;
}

/// Statistics of durations that need no series.
template <class = void>
[[nodiscard]] stage_statistics summarize(std::vector<nanoseconds> const& durations) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(durations.size());
  for (auto const duration : durations) numbers.push_back(duration.count());
  return statistics_of(numbers);
}

}  // namespace streamgauge
