#pragma once

// What the runtime's and the driver's functions about devices do.

#include "calls.hpp"

namespace simulated::inside {

int synchronize_context(call_in_progress& c);
int device_attribute(call_in_progress& c, int* value, int attribute, int device);
int profile(call_in_progress& c, profiler_step step);

}  // namespace simulated::inside
