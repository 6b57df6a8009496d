// Contexts come and go; handles are looked up.

#include "contexts.hpp"

#include <algorithm>
#include <cstdio>

#include "captures.hpp"

namespace simulated::inside {
namespace {

std::string text_of(void const* handle) {
  char text[32];
  std::snprintf(text, sizeof text, "%p", handle);
  return text;
}

/// May an object of this context be used: 0, 709 while the context is gone, its fault, or a fatal misuse.
int standing(call_in_progress& c, context const& home, unsigned long long home_id, char const* what,
             void const* handle) {
  if (home.alive && home.id != home_id) {
    misuse(c.m, std::string(c.name) + ": " + what + " " + text_of(handle) + " belongs to a context that was reset");
    return cudaErrorInvalidResourceHandle;
  }
  if (!home.alive) return cudaErrorContextIsDestroyed;
  return home.fault;
}

stream& per_thread_stream(context& home, int thread) {
  auto& slot = home.per_thread[thread];
  if (!slot) {
    slot = std::make_unique<stream>();
    slot->handle = cudaStreamPerThread;
    slot->home = &home;
    slot->home_id = home.id;
  }
  return *slot;
}

bool is_default(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
}

}  // namespace

void start_context(machine& m, context& home) {
  home.alive = true;
  home.id = ++m.last_context_id;
  home.fault = 0;
  home.faults_ahead.clear();
  home.per_thread.clear();
  home.legacy = std::make_unique<stream>();
  home.legacy->handle = cudaStreamLegacy;
  home.legacy->home = &home;
  home.legacy->home_id = home.id;
}

void end_context(machine& m, context& home) {
  drop_captures(m, home);
  home.alive = false;
  home.kept_by_runtime = false;
  home.retained = 0;
  home.fault = 0;
  home.faults_ahead.clear();
  home.per_thread.clear();
  home.legacy.reset();
  for (auto at = m.registered.begin(); at != m.registered.end();)
    at = at->second.home == &home ? m.registered.erase(at) : std::next(at);
}

context* current_context(thread_state& thread) { return thread.current.empty() ? nullptr : thread.current.back(); }

int current_device(thread_state& thread) {
  auto const* home = current_context(thread);
  return home ? home->device : thread.device;
}

context_answer use_context(call_in_progress& c) {
  auto* home = current_context(c.thread);
  if (c.kind == call_kind::driver) {
    if (!home) return {nullptr, cudaErrorDeviceUninitialized};
    if (!home->alive) return {home, cudaErrorContextIsDestroyed};
    return {home, home->fault};
  }
  if (!home) {
    home = &c.m.contexts[static_cast<std::size_t>(c.thread.device)];
    c.thread.current.push_back(home);
  }
  if (!home->alive) start_context(c.m, *home);
  home->kept_by_runtime = true;
  return {home, home->fault};
}

cudaStream_t named(cudaStream_t handle, null_means meaning) {
  if (handle != nullptr) return handle;
  return meaning == null_means::legacy ? cudaStreamLegacy : cudaStreamPerThread;
}

stream_answer find_stream(call_in_progress& c, cudaStream_t handle) {
  if (is_default(handle)) {
    auto const used = use_context(c);
    if (used.status != 0) return {nullptr, used.status};
    if (handle == cudaStreamPerThread) return {&per_thread_stream(*used.home, c.thread.number), 0};
    return {used.home->legacy.get(), 0};
  }
  auto const found = c.m.streams.find(handle);
  if (found == c.m.streams.end()) {
    misuse(c.m, std::string(c.name) + ": stream " + text_of(handle) + " was destroyed or never created");
    return {nullptr, cudaErrorInvalidResourceHandle};
  }
  auto& s = *found->second;
  int const status = standing(c, *s.home, s.home_id, "stream", handle);
  // The runtime takes a context for the thread even where the stream has its own; the driver does not.
  if (status == 0 && c.kind == call_kind::runtime && !current_context(c.thread)) use_context(c);
  return {&s, status};
}

event_answer find_event(call_in_progress& c, cudaEvent_t handle) {
  if (handle == nullptr) return {nullptr, cudaErrorInvalidResourceHandle};
  auto const found = c.m.events.find(handle);
  if (found == c.m.events.end()) {
    misuse(c.m, std::string(c.name) + ": event " + text_of(handle) + " was destroyed or never created");
    return {nullptr, cudaErrorInvalidResourceHandle};
  }
  auto& e = found->second;
  return {&e, standing(c, *e.home, e.home_id, "event", handle)};
}

stream* stream_for_test(machine& m, cudaStream_t handle) {
  if (is_default(handle)) {
    call_in_progress c{m, this_thread(m), call_kind::runtime, "simulated", nullptr, 0, {}};
    return find_stream(c, named(handle, null_means::legacy)).object;
  }
  auto const found = m.streams.find(handle);
  return found == m.streams.end() ? nullptr : found->second.get();
}

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

bool context_created(int device) {
  at_work at;
  return device >= 0 && device < at.m.options.devices && at.m.contexts[static_cast<std::size_t>(device)].alive;
}

void forget_current_context() {
  at_work at;
  inside::this_thread(at.m).current.clear();
}

}  // namespace simulated
