#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/span_notes.hpp>

namespace streamgauge::report {

/// The lines that say how far the statistics of a row may be trusted: steadiness, outliers, a first sample that stands out,
/// the floor.
/// A template, so that only a unit that prints compiles its bodies.
template <class Rows = std::vector<summary_row>>
class trust_notes : public span_notes<Rows> {
 public:
  explicit trust_notes(Rows const& rows) : span_notes<Rows>{rows}, rows_{rows} {}

  /// What is not steady, and how its level moved; and what lies far from the rest. Of what is not known a star beside its
  /// interval says enough: short runs and host times of microseconds seldom are.
  [[gnu::cold]] void add_trust() {
    bool any = false;
    for (auto const& row : rows_) {
      each_observable(row.what, [&](char const* name, distribution const& of) { say_unsteady(row.what, name, of); });
      any = any || !this->line_.empty();
      if (!this->line_.empty()) this->end("unsteady");
    }
    if (any)
      this->add("", "figures of what is unsteady are over all samples behind the fixed warm-up");
    any = false;
    for (auto const& row : rows_) {
      each_observable(row.what, [&](char const* name, distribution const& of) { say_outliers(row.what, name, of); });
      any = any || !this->line_.empty();
      if (!this->line_.empty()) this->end("outliers");
    }
    if (any)
      this->add("", "how many lie beyond 1.5 quartile distances, and beyond 3, with the worst and its place");
  }

 protected:
  [[gnu::noinline, gnu::cold]] void add_first_sample(summary const& of) {
    each_observable(of, [&](char const* name, distribution const& values) {
      if (!values.first_sample_outlier || values.before_steady > 0) return;
      begin(of, ": the first sample stands far above the rest: ");
      this->say(name);
      this->say(" ");
      this->say_time(*values.first.value());
      this->say(" (median ");
      this->say_time(*values.steady.median);
      this->say(")");
    });
    if (this->line_.empty()) return;
    this->say("; a warm-up count keeps it apart");
    this->end("warning");
  }

  /// Requires: the row is near the floor or the resolution.
  [[gnu::noinline, gnu::cold]] void add_near_floor(summary const& of, environment const& measured_in) {
    auto const median = *of.device.values.steady.median;
    device_description const* const device = of.near_floor ? limiting_device(measured_in) : nullptr;
    this->say_name(of);
    this->say(": the device median of ");
    this->say_time(median);
    if (!device) {
      this->say(" is under 1 us, near the resolution of the events");
      return this->end("warning");
    }
    nanoseconds const floor = *floor_time_of(*device);
    bool const below = median < floor;
    auto const tenths = below ? 0 : static_cast<std::uint64_t>(median / floor * 10.0);
    this->say(below ? " is less than" : " is " + digits(tenths / 10) + "." + digits(tenths % 10) + " times");
    this->say(" the ");
    this->say_time(floor);
    this->say(" that ");
    this->say(describe(floor_kind_of(*device)));
    this->say(below ? " reads: what it holds cannot be told from it" : " reads: a third of it or more is the instrument");
    this->end("warning");
  }

  [[gnu::noinline, gnu::cold]] void add_thinning(summary const& of) {
    if (of.kept_one_in == 1) return;
    this->say_name(of);
    this->say(": of its samples the first and one in " + digits(of.kept_one_in) +
              " of the others are kept; count, extremes and mean are of all, quantiles within 0.05 %");
    char const* between = "; but of those kept alone is what it says of ";
    each_observable(of, [&](char const* name, distribution const& values) {
      if (!values.steady.of_kept_alone || values.steady.count == 0) return;
      this->say(between);
      this->say(name);
      between = ", ";
    });
    this->end("thinned");
  }

 private:
  template <class Visit>
  static void each_observable(summary const& of, Visit see) {
    see("submit", of.submit.values);
    see("device", of.device.values);
    for (auto const& each : of.completion.by_policy) see("completion", each);
  }

  [[gnu::noinline, gnu::cold]] void begin(summary const& of, char const* what) {
    if (!this->line_.empty()) return this->say(", ");
    this->say_name(of);
    this->say(what);
  }

  [[gnu::noinline, gnu::cold]] void say_change(level_change const& change) {
    this->say(" from ");
    this->say_time(fractional_nanoseconds{change.from});
    this->say(" to ");
    this->say_time(fractional_nanoseconds{change.to});
    if (auto const share = change.share()) this->say((*share < 0.0 ? " (-" : " (+") + percent(*share) + ")");
  }

  [[gnu::noinline, gnu::cold]] void say_unsteady(summary const& row, char const* name, distribution const& of) {
    auto const& state = of.steadiness;
    if (state.verdict != steadiness::no) return;
    begin(row, ": ");
    this->say(name);
    auto const of_all = " of " + digits(state.samples);
    switch (state.reason) {
      case steady_reason::drift: this->say(" drifts"); break;
      case steady_reason::wander: this->say(" wanders"); break;
      case steady_reason::short_steady_part:
        this->say(" was flat only from sample " + digits(state.flat_from.value_or(0)) + of_all + " on, the level went");
        break;
      default: this->say(" shifts at sample " + digits(state.change ? state.change->at : 0) + of_all);
    }
    if (state.change) say_change(*state.change);
  }

  [[gnu::noinline, gnu::cold]] void say_outliers(summary const& row, char const* name, distribution const& of) {
    auto const& steady = of.steady;
    if (steady.beyond_3_iqr.count() == 0 || !steady.worst || !steady.worst_index) return;
    begin(row, ": ");
    this->say(name);
    this->say(" " + digits(steady.beyond_1_5_iqr.count()) + " and " + digits(steady.beyond_3_iqr.count()) +
              ", the worst ");
    this->say_time(*steady.worst);
    this->say(" at " + digits(*steady.worst_index));
    if (steady.one_in > 1) this->say(" of those kept");
  }

  Rows const& rows_;
};

}  // namespace streamgauge::report
