#pragma once

#include <cstdint>
#include <vector>

#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/span_summary.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/note_lines.hpp>

namespace streamgauge::report {

/// The lines about spans: what their columns mean, and which branch each of them waited for.
/// A template, so that only a unit that prints compiles its bodies.
template <class Rows = std::vector<summary_row>>
class span_notes : public note_lines<> {
 public:
  explicit span_notes(Rows const& rows) : rows_{rows} {}

  /// Which branch ended last, in a line for each span that has branches; and what is a span and a branch at once.
  [[gnu::cold]] void add_spans() {
    for (auto const& row : rows_)
      if (has_branches(row.what)) add_span(row.what);
    for (auto const& row : rows_) {
      if (!row.what.walls_and_branches) continue;
      say_name(row.what);
      say(": holds walls of spans and branches of spans alike, so its device times describe neither; give branches a "
          "phase of their own");
      end("warning");
    }
  }

  [[nodiscard]] static bool has_branches(summary const& of) noexcept {
    return of.span && of.span->counted + of.span->left_out > 0;
  }

 protected:
  [[gnu::cold]] void add_span_legend() {
    bool any_span = false;
    bool any_branch = false;
    for (auto const& row : rows_) {
      any_span = any_span || row.what.span.has_value();
      any_branch = any_branch || has_branches(row.what);
    }
    if (any_span)
      add("", "of a span it is the wall: earliest begin to latest end over its streams; rates use it");
    if (!any_branch) return;
    add("busy sum", "device times of a span's branches added up: overlap counts twice, so no rate uses it");
    add("union", "device time in which at least one branch of the span ran");
    add("overlap", "device time in which at least two branches of the span ran");
  }

 private:
  [[gnu::cold]] void add_span(summary const& of) {
    auto const& span = *of.span;
    auto const steady = span.busy_sum.steady.count;
    say_name(of);
    if (steady == 0) say(": no steady execution has every interval");
    auto branches = span.branches;
    put_in_order(branches, [](last_branch const& a, last_branch const& b) { return a.times > b.times; });
    for (auto const& each : branches) {
      bool const first = &each == branches.data();
      if (each.times == 0) continue;
      say(first ? ": " : ", ");
      for (auto const& row : rows_)
        if (row.index == each.index) say_name(row.what);
      say_count(first ? " ended last in " : " in ", each.times, "");
      if (first) say_count(" of ", steady, of.kept_one_in > 1 ? " steady executions that were kept" : " steady executions");
      if (!each.median_lead) continue;
      say(", by ");
      say_time(*each.median_lead);
      if (first) say(" at the median");
    }
    if (steady > 0) {
      if (span.most_branches < 2)
        say(", with no other branch beside it");
      else if (span.overlap.steady.maximum == nanoseconds{0})
        say("; the branches did not overlap, so each of them adds to the wall");
      else if (2 * branches.front().times > steady && !ties(branches))
        say(first_is_last(branches) ? ": it is the branch to speed up"
                                    : ": the first of them is the branch to speed up");
      else
        say(": no single one is the branch to speed up");
    }
    if (span.left_out > 0) say_count("; left out ", span.left_out, " without an interval of every branch");
    if (span.without_branch > 0) say_count("; ", span.without_branch, " had no branch");
    end("span");
  }

  [[gnu::noinline, gnu::cold]] void say_count(char const* before, std::uint64_t count, char const* behind) {
    say(before);
    say(digits(count));
    say(behind);
  }

  // Of branches in the order of how often they ended last: whether another one mostly ended with the first.
  [[nodiscard]] static bool ties(std::vector<last_branch> const& branches) noexcept {
    auto const& lead = branches.front().median_lead;
    return branches.size() > 1 && lead && !(fractional_nanoseconds{0} < *lead);
  }
  // Whether that was always the first.
  [[nodiscard]] static bool first_is_last(std::vector<last_branch> const& branches) noexcept {
    return branches.size() < 2 || branches[1].times == 0;
  }

  Rows const& rows_;
};

}  // namespace streamgauge::report
