#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <optional>
#include <string>

#include <streamgauge/measure/cold_cache.hpp>
#include <streamgauge/measure/gate.hpp>
#include <streamgauge/measure/measured_series.hpp>
#include <streamgauge/measure/measurement.hpp>
#include <streamgauge/measure/work_ahead.hpp>

namespace streamgauge {

/// Queues intervals so that the device goes through them without a look at the host: behind a gate, many at a time, as long
/// as that goes well; where there can be none, behind work of ours.
/// Why: a gate costs a wait for each hold, and an interval alone behind one costs a round trip. How many fit behind one, and
/// whether what is measured waits for the device itself, is only found out by trying.
/// Threads: one at a time.
class fed_intervals {
 public:
  explicit fed_intervals(stream_ref stream) noexcept : stream_{stream} {
    last_ = gate_.hold(stream_).open();
    is_gated_ = last_ == gating::gated;
    driver_answer const cuda = why_not_begun() ? driver_answer{} : driver();
    if (cuda.api) context_ = context_of(*cuda.api, stream_).key;
  }

  [[nodiscard]] fed_by feeding() const noexcept {
    if (is_gated_) return fed_by::gate;
    return ahead_ && ahead_->helps() ? fed_by::queued_work : fed_by::nothing;
  }
  /// How many intervals the device began before all was queued, although there was work ahead of them.
  [[nodiscard]] std::size_t overtaken() const noexcept { return ahead_ ? ahead_->overtaken() : 0; }
  /// What became of the hold that ended last, or why there is none.
  [[nodiscard]] gating last() const noexcept { return last_; }
  /// Under a tool nothing is held, and nothing here is a result.
  [[nodiscard]] bool is_watched() const noexcept {
    return last_ == gating::tool_attached || last_ == gating::capture_open;
  }
  /// Why nothing can be measured on the stream at all; null where something can.
  [[nodiscard]] char const* why_not_begun() const noexcept {
    if (last_ == gating::stream_capture) return describe(absence::stream_capture);
    if (last_ == gating::already_held)
      return "the stream is held by a gate further out, or measured by another thread: what is queued there would not begin";
    return nullptr;
  }
  /// Whether the stream went with its context, by a device reset say.
  /// Why: CUDA may crash in any call that is given such a stream, so none is made from then on.
  [[nodiscard]] bool is_lost() const noexcept { return context_.handle && !alive(*driver().api, context_); }
  /// How many are to be queued at a time.
  [[nodiscard]] std::size_t chunk() const noexcept { return chunk_; }

  /// Parts the next interval from what is queued before it; called right before each is entered.
  void part() noexcept {
    if (hold_) gate_.part(*hold_, stream_);
    if (ahead_) ahead_->begin();
  }

  /// Calls `one` so many times, or until the stream is lost, then `meanwhile` while the device is at it, and waits until it
  /// is done. False where the gate was let go too early: what was measured then holds nobody knows what.
  /// Throws: what they throw; the stream is let go.
  /// Sync: waits for the recorder's intervals.
  template <class One, class Meanwhile>
  [[nodiscard]] bool run(std::size_t count, recorder& in, One one, Meanwhile meanwhile) {
    if (is_lost()) return true;
    gating ended = gating::not_timed;
    host_stamp const begun = host_now();
    if (!is_gated_ && !ahead_ && may_queue(last_) && !capture_is_open()) ahead_.emplace(stream_);
    {
      auto hold = is_gated_ ? std::optional{gate_.hold(stream_)} : std::nullopt;
      hold_ = hold ? &*hold : nullptr;
      reset_at_end const whatever_is_thrown{hold_};
      for (std::size_t i = 0; i < count && !is_lost(); ++i) {
        one();
        if (ahead_) ahead_->end();
      }
      if (hold) ended = hold->open();
    }
    meanwhile();
    in.drain();
    bool const is_long = host_now() - begun >= long_enough;
    if (!is_gated_) {
      chunk_ = feeding() == fed_by::queued_work && !is_long ? behind_work : 1;
      return true;
    }
    last_ = ended;
    if (ended != gating::gated && ended != gating::already_held && ended != gating::timed_out) {
      // Nothing held these. What is said of feeding has to hold for all of them, so gates are over.
      is_gated_ = false;
      chunk_ = 1;
      return true;
    }
    if (ended != gating::timed_out) {
      if (2 * chunk_ <= most_ && !is_long) chunk_ *= 2;
      return true;
    }
    // Too many for what fits behind a gate, or it waits for the device itself, as a first call may once.
    if (chunk_ == 1 && ++timeouts_ == 2) is_gated_ = false;
    most_ = chunk_ > 1 ? chunk_ / 2 : 1;
    chunk_ = 1;
    return false;
  }

 private:
  struct reset_at_end {
    held*& what;
    explicit reset_at_end(held*& pointer) noexcept : what{pointer} {}
    reset_at_end(reset_at_end const&) = delete;
    reset_at_end& operator=(reset_at_end const&) = delete;
    ~reset_at_end() { what = nullptr; }
  };

  // Where a gate is not to be had, rather than not to be wanted.
  [[nodiscard]] static constexpr bool may_queue(gating why) noexcept {
    return why == gating::not_supported || why == gating::no_room || why == gating::call_failed ||
           why == gating::legacy_stream || why == gating::timed_out;
  }

  // Then a wait for each hold no longer counts; and between two of them clocks are read, and budgets looked at.
  static constexpr nanoseconds long_enough = std::chrono::milliseconds{20};
  static constexpr std::size_t behind_work = 8;  // some dozens of memsets each, of some 1,020 pieces of work that fit

  stream_ref stream_;
  context_key context_;
  std::optional<work_ahead> ahead_;
  streamgauge::gate gate_;
  held* hold_ = nullptr;
  gating last_ = gating::not_timed;
  bool is_gated_ = false;
  std::size_t chunk_ = 1;
  std::size_t most_ = 64;  // a wait, two records and a launch or more each, of some 1,020 that fit
  std::size_t timeouts_ = 0;
};

/// Why nothing more can be measured: the stream is lost, or the caches cannot be made cold. Empty where it can.
/// `cold`: null: nobody asked for cold ones.
[[nodiscard]] inline std::string why_over(fed_intervals const& feed, cold_cache const* cold) {
  if (feed.is_lost()) return broke_off_text(absence::context_gone);
  return cold ? cold->why_not() : std::string{};
}

}  // namespace streamgauge

#endif
