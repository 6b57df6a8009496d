#pragma once

#include <cstdint>
#include <optional>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/distribution.hpp>
#include <streamgauge/analyze/summary.hpp>

namespace streamgauge {

/// Why there is no time less the floor.
enum class no_correction : std::uint8_t {
  none,           ///< there is one
  no_time,        ///< there is no device time to begin with
  unknown_floor,  ///< no floor of the device was measured
  below_floor,    ///< the device time is less than the floor, so the floor is not in it
  spans,          ///< a span's wall lies between records on several streams, and no floor was measured for that
};

[[nodiscard]] constexpr char const* describe(no_correction why) noexcept {
  switch (why) {
    case no_correction::none: return "the floor was taken off";
    case no_correction::no_time: return "there is no device time";
    case no_correction::unknown_floor: return "no floor of the device was measured";
    case no_correction::below_floor: return "the device time is less than the floor";
    case no_correction::spans: return "no floor was measured for a span";
  }
  return "";
}

/// A device time as it was read, and less the floor beside it.
/// Why: the floor is part of every device time, and what it hides most is small. But a difference of two readings is an
/// estimate, so it never takes the place of what was read, and what is below the floor has none: neither 0 nor a negative
/// time.
///
/// What it means depends on the kind of floor. Less that around an empty kernel, an interval around one kernel that was
/// queued, with its records, before the device came to it is the kernel's own time: on an H200, from 1 us to 1 ms, within
/// the step in which the kernel's end is seen (`kernel_end_step`) of the clock that the kernel itself read. Less that of an
/// empty phase it still holds what starting a kernel costs, some 1.6 us there. Where the device waited for the host, and
/// between several kernels, there are gaps, which no floor takes off; and each phase nested inside adds records of its own
/// (`records_inside`).
struct time_less_floor {
  std::optional<fractional_nanoseconds> raw;        ///< as it was read
  std::optional<fractional_nanoseconds> corrected;  ///< less the floor; there exactly where `why_not` is `none`
  std::optional<device_floor> floor;                ///< the one that applies to the device, taken off or not
  no_correction why_not = no_correction::no_time;
};

/// A device time less the floor of the device that it was read on. An absent time may be given, and stays absent.
/// Example: `auto own = sg::less_floor(row.what, taken.environment.devices.at(0)); if (own.corrected) ...`
[[nodiscard]] inline time_less_floor less_floor(std::optional<fractional_nanoseconds> raw,
                                                device_description const& device) noexcept {
  time_less_floor found{raw, std::nullopt, floor_of(device), no_correction::none};
  if (!raw)
    found.why_not = no_correction::no_time;
  else if (!found.floor)
    found.why_not = no_correction::unknown_floor;
  else if (*raw < found.floor->time)
    found.why_not = no_correction::below_floor;
  else
    found.corrected = *raw - found.floor->time;
  return found;
}

/// The median of the steady part, less the floor. Requires: device times of one stream, not host times.
[[nodiscard]] inline time_less_floor less_floor(distribution const& of, device_description const& device) noexcept {
  return less_floor(of.steady.median, device);
}

/// The steady device median of a series, less the floor.
/// Requires: where it may be a span, the summary of a recording; that of a series alone does not know.
[[nodiscard]] inline time_less_floor less_floor(summary const& of, device_description const& device) noexcept {
  auto found = less_floor(of.device.values, device);
  if (!of.span && !of.walls_and_branches) return found;
  found.corrected = std::nullopt;
  found.why_not = no_correction::spans;
  return found;
}

}  // namespace streamgauge
