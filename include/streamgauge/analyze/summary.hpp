#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/nesting.hpp>

namespace streamgauge {

/// How many reasons of absence there are.
inline constexpr std::size_t absence_count = static_cast<std::size_t>(absence::negative) + 1;

/// What became of one observable over all samples of a series. entered = kept + dropped + incomplete, always.
struct account {
  std::uint64_t entered = 0;
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  std::uint64_t incomplete = 0;
  std::uint64_t not_asked = 0;  ///< samples for which nobody asked for this observable; not entered
  std::uint64_t by_reason[absence_count] = {};

  /// How many samples lack a value for this reason.
  [[nodiscard]] std::uint64_t count(absence why) const noexcept { return by_reason[static_cast<std::size_t>(why)]; }

  void add(absence why, std::uint64_t times = 1) noexcept {
    by_reason[static_cast<std::size_t>(why)] += times;
    auto const what = fate_of(why);
    if (what == fate::not_asked) {
      not_asked += times;
      return;
    }
    entered += times;
    (what == fate::kept ? kept : what == fate::dropped ? dropped : incomplete) += times;
  }
};

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

/// Whose clock an observable was read from. Values of different clocks are never merged.
enum class clock_domain : std::uint8_t { host, device };

/// One observable of a series.
struct observable_summary {
  clock_domain clock = clock_domain::host;
  account samples;
  distribution values;
};

/// Completion as the host observed it, apart for each way of waiting.
/// Why: waking from a block costs many microseconds that a spin does not; a median over both describes neither.
struct completion_summary {
  clock_domain clock = clock_domain::host;
  account samples;  ///< over all ways of waiting
  distribution by_policy[3];
  bool mixed_policies = false;  ///< values by more than one way of waiting

