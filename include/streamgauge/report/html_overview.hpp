#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/diagnosis.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/html_text.hpp>
#include <streamgauge/report/html_names.hpp>

namespace streamgauge::report {

/// The first glance: which phase takes the time, was it steady, what limits it, and can it be trusted.
/// A template, so that only a unit that prints compiles its bodies.
template <class Recording>
class html_overview {
 public:
  /// `chosen`: the rows with details of their own, in the order of the table. `anchors`: what their links begin with.
  html_overview(Recording const& of, recording_summary const& rows, std::vector<std::size_t> const& chosen,
                std::string_view anchors)
      : of_{of}, rows_{rows}, chosen_{chosen}, anchors_{anchors}, findings_{diagnose(of)} {}

  [[nodiscard]] std::string cards() const {
    return "<div class=\"cards\">" + longest_card() + steady_card() + limit_card() + trust_card() + "</div>\n";
  }

  [[nodiscard]] std::string table(phase_colors<>& colors) const {
    double most = 0.0;
    for (auto const at : chosen_) most = (std::max)(most, total_of(chief_of(rows_.rows[at].what).values));
    std::string text =
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"phases at a glance\"><table><thead><tr><th "
        "scope=\"col\">phase</th><th scope=\"col\" class=\"words\">all executions together</th><th scope=\"col\">in all</th><th "
        "scope=\"col\">executions</th><th scope=\"col\">median</th><th scope=\"col\" class=\"words\">level</th><th scope=\"col\" "
        "class=\"words\">limited by</th></tr></thead><tbody>\n";
    for (auto const at : chosen_) text.append(row_of(rows_.rows[at], most, colors));
    return text.append("</tbody></table></div>\n");
  }

 private:
  static std::string card(std::string_view title, std::string const& value, std::string const& says) {
    return std::string{"<div class=\"card\"><h3>"}.append(title).append("</h3><div class=\"value\">").append(value)
        .append("</div><p>").append(says).append("</p></div>\n");
  }

  // A phase that others lie in takes what they take, so the longest is sought among those that hold none.
  [[nodiscard]] bool is_leaf(std::size_t at) const {
    return at + 1 == rows_.rows.size() || rows_.rows[at + 1].depth <= rows_.rows[at].depth;
  }

  [[nodiscard]] std::string longest_card() const {
    summary_row const* longest = nullptr;
    double most = 0.0;
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
      double const total = total_of(chief_of(rows_.rows[i].what).values);
      if (!is_leaf(i) || total <= most) continue;
      longest = &rows_.rows[i];
      most = total;
    }
    if (!longest) return card("Takes the most time, innermost", "-", "no phase has a time");
    auto const& chief = chief_of(longest->what);
    std::string says = with_unit(fractional_nanoseconds{most});
    says.append(chief.clock == clock_domain::device ? " on the device in " : " on the host in ");
    says.append(digits(chief.values.steady.count + chief.values.warmup.count)).append(" executions");
    if (chief.values.steady.median) says.append(", median ").append(with_unit(*chief.values.steady.median));
    return card("Takes the most time, innermost", html_name(shortened(identity_of(longest->what.phase, longest->what.conditions), 48)), says);
  }

  [[nodiscard]] std::string steady_card() const {
    std::size_t by[3] = {};
    std::size_t all = 0;
    for (auto const& row : rows_.rows) {
      auto const& values = chief_of(row.what).values;
      if (values.steady.count == 0) continue;
      ++by[static_cast<std::size_t>(values.steadiness.verdict)];
      ++all;
    }
    std::string says = digits(by[1]) + " not steady";
    says.append(", ").append(digits(by[2])).append(" not known: too few values, or too noisy");
    return card("Steady", digits(by[0]) + " of " + digits(all), all == 0 ? "no phase has a time" : says);
  }

  [[nodiscard]] std::string limit_card() const {
    std::size_t by[9] = {};
    for (auto const& each : findings_) ++by[static_cast<std::size_t>(each.what)];
    std::size_t most = 1;
    for (std::size_t i = 1; i < 9; ++i)
      if (by[i] > by[most]) most = i;
    if (by[most] == 0)
      return card("Limited by", "not known",
                  findings_.empty() ? "no phase has a device time"
                                    : html_text(findings_.front().missing));
    auto const what = static_cast<limited_by>(most);
    return card("Limited by", html_text(describe(what)),
                digits(by[most]) + (by[most] == 1 ? " finding; next: " : " findings; next: ") + html_text(next_step(what)));
  }

  [[nodiscard]] std::string trust_card() const {
    std::uint64_t lost = 0;
    std::uint64_t entered = 0;
    std::uint64_t watched = 0;
    std::size_t near_floor = 0;
    for (auto const& row : rows_.rows) {
      for (auto const* samples : {&row.what.submit.samples, &row.what.device.samples, &row.what.completion.samples}) {
        lost += samples->dropped + samples->incomplete;
        entered += samples->entered;
      }
      watched += row.what.watched;
      near_floor += row.what.near_floor || row.what.near_resolution ? 1U : 0U;
    }
    std::string value = lost == 0 ? "nothing lost" : digits(lost) + " lost";
    std::string says = "of " + digits(entered) + " values entered; " + digits(of_.problems.size()) +
                       (of_.problems.size() == 1 ? " problem" : " problems");
    if (near_floor > 0) says.append("; ").append(digits(near_floor)).append(" near the floor");
    if (watched > 0) says.append("; ").append(digits(watched)).append(" taken under a tool");
    return card("Accounts", entered == 0 ? "nothing measured" : value, says);
  }

  [[nodiscard]] std::string row_of(summary_row const& row, double most, phase_colors<>& colors) const {
    auto const& chief = chief_of(row.what);
    bool const known = chief.values.steady.count + chief.values.warmup.count > 0;
    double const total = total_of(chief.values);
    auto const color = colors.of(row.what.phase);
    std::string text = "<tr><th scope=\"row\" style=\"--in:";
    text.append(digits(2 * row.depth)).append("\"><a href=\"#").append(anchors_).append(digits(row.index)).append("\">");
    text.append(chip_and_name(color, identity_of(row.what.phase, row.what.conditions))).append("</a></th><td class=\"bar\">");
    svg<> picture{1000, 16, "flat", "share of the longest", "none"};
    picture.rectangle(0, 2, 1000, 12, "back");
    if (most > 0.0)
      picture.rectangle(0, 2, (std::max)(known ? 2.0 : 0.0, 1000.0 * total / most), 12, std::string{"fill "}.append(color));
    text.append(std::move(picture).finished()).append("</td><td>");
    text.append(known ? with_unit(fractional_nanoseconds{total}) : "-").append("</td><td>");
    text.append(digits(row.what.submit.samples.seen())).append("</td><td>");
    text.append(chief.values.steady.median ? with_unit(*chief.values.steady.median) : "-").append("</td><td class=\"words\">");
    text.append(steady_badge(chief.values)).append("</td><td class=\"words\">");
    std::string limits;
    for (auto const& each : findings_)
      if (each.series == row.index) limits.append(limits.empty() ? "" : ", ").append(describe(each.what));
    return text.append(html_text(limits.empty() ? "-" : limits)).append("</td></tr>\n");
  }

  Recording const& of_;
  recording_summary const& rows_;
  std::vector<std::size_t> const& chosen_;
  std::string anchors_;
  std::vector<finding> findings_;
};

}  // namespace streamgauge::report
