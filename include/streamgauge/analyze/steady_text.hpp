#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <streamgauge/analyze/steady_state.hpp>

namespace streamgauge {

// Built digit by digit, so no locale has a say in it, and marked cold: it runs once, so what counts is that it compiles
// quickly and stays small.

/// A number that is not negative with this many decimals, rounded: 0.35 with one is "0.4". Above 9e15 it has none.
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string decimal(double number, int decimals) {
  if (!(number < 9e15))
    return number < 1.8e19 ? std::to_string(static_cast<std::uint64_t>(number)) : "more than 1.8e19";
  std::uint64_t scale = 1;
  for (int i = 0; i < decimals; ++i) scale *= 10;
  auto const scaled = static_cast<std::uint64_t>(number * static_cast<double>(scale) + 0.5);
  std::string text = std::to_string(scaled / scale);
  if (decimals == 0) return text;
  std::string const rest = std::to_string(scaled % scale);
  text += '.';
  text.append(static_cast<std::size_t>(decimals) - rest.size(), '0');
  return text += rest;
}

/// A share in per cent, with two decimals below one per cent and one from there on: "0.26 %", "12.5 %".
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string percent(double share) {
  double const hundredths = (share < 0.0 ? -share : share) * 100.0;
  return decimal(hundredths, hundredths < 1.0 ? 2 : 1) + " %";
}

/// "from 120209 to 150262.5 (+25.0 %)"
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string described(level_change const& change) {
  auto const number = [](double value) {
    bool const whole = value < 9e15 && value == static_cast<double>(static_cast<std::uint64_t>(value));
    return decimal(value, whole ? 0 : 1);
  };
  std::string text = "from " + number(change.from) + " to " + number(change.to);
  auto const share = change.share();
  if (!share) return text;
  return text += (*share < 0.0 ? " (-" : " (+") + percent(*share) + ")";
}

/// The verdict in a plain sentence: what was found, what is missing, or what changed.
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string describe(steady_state const& state) {
  auto const count = [](std::size_t number) { return std::to_string(number); };
  auto const samples = count(state.samples);
  auto const change = state.change ? described(*state.change) : std::string{};
  auto const visible = state.smallest_visible_shift ? percent(*state.smallest_visible_shift) : std::string{};
  switch (state.reason) {
    case steady_reason::one_level: {
      std::string text = state.start.value_or(0) == 0
                             ? "steady from the first sample on"
                             : "steady after " + count(*state.start) + " of " + samples + " samples";
      if (!visible.empty()) text += "; a shift of " + visible + " between the halves would have been seen";
      return text;
    }
    case steady_reason::too_few:
      return "unknown: " + samples + (state.samples == 1 ? " sample" : " samples") + ", at least " +
             count(fewest_for_steady) + " are needed";
    case steady_reason::not_a_duration:
      return "unknown: sample " + count(state.offender.value_or(0)) + " is not a number, infinite or negative";
    case steady_reason::zero_level: return "unknown: the median is zero, and there are no shares of zero";
    case steady_reason::too_noisy:
      return "unknown: too noisy, only a shift of " + visible + " or more would have been seen";
    case steady_reason::several_runs: return "unknown: samples of several runs stand one behind the other; judge each";
    case steady_reason::level_shift_at_end:
      return "not steady: at sample " + count(state.change ? state.change->at : 0) + " of " + samples +
             " the level shifts " + change;
    case steady_reason::drift: return "not steady: the level drifts, its median over a sixth of the run goes " + change;
    case steady_reason::wander: return "not steady: the level wanders slowly, its median over a sixth goes " + change;
    case steady_reason::short_steady_part: {
      auto const flat = state.flat_from.value_or(0);
      auto const missing = 2 * flat > state.samples ? 2 * flat - state.samples : 0;
      return "not steady: flat only from sample " + count(flat) + " of " + samples + " on, where the level goes " +
             change + "; " + count(missing) + " more at this level would make it half";
    }
  }
  return {};
}

}  // namespace streamgauge
