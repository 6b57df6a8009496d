#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdlib>
#include <cstring>

#include <streamgauge/measure/thread_lanes.hpp>

namespace streamgauge {

/// Keeps what phases see and yields it as a recording.
/// Why: results come back long after the host has gone on, so open intervals are kept until the device has passed them,
/// and read without ever waiting unless the program asks.
/// Requires: it outlives the scopes of its phases; phases and started executions may outlive it.
/// Threads: any; each thread keeps its samples in a lane of its own.
/// Sync: only `collect` waits.
class recorder {
 public:
  /// The mode comes from the environment variable STREAMGAUGE (off, mark, time); unset, it is `time`.
  explicit recorder(capacity limits = {}) : core_{make(limits)} {}

  /// The mode is the program's decision; the environment is not asked.
  explicit recorder(mode wanted, capacity limits = {})
      : core_{new recorder_core{wanted, wanted == mode::time ? "" : word(wanted) + ", set in code", limits}} {}

  recorder(recorder const&) = delete;
  recorder& operator=(recorder const&) = delete;
  ~recorder() {
    core_->close();
    core_->release();
  }

  /// Everything so far, phases that are still open as incomplete. It may be called again; samples stay until the recorder
  /// ends.
  /// Sync: waits for the stop event of each finished interval, no stream and no device. Capture: allowed; the thread's
  /// capture mode is relaxed while it waits.
  /// Throws: only `std::bad_alloc`. What failed while measuring stands in the recording's problems.
  [[nodiscard]] recording collect() { return core_->collect(); }

  /// Waits for every finished interval and reads it.
  /// Sync: as `collect`.
  void drain() noexcept { core_->drain(); }

  [[nodiscard]] mode recorded() const noexcept { return core_->recorded(); }
  [[nodiscard]] recorder_core& core() const noexcept { return *core_; }

 private:
  static std::string word(mode of) { return of == mode::off ? "off" : of == mode::mark ? "mark" : "time"; }

  [[nodiscard]] static recorder_core* make(capacity limits) {
    char const* const set = std::getenv("STREAMGAUGE");
    mode wanted = mode::time;
    bool known = !set || !*set;
    for (mode const each : {mode::off, mode::mark, mode::time}) {
      if (!known && word(each) == set) {
        wanted = each;
        known = true;
      }
    }
    auto* const core = new recorder_core{wanted, wanted == mode::time ? "" : word(wanted) + ", set by STREAMGAUGE", limits};
    if (!known) core->problems().note(trouble::bad_mode, "");
    return core;
  }

  recorder_core* core_;
};

inline void recorder_core::wait_for_intervals(lane& of) noexcept {
  driver_answer const cuda = driver();
  if (!cuda.api) return;
  std::uint64_t last = 0;
  {
    brief_guard const guard{of.lock};
    last = of.last_ticket();
  }
  // Waited for first and read then: an answer "not ready" would be right, and compute-sanitizer would list it as an error.
  for (;;) {
    timed_slot waited;
    {
      brief_guard const guard{of.lock};
      timed_slot const* const slot = of.worth_waiting_for(*cuda.api, last);
      if (!slot) return;
      waited = *slot;
    }
    // Not under the lock: the lane's thread goes on meanwhile. If it reads this interval first and records the event
    // again, the wait lasts a little longer, and the ticket tells that there is nothing left to give up.
    int const status = wait_until_passed(*cuda.api, waited.stop);
    brief_guard const guard{of.lock};
    of.read_up_to(*cuda.api, waited, status);
  }
}

inline void recorder_core::drain() noexcept {
  for (lane* each = first_lane(); each; each = each->next) wait_for_intervals(*each);
}

inline void recorder_core::copy_samples(lane& of, std::vector<series>& all) {
  lane::block const* block = nullptr;
  {
    brief_guard const guard{of.lock};
    block = of.first_block();
  }
  while (block) {
    brief_guard const guard{of.lock};
    for (std::size_t i = 0; i < block->used; ++i) {
      stored_sample const& kept = block->entries[i];
      if (all.size() <= kept.series) all.resize(kept.series + std::size_t{1});
      all[kept.series].samples.push_back(kept.value);
    }
    block = block->next;
  }
}

inline void recorder_core::describe_devices(environment& into) {
  driver_answer const cuda = driver();
  if (!cuda.api) return;
  for (lane* each = first_lane(); each; each = each->next) {
    std::vector<std::pair<context_key, int>> used;
    {
      brief_guard const guard{each->lock};
      for (event_pool const* pool = each->pools(); pool; pool = pool->next) used.push_back({pool->context(), pool->device()});
    }
    for (auto const& [context, ordinal] : used) {
      auto const same = [ordinal = ordinal](device_description const& device) { return device.ordinal == ordinal; };
      if (std::any_of(into.devices.begin(), into.devices.end(), same) || !alive(*cuda.api, context)) continue;
      into.devices.push_back(known_device(*cuda.api, context, ordinal));
    }
  }
}

// Whether no interval is open on any thread just now.
inline bool recorder_core::quiet() noexcept {
  for (lane* each = first_lane(); each; each = each->next) {
    brief_guard const guard{each->lock};
    if (each->open_intervals > 0) return false;
  }
  return true;
}

// A floor is measured once for each life of a context, so that collecting often stays cheap, and only where it falls into
// no phase: it makes a stream, which holds up every thread that calls CUDA meanwhile.
inline device_description recorder_core::known_device(driver_api const& cuda, context_key context, int ordinal) {
  {
    brief_guard const guard{registry_};
    for (auto const& [key, device] : devices_)
      if (key == context) return device;
  }
  device_description device = name_device(cuda, ordinal);
  if (!quiet()) {
    device.why_no_floor = "a phase was open; it is measured when none is";
    return device;
  }
  measure_floor(cuda, context, device);
  brief_guard const guard{registry_};
  devices_.push_back({context, device});
  return device;
}

inline recording recorder_core::collect() {
  recording taken;
  taken.recorded = recorded_;
  taken.why_not_measured = why_not_;
  drain();
  for (lane* each = first_lane(); each; each = each->next) copy_samples(*each, taken.all);
  {
    brief_guard const guard{registry_};
    taken.all.resize((std::max)(taken.all.size(), std::size_t{series_count_}));
    for (series_node const* node = first_series(); node; node = node->next.load(std::memory_order_relaxed)) {
      series& each = taken.all[node->index];
      each.phase = node->entry.label.text();
      each.conditions = node->under.values();
      each.warmup = node->entry.warmup;
      each.lost = node->lost.load(std::memory_order_relaxed);
    }
  }
  // Lanes hold their samples in order; several threads are brought into one order here.
  auto const earlier = [](sample const& a, sample const& b) { return a.entered < b.entered; };
  for (series& each : taken.all)
    if (!std::is_sorted(each.samples.begin(), each.samples.end(), earlier))
      std::stable_sort(each.samples.begin(), each.samples.end(), earlier);
  if (recorded_ == mode::time) {
    taken.environment = describe_environment();
    describe_devices(taken.environment);
  } else {
    taken.environment = describe_build();
  }
  taken.problems = problems_.read();
  return taken;
}

}  // namespace streamgauge

#endif
