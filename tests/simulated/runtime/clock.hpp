#pragma once

#include "machine.hpp"

namespace simulated::inside {

/// The host's clock is read without the lock, as often as the program likes.
nanos host_clock();
void host_clock_advance(nanos duration);
/// Moves the clock forward to `time`; never back.
void host_clock_reach(nanos time);
void host_clock_restart();
void set_clock_cost(nanos cost);
/// What the steady clock answers: its own cost is paid first.
nanos read_steady_clock();

}  // namespace simulated::inside
