#pragma once

// Kernels with a clock of their own, the witness for every device time, and owners for what the tests make.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda_runtime.h>
#include <dlfcn.h>

#include <streamgauge/measure/error.hpp>

struct kernel_clock {
  std::uint64_t start;
  std::uint64_t stop;

  [[nodiscard]] std::int64_t ns() const { return static_cast<std::int64_t>(stop - start); }
};

inline __device__ std::uint64_t global_timer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

/// Spins for so long by the device's clock, and keeps when it began and ended.
__global__ void spin(std::uint64_t ns, kernel_clock* seen) {
  std::uint64_t const start = global_timer();
  std::uint64_t now = start;
  while (now - start < ns) now = global_timer();
  if (seen) *seen = {start, now};
}

__global__ void add_one(int* value) { ++*value; }

constexpr std::uint64_t us = 1000;
constexpr std::uint64_t ms = 1000 * us;

class test_stream {
 public:
  explicit test_stream(unsigned int flags = cudaStreamNonBlocking) {
    streamgauge::check(cudaStreamCreateWithFlags(&handle_, flags), "cudaStreamCreateWithFlags");
  }
  ~test_stream() { cudaStreamDestroy(handle_); }
  test_stream(test_stream const&) = delete;
  test_stream& operator=(test_stream const&) = delete;

  operator cudaStream_t() const { return handle_; }
  void synchronize() const { streamgauge::check(cudaStreamSynchronize(handle_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t handle_ = nullptr;
};

/// An event of the program's own: untimed, for a dependency, unless told otherwise.
class test_event {
 public:
  explicit test_event(unsigned int flags = cudaEventDisableTiming) {
    streamgauge::check(cudaEventCreateWithFlags(&handle_, flags), "cudaEventCreateWithFlags");
  }
  ~test_event() { cudaEventDestroy(handle_); }
  test_event(test_event const&) = delete;
  test_event& operator=(test_event const&) = delete;

  operator cudaEvent_t() const { return handle_; }
  void record(cudaStream_t stream) const { streamgauge::check(cudaEventRecord(handle_, stream), "cudaEventRecord"); }
  /// Lets a stream wait for what was recorded last.
  void hold(cudaStream_t stream) const {
    streamgauge::check(cudaStreamWaitEvent(stream, handle_, 0), "cudaStreamWaitEvent");
  }

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Values on the device, one for each kernel that writes one.
template <class Value>
class device_values {
 public:
  explicit device_values(std::size_t count) : count_{count} {
    streamgauge::check(cudaMalloc(&values_, count * sizeof(Value)), "cudaMalloc");
    streamgauge::check(cudaMemset(values_, 0, count * sizeof(Value)), "cudaMemset");
    streamgauge::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  }
  ~device_values() { cudaFree(values_); }
  device_values(device_values const&) = delete;
  device_values& operator=(device_values const&) = delete;

  [[nodiscard]] Value* at(std::size_t i) const { return values_ + i; }
  /// What the kernels wrote, once the whole device is done.
  [[nodiscard]] std::vector<Value> read() const {
    std::vector<Value> host(count_);
    streamgauge::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    streamgauge::check(cudaMemcpy(host.data(), values_, count_ * sizeof(Value), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return host;
  }

 private:
  std::size_t count_;
  Value* values_ = nullptr;
};

using kernel_clocks = device_values<kernel_clock>;

/// Loads the kernels, so that no later launch does.
inline void warm_up() {
  device_values<int> one{1};
  spin<<<1, 1>>>(us, nullptr);
  add_one<<<1, 1>>>(one.at(0));
  streamgauge::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// How long such a spin lasts by its own clock: to the first of the clock's steps behind what it is told. The median of 63.
/// Apart from those that are measured: to write its clocks down takes a kernel 150 ns more.
inline std::int64_t lasts(std::uint64_t ns) {
  kernel_clocks const clocks{63};
  for (std::size_t i = 0; i < 63; ++i) spin<<<1, 1>>>(ns, clocks.at(i));
  std::vector<std::int64_t> all;
  for (kernel_clock const& each : clocks.read()) all.push_back(each.ns());
  std::sort(all.begin(), all.end());
  return all[31];
}

/// Eleven lengths from about `ns` on, in ns, that fall evenly on the steps in which an H200 sees a kernel end.
/// Why: these steps are some 176 ns, so around a kernel of always the same length an event pair reads one of two neighbours,
/// up to that much beside what the kernel takes, however often it is repeated. Those of a graph are up to 220 ns.
inline std::vector<std::uint64_t> lengths_over_a_step(std::uint64_t ns) {
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t i = 0; i < 11; ++i) lengths.push_back((ns + 31) / 32 * 32 + 96 * i);  // whole steps of the kernel's clock
  return lengths;
}

/// Whether a device has a primary context. Asked from the driver itself, past the runtime and past the library.
inline bool has_context(int device) {
  using state_of = int (*)(int, unsigned int*, int*);
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  auto const state = driver ? reinterpret_cast<state_of>(dlsym(driver, "cuDevicePrimaryCtxGetState")) : nullptr;
  unsigned int flags = 0;
  int active = 0;
  int const status = state ? state(device, &flags, &active) : static_cast<int>(cudaErrorUnknown);
  if (status == cudaErrorInitializationError) return false;  // nobody has used CUDA in this process
  streamgauge::check(static_cast<cudaError_t>(status), "cuDevicePrimaryCtxGetState");
  return active != 0;
}
