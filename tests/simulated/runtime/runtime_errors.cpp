// The runtime's last error of each thread, and the names and texts of errors.

#include "contexts.hpp"

namespace simulated::inside {
namespace {

struct error_text {
  cudaError_t error;
  char const* name;
  char const* text;
};

constexpr error_text error_texts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    {cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    {cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
     "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "invalid device context"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorIllegalState, "cudaErrorIllegalState", "the operation cannot be performed in the present state"},
    {cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    {cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "an illegal memory access was encountered"},
    {cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    {cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
     "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
     "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined", "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent, "cudaErrorCapturedEvent",
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
     "the graph update was not performed because it included changes which violated constraints specific to "
     "instantiated graph update"},
    {cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

error_text const* text_of(cudaError_t error) {
  for (auto const& entry : error_texts)
    if (entry.error == error) return &entry;
  return nullptr;
}

}  // namespace
}  // namespace simulated::inside

using namespace simulated::inside;

extern "C" {

cudaError_t cudaPeekAtLastError() {
  return runtime_call("cudaPeekAtLastError", {}, [](auto& c) { return c.thread.last_error; });
}

cudaError_t cudaGetLastError() {
  return runtime_call("cudaGetLastError", {}, [](auto& c) {
    int const error = c.thread.last_error;
    // A fault of the context stays until the context ends.
    auto const* home = current_context(c.thread);
    if (!home || home->fault == 0 || home->fault != error) c.thread.last_error = 0;
    return error;
  });
}

// Neither of these two is a call to the device or the driver: they are not logged.
char const* cudaGetErrorName(cudaError_t error) {
  auto const* entry = text_of(error);
  return entry ? entry->name : "unrecognized error code";
}

char const* cudaGetErrorString(cudaError_t error) {
  auto const* entry = text_of(error);
  return entry ? entry->text : "unrecognized error code";
}

}  // extern "C"
