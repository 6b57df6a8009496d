// The driver's functions about graphs, and what it tells about a capture.

#include "captures.hpp"
#include "driver.hpp"
#include "executables.hpp"
#include "graphs.hpp"

namespace simulated::inside {

CUresult cuGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  return driver_call("cuGraphGetNodes", {graph}, [&](auto& c) { return graph_nodes(c, graph, nodes, count); });
}

CUresult cuGraphNodeGetType(cudaGraphNode_t node, int* type) {
  return driver_call("cuGraphNodeGetType", {node}, [&](auto& c) { return node_type(c, node, type); });
}

CUresult cuGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return driver_call("cuGraphEventRecordNodeGetEvent", {node}, [&](auto& c) { return recorded_event(c, node, event); });
}

CUresult cuGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return driver_call("cuGraphChildGraphNodeGetGraph", {node}, [&](auto& c) { return child_graph(c, node, graph); });
}

CUresult cuGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return driver_call("cuGraphExecEventRecordNodeSetEvent", {event},
                     [&](auto& c) { return swap_event(c, executable, node, event); });
}

CUresult launch_graph(cudaGraphExec_t executable, cudaStream_t stream) {
  return driver_call("cuGraphLaunch", {executable, stream},
                     [&](auto& c) { return launch_executable(c, executable, stream); });
}

CUresult get_capture_info(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                          cudaGraph_t* graph, cudaGraphNode_t const** dependencies, std::size_t* count) {
  return driver_call("cuStreamGetCaptureInfo", {stream, stream}, [&](auto& c) {
    return capture_info(c, stream, {status, id, graph, dependencies, count});
  });
}

}  // namespace simulated::inside
