// Memory of the device, and copies within it, through the driver. A copy moves nothing: it takes its time.
//
// Freeing waits for all work of the context, as CUDA's guide says of it.

#include "captures.hpp"
#include "device.hpp"
#include "driver.hpp"
#include "streams.hpp"

namespace simulated::inside {

CUresult cuMemAlloc(unsigned long long* address, std::size_t size) {
  return driver_call("cuMemAlloc", {}, [&](auto& c) -> int {
    if (!address || size == 0) return cudaErrorInvalidValue;
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    if (int const unsafe = refuse_unsafe(c)) return unsafe;
    std::size_t taken = size;
    for (auto const& each : c.m.device_memory) taken += each.second;
    if (taken > c.m.device_memory_size) return cudaErrorMemoryAllocation;
    c.m.last_handle += 0x40;
    *address = c.m.last_handle;
    c.m.device_memory[*address] = size;
    return 0;
  });
}

CUresult cuMemFree(unsigned long long address) {
  return driver_call(
      "cuMemFree", {},
      [&](auto& c) -> int {
        auto const used = use_context(c);
        if (used.status != 0) return used.status;
        if (int const unsafe = refuse_unsafe(c)) return unsafe;
        if (c.m.device_memory.erase(address) == 0) return cudaErrorInvalidValue;
        for (auto const& work : all_work(c.m, *used.home))
          if (int const status = wait_for(c, work, *used.home)) return status;
        return 0;
      },
      failing::still_acts);
}

CUresult copy_within(unsigned long long to, unsigned long long from, std::size_t size, cudaStream_t stream) {
  return driver_call("cuMemcpyDtoDAsync", {stream}, [&](auto& c) -> int {
    auto const fits = [&](unsigned long long address) {
      auto const found = c.m.device_memory.find(address);
      return found != c.m.device_memory.end() && size <= found->second;
    };
    if (!fits(to) || !fits(from)) return cudaErrorInvalidValue;
    ++c.m.copies;
    nanos const duration = c.m.copies == c.m.slow_copy ? 2 * c.m.copy_duration : c.m.copy_duration;
    return launch_work(c, stream, duration, 0);
  });
}

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

void set_copy_duration(nanoseconds duration, std::size_t slow) {
  at_work at;
  at.m.copy_duration = duration.count();
  at.m.slow_copy = slow;
}

void set_device_memory(std::size_t bytes) {
  at_work at;
  at.m.device_memory_size = bytes;
}

std::size_t device_memory_in_use() {
  at_work at;
  std::size_t sum = 0;
  for (auto const& each : at.m.device_memory) sum += each.second;
  return sum;
}

}  // namespace simulated
