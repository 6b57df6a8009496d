#pragma once

#include <vector>

#include <streamgauge/measure/context.hpp>

namespace streamgauge {

/// The driver's functions about graphs. Statuses and node types are numbered as the runtime's.
struct graph_api {
  int (*launch)(cudaGraphExec_t, cudaStream_t) = nullptr;
  int (*nodes_of)(cudaGraph_t, cudaGraphNode_t*, std::size_t*) = nullptr;
  int (*type_of)(cudaGraphNode_t, cudaGraphNodeType*) = nullptr;
  int (*event_of)(cudaGraphNode_t, cudaEvent_t*) = nullptr;
  int (*child_of)(cudaGraphNode_t, cudaGraph_t*) = nullptr;
  int (*set_event)(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t) = nullptr;
};

struct graph_api_state {
  std::atomic<bool> found{false};
  brief_lock lock;
  graph_api api;
};
[[gnu::visibility("default")]] inline graph_api_state the_graph_api;

/// The functions, looked up at the first call; null where the driver lacks one.
/// Threads: any.
[[nodiscard]] inline graph_api const* graph_functions() noexcept {
  if (the_graph_api.found.load(std::memory_order_acquire)) return &the_graph_api.api;
  graph_api api;
  bool const complete = without_trace([&api] {
    return look_up(api.launch, "cuGraphLaunch") && look_up(api.nodes_of, "cuGraphGetNodes") &&
           look_up(api.type_of, "cuGraphNodeGetType") && look_up(api.event_of, "cuGraphEventRecordNodeGetEvent") &&
           look_up(api.child_of, "cuGraphChildGraphNodeGetGraph") &&
           look_up(api.set_event, "cuGraphExecEventRecordNodeSetEvent");
  });
  if (!complete) return nullptr;
  brief_guard const guard{the_graph_api.lock};
  if (!the_graph_api.found.load(std::memory_order_relaxed)) the_graph_api.api = api;
  the_graph_api.found.store(true, std::memory_order_release);
  return &the_graph_api.api;
}

/// Launches an executable graph; CUDA's status. It does not become the runtime's last error.
/// Sync: none.
[[nodiscard]] inline cudaError_t launch_graph(cudaGraphExec_t executable, stream_ref stream) noexcept {
  graph_api const* const cuda = graph_functions();
  driver_answer const here = driver();
  if (!cuda) return here.api ? cudaErrorSymbolNotFound : cudaErrorInsufficientDriver;
  int status = cuda->launch(executable, stream.handle());
  if (status == cudaErrorDeviceUninitialized && here.api) {
    // A special stream on a thread whose first CUDA call is still to come.
    context_answer const found = current_context(*here.api);
    context_scope const current{*here.api, found.key.handle};
    if (found.status == cudaSuccess && current.status() == cudaSuccess)
      status = cuda->launch(executable, stream.handle());
  }
  return static_cast<cudaError_t>(status);
}

/// A node that records an event, and which.
struct record_node {
  cudaGraphNode_t node = nullptr;
  cudaEvent_t event = nullptr;
};

/// Adds the nodes of a graph, and of the graphs inside it, that record an event; CUDA's status.
/// Throws: only `std::bad_alloc`.
[[nodiscard]] inline int find_record_nodes(graph_api const& cuda, cudaGraph_t graph, std::vector<record_node>& found) {
  std::size_t count = 0;
  int status = cuda.nodes_of(graph, nullptr, &count);
  if (status != cudaSuccess || count == 0) return status;
  std::vector<cudaGraphNode_t> nodes(count);
  status = cuda.nodes_of(graph, nodes.data(), &count);
  for (std::size_t i = 0; i < count && status == cudaSuccess; ++i) {
    cudaGraphNodeType type{};
    status = cuda.type_of(nodes[i], &type);
    if (status != cudaSuccess) break;
    if (type == cudaGraphNodeTypeEventRecord) {
      record_node each{nodes[i], nullptr};
      status = cuda.event_of(nodes[i], &each.event);
      found.push_back(each);
    } else if (type == cudaGraphNodeTypeGraph) {
      cudaGraph_t child = nullptr;
      status = cuda.child_of(nodes[i], &child);
      if (status == cudaSuccess) status = find_record_nodes(cuda, child, found);
    }
  }
  return status;
}

}  // namespace streamgauge
