#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/distribution.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/html_text.hpp>
#include <streamgauge/report/html_names.hpp>
#include <streamgauge/report/run_values.hpp>
#include <streamgauge/report/run_plot.hpp>
#include <streamgauge/report/histogram_plot.hpp>

namespace streamgauge::report {

/// One phase of a page: of each observable the run, the histogram, and their numbers as text.
/// A template, so that only a unit that prints compiles its bodies.
template <class Summary = summary>
class html_phase {
 public:
  /// `anchor`: its place in the page, for links.
  html_phase(Summary const& of, series const& from, std::string_view color, std::string_view anchor)
      : of_{of}, from_{from}, color_{color} {
    text_.append("<article class=\"phase\" id=\"").append(anchor).append("\"><h3>");
    text_.append(chip_and_name(color, identity_of(of.phase, of.conditions))).append("</h3>\n");
    if (of.kept_one_in > 1)
      text_.append("<p class=\"note\">A long series: the first 1024 samples and one in ").append(digits(of.kept_one_in))
          .append(" of the others were kept. Runs show those; count, extremes and mean are of all, quantiles and histograms of "
                  "all within 0.05 %.</p>\n");
    if (from.runs > 1)
      text_.append("<p class=\"note\">").append(digits(from.runs)).append(" runs, one behind the other.</p>\n");
    auto const* const totals = from.totals ? &*from.totals : nullptr;
    add("device interval", "event to event", of.device.samples, of.device.values, &sample::device, waited_by::any,
        totals ? &totals->device : nullptr);
    add("submit", "host, until left", of.submit.samples, of.submit.values, &sample::submit, waited_by::any,
        totals ? &totals->submit : nullptr);
    char const* const titles[] = {"completion", "completion by spin", "completion by block"};
    for (std::size_t i = 0; i < 3; ++i) {
      auto const& values = of.completion.by_policy[i];
      if (values.steady.count + values.warmup.count == 0) continue;
      add(titles[i], "host, until waited", of.completion.samples, values, &sample::completion,
          static_cast<waited_by>(1 + i), totals ? &totals->completion[i] : nullptr);
    }
    auto const& completion = of.completion.samples;
    if (completion.kept == 0 && completion.entered > 0) add_missing("completion", completion);
    if (of.submit.samples.seen() == 0) text_.append("<p>never entered</p>\n");
    text_.append("</article>\n");
  }

  [[nodiscard]] std::string const& text() const noexcept { return text_; }

 private:
  template <class Time>
  static std::string time(std::optional<Time> const& of) {
    return of ? with_unit(*of) : "-";
  }
  static std::string time(nanoseconds of) { return with_unit(of); }
  static std::string time(double of) { return with_unit(fractional_nanoseconds{of}); }

  void add_missing(char const* title, account const& samples) {
    if (samples.seen() == samples.kept) return;
    std::string reasons;
    for (std::size_t i = 0; i < absence_count; ++i) {
      auto const why = static_cast<absence>(i);
      if (why == absence::none || samples.count(why) == 0) continue;
      reasons.append(reasons.empty() ? "" : "; ").append(digits(samples.count(why))).append(" ").append(describe(why));
    }
    text_.append("<p class=\"note\">").append(title).append(", without a value: ").append(html_text(reasons)).append("</p>\n");
  }

  void add(char const* title, char const* subtitle, account const& samples, distribution const& values,
           observation sample::*which, waited_by policy, observable_totals const* totals) {
    if (values.steady.count + values.warmup.count == 0) return add_missing(title, samples);
    run_values<> const run{from_, which, policy, values};
    // The statistics say whether they are of all or of those that were kept; the histogram goes by the same.
    bool const of_all = totals && !values.steady.of_kept_alone;
    counted_parts<> const parts{run, of_all ? &totals->steady : nullptr};
    text_.append("<section class=\"observable ").append(color_).append("\"><h4>").append(title);
    text_.append(" <span class=\"quiet\">").append(subtitle).append("</span></h4>\n<p>");
    text_.append(steady_badge(values)).append(" median <b>").append(time(values.steady.median)).append("</b>");
    if (values.steady.confidence)
      text_.append(", 95 % interval ").append(time(values.steady.confidence->low)).append(" to ")
          .append(time(values.steady.confidence->high));
    else if (values.steady.count > 0)
      text_.append(", no interval: ").append(describe(values.steady.why_no_confidence));
    text_.append("; ").append(digits(values.steady.count)).append(values.steady.count == 1 ? " value" : " values");
    if (values.warmup.count > 0) text_.append(", and ").append(digits(values.warmup.count)).append(" of warm-up");
    text_.append("</p>\n<div class=\"figures\"><figure>").append(run_plot<>{run}.finished());
    text_.append("<figcaption>").append(html_text(caption_of(run))).append("</figcaption></figure>\n<figure>");
    text_.append(histogram_plot(run, parts)).append("<figcaption>").append(html_text(caption_of(run, parts)));
    text_.append("</figcaption></figure></div>\n<details><summary>numbers</summary><div class=\"two\">\n");
    add_statistics(values);
    add_levels(run);
    add_stretches(run);
    add_parts(parts);
    text_.append("</div></details></section>\n");
    add_missing(title, samples);
  }

  [[nodiscard]] std::string caption_of(run_values<> const& run) const {
    std::string text = "Run, " + digits(run.values().size()) + " values in their order";
    if (of_.kept_one_in > 1) text += " (those that were kept)";
    if (!run.warmup().empty() || run.settling()) text += "; shaded: warm-up";
    text += ". ";
    text += capital(sentence_of(run.what().steadiness)) + ".";
    if (run.above() > 0) text += " " + digits(run.above()) + " above the edge, at most " + time(longest_of(run)) + ".";
    if (run.below() > 0) text += " " + digits(run.below()) + " below the edge.";
    return text;
  }

