#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <new>

#include <streamgauge/mark/tool.hpp>
#include <streamgauge/measure/clock_map.hpp>
#include <streamgauge/measure/event_pool.hpp>

namespace streamgauge {

/// The clock maps of a recorder: one for each life of a context that it measured in.
/// Why: each device has a clock of its own, and the host's is the one that all share.
/// Threads: any.
class clock_maps {
 public:
  clock_maps() = default;
  clock_maps(clock_maps const&) = delete;
  clock_maps& operator=(clock_maps const&) = delete;
  ~clock_maps() {
    while (clock_map* const gone = first_.load(std::memory_order_relaxed)) {
      first_.store(gone->next, std::memory_order_relaxed);
      delete gone;
    }
  }

  /// From now on clocks are placed. Under a tool that runs every kernel alone, as ncu does, device time lies nowhere near
  /// where the program put it: then nothing is placed.
  void switch_on() noexcept {
    tool_signs const signs = tool_signs_with(nvtx_answer::not_asked);
    under_serialising_tool_ = signs.nvtx_injection && !signs.nsys_session;
    if (!under_serialising_tool_) due_.store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] bool on() const noexcept { return due_.load(std::memory_order_relaxed) != never; }
  [[nodiscard]] bool under_serialising_tool() const noexcept { return under_serialising_tool_; }
  /// Whether an anchor is due. Costs one load.
  [[nodiscard]] bool due(nanoseconds now) const noexcept { return now.count() >= due_.load(std::memory_order_relaxed); }

  /// Gives a pool the map of its context, made and started at the first asking; null without memory.
  /// Sync: the first time in a context, looks at some anchors for microseconds. Capture: allowed.
  void provide(driver_api const& cuda, event_pool& pool, host_stamp origin) noexcept {
    if (!on() || pool.clock) return;
    pool.clock = find(pool.context());
    if (pool.clock) return;
    auto const number = static_cast<std::uint8_t>(made_.load(std::memory_order_relaxed) + 1);
    auto* const fresh = number > 0 ? new (std::nothrow) clock_map{pool.context(), pool.device(), number, origin} : nullptr;
    if (!fresh) return;
    {
      brief_guard const guard{lock_};
      pool.clock = find(pool.context());
      if (!pool.clock && made_.load(std::memory_order_relaxed) + 1 == number) {
        made_.store(number, std::memory_order_relaxed);
        fresh->next = first_.load(std::memory_order_relaxed);
        first_.store(fresh, std::memory_order_release);
        pool.clock = fresh;
      }
    }
    if (pool.clock == fresh)
      fresh->start(cuda);
    else
      delete fresh;
  }

  /// Records an anchor in every context, and looks at those that wait. One thread does it, whoever comes first.
  /// Sync: some microseconds for each context. Capture: allowed.
  void anchor(driver_api const& cuda, nanoseconds now) noexcept {
    std::int64_t due = due_.load(std::memory_order_relaxed);
    if (due == never) return;
    std::int64_t const next = now.count() + clock_map::period.count();
    if (!due_.compare_exchange_strong(due, next, std::memory_order_relaxed)) return;
    for (clock_map* each = first(); each; each = each->next) each->anchor(cuda);
  }

  void close(driver_api const& cuda) noexcept {
    due_.store(never, std::memory_order_relaxed);
    for (clock_map* each = first(); each; each = each->next) each->close(cuda);
  }

  /// The newest first; they are only ever added, in front.
  [[nodiscard]] clock_map* first() const noexcept { return first_.load(std::memory_order_acquire); }
  [[nodiscard]] std::size_t size() const noexcept { return made_.load(std::memory_order_relaxed); }

 private:
  static constexpr std::int64_t never = (std::numeric_limits<std::int64_t>::max)();

  [[nodiscard]] clock_map* find(context_key context) const noexcept {
    clock_map* each = first();
    while (each && !(each->context() == context)) each = each->next;
    return each;
  }

  std::atomic<std::int64_t> due_{never};
  bool under_serialising_tool_ = false;
  std::atomic<clock_map*> first_{nullptr};
  std::atomic<std::size_t> made_{0};
  brief_lock lock_;
};

}  // namespace streamgauge

#endif
