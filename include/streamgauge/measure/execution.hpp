#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <exception>

#include <streamgauge/measure/slot_record.hpp>
#include <streamgauge/measure/stage.hpp>
#include <streamgauge/measure/thread_id.hpp>
#include <streamgauge/measure/thread_lanes.hpp>

namespace streamgauge {

/// How an execution is bound: to a scope on one thread, or to nothing but its own end.
enum class lifetime : std::uint8_t { scoped, started };

/// Where an execution belongs that is a branch of a span.
struct span_place {
  lane* in;              ///< the span's lane, which keeps all branches, whatever thread they were entered on
  std::uint32_t parent;  ///< the span's series
  /// Takes the interval into the span, or says why not; without a slot, `why` says why there is none. Under the lock.
  absence (*admit)(span_place& place, timed_slot* slot, stored_sample& where, absence why) noexcept;
};

/// One execution of a phase while it is open: what scoped and started phases have in common.
/// Why: between its start event and its stop event stand the program's own calls, and of ours only the two records. The
/// lock, the bookkeeping and the reading back lie before the first or after the second.
/// Threads: one at a time; it may end on another thread than it began on.
class execution {
 public:
  execution() noexcept {}
  execution(execution&& other) noexcept { *this = std::move(other); }
  execution& operator=(execution&& other) noexcept {
    if (this == &other) return *this;
    if (!other.open()) {
      where_ = nullptr;
      return *this;
    }
    node_ = other.node_;
    lane_ = other.lane_;
    where_ = std::exchange(other.where_, nullptr);
    slot_ = std::exchange(other.slot_, nullptr);
    entered_ = other.entered_;
    thread_ = other.thread_;
    lifetime_ = other.lifetime_;
    stage_ = other.stage_;
    nests_ = other.nests_;
    outer_ = other.outer_;
    exceptions_ = other.exceptions_;
    start_status_ = other.start_status_;
    records_ = other.records_;
    captures_ = other.captures_;
    return *this;
  }

