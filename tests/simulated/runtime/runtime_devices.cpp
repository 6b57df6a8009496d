// The runtime's functions about devices, memory, the profiler and versions.

#include <cuda_profiler_api.h>

#include "captures.hpp"
#include "clock.hpp"
#include "contexts.hpp"
#include "device.hpp"
#include "devices.hpp"
#include "streams.hpp"

namespace simulated::inside {

int synchronize_context(call_in_progress& c) {
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  if (invalidate_all(c.m, *used.home)) return cudaErrorStreamCaptureUnsupported;
  for (auto const& work : all_work(c.m, *used.home))
    if (int const status = wait_for(c, work, *used.home)) return status;
  return 0;
}

int device_attribute(call_in_progress& c, int* value, int attribute, int device) {
  if (!value) return cudaErrorInvalidValue;
  if (device < 0 || device >= c.m.options.devices) return cudaErrorInvalidDevice;
  auto const found = c.m.attributes.find({device, attribute});
  *value = found == c.m.attributes.end() ? 0 : found->second;
  return 0;
}

int device_uuid(call_in_progress& c, unsigned char* uuid, int device, uuid_kind kind) {
  if (!uuid) return cudaErrorInvalidValue;
  if (device < 0 || device >= c.m.options.devices) return cudaErrorInvalidDevice;
  for (unsigned char i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0x11U * i);
  uuid[0] = static_cast<unsigned char>(device);
  if (kind == uuid_kind::of_part && c.m.parts.count(device) > 0) uuid[15] = 0x01;
  return 0;
}

int profile(call_in_progress& c, profiler_step step) {
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  c.m.profiler.push_back({step, nanoseconds{host_clock()}, c.thread.number});
  if (step == profiler_step::stop && c.m.profiler_stop_action) c.m.profiler_stop_action();
  return 0;
}

}  // namespace simulated::inside

using namespace simulated::inside;

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  return runtime_call("cudaDriverGetVersion", {}, [&](auto& c) -> int {
    if (!version) return cudaErrorInvalidValue;
    *version = c.m.options.driver_state == simulated::driver::missing ? 0 : c.m.options.driver_version;
    return 0;
  });
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  return runtime_call("cudaRuntimeGetVersion", {}, [&](auto& c) -> int {
    if (!version) return cudaErrorInvalidValue;
    *version = c.m.options.runtime_version;
    return 0;
  });
}

cudaError_t cudaGetDeviceCount(int* count) {
  return runtime_call("cudaGetDeviceCount", {}, [&](auto& c) -> int {
    if (!count) return cudaErrorInvalidValue;
    *count = c.m.options.devices;
    return 0;
  });
}

cudaError_t cudaGetDevice(int* device) {
  return runtime_call("cudaGetDevice", {}, [&](auto& c) -> int {
    if (!device) return cudaErrorInvalidValue;
    *device = current_device(c.thread);
    return 0;
  });
}

cudaError_t cudaSetDevice(int device) {
  return runtime_call("cudaSetDevice", {}, [&](auto& c) -> int {
    if (device < 0 || device >= c.m.options.devices) return cudaErrorInvalidDevice;
    c.thread.device = device;
    if (!c.thread.current.empty()) c.thread.current.pop_back();
    c.thread.current.push_back(&c.m.contexts[static_cast<std::size_t>(device)]);
    return use_context(c).status;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return runtime_call("cudaDeviceGetAttribute", {},
                      [&](auto& c) { return device_attribute(c, value, static_cast<int>(attribute), device); });
}

cudaError_t cudaDeviceSynchronize() {
  return runtime_call("cudaDeviceSynchronize", {}, [&](auto& c) { return synchronize_context(c); });
}

// Unmeasured: a reset after a fault succeeds here and leaves the device usable.
cudaError_t cudaDeviceReset() {
  return runtime_call("cudaDeviceReset", {}, [&](auto& c) -> int {
    end_context(c.m, c.m.contexts[static_cast<std::size_t>(current_device(c.thread))]);
    return 0;
  });
}

cudaError_t cudaMalloc(void** memory, size_t size) {
  return runtime_call("cudaMalloc", {}, [&](auto& c) -> int {
    if (!memory) return cudaErrorInvalidValue;
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    if (int const unsafe = refuse_unsafe(c)) return unsafe;
    *memory = std::malloc(size == 0 ? 1 : size);
    c.m.allocations.insert(*memory);
    return 0;
  });
}

cudaError_t cudaFree(void* memory) {
  return runtime_call(
      "cudaFree", {memory},
      [&](auto& c) -> int {
        auto const used = use_context(c);
        if (used.status != 0 || memory == nullptr) return used.status;
        if (int const unsafe = refuse_unsafe(c)) return unsafe;
        if (c.m.allocations.erase(memory) == 0) return cudaErrorInvalidValue;
        std::free(memory);
        return 0;
      },
      failing::still_acts);
}

cudaError_t cudaHostAlloc(void** memory, size_t size, unsigned int flags) {
  return runtime_call("cudaHostAlloc", {}, [&](auto& c) -> int {
    constexpr unsigned int known = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
    if (!memory || (flags & ~known) != 0) return cudaErrorInvalidValue;
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    if (int const unsafe = refuse_unsafe(c)) return unsafe;
    *memory = std::malloc(size == 0 ? 1 : size);
    c.m.allocations.insert(*memory);
    return 0;
  });
}

cudaError_t cudaFreeHost(void* memory) {
  return runtime_call(
      "cudaFreeHost", {memory},
      [&](auto& c) -> int {
        auto const used = use_context(c);
        if (used.status != 0 || memory == nullptr) return used.status;
        if (int const unsafe = refuse_unsafe(c)) return unsafe;
        if (c.m.allocations.erase(memory) == 0) return cudaErrorInvalidValue;
        std::free(memory);
        return 0;
      },
      failing::still_acts);
}

// A copy takes no time on the device and moves nothing: use `launch` where its duration matters.
cudaError_t cudaMemcpyAsync(void* to, void const*, size_t, cudaMemcpyKind, cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaMemcpyAsync", {to, stream}, [&](auto& c) { return launch_work(c, stream, 0, 0); });
}

cudaError_t cudaMemcpyAsync_ptsz(void* to, void const* from, size_t size, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, size, kind, named(stream, null_means::per_thread));
}

cudaError_t cudaProfilerStart() {
  return runtime_call("cudaProfilerStart", {}, [&](auto& c) { return profile(c, simulated::profiler_step::start); });
}

cudaError_t cudaProfilerStop() {
  return runtime_call(
      "cudaProfilerStop", {}, [&](auto& c) { return profile(c, simulated::profiler_step::stop); }, failing::still_acts);
}

}  // extern "C"
