// Streams, and the work that users put into them.

#include "streams.hpp"

#include "captures.hpp"
#include "contexts.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {
constexpr unsigned int external_wait = 1;  // cudaEventWaitExternal
}  // namespace

int create_stream(call_in_progress& c, cudaStream_t* result, unsigned int flags, int priority) {
  if (!result) return cudaErrorInvalidValue;
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  auto s = std::make_unique<stream>();
  // The handle of the stream destroyed last comes back first, as on a real machine.
  if (c.m.free_stream_handles.empty()) {
    s->handle = next_handle<cudaStream_t>(c.m);
  } else {
    s->handle = c.m.free_stream_handles.back();
    c.m.free_stream_handles.pop_back();
  }
  s->home = used.home;
  s->home_id = used.home->id;
  s->blocking = (flags & cudaStreamNonBlocking) == 0;
  s->priority = priority;
  *result = s->handle;
  c.m.streams[s->handle] = std::move(s);
  ++c.m.streams_created;
  return 0;
}

int destroy_stream(call_in_progress& c, cudaStream_t handle) {
  if (handle == nullptr) {
    misuse(c.m, std::string(c.name) + ": a null stream");
    return cudaErrorInvalidResourceHandle;
  }
  if (handle == cudaStreamLegacy || handle == cudaStreamPerThread) return cudaErrorInvalidResourceHandle;
  auto const s = find_stream(c, handle);
  if (!s.object) return s.status;
  if (s.status == cudaErrorContextIsDestroyed && c.kind == call_kind::runtime) return cudaErrorDeviceUninitialized;
  if (s.status == cudaErrorContextIsDestroyed || s.status == cudaErrorInvalidResourceHandle) return s.status;
  abandon_capture(c.m, *s.object);
  c.m.streams.erase(handle);
  c.m.free_stream_handles.push_back(handle);
  ++c.m.streams_destroyed;
  return s.status;
}

int synchronize_stream(call_in_progress& c, cudaStream_t handle) {
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (int const captured = refuse_captured(*s.object)) return captured;
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  if (int const unsafe = refuse_unsafe(c)) return unsafe;
  return wait_for(c, s.object->last, *s.object->home);
}

int query_stream(call_in_progress& c, cudaStream_t handle) {
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (int const captured = refuse_captured(*s.object)) return captured;
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  if (int const unsafe = refuse_unsafe(c)) return unsafe;
  if (is_done(s.object->last)) return 0;
  return answer_not_ready(c, outlook_of(*s.object->home, s.object->last));
}

int wait_event(call_in_progress& c, cudaStream_t stream_handle, cudaEvent_t event_handle, unsigned int flags) {
  auto const s = find_stream(c, stream_handle);
  if (s.status != 0) return s.status;
  auto const e = find_event(c, event_handle);
  if (e.status != 0) return e.status;
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  if (s.object->captured_by && (flags & external_wait) != 0) {
    graph_node node;
    node.kind = node_kind::wait;
    node.event = event_handle;
    return capture_node(c.m, *s.object, node);
  }
  if (e.object->captured_by) return capture_wait(*s.object, *e.object);
  if (s.object->captured_by) {
    if (s.object->captured_by->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (!e.object->recorded) return 0;
    s.object->captured_by->invalidated = true;
    return cudaErrorStreamCaptureIsolation;
  }
  if (e.object->recorded) enqueue(c.m, *s.object, 0, {e.object->recorded});
  return 0;
}

int stream_is_capturing(call_in_progress& c, cudaStream_t handle, cudaStreamCaptureStatus* status) {
  if (!status) return cudaErrorInvalidValue;
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (int const implicit = refuse_implicit(c, *s.object, harm::none)) return implicit;
  *status = capture_status(*s.object);
  return 0;
}

int stream_context(call_in_progress& c, cudaStream_t handle, context** result) {
  if (!result) return cudaErrorInvalidValue;
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  *result = s.object->home;
  return 0;
}

int launch_work(call_in_progress& c, cudaStream_t handle, nanos duration, int fault) {
  auto const s = find_stream(c, handle);
  if (s.status != 0) return s.status;
  if (s.object->captured_by) {
    graph_node node;
    node.kind = node_kind::kernel;
    node.duration = duration;
    node.fault = fault;
    return capture_node(c.m, *s.object, node);
  }
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  enqueue(c.m, *s.object, duration, {}, fault);
  return 0;
}

}  // namespace simulated::inside

