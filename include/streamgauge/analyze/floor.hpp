#pragma once

#include <cstdint>
#include <optional>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>

namespace streamgauge {

/// Around what the instrument's own reading was taken.
enum class floor_kind : std::uint8_t {
  empty_phase,   ///< nothing between the two records
  empty_kernel,  ///< a kernel that does nothing, queued with both records before the device began
};

/// "an empty phase": what the floor is the reading of.
[[nodiscard]] constexpr char const* describe(floor_kind of) noexcept {
  return of == floor_kind::empty_kernel ? "a phase around an empty kernel" : "an empty phase";
}

/// What the instrument itself reads on a device.
struct device_floor {
  nanoseconds time{0};
  floor_kind kind = floor_kind::empty_phase;
};

/// The floor that applies to phases on a device: around an empty kernel where it is known, else of an empty phase.
/// Why: nearly every phase on a device holds a kernel, and starting one costs more than the two records.
[[nodiscard]] inline std::optional<device_floor> floor_of(device_description const& device) noexcept {
  if (device.kernel_floor) return device_floor{*device.kernel_floor, floor_kind::empty_kernel};
  if (device.event_floor) return device_floor{*device.event_floor, floor_kind::empty_phase};
  return std::nullopt;
}

/// The floor that applies to a recording.
/// Why: samples do not say which device they came from, so among several devices the largest counts.
template <class Environment>
[[nodiscard]] std::optional<device_floor> floor_of(Environment const& from) noexcept {
  std::optional<device_floor> largest;
  for (auto const& device : from.devices) {
    auto const found = floor_of(device);
    if (found && (!largest || found->time > largest->time)) largest = found;
  }
  return largest;
}

/// Under so many times the floor a device time is near it.
inline constexpr int near_floor_factor = 3;

}  // namespace streamgauge
