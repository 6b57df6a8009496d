#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/execution.hpp>
#include <streamgauge/measure/span_groups.hpp>

namespace streamgauge {

/// How a span and the program's streams depend on each other.
enum class span_kind : std::uint8_t {
  observed,  ///< event records only: no dependency is added
  joined,    ///< every branch starts behind the origin's start, and the origin waits for every branch before its stop
};

/// One execution of a span while it is open: its host side, and a group of intervals for each device.
/// Why: whatever thread a branch is entered on, the span's lane keeps it, so that the branches can be placed against each
/// other when all were read.
/// Threads: it ends on the thread that it began on; branches may come from any.
class span_execution {
 public:
  span_execution() = default;
  span_execution(span_execution const&) = delete;
  span_execution& operator=(span_execution const&) = delete;

  /// Begins: the host stamp.
  void begin(series_node& node, span_kind kind, stage in) noexcept {
    node_ = &node;
    kind_ = kind;
    groups_.begin(node);
    now_.begin(node, nullptr, lifetime::scoped, in);
    lost_ = !now_.open() && !node.core.closed();
    if (!now_.open()) return;
    open_.store(true, std::memory_order_relaxed);
    brief_guard const guard{home().lock};
    now_.where()->part = span_part::whole;
    now_.where()->device = absence::still_open;
    ++home().open_intervals;
  }
  /// Also asked by threads that enter a branch.
  [[nodiscard]] bool open() const noexcept { return open_.load(std::memory_order_relaxed); }
  /// Whether there was no memory for it: its branches are lost as well.
  [[nodiscard]] bool lost() const noexcept { return lost_; }
  [[nodiscard]] bool unwinding() const noexcept { return now_.unwinding(); }

  /// Records on a stream here and at the end: it counts for the wall.
  void list(stream_ref stream) noexcept {
    if (!open()) return;
    timed_slot* slot = nullptr;
    {
      brief_guard const guard{home().lock};
      slot = take(stream);
    }
    if (slot) record_own(*slot, slot->start);
  }

  /// Takes the stream that the branches fork from and are joined to.
  void fork_from(stream_ref origin) noexcept {
    if (!open()) return;
    {
      brief_guard const guard{home().lock};
      origin_ = take(origin);
    }
    origin_stream_ = origin.is_per_thread() ? nullptr : origin.handle();  // elsewhere that handle is another stream
  }

  /// Lets the origin wait for what is queued on a stream now, so that it is not in the span.
  void isolate_from(stream_ref side) noexcept {
    if (!origin_ || origin_->in_graph) return;  // a graph has no backlog
    driver_api const& cuda = *driver().api;
    context_key const context = origin_->pool->context();
    context_answer const found = context_of(cuda, side);
    int status = found.status;
    if (status == cudaSuccess && !(found.key == context)) return refuse(why_other(cuda, context));
    if (status == cudaSuccess) status = may_record(cuda, side, context);
    if (status == cudaSuccess) status = record_edge(cuda, home(), *origin_, side);
    if (status == cudaSuccess) status = wait_on(cuda, stream_ref::resolved(origin_->stream), origin_->edge, context);
    refuse(status);
  }

  /// The origin's start, and the event that branches wait for.
  void fork() noexcept {
    if (!origin_) return;
    record_own(*origin_, origin_->start);
    refuse(record_edge(*driver().api, home(), *origin_, stream_ref::resolved(origin_->stream)));
  }

  /// Inside a stream capture, makes a branch's stream wait for the fork before anything is recorded on it; why not, where
  /// that must not be.
  /// Why: by this wait the stream joins the origin's capture. Outside a capture a branch waits once its slot is there.
  [[nodiscard]] absence follow_fork(stream_ref stream, series_node const& part) noexcept {
    if (!open() || !joins()) return absence::none;
    brief_guard const guard{home().lock};
    if (!origin_) return spoiled_;
    if (!origin_->in_graph) return absence::none;
    driver_api const& cuda = *driver().api;
    context_key const context = origin_->pool->context();
    context_answer const found = context_of(cuda, stream);
    if (found.status != cudaSuccess) return home().refuse(found.status, node_->name());
    if (!(found.key == context)) return why_other(cuda, context);
    if (!stream.is_per_thread() && groups_.first()->has_branch_on(stream.handle(), 0)) return absence::branch_twice;
    if (!joins(stream)) return absence::none;
    if (absence const stays = why_no_way_back(*origin_, part); stays != absence::none) return stays;
    if (!home().has_room()) return absence::no_memory;  // what forks without a sample never comes back
    int status = may_stop(cuda, *origin_);
    if (status == cudaSuccess) status = may_join_capture(cuda, stream);
    if (status == cudaSuccess) status = wait_on(cuda, stream, origin_->edge, context);
    return status == cudaSuccess ? absence::none : home().refuse(status, node_->name());
  }

  /// Leaves the span without a device time.
  void refuse(absence why) noexcept {
    brief_guard const guard{home().lock};
    spoil(why);
  }

