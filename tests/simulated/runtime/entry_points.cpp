// The look-up of driver functions.

#include <algorithm>
#include <cstring>

#include "driver.hpp"

namespace simulated::inside {
namespace {

// The functions that take a stream, once for each meaning of a null handle.
template <null_means Meaning>
CUresult cu_event_record(cudaEvent_t event, cudaStream_t stream) {
  return record(event, named(stream, Meaning));
}
template <null_means Meaning>
CUresult cu_event_record_with_flags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return record_with_flags(event, named(stream, Meaning), flags);
}
template <null_means Meaning>
CUresult cu_stream_synchronize(cudaStream_t stream) {
  return synchronize(named(stream, Meaning));
}
template <null_means Meaning>
CUresult cu_stream_query(cudaStream_t stream) {
  return query(named(stream, Meaning));
}
template <null_means Meaning>
CUresult cu_stream_wait_event(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return wait(named(stream, Meaning), event, flags);
}
template <null_means Meaning>
CUresult cu_stream_is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return is_capturing(named(stream, Meaning), status);
}
template <null_means Meaning>
CUresult cu_stream_get_ctx(cudaStream_t stream, CUcontext* result) {
  return get_context(named(stream, Meaning), result);
}

template <null_means Meaning>
CUresult cu_graph_launch(cudaGraphExec_t executable, cudaStream_t stream) {
  return launch_graph(executable, named(stream, Meaning));
}

template <null_means Meaning>
CUresult cu_launch_kernel(struct CUfunc_st* function, unsigned int, unsigned int, unsigned int, unsigned int,
                          unsigned int, unsigned int, unsigned int, cudaStream_t stream, void** parameters, void**) {
  return launch_kernel(function, named(stream, Meaning), parameters);
}

template <null_means Meaning>
CUresult cu_stream_wait_value(cudaStream_t stream, unsigned long long address, unsigned int value,
                              unsigned int flags) {
  return wait_value(named(stream, Meaning), address, value, flags);
}

template <null_means Meaning>
CUresult cu_memcpy_within(unsigned long long to, unsigned long long from, std::size_t size, cudaStream_t stream) {
  return copy_within(to, from, size, named(stream, Meaning));
}

// One name, three signatures, as CUDA grew.
template <null_means Meaning>
CUresult cu_stream_get_capture_info_10010(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id) {
  return get_capture_info(named(stream, Meaning), status, id, nullptr, nullptr, nullptr);
}
template <null_means Meaning>
CUresult cu_stream_get_capture_info_11030(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                          cudaGraph_t* graph, cudaGraphNode_t const** dependencies,
                                          std::size_t* count) {
  return get_capture_info(named(stream, Meaning), status, id, graph, dependencies, count);
}
template <null_means Meaning>
CUresult cu_stream_get_capture_info_12030(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                          cudaGraph_t* graph, cudaGraphNode_t const** dependencies, void const** edges,
                                          std::size_t* count) {
  if (edges) *edges = nullptr;  // no edge carries data here
  return get_capture_info(named(stream, Meaning), status, id, graph, dependencies, count);
}

struct entry_point {
  char const* name;
  int since;  ///< the CUDA version that brought it
  void* legacy;
  void* per_thread;
};

template <class Function>
entry_point plain(char const* name, int since, Function* function) {
  return {name, since, reinterpret_cast<void*>(function), reinterpret_cast<void*>(function)};
}

template <class Function>
entry_point streamed(char const* name, int since, Function* legacy, Function* per_thread) {
  return {name, since, reinterpret_cast<void*>(legacy), reinterpret_cast<void*>(per_thread)};
}

