#pragma once

// What the runtime's and the driver's functions about executable graphs do.

#include "calls.hpp"

namespace simulated::inside {

int instantiate(call_in_progress& c, cudaGraphExec_t* result, cudaGraph_t source, unsigned long long flags);
int destroy_executable(call_in_progress& c, cudaGraphExec_t handle);

/// Gives it the work of another graph with the same nodes. `why`, `node`: what stands in the way, if something does.
struct update_answer {
  int status = 0;
  cudaGraphExecUpdateResult why = cudaGraphExecUpdateSuccess;
  cudaGraphNode_t node = nullptr;
};
update_answer update_executable(call_in_progress& c, cudaGraphExec_t handle, cudaGraph_t source);

/// Changes what later launches record. A launch that is already in its stream keeps its own events.
int swap_event(call_in_progress& c, cudaGraphExec_t handle, cudaGraphNode_t node, cudaEvent_t event);

int launch_executable(call_in_progress& c, cudaGraphExec_t handle, cudaStream_t stream);

}  // namespace simulated::inside