  [[nodiscard]] static std::string capital(std::string text) {
    if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
    return text;
  }

  // As `describe`, with times in their units.
  [[nodiscard]] static std::string sentence_of(steady_state const& state) {
    if (state.verdict != steadiness::no || !state.change) return describe(state);
    auto const& change = *state.change;
    std::string text = "not steady: ";
    switch (state.reason) {
      case steady_reason::drift: text += "the level drifts"; break;
      case steady_reason::wander: text += "the level wanders"; break;
      case steady_reason::short_steady_part:
        text += "flat only from sample " + digits(state.flat_from.value_or(0)) + " of " + digits(state.samples) +
                " on, the level went";
        break;
      default: text += "the level shifts at sample " + digits(change.at) + " of " + digits(state.samples);
    }
    text += " from " + time(change.from) + " to " + time(change.to);
    return change.share() ? text + " (" + signed_percent(*change.share()) + ")" : text;
  }

  [[nodiscard]] static double longest_of(run_values<> const& run) {
    return static_cast<double>(*std::max_element(run.values().begin(), run.values().end()));
  }

  [[nodiscard]] static std::string caption_of(run_values<> const& run, counted_parts<> const& parts) {
    std::string text = "Values behind the warm-up by time, in " + std::string{name_of(natural_unit(fractional_nanoseconds{run.high()}))} +
                       ", " + time(parts.width()) + " a bar, at most " + digits(parts.most()) + " in one";
    if (run.what().steady.confidence) text += "; shaded: the 95 % interval of the median";
    if (parts.above() > 0) text += "; " + digits(parts.above()) + " more to the right";
    if (parts.below() > 0) text += "; " + digits(parts.below()) + " more to the left";
    return text + ".";
  }

  void row(char const* what, std::string const& steady, std::string const& warmup) {
    text_.append("<tr><th scope=\"row\">").append(what).append("</th><td>").append(steady).append("</td><td>");
    text_.append(warmup).append("</td></tr>");
  }
  void add_statistics(distribution const& values) {
    auto const& s = values.steady;
    auto const& w = values.warmup;
    text_.append("<table><thead><tr><th scope=\"col\">statistics</th><th scope=\"col\">steady</th><th scope=\"col\">warm-up</th>"
                 "</tr></thead><tbody>");
    row("count", digits(s.count), digits(w.count));
    row("median", time(s.median), time(w.median));
    row("least", time(s.minimum), time(w.minimum));
    row("5 %", time(s.q05), time(w.q05));
    row("25 %", time(s.q25), time(w.q25));
    row("75 %", time(s.q75), time(w.q75));
    row("95 %", time(s.q95), time(w.q95));
    row("99 %", time(s.q99), time(w.q99));
    row("most", time(s.maximum), time(w.maximum));
    row("mean", time(s.mean), time(w.mean));
    row("standard deviation", time(s.sample_stddev), time(w.sample_stddev));
    row("median distance", time(s.mad), time(w.mad));
    row("beyond 1.5 quartile distances", digits(s.beyond_1_5_iqr.count()), digits(w.beyond_1_5_iqr.count()));
    row("beyond 3", digits(s.beyond_3_iqr.count()), digits(w.beyond_3_iqr.count()));
    row("first of all", values.first.known() ? time(values.first.value()) : describe(values.first.why_absent()), "");
    text_.append("</tbody></table>\n");
  }

  void add_levels(run_values<> const& run) {
    if (run.levels().empty()) return;
    text_.append("<table><thead><tr><th scope=\"col\">level from value</th><th scope=\"col\">median</th><th scope=\"col\">change</th>"
                 "</tr></thead><tbody>");
    std::size_t shown = 0;
    for (auto const& level : run.levels()) {
      if (++shown > 40) break;
      row(digits(level.at.begin).c_str(), time(level.median), level.change ? signed_percent(*level.change) : "-");
    }
    text_.append("</tbody></table>\n");
  }

  // The run in sixteen stretches at most, or each value where there are no more.
  void add_stretches(run_values<> const& run) {
    auto const& values = run.values();
    std::size_t const parts = (std::min)(values.size(), std::size_t{16});
    text_.append("<table><thead><tr><th scope=\"col\">values from</th><th scope=\"col\">least</th><th scope=\"col\">median</th>"
                 "<th scope=\"col\">most</th></tr></thead><tbody>");
    for (std::size_t i = 0; i < parts; ++i) {
      auto const begin = i * values.size() / parts;
      auto const end = (i + 1) * values.size() / parts;
      number_span<std::int64_t> const some{values.data() + begin, end - begin};
      auto const ends = extremes_of(some.data(), some.size());
      text_.append("<tr><th scope=\"row\">").append(digits(begin)).append("</th><td>");
      text_.append(time(static_cast<double>(ends->minimum))).append("</td><td>").append(time(median(some).value_or(0.0)));
      text_.append("</td><td>").append(time(static_cast<double>(ends->maximum))).append("</td></tr>");
    }
    text_.append("</tbody></table>\n");
  }

  void add_parts(counted_parts<> const& parts) {
    text_.append("<table><thead><tr><th scope=\"col\">histogram from</th><th scope=\"col\">values</th></tr></thead><tbody>");
    for (std::size_t i = 0; i < parts.counts().size(); ++i) {
      if (parts.counts()[i] == 0) continue;
      text_.append("<tr><th scope=\"row\">").append(time(parts.begin_of(i))).append("</th><td>");
      text_.append(digits(parts.counts()[i])).append("</td></tr>");
    }
    text_.append("</tbody></table>\n");
  }

  Summary const& of_;
  series const& from_;
  std::string color_;
  std::string text_;
};

}  // namespace streamgauge::report
