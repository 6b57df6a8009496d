#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <streamgauge/mark/deferred_range.hpp>
#include <streamgauge/measure/recorder.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {
class device_ranges {
 public:
  explicit device_ranges(recorder const&) noexcept {}
  ~device_ranges() {}  // not defaulted: one that nothing else mentions must not look unused
  device_ranges(device_ranges const&) = delete;
  device_ranges& operator=(device_ranges const&) = delete;

  void look() const noexcept {}
  std::size_t submit() const noexcept { return 0; }
  std::size_t submit(recording const&) const noexcept { return 0; }
  [[nodiscard]] char const* why_not() const noexcept { return "measuring is compiled out by STREAMGAUGE_DISABLE"; }
};
}  // namespace disabled
}  // namespace streamgauge

#else

namespace streamgauge {

/// Shows phases on a tool's timeline as the device ran them: in a domain of their own, each execution a range from where its
/// device time was placed on the host's clock to where it ended. Spans and replays of graphs too.
/// Why: the ranges that phases push show when the host submitted. Nothing is synchronised for these: they are told to the tool
/// after the fact, in the tool's own clock, and each end may be off by the sample's bound and the clock's.
/// Requires: the recorder is a `timeline_recorder` and outlives this; a tool that takes deferred events, as nsys does. Where one
/// is missing `submit` does nothing and `why_not` says why. Make it early: the tool's clock is known from a millisecond on.
/// Threads: one at a time.
/// Example: `sg::device_ranges shown{recorder}; ...; shown.submit();`, and in a capture window's `before_stop`.
class device_ranges {
 public:
  template <class Unit = deferring>
  explicit device_ranges(recorder& of, deferred_calls const& calls = deferred_calls_in<device_domain, Unit>())
      : of_{of}, ranges_{calls} {}
  device_ranges(device_ranges const&) = delete;
  device_ranges& operator=(device_ranges const&) = delete;

  /// Looks at the tool's clock. Why: where a range lies is told best near a look, to about 20 ns for each millisecond; in a long
  /// program once a step or so. Sync: none.
  void look() noexcept { ranges_.look(); }

  /// Tells the tool of every execution that was placed and of which it was not told before; how many.
  /// Sync: as `recorder::collect`. Throws: only `std::bad_alloc`.
  std::size_t submit() { return submit(of_.collect()); }

  /// The same of what was collected already, from the same recorder: what a capture window's `before_stop` is given.
  /// Sync: none.
  std::size_t submit(recording const& so_far) {
    std::size_t told = 0;
    if (told_.size() < so_far.all.size()) told_.resize(so_far.all.size());
    for (std::size_t i = 0; i < so_far.all.size(); ++i) {
      series const& from = so_far.all[i];
      latest& last = told_[i];
      std::size_t same = 0;  // of those entered at the latest moment
      for (sample const& one : from.samples) {
        if (one.entered < last.entered) continue;
        if (one.entered == last.entered && same < last.count) {
          ++same;
          continue;
        }
        // Whoever is not finished comes later, and all behind it with it: the order is what tells them apart.
        if (one.device == observation{absence::still_open}) break;
        if (one.entered != last.entered) last = {one.entered, 0};
        same = ++last.count;
        if (one.queue.known() && tell(from, one)) ++told;
      }
    }
    return told;
  }

  /// Why nothing reaches a tool; empty where it does, as far as can be told.
  [[nodiscard]] char const* why_not() noexcept { return ranges_.why_not(); }
  [[nodiscard]] deferred_counts counts() const noexcept { return ranges_.counts(); }

 private:
  // When the latest execution of a series was entered that was told, and how many were at that moment: all that one replay
  // of a graph holds of a phase are.
  struct latest {
    nanoseconds entered = (nanoseconds::min)();
    std::size_t count = 0;
  };

  bool tell(series const& from, sample const& one) {
    host_stamp const begin = of_.core().origin() + one.entered + *one.queue.value();
    return ranges_.submit(one.warmup ? std::string{warmup_prefix}.append(from.phase) : from.phase, begin,
                          begin + *one.device.value(), one.bound)
        .submitted();
  }

  recorder& of_;
  deferred_ranges ranges_;
  std::vector<latest> told_;
};

}  // namespace streamgauge

#endif
