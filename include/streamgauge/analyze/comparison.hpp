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

/// The ratio of two medians with its confidence interval, or why there is none.
struct median_ratio {
  std::optional<double> log_ratio;
  std::optional<bounds> plain_logs;  ///< as if the numbers were independent
  std::optional<bounds> logs;        ///< the interval to go by, on logarithms
  std::string why_absent;            ///< why `logs` is absent
};

/// How the median of b stands to that of a, with all their numbers as they are: nothing is looked for and nothing left
/// out. Worked out on logarithms from the confidence intervals of both medians.
template <class A, class B>
[[nodiscard]] median_ratio ratio_of_medians(A const& a, B const& b) {
  median_ratio found;
  auto const middle_a = median(a);
  auto const middle_b = median(b);
  auto const side = [](auto const& first_has) { return first_has ? "b" : "a"; };
  if (!middle_a || !middle_b) {
    found.why_absent = std::string{"no samples on side "} + side(middle_a);
    return found;
  }
  if (!(*middle_a > 0.0) || !(*middle_b > 0.0)) {
    found.why_absent = std::string{"the median of side "} + side(*middle_a > 0.0) +
                       " is not above zero, so the ratio is undefined";
    return found;
  }
  found.log_ratio = std::log(*middle_b) - std::log(*middle_a);
  auto const around_a = confidence_interval(a);
  auto const around_b = confidence_interval(b);
  auto const plain_a = logs_of(*middle_a, around_a.plain);
  auto const plain_b = logs_of(*middle_b, around_b.plain);
  if (plain_a && plain_b) found.plain_logs = difference_bounds(*plain_a, *plain_b);
  auto const logs_a = logs_of(*middle_a, around_a.interval);
  auto const logs_b = logs_of(*middle_b, around_b.interval);
  if (logs_a && logs_b) {
    found.logs = difference_bounds(*logs_a, *logs_b);
    return found;
  }
  auto const why = logs_a ? around_b.why_absent : around_a.why_absent;
  found.why_absent = std::string{"the median of side "} + side(logs_a) + " has no interval: " +
                     (why == no_confidence::none ? "some samples are not above zero" : describe(why));
  return found;
}

/// Whether b is faster than a, from one run of each in the order in which they were taken.
///
/// Compares the medians of the steady parts. A verdict needs both runs to be steady.
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
  auto const medians = ratio_of_medians(of_a.part, of_b.part);
  found.ratio = medians.log_ratio ? ratio_of(*medians.log_ratio) : std::nullopt;
  found.plain_interval = medians.plain_logs ? ratios_of(*medians.plain_logs) : std::nullopt;
  if (!medians.logs) return is(verdict::inconclusive, medians.why_absent);
  found = judged(std::move(found), *medians.log_ratio, *medians.logs,
                 std::fmax(relative_tick(of_a), relative_tick(of_b)));
  if (!of_a.steady()) return is(verdict::inconclusive, "side a: " + describe(of_a.state));
  if (!of_b.steady()) return is(verdict::inconclusive, "side b: " + describe(of_b.state));
  return found;
}

}  // namespace streamgauge
