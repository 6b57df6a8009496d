#pragma once

// Stream captures: which calls they take in, which they refuse, which break them.

#include "calls.hpp"

namespace simulated::inside {

/// For calls that are unsafe beside a capture (query, synchronise, allocate): 900 and every capture that forbids the
/// call is invalidated, or 0. The mode of the calling thread and of the captures decide.
int refuse_unsafe(call_in_progress& c);

/// For calls on the legacy stream: 906 while a blocking stream of its context is being captured, or 0.
enum class harm { none, invalidates };
int refuse_implicit(call_in_progress& c, stream const& s, harm h);

/// Invalidates every capture in this context, as a device synchronise does. Answers whether there was one.
bool invalidate_all(machine& m, context const& home);

/// Answers 900 and invalidates the capture if this very stream is being captured, or 0.
int refuse_captured(stream& s);

/// Takes work into the capture of a captured stream: 0, or 901 if that capture is invalidated.
int capture_node(machine& m, stream& s, graph_node node);

/// Lets a stream join the capture of an event, or take in its dependency.
int capture_wait(stream& s, event const& e);

/// What asking an event of a capture answers: 907 while the capture goes on, 1 afterwards, 0 for an ordinary event.
int refuse_captured_event(event const& e);

cudaStreamCaptureStatus capture_status(stream const& s);

/// Where the answers about a stream's capture go; only the status must be asked for.
struct capture_details {
  cudaStreamCaptureStatus* status = nullptr;
  unsigned long long* id = nullptr;
  cudaGraph_t* graph = nullptr;
  cudaGraphNode_t const** dependencies = nullptr;  ///< what the next captured work will depend on
  size_t* count = nullptr;
};
/// The dependencies stay where they are until somebody asks about the same stream again.
int capture_info(call_in_progress& c, cudaStream_t handle, capture_details const& wanted);

int begin_capture(call_in_progress& c, stream& s, cudaStreamCaptureMode mode);
int end_capture(call_in_progress& c, stream& s, cudaGraph_t* result);

/// A stream that is destroyed invalidates its capture; destroying the origin ends it.
void abandon_capture(machine& m, stream& s);

/// Forgets the captures of a context that ends.
void drop_captures(machine& m, context const& home);

int exchange_mode(call_in_progress& c, cudaStreamCaptureMode* mode);

}  // namespace simulated::inside
