#pragma once

#include <streamgauge/measure/driver.hpp>

namespace streamgauge {

/// Which life of which context.
/// Why: after a device reset the context comes back at the same address, and touching an event of the old life crashes
/// the process. The id is new with each life.
struct context_key {
  context_handle handle = nullptr;
  unsigned long long id = 0;

  [[nodiscard]] friend bool operator==(context_key a, context_key b) noexcept {
    return a.handle == b.handle && a.id == b.id;
  }
};

/// Whether the context is still in the life that the key names: `absence::none`, or why its events must not be touched.
/// Sync: none. Capture: allowed.
[[nodiscard]] inline absence why_dead(driver_api const& cuda, context_key context) noexcept {
  unsigned long long id = 0;
  int const status =
      context.handle ? cuda.context_id(context.handle, &id) : static_cast<int>(cudaErrorContextIsDestroyed);
  if (status == cudaErrorInitializationError) return absence::forked;
  return status == cudaSuccess && id == context.id ? absence::none : absence::context_gone;
}
[[nodiscard]] inline bool alive(driver_api const& cuda, context_key context) noexcept {
  return why_dead(cuda, context) == absence::none;
}

/// A context, or CUDA's status that says why none was found.
struct context_answer {
  context_key key;
  int status = cudaSuccess;
};

/// The context of the calling thread's current device, when the device has one already.
/// Why: asking for the current device makes no context; making one is the program's business.
[[nodiscard]] inline context_answer current_context(driver_api const& cuda) noexcept {
  context_answer found;
  found.status = cuda.context_current(&found.key.handle);
  if (found.status == cudaSuccess && !found.key.handle) {
    // A fresh thread: the runtime will use the current device's primary context as soon as the program calls it.
    int device = 0;
    unsigned int flags = 0;
    int active = 0;
    found.status = without_trace([&device] { return cudaGetDevice(&device); });
    if (found.status == cudaSuccess) found.status = cuda.primary_state(device, &flags, &active);
    if (found.status == cudaSuccess && !active) found.status = cudaErrorDeviceUninitialized;
    if (found.status == cudaSuccess) found.status = cuda.primary_retain(&found.key.handle, device);
    if (found.status == cudaSuccess) cuda.primary_release(device);  // the program holds it; only the handle is wanted
  }
  if (found.status == cudaSuccess) found.status = cuda.context_id(found.key.handle, &found.key.id);
  return found;
}

/// The context of a stream.
/// Capture: allowed. Asking the driver for the legacy stream's context breaks a capture that is under way (H200, every
/// mode), so the special handles take the current context, which is what they mean.
[[nodiscard]] inline context_answer context_of(driver_api const& cuda, stream_ref stream) noexcept {
  if (stream.is_legacy() || stream.is_per_thread()) return current_context(cuda);
  context_answer found;
  found.status = cuda.stream_context(stream.handle(), &found.key.handle);
  if (found.status == cudaSuccess) found.status = cuda.context_id(found.key.handle, &found.key.id);
  return found;
}

/// Makes a context current for a scope.
class context_scope {
 public:
  context_scope(driver_api const& cuda, context_handle context) noexcept
      : cuda_{cuda}, status_{cuda.context_push(context)} {}
  ~context_scope() {
    context_handle popped = nullptr;
    if (status_ == cudaSuccess) cuda_.context_pop(&popped);
  }
  context_scope(context_scope const&) = delete;
  context_scope& operator=(context_scope const&) = delete;

  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  driver_api const& cuda_;
  int status_;
};

/// Lets the calling thread wait and create while a capture is under way anywhere.
/// Why: a wait in any other mode breaks a capture of this thread's, and in global mode of every thread's.
class relaxed_capture_mode {
 public:
  explicit relaxed_capture_mode(driver_api const& cuda) noexcept
      : cuda_{cuda}, status_{cuda.exchange_capture_mode(&mode_)} {}
  ~relaxed_capture_mode() {
    if (status_ == cudaSuccess) cuda_.exchange_capture_mode(&mode_);
  }
  relaxed_capture_mode(relaxed_capture_mode const&) = delete;
  relaxed_capture_mode& operator=(relaxed_capture_mode const&) = delete;

  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  driver_api const& cuda_;
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
  int status_;
};

/// Waits until the device has passed an event. CUDA's status.
/// Why: where the capture mode cannot be relaxed there is no wait, since it might break a capture of the program's.
/// Sync: waits for that event. Capture: allowed.
[[nodiscard]] inline int wait_until_passed(driver_api const& cuda, cudaEvent_t event) noexcept {
  relaxed_capture_mode const relaxed{cuda};
  return relaxed.status() == cudaSuccess ? cuda.event_synchronize(event) : relaxed.status();
}

}  // namespace streamgauge
