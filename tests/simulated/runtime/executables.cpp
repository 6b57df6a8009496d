// Executable graphs: made from a graph, updated, launched.

#include "executables.hpp"

#include "captures.hpp"
#include "contexts.hpp"
#include "device.hpp"
#include "graphs.hpp"

namespace simulated::inside {
namespace {

/// Is there a record inside what stands for the body of a conditional node?
bool records_conditionally(graph const& all) {
  for (auto const& node : all.nodes) {
    if (!node.child) continue;
    if (node.child->conditional_body ? has_record(*node.child) : records_conditionally(*node.child)) return true;
  }
  return false;
}

update_answer compare(graph const& running, graph const& wanted) {
  if (running.nodes.size() != wanted.nodes.size())
    return {cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdateErrorTopologyChanged, nullptr};
  for (std::size_t i = 0; i < wanted.nodes.size(); ++i) {
    auto const& from = running.nodes[i];
    auto const& to = wanted.nodes[i];
    if (from.kind != to.kind)
      return {cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdateErrorNodeTypeChanged, to.handle};
    if (!from.child) continue;
    if (auto const inner = compare(*from.child, *to.child); inner.status != 0) return inner;
  }
  return {};
}

/// Takes over everything but the handles: the nodes of the first graph go on naming those of the executable.
void take_over(graph& running, graph const& wanted) {
  for (std::size_t i = 0; i < wanted.nodes.size(); ++i) {
    auto& to = running.nodes[i];
    auto const handle = to.handle;
    auto const child = to.child;
    to = wanted.nodes[i];
    to.handle = handle;
    to.child = child;
    if (child) take_over(*child, *wanted.nodes[i].child);
  }
}

std::vector<operation_ref> submit(machine& m, stream& s, graph const& all, std::vector<operation_ref> const& behind);

operation_ref submit(machine& m, stream& s, graph_node const& node, std::vector<operation_ref> after) {
  if (node.child) {
    auto const inner = submit(m, s, *node.child, after);
    return enqueue_unordered(m, 0, inner.empty() ? after : inner);
  }
  auto const found = m.events.find(node.event);
  auto* e = found == m.events.end() ? nullptr : &found->second;
  // On an H200 it went well for some events and crashed the process for others, as their memory was or was not reused.
  if (node.event && !e) misuse(m, "a graph is launched that records an event which was destroyed");
  if (node.kind == node_kind::wait && e && e->recorded) after.push_back(e->recorded);
  auto const duration = node.kind == node_kind::record ? m.record_duration : node.duration;
  auto work = enqueue_unordered(m, duration, after, node.fault);
  if (node.fault != 0) s.home->faults_ahead.push_back(work);
  if (node.kind == node_kind::record && e) {
    // Already now, not when the device comes there: until then the event answers "not ready", never its old time.
    e->recorded = work;
    e->captured_by.reset();
    e->captured_tail.clear();
  }
  return work;
}

/// Each node starts as soon as what it depends on has ended, and those that depend on nothing do so `behind`.
std::vector<operation_ref> submit(machine& m, stream& s, graph const& all, std::vector<operation_ref> const& behind) {
  std::vector<operation_ref> done;
  for (auto const& node : all.nodes) {
    std::vector<operation_ref> after;
    for (auto const earlier : node.after) after.push_back(done[earlier]);
    done.push_back(submit(m, s, node, after.empty() ? behind : std::move(after)));
  }
  return done;
}

executable* find_executable(machine& m, cudaGraphExec_t handle) {
  auto const found = m.executables.find(handle);
  return found == m.executables.end() ? nullptr : &found->second;
}

}  // namespace

int instantiate(call_in_progress& c, cudaGraphExec_t* result, cudaGraph_t source, unsigned long long flags) {
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  auto const* found = find_graph(c.m, source);
  if (!result || !found) return cudaErrorInvalidValue;
  bool const for_device = (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
  if (records_conditionally(*found) || (for_device && has_record(*found))) return cudaErrorInvalidValue;
  *result = next_handle<cudaGraphExec_t>(c.m);
  auto& made = c.m.executables[*result];
  made.nodes = copy_of(c.m, *found, handles::kept);
  made.source = source;
  return 0;
}

int destroy_executable(call_in_progress& c, cudaGraphExec_t handle) {
  return c.m.executables.erase(handle) == 0 ? cudaErrorInvalidValue : cudaSuccess;
}

update_answer update_executable(call_in_progress& c, cudaGraphExec_t handle, cudaGraph_t source) {
  if (auto const used = use_context(c); used.status != 0) return {used.status, cudaGraphExecUpdateError, nullptr};
  auto* running = find_executable(c.m, handle);
  auto const* wanted = find_graph(c.m, source);
  if (!running || !wanted) return {cudaErrorInvalidValue, cudaGraphExecUpdateError, nullptr};
  auto const answer = compare(running->nodes, *wanted);
  if (answer.status == 0) take_over(running->nodes, *wanted);
  return answer;
}

int swap_event(call_in_progress& c, cudaGraphExec_t handle, cudaGraphNode_t node_handle, cudaEvent_t event) {
  auto* running = find_executable(c.m, handle);
  if (!running || !find_graph(c.m, running->source)) return cudaErrorInvalidValue;
  auto* node = node_in(running->nodes, node_handle);
  if (!node || node->kind != node_kind::record) return cudaErrorInvalidValue;
  if (int const refused = check_event(c, *node, event)) return refused;
  node->event = event;
  return 0;
}

int launch_executable(call_in_progress& c, cudaGraphExec_t handle, cudaStream_t stream_handle) {
  auto const s = find_stream(c, stream_handle);
  if (s.status != 0) return s.status;
  auto* running = find_executable(c.m, handle);
  if (!running) return cudaErrorInvalidValue;
  if (s.object->captured_by) {
    graph_node node;
    node.kind = node_kind::child;
    node.child = std::make_shared<graph>(copy_of(c.m, running->nodes, handles::fresh));
    return capture_node(c.m, *s.object, std::move(node));
  }
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  // The first and the last piece of work have no duration: they tie the graph to the stream.
  auto const first = enqueue(c.m, *s.object, 0, {running->last_launch});
  running->last_launch = enqueue(c.m, *s.object, 0, submit(c.m, *s.object, running->nodes, {first}));
  return 0;
}

}  // namespace simulated::inside
