#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <optional>

#include <streamgauge/measure/queued_work.hpp>

namespace streamgauge {

/// Queues work of ours ahead of each interval: twice what the ones before took to submit.
/// Why: how long that is differs from body to body and from time to time. Whether it was enough is looked at behind each
/// interval, when the device must still be at the work ahead. What synchronises by itself never leaves it there: where it is
/// not enough for a third of the intervals, it is given up.
/// Threads: one at a time.
class work_ahead {
 public:
  explicit work_ahead(stream_ref stream) noexcept : work_{stream} {}

  /// Whether it can be queued, and has not been given up.
  [[nodiscard]] bool helps() const noexcept { return work_.works() && in_vain_ < most_in_vain; }
  /// How many intervals the device began before all was queued.
  [[nodiscard]] std::size_t overtaken() const noexcept { return overtaken_; }

  /// Right before an interval is entered; ends the one before.
  /// Sync: none.
  void begin() noexcept {
    end();
    if (!helps()) return;
    work_.queue(2 * submit_);
    if (work_.works()) begun_ = host_now();
  }

  /// Behind an interval: all of it is queued. Where none has begun it does nothing.
  /// Sync: none.
  void end() noexcept {
    if (!begun_) return;
    nanoseconds const took = host_now() - *begun_;
    begun_.reset();
    if (!work_.is_under_way()) {
      ++overtaken_;
      in_vain_ += 2;
    } else if (in_vain_ > 0) {
      --in_vain_;
    }
    submit_ = took > submit_ ? took : (submit_ + took) / 2;
  }

 private:
  static constexpr std::size_t most_in_vain = 32;  // 16 in a row: more than there are first launches in a round

  queued_work work_;
  nanoseconds submit_{50'000};  // of an interval, as the ones before took; the first may take that
  std::optional<host_stamp> begun_;
  std::size_t overtaken_ = 0;
  std::size_t in_vain_ = 0;  // two for each that was overtaken, less one for each that was not
};

}  // namespace streamgauge

#endif
