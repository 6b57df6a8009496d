#pragma once

#include <streamgauge/measure/recorder.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {
using timeline_recorder = recorder;
}  // namespace disabled
}  // namespace streamgauge

#else

#include <streamgauge/measure/clock_maps.hpp>
#include <streamgauge/measure/sample_placer.hpp>

namespace streamgauge {

/// What a `timeline_recorder` does with clocks.
inline constexpr clock_calls timeline_calls{
    [](device_clocks& of, event_pool& pool) noexcept {
      if (of.due_at.load(std::memory_order_relaxed) == device_clocks::never) return;
      if (driver_answer const cuda = driver(); cuda.api) of.maps->provide(*cuda.api, pool);
    },
    [](device_clocks& of, nanoseconds now) noexcept {
      // One thread does it, whoever comes first.
      std::int64_t due = of.due_at.load(std::memory_order_relaxed);
      std::int64_t const next = now.count() + clock_map::period.count();
      if (due == device_clocks::never || !of.due_at.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
      if (driver_answer const cuda = driver(); cuda.api) of.maps->anchor(*cuda.api);
    },
    [](device_clocks& of, recording& into) {
      sample_placer<recording> const placer{*of.maps};
      placer.place(into);
      placer.describe(*of.maps, into);
    },
    [](device_clocks& of) noexcept {
      of.due_at.store(device_clocks::never, std::memory_order_relaxed);
      if (driver_answer const cuda = of.maps->first() ? driver() : driver_answer{}; cuda.api) of.maps->close(*cuda.api);
    },
    [](device_clocks& of) noexcept { delete of.maps; },
};

/// A recorder that also places every device time on the host's clock, with a bound: `sample::queue` and `sample::bound`.
/// Why: where the time between host and device goes can then be told, and whether the device waited for the host. It costs
/// a stream of ours in each context and some microseconds ten times a second, so it is asked for.
/// Requires: as `recorder`. Under a tool that runs every kernel alone, as ncu does, nothing is placed and the recording says so.
/// Throws: only `std::bad_alloc`.
/// Sync: between phases, ten times a second, looks at an event of its own for ten microseconds at most. Capture: allowed.
/// Example: `sg::timeline_recorder recorder; ...; sg::report::latency_table(std::cout, recorder.collect());`
class timeline_recorder : public recorder {
 public:
  /// The mode comes from the environment, as of `recorder`.
  explicit timeline_recorder(capacity limits = {}) : recorder{limits} { place(); }
  explicit timeline_recorder(mode wanted, capacity limits = {}) : recorder{wanted, limits} { place(); }

 private:
  void place() {
    if (recorded() != mode::time) return;
    device_clocks& clocks = core().clocks;
    clocks.maps = new clock_maps{core().origin()};
    clocks.calls = &timeline_calls;
    if (!clocks.maps->under_serialising_tool()) clocks.due_at.store(0, std::memory_order_relaxed);
  }
};

}  // namespace streamgauge

#endif
