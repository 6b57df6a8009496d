// Graphs and their nodes.

#include "graphs.hpp"

#include <algorithm>

#include "contexts.hpp"

namespace simulated::inside {
namespace {

graph* graph_in(graph& all, cudaGraph_t handle) {
  if (all.handle == handle) return &all;
  for (auto& node : all.nodes)
    if (graph* found = node.child ? graph_in(*node.child, handle) : nullptr) return found;
  return nullptr;
}

graph_node* find_node(machine& m, cudaGraphNode_t handle) {
  for (auto& entry : m.graphs)
    if (auto* found = node_in(entry.second, handle)) return found;
  for (auto& taken : m.captures)
    if (auto* found = node_in(taken->nodes, handle)) return found;
  return nullptr;
}

int type_of(graph_node const& node) {
  constexpr int conditional = 13;  // cudaGraphNodeTypeConditional, which the headers have since 12.3
  switch (node.kind) {
    case node_kind::kernel: return cudaGraphNodeTypeKernel;
    case node_kind::record: return cudaGraphNodeTypeEventRecord;
    case node_kind::wait: return cudaGraphNodeTypeWaitEvent;
    case node_kind::child: return node.child->conditional_body ? conditional : cudaGraphNodeTypeGraph;
    case node_kind::empty: break;
  }
  return cudaGraphNodeTypeEmpty;
}

}  // namespace

graph* find_graph(machine& m, cudaGraph_t handle) {
  for (auto& entry : m.graphs)
    if (auto* found = graph_in(entry.second, handle)) return found;
  return nullptr;
}

graph* find_graph_to_read(machine& m, cudaGraph_t handle) {
  for (auto& taken : m.captures)
    if (auto* found = graph_in(taken->nodes, handle)) return found;
  return find_graph(m, handle);
}

graph_node* node_in(graph& all, cudaGraphNode_t handle) {
  for (auto& node : all.nodes) {
    if (node.handle == handle) return &node;
    if (graph_node* found = node.child ? node_in(*node.child, handle) : nullptr) return found;
  }
  return nullptr;
}

bool has_record(graph const& all) {
  return std::any_of(all.nodes.begin(), all.nodes.end(), [](auto const& node) {
    return node.kind == node_kind::record || (node.child && has_record(*node.child));
  });
}

graph copy_of(machine& m, graph const& original, handles h) {
  auto copy = original;
  if (h == handles::fresh) copy.handle = next_handle<cudaGraph_t>(m);
  for (auto& node : copy.nodes) {
    if (h == handles::fresh) {
      node.copied_from = node.handle;
      node.handle = next_handle<cudaGraphNode_t>(m);
    }
    if (node.child) node.child = std::make_shared<graph>(copy_of(m, *node.child, h));
  }
  return copy;
}

int create_graph(call_in_progress& c, cudaGraph_t* result) {
  if (!result) return cudaErrorInvalidValue;
  *result = next_handle<cudaGraph_t>(c.m);
  c.m.graphs[*result].handle = *result;
  return 0;
}

int clone_graph(call_in_progress& c, cudaGraph_t* result, cudaGraph_t original) {
  auto const* found = find_graph(c.m, original);
  if (!result || !found) return cudaErrorInvalidValue;
  auto copy = copy_of(c.m, *found, handles::fresh);
  *result = copy.handle;
  c.m.graphs[copy.handle] = std::move(copy);
  return 0;
}

int destroy_graph(call_in_progress& c, cudaGraph_t handle) {
  // A child's own graph is not among them (assumed): it goes with its parent.
  return c.m.graphs.erase(handle) == 0 ? cudaErrorInvalidValue : cudaSuccess;
}

int add_child(call_in_progress& c, cudaGraphNode_t* result, cudaGraph_t parent, cudaGraphNode_t const* after,
              std::size_t count, cudaGraph_t child) {
  auto* into = find_graph(c.m, parent);
  auto const* original = find_graph(c.m, child);
  if (!result || !into || !original || (count != 0 && !after)) return cudaErrorInvalidValue;
  graph_node node;
  node.kind = node_kind::child;
  for (std::size_t i = 0; i < count; ++i) {
    auto const found = std::find_if(into->nodes.begin(), into->nodes.end(),
                                    [&](auto const& earlier) { return earlier.handle == after[i]; });
    if (found == into->nodes.end()) return cudaErrorInvalidValue;
    node.after.push_back(static_cast<std::size_t>(found - into->nodes.begin()));
  }
  node.child = std::make_shared<graph>(copy_of(c.m, *original, handles::fresh));
  node.handle = next_handle<cudaGraphNode_t>(c.m);
  *result = node.handle;
  into->nodes.push_back(std::move(node));
  return 0;
}

int graph_nodes(call_in_progress& c, cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count) {
  auto const* found = find_graph_to_read(c.m, handle);
  if (!count || !found) return cudaErrorInvalidValue;
  auto const& all = found->nodes;
  for (std::size_t i = 0; nodes && i < *count; ++i) nodes[i] = i < all.size() ? all[i].handle : nullptr;
  *count = nodes ? std::min(*count, all.size()) : all.size();
  return 0;
}

int find_in_clone(call_in_progress& c, cudaGraphNode_t* result, cudaGraphNode_t original, cudaGraph_t clone) {
  // Assumed: the graph of a child graph node is a clone in this sense too.
  auto const* found = find_graph(c.m, clone);
  if (!result || !original || !found) return cudaErrorInvalidValue;
  for (auto const& node : found->nodes) {
    if (node.copied_from != original) continue;
    *result = node.handle;
    return 0;
  }
  return cudaErrorInvalidValue;
}

int node_type(call_in_progress& c, cudaGraphNode_t handle, int* type) {
  auto const* node = find_node(c.m, handle);
  if (!type || !node) return cudaErrorInvalidValue;
  *type = type_of(*node);
  return 0;
}

int child_graph(call_in_progress& c, cudaGraphNode_t handle, cudaGraph_t* result) {
  auto const* node = find_node(c.m, handle);
  if (!result || !node || type_of(*node) != cudaGraphNodeTypeGraph) return cudaErrorInvalidValue;
  *result = node->child->handle;
  return 0;
}

int recorded_event(call_in_progress& c, cudaGraphNode_t handle, cudaEvent_t* result) {
  auto const* node = find_node(c.m, handle);
  if (!result || !node || node->kind != node_kind::record) return cudaErrorInvalidValue;
  *result = node->event;  // whether it still lives or not
  return 0;
}

int check_event(call_in_progress& c, graph_node const& node, cudaEvent_t event) {
  auto const e = find_event(c, event);
  if (e.status != 0) return e.status;
  // Assumed, after what a record on a stream of another device's context answers.
  return e.object->home == node.home ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

int set_event(call_in_progress& c, cudaGraphNode_t handle, cudaEvent_t event) {
  auto* node = find_node(c.m, handle);
  if (!node || node->kind != node_kind::record) return cudaErrorInvalidValue;
  if (int const refused = check_event(c, *node, event)) return refused;
  node->event = event;
  return 0;
}

}  // namespace simulated::inside

namespace simulated {

void mark_conditional_body(cudaGraph_t handle) {
  inside::at_work at;
  auto* found = inside::find_graph(at.m, handle);
  if (!found) return inside::misuse(at.m, "simulated::mark_conditional_body: no such graph");
  found->conditional_body = true;
}

}  // namespace simulated
