#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/analyze/stopping.hpp>
#include <streamgauge/analyze/clock_readings.hpp>
#include <streamgauge/analyze/clock_changes.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/feeding_text.hpp>
#include <streamgauge/report/floor_note.hpp>
#include <streamgauge/report/above_roof_note.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/clock_note.hpp>
#include <streamgauge/report/clock_change_note.hpp>
#include <streamgauge/report/quantity.hpp>

namespace streamgauge::report {

/// The lines about one measurement. A template, so that only a unit that prints compiles its bodies.
template <class Measurement>
class measurement_lines : public note_lines<> {
 public:
  explicit measurement_lines(Measurement const& of) : measurement_lines{of, roofs_of(of.taken.environment)} {}
  [[gnu::cold]] measurement_lines(Measurement const& of, device_roofs const& roofs) : of_{of} {
    auto const device = of.device_summary();
    auto const median = of.median();
    if (of.watched) add("no result", "a tool is attached: what is measured under it holds the tool");
    if (!of.why_none.empty()) add("no median", escaped(of.why_none));
    if (median && device) add_device(*median, *device);
    if (median) add_rates(*median, roofs);
    if (series const* const alone = of.alone()) add_host(summarize(*alone));
    if (of.samples()) add_instrument(device);
    if (device) add_clocks(*device);
    if (of.samples()) add_caches();
    if (of.stopped.stopped()) add("ended", std::string{describe(of.stopped.cause)} + ", after " + with_unit(of.took));
  }

 private:
  [[gnu::cold]] void add(char const* label, std::string const& text) {
    say(text);
    end(label);
  }

  [[gnu::cold]] void add_device(fractional_nanoseconds median, summary const& all) {
    auto const& steady = all.device.values.steady;
    std::string text = unbroken(with_unit(median));
    if (steady.confidence && steady.median && steady.median->count() > 0) {
      auto const half = fractional_nanoseconds{steady.confidence->high - steady.confidence->low}.count() / 2.0;
      text += ", give or take " + unbroken(percent(half / steady.median->count())) + " (95 % interval of the median)";
    }
    if (of_.iterations > 1) text += ", one of " + digits(std::uint64_t{of_.iterations}) + " in each interval";
    if (all.device.values.is_steady())
      text += "; " + digits(steady.count) + " of " + digits(all.device.samples.entered) + " intervals are steady";
    else
      text += "; of " + digits(steady.count) + (steady.count == 1 ? " interval" : " intervals") + ", steady: " +
              describe(all.device.values.steadiness);
    add("device", text);
  }

  [[gnu::cold]] void add_rates(fractional_nanoseconds median, device_roofs const& roofs) {
    auto const point = roofline_of(median, of_.work, roofs);
    std::string text;
    auto const rate = [&](std::optional<double> const& reached, char const* unit, std::optional<double> const& share, char const* what,
                          roof const& of) {
      if (!reached) return;
      text += (text.empty() ? "" : ", ") + unbroken(with_prefix(*reached, unit));
      if (share) text += ", " + unbroken(in_percent(*share)) + " of the " + what + "'s roof, " + of.source;
    };
    rate(point.flops_per_second, "flop/s", point.share_of_flops, "arithmetic", roofs.flops);
    rate(point.bytes_per_second, "B/s", point.share_of_bytes, "memory", roofs.bytes);
    if (text.empty()) return;
    add("rates", text + above_roof_note(point, roofs) + "; work as it was declared");
  }

  [[gnu::cold]] void add_host(summary const& alone) {
    for (auto const policy : {wait_policy::spin, wait_policy::block}) {
      auto const& waited = alone.completion.by_policy[static_cast<std::size_t>(policy)].steady;
      if (!waited.median) continue;
      std::string text = unbroken(with_unit(*waited.median)) + " until a " +
                         (policy == wait_policy::spin ? "spinning" : "blocking") + " wait saw it done";
      if (auto const& submit = alone.submit.values.steady.median)
        text += ", " + unbroken(with_unit(*submit)) + " until it was submitted";
      add("host", text + "; " + digits(waited.count) + (waited.count == 1 ? " execution" : " executions, one at a time"));
    }
  }

  [[gnu::cold]] void add_caches() {
    auto const& times = of_.cold_over_warm;
    if (of_.sets < 2) {
      if (times) add("caches", "cold: " + decimal(*times, 3) + " times as long as with warm ones");
      if (!of_.why_not_compared.empty()) add("caches", "cold; not compared: " + escaped(of_.why_not_compared));
      return;
    }
    std::string text = "rotating over " + digits(std::uint64_t{of_.sets}) + " sets";
    if (times) text += ": " + decimal(*times, 3) + " times as long as the same set again";
    if (times && *times < 1.02) text += ", so the caches hold them all, or do not matter";
    if (!of_.why_not_compared.empty()) text += "; not compared: " + escaped(of_.why_not_compared);
    add("caches", text);
  }

  [[gnu::cold]] void add_instrument(std::optional<summary> const& device) {
    std::string text = feeding_text(of_);
    if (series const* const samples = of_.samples()) {
      auto const split = split_latency(*samples);
      if (split.count(feeding::starved) > 0)
        text += "; " + digits(split.count(feeding::starved)) + " of " + digits(split.executions) +
                " began before all was submitted and may hold the host's gaps";
    }
    auto const median = device ? device->device.values.steady.median : std::optional<fractional_nanoseconds>{};
    std::string const floor = floor_note(of_.taken.environment, median);
    text += (floor.empty() ? "" : "; ") + floor;
    add("instrument", text);
  }

  // How the clocks were, how many intervals ran while they were held back, and which changes of the level are theirs.
  [[gnu::cold]] void add_clocks(summary const& all) {
    series const& samples = *of_.samples();
    device_description const* const device = device_of(samples, of_.taken);
    if (!device || (device->readings.empty() && device->why_no_readings.empty())) return;
    add("clocks", clock_note(*device));
    if (device->readings.empty()) return;
    if (std::string const held = held_back_note(count_held_back(samples, device->readings)); !held.empty()) add("", held);
    for (std::string const& each :
         clock_change_lines(clock_changes(samples, all.device.values.steadiness, device->readings)))
      add("", each);
  }

  Measurement const& of_;
};

/// What `measure` found out, as lines for people: the device's side, the host's side, how far to trust it.
/// `roofs`: what declared work is held against; left out, those that the device tells of itself, which know no tensor cores.
/// Why: any `std::ostream`, as `table`.
template <class Ostream, class Measurement>
[[gnu::cold]] void measurement_text(Ostream& out, Measurement const& of, device_roofs const& roofs) {
  std::string const text = escaped(of.name) + "\n" + measurement_lines<Measurement>{of, roofs}.text();
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}
template <class Ostream, class Measurement>
[[gnu::cold]] void measurement_text(Ostream& out, Measurement const& of) {
  measurement_text(out, of, roofs_of(of.taken.environment));
}

}  // namespace streamgauge::report
