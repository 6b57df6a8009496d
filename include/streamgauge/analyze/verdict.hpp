#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>

namespace streamgauge {

/// What can be said of b against a.
enum class verdict : std::uint8_t {
  faster,        ///< b takes less, by more than the threshold
  slower,        ///< b takes more, by more than the threshold
  same,          ///< they differ by less than the threshold
  inconclusive,  ///< these numbers cannot tell
  refused,       ///< they must not be compared
};

[[nodiscard]] constexpr char const* describe(verdict what) noexcept {
  switch (what) {
    case verdict::faster: return "faster";
    case verdict::slower: return "slower";
    case verdict::same: return "same";
    case verdict::inconclusive: return "inconclusive";
    case verdict::refused: return "refused";
  }
  return "unknown";
}

/// What the uncertainty of a comparison was taken from.
/// Why: two runs of one program differ by more than the samples within either show: with a run-to-run effect of 1 % the
/// interval of a single run on each side calls identical code different two times in five.
enum class comparison_basis : std::uint8_t {
  one_run,       ///< one run a side: the samples within it, and nothing of how runs differ
  several_runs,  ///< how the medians of several runs a side differ
  paired_runs,   ///< how the ratios within pairs of runs differ
};

[[nodiscard]] constexpr char const* describe(comparison_basis basis) noexcept {
  switch (basis) {
    case comparison_basis::one_run: return "within one run only";
    case comparison_basis::several_runs: return "several runs a side";
    case comparison_basis::paired_runs: return "runs in pairs";
  }
  return "unknown";
}

/// The difference that a comparison asks about unless told otherwise: 1 %.
inline constexpr double default_threshold = 0.01;

/// Fewer runs a side give no verdict: two say next to nothing of how runs differ.
inline constexpr std::size_t fewest_runs = 3;

/// What went into one side of a comparison.
struct compared_side {
  std::size_t runs = 0;
  std::size_t unsteady_runs = 0;  ///< runs that did not show one level, or could not
  std::size_t samples = 0;        ///< those that medians were taken of: the steady part where there is one
  std::optional<double> median;   ///< of several runs the geometric mean of their medians
};

/// Whether b is faster than a, and how that is known.
struct comparison {
  streamgauge::verdict verdict = streamgauge::verdict::inconclusive;
  std::optional<double> ratio;                   ///< median of b over median of a: 1.03 is 3 % slower
  std::optional<bounds> interval;                ///< the confidence interval of the ratio: what the verdict went by
  std::optional<bounds> plain_interval;          ///< one run a side: as if the samples were independent
  std::optional<double> degrees_of_freedom;      ///< several runs: of Student's t
  double level = confidence_level;
  double threshold = default_threshold;          ///< 0.01: what differs by less than 1 % counts as the same
  comparison_basis basis = comparison_basis::one_run;
  compared_side a;
  compared_side b;
  std::string reason;  ///< the verdict's grounds, in words
};

/// Why a comparison cannot be made at this threshold; empty when it can.
[[nodiscard]] constexpr char const* why_no_threshold(double threshold) noexcept {
  return threshold >= 0.0 && threshold <= 1e6 ? "" : "the threshold is not a number from 0 up";
}

/// A ratio, or two, of their logarithms; absent where a number cannot hold it.
template <class = void>
[[nodiscard]] std::optional<double> ratio_of(double log_ratio) noexcept {
  double const ratio = std::exp(log_ratio);
  return finite(ratio) ? std::optional{ratio} : std::nullopt;
}
template <class = void>
[[nodiscard]] std::optional<bounds> ratios_of(bounds logs) noexcept {
  bounds const ratios{std::exp(logs.low), std::exp(logs.high)};
  return finite(ratios.low) && finite(ratios.high) ? std::optional{ratios} : std::nullopt;
}

/// A comparison with its ratio and interval, and the verdict that follows from them.
///
/// `tick` is the step of the clock in shares of the level, 0 where none shows. An interval that is finer than half a
/// tick claims more than the clock can show: a difference is then believed from more than one tick on, and sameness
/// where a tick is within the threshold.
/// Requires: `logs` holds `log_ratio`; all are finite.
template <class = void>
[[nodiscard]] comparison judged(comparison found, double log_ratio, bounds logs, double tick) {
  found.ratio = ratio_of(log_ratio);
  found.interval = ratios_of(logs);
  found.verdict = verdict::inconclusive;
  if (!found.ratio || !found.interval) {
    found.reason = "the ratio or its interval is too large for a number";
    return found;
  }
  // On logarithms the threshold is as far on both sides: what is 1 % slower is, the other way round, as much faster.
  double const limit = std::log1p(found.threshold);
  bool const finer_than_clock = (logs.high - logs.low) / 2.0 < tick / 2.0;
  double const slack = 1e-9;  // a tick is a difference of two numbers, so its last digits are not exact
  if (logs.low > limit || logs.high < -limit) {
    if (finer_than_clock && std::fabs(log_ratio) <= std::log1p(tick) * (1.0 + slack)) {
      found.reason = "the difference is no more than one step of the clock";
      return found;
    }
    found.verdict = log_ratio > 0.0 ? verdict::slower : verdict::faster;
    found.reason = log_ratio > 0.0 ? "all of the interval is above the threshold" : "all of the interval is below the threshold";
  } else if (logs.low > -limit && logs.high < limit) {
    if (finer_than_clock && tick > found.threshold * (1.0 + slack)) {
      found.reason = "one step of the clock is more than the threshold";
      return found;
    }
    found.verdict = verdict::same;
    found.reason = "all of the interval is within the threshold";
  } else if (logs.low > 0.0 || logs.high < 0.0) {
    found.reason = "they differ, but whether by more than the threshold is open: the interval reaches over it";
  } else {
    found.reason = "the interval holds both no difference and one above the threshold";
  }
  return found;
}

}  // namespace streamgauge
