// Captures of streams.

#include "captures.hpp"

#include <algorithm>

#include "contexts.hpp"

namespace simulated::inside {
namespace {

std::vector<stream*> streams_in(machine& m, capture const& taken) {
  std::vector<stream*> list;
  for (auto& s : m.streams)
    if (s.second->captured_by.get() == &taken) list.push_back(s.second.get());
  for (auto& home : m.contexts)
    for (auto& s : home.per_thread)
      if (s.second->captured_by.get() == &taken) list.push_back(s.second.get());
  return list;
}

bool forbids_unsafe(capture const& taken, thread_state const& thread) {
  if (thread.mode == cudaStreamCaptureModeRelaxed) return false;
  if (taken.thread == thread.number) return taken.mode != cudaStreamCaptureModeRelaxed;
  return thread.mode == cudaStreamCaptureModeGlobal && taken.mode == cudaStreamCaptureModeGlobal;
}

void merge(std::vector<std::size_t>& into, std::vector<std::size_t> const& more) {
  into.insert(into.end(), more.begin(), more.end());
  std::sort(into.begin(), into.end());
  into.erase(std::unique(into.begin(), into.end()), into.end());
}

/// Is every node of every stream in the capture behind the end of its origin?
bool all_joined(machine& m, capture const& taken, stream const& origin) {
  std::vector<bool> reached(taken.nodes.nodes.size(), false);
  for (auto const node : origin.captured_tail) reached[node] = true;
  for (auto node = taken.nodes.nodes.size(); node-- > 0;)
    if (reached[node])
      for (auto const earlier : taken.nodes.nodes[node].after) reached[earlier] = true;
  for (auto const* s : streams_in(m, taken))
    for (auto const node : s->captured_tail)
      if (!reached[node]) return false;
  return true;
}

void finish(machine& m, std::shared_ptr<capture> const& taken) {
  for (auto* s : streams_in(m, *taken)) {
    s->captured_by.reset();
    s->captured_tail.clear();
  }
  taken->ended = true;
  m.captures.erase(std::remove(m.captures.begin(), m.captures.end(), taken), m.captures.end());
}

}  // namespace

int refuse_unsafe(call_in_progress& c) {
  int status = 0;
  for (auto& taken : c.m.captures) {
    if (!forbids_unsafe(*taken, c.thread)) continue;
    taken->invalidated = true;
    status = cudaErrorStreamCaptureUnsupported;
  }
  return status;
}

int refuse_implicit(call_in_progress& c, stream const& s, harm h) {
  if (&s != s.home->legacy.get()) return 0;
  int status = 0;
  for (auto& taken : c.m.captures) {
    if (taken->home != s.home) continue;
    for (auto const* other : streams_in(c.m, *taken)) {
      if (!other->blocking) continue;
      status = cudaErrorStreamCaptureImplicit;
      if (h == harm::invalidates) taken->invalidated = true;
    }
  }
  return status;
}

bool invalidate_all(machine& m, context const& home) {
  bool any = false;
  for (auto& taken : m.captures) {
    if (taken->home != &home) continue;
    taken->invalidated = true;
    any = true;
  }
  return any;
}

int refuse_captured(stream& s) {
  if (!s.captured_by) return 0;
  s.captured_by->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

int capture_node(machine& m, stream& s, graph_node node) {
  auto& taken = *s.captured_by;
  if (taken.invalidated) return cudaErrorStreamCaptureInvalidated;
  node.after = s.captured_tail;
  node.handle = next_handle<cudaGraphNode_t>(m);
  taken.nodes.nodes.push_back(std::move(node));
  s.captured_tail = {taken.nodes.nodes.size() - 1};
  return 0;
}

int capture_wait(stream& s, event const& e) {
  auto& taken = e.captured_by;
  if (taken->ended) return cudaErrorInvalidValue;
  if (taken->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (s.captured_by && s.captured_by != taken) {
    s.captured_by->invalidated = true;
    taken->invalidated = true;
    return cudaErrorStreamCaptureMerge;
  }
  s.captured_by = taken;
  merge(s.captured_tail, e.captured_tail);
  return 0;
}

int refuse_captured_event(event const& e) {
  if (!e.captured_by) return 0;
  return e.captured_by->ended ? cudaErrorInvalidValue : cudaErrorCapturedEvent;
}

cudaStreamCaptureStatus capture_status(stream const& s) {
  if (!s.captured_by) return cudaStreamCaptureStatusNone;
  return s.captured_by->invalidated ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
}

int capture_info(call_in_progress& c, cudaStream_t handle, capture_details const& wanted) {
  if (!wanted.status) return cudaErrorInvalidValue;
  auto const found = find_stream(c, handle);
  if (found.status != 0) return found.status;
  auto& s = *found.object;
  if (int const implicit = refuse_implicit(c, s, harm::none)) return implicit;
  *wanted.status = capture_status(s);
  s.dependencies.clear();
  if (auto const& taken = s.captured_by; taken && !taken->invalidated) {
    for (auto const node : s.captured_tail) s.dependencies.push_back(taken->nodes.nodes[node].handle);
    if (wanted.id) *wanted.id = taken->id;
    if (wanted.graph) *wanted.graph = taken->nodes.handle;
  }
  if (wanted.dependencies) *wanted.dependencies = s.dependencies.data();
  if (wanted.count) *wanted.count = s.dependencies.size();
  return 0;
}

int begin_capture(call_in_progress& c, stream& s, cudaStreamCaptureMode mode) {
  if (&s == s.home->legacy.get()) return cudaErrorStreamCaptureUnsupported;
  if (s.captured_by) return cudaErrorIllegalState;
  auto taken = std::make_shared<capture>();
  taken->id = ++c.m.last_capture_id;
  taken->mode = mode;
  taken->thread = c.thread.number;
  taken->origin = s.handle;
  taken->home = s.home;
  taken->nodes.handle = next_handle<cudaGraph_t>(c.m);
  c.m.captures.push_back(taken);
  s.captured_by = std::move(taken);
  s.captured_tail.clear();
  return 0;
}

int end_capture(call_in_progress& c, stream& s, cudaGraph_t* result) {
  if (result) *result = nullptr;
  auto const taken = s.captured_by;
  if (!taken) return cudaErrorIllegalState;
  if (taken->origin != s.handle) return cudaErrorStreamCaptureUnmatched;
  if (taken->thread != c.thread.number && taken->mode != cudaStreamCaptureModeRelaxed)
    return cudaErrorStreamCaptureWrongThread;
  bool const joined = all_joined(c.m, *taken, s);
  finish(c.m, taken);
  if (taken->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (!joined) return cudaErrorStreamCaptureUnjoined;
  auto const handle = taken->nodes.handle;
  c.m.graphs[handle] = std::move(taken->nodes);
  if (result) *result = handle;
  return 0;
}

void abandon_capture(machine& m, stream& s) {
  auto const taken = s.captured_by;
  if (!taken) return;
  taken->invalidated = true;
  if (taken->origin == s.handle) finish(m, taken);
}

void drop_captures(machine& m, context const& home) {
  auto const list = m.captures;
  for (auto const& taken : list)
    if (taken->home == &home) finish(m, taken);
}

int exchange_mode(call_in_progress& c, cudaStreamCaptureMode* mode) {
  if (!mode) return cudaErrorInvalidValue;
  auto& before = c.thread.modes_before;
  auto const previous = c.thread.mode;
  bool const back = !before.empty() && before.back() == *mode;
  // A call that is to fail still puts a mode back: nobody could do anything about it otherwise.
  if (c.injected && !back) return 0;
  if (back)
    before.pop_back();
  else
    before.push_back(previous);
  c.thread.mode = *mode;
  *mode = previous;
  return 0;
}

}  // namespace simulated::inside
