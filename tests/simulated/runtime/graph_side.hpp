#pragma once

// The user's side of a test: graphs in one line each.

#include "test_side.hpp"

namespace simulated::test_side {

/// What `work` puts into a stream, as a graph.
template <class Work>
cudaGraph_t captured(Work work, int expected = cudaSuccess) {
  auto const stream = make_stream();
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  work(stream);
  CHECK(cudaStreamEndCapture(stream, &graph) == expected);
  return graph;
}

/// A record that is a time stamp also in a graph.
inline void stamp(cudaEvent_t event, cudaStream_t stream) {
  REQUIRE(cudaEventRecordWithFlags(event, stream, cudaEventRecordExternal) == cudaSuccess);
}

inline cudaGraphExec_t made_of(cudaGraph_t graph) {
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  return executable;
}

inline std::vector<cudaGraphNode_t> nodes_of(cudaGraph_t graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  return nodes;
}

inline int type_of(cudaGraphNode_t node) {
  cudaGraphNodeType type{};
  REQUIRE(cudaGraphNodeGetType(node, &type) == cudaSuccess);
  return type;
}

/// The kinds of its nodes, by CUDA's numbers: 0 a kernel, 4 a child graph, 6 a wait, 7 a record.
inline std::vector<int> types_in(cudaGraph_t graph) {
  std::vector<int> types;
  for (auto const node : nodes_of(graph)) types.push_back(type_of(node));
  return types;
}

/// A record, a kernel and a record, as a graph with its executable.
struct timed_graph {
  cudaEvent_t start = make_event(), stop = make_event();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  explicit timed_graph(simulated::nanoseconds work) {
    graph = captured([&](cudaStream_t stream) {
      stamp(start, stream);
      launch(stream, work);
      stamp(stop, stream);
    });
    executable = made_of(graph);
  }
  int swap(cudaGraphNode_t node, cudaEvent_t event) const {
    return cudaGraphExecEventRecordNodeSetEvent(executable, node, event);
  }
};

inline cudaGraph_t child_of(cudaGraphNode_t node) {
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphChildGraphNodeGetGraph(node, &graph) == cudaSuccess);
  return graph;
}

/// A graph of one child graph node.
inline cudaGraph_t parent_of(cudaGraph_t child) {
  cudaGraph_t parent = nullptr;
  cudaGraphNode_t node = nullptr;
  REQUIRE(cudaGraphCreate(&parent, 0) == cudaSuccess);
  REQUIRE(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, child) == cudaSuccess);
  return parent;
}

}  // namespace simulated::test_side
