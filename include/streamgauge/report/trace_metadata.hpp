#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/starved_share.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/unmeasured_note.hpp>
#include <streamgauge/report/trace_text.hpp>

namespace streamgauge::report {

/// What a trace says of itself: how host and device were brought to one axis, what was left out and why.
/// A template, so that only a unit that writes compiles its bodies.
template <class Recording>
class trace_metadata {
 public:
  explicit trace_metadata(Recording const& of) : of_{of} {
    for (auto const& each : of.all) {
      if (each.runs > 1) one_origin_ = false;
      lost_ += each.lost;
      not_kept_ += each.count() - each.samples.size();
      for (auto const& one : each.samples) count(one);
    }
  }

  /// Whether all of it is on one axis: no clock of one run has an origin in common with that of another.
  [[nodiscard]] bool one_origin() const noexcept { return one_origin_; }

  /// `cut`: slices whose begin or end was moved within the bounds. `further`: tracks that only hold what overlaps.
  [[nodiscard, gnu::cold]] trace_object<> written(nanoseconds base, starved_course const& course, std::uint64_t cut,
                                                  std::uint64_t further) {
    trace_object<> about;
    about.text("written_by", "streamgauge " + of_.environment.library_version);
    about.text("unit", "ts and dur are microseconds; displayTimeUnit is how viewers shall show them, and changes no number");
    about.time("base_us", base);
    about.text("base", "what ts counts from, since the recorder was made, on the host's steady clock");
    add_alignment(about);
    about.raw("left_out", list_of_missing());
    about.number("slices_cut", cut);
    about.number("tracks_of_what_overlaps", further);
    if (!course.windows.empty()) {
      about.time("starved_window_us", course.window);
      about.text("starved", "of the executions entered within a window, those that the device began before the host had "
                            "submitted everything; without those of which the bound leaves it open, and no point where it "
                            "leaves it open of all");
    }
    if (!of_.environment.tool.empty()) about.text("watched_by", of_.environment.tool);
    if (!of_.problems.empty()) about.raw("problems", list_of_problems());
    if (auto const cut_names = list_of_cut_names(); !cut_names.empty()) about.raw("cut_names", "[" + cut_names + "]");
    return about;
  }

 private:
  void count(sample const& one) {
    if (!one.device.known()) {
      if (fate_of(one.device.why_absent()) != fate::not_asked) ++without_time_[static_cast<std::size_t>(one.device.why_absent())];
    } else if (!one.queue.known()) {
      ++not_placed_[static_cast<std::size_t>(one.queue.why_absent())];
    } else if (one.part != span_part::whole && (one.stream == 0 || one.stream > of_.streams.size())) {
      ++without_stream_;
    } else {
      bounds_.push_back(one.bound.count());
      if (one.bound > widest_) widest_ = one.bound;
    }
  }

  [[gnu::cold]] void add_alignment(trace_object<>& about) {
    std::string why;
    bool single = false;
    std::string clocks;
    for (auto const& each : of_.clocks) {
      std::uint64_t const anchors = each.anchors < each.thrown_away ? 0 : each.anchors - each.thrown_away;
      single = single || (each.why_not.empty() && anchors < 2);
      if (why.empty()) why = each.why_not;
      trace_object<> one;
      one.raw("device", each.device < 0 ? "null" : digits(static_cast<std::uint64_t>(each.device)));
      one.number("anchors", anchors).number("thrown_away", each.thrown_away);
      one.raw("drift_ns_a_second", rate(each.drift));
      one.raw("drift_bound_ns_a_second", rate(each.drift_bound));
      one.raw("holds_up_to_change_of_drift_ns_a_second", rate(each.limits.change_of_drift));
      if (!each.why_not.empty()) one.text("why_not", each.why_not);
      clocks.append(clocks.empty() ? "" : ",").append(one.written());
    }
    if (!of_.why_not_placed.empty()) why = of_.why_not_placed;
    if (!one_origin_) why = "merged from several runs, whose clocks have no origin in common; draw them one by one";
    if (one_origin_ && !bounds_.empty()) {
      about.text("alignment", single ? "approximate" : "bounded");
      why = single ? "a single anchor tells nothing of the drift: the bounds grow with what it may be at most" : "";
    } else {
      about.text("alignment", "none");
      if (why.empty()) why = unplaced_note(of_);
    }
    if (!why.empty()) about.text("alignment_why", why);
    if (!of_.clocks.empty()) about.text("alignment_by", "events of the recorder's between two readings of the host's clock; the drift between them is "
                               "worked out, device durations are never rescaled");
    if (one_origin_ && !bounds_.empty()) {
      about.time("alignment_bound_largest_us", widest_);
      about.raw("alignment_bound_median_us",
                in_thousandths(static_cast<std::int64_t>(median(bounds_).value_or(0.0) + 0.5)));
    }
    about.raw("clocks", "[" + clocks + "]");
  }