using namespace simulated::inside;

namespace simulated {

cudaError_t launch(cudaStream_t stream, nanoseconds duration) { return fault(stream, cudaSuccess, duration); }

cudaError_t fault(cudaStream_t stream, cudaError_t error, nanoseconds duration) {
  user_scope user;
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaLaunchKernel", {stream, stream},
                      [&](auto& c) { return launch_work(c, stream, duration.count(), error); });
}

cudaError_t first_launch(cudaStream_t stream, nanoseconds duration) {
  user_scope user;
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaLaunchKernel", {stream, stream}, [&](auto& c) {
    auto const s = find_stream(c, stream);
    if (s.status != 0) return s.status;
    auto& home = *s.object->home;
    for (auto const& work : all_work(c.m, home))
      if (int const status = wait_for(c, work, home)) return status;
    return launch_work(c, stream, duration.count(), 0);
  });
}

}  // namespace simulated

extern "C" {

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return runtime_call("cudaStreamCreate", {}, [&](auto& c) { return create_stream(c, stream, 0, 0); });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags) {
  return runtime_call("cudaStreamCreateWithFlags", {}, [&](auto& c) { return create_stream(c, stream, flags, 0); });
}

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  return runtime_call("cudaStreamCreateWithPriority", {},
                      [&](auto& c) { return create_stream(c, stream, flags, priority); });
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return runtime_call(
      "cudaStreamDestroy", {stream, stream}, [&](auto& c) { return destroy_stream(c, stream); }, failing::still_acts);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamSynchronize", {stream, stream},
                      [&](auto& c) { return synchronize_stream(c, stream); });
}

cudaError_t cudaStreamSynchronize_ptsz(cudaStream_t stream) {
  return cudaStreamSynchronize(named(stream, null_means::per_thread));
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamQuery", {stream, stream}, [&](auto& c) { return query_stream(c, stream); });
}

cudaError_t cudaStreamQuery_ptsz(cudaStream_t stream) { return cudaStreamQuery(named(stream, null_means::per_thread)); }

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamWaitEvent", {event, stream},
                      [&](auto& c) { return wait_event(c, stream, event, flags); });
}

cudaError_t cudaStreamWaitEvent_ptsz(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return cudaStreamWaitEvent(named(stream, null_means::per_thread), event, flags);
}

// A nanosecond for a thousand bytes.
cudaError_t cudaMemsetAsync(void* memory, int, size_t bytes, cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaMemsetAsync", {memory, stream}, [&](auto& c) -> int {
    if (c.m.allocations.count(memory) == 0) return cudaErrorInvalidValue;
    return launch_work(c, stream, static_cast<nanos>(bytes / 1000), 0);
  });
}

cudaError_t cudaMemsetAsync_ptsz(void* memory, int value, size_t bytes, cudaStream_t stream) {
  return cudaMemsetAsync(memory, value, bytes, named(stream, null_means::per_thread));
}

#if CUDART_VERSION >= 12080
cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaStreamGetDevice", {stream, stream}, [&](auto& c) -> int {
    if (!device) return cudaErrorInvalidValue;
    auto const s = find_stream(c, stream);
    if (s.status != 0) return s.status;
    if (int const captured = refuse_captured(*s.object)) return captured;
    if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
    *device = s.object->home->device;
    return 0;
  });
}

cudaError_t cudaStreamGetDevice_ptsz(cudaStream_t stream, int* device) {
  return cudaStreamGetDevice(named(stream, null_means::per_thread), device);
}
#endif

}  // extern "C"
