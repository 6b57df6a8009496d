#pragma once

#include <atomic>
#include <cuda_runtime_api.h>

#include <streamgauge/measure/error.hpp>
#include <streamgauge/measure/lock.hpp>

struct CUctx_st;

// The look-up's own name depends on the per-thread default stream macro. Both forms do the same with the flags that are
// given here, so the plain one is declared and called in every translation unit, and no inline body differs.
#pragma push_macro("cudaGetDriverEntryPoint")
#pragma push_macro("cudaGetDriverEntryPointByVersion")
#undef cudaGetDriverEntryPoint
#undef cudaGetDriverEntryPointByVersion
#if CUDART_VERSION >= 12050
extern "C" cudaError_t CUDARTAPI cudaGetDriverEntryPointByVersion(char const*, void**, unsigned int, unsigned long long,
                                                                  cudaDriverEntryPointQueryResult*);
#else
extern "C" cudaError_t CUDARTAPI cudaGetDriverEntryPoint(char const*, void**, unsigned long long,
                                                         cudaDriverEntryPointQueryResult*);
#endif

namespace streamgauge {

/// The driver's function of that name as it was in the given CUDA version; null when the driver has none.
[[nodiscard]] inline void* driver_entry_point(char const* name, unsigned int version) noexcept {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult found{};
#if CUDART_VERSION >= 12050
  cudaError_t const status = cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableLegacyStream, &found);
#else
  static_cast<void>(version);  // toolkits before 12.5 look up as of their own version, which is what is wanted here
  cudaError_t const status = cudaGetDriverEntryPoint(name, &function, cudaEnableLegacyStream, &found);
#endif
  return status == cudaSuccess && found == cudaDriverEntryPointSuccess ? function : nullptr;
}

}  // namespace streamgauge

#pragma pop_macro("cudaGetDriverEntryPoint")
#pragma pop_macro("cudaGetDriverEntryPointByVersion")

