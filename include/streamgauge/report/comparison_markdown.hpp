#pragma once

#include <cstddef>
#include <string>

#include <streamgauge/analyze/outcome.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/comparison_table.hpp>

namespace streamgauge::report {

/// Text for a cell of a table in Markdown: nothing of it is markup.
/// Why: names come from programs. A backslash before every punctuation mark that CommonMark knows takes its meaning; an
/// ampersand is spelled out, since entities are read in spite of one.
template <class = void>
[[nodiscard, gnu::cold]] std::string markdown_of(std::string_view escaped_already) {
  std::string shown;
  for (char const each : escaped_already) {
    if (each == '&')
      shown += "&amp;";
    else if (each == '<')
      shown += "&lt;";
    else if (std::string_view{"\\`*_{}[]()#+-.!|>~@:"}.find(each) != std::string_view::npos)
      (shown += '\\') += each;
    else
      shown += each;
  }
  return shown;
}
/// The same of a text as it is. Names of phases are escaped already (`identity_of`).
template <class = void>
[[nodiscard, gnu::cold]] std::string markdown_text(std::string_view text) {
  return markdown_of(escaped(text));
}

/// A comparison of recordings as GitHub's Markdown, for a pull request: the outcome, then a line for each observable of each
/// series, then the reasons of those that are not settled.
/// Shape: as `table`. Why: any `std::ostream`.
template <class Ostream>
[[gnu::cold]] void markdown(Ostream& out, recording_comparison const& of) {
  std::string text = std::string{"**"} + describe(outcome_of(of)) + "**";
  if (of.entries.empty()) {
    text += ": no series has a time on both sides\n";
  } else {
    auto const& first = of.entries.front().result;
    text += std::string{"; threshold "} + percent(first.threshold) + ", 95 % intervals, " + describe(first.basis) + "\n\n";
    text += "| phase | what | verdict | change | from | to | before | after |\n|---|---|---|--:|--:|--:|--:|--:|\n";
  }
  auto const time = [](std::optional<double> const& of_side) {
    return of_side ? with_unit(fractional_nanoseconds{*of_side}) : std::string{};
  };
  std::string below;
  for (series_comparison const& each : of.entries) {
    auto const& result = each.result;
    std::string const name = markdown_of(identity_of(each.phase, each.conditions));
    text += "| " + name + " | " + describe(each.what) + " | " + describe(result.verdict) + " | " +
            (result.ratio ? change_of(*result.ratio) : "") + " | " +
            (result.interval ? change_of(result.interval->low) : "") + " | " +
            (result.interval ? change_of(result.interval->high) : "") + " | " + time(result.a.median) + " | " +
            time(result.b.median) + " |\n";
    bool const settled = result.verdict != verdict::inconclusive && result.verdict != verdict::refused;
    if (!settled && !result.reason.empty())
      below += "- " + name + ", " + describe(each.what) + ": " + describe(result.verdict) + ": " +
               markdown_text(result.reason) + "\n";
  }
  for (unmatched_series const& each : of.unmatched)
    below += "- " + markdown_of(identity_of(each.phase, each.conditions)) + ": only in " + digits(std::uint64_t{each.in_a}) +
             " before and " + digits(std::uint64_t{each.in_b}) + " after\n";
  if (!below.empty()) text += '\n' + below;
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
