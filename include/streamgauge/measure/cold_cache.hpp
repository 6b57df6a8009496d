#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <string>

#include <streamgauge/measure/translation_unit.hpp>
#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/driver.hpp>
#include <streamgauge/measure/context.hpp>

namespace streamgauge {

/// A buffer as large as the L2 cache of a stream's device; overwriting it leaves nothing else in there.
/// Why: an execution right behind another of the same work finds its input in the cache, which the program seldom does. A
/// memset is no kernel of ours, so it disturbs no tool's list of kernels. The current device may be another one, and a buffer
/// there would leave the caches of the stream's as they are.
class cold_cache {
 public:
  /// Asks for the memory. Sync: as cudaMalloc. The runtime's last error is left as it was.
  explicit cold_cache(stream_ref stream) : stream_{stream} { prepare(); }
  cold_cache(cold_cache const&) = delete;
  cold_cache& operator=(cold_cache const&) = delete;
  ~cold_cache() {
    driver_answer const cuda = buffer_ ? driver() : driver_answer{};
    if (!cuda.api || !alive(*cuda.api, context_)) return;
    context_scope const current{*cuda.api, context_.handle};
    relaxed_capture_mode const relaxed{*cuda.api};
    static_cast<void>(without_trace([this] { return cudaFree(buffer_); }));
  }

  /// Empty, or why there is none.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  /// Overwrites it, on the stream; with another value each time. Where that fails, `why_not` says so from then on.
  /// Requires: there is one, and its context. Sync: none.
  void overwrite() {
    context_scope const current{*driver().api, context_.handle};
    cudaError_t const status =
        without_trace([&] { return cudaMemsetAsync(buffer_, ++value_ & 0xff, bytes_, stream_.handle()); });
    if (status != cudaSuccess && why_not_.empty()) fail(describe(status, "cudaMemsetAsync"));
  }

 private:
  void fail(std::string const& why) { why_not_ = "the caches cannot be made cold: " + why; }

  void prepare() {
    driver_answer const cuda = driver();
    if (!cuda.api) return fail(describe(cuda.why));
    context_answer const found = context_of(*cuda.api, stream_);
    if (found.status != cudaSuccess) return fail(describe(static_cast<cudaError_t>(found.status), "cuStreamGetCtx"));
    context_ = found.key;
    context_scope const current{*cuda.api, context_.handle};
    if (current.status() != cudaSuccess) return fail(describe(static_cast<cudaError_t>(current.status()), "cuCtxPushCurrent"));
    relaxed_capture_mode const relaxed{*cuda.api};
    static_cast<void>(without_trace([this] { return allocate(); }));
  }

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

  stream_ref stream_;
  context_key context_;
  void* buffer_ = nullptr;
  std::size_t bytes_ = 0;
  int value_ = 0;
  std::string why_not_;
};

}  // namespace streamgauge

#endif
