#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// A number with four significant digits, and never with digits before the point rounded away: 0.08333, 12.50, 312.4, 4096.
/// Digit by digit, so no locale has a say in it.
/// Requires: not negative. Shape: plain decimals; what is beyond 1e18 or under 1e-8 is called so.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string four_digits(double number) {
  if (!(number < 1e18)) return number > 0 ? "over 1e18" : "-";
  std::size_t decimals = 0;
  double scaled = number;
  for (; scaled < 999.95 && decimals < 12 && scaled > 0; scaled *= 10) ++decimals;
  if (decimals == 12) return "under 1e-8";
  auto const whole = static_cast<std::uint64_t>(scaled + 0.5);
  std::string text = digits(whole);
  if (decimals == 0) return text;
  if (text.size() <= decimals) text.insert(0, decimals + 1 - text.size(), '0');
  return text.insert(text.size() - decimals, ".");
}

/// A number in units of a thousand, a million and so on: 66.91 Tflop/s, 812.0 GB/s; without a unit 66.91 T, 12.50.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string with_prefix(double number, std::string_view unit = {}) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  std::size_t at = 0;
  for (; number >= 999.95 && at < 6; number /= 1000) ++at;
  std::string text = four_digits(number);
  if (at > 0 || !unit.empty()) text += ' ';
  return text.append(prefixes[at]).append(unit);
}

/// A share in per cent with one decimal: 81.5 %.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string in_percent(double share) {
  if (!(share < 1e12)) return "-";
  auto const tenths = static_cast<std::uint64_t>(share * 1000 + 0.5);
  return digits(tenths / 10) + '.' + digits(tenths % 10) + " %";
}

}  // namespace streamgauge::report