std::vector<entry_point> const& entry_points() {
  constexpr auto legacy = null_means::legacy;
  constexpr auto thread = null_means::per_thread;
  static const std::vector<entry_point> list{
      plain("cuEventCreate", 2000, cuEventCreate),
      plain("cuEventDestroy", 4000, cuEventDestroy),
      streamed("cuEventRecord", 2000, cu_event_record<legacy>, cu_event_record<thread>),
      streamed("cuEventRecordWithFlags", 11010, cu_event_record_with_flags<legacy>, cu_event_record_with_flags<thread>),
      plain("cuEventQuery", 2000, cuEventQuery),
      plain("cuEventSynchronize", 2000, cuEventSynchronize),
      plain("cuEventElapsedTime", 2000, cuEventElapsedTime),
      plain("cuStreamCreate", 2000, cuStreamCreate),
      plain("cuStreamDestroy", 4000, cuStreamDestroy),
      streamed("cuStreamSynchronize", 2000, cu_stream_synchronize<legacy>, cu_stream_synchronize<thread>),
      streamed("cuStreamQuery", 2000, cu_stream_query<legacy>, cu_stream_query<thread>),
      streamed("cuStreamWaitEvent", 3020, cu_stream_wait_event<legacy>, cu_stream_wait_event<thread>),
      streamed("cuStreamIsCapturing", 10000, cu_stream_is_capturing<legacy>, cu_stream_is_capturing<thread>),
      streamed("cuStreamGetCtx", 9020, cu_stream_get_ctx<legacy>, cu_stream_get_ctx<thread>),
      plain("cuThreadExchangeStreamCaptureMode", 10010, cuThreadExchangeStreamCaptureMode),
      streamed("cuStreamGetCaptureInfo", 10010, cu_stream_get_capture_info_10010<legacy>,
               cu_stream_get_capture_info_10010<thread>),
      streamed("cuStreamGetCaptureInfo", 11030, cu_stream_get_capture_info_11030<legacy>,
               cu_stream_get_capture_info_11030<thread>),
      streamed("cuStreamGetCaptureInfo", 12030, cu_stream_get_capture_info_12030<legacy>,
               cu_stream_get_capture_info_12030<thread>),
      plain("cuGraphGetNodes", 10000, cuGraphGetNodes),
      plain("cuGraphNodeGetType", 10000, cuGraphNodeGetType),
      plain("cuGraphEventRecordNodeGetEvent", 11010, cuGraphEventRecordNodeGetEvent),
      plain("cuGraphChildGraphNodeGetGraph", 10000, cuGraphChildGraphNodeGetGraph),
      plain("cuGraphExecEventRecordNodeSetEvent", 11010, cuGraphExecEventRecordNodeSetEvent),
      streamed("cuGraphLaunch", 10000, cu_graph_launch<legacy>, cu_graph_launch<thread>),
      plain("cuCtxGetCurrent", 4000, cuCtxGetCurrent),
      plain("cuCtxPushCurrent", 4000, cuCtxPushCurrent),
      plain("cuCtxPopCurrent", 4000, cuCtxPopCurrent),
      plain("cuCtxGetId", 12000, cuCtxGetId),
      plain("cuCtxGetDevice", 2000, cuCtxGetDevice),
      plain("cuCtxSynchronize", 2000, cuCtxSynchronize),
      plain("cuDeviceGet", 2000, cuDeviceGet),
      plain("cuDeviceGetCount", 2000, cuDeviceGetCount),
      plain("cuDeviceGetName", 2000, cuDeviceGetName),
      plain("cuDeviceGetAttribute", 2000, cuDeviceGetAttribute),
      plain("cuDeviceGetUuid", 9020, uuid_of_whole),
      plain("cuDeviceGetUuid", 11040, uuid_of_part),
      plain("cuDeviceTotalMem", 3020, cuDeviceTotalMem),
      plain("cuDevicePrimaryCtxGetState", 7000, cuDevicePrimaryCtxGetState),
      plain("cuDevicePrimaryCtxRetain", 7000, cuDevicePrimaryCtxRetain),
      plain("cuDevicePrimaryCtxRelease", 11000, cuDevicePrimaryCtxRelease),
      plain("cuModuleLoadData", 2000, cuModuleLoadData),
      plain("cuModuleUnload", 2000, cuModuleUnload),
      plain("cuModuleGetFunction", 2000, cuModuleGetFunction),
      streamed("cuLaunchKernel", 4000, cu_launch_kernel<legacy>, cu_launch_kernel<thread>),
      // The second version; the first one, of 8.0, needs an option of the kernel module.
      streamed("cuStreamWaitValue32", 11070, cu_stream_wait_value<legacy>, cu_stream_wait_value<thread>),
      plain("cuMemHostRegister", 4000, cuMemHostRegister),
      plain("cuMemHostGetDevicePointer", 2020, cuMemHostGetDevicePointer),
      plain("cuMemAlloc", 3020, cuMemAlloc),
      plain("cuMemFree", 3020, cuMemFree),
      streamed("cuMemcpyDtoDAsync", 3020, cu_memcpy_within<legacy>, cu_memcpy_within<thread>),
      plain("cuProfilerStart", 4000, cuProfilerStart),
      plain("cuProfilerStop", 4000, cuProfilerStop),
  };
  return list;
}

