// The driver's functions. Nobody links them: they are found through the runtime's entry point look-up
// (entry_points.cpp).

#include "driver.hpp"

#include <cstdio>

#include "captures.hpp"
#include "contexts.hpp"
#include "devices.hpp"
#include "events.hpp"
#include "streams.hpp"
#include "wait_values.hpp"

namespace simulated::inside {
namespace {

/// A context handle is a pointer to one of the machine's contexts; anything else is none.
context* context_of(machine& m, CUcontext handle) {
  for (auto& home : m.contexts)
    if (handle == reinterpret_cast<CUcontext>(&home)) return &home;
  return nullptr;
}

CUcontext handle_of(context* home) { return reinterpret_cast<CUcontext>(home); }

bool is_device(machine const& m, int device) { return device >= 0 && device < m.options.devices; }

}  // namespace

// ------------------------------------------------------------------------------------------------------------- events

CUresult cuEventCreate(cudaEvent_t* event, unsigned int flags) {
  return driver_call("cuEventCreate", {}, [&](auto& c) { return create_event(c, event, flags); });
}

CUresult cuEventDestroy(cudaEvent_t event) {
  return driver_call(
      "cuEventDestroy", {event}, [&](auto& c) { return destroy_event(c, event); }, failing::still_acts);
}

CUresult record(cudaEvent_t event, cudaStream_t stream) {
  return driver_call("cuEventRecord", {event, stream}, [&](auto& c) { return record_event(c, event, stream, 0); });
}

CUresult record_with_flags(cudaEvent_t event, cudaStream_t stream, unsigned int flags) {
  return driver_call("cuEventRecordWithFlags", {event, stream},
                     [&](auto& c) { return record_event(c, event, stream, flags); });
}

CUresult cuEventQuery(cudaEvent_t event) {
  return driver_call("cuEventQuery", {event}, [&](auto& c) { return query_event(c, event); });
}

CUresult cuEventSynchronize(cudaEvent_t event) {
  return driver_call("cuEventSynchronize", {event}, [&](auto& c) { return synchronize_event(c, event); });
}

CUresult cuEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  return driver_call("cuEventElapsedTime", {stop}, [&](auto& c) { return elapsed_time(c, milliseconds, start, stop); });
}

// ------------------------------------------------------------------------------------------------------------ streams

CUresult cuStreamCreate(cudaStream_t* stream, unsigned int flags) {
  return driver_call("cuStreamCreate", {}, [&](auto& c) { return create_stream(c, stream, flags, 0); });
}

CUresult cuStreamDestroy(cudaStream_t stream) {
  return driver_call(
      "cuStreamDestroy", {stream, stream}, [&](auto& c) { return destroy_stream(c, stream); }, failing::still_acts);
}

CUresult synchronize(cudaStream_t stream) {
  return driver_call("cuStreamSynchronize", {stream, stream}, [&](auto& c) { return synchronize_stream(c, stream); });
}

CUresult query(cudaStream_t stream) {
  return driver_call("cuStreamQuery", {stream, stream}, [&](auto& c) { return query_stream(c, stream); });
}

CUresult wait(cudaStream_t stream, cudaEvent_t event, unsigned int flags) {
  return driver_call("cuStreamWaitEvent", {event, stream},
                     [&](auto& c) { return wait_event(c, stream, event, flags); });
}

CUresult is_capturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return driver_call("cuStreamIsCapturing", {stream, stream},
                     [&](auto& c) { return stream_is_capturing(c, stream, status); });
}

CUresult get_context(cudaStream_t stream, CUcontext* result) {
  return driver_call("cuStreamGetCtx", {stream, stream}, [&](auto& c) {
    context* home = nullptr;
    int const status = stream_context(c, stream, &home);
    if (status == 0) *result = handle_of(home);
    return status;
  });
}

CUresult cuThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return driver_call(
      "cuThreadExchangeStreamCaptureMode", {}, [&](auto& c) { return exchange_mode(c, mode); }, failing::still_acts);
}

// ----------------------------------------------------------------------------------------------------------- contexts

CUresult cuCtxGetCurrent(CUcontext* result) {
  return driver_call("cuCtxGetCurrent", {}, [&](auto& c) -> int {
    if (!result) return cudaErrorInvalidValue;
    *result = handle_of(current_context(c.thread));
    return 0;
  });
}

CUresult cuCtxPushCurrent(CUcontext handle) {
  return driver_call("cuCtxPushCurrent", {handle}, [&](auto& c) -> int {
    auto* home = context_of(c.m, handle);
    if (!home) return cudaErrorDeviceUninitialized;
    if (!home->alive) return cudaErrorContextIsDestroyed;
    if (home->fault != 0) return home->fault;
    c.thread.current.push_back(home);
    return 0;
  });
}

CUresult cuCtxPopCurrent(CUcontext* result) {
  return driver_call(
      "cuCtxPopCurrent", {},
      [&](auto& c) -> int {
        auto* home = current_context(c.thread);
        if (!home) return cudaErrorDeviceUninitialized;
        c.thread.current.pop_back();
        if (result) *result = handle_of(home);
        return home->fault;
      },
      failing::still_acts);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return driver_call("cuCtxGetId", {handle}, [&](auto& c) -> int {
    if (!id) return cudaErrorInvalidValue;
    auto* home = handle ? context_of(c.m, handle) : current_context(c.thread);
    if (!home) return cudaErrorDeviceUninitialized;
    if (!home->alive) return cudaErrorContextIsDestroyed;
    *id = home->id;
    return 0;
  });
}

