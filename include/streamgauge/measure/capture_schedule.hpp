#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace streamgauge {

/// Executions `first`, `first + 1`, ... up to and without `last`, counted from 0. With `last == first` there are none; with
/// `last < first` neither, and the recording says so.
struct executions {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// Cycles of executions, as torch.profiler has them: `wait` and `warmup` run outside the capture, `active` inside.
struct capture_schedule {
  std::uint64_t wait = 0;
  std::uint64_t warmup = 0;
  std::uint64_t active = 1;
  std::uint64_t repeat = 0;  ///< how many cycles; 0: for as long as the window lasts
};

/// Which executions are captured: a cycle of `before` outside and `active` inside, `repeat` times or without end.
struct capture_plan {
  std::optional<std::uint64_t> before{};  ///< left out: as many as are warm-up
  std::uint64_t active = 1;
  std::uint64_t repeat = 1;
  bool reversed = false;  ///< its end was given before its beginning

  [[nodiscard]] static capture_plan of(executions const& chosen) noexcept {
    bool const reversed = chosen.last < chosen.first;
    return {chosen.first, reversed ? 0 : chosen.last - chosen.first, 1, reversed};
  }
  [[nodiscard]] static capture_plan of(capture_schedule const& chosen) noexcept {
    return {sum(chosen.wait, chosen.warmup), chosen.active, chosen.repeat, false};
  }

  /// What execution number `count` is.
  enum class place : std::uint8_t {
    outside,
    begins,  ///< the first of a capture
    inside,
    over,  ///< behind the last capture
  };
  [[nodiscard]] place at(std::uint64_t count) const noexcept {
    std::uint64_t const outside = before.value_or(0);
    std::uint64_t const cycle = sum(outside, active);
    if (active == 0 || (repeat != 0 && count / cycle >= repeat)) return place::over;
    std::uint64_t const within = count % cycle;
    return within < outside ? place::outside : within == outside ? place::begins : place::inside;
  }

 private:
  // Numbers that no program counts up to stay there.
  [[nodiscard]] static std::uint64_t sum(std::uint64_t a, std::uint64_t b) noexcept {
    return a + b < a ? ~std::uint64_t{0} : a + b;
  }
};

/// What the value of STREAMGAUGE_CAPTURE says: phase[:first[:count[:repeat]]].
/// Why: names have colons too. Numbers are taken from the right, three at most, and a `:` at the end of what is left ends
/// the name: `ns::f:20:5` is `ns::f`, `block:2:` is `block:2`, and `block:2::20` is `block:2` from its execution 20 on.
struct capture_choice {
  std::string phase{};
  capture_plan plan{};
  std::string malformed{};  ///< what is wrong with the value; empty when nothing is

  /// How the value was read.
  [[nodiscard]] std::string in_words() const {
    return "phase \"" + phase + "\", first " + (plan.before ? std::to_string(*plan.before) : "as its warm-up says") +
           ", count " + std::to_string(plan.active) + ", repeat " + std::to_string(plan.repeat);
  }

  [[nodiscard]] static capture_choice read(std::string_view value) {
    capture_choice found;
    std::string_view name = value;
    std::optional<std::uint64_t> numbers[3];  // the last one first
    std::size_t count = 0;
    bool too_large = false;
    while (count < 3) {
      std::size_t const colon = name.rfind(':');
      if (colon == std::string_view::npos || !digits(name.substr(colon + 1))) break;
      numbers[count] = number(name.substr(colon + 1));
      too_large = too_large || !numbers[count];
      ++count;
      name = name.substr(0, colon);
    }
    if (!name.empty() && name.back() == ':') name.remove_suffix(1);
    found.phase = std::string{name};
    auto const nth = [&](std::size_t at) { return at < count ? numbers[count - 1 - at] : std::nullopt; };
    found.plan.before = nth(0);
    found.plan.active = nth(1).value_or(1);
    found.plan.repeat = nth(2).value_or(1);
    if (name.empty()) found.malformed = "it names no phase";
    if (too_large) found.malformed = "a number in it is too large";
    if (found.malformed.empty() && found.plan.active == 0) found.malformed = "its count is 0";
    return found;
  }

 private:
  [[nodiscard]] static bool digits(std::string_view word) noexcept {
    return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
  }
  [[nodiscard]] static std::optional<std::uint64_t> number(std::string_view word) noexcept {
    constexpr std::uint64_t most = ~std::uint64_t{0} / 16;
    std::uint64_t value = 0;
    for (char const digit : word) {
      if (value > most / 10) return std::nullopt;
      value = value * 10 + static_cast<std::uint64_t>(digit - '0');
    }
    return value;
  }
};

}  // namespace streamgauge
