#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/execution_wait.hpp>
#include <streamgauge/measure/span_execution.hpp>

// How an execution of a span ends: its joins, its stops, the wait for them, and what becomes of its intervals.

namespace streamgauge {

inline int span_execution::record_joins() noexcept {
  driver_answer const cuda = driver();
  if (!origin_ || !cuda.api) return cudaSuccess;
  int const status = may_stop(*cuda.api, *origin_);
  for (timed_slot* slot = status == cudaSuccess ? groups_.first()->first : nullptr; slot; slot = slot->beside) {
    if (slot == origin_ || !joined(*slot)) continue;
    refuse(wait_on(*cuda.api, stream_ref::resolved(origin_->stream), slot->edge, slot->pool->context()));
  }
  return status;
}

inline void span_execution::record_stops(int of_origin) noexcept {
  driver_answer const cuda = driver();
  for (span_group* group = groups_.first(); group && cuda.api; group = group->next) {
    for (timed_slot* slot = group->first; slot; slot = slot->beside) {
      if (slot->where) continue;
      int const status = slot == origin_ ? of_origin : may_stop(*cuda.api, *slot);
      status == cudaSuccess ? record_own(*slot, slot->stop) : refuse(status);
    }
  }
}

inline void span_execution::let_go(absence given_up) noexcept {
  stored_sample& own = *now_.where();
  --home().open_intervals;
  own.device = spoiled_ != absence::none ? spoiled_ : groups_.several() ? absence::several_devices : absence::not_asked;
  if (!groups_.first() || spoiled_ != absence::none)
    own.series = node_->index;  // it counts, also where a graph was captured
  if (own.series == stored_sample::no_series) now_.leave_count();
  // Written when the group has finished, also where it is known by now that there is none: until then it points here.
  if (groups_.first() && groups_.first()->where == &own) own.device = absence::still_open;
  bool const lost = given_up != absence::none || spoiled_ != absence::none || home().closed;
  for (span_group *group = groups_.first(), *later = nullptr; group; group = later) {
    later = group->next;
    if (spoiled_ != absence::none) group->spoil(spoiled_);
    for (timed_slot *slot = group->first, *other = nullptr; slot; slot = other) {
      other = slot->beside;
      if (slot->where) continue;
      if (lost) {
        home().release(*slot, spoiled_ != absence::none ? spoiled_ : absence::context_gone);
      } else if (slot->in_graph) {
        slot->next = std::exchange(home().captured, slot);
      } else {
        home().wait_for_device(*slot);
      }
    }
    group->records = home().records.load(std::memory_order_relaxed) - now_.records_before();
    if (!group->in_graph) group->end();
  }
  groups_.forget();
  origin_ = nullptr;
  open_.store(false, std::memory_order_relaxed);
}

inline void span_execution::end(wait_policy policy) noexcept {
  if (!open()) return;
  {
    brief_guard const guard{home().lock};
    ending_ = true;
    for (span_group const* each = groups_.first(); each; each = each->next) {
      if (each->branches > 0) spoil(absence::branch_open);
      spoil(each->spoiled);  // of a branch that was given up there is no stop to wait for
    }
  }
  record_stops(record_joins());
  nanoseconds const submitted = now_.since_origin();
  span_group const* const first = groups_.first();
  bool const in_graph = first && first->in_graph;
  bool waits = policy != wait_policy::none && first && !in_graph;
  if (waits) {
    // A branch that comes too late now still says so.
    brief_guard const guard{home().lock};
    waits = spoiled_ == absence::none;
  }
  // Sleeping takes an event right behind the stop. Behind a branch's there may be more work by now, or its stream may be
  // another thread's own: those are polled, and the sample says so.
  bool sleeps = waits && policy == wait_policy::block && now_.on_its_thread();
  int status = cudaSuccess;
  for (span_group const* group = first; group && waits && status == cudaSuccess; group = group->next) {
    status = may_touch(*driver().api, *group->pool);  // the device may have been reset after a branch
    // What joins everything is waited for alone.
    for (timed_slot const* slot = origin_ ? origin_ : group->first; slot && status == cudaSuccess;
         slot = origin_ ? nullptr : slot->beside) {
      cudaEvent_t const sleeper =
          policy == wait_policy::block && now_.on_its_thread() && !slot->where ? group->pool->sleeper() : nullptr;
      sleeps = sleeps && sleeper;
      status = wait_for(*driver().api, *slot, sleeper);
    }
  }
  nanoseconds const completed = now_.since_origin();
  if (in_graph && policy != wait_policy::none) node_->core.problems().note(trouble::waited_in_capture, node_->name());
  {
    brief_guard const guard{home().lock};
    stored_sample& own = *now_.where();
    if (status != cudaSuccess) spoil(home().refuse(status, node_->name()));
    if (policy != wait_policy::none) {
      own.completion = spoiled_ != absence::none ? spoiled_ : in_graph ? absence::stream_capture : absence::not_asked;
      if (waits && status == cudaSuccess) own.completion = completed - now_.entered();
      if (waits) own.waited = sleeps ? wait_policy::block : wait_policy::spin;
    }
    let_go(absence::none);
  }
  now_.end(cudaSuccess, submitted);
}

}  // namespace streamgauge

#endif
