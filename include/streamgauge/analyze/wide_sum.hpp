#pragma once

#include <cstdint>

namespace streamgauge {

/// A sum of 128 bits, so that no count of numbers overflows it: 10^9 times 7 * 10^15 ns needs 83.
struct wide_sum {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  /// Why: the carry is a branch that is hardly ever taken. An addition with carry would wait for two stores each time.
  constexpr void add(std::uint64_t number) noexcept {
    low += number;
    if (__builtin_expect(low < number, 0)) ++high;
  }
  constexpr void add(wide_sum other) noexcept {
    add(other.low);
    high += other.high;
  }
  /// Rounded where the widest type is narrower than the sum.
  [[nodiscard]] constexpr long double rounded() const noexcept {
    return static_cast<long double>(high) * 18446744073709551616.0L + static_cast<long double>(low);
  }
  [[nodiscard]] friend constexpr bool operator==(wide_sum a, wide_sum b) noexcept {
    return a.high == b.high && a.low == b.low;
  }
};

}  // namespace streamgauge
