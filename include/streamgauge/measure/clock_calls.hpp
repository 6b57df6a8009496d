#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <atomic>
#include <cstdint>
#include <limits>

#include <streamgauge/measure/event_pool.hpp>

namespace streamgauge {

struct recording;
class clock_maps;
struct device_clocks;

/// What places device times on the host's clock; `timeline.hpp` has the functions.
/// Why: called through pointers, so that who does not place pays neither for compiling them nor for running them.
struct clock_calls {
  /// Gives a pool the clock of its context. Under the lock of the pool's lane.
  void (*provide)(device_clocks& of, event_pool& pool) noexcept;
  /// Looks at the clocks. Sync: some microseconds.
  void (*anchor)(device_clocks& of, std::chrono::nanoseconds now) noexcept;
  /// Places what was collected. Throws: only `std::bad_alloc`.
  void (*place_samples)(device_clocks& of, recording& into);
  void (*close)(device_clocks& of) noexcept;
  void (*destroy)(device_clocks& of) noexcept;
};

/// The clocks of the devices that a recorder measures on; of most recorders none.
struct device_clocks {
  static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

  clock_calls const* calls = nullptr;  ///< null: nothing is placed
  clock_maps* maps = nullptr;          ///< owned by those calls
  std::atomic<std::int64_t> due_at{never};

  /// Whether an anchor is due. Costs one load.
  [[nodiscard]] bool due(std::chrono::nanoseconds now) const noexcept {
    return now.count() >= due_at.load(std::memory_order_relaxed);
  }
};

/// Notes where an interval lies, if it was read and clocks are placed: `later` than its start event by that time.
inline void place_interval(timed_slot& slot, std::chrono::nanoseconds later, stored_sample& into) noexcept {
  if (slot.pool->clock) slot.pool->clock->place(*slot.pool->clock, slot, later, into);
}

}  // namespace streamgauge

#endif
