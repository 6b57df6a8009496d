// The one machine, its threads, and starting afresh.

#include "machine.hpp"

#include <pthread.h>

#include <atomic>

#include "calls.hpp"
#include "clock.hpp"

namespace simulated::inside {
namespace {

// A fork must not happen while another thread is inside the machine: the child would find the lock taken for ever.
void before_fork() { the_machine().lock.lock(); }
void after_fork_in_parent() { the_machine().lock.unlock(); }
void after_fork_in_child() {
  the_machine().forked = true;
  the_machine().lock.unlock();
}

machine* make_machine() {
  uncounted_allocations uncounted;
  auto* m = new machine;
  for (std::size_t i = 0; i < m->contexts.size(); ++i) m->contexts[i].device = static_cast<int>(i);
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  return m;
}

int this_thread_number() {
  static std::atomic<int> next{0};
  thread_local int const number = next.fetch_add(1);
  return number;
}

void forget_contexts(machine& m) {
  // One by one: a long chain of waiting work must not be destroyed by recursion.
  for (auto& work : m.unresolved) work->after.clear();
  m.unresolved.clear();
  m.word_waits.clear();
  m.word_waits_closed = 0;
  m.registered.clear();
  m.captures.clear();
  m.events.clear();
  m.streams.clear();
  m.graphs.clear();
  m.executables.clear();
  m.free_stream_handles.clear();
  m.modules.clear();
  m.kernels.clear();
  for (auto& home : m.contexts) {
    auto const device = home.device;
    home = context{};
    home.device = device;
  }
  for (void* memory : m.allocations) std::free(memory);
  m.allocations.clear();
}

}  // namespace

machine& the_machine() {
  static machine* const m = make_machine();
  return *m;
}

thread_state& this_thread(machine& m) {
  auto const number = this_thread_number();
  while (m.threads.size() <= static_cast<std::size_t>(number)) {
    m.threads.emplace_back();
    m.threads.back().number = static_cast<int>(m.threads.size()) - 1;
  }
  return m.threads[static_cast<std::size_t>(number)];
}

void misuse(machine& m, std::string what) { m.misuses.push_back(std::move(what)); }

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

void reset() { reset(machine_options{}); }

void reset(machine_options const& options) {
  at_work at;
  auto& m = at.m;
  inside::forget_contexts(m);
  m.options = options;
  m.unloading = false;
  m.forked = false;
  m.threads.clear();
  m.record_duration = 0;
  m.clocks.clear();
  m.kernel_duration = 0;
  m.cycle_time = 1;
  m.attributes.clear();
  m.device_memory.clear();
  m.device_memory_size = std::size_t{1} << 36U;
  m.copy_duration = 0;
  m.copies = m.slow_copy = 0;
  m.parts.clear();
  m.scheduling.clear();
  m.poll_step = 100;
  m.poll_limit = 1'000'000;
  m.endless_polls = 0;
  m.events_created = m.events_destroyed = m.streams_created = m.streams_destroyed = 0;
  m.functions_by_literal.clear();
  m.functions.clear();
  m.log.clear();
  m.calls = 0;
  m.sweeps.clear();
  m.injected = 0;
  m.misuses.clear();
  m.profiler.clear();
  m.profiler_stop_action = nullptr;
  inside::host_clock_restart();
}

void begin_unloading() {
  at_work at;
  at.m.unloading = true;
}

void become_forked_child() {
  at_work at;
  at.m.forked = true;
}

void hide_entry_point(std::string_view name) {
  at_work at;
  at.m.options.hidden_entry_points.emplace_back(name);
}

void set_device_attribute(int device, int attribute, int value) {
  at_work at;
  at.m.attributes[{device, attribute}] = value;
}

void make_part(int device) {
  at_work at;
  at.m.parts.insert(device);
}

void set_scheduling(int device, unsigned int flags) {
  at_work at;
  at.m.scheduling[device] = flags;
}

namespace {
std::size_t live(inside::context const& home, unsigned long long id) { return home.alive && home.id == id ? 1 : 0; }
}  // namespace

std::size_t live_events() {
  at_work at;
  std::size_t n = 0;
  for (auto const& e : at.m.events) n += live(*e.second.home, e.second.home_id);
  return n;
}

std::size_t live_streams() {
  at_work at;
  std::size_t n = 0;
  for (auto const& s : at.m.streams) n += live(*s.second->home, s.second->home_id);
  return n;
}

std::size_t live_modules() {
  at_work at;
  std::size_t n = 0;
  for (auto const& each : at.m.modules) n += live(*each.second.home, each.second.home_id);
  return n;
}
std::size_t events_created() {
  at_work at;
  return at.m.events_created;
}
std::size_t events_destroyed() {
  at_work at;
  return at.m.events_destroyed;
}
std::size_t streams_created() {
  at_work at;
  return at.m.streams_created;
}
std::size_t streams_destroyed() {
  at_work at;
  return at.m.streams_destroyed;
}

}  // namespace simulated
