#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/what_if.hpp>
#include <streamgauge/analyze/phase_outlook.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/note_lines.hpp>

namespace streamgauge::report {

/// The critical path of a graph as text: a line for each phase, with its slack and what its speed would do to the end.
/// A template, so that only a unit that prints compiles its bodies.
template <class Outlook>
class critical_path_lines : public note_lines<> {
 public:
  /// Requires: there is something; the outlook outlives it.
  [[gnu::cold]] explicit critical_path_lines(Outlook const& of) : of_{of}, in_{natural_unit(*of.path.length)} {
    for (auto const& each : of.phases) table_.add_line(identity_of(each.name, {}), "");
    add_times();
    add_ends(std::string{"if "}.append(factor()).append(" times as fast"), &phase_outlook::if_faster);
    add_ends("if it took no time", &phase_outlook::if_free);
    add_path();
    add_most_won();
    add_legend();
    add_reasons();
  }

  [[nodiscard]] std::string text() { return table_.text().append("\n").append(note_lines<>::text()); }

 private:
  [[gnu::noinline, gnu::cold]] std::string shown(nanoseconds time) const { return in_unit(time, in_); }
  [[gnu::noinline, gnu::cold]] std::string shown(std::optional<nanoseconds> time) const {
    return time ? shown(*time) : std::string{"-"};
  }
  // How much earlier the end comes; below zero where it comes later.
  [[gnu::noinline, gnu::cold]] std::string won(nanoseconds end) const {
    auto const length = *of_.path.length;
    return length < end ? std::string{"-"}.append(shown(end - length)) : shown(length - end);
  }

  [[gnu::cold]] std::string factor() const {
    auto text = decimal(of_.times_as_fast, 4);
    if (text.find('.') == std::string::npos) return text;
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "0" ? "less than 0.0001" : text;
  }

  [[gnu::cold]] void add_times() {
    auto& block = table_.next_block();
    block.title = "as it is";
    block.subtitle = std::string{"on the critical path; times, "}.append(name_of(in_));
    block.columns = 5;
    for (char const* heading : {"path", "takes", "earliest", "latest", "slack"}) block.cells.emplace_back(heading);
    for (auto const& each : of_.phases) {
      auto part = std::string{each.on_path > 0 ? "yes" : "-"};
      if (each.nodes > 1) part = digits(each.on_path).append(" of ").append(digits(each.nodes));
      block.cells.push_back(part);
      block.cells.push_back(shown(each.takes));
      block.cells.push_back(shown(each.earliest_start));
      block.cells.push_back(shown(each.latest_start));
      block.cells.push_back(shown(each.slack));
    }
    table_.measure(block);
  }

  [[gnu::cold]] void add_ends(std::string title, what_if phase_outlook::*trial) {
    auto& block = table_.next_block();
    block.title = std::move(title);
    block.subtitle = std::string{"of the whole, "}.append(name_of(in_));
    block.columns = 2;
    for (char const* heading : {"end", "won"}) block.cells.emplace_back(heading);
    for (auto const& each : of_.phases) {
      auto const& end = (each.*trial).end;
      block.cells.push_back(shown(end));
      block.cells.push_back(end ? won(*end) : "-");
    }
    table_.measure(block);
  }

  // Of a path with many members the first are named; the same one several times in a row is named once.
  [[gnu::cold]] void add_path() {
    constexpr std::size_t most = 20;
    auto const& members = of_.members;
    std::size_t named = 0;
    for (std::size_t i = 0; i < members.size(); ++named) {
      if (named == most) {
        say(", and ");
        say(digits(members.size() - i));
        say(" more");
        break;
      }
      auto last = i;
      while (last < members.size() && members[last] == members[i]) ++last;
      if (i > 0) say(", ");
      say(unbroken(identity_of(of_.phases[members[i]].name, {})));
      if (last - i > 1) say(unbroken(std::string{" ("}.append(digits(last - i)).append(" in a row)")));
      i = last;
    }
    say(": ");
    say_time(*of_.path.length);
    if (of_.path.lags > nanoseconds{0}) {
      say(", ");
      say_time(of_.path.lags);
      say(" of it in lags, where none of them ran");
    }
    end("path");
  }

  [[gnu::cold]] void add_most_won() {
    if (of_.times_as_fast <= 1.0) return;
    if (!of_.most_won) {
      say("no single phase gives an earlier end: where another path is as long (slack 0, not on this one) both have to "
          "become shorter");
      end("speed up");
      return;
    }
    auto const& best = of_.phases[*of_.most_won];
    auto const length = *of_.path.length;
    auto const less = [&](nanoseconds end) {
      say_time(length - end);
      say(unbroken(std::string{" ("}.append(percent(static_cast<double>((length - end).count()) /
                                                    static_cast<double>(length.count()))).append(")")));
    };
    say(unbroken(identity_of(best.name, {})));
    say(": ");
    say(factor());
    say(" times as fast it wins ");
    less(*best.if_faster.end);
    if (best.if_free.end && *best.if_free.end < *best.if_faster.end) {
      say(", and however fast no more than ");
      less(*best.if_free.end);
    } else {
      say(", which is the most that it can win");
    }
    end("speed up");
  }

  [[gnu::cold]] void add_legend() {
    bool several = false;
    for (auto const& each : of_.phases) several = several || each.nodes > 1;
    add("earliest", "when it can begin; latest: when it has to, so that the end does not move");
    add("slack", "how much longer it alone could take without moving the end");
    add("won", "how much earlier all ends; every other phase and all lags stay as they are");
    if (several)
      add("of", "a phase of several executions: how many of them are on the path; takes: all of them; "
                "slack: the least of one of them; if faster: all of them");
  }

  // Why an end is missing, once.
  [[gnu::cold]] void add_reasons() {
    for (auto const& each : of_.phases) {
      if (each.if_faster.end) continue;
      say(escaped(each.if_faster.reason));
      end("no end");
      return;
    }
  }

  Outlook const& of_;
  unit in_;
  grid<> table_;
};

/// Writes the critical path of a graph, the slack of its phases, and what speeding each up would do to the end.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, what_ifs const& of) {
  std::string text;
  if (of.reason.empty()) text = critical_path_lines<what_ifs>{of}.text();
  else text.append("no critical path: ").append(escaped(of.reason)).append("\n");
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

/// Works them out for a graph and writes them.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, dependency_graph const& of, double times_as_fast = 2.0) {
  table(out, what_ifs_of(of, times_as_fast));
}

}  // namespace streamgauge::report
