#pragma once

// What the runtime's and the driver's functions about graphs and their nodes do. The handle of a graph that was
// destroyed, and of a node that went with it, answers `cudaErrorInvalidValue`: measured for swapping an event, assumed
// for the rest.

#include "calls.hpp"

namespace simulated::inside {

/// A graph by its handle, a child's own graph among them; null if there is none. The second also finds a graph that is
/// still being captured, which may be looked at but not used.
graph* find_graph(machine& m, cudaGraph_t handle);
graph* find_graph_to_read(machine& m, cudaGraph_t handle);

/// The node of this graph or of a child in it; null if there is none.
graph_node* node_in(graph& all, cudaGraphNode_t handle);
bool has_record(graph const& all);

/// A deep copy. What the user sees is a graph of its own, with fresh handles; an executable keeps those of its graph.
enum class handles { kept, fresh };
graph copy_of(machine& m, graph const& original, handles h);

int create_graph(call_in_progress& c, cudaGraph_t* result);
int clone_graph(call_in_progress& c, cudaGraph_t* result, cudaGraph_t original);
int destroy_graph(call_in_progress& c, cudaGraph_t handle);
int add_child(call_in_progress& c, cudaGraphNode_t* result, cudaGraph_t parent, cudaGraphNode_t const* after,
              std::size_t count, cudaGraph_t child);

int graph_nodes(call_in_progress& c, cudaGraph_t handle, cudaGraphNode_t* nodes, std::size_t* count);
int find_in_clone(call_in_progress& c, cudaGraphNode_t* result, cudaGraphNode_t original, cudaGraph_t clone);
/// The number that CUDA gives to this kind of node.
int node_type(call_in_progress& c, cudaGraphNode_t handle, int* type);
int child_graph(call_in_progress& c, cudaGraphNode_t handle, cudaGraph_t* result);
int recorded_event(call_in_progress& c, cudaGraphNode_t handle, cudaEvent_t* result);

/// May this node record this event: 0, or what setting it answers.
int check_event(call_in_progress& c, graph_node const& node, cudaEvent_t event);
/// What later instantiations of the graph record.
int set_event(call_in_progress& c, cudaGraphNode_t handle, cudaEvent_t event);

}  // namespace simulated::inside
