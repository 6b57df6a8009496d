// The log of calls, their costs, the injection of errors, and what the state of the process refuses.

#include "calls.hpp"

#include <cstring>

#include "clock.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {

constexpr std::size_t log_capacity = 1'000'000;

bool is_one_of(char const* name, std::initializer_list<char const*> names) {
  for (char const* other : names)
    if (std::strcmp(name, other) == 0) return true;
  return false;
}

function_record& function_of(call_in_progress& c) {
  auto& known = c.m.functions_by_literal[c.name];
  if (!known) known = &function_named(c.m, c.name);
  return *known;
}

std::optional<int> injection(call_in_progress& c) {
  if (user_scope_depth() > 0) return {};
  auto& function = *c.function;
  std::optional<int> status;
  ++function.seen;
  if (auto const found = function.failures.find(function.seen); found != function.failures.end()) {
    status = found->second;
    function.failures.erase(found);
  }
  if (function.kind != answers_always::the_last_error) {
    for (auto& sweep : c.m.sweeps) {
      if (sweep.left == 0 || (!sweep.names.empty() && sweep.names.count(c.name) == 0)) continue;
      if (--sweep.left == 0) status = sweep.status;
    }
  }
  if (status) ++c.m.injected;
  return status;
}

}  // namespace

function_record& function_named(machine& m, std::string_view name) {
  if (auto const found = m.functions.find(name); found != m.functions.end()) return found->second;
  auto& function = m.functions[std::string(name)];
  if (name == "cudaPeekAtLastError" || name == "cudaGetLastError") function.kind = answers_always::the_last_error;
  if (name == "cudaDriverGetVersion" || name == "cudaRuntimeGetVersion") function.kind = answers_always::a_version;
  return function;
}

int& user_scope_depth() {
  thread_local int depth = 0;
  return depth;
}

void begin_call(call_in_progress& c, subject const& about) {
  c.function = &function_of(c);
  auto& function = *c.function;
  auto const at = host_clock();
  look_at_words(c.m);
  if (function.cost != 0) host_clock_advance(function.cost);
  ++function.calls;
  c.log_index = c.m.calls++;
  if (c.log_index < log_capacity)
    c.m.log.push_back({c.thread.number, c.kind, c.name, about.symbol ? about.symbol : "", about.handle, about.stream, 0,
                       nanoseconds{at}, user_scope_depth() > 0});
  c.injected = injection(c);
  notice_faults(c.m);
}

std::optional<int> refused(call_in_progress const& c) {
  if (c.function->kind == answers_always::the_last_error) return {};
  if (c.m.unloading) return cudaErrorCudartUnloading;
  if (c.function->kind == answers_always::a_version) return {};
  if (c.m.forked) {
    if (is_one_of(c.name, {"cuStreamIsCapturing", "cuStreamGetCtx", "cuEventRecord"})) return 0;
    return cudaErrorInitializationError;
  }
  auto const& options = c.m.options;
  if (options.driver_state == driver::missing || options.driver_version / 1000 < options.runtime_version / 1000)
    return cudaErrorInsufficientDriver;
  if (options.devices == 0 && !is_one_of(c.name, {"cuDeviceGetCount"})) return cudaErrorNoDevice;
  return {};
}

void end_call(call_in_progress const& c, int status) {
  if (c.log_index < c.m.log.size()) c.m.log[c.log_index].result = status;
  if (c.kind == call_kind::driver || c.function->kind == answers_always::the_last_error) return;
  if (status != 0 && status != cudaErrorNotReady) c.thread.last_error = status;
}

int answer_not_ready(call_in_progress& c, outlook o) {
  host_clock_advance(c.m.poll_step);
  if (o == outlook::endless && ++c.m.endless_polls > c.m.poll_limit) {
    misuse(c.m, std::string(c.name) + " polls for ever: the work is held");
    return cudaErrorUnknown;
  }
  return cudaErrorNotReady;
}

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

void set_cost(std::string_view name, nanoseconds cost) {
  at_work at;
  if (name == "steady_clock::now")
    inside::set_clock_cost(cost.count());
  else
    inside::function_named(at.m, name).cost = cost.count();
}

std::vector<call> log() {
  at_work at;
  return at.m.log;
}

std::vector<std::string> logged_names() {
  at_work at;
  std::vector<std::string> names;
  for (auto const& call : at.m.log)
    if (call.kind != call_kind::look_up) names.emplace_back(call.name);
  return names;
}

std::size_t count(std::string_view name) {
  at_work at;
  auto const found = at.m.functions.find(name);
  return found == at.m.functions.end() ? 0 : found->second.calls;
}

std::size_t count_all() {
  at_work at;
  return at.m.calls;
}

void clear_log() {
  at_work at;
  at.m.log.clear();
  at.m.calls = 0;
  for (auto& function : at.m.functions) function.second.calls = 0;
}

user_scope::user_scope() { ++inside::user_scope_depth(); }
user_scope::~user_scope() { --inside::user_scope_depth(); }

std::vector<profiler_call> profiler_log() {
  at_work at;
  return at.m.profiler;
}

void set_profiler_stop_action(void (*action)()) {
  at_work at;
  at.m.profiler_stop_action = action;
}

void fail_nth(std::string_view name, std::size_t n, int status) {
  at_work at;
  auto& function = inside::function_named(at.m, name);
  function.failures.emplace(function.seen + n, status);
}

void fail_nth_call(std::size_t n, int status, std::vector<std::string> const& names) {
  at_work at;
  at.m.sweeps.push_back({n, status, {names.begin(), names.end()}});
}

std::size_t injected_failures() {
  at_work at;
  return at.m.injected;
}

void clear_injections() {
  at_work at;
  at.m.sweeps.clear();
  for (auto& function : at.m.functions) function.second.failures.clear();
}

std::vector<std::string> fatal_misuses() {
  at_work at;
  return at.m.misuses;
}

void clear_fatal_misuses() {
  at_work at;
  at.m.misuses.clear();
}

}  // namespace simulated
