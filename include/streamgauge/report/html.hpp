#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/analyze/roofs.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/unmeasured_note.hpp>
#include <streamgauge/report/notes.hpp>
#include <streamgauge/report/notes_in_order.hpp>
#include <streamgauge/report/number_table.hpp>
#include <streamgauge/report/latency_table.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/html_text.hpp>
#include <streamgauge/report/html_table.hpp>
#include <streamgauge/report/html_style.hpp>
#include <streamgauge/report/html_names.hpp>
#include <streamgauge/report/html_phase.hpp>
#include <streamgauge/report/html_overview.hpp>
#include <streamgauge/report/latency_plot.hpp>
#include <streamgauge/report/timeline_plot.hpp>
#include <streamgauge/report/comparison_plot.hpp>
#include <streamgauge/report/html_roofline.hpp>

namespace streamgauge::report {

/// So many phases of a page have details of their own: those that took the longest. All are in the table.
inline constexpr std::size_t most_html_phases = 32;

/// The sections of a page about one recording, from the first glance to the last note.
/// A template, so that only a unit that prints compiles its bodies.
template <class Recording>
class html_sections {
 public:
  /// `anchors`: what the places of this recording begin with, so that two stand in one page. `roofs`: of its device.
  html_sections(Recording const& of, phase_colors<>& colors, std::string_view anchors, device_roofs const& roofs,
                std::vector<measured_bytes> const& counted = {})
      : of_{of}, rows_{summarize(of)}, colors_{colors}, anchors_{anchors}, roofline_{of, roofs, counted, most_html_phases} {
    // Phases that were only marked have no numbers, and "never entered" would not be true of them.
    bool entered = of.recorded == mode::time;
    for (auto const& row : rows_.rows) entered = entered || row.what.submit.samples.seen() > 0;
    if (!entered) rows_.rows.clear();
    choose();
  }

  /// Links to its sections.
  [[nodiscard]] std::string links() const {
    std::string text = "<nav>";
    auto const add = [&](char const* id, char const* title) {
      text.append("<a href=\"#").append(anchors_).append(id).append("\">").append(title).append("</a>");
    };
    add("glance", "At a glance");
    add("latency", "Host and device");
    add("timeline", "Timeline");
    if (!roofline_.empty()) add("roofline", "Roofline");
    if (!rows_.rows.empty()) add("numbers", "Numbers");
    if (!rows_.rows.empty()) add("phases", "Phase by phase");
    add("trust", "Trust");
    return text.append("</nav>\n");
  }

  /// Each section is one function: what a page shows next is a line here and one among the links.
  [[nodiscard]] std::string text() const {
    return glance() + latency() + timeline() + under_roofs() + numbers() + phases() + trust();
  }

 private:
  void choose() {
    std::vector<std::size_t> by_total;
    std::vector<double> totals;
    for (std::size_t i = 0; i < rows_.rows.size(); ++i) {
      by_total.push_back(i);
      totals.push_back(total_of(chief_of(rows_.rows[i].what).values));
    }
    put_in_order(by_total, [&](std::size_t a, std::size_t b) { return totals[a] > totals[b]; });
    if (by_total.size() > most_html_phases) by_total.resize(most_html_phases);
    put_in_order(by_total, [](std::size_t a, std::size_t b) { return a < b; });
    chosen_ = by_total;
  }

  [[nodiscard]] std::string heading(char const* id, char const* title) const {
    return "<h2 id=\"" + anchors_ + id + "\">" + title + "</h2>\n";
  }
  [[nodiscard]] std::string left_out(char const* what) const {
    if (chosen_.size() == rows_.rows.size()) return {};
    return "<p class=\"note\">" + std::string{what} + " the " + digits(chosen_.size()) + " that took the longest of " +
           digits(rows_.rows.size()) + "; all are in <a href=\"#" + anchors_ + "numbers\">the table of numbers</a>.</p>\n";
  }

  [[nodiscard]] std::string glance() const {
    std::string text = heading("glance", "At a glance");
    if (std::string const why = unmeasured_note(of_); !why.empty())
      text += "<p>not measured: " + html_text(why) + "</p>\n";
    else if (rows_.rows.empty())
      text += "<p>nothing measured: no phase was made</p>\n";
    if (rows_.rows.empty()) return text;
    html_overview<Recording> const overview{of_, rows_, chosen_, anchors_ + "phase-"};
    return text + overview.cards() + overview.table(colors_) + left_out("Shown are");
  }

