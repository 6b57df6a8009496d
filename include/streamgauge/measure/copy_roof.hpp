#pragma once

#include <streamgauge/analyze/roofs.hpp>

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>

namespace streamgauge {
inline namespace disabled {
[[nodiscard]] inline roof measure_copy_roof() {
  return no_roof(roof_origin::measured, "measured: copies within the device", "compiled out by STREAMGAUGE_DISABLE");
}
}  // namespace disabled
}  // namespace streamgauge

#else

#include <streamgauge/measure/event.hpp>

namespace streamgauge {

/// The driver's functions for a copy within a device. Statuses are numbered as the runtime's.
struct copy_api {
  int (*allocate)(unsigned long long*, std::size_t) = nullptr;
  int (*free)(unsigned long long) = nullptr;
  int (*copy)(unsigned long long, unsigned long long, std::size_t, cudaStream_t) = nullptr;
  int (*attribute)(int*, int, int) = nullptr;

  /// False where the driver lacks one.
  [[nodiscard]] bool find() noexcept {
    return without_trace([this] {
      return look_up(allocate, "cuMemAlloc") && look_up(free, "cuMemFree") && look_up(copy, "cuMemcpyDtoDAsync") &&
             look_up(attribute, "cuDeviceGetAttribute");
    });
  }
};

/// Measures how many bytes a second the device's memory moves, by copies within the device.
/// Why: what the attributes promise no program reaches. Four copies a reading, so that the events around them are lost in it;
/// a buffer of several times the L2 cache, so that none of it comes from there; the fastest reading, since a roof is what the
/// device has shown that it can do.
/// Sync: waits for a stream of its own, some 10 ms. Freeing the buffers waits for all that runs in the context.
/// Capture: allowed; nothing that is being captured is touched.
class copy_measurement {
 public:
  copy_measurement(driver_api const& cuda, context_key context) noexcept : cuda_{cuda} {
    if (!copies_.find()) {
      why_not_ = "the driver lacks a function that copies";
      return;
    }
    relaxed_capture_mode const relaxed{cuda};
    if (!done("cuThreadExchangeStreamCaptureMode", relaxed.status())) return;
    context_scope const current{cuda, context.handle};
    if (!done("cuCtxPushCurrent", current.status())) return;
    if (prepare()) run();
    for (cudaEvent_t const each : events_)
      if (each) cuda.event_destroy(each);
    if (stream_) cuda.stream_destroy(stream_);
    for (unsigned long long const each : buffers_)
      if (each != 0) copies_.free(each);  // waits for what is still under way there
  }
  copy_measurement(copy_measurement const&) = delete;
  copy_measurement& operator=(copy_measurement const&) = delete;

  /// The roof, or why there is none.
  template <class = void>
  [[nodiscard]] roof found() const {
    std::string const size = std::to_string(size_ / mebibyte);
    std::string const what = "the fastest of " + std::to_string(count) + " readings of " + std::to_string(at_once) +
                             " copies of " + size + " MiB within the device, read and written";
    if (status_ == cudaSuccess && *why_not_ == '\0')
      return measured_roof(2.0 * at_once * static_cast<double>(size_), fractional_nanoseconds{fastest_}, what);
    std::string why = *why_not_ != '\0' ? why_not_ : streamgauge::describe(static_cast<cudaError_t>(status_), call_);
    if (status_ == cudaErrorNotReady) why = "the device did not come to it within a second";
    if (status_ == cudaErrorMemoryAllocation) why += ", for two buffers of " + size + " MiB";
    return no_roof(roof_origin::measured, "measured: copies within the device", why);
  }

 private:
  static constexpr std::size_t mebibyte = std::size_t{1} << 20U;
  static constexpr std::size_t count = 11;
  static constexpr int at_once = 4;
  static constexpr nanoseconds patience{1'000'000'000};

  // Keeps the first failure, with the call that it came from.
  [[nodiscard]] bool done(char const* call, int status) noexcept {
    if (status_ == cudaSuccess && status != cudaSuccess) {
      status_ = status;
      call_ = call;
    }
    return status_ == cudaSuccess;
  }

  [[nodiscard]] bool prepare() noexcept {
    int device = 0;
    int cache = 0;
    if (!done("cuCtxGetDevice", cuda_.context_device(&device)) ||
        !done("cuDeviceGetAttribute", copies_.attribute(&cache, cudaDevAttrL2CacheSize, device)))
      return false;
    std::size_t const held = static_cast<std::size_t>(cache < 0 ? 0 : cache);
    std::size_t const several = 4 * ((held + mebibyte - 1) / mebibyte * mebibyte);
    if (several > size_) size_ = several;
    for (unsigned long long& each : buffers_)
      if (!done("cuMemAlloc", copies_.allocate(&each, size_))) return false;
    if (!done("cuStreamCreate", cuda_.stream_create(&stream_, cudaStreamNonBlocking))) return false;
    for (cudaEvent_t& each : events_)
      if (!done("cuEventCreate", cuda_.event_create(&each, cudaEventDefault))) return false;
    return true;
  }

  // The first reading warms up, and is not counted. All are queued before the first is read, so the device never waits.
  void run() noexcept {
    for (std::size_t i = 0; i <= count; ++i) {
      if (!done("cuEventRecord", cuda_.event_record(events_[i], stream_))) return;
      for (int copy = 0; copy < at_once; ++copy)
        if (!done("cuMemcpyDtoDAsync", copies_.copy(buffers_[1], buffers_[0], size_, stream_))) return;
    }
    if (!done("cuEventRecord", cuda_.event_record(events_[count + 1], stream_)) ||
        !done("cuEventQuery", poll_until(cuda_, events_[count + 1], host_now() + patience)))
      return;
    for (std::size_t i = 1; i <= count; ++i) {
      elapsed_answer const answer = elapsed(cuda_, events_[i], events_[i + 1]);
      if (!done("cuEventElapsedTime", answer.status)) return;
      auto const time = static_cast<double>(answer.time.count());
      if (i == 1 || time < fastest_) fastest_ = time;
    }
  }

  driver_api const& cuda_;
  copy_api copies_;
  std::size_t size_ = 256 * mebibyte;
  unsigned long long buffers_[2] = {};
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[count + 2] = {};
  double fastest_ = 0;
  int status_ = cudaSuccess;
  char const* call_ = "";
  char const* why_not_ = "";
};

/// The roof of the current device's memory, as copies within the device reach it, or why it could not be measured.
/// Requires: nothing runs on the device that waits for the host, or for another thread's call, and nothing beside it that
/// would share its memory.
/// Sync: as `copy_measurement`. No context is made: the program has used the device before.
/// Example: `roofs.bytes = sg::measure_copy_roof();`
template <class = void>
[[nodiscard]] roof measure_copy_roof() {
  char const* const source = "measured: copies within the device";
  driver_answer const cuda = driver();
  if (!cuda.api) return no_roof(roof_origin::measured, source, streamgauge::describe(cuda.why));
  context_answer const here = current_context(*cuda.api);
  if (here.status != cudaSuccess)
    return no_roof(roof_origin::measured, source, streamgauge::describe(absence_of(here.status)));
  return copy_measurement{*cuda.api, here.key}.found();
}

}  // namespace streamgauge

#endif
