#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <string>

#include <streamgauge/measure/driver.hpp>
#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/translation_unit.hpp>

namespace streamgauge {

/// A buffer as large as the current device's L2 cache; overwriting it leaves nothing else in there.
/// Why: an execution right behind another of the same work finds its input in the cache, which the program seldom does. A
/// memset is no kernel of ours, so it disturbs no tool's list of kernels.
class cold_cache {
 public:
  /// Asks for the memory. Sync: as cudaMalloc. The runtime's last error is left as it was.
  cold_cache() {
    static_cast<void>(without_trace([this] { return allocate(); }));
  }
  cold_cache(cold_cache const&) = delete;
  cold_cache& operator=(cold_cache const&) = delete;
  ~cold_cache() {
    if (buffer_) static_cast<void>(without_trace([this] { return cudaFree(buffer_); }));
  }

  /// Empty, or why there is none.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Overwrites it, on the stream; with another value each time. Where that fails, `why_not` says so from then on.
  /// Requires: there is one. Sync: none.
  void overwrite(stream_ref stream) {
    cudaError_t const status =
        without_trace([&] { return cudaMemsetAsync(buffer_, ++value_ & 0xff, bytes_, stream.handle()); });
    if (status != cudaSuccess && why_not_.empty()) fail(describe(status, "cudaMemsetAsync"));
  }

 private:
  void fail(std::string const& why) { why_not_ = "the caches cannot be made cold: " + why; }

  cudaError_t allocate() {
    int device = 0;
    int bytes = 0;
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess) status = cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device);
    if (status != cudaSuccess) return fail(describe(status, "cudaDeviceGetAttribute")), status;
    if (bytes <= 0) return fail("the device does not say how large its L2 cache is"), status;
    bytes_ = static_cast<std::size_t>(bytes);
    status = cudaMalloc(&buffer_, bytes_);
    if (status == cudaSuccess) return status;
    buffer_ = nullptr;
    return fail(describe(status, "cudaMalloc")), status;
  }

  void* buffer_ = nullptr;
  std::size_t bytes_ = 0;
  int value_ = 0;
  std::string why_not_;
};

}  // namespace streamgauge

#endif