int look_up(call_in_progress& c, char const* symbol, void** function, int version, unsigned long long flags,
            null_means default_meaning, cudaDriverEntryPointQueryResult* result) {
  if (!symbol || !function) return cudaErrorInvalidValue;
  *function = nullptr;
  auto answer = cudaDriverEntryPointSymbolNotFound;
  auto const& hidden = c.m.options.hidden_entry_points;
  bool const is_hidden = std::find(hidden.begin(), hidden.end(), symbol) != hidden.end();
  for (auto const& entry : entry_points()) {
    if (std::strcmp(entry.name, symbol) != 0 || is_hidden || entry.since > c.m.options.driver_version) continue;
    if (entry.since > version) {
      // The newest signature that the version allows is found; the list has them in order.
      if (!*function) answer = cudaDriverEntryPointVersionNotSufficent;
      continue;
    }
    auto meaning = default_meaning;
    if (flags == cudaEnableLegacyStream) meaning = null_means::legacy;
    if (flags == cudaEnablePerThreadDefaultStream) meaning = null_means::per_thread;
    *function = meaning == null_means::legacy ? entry.legacy : entry.per_thread;
    answer = cudaDriverEntryPointSuccess;
  }
  if (result) *result = answer;
  // Without a place for the answer, a missing symbol is an error.
  return answer == cudaDriverEntryPointSuccess || result ? cudaSuccess : cudaErrorSymbolNotFound;
}

cudaError_t logged_look_up(char const* name, char const* symbol, void** function, int version, unsigned long long flags,
                           null_means meaning, cudaDriverEntryPointQueryResult* result) {
  subject about;
  about.symbol = symbol;
  return static_cast<cudaError_t>(make_call(
      call_kind::look_up, name, about,
      [&](auto& c) { return look_up(c, symbol, function, version, flags, meaning, result); }, failing::skips));
}

}  // namespace
}  // namespace simulated::inside

using namespace simulated::inside;

extern "C" {

cudaError_t cudaGetDriverEntryPoint(char const* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* result) {
  return logged_look_up("cudaGetDriverEntryPoint", symbol, function, CUDART_VERSION, flags, null_means::legacy, result);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(char const* symbol, void** function, unsigned long long flags,
                                         cudaDriverEntryPointQueryResult* result) {
  return logged_look_up("cudaGetDriverEntryPoint", symbol, function, CUDART_VERSION, flags, null_means::per_thread,
                        result);
}

// The headers have these two since 12.5.
cudaError_t cudaGetDriverEntryPointByVersion(char const* symbol, void** function, unsigned int version,
                                             unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return logged_look_up("cudaGetDriverEntryPointByVersion", symbol, function, static_cast<int>(version), flags,
                        null_means::legacy, result);
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(char const* symbol, void** function, unsigned int version,
                                                  unsigned long long flags, cudaDriverEntryPointQueryResult* result) {
  return logged_look_up("cudaGetDriverEntryPointByVersion", symbol, function, static_cast<int>(version), flags,
                        null_means::per_thread, result);
}

}  // extern "C"
