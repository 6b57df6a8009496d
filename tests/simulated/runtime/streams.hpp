#pragma once

// What the runtime's and the driver's stream functions do.

#include "calls.hpp"

namespace simulated::inside {

int create_stream(call_in_progress& c, cudaStream_t* result, unsigned int flags, int priority);
int destroy_stream(call_in_progress& c, cudaStream_t handle);
int synchronize_stream(call_in_progress& c, cudaStream_t handle);
int query_stream(call_in_progress& c, cudaStream_t handle);
int wait_event(call_in_progress& c, cudaStream_t stream, cudaEvent_t event, unsigned int flags);
int stream_is_capturing(call_in_progress& c, cudaStream_t handle, cudaStreamCaptureStatus* status);
int stream_context(call_in_progress& c, cudaStream_t handle, context** result);
/// Work of the user's: a kernel, a copy.
int launch_work(call_in_progress& c, cudaStream_t handle, nanos duration, int fault);

}  // namespace simulated::inside
