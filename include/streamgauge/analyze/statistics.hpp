#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>
#include <optional>
#include <type_traits>

namespace streamgauge {

// Textbook statistics of plain numbers: anything with `data()` and `size()`, or an array, of `std::int64_t` or
// `double`. The input is never reordered. A statistic that does not exist is absent, and so is every statistic of an
// input that holds a NaN or an infinity: such a number is refused, never skipped.

/// Numbers that lie elsewhere: a pointer and how many there are.
template <class T>
class number_span {
 public:
  constexpr number_span(T const* first, std::size_t size) noexcept : first_{first}, size_{size} {}
  [[nodiscard]] constexpr T const* data() const noexcept { return first_; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }

 private:
  T const* first_;
  std::size_t size_;
};

/// Whether a number is neither infinite nor NaN.
/// Why: read from the bits, so that the answer also holds under -ffast-math.
[[nodiscard]] inline bool finite(double number) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return ((bits >> 52) & 0x7ffU) != 0x7ffU;
}
[[nodiscard]] constexpr bool finite(std::int64_t) noexcept { return true; }

/// A number as an unsigned integer of the same order, and back.
/// Why: selection then works bit by bit, without moving anything, and serves both kinds of numbers.
[[nodiscard]] inline std::uint64_t order_key(std::int64_t number) noexcept {
  return static_cast<std::uint64_t>(number) ^ (std::uint64_t{1} << 63);
}
[[nodiscard]] inline std::uint64_t order_key(double number) noexcept {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  return (bits >> 63) != 0 ? ~bits : bits | (std::uint64_t{1} << 63);
}
[[nodiscard]] inline long double number_of(std::uint64_t key, std::int64_t const*) noexcept {
  return static_cast<long double>(static_cast<std::int64_t>(key ^ (std::uint64_t{1} << 63)));
}
[[nodiscard]] inline long double number_of(std::uint64_t key, double const*) noexcept {
  std::uint64_t const bits = (key >> 63) != 0 ? key ^ (std::uint64_t{1} << 63) : ~key;
  double number = 0.0;
  std::memcpy(&number, &bits, sizeof number);
  return static_cast<long double>(number);
}

/// Two neighbours in sorted order, as keys.
struct neighbours {
  std::uint64_t low;
  std::uint64_t high;  ///< the next one, equal to `low` behind the last
};

/// The value at a rank of the sorted order and its successor, without sorting and without a copy.
/// Why: six passes that count at most whatever the numbers are, usually one, until few enough are left to be sorted on
/// the stack; a sort of all would need the numbers twice.
/// Requires: `rank` below `size`.
template <class T>
[[nodiscard]] neighbours select(T const* first, std::size_t size, std::size_t rank) noexcept {
  constexpr int digit_bits = 11;
  constexpr std::size_t few = 128;
  std::uint64_t const some = order_key(first[0]);
  std::uint64_t differing = 0;
  for (std::size_t i = 0; i < size; ++i) differing |= order_key(first[i]) ^ some;
  int open = differing == 0 ? 0 : 64 - __builtin_clzll(differing);  // bits not yet known
  std::uint64_t settled = open == 64 ? 0 : ~std::uint64_t{0} << open;
  std::uint64_t found = some & settled;
  std::size_t alike = size;  // how many have these bits
  while (open > 0 && alike > few) {
    int const shift = open > digit_bits ? open - digit_bits : 0;
    std::uint64_t const digits = (std::uint64_t{1} << (open - shift)) - 1;
    std::size_t counts[std::size_t{1} << digit_bits] = {};
    for (std::size_t i = 0; i < size; ++i) {
      auto const key = order_key(first[i]);
      if ((key & settled) == found) ++counts[(key >> shift) & digits];
    }
    std::uint64_t digit = 0;
    while (counts[digit] <= rank) rank -= counts[digit++];
    alike = counts[digit];
    found |= digit << shift;
    settled |= digits << shift;
    open = shift;
  }
  if (open > 0) {
    std::uint64_t sorted[few] = {};
    std::size_t count = 0;
    for (std::size_t i = 0; i < size; ++i) {
      auto const key = order_key(first[i]);
      if ((key & settled) != found) continue;
      std::size_t at = count++;
      for (; at > 0 && key < sorted[at - 1]; --at) sorted[at] = sorted[at - 1];
      sorted[at] = key;
    }
    found = sorted[rank];
    if (rank + 1 < count) return {found, sorted[rank + 1]};
  } else if (rank + 1 < alike) {
    return {found, found};
  }
  std::uint64_t next = ~std::uint64_t{0};
  bool is_last = true;
  for (std::size_t i = 0; i < size; ++i) {
    auto const key = order_key(first[i]);
    if (key <= found || key > next) continue;
    next = key;
    is_last = false;
  }
  return {found, is_last ? found : next};
}

/// Whether every number is one that statistics accept.
template <class T>
[[nodiscard]] bool all_finite(T const* first, std::size_t size) noexcept {
  static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>,
                "statistics take std::int64_t or double: convert other numbers first");
  for (std::size_t i = 0; i < size; ++i)
    if (!finite(first[i])) return false;
  return true;
}

