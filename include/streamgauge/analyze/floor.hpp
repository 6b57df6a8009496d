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

/// The floor's time that applies to phases on a device: around an empty kernel where it is known, else of an empty phase.
/// Why: nearly every phase on a device holds a kernel, and starting one costs more than the two records.
[[nodiscard]] inline std::optional<nanoseconds> floor_time_of(device_description const& device) noexcept {
  return device.kernel_floor ? device.kernel_floor : device.event_floor;
}
/// The device whose floor applies to a recording; null: none is known.
/// Why: samples do not say which device they came from, so among several devices the largest counts.
[[nodiscard]] inline device_description const* limiting_device(environment const& from) noexcept {
  device_description const* largest = nullptr;
  for (device_description const& device : from.devices) {
    std::optional<nanoseconds> const time = floor_time_of(device);
    if (time && (!largest || *time > *floor_time_of(*largest))) largest = &device;
  }
  return largest;
}
[[nodiscard]] inline floor_kind floor_kind_of(device_description const& device) noexcept {
  return device.kernel_floor ? floor_kind::empty_kernel : floor_kind::empty_phase;
}

/// The floor that applies to phases on a device, or to a recording: time and kind together.
/// A template, so that only a unit that asks compiles it.
template <class Floor = device_floor>
[[nodiscard]] std::optional<Floor> floor_of(device_description const& device) noexcept {
  std::optional<nanoseconds> const time = floor_time_of(device);
  return time ? std::optional<Floor>{Floor{*time, floor_kind_of(device)}} : std::nullopt;
}
template <class Floor = device_floor>
[[nodiscard]] std::optional<Floor> floor_of(environment const& from) noexcept {
  device_description const* const device = limiting_device(from);
  return device ? floor_of<Floor>(*device) : std::nullopt;
}

/// Under so many times the floor a device time is near it.
inline constexpr int near_floor_factor = 3;

/// The steps in which an H200 was seen to notice that a kernel ended: some 176 ns in a stream, up to this out of a graph.
/// Why: around a kernel of always the same length every interval is off by the same part of a step, so the steadiest of
/// readings may be that far from what the kernel takes, and no number of them shows it.
inline constexpr nanoseconds kernel_end_step{220};

}  // namespace streamgauge
