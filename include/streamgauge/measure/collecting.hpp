#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/mark/tool.hpp>
#include <streamgauge/measure/entry_notice.hpp>
#include <streamgauge/measure/describing_devices.hpp>

namespace streamgauge {

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

// Keeps the samples of all lanes where they are while they are copied.
// Why: what was read among the newest would otherwise be read among the older ones once more, or the other way round.
class samples_held {
 public:
  explicit samples_held(lane* newest) noexcept : newest_{newest} { change(1); }
  samples_held(samples_held const&) = delete;
  samples_held& operator=(samples_held const&) = delete;
  ~samples_held() { change(-1); }

 private:
  void change(int by) noexcept {
    for (lane* each = newest_; each; each = each->next) {
      brief_guard const guard{each->lock};
      each->samples().readers += static_cast<unsigned int>(by);
    }
  }
  lane* newest_;
};

// Of a series that some lane could not keep whole: every sample counts in the totals, few stay. `counted`: in which it
// does already.
template <class Recording, class Stored>
void keep_one(Recording& into, Stored const& kept, series_totals const* counted, std::size_t nth) {
  auto& of = into.all[kept.series];
  if (of.totals && !counted && !of.totals->add(kept)) ++of.lost;
  if (nth < samples_at_head || stays_at(of.kept_one_in, kept)) of.samples.push_back(kept.value());
}

// Of the series that some lane could not keep whole, all lanes are brought to one stride.
template <class Recording>
void recorder_core::copy_samples(Recording& into) {
  lane* const newest = lanes();
  samples_held const held{newest};
  for (lane* of = newest; of; of = of->next) {
    for (sample_shelf const* shelf = of->samples().older().first(); shelf; shelf = shelf->next) {
      if (!shelf->totals() || shelf->series >= into.all.size()) continue;
      auto& all = into.all[shelf->series];
      if (!all.totals) all.totals.emplace();
      if (shelf->stride() > all.kept_one_in) all.kept_one_in = shelf->stride();
    }
  }
  for (lane* of = newest; of; of = of->next) copy_samples(*of, into);
  if (clocks.calls) clocks.calls->place_samples(clocks, into);
  std::uint64_t stride = 1;
  for (auto const& each : into.all)
    if (each.kept_one_in > stride && holds_spans(each)) stride = each.kept_one_in;
  part_spans(stride, into.all);
}

template <class Recording>
void recorder_core::copy_samples(lane& of, Recording& into) {
  std::vector<std::size_t> copied_of(into.all.size());
  for (sample_shelf const* shelf = of.samples().older().first(); shelf; shelf = shelf->next) {
    if (shelf->series >= into.all.size()) continue;
    auto& all = into.all[shelf->series];
    if (shelf->totals() && !all.totals->merge(*shelf->totals())) all.lost += shelf->totals()->count;
    for (std::size_t i = 0; i < shelf->size(); ++i) keep_one(into, (*shelf)[i], shelf->totals(), i);
    copied_of[shelf->series] = shelf->size();
  }
  // A block at a time, copied under the lock and sorted in afterwards: the lane's thread is held up for microseconds.
  std::vector<stored_sample> copied(sample_store::block_size);
  sample_store::block const* block = nullptr;
  {
    brief_guard const guard{of.lock};
    block = of.samples().newest().first();
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
      // Withdrawn, or of a series that came up since.
      if (kept.series == stored_sample::no_series || kept.series >= into.all.size()) continue;
      keep_one(into, kept, nullptr, copied_of[kept.series]++);
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
  // First, while the device may still be at it.
  if (device_reader* const reader = describing.reader.load(std::memory_order_acquire)) reader->read(*this);
  // Before and after what is read now: between two anchors a moment is placed best.
  anchor_clocks_now();
  drain();
  look_for_unseen_launches();
  anchor_clocks_now();
  for (series_node const* node = first_series(); node; node = node->next.load(std::memory_order_acquire)) {
    taken.all.emplace_back();
    auto& each = taken.all.back();
    each.phase = node->entry.label.text();
    each.domain = node->entry.domain;
    each.conditions = node->under.values();
    each.warmup = node->entry.warmup;
    each.kind = node->entry.kind.load(std::memory_order_relaxed);
    if (auto const* const declared = node->work.load(std::memory_order_acquire)) each.work = *declared;
    each.lost = node->lost.load(std::memory_order_relaxed);
  }
  copy_samples(taken);
  streams_.describe(taken.streams);
  for (auto& each : taken.all) bring_into_order(each.samples);
  if (recorded_ == mode::time) {
    taken.environment = describe_environment<Recording>();
    describe_tool(taken.environment);
    describe_devices(taken.environment);
  } else {
    taken.environment = describe_build<Recording>();
    if (recorded_ == mode::mark) describe_tool(taken.environment);
  }
  describing.describe(taken.environment);
  if (!taken.environment.tool.empty())
    for (auto& each : taken.all) {
      for (auto& one : each.samples) one.watched = true;
      if (each.totals) each.totals->watched = each.totals->count;
    }
  taken.problems = problems_.read();
  hear_watches(taken.problems);
  return taken;
}

}  // namespace streamgauge

#endif
