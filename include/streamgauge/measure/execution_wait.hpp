#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/execution.hpp>

namespace streamgauge {

/// Waits until the device has passed the slot's stop; CUDA's status.
/// Sync: waits for that event by polling it, or sleeps on one recorded right behind it.
/// Capture: allowed; the thread's capture mode is relaxed meanwhile.
[[nodiscard]] inline int wait_for(driver_api const& cuda, timed_slot const& slot, cudaEvent_t sleeper) noexcept {
  if (sleeper) {
    int const status = record(cuda, sleeper, stream_ref::resolved(slot.stream), slot.pool->context());
    return status == cudaSuccess ? wait_until_passed(cuda, sleeper) : status;
  }
  relaxed_capture_mode const relaxed{cuda};
  int status = relaxed.status() == cudaSuccess ? static_cast<int>(cudaErrorNotReady) : relaxed.status();
  while (status == cudaErrorNotReady) status = cuda.event_query(slot.stop);
  return status;
}

inline void execution::end_and_wait(wait_policy policy) noexcept {
  if (!open()) return;
  if (!slot_ || slot_->in_graph || policy == wait_policy::none) {
    // Nothing on the device to wait for: the completion is missing for the same reason as the device time.
    if (slot_ && policy != wait_policy::none) node_->core.problems().note(trouble::waited_in_capture, node_->name());
    if (policy != wait_policy::none) {
      brief_guard const guard{lane_->lock};
      where_->completion = slot_ ? absence::stream_capture : where_->device.why_absent();
    }
    return end();
  }
  wait_behind_stop(policy, record_stop());
}

inline void execution::wait_behind_stop(wait_policy policy, int status) noexcept {
  // A thread that is not the lane's spins: the event to sleep on is the lane's own.
  bool const sleeps = policy == wait_policy::block && on_its_thread() && slot_->pool->sleeper();
  driver_api const& cuda = *driver().api;
  elapsed_answer answer;
  answer.status = status;
  nanoseconds const submitted = since_origin();
  if (answer.status == cudaSuccess) answer.status = wait_for(cuda, *slot_, sleeps ? slot_->pool->sleeper() : nullptr);
  nanoseconds const completed = since_origin();
  if (sleeps && answer.status == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
  if (answer.status == cudaSuccess) answer = elapsed(cuda, slot_->start, slot_->stop);
  {
    brief_guard const guard{lane_->lock};
    keep_submit(submitted);
    stored_sample& kept = *where_;
    kept.waited = sleeps ? wait_policy::block : wait_policy::spin;
    if (answer.status == cudaSuccess) {
      kept.device = answer.time;
      kept.completion = completed - entered_;
      kept.stream = node_->core.streams().number_of(*slot_, kept.thread);
      if (!slot_->keeper) place_interval(*slot_, nanoseconds{0}, kept);
    } else {
      kept.device = kept.completion = why_not(answer.status);
    }
    --lane_->open_intervals;
    lane_->release(*std::exchange(slot_, nullptr), kept.device);
    close_sample();
  }
  node_->core.keep_clocks(*lane_, completed);
}

}  // namespace streamgauge

#endif
