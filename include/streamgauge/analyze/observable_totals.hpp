#pragma once

#include <cstddef>
#include <cstdint>

#include <streamgauge/observation.hpp>
#include <streamgauge/analyze/histogram.hpp>
#include <streamgauge/analyze/wide_sum.hpp>

namespace streamgauge {

/// What many numbers amount to that are not kept one by one.
/// Shape: count, smallest, largest and sum are exact, quantiles within 1/2048 (`histogram`), the spread as exact as doubles.
struct number_totals {
  histogram values;
  wide_sum sum;
  double mean = 0;                ///< as the spread needs it; `sum` over the count is exact
  double squared_deviations = 0;  ///< from the mean

  /// Requires: room in `values`. Source: Welford 1962; a sum of squares would cancel.
  void add(std::int64_t number) noexcept {
    static_cast<void>(values.add(number));
    sum.add(static_cast<std::uint64_t>(number));
    double const off = static_cast<double>(number) - mean;
    mean += off / static_cast<double>(values.count());
    squared_deviations += off * (static_cast<double>(number) - mean);
  }
  /// Source: Chan, Golub and LeVeque 1979. False without memory, and then nothing has changed.
  [[nodiscard, gnu::cold]] bool merge(number_totals const& other) noexcept {
    double const mine = static_cast<double>(values.count());
    double const theirs = static_cast<double>(other.values.count());
    if (!values.merge(other.values)) return false;
    sum.add(other.sum);
    if (theirs == 0) return true;
    double const off = other.mean - mean;
    mean += off * theirs / (mine + theirs);
    squared_deviations += other.squared_deviations + off * off * mine * theirs / (mine + theirs);
    return true;
  }
};

/// The same of one observable, warm-up and steady apart, with the reasons of those that have no value.
struct observable_totals {
  number_totals warmup;
  number_totals steady;
  std::uint64_t absent[absence_count] = {};

  /// How many values there are.
  [[nodiscard]] std::uint64_t count() const noexcept { return warmup.values.count() + steady.values.count(); }

  /// Sees to it that adding cannot fail. `stage` is one of the two above.
  [[nodiscard]] bool make_room(observation seen, number_totals observable_totals::*stage) noexcept {
    return !seen.known() || (this->*stage).values.make_room(seen.value()->count());
  }
  /// Requires: there is room for it.
  void add(observation seen, number_totals observable_totals::*stage) noexcept {
    if (seen.known())
      (this->*stage).add(seen.value()->count());
    else
      ++absent[static_cast<std::size_t>(seen.why_absent())];
  }
  [[nodiscard, gnu::cold]] bool make_room(observable_totals const& other) noexcept {
    return warmup.values.make_room(other.warmup.values) && steady.values.make_room(other.steady.values);
  }
  /// False without memory, and then nothing has changed.
  [[nodiscard, gnu::cold]] bool merge(observable_totals const& other) noexcept {
    if (!make_room(other)) return false;
    for (std::size_t i = 0; i < absence_count; ++i) absent[i] += other.absent[i];
    return warmup.merge(other.warmup) && steady.merge(other.steady);
  }
};

}  // namespace streamgauge
