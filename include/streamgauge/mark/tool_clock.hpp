#pragma once

#include <streamgauge/mark/deferred_calls.hpp>
#include <streamgauge/analyze/tick_map.hpp>

namespace streamgauge {

#if defined(STREAMGAUGE_DISABLE)

inline namespace disabled {
class tool_clock {
 public:
  explicit tool_clock(rate_stray = {}) noexcept {}
  explicit tool_clock(deferred_calls, rate_stray = {}) noexcept {}

  void look() const noexcept {}
  void look_when_due() const noexcept {}
  [[nodiscard]] std::optional<placed_ticks> place(host_stamp) const noexcept { return std::nullopt; }
  [[nodiscard]] char const* why_not() const noexcept { return "marking is compiled out by STREAMGAUGE_DISABLE"; }
  [[nodiscard]] tick_map const& map() const noexcept { return map_; }

 private:
  tick_map map_;
};
}  // namespace disabled

#else

/// The clock of the tool that listens to NVTX, and where moments of the host clock lie on it.
/// Why: a tool takes events after the fact in stamps of its own clock only. Its unit NVTX has no way to ask for, and it is
/// no nanosecond: nsys counts the processor's time stamps. So the clock is looked at, and the rate found between looks.
/// Requires: at least two looks that lie apart in time, a millisecond is plenty. Of moments between looks the bound is
/// near half a look's width, some tens of nanoseconds; it grows with the distance to the nearest.
/// Example: `sg::tool_clock clock; work(); clock.look(); auto const there = clock.place(stamp);`
class tool_clock {
 public:
  /// Looks for the first time, where there is a tool with a clock.
  template <class Unit = deferring>
  explicit tool_clock(rate_stray stray = {}) noexcept : tool_clock{deferred_calls_in<device_domain, Unit>(), stray} {}
  explicit tool_clock(deferred_calls const& calls, rate_stray stray = {}) noexcept
      : calls_{&calls}, absent_{calls.open()}, map_{stray} {
    look();
  }

  /// Looks again: five times in a row, of which the quickest counts.
  void look() noexcept {
    if (*absent_ != '\0') return;
    tick_reading best;
    for (int i = 0; i < 5; ++i) {
      tick_reading each;
      each.before = host_now();
      each.ticks = calls_->ticks();
      each.after = host_now();
      if (i == 0 || each.after - each.before < best.after - best.before) best = each;
    }
    looked_ = best.after;
    is_silent_ = best.ticks == 0;
    if (!is_silent_) map_.add(best);
  }

  /// Looks again where the last look is a millisecond old.
  void look_when_due() noexcept {
    if (*absent_ == '\0' && host_now() - looked_ >= std::chrono::milliseconds{1}) look();
  }

  /// Where the moment lies, with a bound; absent for the reason that `why_not` gives, or where it is centuries away.
  [[nodiscard]] std::optional<placed_ticks> place(host_stamp at) const noexcept {
    if (*why_not() != '\0') return std::nullopt;
    return map_.place(at);
  }

  /// Why nothing can be placed now; empty where moments can.
  [[nodiscard]] char const* why_not() const noexcept {
    if (*absent_ != '\0') return absent_;
    if (is_silent_) return "the tool that listens to NVTX gives no time stamps: nvtxTimestampGet answers 0";
    return map_.why_not();
  }

  /// The looks so far, and what they say of the clock's rate.
  [[nodiscard]] tick_map const& map() const noexcept { return map_; }

 private:
  deferred_calls const* calls_;
  char const* absent_;
  tick_map map_;
  host_stamp looked_{};
  bool is_silent_ = false;
};

#endif

}  // namespace streamgauge