  [[nodiscard]] distribution const& by(wait_policy policy) const noexcept {
    return by_policy[static_cast<std::size_t>(policy)];
  }
};

/// What the samples of one series amount to.
struct summary {
  std::string phase;
  std::vector<condition> conditions;
  observable_summary submit{clock_domain::host, {}, {}};
  observable_summary device{clock_domain::device, {}, {}};
  completion_summary completion;
  std::uint32_t fewest_records_inside = 0;  ///< event records of nested phases within one device interval
  std::uint32_t most_records_inside = 0;
  bool near_resolution = false;  ///< the steady device median is under 1000 ns
  bool near_floor = false;       ///< the steady device median is under twice what an empty phase reads
};

/// Statistics of nanosecond counts.
[[nodiscard]] inline stage_statistics statistics_of(std::vector<std::int64_t> const& numbers) {
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
[[nodiscard]] inline stage_statistics summarize(std::vector<nanoseconds> const& durations) {
  std::vector<std::int64_t> numbers;
  numbers.reserve(durations.size());
  for (auto const duration : durations) numbers.push_back(duration.count());
  return statistics_of(numbers);
}

/// Whether a first sample stands out: above the mean of the rest by more than five of its standard deviations, or,
/// where the rest does not vary, above 1.5 times its mean. Fewer than two others decide nothing. Source: the rule of
/// hyperfine.
[[nodiscard]] inline bool stands_out(std::int64_t first, std::int64_t const* rest, std::size_t count) noexcept {
  auto const about = moments_of(rest, count);
  if (!about) return false;
  auto const deviation = about->sample_stddev();
  if (!deviation) return false;
  auto const center = static_cast<double>(about->mean);
  auto const limit = *deviation > 0.0 ? center + 5.0 * *deviation : 1.5 * center;
  return static_cast<double>(first) > limit;
}

/// One observable of a series, of all samples or of those that were waited for in one way.
[[nodiscard]] inline distribution distribution_of(series const& from, observation sample::*which,
                                                  std::optional<wait_policy> policy = std::nullopt) {
  distribution found;
  std::vector<std::int64_t> warmup;
  std::vector<std::int64_t> steady;
  steady.reserve(from.samples.size());
  bool is_first = true;
  for (std::size_t i = 0; i < from.samples.size(); ++i) {
    auto const& one = from.samples[i];
    if (policy && one.waited != *policy) continue;
    auto const seen = one.*which;
    if (is_first) found.first = seen;
    is_first = false;
    if (auto const value = seen.value()) (i < from.warmup ? warmup : steady).push_back(value->count());
  }
  if (from.warmup == 0 && found.first.known())
    found.first_sample_outlier = stands_out(steady.front(), steady.data() + 1, steady.size() - 1);
  found.warmup = statistics_of(warmup);
  found.steady = statistics_of(steady);
  return found;
}

/// The summary of one series. `near_floor` needs the device and stays false; `summarize(recording)` knows it.
///
/// A sample that the host had no memory to keep (`series::lost`) counts as entered and dropped for submit; for device
/// and completion as well if any sample that was kept was asked for them. Nothing is left of it that could say more,
/// and a loss that counts twice is the smaller error than one that is hidden.
[[nodiscard]] inline summary summarize(series const& from) {
  summary found;
  found.phase = from.phase;
  found.conditions = from.conditions;
  std::uint64_t kept_by_policy[3] = {};
  bool any_inside = false;
  for (auto const& one : from.samples) {
    found.submit.samples.add(one.submit.why_absent());
    found.device.samples.add(one.device.why_absent());
    found.completion.samples.add(one.completion.why_absent());
    if (one.completion.known()) ++kept_by_policy[static_cast<std::size_t>(one.waited)];
    if (!one.device.known()) continue;
    auto const inside = one.records_inside;
    if (!any_inside || inside < found.fewest_records_inside) found.fewest_records_inside = inside;
    if (!any_inside || inside > found.most_records_inside) found.most_records_inside = inside;
    any_inside = true;
  }
  if (from.lost > 0) {
    found.submit.samples.add(absence::no_memory, from.lost);
    if (found.device.samples.entered > 0) found.device.samples.add(absence::no_memory, from.lost);
    if (found.completion.samples.entered > 0) found.completion.samples.add(absence::no_memory, from.lost);
  }
  found.submit.values = distribution_of(from, &sample::submit);
  found.device.values = distribution_of(from, &sample::device);
  std::size_t policies = 0;
  for (std::size_t policy = 0; policy < 3; ++policy) {
    if (kept_by_policy[policy] == 0) continue;
    found.completion.by_policy[policy] = distribution_of(from, &sample::completion, static_cast<wait_policy>(policy));
    ++policies;
  }
  found.completion.mixed_policies = policies > 1;
  auto const& device_median = found.device.values.steady.median;
  found.near_resolution = device_median && *device_median < nanoseconds{1000};
  return found;
}

/// One series of a recording with its place in the tree.
struct summary_row {
  std::size_t index = 0;       ///< in `recording::all`
  std::size_t depth = 0;       ///< 0: a root
  std::vector<place> seen_in;  ///< where its samples were entered; `parent` is an index in `recording::all`
  summary what;
};

/// A recording without its samples: rows in display order and everything that is needed to read them.
struct recording_summary {
  mode recorded = mode::time;
  std::string why_not_measured;
  streamgauge::environment environment;
  std::vector<problem> problems;
  std::vector<summary_row> rows;
};

/// Whether a series was never entered while the same phase was, under other conditions: a handle to which conditions are
/// added on entering has nothing of its own to show.
[[nodiscard]] inline bool only_a_handle(std::vector<series> const& all, std::size_t index) noexcept {
  auto const entered = [](series const& each) { return !each.samples.empty() || each.lost > 0; };
  if (entered(all[index])) return false;
  for (auto const& other : all)
    if (other.phase == all[index].phase && entered(other)) return true;
  return false;
}

/// The summary of a whole recording.
/// A device median is near the floor when it is under twice what an empty phase reads: more than half of it may be
/// the instrument. Samples do not say which device they came from, so among several devices the largest floor counts.
[[nodiscard]] inline recording_summary summarize(recording const& from) {
  recording_summary found{from.recorded, from.why_not_measured, from.environment, from.problems, {}};
  nanoseconds floor{0};
  for (auto const& device : from.environment.devices)
    if (device.event_floor && *device.event_floor > floor) floor = *device.event_floor;
  auto const tree = nest(from.all);
  for (std::size_t i = 0; i < tree.order.size(); ++i) {
    if (only_a_handle(from.all, tree.order[i])) continue;
    found.rows.push_back({});
    auto& row = found.rows.back();
    row.index = tree.order[i];
    row.depth = tree.depth[i];
    row.seen_in = places_of(from.all[row.index], from.all.size());
    row.what = summarize(from.all[row.index]);
    auto const& median = row.what.device.values.steady.median;
    row.what.near_floor = median && *median < 2 * floor;
  }
  return found;
}

}  // namespace streamgauge
