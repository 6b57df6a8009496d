// The runtime's functions about stream captures.

#include "captures.hpp"
#include "contexts.hpp"
#include "streams.hpp"

using namespace simulated::inside;

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamBeginCapture", {stream, stream}, [&](auto& c) {
    auto const s = find_stream(c, stream);
    return s.status != 0 ? s.status : begin_capture(c, *s.object, mode);
  });
}

cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return cudaStreamBeginCapture(named(stream, null_means::per_thread), mode);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamEndCapture", {stream, stream}, [&](auto& c) {
    auto const s = find_stream(c, stream);
    return s.status != 0 ? s.status : end_capture(c, *s.object, graph);
  });
}

cudaError_t cudaStreamEndCapture_ptsz(cudaStream_t stream, cudaGraph_t* graph) {
  return cudaStreamEndCapture(named(stream, null_means::per_thread), graph);
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamIsCapturing", {stream, stream},
                      [&](auto& c) { return stream_is_capturing(c, stream, status); });
}

cudaError_t cudaStreamIsCapturing_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return cudaStreamIsCapturing(named(stream, null_means::per_thread), status);
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return runtime_call(
      "cudaThreadExchangeStreamCaptureMode", {}, [&](auto& c) { return exchange_mode(c, mode); }, failing::still_acts);
}

// 13.0 put the data of the edges before the last argument; no edge carries any here.
#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, cudaGraphNode_t const** dependencies,
                                     cudaGraphEdgeData const** edges, size_t* count) {
  if (edges) *edges = nullptr;
#else
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                     cudaGraph_t* graph, cudaGraphNode_t const** dependencies, size_t* count) {
#endif
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamGetCaptureInfo", {stream, stream}, [&](auto& c) {
    return capture_info(c, stream, {status, id, graph, dependencies, count});
  });
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                          cudaGraph_t* graph, cudaGraphNode_t const** dependencies,
                                          cudaGraphEdgeData const** edges, size_t* count) {
  return cudaStreamGetCaptureInfo(named(stream, null_means::per_thread), status, id, graph, dependencies, edges, count);
}
#else
cudaError_t cudaStreamGetCaptureInfo_v2_ptsz(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                             unsigned long long* id, cudaGraph_t* graph,
                                             cudaGraphNode_t const** dependencies, size_t* count) {
  return cudaStreamGetCaptureInfo(named(stream, null_means::per_thread), status, id, graph, dependencies, count);
}
#endif

}  // extern "C"
