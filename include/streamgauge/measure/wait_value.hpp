#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/event.hpp>

namespace streamgauge {

/// The driver's functions that make a stream wait for a value in the host's memory. An address on the device is a number.
struct wait_value_api {
  int (*wait)(cudaStream_t, unsigned long long, unsigned int, unsigned int) = nullptr;
  int (*host_register)(void*, std::size_t, unsigned int) = nullptr;
  int (*device_pointer)(unsigned long long*, void*, unsigned int) = nullptr;
};

struct wait_value_state {
  std::atomic<bool> found{false};
  brief_lock lock;
  wait_value_api api;
};
[[gnu::visibility("default")]] inline wait_value_state the_wait_value_api;

/// The functions, looked up at the first call; null where the driver lacks one. As of 12.0 the look-up gives the second
/// version of the wait, which needs no option of the kernel module.
/// Why: no device attribute says whether it works. Numbers 92 to 94 are about the first version, 122 and 123 about 64 bits
/// and another condition; so it is tried, and `cudaErrorNotSupported` is the answer where it does not.
/// Threads: any.
[[nodiscard]] inline wait_value_api const* wait_value_functions() noexcept {
  if (the_wait_value_api.found.load(std::memory_order_acquire)) return &the_wait_value_api.api;
  wait_value_api api;
  bool const complete = without_trace([&api] {
    return look_up(api.wait, "cuStreamWaitValue32") && look_up(api.host_register, "cuMemHostRegister") &&
           look_up(api.device_pointer, "cuMemHostGetDevicePointer");
  });
  if (!complete) return nullptr;
  brief_guard const guard{the_wait_value_api.lock};
  if (!the_wait_value_api.found.load(std::memory_order_relaxed)) the_wait_value_api.api = api;
  the_wait_value_api.found.store(true, std::memory_order_release);
  return &the_wait_value_api.api;
}

/// Makes a stream wait until the word at that device address is at least `value`, counted round; CUDA's status.
/// Sync: the stream, not the host. Capture: not on a stream that is being captured.
[[nodiscard]] inline int wait_for_value(driver_api const& cuda, wait_value_api const& values, stream_ref stream,
                                        unsigned long long address, std::uint32_t value, context_key context) noexcept {
  constexpr unsigned int at_least = 0;  // CU_STREAM_WAIT_VALUE_GEQ
  int const status = values.wait(stream.handle(), address, value, at_least);
  if (status != cudaErrorDeviceUninitialized) return status;
  context_scope const current{cuda, context.handle};
  return current.status() == cudaSuccess ? values.wait(stream.handle(), address, value, at_least) : current.status();
}

}  // namespace streamgauge

#endif
