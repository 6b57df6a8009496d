#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/verdict.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/run_plot.hpp>
#include <streamgauge/report/html_names.hpp>

namespace streamgauge::report {

/// The verdicts of a comparison as rows of a page: each with its ratio and the interval around it on one axis.
/// A template, so that only a unit that draws compiles its bodies.
template <class Comparison>
class comparison_plot {
 public:
  explicit comparison_plot(Comparison const& of) : of_{of} {
    // As wide as the widest interval that is no accident, but at least five thresholds.
    for (auto const& each : of.entries) {
      reach_ = (std::max)(reach_, 5.0 * std::log1p(each.result.threshold));
      for (double const ratio : {each.result.interval ? each.result.interval->low : 1.0,
                                 each.result.interval ? each.result.interval->high : 1.0, each.result.ratio.value_or(1.0)})
        if (ratio > 0.0) reach_ = (std::max)(reach_, (std::min)(most_reach, 1.08 * std::fabs(std::log(ratio))));
    }
  }

  [[nodiscard]] std::string text(phase_colors<>& colors, std::size_t most) const {
    std::string text = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"verdicts\"><table><thead><tr>"
                       "<th scope=\"col\">phase</th><th scope=\"col\" class=\"words\">what</th><th scope=\"col\" "
                       "class=\"words\">verdict</th><th scope=\"col\" class=\"scale\"><span>";
    text.append(signed_percent(std::exp(-reach_) - 1.0)).append("</span><span>b against a</span><span>");
    text.append(signed_percent(std::exp(reach_) - 1.0)).append("</span></th><th scope=\"col\">change</th>"
                "<th scope=\"col\">95 % interval</th></tr></thead><tbody>\n");
    for (std::size_t i = 0; i < of_.entries.size() && i < most; ++i) text.append(row_of(of_.entries[i], colors));
    return text.append("</tbody></table></div>\n");
  }

 private:
  static constexpr double most_reach = 2.4;  // eleven times

  [[nodiscard]] double x_of(double ratio) const {
    double const at = ratio > 0.0 ? std::log(ratio) : -reach_;
    return 500.0 + 490.0 * (std::min)(1.0, (std::max)(-1.0, at / reach_));
  }

  static std::string badge_of(verdict what) {
    switch (what) {
      case verdict::faster: return badge("good", "\xe2\x96\xbc", describe(what));
      case verdict::slower: return badge("bad", "\xe2\x96\xb2", describe(what));
      case verdict::same: return badge("good", "=", describe(what));
      default: return badge("open", "?", describe(what));
    }
  }

  [[nodiscard]] std::string row_of(series_comparison const& each, phase_colors<>& colors) const {
    auto const& result = each.result;
    auto const change = [](double ratio) { return signed_percent(ratio - 1.0); };
    std::string text = "<tr><th scope=\"row\">";
    text.append(chip_and_name(colors.of(each.phase), identity_of(each.phase, each.conditions)));
    text.append("</th><td class=\"words\">").append(describe(each.what)).append("</td><td class=\"words\">");
    text.append(badge_of(result.verdict)).append("</td><td class=\"bar\">");
    svg<> picture{1000, 24, "flat", result.ratio ? change(*result.ratio) : std::string{"no ratio"}, "none"};
    double const limit = 1.0 + result.threshold;
    picture.rectangle(x_of(1.0 / limit), 0, x_of(limit) - x_of(1.0 / limit), 24, "interval", "within the threshold");
    picture.rectangle(499, 0, 2, 24, "host");
    std::string const look = "fill " + colors.of(each.phase);
    if (result.interval) {
      double const low = x_of(result.interval->low);
      picture.rectangle(low, 9, (std::max)(2.0, x_of(result.interval->high) - low), 6, look,
                        change(result.interval->low) + " to " + change(result.interval->high));
    }
    if (result.ratio) picture.rectangle(x_of(*result.ratio) - 5, 2, 10, 20, look, change(*result.ratio));
    text.append(std::move(picture).finished()).append("</td><td>");
    text.append(result.ratio ? change(*result.ratio) : std::string{"-"}).append("</td><td>");
    if (result.interval)
      text.append(change(result.interval->low)).append(" to ").append(change(result.interval->high));
    else
      text.append("-");
    return text.append("</td></tr>\n");
  }

  Comparison const& of_;
  double reach_ = 0.02;
};

}  // namespace streamgauge::report
