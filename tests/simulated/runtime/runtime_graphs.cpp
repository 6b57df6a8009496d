// Graphs: made by a capture, instantiated, launched. What later work needs (nodes by handle, swapping the event of a
// record node) belongs here: an executable graph keeps its own nodes, each with the handle that it had in the graph.

#include "captures.hpp"
#include "contexts.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {

void launch_nodes(machine& m, stream& s, graph const& nodes) {
  // The first and the last piece of work have no duration: they tie the graph to the stream.
  auto const first = enqueue(m, s, 0);
  std::vector<operation_ref> done;
  for (auto const& node : nodes.nodes) {
    std::vector<operation_ref> after;
    for (auto const earlier : node.after) after.push_back(done[earlier]);
    if (after.empty()) after.push_back(first);
    auto const duration = node.kind == node_kind::record ? m.record_duration : node.duration;
    done.push_back(enqueue_unordered(m, duration, after, node.fault));
    if (node.fault != 0) s.home->faults_ahead.push_back(done.back());
    if (node.kind != node_kind::record) continue;
    if (auto const recorded = m.events.find(node.event); recorded != m.events.end()) {
      recorded->second.recorded = done.back();
      recorded->second.captured_by.reset();
    }
  }
  enqueue(m, s, 0, done);
}

}  // namespace
}  // namespace simulated::inside

using namespace simulated::inside;

extern "C" {

#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  return runtime_call("cudaGraphInstantiate", {graph}, [&](auto& c) -> int {
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    auto const found = c.m.graphs.find(graph);
    if (!executable || found == c.m.graphs.end()) return cudaErrorInvalidValue;
    *executable = next_handle<cudaGraphExec_t>(c.m);
    c.m.executables[*executable] = found->second;
    return 0;
  });
}
#endif

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaGraphLaunch", {executable, stream}, [&](auto& c) -> int {
    auto const s = find_stream(c, stream);
    if (s.status != 0) return s.status;
    auto const found = c.m.executables.find(executable);
    if (found == c.m.executables.end()) return cudaErrorInvalidValue;
    if (s.object->captured_by) return capture_node(c.m, *s.object, graph_node{});
    if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
    launch_nodes(c.m, *s.object, found->second);
    return 0;
  });
}

cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream) {
  return cudaGraphLaunch(executable, named(stream, null_means::per_thread));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return runtime_call(
      "cudaGraphDestroy", {graph},
      [&](auto& c) -> int { return c.m.graphs.erase(graph) == 0 ? cudaErrorInvalidValue : cudaSuccess; },
      failing::still_acts);
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  return runtime_call(
      "cudaGraphExecDestroy", {executable},
      [&](auto& c) -> int { return c.m.executables.erase(executable) == 0 ? cudaErrorInvalidValue : cudaSuccess; },
      failing::still_acts);
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return runtime_call("cudaGraphGetNodes", {graph}, [&](auto& c) -> int {
    auto const found = c.m.graphs.find(graph);
    if (!count || found == c.m.graphs.end()) return cudaErrorInvalidValue;
    auto const& all = found->second.nodes;
    if (!nodes) *count = all.size();
    for (std::size_t i = 0; nodes && i < *count && i < all.size(); ++i) nodes[i] = all[i].handle;
    if (nodes && *count > all.size()) *count = all.size();
    return 0;
  });
}

}  // extern "C"
