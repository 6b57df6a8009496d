#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <exception>

#include <streamgauge/measure/thread_id.hpp>
#include <streamgauge/measure/thread_lanes.hpp>

namespace streamgauge {

/// How an execution is bound: to a scope on one thread, or to nothing but its own end.
enum class lifetime : std::uint8_t { scoped, started };

/// One execution of a phase while it is open: what scoped and started phases have in common.
/// Why: between its start event and its stop event stand the program's own calls, and of ours only the two records. The
/// lock, the bookkeeping and the reading back lie before the first or after the second.
/// Threads: one at a time; it may end on another thread than it began on.
class execution {
 public:
  execution() = default;
  execution(execution&& other) noexcept { *this = std::move(other); }
  execution& operator=(execution&& other) noexcept {
    if (this == &other) return *this;
    node_ = other.node_;
    lane_ = other.lane_;
    where_ = std::exchange(other.where_, nullptr);
    slot_ = std::exchange(other.slot_, nullptr);
    entered_ = other.entered_;
    thread_ = other.thread_;
    lifetime_ = other.lifetime_;
    exceptions_ = other.exceptions_;
    start_status_ = other.start_status_;
    records_ = other.records_;
    return *this;
  }

  /// Begins: host stamp, then the start event. Without a stream the host alone is measured.
  void begin(series_node& node, stream_ref const* stream, lifetime of) noexcept {
    if (node.core.closed()) return;
    node_ = &node;
    lane_ = lane_here(node.core);
    if (!lane_) return lose();
    exceptions_ = std::uncaught_exceptions();
    thread_ = this_thread_id();
    lifetime_ = of;
    {
      brief_guard const guard{lane_->lock};
      if (lane_->closed) return;
      // First the slot: reading back may take a moment, and belongs before the sample begins.
      absence why = absence::not_asked;
      slot_ = stream ? lane_->reserve(*stream, why, node.name()) : nullptr;
      where_ = lane_->add_sample();
      if (!where_) {
        if (slot_) lane_->release(*slot_);
        return lose();
      }
      where_->series = node.index;
      stored_sample& kept = *where_;
      kept.thread = lane_->thread;
      kept.parent = lane_->innermost;
      if (of == lifetime::scoped) lane_->innermost = node.index;
      kept.submit = absence::still_open;
      kept.device = slot_ ? absence::still_open : why;
      if (slot_) {
        ++lane_->open_intervals;
        if (stream->is_legacy() && !node.entry.on_legacy_stream.exchange(true, std::memory_order_relaxed))
          node.core.problems().note(trouble::legacy_stream, node.name());
      }
      kept.entered = entered_ = since_origin();
    }
    if (slot_) start_status_ = record(*driver().api, slot_->start, *stream, slot_->pool->context());
    if (slot_ && start_status_ == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
    records_ = lane_->records.load(std::memory_order_relaxed);
  }

  /// Ends: the stop event, then the host stamp.
  void end() noexcept {
    if (!open()) return;
    int const status = slot_ ? record_stop() : static_cast<int>(cudaSuccess);
    nanoseconds const now = since_origin();
    brief_guard const guard{lane_->lock};
    keep_submit(now);
    if (slot_) close_slot(status, absence::none);
    close_sample();
  }

  /// Ends without a stop: an exception left the body, so neither time means anything.
  void give_up() noexcept {
    if (!open()) return;
    brief_guard const guard{lane_->lock};
    where_->submit = absence::body_threw;
    if (where_->device.why_absent() == absence::still_open) where_->device = absence::body_threw;
    if (slot_) close_slot(cudaSuccess, absence::body_threw);
    close_sample();
  }

  /// Ends, then waits until the device has passed the stop; the host time from begin to then is the completion.
  void end_and_wait(wait_policy policy) noexcept;

  [[nodiscard]] bool open() const noexcept { return where_ != nullptr; }
  [[nodiscard]] bool on_its_thread() const noexcept { return thread_ == this_thread_id(); }
  /// Whether an exception that was not there at the beginning is unwinding this thread.
  [[nodiscard]] bool unwinding() const noexcept { return on_its_thread() && std::uncaught_exceptions() > exceptions_; }

 private:
  [[nodiscard]] nanoseconds since_origin() const noexcept { return host_now() - node_->core.origin(); }

  void lose() noexcept { node_->lost.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] int record_stop() noexcept {
    records_ = lane_->records.load(std::memory_order_relaxed) - records_;
    if (slot_->pool->gone()) return cudaErrorContextIsDestroyed;
    if (start_status_ != cudaSuccess) return start_status_;
    if (slot_->stream == per_thread_stream() && !on_its_thread()) return other_thread;
    driver_api const& cuda = *driver().api;
    context_key const context = slot_->pool->context();
    absence const dead = why_dead(cuda, context);
    if (dead != absence::none)
      return dead == absence::forked ? cudaErrorInitializationError : cudaErrorContextIsDestroyed;
    stream_ref const stream = stream_ref::resolved(slot_->stream);
    int status = may_record(cuda, stream, context);
    if (status == cudaSuccess) status = record(cuda, slot_->stop, stream, context);
    if (status == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
    return status;
  }

  [[nodiscard]] absence why_not(int status) noexcept {
    return status == other_thread ? absence::other_thread_stream : lane_->refuse(status, node_->name());
  }

  void keep_submit(nanoseconds now) noexcept {
    where_->submit = now - entered_;
    // With a stop that was counted before it was recorded; without one, up to now.
    where_->records_inside = slot_ ? records_ : lane_->records.load(std::memory_order_relaxed) - records_;
  }

  void close_sample() noexcept {
    if (lifetime_ == lifetime::scoped) {
      // Left elsewhere, its own thread must not go on nesting in it.
      if (on_its_thread() || lane_->innermost == node_->index) lane_->innermost = where_->parent;
      if (!on_its_thread()) node_->core.problems().note(trouble::ended_elsewhere, node_->name());
    }
    where_ = nullptr;
  }

  // The interval waits for the device, or its slot goes back at once.
  void close_slot(int status, absence given_up) noexcept {
    --lane_->open_intervals;
    if (given_up == absence::none && status == cudaSuccess && !lane_->closed) {
      lane_->wait_for_device(*slot_, *where_);
    } else {
      if (lane_->closed) status = cudaErrorContextIsDestroyed;
      if (given_up == absence::none) where_->device = why_not(status);
      lane_->release(*slot_);
    }
    slot_ = nullptr;
  }

  static constexpr int other_thread = -1;  // beside CUDA's statuses, none of which is negative

  stored_sample* where_ = nullptr;
  series_node* node_ = nullptr;
  lane* lane_ = nullptr;
  timed_slot* slot_ = nullptr;
  nanoseconds entered_{0};
  std::uint64_t thread_ = 0;
  lifetime lifetime_ = lifetime::scoped;
  int exceptions_ = 0;
  int start_status_ = cudaSuccess;
  std::uint32_t records_ = 0;  // the lane's count after the start; from the stop on, how many lay between
};

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
  if (!slot_ || policy == wait_policy::none) {
    // Nothing on the device to wait for: the completion is missing for the same reason as the device time.
    {
      brief_guard const guard{lane_->lock};
      if (policy != wait_policy::none) where_->completion = where_->device.why_absent();
    }
    return end();
  }
  // A thread that is not the lane's spins: the event to sleep on is the lane's own.
  bool const sleeps = policy == wait_policy::block && on_its_thread() && slot_->pool->sleeper();
  driver_api const& cuda = *driver().api;
  elapsed_answer answer;
  answer.status = record_stop();
  nanoseconds const submitted = since_origin();
  if (answer.status == cudaSuccess) answer.status = wait_for(cuda, *slot_, sleeps ? slot_->pool->sleeper() : nullptr);
  nanoseconds const completed = since_origin();
  if (sleeps && answer.status == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
  if (answer.status == cudaSuccess) answer = elapsed(cuda, slot_->start, slot_->stop);
  brief_guard const guard{lane_->lock};
  keep_submit(submitted);
  stored_sample& kept = *where_;
  kept.waited = sleeps ? wait_policy::block : wait_policy::spin;
  if (answer.status == cudaSuccess) {
    kept.device = answer.time;
    kept.completion = completed - entered_;
  } else {
    kept.device = kept.completion = why_not(answer.status);
  }
  --lane_->open_intervals;
  lane_->release(*slot_);
  slot_ = nullptr;
  close_sample();
}

}  // namespace streamgauge

#endif
