#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge {

// How far a median can be trusted. Functions are templates, so that only a unit that calls them compiles their bodies.

/// The level of every confidence interval of the library.
inline constexpr double confidence_level = 0.95;

/// Of fewer numbers not even the smallest and the largest enclose the median 95 times in 100.
inline constexpr std::size_t fewest_for_confidence = 6;

/// Why there is no confidence interval.
enum class no_confidence : std::uint8_t {
  none,            ///< there is one
  too_few,         ///< fewer than `fewest_for_confidence` numbers
  not_finite,      ///< a NaN or an infinity among them
  too_correlated,  ///< they follow each other so closely that they would need an interval wider than they reach
};

[[nodiscard]] constexpr char const* describe(no_confidence why) noexcept {
  switch (why) {
    case no_confidence::none: return "nothing is missing";
    case no_confidence::too_few: return "fewer than 6 numbers";
    case no_confidence::not_finite: return "a number is NaN or infinite";
    case no_confidence::too_correlated: return "neighbouring numbers depend on each other, and there are too few for that";
  }
  return "unknown";
}

/// Two numbers of the sorted order, with their ranks counted from 1.
template <class T>
struct rank_interval {
  T low;
  T high;
  std::size_t low_rank;
  std::size_t high_rank;
};

/// How much numbers that follow each other depend on each other, seen in which of them lie at or below the median.
struct autocorrelation {
  std::optional<double> tau;         ///< variance of batch means over that of independent numbers: 1 when independent
  std::optional<double> neighbours;  ///< correlation of each with its successor; absent where all are on one side
  double factor = 1.0;               ///< what the variance of the median is taken to grow by; never below 1
};

/// The 95 % confidence interval of a median.
/// Why: two order statistics enclose the median of any distribution with a known probability; no shape is assumed. Only
/// independence is, and numbers of a series are not independent: a second interval has its ranks moved outwards by the
/// square root of `correlation.factor`.
template <class T>
struct median_confidence {
  double level = confidence_level;
  std::size_t count = 0;
  std::optional<rank_interval<T>> plain;     ///< as if the numbers were independent
  std::optional<rank_interval<T>> interval;  ///< the one to go by: the plain one, or wider
  autocorrelation correlation;
  bool widened = false;                          ///< whether `interval` is wider than `plain`
  no_confidence why_absent = no_confidence::none;  ///< why `interval` is absent
};

/// The lower rank of the plain interval, counted from 1: the largest l for which Bin(count, 1/2) is below l with a
/// probability of at most 2.5 %; the upper rank is count + 1 - l. Absent for fewer than 6.
/// Shape: O(sqrt(count)) steps.
/// Why: weights relative to the middle one, all positive; 2^-count itself is 0 in a double from 1075 on.
template <class = void>
[[nodiscard]] std::optional<std::size_t> confidence_rank(std::size_t count) noexcept {
  std::size_t at = count / 2;
  double weight = 1.0;
  double below = 0.0;  // the sum of the weights below the middle one
  while (at > 0 && weight > 1e-30) {
    weight *= static_cast<double>(at) / static_cast<double>(count - at + 1);
    below += weight;
    --at;
  }
  double const all = 2.0 * below + (count % 2 == 0 ? 1.0 : 2.0);  // an odd count has two middles
  double const limit = (1.0 - confidence_level) / 2.0 * all;
  double tail = weight;
  while (tail <= limit) {
    ++at;
    weight *= static_cast<double>(count - at + 1) / static_cast<double>(at);
    tail += weight;
  }
  return at == 0 ? std::nullopt : std::optional{at};
}

