#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/confidence.hpp>

namespace streamgauge {

// How numbers lie around their median. Functions are templates, so that only a unit that calls them compiles their
// bodies. What holds a NaN or an infinity has no spread.

/// The median of the distances from the median, as it is: not scaled to look like a standard deviation.
/// {1, 2, 4, 8} has the median 3, distances 2, 1, 1, 5 and the answer 1.5.
template <class Numbers>
[[nodiscard]] std::optional<double> mad(Numbers const& numbers) {
  auto const* const first = std::data(numbers);
  std::size_t const size = std::size(numbers);
  if (size == 0 || !all_finite(first, size)) return std::nullopt;
  auto const around = select(first, size, (size - 1) / 2);
  long double middle = number_of(around.low, first);
  if (size % 2 == 0) middle += (number_of(around.high, first) - middle) / 2;
  std::vector<double> distances(size);
  for (std::size_t i = 0; i < size; ++i) {
    long double const off = static_cast<long double>(first[i]) - middle;
    distances[i] = static_cast<double>(off < 0 ? -off : off);
  }
  return median(distances);
}

/// The distance between the quartiles.
template <class Numbers>
[[nodiscard]] std::optional<double> iqr(Numbers const& numbers) noexcept {
  auto const q25 = quantile(numbers, 0.25);
  auto const q75 = quantile(numbers, 0.75);
  if (!q25 || !q75) return std::nullopt;
  double const distance = *q75 - *q25;
  return finite(distance) ? std::optional{distance} : std::nullopt;
}

/// How many numbers lie beyond two fences.
struct beyond_fences {
  std::size_t below = 0;
  std::size_t above = 0;
  [[nodiscard]] constexpr std::size_t count() const noexcept { return below + above; }
};

/// Numbers far from the rest. They are counted and shown, never taken out.
template <class T>
struct outliers {
  beyond_fences beyond_1_5_iqr;  ///< those beyond 3 included
  beyond_fences beyond_3_iqr;
  T worst;                      ///< the number farthest from the median, an outlier or not; of several the first
  std::size_t worst_index = 0;  ///< where it stands among the numbers
};

/// The smallest step between different numbers; 0 where all are equal. Of the sorted ones so many twentieths are left out
/// at either end.
/// Shape: of many numbers 8192 spread over them are looked at; a coarse tick shows in far fewer.
/// Requires: at least one, none is NaN or infinite.
template <class T>
[[nodiscard]] double smallest_step(T const* first, std::size_t size, std::size_t twentieths = 0) {
  constexpr std::size_t most = 8192;
  std::size_t const stride = size < most ? 1 : size / most;
  std::vector<double> some;
  some.reserve(size / stride + 1);
  for (std::size_t i = 0; i < size; i += stride) some.push_back(static_cast<double>(first[i]));
  put_in_order(some, [](double a, double b) { return a < b; });
  std::size_t const left_out = twentieths * some.size() / 20;
  double smallest = 0.0;
  for (std::size_t i = left_out + 1; i < some.size() - left_out; ++i) {
    double const step = some[i] - some[i - 1];
    if (step > 0.0 && (smallest == 0.0 || step < smallest)) smallest = step;
  }
  return smallest;
}

/// The outliers beyond 1.5 and 3 distances of the quartiles from the nearer quartile. Absent without numbers.
/// The quartiles and the median are given, or worked out below.
/// Why: the distance is taken to be at least the smallest step between two of the numbers. Where most of them are equal
/// it is 0, and one tick of the clock would be an outlier. A step above half the median is no tick: it is the outlier.
template <class Numbers>
[[nodiscard]] auto find_outliers(Numbers const& numbers, std::optional<double> q25, std::optional<double> middle,
                                 std::optional<double> q75)
    -> std::optional<outliers<std::remove_cv_t<std::remove_pointer_t<decltype(std::data(numbers))>>>> {
  auto const* const first = std::data(numbers);
  std::size_t const size = std::size(numbers);
  if (!q25 || !middle || !q75) return std::nullopt;
  auto const low = static_cast<long double>(*q25);
  auto const high = static_cast<long double>(*q75);
  long double distance = high - low;
  auto const tick = static_cast<long double>(smallest_step(first, size));
  auto const level = static_cast<long double>(*middle);
  if (distance < tick && tick <= (level < 0 ? -level : level) / 2) distance = tick;
  outliers<std::remove_cv_t<std::remove_pointer_t<decltype(first)>>> found{{}, {}, first[0], 0};
  long double farthest = -1;
  for (std::size_t i = 0; i < size; ++i) {
    auto const number = static_cast<long double>(first[i]);
    if (number < low - 1.5L * distance) ++found.beyond_1_5_iqr.below;
    if (number > high + 1.5L * distance) ++found.beyond_1_5_iqr.above;
    if (number < low - 3 * distance) ++found.beyond_3_iqr.below;
    if (number > high + 3 * distance) ++found.beyond_3_iqr.above;
    long double const off = number - static_cast<long double>(*middle);
    long double const away = off < 0 ? -off : off;
    if (!(away > farthest)) continue;
    farthest = away;
    found.worst = first[i];
    found.worst_index = i;
  }
  return found;
}

template <class Numbers>
[[nodiscard]] auto find_outliers(Numbers const& numbers) {
  return find_outliers(numbers, quantile(numbers, 0.25), median(numbers), quantile(numbers, 0.75));
}

/// Fewer numbers have no drift: a third of them would have no confidence interval.
inline constexpr std::size_t fewest_for_drift = 3 * fewest_for_confidence;

/// Why there is no drift, or no interval on it.
enum class no_drift : std::uint8_t {
  none,            ///< both are there
  too_few,         ///< fewer than `fewest_for_drift` numbers
  not_finite,      ///< a NaN or an infinity among them
  no_level,        ///< the median is not above zero, so that there are no shares of it
  too_correlated,  ///< a third has no confidence interval, because its numbers depend too much on each other
};

[[nodiscard]] constexpr char const* describe(no_drift why) noexcept {
  switch (why) {
    case no_drift::none: return "nothing is missing";
    case no_drift::too_few: return "fewer than 18 numbers";
    case no_drift::not_finite: return "a number is NaN or infinite";
    case no_drift::no_level: return "the median is not above zero";
    case no_drift::too_correlated: return describe(no_confidence::too_correlated);
  }
  return "unknown";
}

/// How far the last third of a series lies from its first.
struct drift {
  std::optional<double> share;     ///< median of the last third less that of the first, in shares of the whole median
  std::optional<bounds> interval;  ///< the 95 % confidence interval of the share: without 0 in it, it moved
  no_drift why_absent = no_drift::none;
};

/// The drift of numbers in the order in which they were taken.
template <class Numbers>
[[nodiscard]] drift drift_of(Numbers const& numbers) noexcept {
  auto const* const first = std::data(numbers);
  std::size_t const size = std::size(numbers);
  using number = std::remove_cv_t<std::remove_pointer_t<decltype(first)>>;
  if (size < fewest_for_drift) return {std::nullopt, std::nullopt, no_drift::too_few};
  auto const level = median(numbers);
  if (!level) return {std::nullopt, std::nullopt, no_drift::not_finite};
  if (!(*level > 0.0)) return {std::nullopt, std::nullopt, no_drift::no_level};
  std::size_t const third = size / 3;
  number_span<number> const begin{first, third};
  number_span<number> const end{first + (size - third), third};
  double const from = *median(begin) / *level;
  double const to = *median(end) / *level;
  if (!finite(to - from)) return {std::nullopt, std::nullopt, no_drift::no_level};
  drift found{to - from, std::nullopt, no_drift::too_correlated};
  auto const around_from = confidence_interval(begin).interval;
  auto const around_to = confidence_interval(end).interval;
  if (!around_from || !around_to) return found;
  auto const share = [&](number each) { return static_cast<double>(each) / *level; };
  auto const ends = difference_bounds({from, share(around_from->low), share(around_from->high)},
                                      {to, share(around_to->low), share(around_to->high)});
  if (!finite(ends.low) || !finite(ends.high)) return {found.share, std::nullopt, no_drift::no_level};
  found.interval = ends;
  found.why_absent = no_drift::none;
  return found;
}

}  // namespace streamgauge
