#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/note_lines.hpp>

namespace streamgauge::report {

/// How much more or less a ratio is than one: "+3.0 %".
template <class = void>
[[nodiscard, gnu::cold]] std::string change_of(double ratio) {
  return std::string{ratio < 1.0 ? "-" : "+"}.append(percent(ratio < 1.0 ? 1.0 - ratio : ratio - 1.0));
}

/// A comparison in one line: what b is against a, "slower: +3.0 % (+2.8 % to +3.2 %), threshold 1.0 %, several runs a side".
/// Why: the verdict first, then what it went by; a verdict that cannot be had says why.
template <class = void>
[[nodiscard, gnu::cold]] std::string line_of(comparison const& of) {
  std::string text = describe(of.verdict);
  if (of.ratio) text.append(": ").append(change_of(*of.ratio));
  if (of.interval)
    text.append(" (").append(change_of(of.interval->low)).append(" to ").append(change_of(of.interval->high)).append(")");
  if (of.verdict != verdict::refused) text.append(", threshold ").append(percent(of.threshold));
  text.append(", ").append(describe(of.basis));
  if (!of.reason.empty()) text.append("; ").append(escaped(of.reason));
  return text;
}

/// The verdicts of a comparison and the lines under them, apart.
/// A template, so that only a unit that prints compiles its bodies.
template <class Comparison>
class comparison_lines : public note_lines<> {
 public:
  [[gnu::cold]] explicit comparison_lines(Comparison const& of) {
    auto& block = table_.next_block();
    block.title = "b against a, median";
    block.columns = 5;
    for (char const* heading : {"what", "verdict", "ratio", "from", "to"}) block.cells.emplace_back(heading);
    if (!of.entries.empty())
      block.subtitle.append("95 % interval, threshold ").append(percent(of.entries.front().result.threshold));
    bool within_run = false;
    for (auto const& each : of.entries) {
      add(each, block.cells);
      within_run = within_run || each.result.basis == comparison_basis::one_run;
    }
    if (!of.entries.empty()) table_.measure(block);
    for (auto const& each : of.unmatched)
      note_lines<>::add("unmatched", unbroken(identity_of(each.phase, each.conditions)).append(": in ")
                                         .append(digits(each.in_a)).append(" of a and ").append(digits(each.in_b))
                                         .append(" of b"));
    if (within_run)
      note_lines<>::add("one run", "within one run only: how runs differ from each other is not in these intervals");
  }

  [[nodiscard]] grid<> const& cells() const noexcept { return table_; }
  [[nodiscard]] std::string text() {
    std::string all = table_.lines() == 0 ? std::string{"nothing to compare: no series has a time on both sides\n"}
                                          : table_.text().append("\n");
    return all.append(note_lines<>::text());
  }

 private:
  [[gnu::cold]] void add(series_comparison const& each, std::vector<std::string>& cells) {
    table_.add_line(identity_of(each.phase, each.conditions), "");
    auto const& result = each.result;
    auto const number = [](auto const& value) { return value ? decimal(*value, 4) : std::string{"-"}; };
    cells.emplace_back(describe(each.what));
    cells.emplace_back(describe(result.verdict));
    cells.push_back(number(result.ratio));
    cells.push_back(result.interval ? decimal(result.interval->low, 4) : "-");
    cells.push_back(result.interval ? decimal(result.interval->high, 4) : "-");
    bool const settled = result.verdict != verdict::inconclusive && result.verdict != verdict::refused;
    if (settled || result.reason.empty()) return;
    say(unbroken(identity_of(each.phase, each.conditions)).append(": ").append(describe(each.what)).append(": "));
    say(escaped(result.reason));
    end(describe(result.verdict));
  }

  grid<> table_;
};

/// The verdicts of a comparison of recordings as a table, a line for each observable of each series, with the reasons below.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, recording_comparison const& of) {
  std::string const text = comparison_lines<recording_comparison>{of}.text();
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
