#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/verdict.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Fewer rounds give no verdict.
inline constexpr std::size_t fewest_rounds = 16;

/// Whether b is faster than a, where both ran in each of many rounds: the first of a beside the first of b, and so on.
/// Why: what drifts, a clock that steps down for one, meets both sides of a round alike and leaves their ratio. So neither
/// side has to be steady, and the interval is that of the median of the rounds' ratios.
/// Shape: labelled "within one run only": how the next process would differ is not in it.
/// Units: the same on both sides.
/// Throws: only `std::bad_alloc`.
/// Example: `sg::comparison c = sg::compare_rounds(before, after);`
template <class Numbers>
[[nodiscard]] comparison compare_rounds(Numbers const& a, Numbers const& b, double threshold = default_threshold) {
  comparison found;
  found.threshold = threshold;
  auto const is = [&](verdict what, std::string reason) {
    found.verdict = what;
    found.reason = std::move(reason);
    return found;
  };
  std::size_t const rounds = std::size(a);
  if (*why_no_threshold(threshold) != '\0') return is(verdict::refused, why_no_threshold(threshold));
  if (std::size(b) != rounds) return is(verdict::refused, "the sides have not as many rounds as each other");
  if (!all_finite(std::data(a), rounds)) return is(verdict::refused, "side a holds a NaN or an infinity");
  if (!all_finite(std::data(b), rounds)) return is(verdict::refused, "side b holds a NaN or an infinity");
  found.a = compared_side{1, 0, rounds, median(a)};
  found.b = compared_side{1, 0, rounds, median(b)};
  std::vector<double> logs;
  logs.reserve(rounds);
  for (std::size_t i = 0; i < rounds; ++i) {
    auto const of_a = static_cast<double>(std::data(a)[i]);
    auto const of_b = static_cast<double>(std::data(b)[i]);
    if (!(of_a > 0.0) || !(of_b > 0.0))
      return is(verdict::inconclusive, "round " + std::to_string(i) + " has a time that is not above zero, so its ratio is undefined");
    logs.push_back(std::log(of_b) - std::log(of_a));
  }
  if (rounds < fewest_rounds)
    return is(verdict::inconclusive, "fewer than " + std::to_string(fewest_rounds) + " rounds");
  auto const middle = median(logs);
  auto const around = confidence_interval(logs);
  if (!middle || !around.interval) return is(verdict::inconclusive, std::string{"no interval: "} + describe(around.why_absent));
  if (around.plain) found.plain_interval = ratios_of({around.plain->low, around.plain->high});
  double const tick_a = tick_of(std::data(a), rounds) / *found.a.median;
  double const tick_b = tick_of(std::data(b), rounds) / *found.b.median;
  double const tick = std::fmax(finite(tick_a) ? tick_a : 0.0, finite(tick_b) ? tick_b : 0.0);
  return judged(std::move(found), *middle, {around.interval->low, around.interval->high}, tick);
}

}  // namespace streamgauge
