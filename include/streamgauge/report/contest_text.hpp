#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include <streamgauge/analyze/clock_readings.hpp>
#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/analyze/stopping.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/feeding_text.hpp>
#include <streamgauge/report/floor_note.hpp>
#include <streamgauge/report/above_roof_note.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/clock_note.hpp>
#include <streamgauge/report/clock_change_note.hpp>
#include <streamgauge/report/quantity.hpp>
#include <streamgauge/report/comparison_table.hpp>

namespace streamgauge::report {

/// The rate that counts for work that took that time, under the lower roof: "3.627 TB/s, 75.3 % of the memory's roof".
/// Empty where no work was declared, or no time is there.
template <class Contest>
[[nodiscard, gnu::cold]] std::string rate_text(Contest const& of, double median, device_roofs const& roofs) {
  auto const point = roofline_of(fractional_nanoseconds{median / static_cast<double>(of.iterations)}, of.work, roofs);
  bool const of_memory = point.limit == limiting_roof::unknown ? point.bytes_per_second.has_value() : point.limit == limiting_roof::memory;
  auto const& reached = of_memory ? point.bytes_per_second : point.flops_per_second;
  if (!reached) return {};
  std::string text = ", " + unbroken(with_prefix(*reached, of_memory ? "B/s" : "flop/s"));
  auto const& share = of_memory ? point.share_of_bytes : point.share_of_flops;
  if (share) text += ", " + unbroken(in_percent(*share)) + " of the " + (of_memory ? "memory" : "arithmetic") + "'s roof";
  return text + above_roof_note(point, roofs);
}

/// The clocks beside the rounds: within one all callables met the same.
template <class Contest>
[[nodiscard, gnu::noinline, gnu::cold]] std::string contest_clocks(Contest const& of) {
  device_description const* device = nullptr;
  held_back_count all;
  for (series const& each : of.taken.all) {
    device = device_of(each, of.taken);
    if (!device) return {};
    all += count_held_back(each, device->readings);
  }
  if (!device || (device->readings.empty() && device->why_no_readings.empty())) return {};
  std::string text = note("clocks", clock_note(*device));
  if (std::string const held = held_back_note(all); !held.empty()) text += note("", held);
  return text;
}

/// Why rounds ended, in words of theirs: it is the ratios that are asked for, and nothing has to be steady for them.
template <class = void>
[[nodiscard, gnu::cold]] std::string rounds_ended_text(stop_cause cause) {
  if (cause == stop_cause::narrow) return "every ratio is known as closely as was asked for";
  std::string const spent = cause == stop_cause::time_spent ? "the time" : "the rounds";
  return spent + " for it " + (cause == stop_cause::time_spent ? "is" : "are") +
         " spent; not every ratio is known as closely as was asked for";
}

/// What `measure_rounds` found out, as lines for people: each callable's median, the rate of declared work, and what it is
/// against the first.
/// `roofs`: what declared work is held against; left out, those that the device tells of itself, which know no tensor cores.
template <class Ostream, class Contest>
[[gnu::cold]] void contest_text(Ostream& out, Contest const& of, device_roofs const& roofs) {
  bool has_rates = false;
  std::optional<fractional_nanoseconds> least;
  std::string text;
  if (of.watched) text += note("no result", "a tool is attached: what is measured under it holds the tool");
  if (!of.why_none.empty()) text += note("no verdict", escaped(of.why_none));
  for (std::size_t i = 0; i < of.names.size(); ++i) {
    std::optional<double> median;
    if (i == 0 && !of.against_first.empty()) median = of.against_first[0].a.median;
    if (i > 0 && i <= of.against_first.size()) median = of.against_first[i - 1].b.median;
    if (median && (!least || *median < least->count())) least = fractional_nanoseconds{*median};
    std::string line = median ? unbroken(with_unit(fractional_nanoseconds{*median})) : std::string{"-"};
    std::string const rate = median && of.iterations > 0 ? rate_text(of, *median, roofs) : std::string{};
    line += rate;
    has_rates = has_rates || !rate.empty();
    if (i > 0 && i <= of.against_first.size()) line += ", " + line_of(of.against_first[i - 1]);
    if (of.fastest == i) line += "; the least median";
    text += note(escaped(of.names[i]), line);
  }
  if (has_rates)
    for (auto const* each : {&roofs.flops, &roofs.bytes})
      text += note(each == &roofs.flops ? "arithmetic" : "memory",
                   each->per_second ? with_prefix(*each->per_second, each == &roofs.flops ? "flop/s" : "B/s") + ", " + each->source
                                    : "no roof: " + escaped(each->why_not));
  if (std::string const floor = least ? floor_note(of.taken.environment, least) : std::string{}; !floor.empty())
    text += note("instrument", floor);
  text += contest_clocks(of);
  if (of.ended != stop_cause::none)
    text += note("ended", rounds_ended_text(of.ended) + ", after " + digits(std::uint64_t{of.rounds}) + " rounds and " +
                            with_unit(of.took) + "; " + feeding_text(of) +
                            "; within this process: the next one may differ by more");
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}
template <class Ostream, class Contest>
[[gnu::cold]] void contest_text(Ostream& out, Contest const& of) {
  contest_text(out, of, roofs_of(of.taken.environment));
}

}  // namespace streamgauge::report
