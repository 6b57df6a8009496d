#pragma once

// What the runtime's and the driver's event functions do.

#include "calls.hpp"

namespace simulated::inside {

int create_event(call_in_progress& c, cudaEvent_t* result, unsigned int flags);
int destroy_event(call_in_progress& c, cudaEvent_t handle);
int record_event(call_in_progress& c, cudaEvent_t handle, cudaStream_t stream, unsigned int flags);
int query_event(call_in_progress& c, cudaEvent_t handle);
int synchronize_event(call_in_progress& c, cudaEvent_t handle);
int elapsed_time(call_in_progress& c, float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

}  // namespace simulated::inside
