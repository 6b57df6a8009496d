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

/// A wait for a word of the host's, for everything behind it in the stream.
void enqueue_word_wait(machine& m, stream& s, word_wait until);
/// Looks at the words that work waits for: what the host has written meanwhile was written now. So it is called before the
/// clock moves, and whenever something is asked.
void look_at_words(machine& m);
/// The same for who does not hold the machine's lock.
void look_at_words();

/// Has the device finished this? Nothing at all is finished.
bool is_done(operation_ref const& work);
/// Will this work, which is not done, ever be, or at least its context fail?
outlook outlook_of(context const& home, operation_ref const& work);

/// Waits, on the host's clock. Answers the error of work that failed meanwhile. What waits for a word of the host's has no
/// end on that clock, so it is waited for really: other threads go on meanwhile, and one of them has to write the word.
int wait_for(call_in_progress& c, operation_ref const& work, context& home);

/// The last work of every stream of this context.
std::vector<operation_ref> all_work(machine& m, context& home);

/// Marks the contexts whose device has reached work that failed.
void notice_faults(machine& m);

}  // namespace simulated::inside
