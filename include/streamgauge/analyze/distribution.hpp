#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Statistics of one stage, warm-up or steady. The members are the same for any count; what does not exist is absent.
/// Units: nanoseconds; halves and finer where a statistic lies between two samples.
struct stage_statistics {
  std::uint64_t count = 0;
  std::optional<fractional_nanoseconds> median;
  std::optional<nanoseconds> minimum;
  std::optional<nanoseconds> maximum;
  std::optional<fractional_nanoseconds> q25;
  std::optional<fractional_nanoseconds> q75;
  std::optional<fractional_nanoseconds> mean;
  std::optional<fractional_nanoseconds> sample_stddev;  ///< n - 1; absent for one sample
};

/// One observable's values: warm-up and steady apart, the first one beside them.
struct distribution {
  stage_statistics warmup;
  stage_statistics steady;
  observation first{absence::not_asked};  ///< the first sample, whatever its stage: a value or why there is none
  bool first_sample_outlier = false;      ///< without warm-up, the first sample stands far above the rest
};

/// Statistics of nanosecond counts.
template <class = void>
[[nodiscard]] stage_statistics statistics_of(std::vector<std::int64_t> const& numbers) {
  stage_statistics found;
  found.count = numbers.size();
  if (auto const ends = extremes_of(numbers.data(), numbers.size())) {
    found.minimum = nanoseconds{ends->minimum};
    found.maximum = nanoseconds{ends->maximum};
  }
  auto const in_time = [](std::optional<double> number) {
    return number ? std::optional{fractional_nanoseconds{*number}} : std::nullopt;
  };
  if (auto const about = moments_of(numbers.data(), numbers.size())) {
    found.mean = fractional_nanoseconds{static_cast<double>(about->mean)};
    found.sample_stddev = in_time(about->sample_stddev());
  }
  found.median = in_time(median(numbers));
  found.q25 = in_time(quantile(numbers, 0.25));
  found.q75 = in_time(quantile(numbers, 0.75));
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

/// Whether a first sample stands out: above the mean of the rest by more than five of its standard deviations, or,
/// where the rest does not vary, above 1.5 times its mean. Fewer than two others decide nothing. Source: the rule of
/// hyperfine.
template <class = void>
[[nodiscard]] bool stands_out(std::int64_t first, std::int64_t const* rest, std::size_t count) noexcept {
  auto const about = moments_of(rest, count);
  if (!about) return false;
  auto const deviation = about->sample_stddev();
  if (!deviation) return false;
  auto const center = static_cast<double>(about->mean);
  auto const limit = *deviation > 0.0 ? center + 5.0 * *deviation : 1.5 * center;
  return static_cast<double>(first) > limit;
}

/// One observable of a series, of all samples or of those that were waited for in one way.
template <class = void>
[[nodiscard]] distribution distribution_of(series const& from, observation sample::*which,
                                           std::optional<wait_policy> policy = std::nullopt) {
  distribution found;
  std::vector<std::int64_t> warmup;
  std::vector<std::int64_t> steady;
  steady.reserve(from.samples.size());
  bool is_first = true;
  bool starts_steady = false;
  for (auto const& one : from.samples) {
    if (policy && one.waited != *policy) continue;
    auto const seen = one.*which;
    if (is_first) {
      found.first = seen;
      starts_steady = seen.known() && !one.warmup;
    }
    is_first = false;
    if (auto const value = seen.value()) (one.warmup ? warmup : steady).push_back(value->count());
  }
  if (starts_steady)
    found.first_sample_outlier = stands_out(steady.front(), steady.data() + 1, steady.size() - 1);
  found.warmup = statistics_of(warmup);
  found.steady = statistics_of(steady);
  return found;
}

}  // namespace streamgauge
