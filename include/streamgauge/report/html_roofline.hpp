#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/quantity.hpp>
#include <streamgauge/report/roofline_table.hpp>
#include <streamgauge/report/html_text.hpp>
#include <streamgauge/report/html_table.hpp>
#include <streamgauge/report/html_names.hpp>
#include <streamgauge/report/roofline_plot.hpp>

namespace streamgauge::report {

/// What a page shows of phases that declare their work: the picture under the roofs, what is not in it and why, and the
/// table of rooflines with its lines.
/// A template, so that only a unit that prints compiles its bodies.
template <class Recording>
class html_roofline {
 public:
  /// `most`: how many points the picture has, and how many phases without one are named beside it.
  html_roofline(Recording const& from, device_roofs const& roofs, std::vector<measured_bytes> const& counted, std::size_t most)
      : from_{from}, of_{roofline_of(from, roofs, counted)}, most_{most} {}

  /// Whether no phase declares its work, so that there is nothing to show.
  [[nodiscard]] bool empty() const noexcept { return of_.rows.empty(); }

  [[nodiscard]] std::string text(phase_colors<>& colors) const {
    roofline_plot<> const plot{of_, colors, most_};
    roofline_lines<roofline> const lines{of_};
    std::string text;
    if (plot.drawn().empty())
      text = "<p>no picture: no phase has a rate and an intensity above 0</p>\n" + not_drawn();
    else
      text = "<div class=\"phase figures\"><figure>" + plot.picture() + "<figcaption>" + caption(plot) + "</figcaption></figure>\n<div class=\"beside\">" +
             legend(plot, colors) + not_drawn() + "</div></div>\n";
    return text + html_tables<grid<>>{lines.cells(), "rooflines"}.text() + html_lines(lines.under().lines());
  }

 private:
  // Whose roofs they are, by the recording's own words.
  [[nodiscard]] std::string owner() const {
    if (!of_.roofs.device) return "";
    std::string named = " of device " + std::to_string(*of_.roofs.device);
    for (auto const& each : from_.environment.devices)
      if (each.ordinal == *of_.roofs.device && !each.name.empty()) named += ", " + escaped(each.name);
    return named;
  }

  [[nodiscard]] std::string caption(roofline_plot<> const& plot) const {
    std::string text = "Operations a second over operations for each byte, both by powers of ten. ";
    bool const flops = of_.roofs.flops.per_second.has_value();
    bool const bytes = of_.roofs.bytes.per_second.has_value();
    if (flops && bytes)
      text += "The line is the most that can be reached" + owner() +
              ": left of the ridge what the memory feeds, right of it what the arithmetic does.";
    else if (flops || bytes)
      text += std::string{"The line is the roof of the "} + (flops ? "arithmetic" : "memory") + owner() + "; that of the " +
              (flops ? "memory" : "arithmetic") + " is absent: " +
              escaped(flops ? of_.roofs.bytes.why_not : of_.roofs.flops.why_not) + ".";
    else
      text += "No roof is drawn: of the arithmetic, " + escaped(of_.roofs.flops.why_not) + "; of the memory, " +
              escaped(of_.roofs.bytes.why_not) + ".";
    for (auto const* row : plot.drawn()) {
      if (!row->point.above_flops && !row->point.above_bytes) continue;
      text += " Ringed: above a roof, which the lines below the table explain.";
      break;
    }
    if (plot.with_point() > plot.drawn().size())
      text += " Drawn are the " + digits(plot.drawn().size()) + " that took the longest of " + digits(plot.with_point()) +
              "; all are in the table.";
    return html_text(text);
  }

  [[nodiscard]] static std::string legend(roofline_plot<> const& plot, phase_colors<>& colors) {
    std::string text = "<ul class=\"legend\">";
    for (auto const* row : plot.drawn()) {
      auto const name = shortened(identity_of(row->phase, row->conditions), 60);
      text += "<li>" + chip_and_name(colors.of(row->phase), name) + " <span class=\"quiet\">";
      if (row->point.share)
        text += in_percent(*row->point.share) + (row->point.limit == limiting_roof::memory ? " of memory" : " of arithmetic");
      else
        text += with_prefix(*row->point.flops_per_second, "flop/s");
      text += "</span></li>\n";
    }
    return text + "</ul>\n";
  }

  [[nodiscard]] std::string not_drawn() const {
    std::vector<labelled_line> lines;
    std::size_t count = 0;
    for (auto const& row : of_.rows) {
      auto const why = why_no_point(row);
      if (why.empty() || ++count > most_) continue;
      lines.push_back({lines.empty() ? "not drawn" : "", shortened(identity_of(row.phase, row.conditions), 60) + ": " + why, false});
    }
    if (count > most_) lines.push_back({"", "and " + digits(count - most_) + " more; all are in the table", false});
    return html_lines(lines);
  }

  Recording const& from_;
  roofline of_;
  std::size_t most_;
};

}  // namespace streamgauge::report
