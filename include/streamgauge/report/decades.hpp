#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// A round number beside an axis of powers of ten: `factor` times ten to the `power`. 0.02, 5, 100, 20 k, 1 T, 2e-5.
/// Requires: the factor has one digit.
[[nodiscard, gnu::cold]] inline std::string decade_label(int factor, int power) {
  constexpr std::string_view prefixes[] = {"", " k", " M", " G", " T", " P", " E"};
  std::string text = digits(static_cast<std::uint64_t>(factor));
  auto const zeros = [](int count) { return std::string(static_cast<std::size_t>(count), '0'); };
  if (power < -3) return text.append("e-").append(digits(static_cast<std::uint64_t>(-power)));
  if (power < 0) return "0." + zeros(-power - 1) + text;
  if (power > 20) return text.append("e").append(digits(static_cast<std::uint64_t>(power)));
  return text.append(zeros(power % 3)).append(prefixes[power / 3]);
}

/// A stretch of an axis of powers of ten, by its exponents: 1.5 stands for 31.6.
/// A template, so that only a unit that draws compiles its bodies.
template <class Number = double>
class decades {
 public:
  struct mark {
    Number at;
    std::string label;
  };

  [[nodiscard]] Number low() const noexcept { return low_; }
  [[nodiscard]] Number high() const noexcept { return high_; }
  [[nodiscard]] bool empty() const noexcept { return low_ > high_; }

  void hold(Number exponent) {
    low_ = (std::min)(low_, exponent);
    high_ = (std::max)(high_, exponent);
  }
  /// Leaves room at the ends, and makes it two decades at least.
  void widen(Number below, Number above) {
    low_ -= below;
    high_ += above;
    Number const missing = 2 - (high_ - low_);
    if (missing <= 0) return;
    low_ -= missing / 2;
    high_ += missing / 2;
  }
  /// Powers of ten, at most some seven; where there are few the 2 and the 5 between them as well.
  [[nodiscard]] std::vector<mark> marks() const {
    std::vector<mark> found;
    Number const range = high_ - low_;
    int const step = (std::max)(1, static_cast<int>(std::ceil(range / 7)));
    auto power = static_cast<int>(std::floor(low_));
    while (power % step != 0) --power;
    for (; power <= high_; power += step)
      for (int const factor : {1, 2, 5}) {
        if (factor > 1 && range > 3) break;
        Number const at = power + std::log10(static_cast<Number>(factor));
        if (at >= low_ && at <= high_) found.push_back({at, decade_label(factor, power)});
      }
    return found;
  }

 private:
  Number low_ = 1e9;
  Number high_ = -1e9;
};

/// The exponent of a number that an axis of powers of ten holds; absent for what none is made for.
[[nodiscard, gnu::cold]] inline std::optional<double> exponent_of(std::optional<double> const& number) {
  return number && *number >= 1e-18 && *number <= 1e30 ? std::optional{std::log10(*number)} : std::nullopt;
}

}  // namespace streamgauge::report