/// How numbers depend on each other, from two signs of it: batches of floor(sqrt(n)) whose means vary more than those
/// of independent numbers, and neighbours that are alike. Each sign counts once it is larger than independent numbers
/// show one time in twenty; then the larger one is believed.
/// Why: a batch estimate of few batches is mostly noise. Taken as it is it widens the intervals of independent numbers
/// by 8 to 16 %, and still falls short where 100 neighbours are alike; with both signs it does neither.
/// Requires: at least two numbers, `middle` their median.
template <class T>
[[nodiscard]] autocorrelation autocorrelation_of(T const* first, std::size_t size, double middle) noexcept {
  autocorrelation found;
  auto const low = [&](std::size_t i) { return static_cast<double>(first[i]) <= middle ? 1.0 : 0.0; };
  auto const count = static_cast<double>(size);
  std::size_t batch = 1;
  while ((batch + 1) * (batch + 1) <= size) ++batch;
  std::size_t const batches = size / batch;
  double sum = 0.0;
  double batch_sum = 0.0;
  double batch_squares = 0.0;
  double in_batch = 0.0;
  for (std::size_t i = 0; i < size; ++i) {
    sum += low(i);
    in_batch += low(i);
    if ((i + 1) % batch != 0) continue;
    batch_sum += in_batch;  // whole numbers, so that the squares cancel exactly
    batch_squares += in_batch * in_batch;
    in_batch = 0.0;
  }
  auto const width = static_cast<double>(batch);
  auto const many = static_cast<double>(batches);
  double const deviations = batch_squares - batch_sum * batch_sum / many;
  found.tau = deviations / (many - 1.0) / width / 0.25;
  constexpr double one_in_twenty = 1.6448536269514722;  // of a normal distribution, one-sided
  if (batches >= 5) {
    // What tau of independent numbers exceeds one time in twenty: chi-squared by Wilson and Hilferty's cube.
    double const ninth = 2.0 / (9.0 * (many - 1.0));
    double const root = 1.0 - ninth + one_in_twenty * __builtin_sqrt(ninth);
    if (*found.tau > root * root * root) found.factor = *found.tau;
  }
  double const share = sum / count;
  double const variance = share * (1.0 - share);
  if (!(variance > 0.0)) return found;
  double products = 0.0;
  for (std::size_t i = 0; i + 1 < size; ++i) products += (low(i) - share) * (low(i + 1) - share);
  double const alike = products / (count * variance) + 1.0 / count;  // one in n too low on average
  found.neighbours = alike;
  if (alike * __builtin_sqrt(count) > one_in_twenty) {
    double const most = 1.0 - 1.0 / count;
    double const bounded = alike < most ? alike : most;
    double const grown = (1.0 + bounded) / (1.0 - bounded);
    if (grown > found.factor) found.factor = grown;
  }
  return found;
}

/// The 95 % confidence interval of the median of numbers in the order in which they were taken.
template <class Numbers>
[[nodiscard]] auto confidence_interval(Numbers const& numbers) noexcept {
  auto const* const first = std::data(numbers);
  using number = std::remove_cv_t<std::remove_pointer_t<decltype(first)>>;
  std::size_t const size = std::size(numbers);
  median_confidence<number> found;
  found.count = size;
  auto const middle = median(numbers);
  auto const rank = confidence_rank(size);
  if (!middle || !rank) {
    found.why_absent = all_finite(first, size) ? no_confidence::too_few : no_confidence::not_finite;
    return found;
  }
  auto const between = [&](std::size_t low) {
    auto const at = [&](std::size_t place) {
      return static_cast<number>(number_of(select(first, size, place - 1).low, first));
    };
    std::size_t const high = size + 1 - low;
    return rank_interval<number>{at(low), at(high), low, high};
  };
  found.plain = between(*rank);
  found.interval = found.plain;
  found.correlation = autocorrelation_of(first, size, *middle);
  if (!(found.correlation.factor > 1.0)) return found;
  double const center = (static_cast<double>(size) + 1.0) / 2.0;
  double const reach = (center - static_cast<double>(*rank)) * __builtin_sqrt(found.correlation.factor);
  if (center - reach < 1.0) {
    found.interval.reset();
    found.why_absent = no_confidence::too_correlated;
    return found;
  }
  auto const outer = static_cast<std::size_t>(center - reach);
  if (outer < *rank) {
    found.interval = between(outer);
    found.widened = true;
  }
  return found;
}

/// An estimate and the ends of its own confidence interval.
struct estimate {
  double value;
  double low;
  double high;
};

/// Two ends.
struct bounds {
  double low;
  double high;
};

/// Where `to - from` lies, for two independent estimates: the distances to their ends add up as squares. Source: the
/// method of variance estimates recovery (MOVER) of Zou and Donner.
[[nodiscard]] inline bounds difference_bounds(estimate const& from, estimate const& to) noexcept {
  auto const together = [](double one, double other) { return __builtin_sqrt(one * one + other * other); };
  double const difference = to.value - from.value;
  return {difference - together(to.value - to.low, from.high - from.value),
          difference + together(to.high - to.value, from.value - from.low)};
}

}  // namespace streamgauge
