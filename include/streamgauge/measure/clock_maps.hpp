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
  /// Under a tool that runs every kernel alone, as ncu does, device time lies nowhere near where the program put it: then
  /// nothing is placed.
  explicit clock_maps(host_stamp origin) noexcept : origin_{origin} {
    tool_signs const signs = tool_signs_with(nvtx_answer::not_asked);
    under_serialising_tool_ = signs.nvtx_injection && !signs.nsys_session;
  }
  clock_maps(clock_maps const&) = delete;
  clock_maps& operator=(clock_maps const&) = delete;
  ~clock_maps() {
    while (clock_map* const gone = first_.load(std::memory_order_relaxed)) {
      first_.store(gone->next, std::memory_order_relaxed);
      delete gone;
    }
  }

  /// Gives a pool the map of its context, made and started at the first asking; none without memory.
  /// Sync: the first time in a context, looks at some anchors for microseconds. Capture: allowed.
  void provide(driver_api const& cuda, event_pool& pool) noexcept {
    pool.clock = find(pool.context());
    if (pool.clock) return;
    auto const number = static_cast<std::uint8_t>(made_.load(std::memory_order_relaxed) + 1);
    auto* const fresh = number > 0 ? new (std::nothrow) clock_map{pool.context(), pool.device(), number, origin_} : nullptr;
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

  /// Records an anchor in every context, and looks at those that wait.
  /// Sync: some microseconds for each context. Capture: allowed.
  void anchor(driver_api const& cuda) noexcept {
    for (clock_map* each = first(); each; each = each->next) each->anchor(cuda);
  }

  void close(driver_api const& cuda) noexcept {
    for (clock_map* each = first(); each; each = each->next) each->close(cuda);
  }

  /// The newest first; they are only ever added, in front.
  [[nodiscard]] clock_map* first() const noexcept { return first_.load(std::memory_order_acquire); }
  [[nodiscard]] bool under_serialising_tool() const noexcept { return under_serialising_tool_; }
  [[nodiscard]] std::size_t size() const noexcept { return made_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] clock_map* find(context_key context) const noexcept {
    clock_map* each = first();
    while (each && !(each->context() == context)) each = each->next;
    return each;
  }

  host_stamp const origin_;
  bool under_serialising_tool_ = false;
  std::atomic<clock_map*> first_{nullptr};
  std::atomic<std::size_t> made_{0};
  brief_lock lock_;
};

}  // namespace streamgauge

#endif
