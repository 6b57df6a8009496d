#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/clock_changes.hpp>
#include <streamgauge/analyze/clock_event_reasons.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/clock_note.hpp>

namespace streamgauge::report {

/// "the SM clock went from 1980 to 1755 MHz"
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string clock_move(char const* which, double from, double to) {
  auto const whole = [](double mhz) { return digits(static_cast<std::uint64_t>(mhz + 0.5)); };
  std::string text = std::string{"the "}.append(which).append(" clock ");
  if (whole(from) == whole(to)) return text.append("stayed at ").append(whole(to)).append(" MHz");
  return text.append("went from ").append(whole(from)).append(" to ").append(whole(to)).append(" MHz");
}

/// A change of level beside what the clock did: "+12.7 % at interval 373: the SM clock went from 1980 to 1755 MHz (software power cap)".
/// A template, so that only a unit that prints compiles it.
template <class Change>
[[nodiscard, gnu::noinline, gnu::cold]] std::string clock_change_note(Change const& of) {
  double const share = of.change.share().value_or(0.0);
  std::string text = std::string{share < 0.0 ? "-" : "+"} + unbroken(percent(share)) + " at interval " +
                     digits(of.change.at) + ": ";
  if (of.role == clock_role::not_known) return text + "the clock was not read both before and after";
  bool const is_memory = of.role == clock_role::memory;
  text += is_memory ? clock_move("memory", *of.before.memory_mhz, *of.after.memory_mhz)
                    : clock_move("SM", *of.before.sm_mhz, *of.after.sm_mhz);
  std::uint64_t const reasons = of.after.slowed_by.value_or(0) & ~std::uint64_t{1};  // idle it was between executions
  if (of.follows_clock() && reasons != 0) text += " (" + describe_clock_event_reasons(reasons) + ")";
  if (!of.follows_clock()) text += ", which does not explain it";
  return text;
}

/// The largest changes of level, at most `most`, and how many there are beyond them; one line each.
template <class Changes>
[[nodiscard, gnu::noinline, gnu::cold]] std::vector<std::string> clock_change_lines(Changes const& of, std::size_t most = 4) {
  auto const size_of = [](auto const& one) {
    double const times = one.change.to / one.change.from;
    return times > 1.0 ? times : 1.0 / times;
  };
  std::vector<std::string> lines;
  std::size_t beyond = 0;
  std::size_t beyond_follow = 0;
  for (auto const& each : of) {
    std::size_t larger = 0;
    for (auto const& other : of)
      if (size_of(other) > size_of(each) || (&other < &each && !(size_of(other) < size_of(each)))) ++larger;
    if (larger < most) {
      lines.push_back("the level changed by " + clock_change_note(each));
    } else {
      ++beyond;
      if (each.follows_clock()) ++beyond_follow;
    }
  }
  if (beyond > 0)
    lines.push_back("and by less " + digits(beyond) + (beyond == 1 ? " time more, " : " times more, ") + digits(beyond_follow) +
                    " of them with the clock");
  return lines;
}

/// How many executions ran while the clocks were held back: "120 of 480 intervals ran while the clocks were held back (software
/// power cap): marked, not left out". Empty where none did and all are known, or nothing is.
template <class Count>
[[nodiscard, gnu::noinline, gnu::cold]] std::string held_back_note(Count const& of) {
  std::string text;
  if (of.held_back > 0)
    text += digits(of.held_back) + " of " + digits(of.executions) + " intervals ran while the clocks were held back (" +
            describe_clock_event_reasons(of.reasons) + "): marked, not left out";
  if (of.not_known > 0 && of.not_known < of.executions)
    text += (text.empty() ? "" : "; ") + std::string{"near "} + digits(of.not_known) + " of " + digits(of.executions) +
            " intervals the clocks were not read";
  return text;
}

/// The lines about the clocks of all devices that were read, and the changes of level that are a clock's: of a row the two
/// largest. Others are not the clocks' business.
template <class Summary>
[[nodiscard, gnu::noinline, gnu::cold]] std::vector<std::string> clock_lines_of(Summary const& of) {
  std::vector<std::string> lines = clock_lines(of.environment);
  for (auto const& row : of.rows) {
    auto theirs = row.clock_changes;
    theirs.clear();
    for (auto const& each : row.clock_changes)
      if (each.follows_clock()) theirs.push_back(each);
    for (std::string const& each : clock_change_lines(theirs, 2))
      lines.push_back(unbroken(identity_of(row.what.phase, row.what.conditions)) + ": " + each);
  }
  return lines;
}

}  // namespace streamgauge::report
