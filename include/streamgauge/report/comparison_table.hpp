#pragma once

#include <cstddef>
#include <string>

#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>

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

/// The verdicts of a comparison of recordings as a table, a line for each observable of each series, with the reasons below.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, recording_comparison const& of) {
  grid<> lines;
  auto& cells = lines.next_block();
  cells.title = "b against a, median";
  cells.columns = 5;
  for (char const* heading : {"what", "verdict", "ratio", "from", "to"}) cells.cells.emplace_back(heading);
  std::string below;
  bool within_run = false;
  for (auto const& each : of.entries) {
    lines.add_line(identity_of(each.phase, each.conditions), "");
    auto const& result = each.result;
    within_run = within_run || result.basis == comparison_basis::one_run;
    auto const number = [](auto const& value) { return value ? decimal(*value, 4) : std::string{"-"}; };
    cells.cells.emplace_back(describe(each.what));
    cells.cells.emplace_back(describe(result.verdict));
    cells.cells.push_back(number(result.ratio));
    cells.cells.push_back(result.interval ? decimal(result.interval->low, 4) : "-");
    cells.cells.push_back(result.interval ? decimal(result.interval->high, 4) : "-");
    bool const settled = result.verdict != verdict::inconclusive && result.verdict != verdict::refused;
    if (!settled && !result.reason.empty())
      below.append(note(describe(result.verdict), unbroken(identity_of(each.phase, each.conditions))
                                                      .append(": ").append(describe(each.what)).append(": ")
                                                      .append(escaped(result.reason))));
  }
  if (!of.entries.empty()) {
    auto const& first = of.entries.front().result;
    cells.subtitle.append("95 % interval, threshold ").append(percent(first.threshold));
  }
  for (auto const& each : of.unmatched)
    below.append(note("unmatched", unbroken(identity_of(each.phase, each.conditions)).append(": in ")
                                       .append(digits(each.in_a)).append(" of a and ").append(digits(each.in_b))
                                       .append(" of b")));
  if (within_run)
    below.append(note("one run", "within one run only: how runs differ from each other is not in these intervals"));
  std::string text;
  if (of.entries.empty()) {
    text.append("nothing to compare: no series is on both sides\n");
  } else {
    lines.measure(cells);
    text.append(lines.text()).append("\n");
  }
  text.append(below);
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
