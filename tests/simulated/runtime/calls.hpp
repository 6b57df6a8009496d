#pragma once

// Every function of the runtime and the driver is one call of `runtime_call` or `driver_call`: lock, cost, log,
// injection, availability, then the function's own body, then the last error.

#include <initializer_list>

#include "allocation_count.hpp"
#include "machine.hpp"

namespace simulated::inside {

/// The machine, locked, with allocations that do not count.
struct at_work {
  uncounted_allocations uncounted;
  machine& m;
  std::unique_lock<std::mutex> guard;
  at_work() : m(the_machine()), guard(m.lock) {}
};

/// What a call is about, for the log.
struct subject {
  void const* handle = nullptr;
  void const* stream = nullptr;
  char const* symbol = nullptr;
};

/// What a call does whose failure is injected: nothing, or its work all the same (what undoes something).
enum class failing { skips, still_acts };

/// The call in progress, as its body sees it.
struct call_in_progress {
  machine& m;
  thread_state& thread;
  call_kind kind;
  char const* name;
  function_record* function = nullptr;
  std::size_t log_index = 0;
  std::optional<int> injected;
};

/// What the machine keeps for a function; made when it is first asked for.
function_record& function_named(machine& m, std::string_view name);

void begin_call(call_in_progress& c, subject const& about);
/// What the state of the process answers in place of the function: no driver, unloading, forked.
std::optional<int> refused(call_in_progress const& c);
void end_call(call_in_progress const& c, int status);

template <class Body>
int make_call(call_kind kind, char const* name, subject const& about, Body&& body, failing f) {
  at_work at;
  call_in_progress c{at.m, this_thread(at.m), kind, name, nullptr, 0, {}};
  begin_call(c, about);
  int status = 0;
  if (auto const refusal = refused(c))
    status = *refusal;
  else if (!c.injected || f == failing::still_acts)
    status = body(c);
  if (c.injected) status = *c.injected;
  end_call(c, status);
  return status;
}

template <class Body>
cudaError_t runtime_call(char const* name, subject const& about, Body&& body, failing f = failing::skips) {
  return static_cast<cudaError_t>(make_call(call_kind::runtime, name, about, body, f));
}

template <class Body>
int driver_call(char const* name, subject const& about, Body&& body, failing f = failing::skips) {
  return make_call(call_kind::driver, name, about, body, f);
}

/// The answer of a poll whose work is not done: the host clock moves on, or the polling would never end.
/// `endless`: nothing in sight will ever finish that work.
enum class outlook { will_finish, endless };
int answer_not_ready(call_in_progress& c, outlook o);

/// Is this thread inside a `user_scope`?
int& user_scope_depth();

}  // namespace simulated::inside
