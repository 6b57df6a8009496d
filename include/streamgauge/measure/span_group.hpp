#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/lane.hpp>

namespace streamgauge {

/// One execution of a span on one device: the intervals of its branches until all of them were read.
/// Why: where a branch begins within its span is told by elapsed time against an event in common, so no event of a span
/// goes back to its pool before the last one was reached.
/// Threads: under the lock of its lane.
struct span_group : slot_keeper {
  lane* in = nullptr;
  event_pool* pool = nullptr;      ///< whose context the branches share
  stored_sample* where = nullptr;  ///< the span's sample on this device; null while graphs alone will give samples
  timed_slot* first = nullptr;     ///< the event in common is its start
  timed_slot* last = nullptr;
  std::uint32_t series = 0;         ///< the span's, for the samples of replays
  std::uint32_t parent = 0;         ///< what the span was entered in
  std::uint32_t records = 0;        ///< event records within the span, for the samples of replays
  std::uint32_t number = 0;         ///< `sample::span`
  std::uint32_t open = 0;           ///< intervals that are neither read nor given up
  std::uint32_t branches = 0;       ///< those among them whose branch is still open
  bool ended = false;               ///< the span is over: nothing is added any more
  bool in_graph = false;            ///< a graph records it, once for each replay: this is what it is made after
  absence spoiled = absence::none;  ///< why the span has no device time, whatever its branches have
  span_group* next = nullptr;       ///< the same span on another device

  span_group() noexcept : slot_keeper{&settle_one, &delete_all} {}

  /// A group of the lane's; null without memory.
  /// Why: a lane's first span makes as many as its events can need, and no later one makes any.
  [[nodiscard]] static span_group* take(lane& in) noexcept {
    auto* group = static_cast<span_group*>(in.spare_keeper());
    if (!group && make_more(in)) group = static_cast<span_group*>(in.spare_keeper());
    if (!group) return nullptr;
    slot_keeper* const made_before = group->next_made;
    *group = span_group{};
    group->next_made = made_before;
    group->in = &in;
    return group;
  }

  void add(timed_slot& slot) noexcept {
    slot.keeper = this;
    slot.beside = nullptr;
    (last ? last->beside : first) = &slot;
    last = &slot;
    ++open;
  }

  /// Whether a branch was entered on the stream; a per-thread default stream is another one on each thread.
  [[nodiscard]] bool has_branch_on(cudaStream_t stream, std::uint32_t thread) const noexcept {
    for (timed_slot const* each = first; each; each = each->beside) {
      if (!each->where || each->stream != stream) continue;
      if (stream != per_thread_stream() || each->where->thread == thread) return true;
    }
    return false;
  }

  /// The first reason counts: what follows from it would hide it.
  void spoil(absence why) noexcept {
    if (spoiled == absence::none) spoiled = why;
  }

  /// Nothing is added any more; the samples are written now, or with the last reading.
  void end() noexcept {
    ended = true;
    if (open == 0) finish();
  }

 private:
  static void settle_one(slot_keeper& keeper, lane&, timed_slot& slot) noexcept {
    auto& group = static_cast<span_group&>(keeper);
    if (!slot.seen.known()) group.spoil(slot.seen.why_absent());
    --group.open;
    if (group.ended && group.open == 0) group.finish();
  }
  // The lane owns an array by its first element.
  static void delete_all(slot_keeper* keeper) noexcept { delete[] static_cast<span_group*>(keeper); }
  [[nodiscard]] static bool make_more(lane& in) noexcept {
    constexpr std::size_t most = 1024;
    std::size_t const count = in.limits().intervals < most ? in.limits().intervals : most;
    auto* const fresh = count > 0 ? new (std::nothrow) span_group[count] : nullptr;
    if (!fresh) return false;
    in.own(fresh[0]);
    for (std::size_t i = 0; i < count; ++i) in.give_back(fresh[i]);
    return true;
  }

  // Every interval was read: places the branches within the span, then lets all events go.
  void finish() noexcept {
    if (!first) spoil(absence::not_asked);
    if (first && first->beside) spoil(why_untouchable());
    nanoseconds earliest{0};
    nanoseconds latest{0};
    for (timed_slot* slot = first; slot && spoiled == absence::none; slot = slot->beside) {
      slot->begins = begin_of(*slot);
      nanoseconds const end = slot->begins + *slot->seen.value();
      if (slot == first || slot->begins < earliest) earliest = slot->begins;
      if (slot == first || end > latest) latest = end;
    }
    for (timed_slot* slot = first; slot; slot = slot->beside) {
      if (!slot->where || slot->where->part != span_part::branch) continue;
      slot->where->begins = spoiled == absence::none ? observation{slot->begins - earliest} : observation{spoiled};
    }
    if (where) where->device = spoiled == absence::none ? observation{latest - earliest} : observation{spoiled};
    if (where && first) place_interval(*first, earliest, *where);
    while (timed_slot* const slot = first) {
      first = slot->beside;
      slot->keeper = nullptr;
      in->put_back(*slot);
    }
    in->give_back(*this);
  }

  // Why the events must not be touched: the device may have been reset since they were read.
  [[nodiscard]] absence why_untouchable() const noexcept {
    driver_answer const cuda = driver();
    if (in->closed || pool->gone() || !cuda.api) return absence::context_gone;
    return why_dead(*cuda.api, pool->context());
  }

  // Device time from the event in common to the start of a branch: below zero where that was earlier.
  [[nodiscard]] nanoseconds begin_of(timed_slot const& slot) noexcept {
    if (&slot == first) return nanoseconds{0};
    elapsed_answer const answer = elapsed(*driver().api, first->start, slot.start);
    if (answer.status != cudaSuccess) spoil(in->refuse(answer.status, slot.phase));
    return answer.time;
  }
};

}  // namespace streamgauge

#endif
