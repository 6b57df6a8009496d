#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/recorder_core.hpp>

namespace streamgauge {

// How a recorder describes the devices that samples came from. What only a unit that collects needs is a template.

// A context that several lanes use is visited as often.
template <class Visit>
void recorder_core::visit_contexts(Visit visit) {
  for (lane* each = lanes(); each; each = each->next) {
    for (std::size_t i = 0;; ++i) {
      context_key context;
      int ordinal = -1;
      {
        brief_guard const guard{each->lock};
        event_pool const* pool = each->pools();
        for (std::size_t skip = i; pool && skip > 0; --skip) pool = pool->next;
        if (!pool) break;
        context = pool->context();
        ordinal = pool->device();
      }
      if (ordinal >= 0) visit(context, ordinal);
    }
  }
}

template <class Environment>
void recorder_core::describe_devices(Environment& into) {
  driver_answer const cuda = driver();
  if (!cuda.api) return;
  visit_contexts([&](context_key context, int ordinal) {
    for (auto const& device : into.devices)
      if (device.ordinal == ordinal) return;
    if (why_dead(*cuda.api, context) == absence::forked) return;
    into.devices.push_back(known_device(*cuda.api, context, ordinal));
    if (kernel_floor_adder const add = kernel_floor.load(std::memory_order_relaxed))
      add(*this, *cuda.api, context, into.tool, into.devices.back());
    if (device_reader* const reader = describing.reader.load(std::memory_order_acquire))
      reader->describe(into.devices.back());
  });
}

// Whether no interval is open on any thread just now.
inline bool recorder_core::quiet() noexcept {
  for (lane* each = lanes(); each; each = each->next) {
    brief_guard const guard{each->lock};
    if (each->open_intervals > 0) return false;
  }
  return true;
}

// Why no floor may be measured in the context now; null: it may. Only where it falls into no phase: it makes a stream,
// which holds up every thread that calls CUDA meanwhile.
inline char const* recorder_core::why_not_now(driver_api const& cuda, context_key context) noexcept {
  if (!alive(cuda, context)) return "the device was reset";
  if (windows_open.load(std::memory_order_relaxed) > 0 || guard_is_open())
    return "a capture was open; it is measured when none is";
  return quiet() ? nullptr : "a phase was open; it is measured when none is";
}

// A floor is measured once for each life of a context, so that collecting often stays cheap.
template <class>
device_description recorder_core::known_device(driver_api const& cuda, context_key context, int ordinal) {
  {
    brief_guard const guard{registry_};
    if (measured_device const* const known = find_device_locked(context)) return known->description;
  }
  device_description device = name_device(cuda, ordinal);
  if (char const* const why_not = why_not_now(cuda, context)) {
    device.why_no_floor = why_not;
    return device;
  }
  measure_floor(cuda, context, device);
  auto* const fresh = new measured_device{context, device};
  brief_guard const guard{registry_};
  if (measured_device const* const known = find_device_locked(context)) {
    delete fresh;  // another thread was quicker
    return known->description;
  }
  fresh->next = devices_;
  devices_ = fresh;
  return device;
}

}  // namespace streamgauge

#endif
