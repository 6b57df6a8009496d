#pragma once

// Waiting for values in the host's memory, and the memory that a device may look at.

#include "calls.hpp"

namespace simulated::inside {

int register_memory(call_in_progress& c, void* memory, std::size_t size, unsigned int flags);
int device_address(call_in_progress& c, unsigned long long* address, void* memory, unsigned int flags);
int wait_for_word(call_in_progress& c, cudaStream_t handle, unsigned long long address, unsigned int value,
                  unsigned int flags);

}  // namespace simulated::inside
