#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/environment.hpp>
#include <streamgauge/analyze/clock_event_reasons.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// The clocks that a device ran at while it was read, beside the one that it may reach, and what held them back:
/// "SM 1410 to 1980 MHz in 12 readings, it may reach 1980; held back by software power cap".
/// A template, so that only a unit that prints compiles it.
/// Requires: there are readings, or a reason why there are none.
template <class Device>
[[nodiscard, gnu::noinline, gnu::cold]] std::string clock_note(Device const& of) {
  if (of.readings.empty()) return "clocks were not read: " + escaped(of.why_no_readings);
  std::optional<std::uint32_t> lowest;
  std::optional<std::uint32_t> highest;
  std::optional<std::uint64_t> reasons;
  std::uint64_t count = 0;
  for (auto const& each : of.readings) {
    if (each.slowed_by) reasons = reasons.value_or(0) | *each.slowed_by;
    if (!each.sm_mhz) continue;
    ++count;
    if (!lowest || *each.sm_mhz < *lowest) lowest = each.sm_mhz;
    if (!highest || *each.sm_mhz > *highest) highest = each.sm_mhz;
  }
  std::string text = "the SM clock was not read";
  if (lowest) text = "SM " + digits(*lowest) + (*lowest < *highest ? " to " + digits(*highest) : "") + " MHz in ";
  if (lowest) text += count == 1 ? "one reading" : digits(count) + " readings";
  if (lowest && of.most_sm_mhz) text += ", it may reach " + digits(*of.most_sm_mhz);
  if (reasons) text += "; held back by " + describe_clock_event_reasons(*reasons);
  // NVML has them of the whole alone.
  if (of.uuid.compare(0, 4, "MIG-") == 0) text += "; of the whole device that it is a part of";
  return text;
}

/// The lines about the clocks of all devices that were read; none where nobody asked.
template <class Environment>
[[nodiscard, gnu::noinline, gnu::cold]] std::vector<std::string> clock_lines(Environment const& of) {
  std::vector<std::string> lines;
  for (auto const& each : of.devices) {
    if (each.readings.empty() && each.why_no_readings.empty()) continue;
    lines.push_back("device " + std::to_string(each.ordinal) + ": " + clock_note(each));
  }
  return lines;
}

}  // namespace streamgauge::report
