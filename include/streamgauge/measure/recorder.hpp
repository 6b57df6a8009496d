#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdlib>
#include <cstring>

#include <streamgauge/mark/tool.hpp>
#include <streamgauge/measure/entry_notice.hpp>
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
  /// Sync: waits for the stop event of each finished interval, for no stream of the program's and for no device. Where the
  /// floor of a device is still to be measured, up to 20 ms for a stream of its own. Capture: allowed; the thread's capture
  /// mode is relaxed while it waits.
  /// Throws: only `std::bad_alloc`. What failed while measuring stands in the recording's problems.
  template <class Recording = recording>
  [[nodiscard]] Recording collect() {
    return core_->collect<Recording>();
  }

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
    auto* const core =
        new recorder_core{wanted, wanted == mode::time ? "" : word(wanted) + ", set by STREAMGAUGE", limits};
    if (!known) core->problems().note(trouble::bad_mode, "");
    return core;
  }

  recorder_core* core_;
};

// What only a unit that collects needs is a template, so that the others do not pay for compiling it.

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
  for (lane* each = lanes(); each; each = each->next) wait_for_intervals(*each);
}

// What a graph recorded although nobody told its replays apart: they happened, and left no sample.
inline void recorder_core::look_for_unseen_launches() noexcept {
  if (launches_untold_.load(std::memory_order_relaxed)) return;
  driver_answer const cuda = driver();
  for (lane* each = lanes(); each && cuda.api; each = each->next) {
    brief_guard const guard{each->lock};
    for (timed_slot* slot = each->captured; slot; slot = slot->next)
      if (alive(*cuda.api, slot->pool->context()) && recorded_again(*cuda.api, *slot))
        problems_.note(trouble::unseen_launch, slot->phase);
  }
}

template <class Recording>
void recorder_core::copy_samples(lane& of, Recording& into) {
  auto& all = into.all;
  // A block at a time, copied under the lock and sorted in afterwards: the lane's thread is held up for microseconds.
  std::vector<stored_sample> copied(sample_store::block_size);
  sample_store::block const* block = nullptr;
  {
    brief_guard const guard{of.lock};
    block = of.samples().first();
  }
  while (block) {
    std::size_t count = 0;
    {
      brief_guard const guard{of.lock};
      for (; count < block->used; ++count) copied[count] = block->entries[count];
      block = block->next;
    }
    for (std::size_t i = 0; i < count; ++i) {
      stored_sample const& kept = copied[i];
      if (kept.series == stored_sample::no_series) continue;  // withdrawn
      if (all.size() <= kept.series) all.resize(kept.series + std::size_t{1});
      all[kept.series].samples.push_back(kept.value());
    }
  }
}

// What NVTX said about the phases' own names: it is not asked again, and whatever unit made them has told.
template <class Environment>
void recorder_core::describe_tool(Environment& into) {
  nvtx_answer nvtx = nvtx_answer::not_asked;
  for (phase_entry const* each = entries(); each; each = each->next) {
    bool const taken = each->label.was_taken() || each->warmup_label.was_taken();
    if (!each->marks || !(taken || each->was_entered())) continue;
    if (taken || nvtx == nvtx_answer::not_asked) nvtx = taken ? nvtx_answer::handle : nvtx_answer::nothing;
  }
  seen_tool const seen = tool_of(tool_signs_with(nvtx));
  into.tool = seen.name;
  into.tool_sign = seen.sign;
}

template <class Environment>
void recorder_core::describe_devices(Environment& into) {
  driver_answer const cuda = driver();
  if (!cuda.api) return;
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
      bool known = ordinal < 0 || why_dead(*cuda.api, context) == absence::forked;
      for (auto const& device : into.devices) known = known || device.ordinal == ordinal;
      if (!known) into.devices.push_back(known_device(*cuda.api, context, ordinal));
    }
  }
}

// Whether no interval is open on any thread just now.
inline bool recorder_core::quiet() noexcept {
  for (lane* each = lanes(); each; each = each->next) {
    brief_guard const guard{each->lock};
    if (each->open_intervals > 0) return false;
  }
  return true;
}

// A floor is measured once for each life of a context, so that collecting often stays cheap, and only where it falls into
// no phase: it makes a stream, which holds up every thread that calls CUDA meanwhile.
template <class>
device_description recorder_core::known_device(driver_api const& cuda, context_key context, int ordinal) {
  {
    brief_guard const guard{registry_};
    for (measured_device const* each = devices_; each; each = each->next)
      if (each->context == context) return each->description;
  }
  device_description device = name_device(cuda, ordinal);
  if (!alive(cuda, context)) {
    device.why_no_floor = "the device was reset";
    return device;
  }
  if (windows_open.load(std::memory_order_relaxed) > 0 || guard_is_open()) {
    device.why_no_floor = "a capture was open; it is measured when none is";
    return device;
  }
  if (!quiet()) {
    device.why_no_floor = "a phase was open; it is measured when none is";
    return device;
  }
  measure_floor(cuda, context, device);
  auto* const fresh = new measured_device{context, device};
  brief_guard const guard{registry_};
  fresh->next = devices_;
  devices_ = fresh;
  return device;
}

// Each lane's samples come in the order in which they were entered: one run a lane. Runs are merged in pairs until one is
// left; of two that were entered at the same time the earlier lane's comes first.
template <class Sample>
void bring_into_order(std::vector<Sample>& samples) {
  auto const run_end = [&samples](std::size_t at) {
    while (at + 1 < samples.size() && !(samples[at + 1].entered < samples[at].entered)) ++at;
    return at < samples.size() ? at + 1 : at;
  };
  std::vector<Sample> merged;
  while (run_end(0) < samples.size()) {
    merged.clear();
    merged.reserve(samples.size());
    for (std::size_t begin = 0; begin < samples.size();) {
      std::size_t const middle = run_end(begin);
      std::size_t const end = run_end(middle);
      for (std::size_t left = begin, right = middle; left < middle || right < end;) {
        bool const from_left = right == end || (left < middle && !(samples[right].entered < samples[left].entered));
        merged.push_back(samples[from_left ? left++ : right++]);
      }
      begin = end;
    }
    samples.swap(merged);
  }
}

template <class Recording>
Recording recorder_core::collect() {
  Recording taken;
  taken.recorded = recorded_;
  taken.why_not_measured = why_not_;
  drain();
  look_for_unseen_launches();
  for (lane* each = lanes(); each; each = each->next) copy_samples(*each, taken);
  for (series_node const* node = first_series(); node; node = node->next.load(std::memory_order_acquire)) {
    if (taken.all.size() <= node->index) taken.all.resize(node->index + std::size_t{1});
    auto& each = taken.all[node->index];
    each.phase = node->entry.label.text();
    each.conditions = node->under.values();
    each.warmup = node->entry.warmup;
    each.lost = node->lost.load(std::memory_order_relaxed);
  }
  for (auto& each : taken.all) bring_into_order(each.samples);
  if (recorded_ == mode::time) {
    taken.environment = describe_environment();
    describe_devices(taken.environment);
  } else {
    taken.environment = describe_build();
  }
  if (recorded_ != mode::off) describe_tool(taken.environment);
  if (!taken.environment.tool.empty())
    for (auto& each : taken.all)
      for (auto& one : each.samples) one.watched = true;
  taken.problems = problems_.read();
  hear_watches(taken.problems);
  return taken;
}

}  // namespace streamgauge

#endif
