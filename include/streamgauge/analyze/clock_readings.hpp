#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/environment.hpp>
#include <streamgauge/sample.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// NVML's bits of clock event reasons that somebody chose: the device is idle, or the program set the clock.
inline constexpr std::uint64_t clock_reasons_chosen = 0x3;

/// Of such bits those that held the clocks back against everybody's will: a power cap, heat, a brake.
[[nodiscard]] constexpr std::uint64_t held_back_by(std::uint64_t reasons) noexcept { return reasons & ~clock_reasons_chosen; }

/// How far from an execution a reading may lie and still speak of it.
inline constexpr nanoseconds clock_reading_reach{100'000'000};

/// A later moment; what overflows is the last one there is.
[[nodiscard]] constexpr nanoseconds later_by(nanoseconds at, nanoseconds by) noexcept {
  using limits = std::numeric_limits<std::int64_t>;
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(at.count(), by.count(), &sum)) return nanoseconds{sum};
  return nanoseconds{by.count() < 0 ? (limits::min)() : (limits::max)()};
}

/// When an execution ran, on the host's clock.
struct host_stretch {
  nanoseconds begin{0};
  nanoseconds end{0};
};

/// Where its device time was placed, there; otherwise from entering on, until somebody saw it done or as long as it took.
[[nodiscard]] inline host_stretch stretch_of(sample const& one) noexcept {
  nanoseconds const none{0};
  nanoseconds const begin = later_by(one.entered, one.queue.value().value_or(none));
  nanoseconds const took = one.queue.known() ? one.device.value().value_or(none)
                                             : one.completion.value().value_or(one.device.value().value_or(none));
  return {begin, later_by(begin, took)};
}

/// How far a moment lies from a stretch, 0 within. Units: nanoseconds.
/// Why: unsigned, so that no two times are too far apart for it.
[[nodiscard]] constexpr std::uint64_t distance_of(nanoseconds at, host_stretch const& from) noexcept {
  auto const between = [](nanoseconds earlier, nanoseconds later) {
    return static_cast<std::uint64_t>(later.count()) - static_cast<std::uint64_t>(earlier.count());
  };
  return at < from.begin ? between(at, from.begin) : at > from.end ? between(from.end, at) : 0;
}

/// The first reading that was taken at that time or later, or how many there are.
/// Requires: readings in the order in which they were taken.
template <class Readings>
[[nodiscard]] std::size_t first_reading_from(Readings const& readings, nanoseconds at) noexcept {
  std::size_t low = 0;
  std::size_t high = readings.size();
  while (low < high) {
    std::size_t const middle = low + (high - low) / 2;
    if (readings[middle].at < at)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// What held the clocks back while an execution ran, as the nearest reading within `clock_reading_reach` has it: 0 where
/// nothing did but what somebody chose; absent where no reading is near, or it has no reasons.
/// Why: a sample is marked by this and never dropped; what it read is what the device did.
template <class Readings>
[[nodiscard]] std::optional<std::uint64_t> held_back_by(sample const& one, Readings const& readings) noexcept {
  host_stretch const ran = stretch_of(one);
  std::size_t const from = first_reading_from(readings, ran.begin);
  std::optional<std::uint64_t> reasons;
  auto nearest = static_cast<std::uint64_t>(clock_reading_reach.count());
  bool any_within = false;
  // What lies within speaks together; else the one before or the one behind, whichever is nearer.
  for (std::size_t i = from > 0 ? from - 1 : 0; i < readings.size() && (i <= from || readings[i].at <= ran.end); ++i) {
    std::uint64_t const distance = distance_of(readings[i].at, ran);
    if (!readings[i].slowed_by || distance > nearest) continue;
    bool const within = distance == 0;
    reasons = held_back_by(*readings[i].slowed_by) | (within && any_within ? *reasons : 0);
    any_within = any_within || within;
    nearest = distance;
  }
  return reasons;
}

/// How many executions ran while the clocks were held back.
struct held_back_count {
  std::uint64_t executions = 0;  ///< steady ones with a device time; of a long series those that were kept
  std::uint64_t held_back = 0;   ///< of those, while a reason held the clocks back
  std::uint64_t not_known = 0;   ///< of those, with no reading near
  std::uint64_t reasons = 0;     ///< all of those reasons

  /// Takes those of another series in.
  held_back_count& operator+=(held_back_count const& other) noexcept {
    executions += other.executions;
    held_back += other.held_back;
    not_known += other.not_known;
    reasons |= other.reasons;
    return *this;
  }
};

/// The same of every execution of a series. What was entered as warm-up is left out.
/// Requires: the readings are those of the device that it ran on; `device_of` finds it.
template <class Readings>
[[nodiscard]] held_back_count count_held_back(series const& of, Readings const& readings) noexcept {
  held_back_count found;
  for (sample const& one : of.samples) {
    if (one.warmup || !one.device.known()) continue;
    ++found.executions;
    std::optional<std::uint64_t> by;  // merged runs have no time in common
    if (of.runs <= 1) by = held_back_by(one, readings);
    if (!by) {
      ++found.not_known;
      continue;
    }
    if (*by != 0) ++found.held_back;
    found.reasons |= *by;
  }
  return found;
}

/// The device on which a series ran, by its samples' streams; null where they are of several, or none is known while the
/// recording has several devices.
template <class Recording>
[[nodiscard]] device_description const* device_of(series const& of, Recording const& in) noexcept {
  std::optional<int> ordinal;
  for (sample const& one : of.samples) {
    if (one.stream == 0 || one.stream > in.streams.size()) continue;
    int const mine = in.streams[one.stream - 1].device;
    if (mine < 0) continue;
    if (ordinal && *ordinal != mine) return nullptr;
    ordinal = mine;
  }
  for (device_description const& each : in.environment.devices)
    if (ordinal ? each.ordinal == *ordinal : in.environment.devices.size() == 1) return &each;
  return nullptr;
}

}  // namespace streamgauge