  [[nodiscard]] std::string latency() const {
    std::string text = heading("latency", "Between host and device");
    latency_lines<Recording> const lines{of_};
    if (!lines.why_none().empty()) return text + "<p>" + html_text(lines.why_none()) + "</p>\n";
    std::string bars;
    for (auto const at : chosen_) {
      auto const& row = rows_.rows[at];
      if (row.what.latency.placed == 0) continue;
      bars += "<tr><th scope=\"row\">" + chip_and_name(colors_.of(row.what.phase), identity_of(row.what.phase, row.what.conditions)) +
              "</th><td class=\"bar wide-bar\">" + latency_bar(row.what.latency, colors_.of(row.what.phase)) + "</td></tr>\n";
    }
    if (!bars.empty())
      text += "<figure class=\"panel\"><table><tbody>" + bars + "</tbody></table>" + latency_legend() +
              "<figcaption>From entering a phase until it was done, medians of its steady executions, each phase drawn to its own "
              "length; the numbers are in the table. Each part is a median of its own, so they need not add up."
              "</figcaption></figure>\n";
    return text + html_tables<grid<>>{lines.cells(), "latencies"}.text() + html_lines(lines.legend().lines()) +
           html_lines(lines.under().lines());
  }

  [[nodiscard]] std::string timeline() const {
    std::string text = heading("timeline", "Timeline");
    bool placed = false;
    for (auto const& each : of_.all) {
      if (each.runs > 1) return text + "<p>no timeline: merged runs have no origin in common</p>\n";
      for (auto const& one : each.samples) placed = placed || one.queue.known();
    }
    if (!placed)
      return text + "<p>no timeline: nothing of the device was placed on the host's clock" +
             ": " + html_text(unplaced_note(of_)) + "</p>\n";
    timeline_plot<Recording> const plot{of_, rows_};
    return text + plot.text(colors_) + plot.legend(colors_) + "<details><summary>numbers</summary>" + plot.numbers() + "</details>\n";
  }

  [[nodiscard]] std::string under_roofs() const {
    return roofline_.empty() ? std::string{} : heading("roofline", "Roofline") + roofline_.text(colors_);
  }

  [[nodiscard]] std::string numbers() const {
    if (rows_.rows.empty()) return {};
    number_table<recording_summary> const table{rows_};
    notes<recording_summary> legend{rows_};
    legend.add_legend();
    return heading("numbers", "Numbers") + html_tables<grid<>>{table.cells(), "numbers"}.text() + html_lines(legend.lines());
  }

  [[nodiscard]] std::string phases() const {
    if (chosen_.empty()) return {};
    std::string text = heading("phases", "Phase by phase") + left_out("Here are");
    for (auto const at : chosen_) {
      auto const& row = rows_.rows[at];
      text += html_phase<>{row.what, of_.all[row.index], colors_.of(row.what.phase), anchors_ + "phase-" + digits(row.index)}.text();
    }
    return text;
  }

  [[nodiscard]] std::string trust() const {
    notes<recording_summary> under{rows_};
    if (!rows_.rows.empty()) add_about_numbers(under);
    add_about_run(under);
    return heading("trust", "How far to trust it") + html_lines(under.lines());
  }

  Recording const& of_;
  recording_summary rows_;
  phase_colors<>& colors_;
  std::string anchors_;
  html_roofline<Recording> roofline_;
  std::vector<std::size_t> chosen_;
};

/// The frame of a page: one file, nothing that is fetched, no script; the browser is told to allow neither.
template <class = void>
[[nodiscard, gnu::cold]] std::string html_page(std::string const& title, std::string const& under, std::string const& body) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
      "form-action 'none'\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>";
  page.append(html_text(title)).append("</title>\n<style>:root{color-scheme:light dark;").append(html_colors);
  page.append("}@media(prefers-color-scheme:dark){:root{").append(html_dark_colors).append("}}@media print{:root{color-scheme:light;");
  page.append(html_colors).append("}}\n").append(html_style).append("</style>\n</head>\n<body>\n");
  page.append("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern id=\"hatch\" width=\"6\" "
              "height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" "
              "style=\"fill:var(--warm);fill-opacity:.1\"/><line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" style=\"stroke:var(--warm);"
              "stroke-opacity:.45;stroke-width:2\"/></pattern><pattern id=\"dots\" width=\"5\" height=\"5\" "
              "patternUnits=\"userSpaceOnUse\"><rect width=\"5\" height=\"5\" style=\"fill:var(--grid)\"/><rect x=\"0\" y=\"0\" "
              "width=\"1.6\" height=\"5\" style=\"fill:var(--soft)\"/></pattern></defs></svg>\n");
  page.append("<header><h1>").append(html_text(title)).append("</h1>\n").append(under).append("</header>\n<main>\n");
  return page.append(body).append("</main>\n</body>\n</html>\n");
}