  /// Takes a branch into the span, or says why not. Under the lock.
  [[nodiscard]] absence admit(timed_slot* slot, stored_sample& where, absence why, span_group*& into) noexcept {
    where.part = span_part::branch;
    if (ending_ && why == absence::none) why = absence::branch_open;
    if (!slot || why != absence::none) {
      spoil(why);
      return why;
    }
    if (origin_ && slot->pool != origin_->pool) why = why_other(*driver().api, origin_->pool->context());
    span_group* const group = why == absence::none ? groups_.of(*slot, now_, why) : nullptr;
    if (group && group->has_branch_on(slot->stream, where.thread)) why = absence::branch_twice;
    if (kind_ == span_kind::joined && !slot->edge && (slot->in_graph || slot->pool->make_edges(*driver().api) != 0))
      why = absence::not_prepared;
    if (why == absence::none && origin_ && !slot->in_graph) why = wait_for_fork(*slot);
    if (why != absence::none) {
      spoil(why);
      return why;
    }
    where.span = group->number;
    group->add(*slot);
    ++group->branches;
    into = group;
    return absence::none;
  }

  /// Makes ready for a stream's device; before anything is recorded, since it may need memory.
  /// Throws: only `std::bad_alloc`.
  void expect(stream_ref stream) {
    if (open() && !joins()) groups_.expect(home(), stream);
  }

  /// Records what ends the span on the device, waits where that is asked for, and ends it.
  void end(wait_policy policy) noexcept;

  /// Ends without stops: an exception left the body.
  void give_up() noexcept {
    if (!open()) return;
    if (origin_ && origin_->in_graph) static_cast<void>(record_joins());
    {
      brief_guard const guard{home().lock};
      spoil(absence::body_threw);
      let_go(absence::body_threw);
    }
    now_.give_up();
  }

  [[nodiscard]] lane& home() const noexcept { return *now_.home(); }
  [[nodiscard]] series_node& node() const noexcept { return *node_; }
  [[nodiscard]] std::uint32_t next_branch() noexcept { return 1 + branches_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] bool joins() const noexcept { return kind_ == span_kind::joined; }
  /// Whether a branch on the stream needs edges; the origin's own is in order anyway.
  [[nodiscard]] bool joins(stream_ref stream) const noexcept { return joins() && stream.handle() != origin_stream_; }

 private:
  // Under the lock.
  [[nodiscard]] absence wait_for_fork(timed_slot const& slot) noexcept {
    stream_ref const stream = stream_ref::resolved(slot.stream);
    int const status = joins(stream) ? wait_on(*driver().api, stream, origin_->edge, slot.pool->context()) : 0;
    return status == cudaSuccess ? absence::none : home().refuse(status, node_->name());
  }
  // A branch that is still open may end now, on another thread.
  [[nodiscard]] bool joined(timed_slot const& slot) const noexcept {
    brief_guard const guard{home().lock};
    return slot.edge_recorded;
  }
  void spoil(absence why) noexcept {
    if (spoiled_ == absence::none) spoiled_ = why;
  }
  void refuse(int status) noexcept {
    if (status == cudaSuccess) return;
    brief_guard const guard{home().lock};
    spoil(home().refuse(status, node_->name()));
  }

  // A slot for a stream that is recorded on at the begin and the end of the span. Under the lock.
  [[nodiscard]] timed_slot* take(stream_ref stream, absence why = absence::none) noexcept {
    timed_slot* const slot = reserve(home(), *node_, stream, why);
    bool const bare = slot && joins() && !slot->edge;
    if (bare && (slot->in_graph || slot->pool->make_edges(*driver().api) != cudaSuccess)) why = absence::not_prepared;
    span_group* const group = slot && why == absence::none ? groups_.of(*slot, now_, why) : nullptr;
    if (group) {
      group->add(*slot);
      return slot;
    }
    if (slot) home().release(*slot, why);
    spoil(why);
    return nullptr;
  }

  void record_own(timed_slot const& slot, cudaEvent_t event) noexcept {
    int const status = record(*driver().api, *node_, slot, event);
    if (status == cudaSuccess) home().records.fetch_add(1, std::memory_order_relaxed);
    refuse(status);
  }

  // The origin waits for every branch; whether its stop may be recorded.
  int record_joins() noexcept;
  // The stops of the origin and of what is listed.
  void record_stops(int of_origin) noexcept;
  // Every interval waits for the device, belongs to a graph, or is given up. Under the lock.
  void let_go(absence given_up) noexcept;

  execution now_;
  std::atomic<bool> open_{false};
  series_node* node_ = nullptr;
  span_groups groups_;
  timed_slot* origin_ = nullptr;  // with the fork's event
  cudaStream_t origin_stream_ = nullptr;
  absence spoiled_ = absence::none;  // why the span has no device time
  span_kind kind_ = span_kind::observed;
  bool ending_ = false;
  bool lost_ = false;
  std::atomic<std::uint32_t> branches_{0};
};

}  // namespace streamgauge

#endif
