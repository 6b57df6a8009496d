#pragma once

// The user's side of a test: streams, events and work in one line each, and the driver's functions.

#include "fixture.hpp"

#if CUDART_VERSION < 12050
extern "C" cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned int version,
                                                        unsigned long long flags,
                                                        cudaDriverEntryPointQueryResult* result);
#endif

namespace simulated::test_side {

using context_handle = struct CUctx_st*;

/// A driver function by name; the flag says what a null stream means to it.
template <class Signature>
Signature* driver(char const* name, unsigned long long flags = cudaEnableLegacyStream) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  REQUIRE(cudaGetDriverEntryPointByVersion(name, &function, 12000, flags, &result) == cudaSuccess);
  REQUIRE(result == cudaDriverEntryPointSuccess);
  return reinterpret_cast<Signature*>(function);
}

/// The driver functions that tests use, found as a program would find them.
struct driver_functions {
  int (*create)(cudaEvent_t*, unsigned) = driver<int(cudaEvent_t*, unsigned)>("cuEventCreate");
  int (*destroy)(cudaEvent_t) = driver<int(cudaEvent_t)>("cuEventDestroy");
  int (*record)(cudaEvent_t, cudaStream_t) = driver<int(cudaEvent_t, cudaStream_t)>("cuEventRecord");
  int (*query)(cudaEvent_t) = driver<int(cudaEvent_t)>("cuEventQuery");
  int (*synchronize)(cudaEvent_t) = driver<int(cudaEvent_t)>("cuEventSynchronize");
  int (*elapsed)(float*, cudaEvent_t,
                 cudaEvent_t) = driver<int(float*, cudaEvent_t, cudaEvent_t)>("cuEventElapsedTime");
  int (*is_capturing)(cudaStream_t, cudaStreamCaptureStatus*) =
      driver<int(cudaStream_t, cudaStreamCaptureStatus*)>("cuStreamIsCapturing");
  int (*stream_context)(cudaStream_t, context_handle*) = driver<int(cudaStream_t, context_handle*)>("cuStreamGetCtx");
  int (*exchange)(cudaStreamCaptureMode*) = driver<int(cudaStreamCaptureMode*)>("cuThreadExchangeStreamCaptureMode");
  int (*current)(context_handle*) = driver<int(context_handle*)>("cuCtxGetCurrent");
  int (*push)(context_handle) = driver<int(context_handle)>("cuCtxPushCurrent");
  int (*pop)(context_handle*) = driver<int(context_handle*)>("cuCtxPopCurrent");
  int (*id)(context_handle, unsigned long long*) = driver<int(context_handle, unsigned long long*)>("cuCtxGetId");
  int (*state)(int, unsigned*, int*) = driver<int(int, unsigned*, int*)>("cuDevicePrimaryCtxGetState");
  int (*retain)(context_handle*, int) = driver<int(context_handle*, int)>("cuDevicePrimaryCtxRetain");
  int (*release)(int) = driver<int(int)>("cuDevicePrimaryCtxRelease");
  int (*device_count)(int*) = driver<int(int*)>("cuDeviceGetCount");
  int (*profiler_start)() = driver<int()>("cuProfilerStart");
};

inline cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
  return stream;
}

inline cudaEvent_t make_event(unsigned flags = cudaEventDefault) {
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, flags) == cudaSuccess);
  return event;
}

inline float elapsed(cudaEvent_t start, cudaEvent_t stop) {
  float milliseconds = -1;
  REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
  return milliseconds;
}

inline int elapsed_status(cudaEvent_t start, cudaEvent_t stop) {
  float milliseconds = -1;
  return cudaEventElapsedTime(&milliseconds, start, stop);
}

/// Two events around work on one stream, all enqueued.
struct timed_work {
  cudaEvent_t start = make_event(), stop = make_event();
  timed_work(cudaStream_t stream, simulated::nanoseconds work) {
    REQUIRE(cudaEventRecord(start, stream) == cudaSuccess);
    REQUIRE(launch(stream, work) == cudaSuccess);
    REQUIRE(cudaEventRecord(stop, stream) == cudaSuccess);
  }
};

/// The fatal misuses so far, which are then forgotten.
inline std::vector<std::string> misuses() {
  auto list = simulated::fatal_misuses();
  simulated::clear_fatal_misuses();
  return list;
}

/// Is this list one text with those words in it?
inline bool mentions(std::vector<std::string> const& list, char const* text) {
  return list.size() == 1 && list.front().find(text) != std::string::npos;
}

}  // namespace simulated::test_side
