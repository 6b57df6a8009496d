#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <optional>
#include <ratio>
#include <type_traits>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/collector.hpp>

namespace streamgauge {

/// A length of time that somebody gave, in whole nanoseconds, or why it is none.
struct given_time {
  std::optional<nanoseconds> time;
  rejection why_not = rejection::none;
};

/// Nanoseconds with a fraction, rounded to the nearest whole, halves upwards.
[[nodiscard]] inline given_time given_nanoseconds(double number) noexcept {
  if (!finite(number)) {
    // By the bits, so that the answer also holds under -ffast-math.
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return {std::nullopt, (bits << 12) != 0 ? rejection::not_a_number : rejection::infinite};
  }
  if (number < 0.0) return {std::nullopt, rejection::negative};
  if (number >= 9223372036854775808.0) return {std::nullopt, rejection::too_large};
  auto const whole = static_cast<std::int64_t>(number);
  return {nanoseconds{whole + (number - static_cast<double>(whole) >= 0.5 ? 1 : 0)}, rejection::none};
}

/// A length of time in any unit, whole or fractional. One that has a fraction of a nanosecond is rounded.
/// Why: chrono's own conversion turns NaN and what is too large into some number of nanoseconds, and says nothing.
template <class Rep, class Period>
[[nodiscard]] given_time given_nanoseconds(std::chrono::duration<Rep, Period> time) noexcept {
  using scale = std::ratio_divide<Period, std::nano>;
  if constexpr (std::is_integral_v<Rep>) {
    auto const count = time.count();
    if constexpr (std::is_signed_v<Rep>)
      if (count < 0) return {std::nullopt, rejection::negative};
    std::int64_t scaled = 0;
    if (__builtin_mul_overflow(count, scale::num, &scaled)) return {std::nullopt, rejection::too_large};
    auto const rest = scaled % scale::den;
    return {nanoseconds{scaled / scale::den + (rest >= scale::den - rest ? 1 : 0)}, rejection::none};
  } else {
    return given_nanoseconds(static_cast<double>(time.count()) * static_cast<double>(scale::num) /
                             static_cast<double>(scale::den));
  }
}

}  // namespace streamgauge
