#pragma once

// The device: work in streams, when it starts and ends, gates that hold it, work that fails.

#include "calls.hpp"

namespace simulated::inside {

/// Puts work into a stream: behind what is there, behind the streams that a default stream is ordered with, and behind
/// `also_after`.
operation_ref enqueue(machine& m, stream& s, nanos duration, std::vector<operation_ref> const& also_after = {},
                      int fault = 0);
/// Work that only its own dependencies order: a node of a launched graph.
operation_ref enqueue_unordered(machine& m, nanos duration, std::vector<operation_ref> const& after, int fault = 0);

/// Has the device finished this? Nothing at all is finished.
bool is_done(operation_ref const& work);
/// Will this work, which is not done, ever be, or at least its context fail?
outlook outlook_of(context const& home, operation_ref const& work);

/// Waits, on the host's clock. Answers the error of work that failed meanwhile.
int wait_for(call_in_progress& c, operation_ref const& work, context& home);

/// The last work of every stream of this context.
std::vector<operation_ref> all_work(machine& m, context& home);

/// Marks the contexts whose device has reached work that failed.
void notice_faults(machine& m);

}  // namespace simulated::inside
