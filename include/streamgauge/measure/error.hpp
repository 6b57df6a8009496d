#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include <streamgauge/sample.hpp>
#include <streamgauge/measure/translation_unit.hpp>

namespace streamgauge {

/// A CUDA call failed. The one type that the library throws.
class cuda_error : public std::runtime_error {
 public:
  cuda_error(cudaError_t status, std::string const& text) : std::runtime_error{text}, status_{status} {}

  /// CUDA's own status, never lost.
  [[nodiscard]] cudaError_t status() const noexcept { return status_; }

 private:
  cudaError_t status_;
};

/// "cudaMalloc: out of memory (cudaErrorMemoryAllocation, 2)".
[[nodiscard]] inline std::string describe(cudaError_t status, char const* call) {
  std::string text = call;
  text += ": ";
  text += cudaGetErrorString(status);
  text += " (";
  text += cudaGetErrorName(status);
  text += ", ";
  text += std::to_string(static_cast<int>(status));
  text += ')';
  return text;
}

/// Throws, or prints and aborts, with one text; which of the two is the caller's translation unit's choice.
template <class Unit = failing_here>
[[noreturn]] void fail(cudaError_t status, std::string const& text) {
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
  if constexpr (std::is_same_v<Unit, throwing>) throw cuda_error{status, text};
#endif
  static_cast<void>(status);
  std::fprintf(stderr, "streamgauge: %s\n", text.c_str());
  std::abort();
}

/// Turns a CUDA status into a `cuda_error` unless it is success.
/// Why: a function and not a macro; the place that it was called from comes along by itself.
/// Throws: `cuda_error` when `status` is not `cudaSuccess`; without exceptions it prints the same text and aborts.
/// The runtime's last error is left as it is.
/// Example: `sg::check(cudaMalloc(&buffer, bytes), "cudaMalloc");`
template <class Unit = failing_here>
void check(cudaError_t status, char const* call = "CUDA call", char const* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  if (status == cudaSuccess) return;
  fail<Unit>(status, std::string{file} + ':' + std::to_string(line) + ": " + describe(status, call));
}

/// What a status means for the sample that it was answered for.
[[nodiscard]] constexpr absence absence_of(int status) noexcept {
  switch (status) {
    case cudaSuccess: return absence::none;
    case cudaErrorMemoryAllocation: return absence::no_memory;
    case cudaErrorInitializationError: return absence::forked;    // what CUDA answers in a forked child
    case cudaErrorCudartUnloading: return absence::context_gone;  // the process is on its way out
    case cudaErrorInsufficientDriver: return absence::no_driver;
    case cudaErrorNoDevice: return absence::no_driver;
    case cudaErrorDeviceUninitialized: return absence::no_context;   // 201: no context is current
    case cudaErrorContextIsDestroyed: return absence::context_gone;  // 709
    case cudaErrorStreamCaptureUnsupported:
    case cudaErrorStreamCaptureInvalidated:
    case cudaErrorCapturedEvent: return absence::stream_capture;
    case cudaErrorStreamCaptureImplicit: return absence::capture_elsewhere;
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure: return absence::earlier_work_failed;
    default: break;
  }
  // Newer faults of the same kind, by number: older toolkits have no name for them.
  bool const fault = status == 226 || status == 721 || status == 810 || status == 911;
  return fault ? absence::earlier_work_failed : absence::call_failed;
}

}  // namespace streamgauge