/// The quantile of type 7 (Hyndman and Fan; the default of R and NumPy): linear between the two values around position
/// (n - 1) p of the sorted order. Absent without numbers, and for `p` outside 0 to 1.
template <class Numbers>
[[nodiscard]] std::optional<double> quantile(Numbers const& numbers, double p) noexcept {
  auto const* const first = std::data(numbers);
  std::size_t const size = std::size(numbers);
  if (size == 0 || !finite(p) || p < 0.0 || p > 1.0 || !all_finite(first, size)) return std::nullopt;
  double const position = static_cast<double>(size - 1) * p;
  auto const below = static_cast<std::size_t>(position);
  auto const around = select(first, size, below < size ? below : size - 1);
  // In long double neither the difference nor the sum overflows, and halves of large integers stay exact.
  long double const low = number_of(around.low, first);
  long double const high = number_of(around.high, first);
  long double const share = static_cast<long double>(position) - static_cast<long double>(below);
  return static_cast<double>(low + (high - low) * share);
}

/// The middle value; of an even count the mean of the middle two, so {4, 1, 3, 2} gives 2.5.
/// Integers are combined without overflow and rounded to a double once.
template <class Numbers>
[[nodiscard]] std::optional<double> median(Numbers const& numbers) noexcept {
  return quantile(numbers, 0.5);
}

/// The smallest and the largest number.
template <class T>
struct extremes {
  T minimum;
  T maximum;
};

/// Both ends in one pass.
template <class T>
[[nodiscard]] std::optional<extremes<T>> extremes_of(T const* first, std::size_t size) noexcept {
  if (size == 0) return std::nullopt;
  extremes<T> found{first[0], first[0]};
  for (std::size_t i = 0; i < size; ++i) {
    if (!finite(first[i])) return std::nullopt;
    if (first[i] < found.minimum) found.minimum = first[i];
    if (found.maximum < first[i]) found.maximum = first[i];
  }
  return found;
}

/// The smallest number, in its own type.
template <class Numbers>
[[nodiscard]] auto minimum(Numbers const& numbers) noexcept {
  auto const both = extremes_of(std::data(numbers), std::size(numbers));
  return both ? std::optional{both->minimum} : std::nullopt;
}

/// The largest number, in its own type.
template <class Numbers>
[[nodiscard]] auto maximum(Numbers const& numbers) noexcept {
  auto const both = extremes_of(std::data(numbers), std::size(numbers));
  return both ? std::optional{both->maximum} : std::nullopt;
}

/// Mean and sum of squared deviations, in the widest type at hand.
struct moments {
  long double mean;
  long double squared_deviations;
  std::size_t count;

  /// Spread of a sample (n - 1). Absent for fewer than two numbers, and where no double can hold it.
  [[nodiscard]] std::optional<double> sample_variance() const noexcept {
    if (count < 2) return std::nullopt;
    auto const variance = static_cast<double>(squared_deviations / static_cast<long double>(count - 1));
    return finite(variance) ? std::optional{variance} : std::nullopt;
  }

  /// The square root of the above, in the unit of the numbers.
  [[nodiscard]] std::optional<double> sample_stddev() const noexcept {
    if (count < 2) return std::nullopt;
    auto const deviation = static_cast<double>(__builtin_sqrtl(squared_deviations / static_cast<long double>(count - 1)));
    return finite(deviation) ? std::optional{deviation} : std::nullopt;
  }
};

/// Two passes: the mean, then the deviations from it.
/// Why: the mean of the squares minus the square of the mean cancels. For {1e8 + 1, 1e8 + 2, 1e8 + 3} it gives 0.
template <class T>
[[nodiscard]] std::optional<moments> moments_of(T const* first, std::size_t size) noexcept {
  if (size == 0) return std::nullopt;
  auto const count = static_cast<long double>(size);
  long double sum = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (!finite(first[i])) return std::nullopt;
    sum += static_cast<long double>(first[i]);
  }
  long double const mean = sum / count;
  long double squares = 0;
  long double rest = 0;  // what rounding left in the mean
  for (std::size_t i = 0; i < size; ++i) {
    long double const deviation = static_cast<long double>(first[i]) - mean;
    squares += deviation * deviation;
    rest += deviation;
  }
  squares -= rest * rest / count;
  return moments{mean, squares > 0 ? squares : 0, size};
}

/// The arithmetic mean.
template <class Numbers>
[[nodiscard]] std::optional<double> mean(Numbers const& numbers) noexcept {
  auto const found = moments_of(std::data(numbers), std::size(numbers));
  return found ? std::optional{static_cast<double>(found->mean)} : std::nullopt;
}

/// Variance of a sample (n - 1). Absent for fewer than two numbers.
template <class Numbers>
[[nodiscard]] std::optional<double> sample_variance(Numbers const& numbers) noexcept {
  auto const found = moments_of(std::data(numbers), std::size(numbers));
  return found ? found->sample_variance() : std::nullopt;
}

/// Standard deviation of a sample (n - 1): {1, 2, 3, 4} gives 1.29099. Absent for fewer than two numbers.
template <class Numbers>
[[nodiscard]] std::optional<double> sample_stddev(Numbers const& numbers) noexcept {
  auto const found = moments_of(std::data(numbers), std::size(numbers));
  return found ? found->sample_stddev() : std::nullopt;
}

}  // namespace streamgauge
