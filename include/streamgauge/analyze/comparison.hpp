#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/steady_state.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/verdict.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// One run as a comparison sees it: its steady part, or all of it where it has none.
template <class T>
struct compared_run {
  steady_state state;
  number_span<T> part;
  std::optional<double> middle;  ///< the median of `part`; absent without numbers, and with a NaN among them

  [[nodiscard]] bool steady() const noexcept { return state.verdict == steadiness::yes; }
};

/// Looks for the steady part of a run and takes its median. The numbers outlive the answer.
template <class Numbers>
[[nodiscard]] auto run_of(Numbers const& numbers) {
  auto const* const first = std::data(numbers);
  std::size_t const size = std::size(numbers);
  using number = std::remove_cv_t<std::remove_pointer_t<decltype(first)>>;
  auto state = detect_steady(number_span<number>{first, size});
  std::size_t const start = state.start.value_or(0);
  number_span<number> const part{first + start, size - start};
  return compared_run<number>{std::move(state), part, median(part)};
}

/// The step of the clock in shares of a run's median; 0 where none shows.
template <class T>
[[nodiscard]] double relative_tick(compared_run<T> const& run) {
  if (!run.middle || !(*run.middle > 0.0)) return 0.0;
  double const tick = tick_of(run.part.data(), run.part.size()) / *run.middle;
  return finite(tick) ? tick : 0.0;
}

/// A confidence interval on the logarithms of a run's numbers, in `around`.
/// Absent where the smaller end is not above zero.
template <class T>
[[nodiscard]] std::optional<estimate> logs_of(double middle, std::optional<rank_interval<T>> const& around) noexcept {
  if (!around || !(around->low > T{0})) return std::nullopt;
  return estimate{std::log(middle), std::log(static_cast<double>(around->low)),
                  std::log(static_cast<double>(around->high))};
}

/// Whether b is faster than a, from one run of each in the order in which they were taken.
///
/// Compares the medians of the steady parts; the interval on their ratio is worked out from the confidence intervals of
/// both medians on logarithms. A verdict needs both runs to be steady.
/// Why: labelled "within one run only", because how the next run of the same program would differ is not in it. Use
/// `compare_runs` or `compare_pairs` for what a decision hangs on.
template <class A, class B, class = decltype(std::data(std::declval<A const&>())),
          class = decltype(std::data(std::declval<B const&>()))>
[[nodiscard]] comparison compare(A const& a, B const& b, double threshold = default_threshold) {
  comparison found;
  found.threshold = threshold;
  auto const is = [&](verdict what, std::string reason) {
    found.verdict = what;
    found.reason = std::move(reason);
    return found;
  };
  if (*why_no_threshold(threshold) != '\0') return is(verdict::refused, why_no_threshold(threshold));
  if (!all_finite(std::data(a), std::size(a))) return is(verdict::refused, "side a holds a NaN or an infinity");
  if (!all_finite(std::data(b), std::size(b))) return is(verdict::refused, "side b holds a NaN or an infinity");
  auto const of_a = run_of(a);
  auto const of_b = run_of(b);
  auto const side = [](auto const& run) {
    return compared_side{1, run.steady() ? 0U : 1U, run.part.size(), run.middle};
  };
  found.a = side(of_a);
  found.b = side(of_b);
  if (!of_a.middle || !of_b.middle)
    return is(verdict::inconclusive, std::string{"no samples on side "} + (of_a.middle ? "b" : "a"));
  if (!(*of_a.middle > 0.0) || !(*of_b.middle > 0.0))
    return is(verdict::inconclusive, std::string{"the median of side "} + (*of_a.middle > 0.0 ? "b" : "a") +
                                         " is not above zero, so the ratio is undefined");
  double const log_ratio = std::log(*of_b.middle) - std::log(*of_a.middle);
  double const ratio = std::exp(log_ratio);
  if (finite(ratio)) found.ratio = ratio;
  auto const around_a = confidence_interval(of_a.part);
  auto const around_b = confidence_interval(of_b.part);
  auto const plain_a = logs_of(*of_a.middle, around_a.plain);
  auto const plain_b = logs_of(*of_b.middle, around_b.plain);
  if (plain_a && plain_b) {
    auto const ends = difference_bounds(*plain_a, *plain_b);
    bounds const plain{std::exp(ends.low), std::exp(ends.high)};
    if (finite(plain.low) && finite(plain.high)) found.plain_interval = plain;
  }
  auto const logs_a = logs_of(*of_a.middle, around_a.interval);
  auto const logs_b = logs_of(*of_b.middle, around_b.interval);
  if (!logs_a || !logs_b) {
    auto const why = logs_a ? around_b.why_absent : around_a.why_absent;
    return is(verdict::inconclusive,
              std::string{"the median of side "} + (logs_a ? "b" : "a") + " has no interval: " +
                  (why == no_confidence::none ? "some samples are not above zero" : describe(why)));
  }
  found = judged(std::move(found), log_ratio, difference_bounds(*logs_a, *logs_b),
                 std::fmax(relative_tick(of_a), relative_tick(of_b)));
  if (!of_a.steady()) return is(verdict::inconclusive, "side a: " + describe(of_a.state));
  if (!of_b.steady()) return is(verdict::inconclusive, "side b: " + describe(of_b.state));
  return found;
}

}  // namespace streamgauge