  /// Begins: host stamp, then the start event. Without a stream the host alone is measured.
  void begin(series_node& node, stream_ref const* stream, lifetime of, stage in, span_place* place = nullptr) noexcept {
    prepare(node, stream, of, in, place);
    if (open()) record_start();
  }
  /// All of it but the start event, which `record_start` records where it is open then: a gate is closed between them.
  void prepare(series_node& node, stream_ref const* stream, lifetime of, stage in, span_place* place) noexcept {
    if (node.core.closed()) return;
    node_ = &node;
    slot_ = nullptr;
    start_status_ = cudaSuccess;
    lane* const own = lane_here(node.core);
    lane_ = place ? place->in : own;
    if (!lane_) return lose();
    exceptions_ = std::uncaught_exceptions();
    thread_ = this_thread_id();
    captures_ = captures_begun();
    lifetime_ = of;
    stage_ = in;
    nests_ = of == lifetime::scoped && own == lane_;
    {
      brief_guard const guard{lane_->lock};
      if (lane_->closed) return;
      // First the slot: reading back may take a moment, and belongs before the sample begins.
      absence why = absence::not_asked;
      if (stream) slot_ = reserve(*lane_, node, *stream, why);
      where_ = lane_->add_sample();
      if (!where_) {
        if (slot_) lane_->release(*std::exchange(slot_, nullptr), absence::no_memory);
        stored_sample none;
        if (place) static_cast<void>(place->admit(*place, nullptr, none, absence::no_memory));
        return lose();
      }
      stored_sample& kept = *where_;
      kept.submit = absence::still_open;  // first: a span over several devices adds samples of its own, and must find it open
      kept.series = node.index;
      kept.warmup = in != stage::steady;
      kept.thread = own ? own->thread : lane_->thread;
      kept.parent = place ? place->parent : lane_->innermost;
      if (slot_) slot_->where = where_;
      if (place) {
        absence const refused = place->admit(*place, slot_, kept, why);
        if (slot_ && refused != absence::none) lane_->release(*std::exchange(slot_, nullptr), refused);
        if (!slot_) why = refused;
      }
      outer_ = lane_->innermost;
      if (nests_) {
        lane_->innermost = node.index;
        ++lane_->open_scopes;
      }
      kept.device = slot_ ? absence::still_open : why;
      if (slot_) {
        ++lane_->open_intervals;
        // The samples of an interval in a graph come with its replays: the capture is none.
        if (slot_->in_graph) kept.series = stored_sample::no_series;
      }
      kept.entered = entered_ = since_origin();
    }
  }
  void record_start() noexcept {
    if (slot_) start_status_ = record(*driver().api, *node_, *slot_, slot_->start);
    if (slot_ && start_status_ == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
    records_ = lane_->records.load(std::memory_order_relaxed);
  }

  /// Records the stop event; CUDA's status. Requires: it has an interval.
  [[nodiscard]] int record_stop() noexcept {
    records_ = lane_->records.load(std::memory_order_relaxed) - records_;
    if (slot_->pool->gone()) return cudaErrorContextIsDestroyed;
    if (start_status_ != cudaSuccess) return start_status_;
    if (slot_->stream == per_thread_stream() && !on_its_thread()) return other_thread;
    driver_api const& cuda = *driver().api;
    int status = may_stop(cuda, *slot_);
    if (status == cudaSuccess) status = record(cuda, *node_, *slot_, slot_->stop);
    if (status == cudaSuccess) lane_->records.fetch_add(1, std::memory_order_relaxed);
    return status;
  }
  [[nodiscard]] bool has_interval() const noexcept { return slot_ != nullptr; }
  [[nodiscard]] timed_slot const* slot() const noexcept { return slot_; }

  /// Ends: the stop event, then the host stamp.
  void end() noexcept {
    if (!open()) return;
    int const status = slot_ ? record_stop() : static_cast<int>(cudaSuccess);
    end(status, since_origin());
  }
  /// Ends without a stop event; `now` is when the host had submitted everything.
  void end(int status, nanoseconds now) noexcept {
    {
      brief_guard const guard{lane_->lock};
      keep_submit(now);
      if (slot_) close_slot(status, absence::none);
      close_sample();
    }
    node_->core.keep_clocks(*lane_, now);
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
  /// `execution_wait.hpp` has the bodies.
  void end_and_wait(wait_policy policy) noexcept;
  /// The same behind a stop that was recorded with that status. Requires: it has an interval, and none in a graph.
  void wait_behind_stop(wait_policy policy, int status) noexcept;

  /// A status beside CUDA's, none of which is negative: the interval's gate was opened by its time limit.
  static constexpr int gate_let_go = -2;

  /// What was captured has not run: its replays are counted instead.
  void leave_count() noexcept {
    if (stage_ == stage::counted) node_->warmed.fetch_sub(1, std::memory_order_relaxed);
  }

  [[nodiscard]] bool open() const noexcept { return where_ != nullptr; }
  [[nodiscard]] nanoseconds since_origin() const noexcept { return host_now() - node_->core.origin(); }
  [[nodiscard]] nanoseconds entered() const noexcept { return entered_; }
  [[nodiscard]] lane* home() const noexcept { return lane_; }
  [[nodiscard]] std::uint32_t records_before() const noexcept { return records_; }
  /// The sample, while it is open.
  [[nodiscard]] stored_sample* where() const noexcept { return where_; }
  [[nodiscard]] bool on_its_thread() const noexcept { return thread_ == this_thread_id(); }
  /// Whether an exception that was not there at the beginning is unwinding this thread.
  [[nodiscard]] bool unwinding() const noexcept { return on_its_thread() && std::uncaught_exceptions() > exceptions_; }

 private:
  void lose() noexcept { node_->lost.fetch_add(1, std::memory_order_relaxed); }

  [[nodiscard]] absence why_not(int status) noexcept {
    if (status == gate_let_go) return absence::gate_timeout;
    return status == other_thread ? absence::other_thread_stream : lane_->refuse(status, node_->name());
  }

  void keep_submit(nanoseconds now) noexcept {
    where_->submit = now - entered_;
    if (capture_is_open() || captures_begun() != captures_) where_->watched = true;
    // With a stop that was counted before it was recorded; without one, up to now.
    where_->records_inside = slot_ ? records_ : lane_->records.load(std::memory_order_relaxed) - records_;
  }

  void close_sample() noexcept {
    if (nests_ && where_->thread == lane_->thread) leave_nest();
    if (lifetime_ == lifetime::scoped && !on_its_thread())
      node_->core.problems().note(trouble::ended_elsewhere, node_->name());
    where_ = nullptr;
  }

  // Of the lane whose thread it still is. Left elsewhere, its own thread must not go on nesting in it.
  void leave_nest() noexcept {
    --lane_->open_scopes;
    bool const is_innermost = lane_->innermost == node_->index;
    if (lane_->open_scopes == 0)
      lane_->innermost = stored_sample::no_series;
    else if (is_innermost)
      lane_->innermost = outer_;
    else if (on_its_thread())
      node_->core.problems().note(trouble::out_of_order, node_->name());
  }

  // The interval waits for the device or belongs to a graph, or its slot goes back at once.
  void close_slot(int status, absence given_up) noexcept {
    --lane_->open_intervals;
    if (given_up == absence::none && status == cudaSuccess && !lane_->closed) {
      if (slot_->in_graph) {
        slot_->next = std::exchange(lane_->captured, slot_);
        leave_count();
      } else {
        lane_->wait_for_device(*slot_);
      }
    } else {
      if (lane_->closed) status = cudaErrorContextIsDestroyed;
      if (given_up == absence::none) where_->device = why_not(status);
      if (slot_->in_graph) where_->series = node_->index;  // no replay will give its times
      lane_->release(*slot_, where_->device);
    }
    slot_ = nullptr;
  }

  static constexpr int other_thread = -1;

  stored_sample* where_ = nullptr;  // null: not open
  // Set on beginning, and nowhere before: a phase that is off is to cost next to nothing.
  series_node* node_;
  lane* lane_;
  timed_slot* slot_;
  nanoseconds entered_;
  std::uint64_t thread_;
  lifetime lifetime_;
  stage stage_;
  bool nests_;           // what is entered meanwhile on this thread is inside it
  std::uint32_t outer_;  // what was entered before and is around it; of a branch not always its span
  int exceptions_;
  int start_status_;
  std::uint32_t captures_;  // by a profiler, that had begun before
  std::uint32_t records_;   // the lane's count after the start; from the stop on, how many lay between
};

}  // namespace streamgauge

#endif
