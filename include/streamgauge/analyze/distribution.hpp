#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/stage_statistics.hpp>
#include <streamgauge/analyze/steady_state.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// One observable's values: warm-up and steady apart, the first one beside them.
/// Why: what was told to be warm-up is warm-up, and so is what comes before the series became steady, where it did. Where
/// it did not, or that cannot be said, `steady` is of everything behind the fixed warm-up, and `steadiness` says so. So it
/// is of a series too long to be kept whole where less than one sample in a hundred came before.
struct distribution {
  stage_statistics warmup;
  stage_statistics steady;
  steady_state steadiness;                ///< of the values behind the fixed warm-up that were kept, counted from the first
  std::uint64_t before_steady = 0;        ///< values in `warmup` that no fixed count had put there
  observation first{absence::not_asked};  ///< the first sample, whatever its stage: a value or why there is none
  bool first_sample_outlier = false;      ///< without warm-up, the first sample stands far above the rest

  /// Whether one level was seen for at least half of the run.
  [[nodiscard]] bool is_steady() const noexcept { return steadiness.verdict == streamgauge::steadiness::yes; }
};

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

/// Which samples are meant: all, or those that were waited for in one way.
enum class waited_by : std::uint8_t { any, none, spin, block };
[[nodiscard]] constexpr bool takes(waited_by which, wait_policy policy) noexcept {
  return which == waited_by::any || static_cast<std::uint8_t>(which) == 1 + static_cast<std::uint8_t>(policy);
}

/// The totals of what is meant; null where there are none: of `begins`, of submit and device times by one way of waiting,
/// and of completions by several at once.
template <class = void>
[[nodiscard]] observable_totals const* totals_of(series_totals const& from, observation sample::*which,
                                                 waited_by policy) noexcept {
  bool const any = policy == waited_by::any;
  if (which == &sample::submit) return any ? &from.submit : nullptr;
  if (which == &sample::device) return any ? &from.device : nullptr;
  if (which != &sample::completion) return nullptr;
  if (!any) return &from.completion[static_cast<std::size_t>(policy) - 1];
  observable_totals const* only = nullptr;
  for (auto const& each : from.completion) {
    if (each.count() == 0) continue;
    if (only) return nullptr;
    only = &each;
  }
  return only;
}

/// One observable of a series, of all samples or of those that were waited for in one way.
template <class = void>
[[nodiscard]] distribution distribution_of(series const& from, observation sample::*which,
                                           waited_by policy = waited_by::any) {
  distribution found;
  std::vector<std::int64_t> warmup;
  std::vector<std::int64_t> steady;
  steady.reserve(from.samples.size());
  bool is_first = true;
  bool starts_steady = false;
  std::size_t at = 0;
  std::size_t at_head = 0;  // of `steady`, how many are among the first samples
  for (auto const& one : from.samples) {
    bool const is_at_head = at++ < samples_at_head;
    if (!takes(policy, one.waited)) continue;
    auto const seen = one.*which;
    if (is_first) {
      found.first = seen;
      starts_steady = seen.known() && !one.warmup;
    }
    is_first = false;
    if (auto const value = seen.value()) (one.warmup ? warmup : steady).push_back(value->count());
    if (is_at_head) at_head = steady.size();
  }
  if (starts_steady)
    found.first_sample_outlier = stands_out(steady.front(), steady.data() + 1, steady.size() - 1);
  if (from.runs == 1)
    found.steadiness = detect_steady(steady);
  else
    found.steadiness.reason = steady_reason::several_runs;
  found.steadiness.samples = steady.size();
  auto const start = found.steadiness.start.value_or(0);
  // Of a thinned series what came before can only be left out with what was not kept. Where it is next to nothing, all
  // samples say more than those that were kept.
  std::uint64_t const before = start < at_head ? start : at_head + (start - at_head) * from.kept_one_in;
  auto const* const totals = from.totals ? totals_of(*from.totals, which, policy) : nullptr;
  if (totals && before * 100 <= totals->steady.values.count()) {
    found.warmup = statistics_of(totals->warmup, warmup, from.kept_one_in);
    found.steady = statistics_of(totals->steady, steady, from.kept_one_in);
    return found;
  }
  found.before_steady = start;
  warmup.insert(warmup.end(), steady.begin(), steady.begin() + static_cast<std::ptrdiff_t>(start));
  steady.erase(steady.begin(), steady.begin() + static_cast<std::ptrdiff_t>(start));
  found.warmup = statistics_of(warmup);
  found.steady = statistics_of(steady);
  found.warmup.one_in = found.steady.one_in = from.kept_one_in;
  found.warmup.of_kept_alone = found.steady.of_kept_alone = from.kept_one_in > 1;
  return found;
}

}  // namespace streamgauge
