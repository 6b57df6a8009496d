#pragma once

#include <cstdint>
#include <utility>

#include <streamgauge/measure/stream_capture.hpp>

namespace streamgauge {

/// Records an event on a stream, also from a thread that has no context yet.
/// Why: the driver answers 201 for a special stream on such a thread; the runtime would make the context current.
/// Sync: none. On the legacy stream CUDA makes every record a barrier for all blocking streams.
[[nodiscard]] inline int record(driver_api const& cuda, cudaEvent_t event, stream_ref stream,
                                context_key context) noexcept {
  int const status = cuda.event_record(event, stream.handle());
  if (status != cudaErrorDeviceUninitialized) return status;
  context_scope const current{cuda, context.handle};
  return current.status() == cudaSuccess ? cuda.event_record(event, stream.handle()) : current.status();
}

/// Makes a stream wait for what an event was recorded behind. The event may be recorded again at once.
/// Sync: the stream, not the host.
[[nodiscard]] inline int wait_on(driver_api const& cuda, stream_ref stream, cudaEvent_t event,
                                 context_key context) noexcept {
  int const status = cuda.stream_wait(stream.handle(), event, 0);
  if (status != cudaErrorDeviceUninitialized) return status;
  context_scope const current{cuda, context.handle};
  return current.status() == cudaSuccess ? cuda.stream_wait(stream.handle(), event, 0) : current.status();
}

/// What two events say of the time between them.
struct elapsed_answer {
  int status = cudaSuccess;  ///< `cudaErrorNotReady` while the device has not reached the second event
  nanoseconds time{0};       ///< only with `cudaSuccess`
};

/// The device time between two recorded events, without waiting.
/// Units: whole nanoseconds; the device's clock steps by 32 ns on an H200, and CUDA's float milliseconds keep that step up
/// to about 0.25 s (0.5 us at 4 s).
/// Capture: allowed. Reading by elapsed time is the one way that breaks no capture, in any mode, from any thread.
[[nodiscard]] inline elapsed_answer elapsed(driver_api const& cuda, cudaEvent_t start, cudaEvent_t stop) noexcept {
  float milliseconds = 0;
  elapsed_answer answer;
  answer.status = cuda.event_elapsed(&milliseconds, start, stop);
  // Widened before it is scaled: a float product would lose the last digits.
  if (answer.status == cudaSuccess) {
    double const ns = static_cast<double>(milliseconds) * 1e6;
    answer.time = nanoseconds{static_cast<std::int64_t>(ns < 0 ? ns - 0.5 : ns + 0.5)};
  }
  return answer;
}

/// Polls an event until the device has passed it, or that time has come; CUDA's status, `cudaErrorNotReady` in the second
/// case.
/// Why: a stream of ours may stand behind the program's in one hardware queue, and what is held there until after this must
/// not hang.
/// Requires: the event's context is current, and the thread's capture mode relaxed.
/// Sync: waits for that event, until then.
[[nodiscard]] inline int poll_until(driver_api const& cuda, cudaEvent_t event, host_stamp then) noexcept {
  int status = cuda.event_query(event);
  while (status == cudaErrorNotReady && host_now() < then) status = cuda.event_query(event);
  return status;
}

/// Waits until what is queued on a stream is done; a stream that is being captured is left alone. CUDA's status.
/// Sync: waits for an event of ours on that stream. Capture: allowed; the thread's capture mode is relaxed meanwhile.
[[nodiscard]] inline int drain_stream(driver_api const& cuda, stream_ref stream) noexcept {
  context_answer const found = context_of(cuda, stream);
  int status = found.status;
  if (status == cudaSuccess) status = may_record(cuda, stream, found.key);
  if (status != cudaSuccess) return status;
  context_scope const current{cuda, found.key.handle};
  status = current.status();
  cudaEvent_t last = nullptr;
  if (status == cudaSuccess) status = cuda.event_create(&last, cudaEventDisableTiming);
  if (status != cudaSuccess) return status;
  status = record(cuda, last, stream, found.key);
  if (status == cudaSuccess) status = wait_until_passed(cuda, last);
  cuda.event_destroy(last);
  return status;
}

/// An event that can be timed, owned, in the context of a stream.
/// Why: an event belongs to the context that was current when it was made, whatever stream it is meant for. This one is
/// made in the stream's context, and never touched again once that context is gone.
/// Throws: `cuda_error` when it cannot be made.
/// Sync: none.
class event {
 public:
  template <class Unit = failing_here>
  explicit event(stream_ref stream, Unit* = nullptr) {
    if (int const status = make(stream, cudaEventDefault); status != cudaSuccess)
      fail<Unit>(static_cast<cudaError_t>(status), describe(static_cast<cudaError_t>(status), "making an event"));
  }

  event(event&& other) noexcept
      : handle_{std::exchange(other.handle_, nullptr)}, context_{std::exchange(other.context_, {})} {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(context_, other.context_);
    return *this;
  }
  ~event() {
    driver_answer const cuda = handle_ ? driver() : driver_answer{};
    if (cuda.api && alive(*cuda.api, context_)) cuda.api->event_destroy(handle_);
  }

  /// The event for CUDA's own calls; null when moved from.
  [[nodiscard]] cudaEvent_t get() const noexcept { return handle_; }
  [[nodiscard]] context_key context() const noexcept { return context_; }

 private:
  [[nodiscard]] int make(stream_ref stream, unsigned int flags) noexcept {
    driver_answer const cuda = driver();
    if (!cuda.api) return cuda.why == absence::no_driver ? cudaErrorNoDevice : cudaErrorInsufficientDriver;
    context_answer const found = context_of(*cuda.api, stream);
    if (found.status != cudaSuccess) return found.status;
    context_scope const current{*cuda.api, found.key.handle};
    if (current.status() != cudaSuccess) return current.status();
    context_ = found.key;
    int const status = cuda.api->event_create(&handle_, flags);
    if (status != cudaSuccess) handle_ = nullptr;
    return status;
  }

  cudaEvent_t handle_ = nullptr;
  context_key context_;
};

}  // namespace streamgauge
