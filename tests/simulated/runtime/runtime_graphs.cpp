// The runtime's functions about graphs.

#include "contexts.hpp"
#include "executables.hpp"
#include "graphs.hpp"

using namespace simulated::inside;

extern "C" {

// -------------------------------------------------------------------------------------------------------------- graphs

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned int) {
  return runtime_call("cudaGraphCreate", {}, [&](auto& c) { return create_graph(c, graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return runtime_call("cudaGraphClone", {graph}, [&](auto& c) { return clone_graph(c, clone, graph); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call(
      "cudaGraphDestroy", {graph}, [&](auto& c) { return destroy_graph(c, graph); }, failing::still_acts);
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, cudaGraphNode_t const* dependencies,
                                       size_t count, cudaGraph_t child) {
  return runtime_call("cudaGraphAddChildGraphNode", {graph},
                      [&](auto& c) { return add_child(c, node, graph, dependencies, count, child); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return runtime_call("cudaGraphGetNodes", {graph}, [&](auto& c) { return graph_nodes(c, graph, nodes, count); });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* node, cudaGraphNode_t original, cudaGraph_t clone) {
  return runtime_call("cudaGraphNodeFindInClone", {original},
                      [&](auto& c) { return find_in_clone(c, node, original, clone); });
}

// --------------------------------------------------------------------------------------------------------------- nodes

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return runtime_call("cudaGraphNodeGetType", {node}, [&](auto& c) {
    int number = 0;
    int const status = node_type(c, node, type ? &number : nullptr);
    if (status == 0) *type = static_cast<cudaGraphNodeType>(number);
    return status;
  });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t* graph) {
  return runtime_call("cudaGraphChildGraphNodeGetGraph", {node}, [&](auto& c) { return child_graph(c, node, graph); });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t* event) {
  return runtime_call("cudaGraphEventRecordNodeGetEvent", {node},
                      [&](auto& c) { return recorded_event(c, node, event); });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event) {
  return runtime_call("cudaGraphEventRecordNodeSetEvent", {event}, [&](auto& c) { return set_event(c, node, event); });
}

// --------------------------------------------------------------------------------------------------------- executables

#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return runtime_call("cudaGraphInstantiate", {graph},
                      [&](auto& c) { return instantiate(c, executable, graph, flags); });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  return runtime_call("cudaGraphExecUpdate", {executable}, [&](auto& c) {
    auto const answer = update_executable(c, executable, graph);
    if (result) {
      result->result = answer.why;
      result->errorNode = answer.node;
      result->errorFromNode = nullptr;
    }
    return answer.status;
  });
}
#endif

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return runtime_call("cudaGraphInstantiateWithFlags", {graph},
                      [&](auto& c) { return instantiate(c, executable, graph, flags); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return runtime_call(
      "cudaGraphExecDestroy", {executable}, [&](auto& c) { return destroy_executable(c, executable); },
      failing::still_acts);
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t node, cudaEvent_t event) {
  return runtime_call("cudaGraphExecEventRecordNodeSetEvent", {event},
                      [&](auto& c) { return swap_event(c, executable, node, event); });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaGraphLaunch", {executable, stream},
                      [&](auto& c) { return launch_executable(c, executable, stream); });
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphLaunch(executable, named(stream, null_means::per_thread));
}

}  // extern "C"
