#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/wide_sum.hpp>
#include <streamgauge/analyze/observable_totals.hpp>

namespace streamgauge::report {

// What no recorder can have written, whatever stands in a file. Each answers why a value cannot be: empty, or the reason.

/// The longest time that is read, on either side of 0: 2^57 ns, four and a half years.
/// Why: no clock of a program gives a longer one, and what works with times adds several up, and multiplies them, in 64 bits.
inline constexpr nanoseconds longest_time_read{std::int64_t{1} << 57U};

[[nodiscard]] inline std::string why_impossible(nanoseconds time) {
  if (time >= -longest_time_read && time <= longest_time_read) return {};
  return "no clock gives such a time: " + std::to_string(time.count()) + " ns, and no more than " +
         std::to_string(longest_time_read.count()) + " are read";
}

/// Why: the smallest and the largest number say between what the mean lies; a sum beyond would be believed, and shown.
[[nodiscard]] inline std::string why_impossible(number_totals const& of) {
  std::uint64_t const count = of.values.count();
  if (count == 0)
    return of.sum == wide_sum{} && of.mean == 0.0 && of.squared_deviations == 0.0 ? "" : "these are sums of no number at all";
  // The sum is exact, the mean was worked out number by number.
  auto const least = static_cast<long double>(of.values.minimum().value_or(0));
  auto const most = static_cast<long double>(of.values.maximum().value_or(0));
  auto const lies_between = [&](long double mean, long double slack) {
    return mean >= least * (1 - slack) && mean <= most * (1 + slack);
  };
  if (!lies_between(of.sum.rounded() / static_cast<long double>(count), 1e-12L))
    return "the sum is none of so many numbers from the smallest to the largest";
  if (!finite(of.mean) || !lies_between(static_cast<long double>(of.mean), 1e-6L))
    return "the mean is not between the smallest and the largest number";
  if (!finite(of.squared_deviations) || of.squared_deviations < 0.0)
    return "squared deviations are a number of at least 0";
  return {};
}

/// Why: of every execution each observable has a value or a reason why it has none, so all of them add up to one count.
[[nodiscard]] inline std::string why_impossible(series_totals const& of) {
  auto const all_of = [](observable_totals const& one) {
    std::uint64_t count = one.count();
    for (auto const each : one.absent) count += each;
    return count;
  };
  std::uint64_t completions = 0;
  for (auto const& each : of.completion) completions += all_of(each);
  if (all_of(of.submit) != of.count || all_of(of.device) != of.count || completions != of.count)
    return "values and reasons do not add up to the count of each observable";
  if (of.watched > of.count) return "more were watched than there are";
  if (of.fewest_records_inside.has_value() != of.most_records_inside.has_value() ||
      (of.fewest_records_inside && *of.fewest_records_inside > *of.most_records_inside))
    return "the fewest records inside are more than the most";
  return {};
}

[[nodiscard]] inline std::string why_impossible(series const& of) {
  std::uint64_t const one_in = of.kept_one_in;
  if (one_in == 0 || (one_in & (one_in - 1)) != 0)
    return "one sample is kept in a power of two, and in " + std::to_string(one_in) + " found";
  if (one_in > 1 && !of.totals) return "not every sample was kept, and there are no totals of all";
  return {};
}

}  // namespace streamgauge::report