/// What a recording was made with, in a line.
template <class = void>
[[nodiscard, gnu::cold]] std::string html_origin(environment const& of) {
  std::string text;
  auto const add = [&](std::string const& what) {
    if (!what.empty()) text.append(text.empty() ? "" : " \xc2\xb7 ").append(html_name(escaped(what)));
  };
  for (auto const& device : of.devices) add(device.name);
  add(of.host);
  add(of.cpu);
  add(of.time);
  if (!of.library_version.empty()) add("streamgauge " + of.library_version);
  return text.empty() ? text : "<p class=\"quiet\">" + text + "</p>\n";
}

/// Writes a recording as one page for a browser: the first glance, where the time goes between host and device, a timeline,
/// phases that declare their work under those roofs, the table of numbers, each phase's run and histogram, and how far to
/// trust it. Light and dark, narrow, and on paper.
/// `counted`: bytes of phases that a tool counted, in the place of those declared.
/// Shape: one file; it fetches nothing and holds no script. Every picture has its numbers as text.
/// Why: any `std::ostream`, as `table`.
template <class Ostream>
[[gnu::cold]] void html(Ostream& out, recording const& of, device_roofs const& roofs,
                        std::vector<measured_bytes> const& counted = {}) {
  phase_colors<> colors;
  html_sections<recording> const sections{of, colors, "", roofs, counted};
  auto const page = html_page("streamgauge report", html_origin(of.environment) + sections.links(), sections.text());
  out.write(page.data(), static_cast<std::ptrdiff_t>(page.size()));
}

/// The same under the roofs that the recording's first device tells of itself.
template <class Ostream>
[[gnu::cold]] void html(Ostream& out, recording const& of) {
  html(out, of, roofs_of(of.environment));
}

/// Writes what changed from one recording to another, and both of them below, each under its own roofs.
template <class Ostream>
[[gnu::cold]] void html(Ostream& out, recording const& before, recording const& after, device_roofs const& roofs_before,
                        device_roofs const& roofs_after) {
  phase_colors<> colors;
  auto const compared = compare(before, after);
  comparison_lines<recording_comparison> const lines{compared};
  std::string body = "<h2 id=\"comparison\">Comparison: before is a, after is b</h2>\n";
  body += compared.entries.empty() ? std::string{"<p>nothing to compare: no series has a time on both sides</p>\n"}
                                   : comparison_plot<recording_comparison>{compared}.text(colors, 4 * most_html_phases);
  if (compared.entries.size() > 4 * most_html_phases)
    body += "<p class=\"note\">Drawn are the first " + digits(4 * most_html_phases) + " of " + digits(compared.entries.size()) +
            "; all are in the table.</p>\n";
  body += html_lines(lines.lines());
  if (!compared.entries.empty())
    body += "<details><summary>numbers</summary>" + html_tables<grid<>>{lines.cells(), "verdicts"}.text() + "</details>\n";
  std::string links = "<nav><a href=\"#comparison\">Comparison</a><a href=\"#a\">Before</a><a href=\"#b\">After</a></nav>\n";
  for (auto const* side : {&before, &after}) {
    std::string const name = side == &before ? "a" : "b";
    html_sections<recording> const sections{*side, colors, name + "-", side == &before ? roofs_before : roofs_after};
    body += "<section class=\"part-of\"><h2 id=\"" + name + "\">" + (side == &before ? "Before (a)" : "After (b)") + "</h2>\n" +
            html_origin(side->environment) + sections.links() + sections.text() + "</section>\n";
  }
  auto const page = html_page("streamgauge comparison", links, body);
  out.write(page.data(), static_cast<std::ptrdiff_t>(page.size()));
}

/// The same, each under the roofs that its first device tells of itself.
template <class Ostream>
[[gnu::cold]] void html(Ostream& out, recording const& before, recording const& after) {
  html(out, before, after, roofs_of(before.environment), roofs_of(after.environment));
}

}  // namespace streamgauge::report
