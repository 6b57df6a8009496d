#pragma once

// What the runtime's and the driver's functions about devices do.

#include "calls.hpp"

namespace simulated::inside {

int synchronize_context(call_in_progress& c);
int device_attribute(call_in_progress& c, int* value, int attribute, int device);
enum class uuid_kind { of_part, of_whole };
int device_uuid(call_in_progress& c, unsigned char* uuid, int device, uuid_kind kind);
int profile(call_in_progress& c, profiler_step step);

}  // namespace simulated::inside
