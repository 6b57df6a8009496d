#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <streamgauge/time.hpp>

namespace streamgauge {

/// Why an observable of a sample has no value.
/// Why: absent is absent. A missing duration is never 0, NaN or a sentinel; it is one of these, and reports say which.
enum class absence : std::uint8_t {
  none,  ///< nothing is missing: the value is there
  // Nobody asked for it, so it does not count as entered.
  not_asked,        ///< a phase without a stream has no device time, a phase that is not waited for no completion
  several_devices,  ///< a span over several devices has an interval on each, and no device time in common
  // Entered, not finished.
  still_open,  ///< the phase was open when the recording was taken
  body_threw,  ///< an exception left the body
  // Entered, finished, and the value was lost.
  stream_capture,       ///< the stream was being captured into a graph, where a plain record cannot be read
  capture_elsewhere,    ///< the legacy stream cannot be used while another stream is being captured
  pool_full,            ///< every event of the thread's pool was waiting for the device
  no_memory,            ///< the host had no memory for the sample or its events
  other_thread_stream,  ///< a per-thread default stream was ended on another thread, where it is another stream
  context_gone,         ///< the device was reset or its context destroyed meanwhile
  no_context,           ///< the device had no context yet, and none is made on the program's behalf
  no_driver,            ///< no CUDA driver, or no device, on this machine
  driver_too_old,       ///< the driver is older than the CUDA runtime needs
  forked,               ///< a forked child cannot use its parent's CUDA
  earlier_work_failed,  ///< the program's own earlier work failed, and CUDA reports it on every later call
  call_failed,          ///< a CUDA call of ours failed; the recording's problems name it
  gate_timeout,         ///< its gate had to be opened before everything was queued
  // A span, or a phase inside a graph, that went wrong.
  branch_open,     ///< a branch was still open when its span ended
  branch_twice,    ///< a stream was entered twice in one span
  other_device,    ///< a branch of a joined span was on another device than the origin
  not_prepared,    ///< no events had been made before the stream capture began
  unread,          ///< a later replay recorded the events again before they were read
  not_replayed,    ///< the graph that was launched did not record the phase's events
  other_recorder,  ///< a branch was given a phase of another recorder than its span's
  no_clock,         ///< nothing told where the device's clock stood against the host's
  clocks_disagree,  ///< what was seen of the two clocks contradicts itself: one of them jumped
  negative,         ///< a reading below zero, which no duration has
};

/// How many reasons of absence there are.
inline constexpr std::size_t absence_count = static_cast<std::size_t>(absence::negative) + 1;

/// What became of one observable of one sample. For each observable: entered = kept + dropped + incomplete.
enum class fate : std::uint8_t { kept, dropped, incomplete, not_asked };

[[nodiscard]] constexpr fate fate_of(absence why) noexcept {
  switch (why) {
    case absence::none: return fate::kept;
    case absence::not_asked:
    case absence::several_devices: return fate::not_asked;
    case absence::still_open:
    case absence::body_threw: return fate::incomplete;
    default: return fate::dropped;
  }
}

/// The reason in words that finish the sentence "no device time: ...".
[[nodiscard]] constexpr char const* describe(absence why) noexcept {
  switch (why) {
    case absence::none: return "nothing is missing";
    case absence::not_asked: return "not asked for";
    case absence::still_open: return "still open when the recording was taken";
    case absence::body_threw: return "an exception left the body";
    case absence::stream_capture: return "the stream was being captured into a graph";
    case absence::capture_elsewhere: return "the legacy stream cannot be used while another stream is being captured";
    case absence::pool_full: return "every event of the pool was waiting for the device";
    case absence::no_memory: return "the host had no memory left";
    case absence::other_thread_stream: return "a per-thread default stream was ended on another thread";
    case absence::context_gone: return "the device was reset or its context destroyed";
    case absence::no_context: return "the device had no context yet (any CUDA call of yours makes one)";
    case absence::no_driver: return "no CUDA device or driver on this machine";
    case absence::driver_too_old: return "the CUDA driver is older than the runtime needs";
    case absence::forked: return "a forked child cannot use its parent's CUDA";
    case absence::earlier_work_failed: return "earlier work of the program failed";
    case absence::call_failed: return "a CUDA call of the recorder failed";
    case absence::gate_timeout: return "its gate was opened by the time limit before everything was queued";
    case absence::several_devices: return "several devices have no clock in common; each has a row of its own";
    case absence::branch_open: return "a branch was still open when the span ended, so it was never joined";
    case absence::branch_twice: return "a stream was entered twice in one span";
    case absence::other_device: return "a branch of a joined span was on another device than the origin";
    case absence::not_prepared:
      return "no events were there when the stream capture began (call prepare_capture on this thread before it)";
    case absence::unread: return "a later replay recorded the same events again before they were read";
    case absence::not_replayed: return "the graph that was launched did not record the phase";
    case absence::other_recorder: return "a branch was given a phase of another recorder than its span's";
    case absence::no_clock: return "nothing told where the device's clock stood against the host's";
    case absence::clocks_disagree: return "the clocks of host and device contradict each other: one of them jumped";
    case absence::negative: return "the reading was below zero";
  }
  return "unknown";
}

/// A duration, or the reason why there is none. Eight bytes, so that a long run stays small.
/// Units: nanoseconds, never negative.
class observation {
 public:
  constexpr observation(nanoseconds value) noexcept
      : coded_{value.count() >= 0 ? value.count() : code(absence::negative)} {}
  constexpr observation(absence why) noexcept : coded_{code(why)} {}

  [[nodiscard]] constexpr bool known() const noexcept { return coded_ >= 0; }

  /// The value, absent when it is not known.
  [[nodiscard]] constexpr std::optional<nanoseconds> value() const noexcept {
    if (!known()) return std::nullopt;
    return nanoseconds{coded_};
  }

  /// Why there is no value; `absence::none` when there is one.
  [[nodiscard]] constexpr absence why_absent() const noexcept {
    return known() ? absence::none : static_cast<absence>(-1 - coded_);
  }

  [[nodiscard]] friend constexpr bool operator==(observation a, observation b) noexcept { return a.coded_ == b.coded_; }
  [[nodiscard]] friend constexpr bool operator!=(observation a, observation b) noexcept { return !(a == b); }

 private:
  static constexpr std::int64_t code(absence why) noexcept { return -1 - static_cast<std::int64_t>(why); }

  std::int64_t coded_;  // a value as it is, a reason below zero
};

}  // namespace streamgauge