  // A rate of 1e-9 is a nanosecond a second. What is not known, and what is no number, is null.
  [[nodiscard, gnu::cold]] static std::string rate(std::optional<double> const& of) {
    double const scaled = of.value_or(0.0) * 1e12;
    if (!of || !(scaled > -9e18 && scaled < 9e18)) return "null";
    return in_thousandths(static_cast<std::int64_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5));
  }

  [[nodiscard, gnu::cold]] std::string list_of_missing() {
    missing_.clear();
    if (!one_origin_) {
      std::uint64_t all = 0;
      for (auto const& each : of_.all) all += each.samples.size();
      say_missing("executions", "merged from several runs", all);
    } else {
      for (std::size_t i = 0; i < absence_count; ++i)
        say_missing("device slices", "no device time: " + std::string{describe(static_cast<absence>(i))}, without_time_[i]);
      for (std::size_t i = 0; i < absence_count; ++i)
        say_missing("device slices", "not placed: " + std::string{describe(static_cast<absence>(i))}, not_placed_[i]);
      say_missing("device slices", "their stream is not known", without_stream_);
    }
    say_missing("executions", "of a long series only some are kept one by one", not_kept_);
    say_missing("executions", "the host had no memory to keep them", lost_);
    return "[" + missing_ + "]";
  }
  [[gnu::cold]] void say_missing(char const* what, std::string const& reason, std::uint64_t count) {
    if (count == 0) return;
    missing_.append(missing_.empty() ? "" : ",");
    missing_.append(trace_object<>{}.text("what", what).text("reason", reason).number("count", count).written());
  }

  [[nodiscard, gnu::cold]] std::string list_of_problems() const {
    std::string all;
    for (auto const& each : of_.problems) {
      all.append(all.empty() ? "" : ",");
      all.append(trace_object<>{}.text("phase", each.phase).text("text", each.text).number("count", each.count).written());
    }
    return "[" + all + "]";
  }

  // Of which slices bear the beginning alone.
  [[nodiscard, gnu::cold]] std::string list_of_cut_names() const {
    std::string all;
    for (std::size_t i = 0; i < of_.all.size(); ++i) {
      auto const& of = of_.all[i];
      bool is_cut = of.phase.size() > longest_in_slice;
      trace_object<> under;
      for (condition const& each : of.conditions) {
        is_cut = is_cut || each.key.size() > longest_in_slice || each.value.size() > longest_in_slice;
        under.text(each.key, each.value);
      }
      if (!is_cut) continue;
      all.append(all.empty() ? "" : ",");
      all.append(trace_object<>{}.number("series", i).text("name", of.phase).raw("conditions", under.written()).written());
    }
    return all;
  }

  Recording const& of_;
  bool one_origin_ = true;
  std::uint64_t without_time_[absence_count] = {};
  std::uint64_t not_placed_[absence_count] = {};
  std::uint64_t without_stream_ = 0;
  std::uint64_t not_kept_ = 0;
  std::uint64_t lost_ = 0;
  std::vector<std::int64_t> bounds_;
  nanoseconds widest_{0};
  std::string missing_;
};

}  // namespace streamgauge::report