CUresult cuCtxGetDevice(int* device) {
  return driver_call("cuCtxGetDevice", {}, [&](auto& c) -> int {
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    if (!device) return cudaErrorInvalidValue;
    *device = used.home->device;
    return 0;
  });
}

CUresult cuCtxSynchronize() {
  return driver_call("cuCtxSynchronize", {}, [&](auto& c) { return synchronize_context(c); });
}

// ------------------------------------------------------------------------------------------------------------ devices

CUresult cuDeviceGet(int* device, int ordinal) {
  return driver_call("cuDeviceGet", {}, [&](auto& c) -> int {
    if (!device) return cudaErrorInvalidValue;
    if (!is_device(c.m, ordinal)) return cudaErrorInvalidDevice;
    *device = ordinal;
    return 0;
  });
}

CUresult cuDeviceGetCount(int* count) {
  return driver_call("cuDeviceGetCount", {}, [&](auto& c) -> int {
    if (!count) return cudaErrorInvalidValue;
    *count = c.m.options.devices;
    return 0;
  });
}

CUresult cuDeviceGetName(char* name, int length, int device) {
  return driver_call("cuDeviceGetName", {}, [&](auto& c) -> int {
    if (!name || length <= 0) return cudaErrorInvalidValue;
    if (!is_device(c.m, device)) return cudaErrorInvalidDevice;
    std::snprintf(name, static_cast<std::size_t>(length), "Simulated device %d", device);
    return 0;
  });
}

CUresult cuDeviceGetAttribute(int* value, int attribute, int device) {
  return driver_call("cuDeviceGetAttribute", {},
                     [&](auto& c) { return device_attribute(c, value, attribute, device); });
}

CUresult uuid_of_part(unsigned char* uuid, int device) {
  return driver_call("cuDeviceGetUuid", {}, [&](auto& c) { return device_uuid(c, uuid, device, uuid_kind::of_part); });
}

CUresult uuid_of_whole(unsigned char* uuid, int device) {
  return driver_call("cuDeviceGetUuid", {}, [&](auto& c) { return device_uuid(c, uuid, device, uuid_kind::of_whole); });
}

CUresult cuDeviceTotalMem(std::size_t* bytes, int device) {
  return driver_call("cuDeviceTotalMem", {}, [&](auto& c) -> int {
    if (!bytes) return cudaErrorInvalidValue;
    if (!is_device(c.m, device)) return cudaErrorInvalidDevice;
    *bytes = std::size_t{80} << 30;
    return 0;
  });
}

CUresult cuDevicePrimaryCtxGetState(int device, unsigned int* flags, int* active) {
  return driver_call("cuDevicePrimaryCtxGetState", {}, [&](auto& c) -> int {
    if (!flags || !active) return cudaErrorInvalidValue;
    if (!is_device(c.m, device)) return cudaErrorInvalidDevice;
    auto const chosen = c.m.scheduling.find(device);
    *flags = chosen == c.m.scheduling.end() ? 0 : chosen->second;
    *active = c.m.contexts[static_cast<std::size_t>(device)].alive ? 1 : 0;
    return 0;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, int device) {
  return driver_call("cuDevicePrimaryCtxRetain", {}, [&](auto& c) -> int {
    if (!result) return cudaErrorInvalidValue;
    if (!is_device(c.m, device)) return cudaErrorInvalidDevice;
    auto& home = c.m.contexts[static_cast<std::size_t>(device)];
    if (home.fault != 0) return home.fault;
    if (!home.alive) start_context(c.m, home);
    ++home.retained;
    *result = handle_of(&home);
    return 0;
  });
}

CUresult cuDevicePrimaryCtxRelease(int device) {
  return driver_call(
      "cuDevicePrimaryCtxRelease", {},
      [&](auto& c) -> int {
        if (!is_device(c.m, device)) return cudaErrorInvalidDevice;
        auto& home = c.m.contexts[static_cast<std::size_t>(device)];
        if (home.retained == 0) return cudaErrorDeviceUninitialized;
        int const status = home.fault;
        if (--home.retained == 0 && !home.kept_by_runtime) end_context(c.m, home);
        return status;
      },
      failing::still_acts);
}

// ------------------------------------------------------------------------------------ waiting for a value in memory

CUresult wait_value(cudaStream_t stream, unsigned long long address, unsigned int value, unsigned int flags) {
  return driver_call("cuStreamWaitValue32", {stream, stream},
                     [&](auto& c) { return wait_for_word(c, stream, address, value, flags); });
}

CUresult cuMemHostRegister(void* memory, std::size_t size, unsigned int flags) {
  return driver_call("cuMemHostRegister", {memory}, [&](auto& c) { return register_memory(c, memory, size, flags); });
}

CUresult cuMemHostGetDevicePointer(unsigned long long* address, void* memory, unsigned int flags) {
  return driver_call("cuMemHostGetDevicePointer", {memory},
                     [&](auto& c) { return device_address(c, address, memory, flags); });
}

CUresult cuProfilerStart() {
  return driver_call("cuProfilerStart", {}, [&](auto& c) { return profile(c, profiler_step::start); });
}

CUresult cuProfilerStop() {
  return driver_call(
      "cuProfilerStop", {}, [&](auto& c) { return profile(c, profiler_step::stop); }, failing::still_acts);
}

}  // namespace simulated::inside
