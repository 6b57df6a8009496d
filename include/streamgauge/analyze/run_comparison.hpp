#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/student_t.hpp>
#include <streamgauge/analyze/verdict.hpp>
#include <streamgauge/analyze/comparison.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The runs of one side: the logarithm of each one's median, or why there are none.
struct run_medians {
  compared_side side;
  std::vector<double> logs;
  double tick = 0.0;    ///< the step of the clock in shares of the level; 0 where none shows
  std::string missing;  ///< empty, or what a run lacks
  bool not_finite = false;
};

/// The medians of several runs, each of its steady part where it has one.
/// Why: a run that is not steady still counts. How far it lies from the others shows in how the medians differ, which is
/// what several runs are judged by; one run has nothing to show it by.
template <class Runs>
[[nodiscard]] run_medians medians_of(Runs const& runs) {
  run_medians found;
  double sum = 0.0;
  for (auto const& numbers : runs) {
    ++found.side.runs;
    auto const run = run_of(numbers);
    if (!run.steady()) ++found.side.unsteady_runs;
    found.side.samples += run.part.size();
    auto const lacks = [&](char const* what) {
      if (found.missing.empty()) found.missing = "run " + std::to_string(found.side.runs) + ' ' + what;
    };
    if (!run.middle) {
      bool const empty = run.part.size() == 0;
      if (!empty) found.not_finite = true;
      lacks(empty ? "has no samples" : "holds a NaN or an infinity");
      continue;
    }
    if (!(*run.middle > 0.0)) {
      lacks("has a median that is not above zero, so the ratio is undefined");
      continue;
    }
    found.logs.push_back(std::log(*run.middle));
    sum += found.logs.back();
    found.tick = std::fmax(found.tick, relative_tick(run));
  }
  if (found.missing.empty() && !found.logs.empty())
    found.side.median = ratio_of(sum / static_cast<double>(found.logs.size()));
  return found;
}

/// A comparison with its interval by Student's t, from the standard error of the logarithm of the ratio.
template <class = void>
[[nodiscard]] comparison judged_by_t(comparison found, double log_ratio, double error, double freedom, double tick) {
  auto const critical = student_t_quantile(0.5 + found.level / 2.0, freedom);
  if (!critical) {
    found.reason = "so few degrees of freedom have no interval";
    return found;
  }
  double const reach = *critical * error;
  found.degrees_of_freedom = freedom;
  found = judged(std::move(found), log_ratio, {log_ratio - reach, log_ratio + reach}, tick);
  if (found.a.runs < fewest_runs || found.b.runs < fewest_runs) {
    found.verdict = verdict::inconclusive;
    found.reason = "fewer than 3 runs a side cannot show how runs differ; 5 are better";
    return found;
  }
  auto const unsteady = found.a.unsteady_runs + found.b.unsteady_runs;
  if (unsteady > 0)
    found.reason += " (" + std::to_string(unsteady) + " of " + std::to_string(found.a.runs + found.b.runs) +
                    " runs not steady: their medians are of all samples)";
  return found;
}

/// What both kinds of comparisons ask first. The answer has a reason where nothing more can be said.
template <class = void>
[[nodiscard]] comparison begin_comparison(comparison_basis basis, run_medians const& a, run_medians const& b,
                                          double threshold) {
  comparison found;
  found.basis = basis;
  found.threshold = threshold;
  found.a = a.side;
  found.b = b.side;
  if (a.not_finite || b.not_finite || *why_no_threshold(threshold) != '\0') found.verdict = verdict::refused;
  if (*why_no_threshold(threshold) != '\0') found.reason = why_no_threshold(threshold);
  else if (!a.missing.empty()) found.reason = "side a: " + a.missing;
  else if (!b.missing.empty()) found.reason = "side b: " + b.missing;
  else if (a.logs.empty() || b.logs.empty())
    found.reason = std::string{"no runs on side "} + (a.logs.empty() ? "a" : "b");
  return found;
}

/// Whether b is faster than a, from several runs of each: a vector of vectors of numbers on each side.
///
/// The medians of the runs are compared on logarithms by Welch's interval, with Satterthwaite's degrees of freedom. Their
/// order does not matter. Three runs a side are needed, five find 3 % in three cases out of four where runs differ by 1 %.
/// Requires: the runs of a and b were made in turns. Where all of a came first, what changed meanwhile looks like a
/// difference between them.
template <class A, class B>
[[nodiscard]] comparison compare_runs(A const& a, B const& b, double threshold = default_threshold) {
  auto const of_a = medians_of(a);
  auto const of_b = medians_of(b);
  auto found = begin_comparison(comparison_basis::several_runs, of_a, of_b, threshold);
  if (!found.reason.empty()) return found;
  auto const about_a = moments_of(of_a.logs.data(), of_a.logs.size());
  auto const about_b = moments_of(of_b.logs.data(), of_b.logs.size());
  auto const log_ratio = static_cast<double>(about_b->mean - about_a->mean);
  auto const variance_a = about_a->sample_variance();
  auto const variance_b = about_b->sample_variance();
  if (!variance_a || !variance_b) {
    found.ratio = ratio_of(log_ratio);
    found.reason = "a single run on one side cannot show how runs differ; 3 a side are needed, 5 are better";
    return found;
  }
  auto const runs_a = static_cast<double>(of_a.logs.size());
  auto const runs_b = static_cast<double>(of_b.logs.size());
  double const part_a = *variance_a / runs_a;
  double const part_b = *variance_b / runs_b;
  double const error = part_a + part_b;
  // In shares of the sum, so that very small variances do not vanish when they are squared.
  double const share_a = error > 0.0 ? part_a / error : 0.5;
  double const share_b = 1.0 - share_a;
  double const freedom = 1.0 / (share_a * share_a / (runs_a - 1.0) + share_b * share_b / (runs_b - 1.0));
  return judged_by_t(std::move(found), log_ratio, std::sqrt(error), freedom, std::fmax(of_a.tick, of_b.tick));
}

/// Whether b is faster than a, from runs made in pairs: the first of a with the first of b, and so on.
///
/// The logarithms of the ratios within the pairs are judged by Student's t. Finds more than `compare_runs` where what
/// moves both runs of a pair (a clock, the heat) is larger than what moves each alone, and less where it is not.
template <class A, class B>
[[nodiscard]] comparison compare_pairs(A const& a, B const& b, double threshold = default_threshold) {
  auto const of_a = medians_of(a);
  auto const of_b = medians_of(b);
  auto found = begin_comparison(comparison_basis::paired_runs, of_a, of_b, threshold);
  if (!found.reason.empty()) return found;
  if (of_a.logs.size() != of_b.logs.size()) {
    found.verdict = verdict::refused;
    found.reason = std::to_string(of_a.logs.size()) + " runs of a and " + std::to_string(of_b.logs.size()) +
                   " of b make no pairs";
    return found;
  }
  std::vector<double> ratios;
  for (std::size_t i = 0; i < of_a.logs.size(); ++i) ratios.push_back(of_b.logs[i] - of_a.logs[i]);
  auto const about = moments_of(ratios.data(), ratios.size());
  auto const log_ratio = static_cast<double>(about->mean);
  auto const variance = about->sample_variance();
  if (!variance) {
    found.ratio = ratio_of(log_ratio);
    found.reason = "a single pair cannot show how pairs differ; 3 are needed, 5 are better";
    return found;
  }
  auto const pairs = static_cast<double>(ratios.size());
  return judged_by_t(std::move(found), log_ratio, std::sqrt(*variance / pairs), pairs - 1.0,
                     std::fmax(of_a.tick, of_b.tick));
}

}  // namespace streamgauge
