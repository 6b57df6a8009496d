#pragma once

// Contexts, the current one of each thread, and how a call finds the objects that its handles name.

#include "calls.hpp"

namespace simulated::inside {

void start_context(machine& m, context& home);
void end_context(machine& m, context& home);

/// The context on top of this thread's stack, or none.
context* current_context(thread_state& thread);

/// The device that a runtime call of this thread means.
int current_device(thread_state& thread);

/// A context to work in: a runtime call makes and takes the primary one of its device, a driver call needs one current.
struct context_answer {
  context* home = nullptr;
  int status = 0;
};
context_answer use_context(call_in_progress& c);

/// What a default stream's handle becomes. `null_means`: the stream that a null handle stands for in this function.
enum class null_means { legacy, per_thread };
cudaStream_t named(cudaStream_t handle, null_means meaning);

struct stream_answer {
  stream* object = nullptr;
  int status = 0;
};
struct event_answer {
  event* object = nullptr;
  int status = 0;
};
/// Using what was destroyed, or what belongs to a context that died and started again, is a fatal misuse.
stream_answer find_stream(call_in_progress& c, cudaStream_t handle);
event_answer find_event(call_in_progress& c, cudaEvent_t handle);

/// For the test's own functions: no status, no misuse; starts the context for a default stream.
stream* stream_for_test(machine& m, cudaStream_t handle);

}  // namespace simulated::inside
