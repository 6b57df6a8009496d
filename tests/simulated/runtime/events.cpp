// Events.

#include "events.hpp"

#include <cmath>

#include "captures.hpp"
#include "contexts.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {

constexpr unsigned int external_record = 1;  // cudaEventRecordExternal

/// When the record of this event was done. Requires: it is done.
// What the device's own clock showed when the record was done.
nanos stamp_of(machine const& m, event const& e) {
  nanos const end = *e.recorded->end;
  auto const found = m.clocks.find(e.home->device);
  if (found == m.clocks.end()) return end;
  device_clock const& runs = found->second;
  double const seconds = static_cast<double>(end) / 1e9;
  double const ahead = (runs.drift + runs.change * seconds / 2) * seconds;
  nanos const shown = end + std::llround(ahead * 1e9);
  return shown - shown % runs.tick.count();
}

int usable_for_time(event_answer const& e) {
  if (e.status != 0) return e.status;
  if (int const captured = refuse_captured_event(*e.object)) return captured;
  if (!e.object->timing || !e.object->recorded) return cudaErrorInvalidResourceHandle;
  return 0;
}

}  // namespace

int create_event(call_in_progress& c, cudaEvent_t* result, unsigned int flags) {
  if (!result) return cudaErrorInvalidValue;
  auto const used = use_context(c);
  if (used.status != 0) return used.status;
  auto const handle = next_handle<cudaEvent_t>(c.m);
  auto& e = c.m.events[handle];
  e.home = used.home;
  e.home_id = used.home->id;
  e.timing = (flags & cudaEventDisableTiming) == 0;
  ++c.m.events_created;
  *result = handle;
  return 0;
}

int destroy_event(call_in_progress& c, cudaEvent_t handle) {
  if (handle == nullptr) {
    misuse(c.m, std::string(c.name) + ": a null event");
    return cudaErrorInvalidResourceHandle;
  }
  auto const e = find_event(c, handle);
  if (!e.object) return e.status;
  if (e.status == cudaErrorContextIsDestroyed && c.kind == call_kind::runtime) return cudaErrorDeviceUninitialized;
  if (e.status == cudaErrorContextIsDestroyed || e.status == cudaErrorInvalidResourceHandle) return e.status;
  // After a fault the event goes all the same, and the fault is reported.
  c.m.events.erase(handle);
  ++c.m.events_destroyed;
  return e.status;
}

int record_event(call_in_progress& c, cudaEvent_t handle, cudaStream_t stream_handle, unsigned int flags) {
  auto const s = find_stream(c, stream_handle);
  if (s.status != 0) return s.status;
  auto const e = find_event(c, handle);
  if (e.status != 0) return e.status;
  if (e.object->home != s.object->home) return cudaErrorInvalidResourceHandle;
  if (s.object->captured_by) {
    if ((flags & external_record) != 0) {
      graph_node node;
      node.kind = node_kind::record;
      node.event = handle;
      node.home = s.object->home;
      return capture_node(c.m, *s.object, node);
    }
    if (s.object->captured_by->invalidated) return cudaErrorStreamCaptureInvalidated;
    e.object->captured_by = s.object->captured_by;
    e.object->captured_tail = s.object->captured_tail;
    return 0;
  }
  if (int const implicit = refuse_implicit(c, *s.object, harm::invalidates)) return implicit;
  e.object->captured_by.reset();
  e.object->captured_tail.clear();
  e.object->recorded = enqueue(c.m, *s.object, c.m.record_duration);
  return 0;
}

int query_event(call_in_progress& c, cudaEvent_t handle) {
  auto const e = find_event(c, handle);
  if (e.status != 0) return e.status;
  if (int const captured = refuse_captured_event(*e.object)) return captured;
  if (int const unsafe = refuse_unsafe(c)) return unsafe;
  if (is_done(e.object->recorded)) return 0;
  return answer_not_ready(c, outlook_of(*e.object->home, e.object->recorded));
}

int synchronize_event(call_in_progress& c, cudaEvent_t handle) {
  auto const e = find_event(c, handle);
  if (e.status != 0) return e.status;
  if (int const captured = refuse_captured_event(*e.object)) return captured;
  if (int const unsafe = refuse_unsafe(c)) return unsafe;
  return wait_for(c, e.object->recorded, *e.object->home);
}

int elapsed_time(call_in_progress& c, float* milliseconds, cudaEvent_t start_handle, cudaEvent_t stop_handle) {
  if (!milliseconds) return cudaErrorInvalidValue;
  auto const start = find_event(c, start_handle);
  if (int const status = usable_for_time(start)) return status;
  auto const stop = find_event(c, stop_handle);
  if (int const status = usable_for_time(stop)) return status;
  if (start.object->home != stop.object->home) return cudaErrorInvalidResourceHandle;
  for (auto const& recorded : {start.object->recorded, stop.object->recorded})
    if (!is_done(recorded)) return answer_not_ready(c, outlook_of(*start.object->home, recorded));
  const nanos difference = stamp_of(c.m, *stop.object) - stamp_of(c.m, *start.object);
  *milliseconds = static_cast<float>(static_cast<double>(difference) / 1e6);
  return 0;
}

}  // namespace simulated::inside

using namespace simulated::inside;

extern "C" {

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return runtime_call("cudaEventCreate", {}, [&](auto& c) { return create_event(c, event, cudaEventDefault); });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags) {
  return runtime_call("cudaEventCreateWithFlags", {}, [&](auto& c) { return create_event(c, event, flags); });
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return runtime_call(
      "cudaEventDestroy", {event}, [&](auto& c) { return destroy_event(c, event); }, failing::still_acts);
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaEventRecord", {event, stream}, [&](auto& c) { return record_event(c, event, stream, 0); });
}

cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecord(event, named(stream, null_means::per_thread));
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  stream = named(stream, null_means::legacy);
  return runtime_call("cudaEventRecordWithFlags", {event, stream},
                      [&](auto& c) { return record_event(c, event, stream, flags); });
}

cudaError_t cudaEventRecordWithFlags_ptsz(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return cudaEventRecordWithFlags(event, named(stream, null_means::per_thread), flags);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return runtime_call("cudaEventQuery", {event}, [&](auto& c) { return query_event(c, event); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return runtime_call("cudaEventSynchronize", {event}, [&](auto& c) { return synchronize_event(c, event); });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return runtime_call("cudaEventElapsedTime", {stop},
                      [&](auto& c) { return elapsed_time(c, milliseconds, start, stop); });
}

// What the macro of the headers 12.8 to 12.9 may name.
cudaError_t cudaEventElapsedTime_v2(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return cudaEventElapsedTime(milliseconds, start, stop);
}

}  // extern "C"