namespace streamgauge {

/// A context, as the driver names it.
using context_handle = CUctx_st*;

/// The driver's functions that measuring needs. Statuses are numbered as the runtime's.
/// Why: a failing runtime call overwrites the program's pending last error and nothing can put it back; a driver call
/// never touches it. The runtime is asked only for versions, for the current device, and for these functions.
struct driver_api {
  int (*event_create)(cudaEvent_t*, unsigned int) = nullptr;
  int (*event_destroy)(cudaEvent_t) = nullptr;
  int (*event_record)(cudaEvent_t, cudaStream_t) = nullptr;
  int (*event_record_flags)(cudaEvent_t, cudaStream_t, unsigned int) = nullptr;
  int (*event_query)(cudaEvent_t) = nullptr;
  int (*event_synchronize)(cudaEvent_t) = nullptr;
  int (*event_elapsed)(float*, cudaEvent_t, cudaEvent_t) = nullptr;
  int (*stream_is_capturing)(cudaStream_t, cudaStreamCaptureStatus*) = nullptr;
  int (*stream_context)(cudaStream_t, context_handle*) = nullptr;
  int (*stream_wait)(cudaStream_t, cudaEvent_t, unsigned int) = nullptr;
  int (*stream_create)(cudaStream_t*, unsigned int) = nullptr;
  int (*stream_destroy)(cudaStream_t) = nullptr;
  int (*context_current)(context_handle*) = nullptr;
  int (*context_push)(context_handle) = nullptr;
  int (*context_pop)(context_handle*) = nullptr;
  int (*context_id)(context_handle, unsigned long long*) = nullptr;
  int (*context_device)(int*) = nullptr;
  int (*context_synchronize)() = nullptr;
  int (*device_count)(int*) = nullptr;
  int (*device_name)(char*, int, int) = nullptr;
  int (*primary_state)(int, unsigned int*, int*) = nullptr;
  int (*primary_retain)(context_handle*, int) = nullptr;
  int (*primary_release)(int) = nullptr;
  int (*exchange_capture_mode)(cudaStreamCaptureMode*) = nullptr;
  int (*profiler_start)() = nullptr;
  int (*profiler_stop)() = nullptr;
  int version = 0;  ///< the driver's, as CUDA counts
};

/// The driver, or why there is none to be used.
struct driver_answer {
  driver_api const* api = nullptr;
  absence why = absence::none;
  int status = cudaSuccess;  ///< CUDA's, where a call of the look-up failed
};

template <class Function>
[[nodiscard]] bool look_up(Function*& function, char const* name, unsigned int version = 12000) noexcept {
  function = reinterpret_cast<Function*>(driver_entry_point(name, version));
  return function != nullptr;
}

/// Looks every function up. The runtime is asked for its driver's version first, which cannot fail: where there is none,
/// or one that is too old, no call of ours fails and the last error stays as it was.
[[nodiscard]] inline driver_answer load(driver_api& api) noexcept {
  int runtime = 0;
  int devices = 0;
  if (cudaDriverGetVersion(&api.version) != cudaSuccess || api.version == 0) return {nullptr, absence::no_driver};
  if (cudaRuntimeGetVersion(&runtime) != cudaSuccess) return {nullptr, absence::no_driver};
  if (api.version < 12000 || api.version / 1000 < runtime / 1000) return {nullptr, absence::driver_too_old};
  // A driver without a device refuses the look-ups too, so it is told apart from an old one here.
  if (cudaError_t const status = cudaGetDeviceCount(&devices); status != cudaSuccess)
    return {nullptr, absence_of(status), status};
  if (devices == 0) return {nullptr, absence::no_driver};
  // As of 12.8 elapsed time costs a sixth of what it did before (H200: 0.10 and 0.58 us).
  bool const complete =
      (look_up(api.event_elapsed, "cuEventElapsedTime", 12080) || look_up(api.event_elapsed, "cuEventElapsedTime")) &&
      look_up(api.event_create, "cuEventCreate") && look_up(api.event_destroy, "cuEventDestroy") &&
      look_up(api.event_record, "cuEventRecord") && look_up(api.event_record_flags, "cuEventRecordWithFlags") &&
      look_up(api.stream_wait, "cuStreamWaitEvent") && look_up(api.event_query, "cuEventQuery") &&
      look_up(api.event_synchronize, "cuEventSynchronize") && look_up(api.stream_is_capturing, "cuStreamIsCapturing") &&
      look_up(api.stream_context, "cuStreamGetCtx") && look_up(api.stream_create, "cuStreamCreate") &&
      look_up(api.stream_destroy, "cuStreamDestroy") && look_up(api.context_current, "cuCtxGetCurrent") &&
      look_up(api.context_push, "cuCtxPushCurrent") && look_up(api.context_pop, "cuCtxPopCurrent") &&
      look_up(api.context_id, "cuCtxGetId") && look_up(api.context_device, "cuCtxGetDevice") &&
      look_up(api.context_synchronize, "cuCtxSynchronize") && look_up(api.device_count, "cuDeviceGetCount") &&
      look_up(api.device_name, "cuDeviceGetName") && look_up(api.primary_state, "cuDevicePrimaryCtxGetState") &&
      look_up(api.primary_retain, "cuDevicePrimaryCtxRetain") &&
      look_up(api.primary_release, "cuDevicePrimaryCtxRelease") &&
      look_up(api.exchange_capture_mode, "cuThreadExchangeStreamCaptureMode") &&
      look_up(api.profiler_start, "cuProfilerStart") && look_up(api.profiler_stop, "cuProfilerStop");
  return complete ? driver_answer{&api} : driver_answer{nullptr, absence::driver_too_old};
}

/// Makes a runtime call of ours so that its failure leaves no last error behind.
/// Why: the few questions that only the runtime answers nearly never fail. Where one does while a status of the program's
/// own is pending, that status is lost: CUDA has no call that would put it back.
template <class Call>
[[nodiscard]] auto without_trace(Call call) noexcept {
  cudaError_t const before = cudaPeekAtLastError();
  auto const answer = call();
  if (before == cudaSuccess && cudaPeekAtLastError() != cudaSuccess) static_cast<void>(cudaGetLastError());
  return answer;
}

/// The functions once they were found. A failed look-up is not kept: it costs 10 ns where there is no driver.
struct driver_state {
  std::atomic<bool> found{false};
  brief_lock lock;
  driver_api api;
};
[[gnu::visibility("default")]] inline driver_state the_driver;

/// The driver's functions; the first call looks them up.
/// Threads: any.
[[nodiscard]] inline driver_answer driver() noexcept {
  if (the_driver.found.load(std::memory_order_acquire)) return {&the_driver.api};
  notice_forks();
  driver_api api;
  driver_answer const loaded = without_trace([&api] { return load(api); });
  if (!loaded.api) return loaded;
  brief_guard const guard{the_driver.lock};
  if (!the_driver.found.load(std::memory_order_relaxed)) the_driver.api = api;
  the_driver.found.store(true, std::memory_order_release);
  return {&the_driver.api};
}

}  // namespace streamgauge
