#pragma once

#include <streamgauge/version.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/measure/event.hpp>
#include <streamgauge/measure/variables.hpp>
#include <streamgauge/measure/device_attributes.hpp>
#include <streamgauge/measure/host_description.hpp>

namespace streamgauge {

/// The median of a few readings, to the nanosecond.
[[nodiscard]] inline std::optional<nanoseconds> median_reading(std::int64_t const* readings, std::size_t count) {
  std::optional<double> const middle = median(number_span<std::int64_t>{readings, count});
  if (!middle) return std::nullopt;
  return nanoseconds{static_cast<std::int64_t>(*middle)};
}

/// What a pair of host stamps with nothing between reads: the median of a few.
[[nodiscard]] inline std::optional<nanoseconds> measure_host_floor() {
  constexpr std::size_t count = 15;
  std::int64_t readings[count];
  for (std::int64_t& reading : readings) {
    host_stamp const before = host_now();
    reading = (host_now() - before).count();
  }
  return median_reading(readings, count);
}

/// Measures what an empty phase reads on a device, on a stream of its own, after the program's work.
/// Why: a number within a few times of the floor is mostly instrument; the report shows both.
/// Sync: waits for its own stream. Capture: allowed; nothing that is being captured is touched.
class floor_measurement {
 public:
  floor_measurement(driver_api const& cuda, context_key context) noexcept : cuda_{cuda} {
    relaxed_capture_mode const relaxed{cuda};
    context_scope const current{cuda, context.handle};
    status_ = relaxed.status() == cudaSuccess ? current.status() : relaxed.status();
    if (status_ == cudaSuccess) status_ = cuda.stream_create(&stream_, cudaStreamNonBlocking);
    if (status_ != cudaSuccess) return;
    for (cudaEvent_t& each : events_)
      if (status_ == cudaSuccess) status_ = cuda.event_create(&each, cudaEventDefault);
    if (status_ == cudaSuccess) run();
    for (cudaEvent_t const each : events_)
      if (each) cuda.event_destroy(each);
    cuda.stream_destroy(stream_);
  }

  [[nodiscard]] int status() const noexcept { return status_; }

  /// Requires: `status()` is success.
  void describe(device_description& device) const {
    device.event_floor = median_reading(device_, count);
    device.submit_floor = median_reading(host_, count);
    for (std::int64_t const one : device_) {
      for (std::int64_t const other : device_) {
        nanoseconds const step{one - other};
        if (step.count() > 0 && (!device.event_resolution || step < *device.event_resolution))
          device.event_resolution = step;
      }
    }
  }

 private:
  static constexpr std::size_t idle = 4;  // the first records of a stream cost more
  static constexpr std::size_t count = 31;
  static constexpr nanoseconds patience{20'000'000};

  void run() noexcept {
    for (std::size_t i = 0; i < idle + count && status_ == cudaSuccess; ++i) {
      std::size_t const at = 2 * (i < idle ? 0 : i - idle);
      host_stamp const before = host_now();
      status_ = cuda_.event_record(events_[at], stream_);
      if (status_ == cudaSuccess) status_ = cuda_.event_record(events_[at + 1], stream_);
      if (i >= idle) host_[i - idle] = (host_now() - before).count();
    }
    if (status_ == cudaSuccess) status_ = poll_until(cuda_, events_[2 * count - 1], host_now() + patience);
    for (std::size_t i = 0; i < count && status_ == cudaSuccess; ++i) {
      elapsed_answer const answer = elapsed(cuda_, events_[2 * i], events_[2 * i + 1]);
      status_ = answer.status;
      device_[i] = answer.time.count();
    }
  }

  driver_api const& cuda_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t events_[2 * count] = {};
  std::int64_t device_[count] = {};
  std::int64_t host_[count] = {};
  int status_ = cudaSuccess;
};

/// A device with its name and what the driver says of it; its floor is still to be measured.
/// Sync: none.
template <class = void>
[[nodiscard]] device_description name_device(driver_api const& cuda, int ordinal) {
  device_description device;
  device.ordinal = ordinal;
  char name[256] = {};
  if (ordinal >= 0 && cuda.device_name(name, sizeof name - 1, ordinal) == cudaSuccess) device.name = name;
  device_facts<device_description>{cuda, device}.read();
  return device;
}

/// Measures a device's floor into its description, or says there why not.
/// Sync: waits for a stream of its own.
inline void measure_floor(driver_api const& cuda, context_key context, device_description& device) {
  floor_measurement const floor{cuda, context};
  if (floor.status() == cudaSuccess)
    floor.describe(device);
  else
    device.why_no_floor = cudaGetErrorString(static_cast<cudaError_t>(floor.status()));
}

/// What is known of the environment without a CUDA call: all that a recorder which measures nothing asks.
template <class Asking = void>
[[nodiscard]] environment describe_build() {
  environment found;
  describe_host(found);
  found.variables = variables_here<Asking>();
  found.library_version = version_string;
  found.compiled_runtime_version = CUDART_VERSION;
  return found;
}

/// The environment, first part: machine and versions. Devices are added for those that samples came from.
/// Sync: none. No context is made.
template <class Asking = void>
[[nodiscard]] environment describe_environment() {
  environment found = describe_build<Asking>();
  found.host_floor = measure_host_floor();
  driver_answer const cuda = driver();
  int runtime = 0;
  if (without_trace([&runtime] { return cudaRuntimeGetVersion(&runtime); }) == cudaSuccess)
    found.runtime_version = runtime;
  if (cuda.api) found.driver_version = cuda.api->version;
  int devices = 0;
  if (!cuda.api)
    found.why_no_device = streamgauge::describe(cuda.why);
  else if (int const status = cuda.api->device_count(&devices); status != cudaSuccess || devices == 0)
    found.why_no_device = streamgauge::describe(status == cudaSuccess ? absence::no_driver : absence_of(status));
  return found;
}

}  // namespace streamgauge
