#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/phase.hpp>
#include <streamgauge/measure/span_end.hpp>

namespace streamgauge {

/// Makes a span joined: an edge from the origin to every branch, and from every branch back.
struct joined_tag {
  explicit constexpr joined_tag(int) noexcept {}
};
inline constexpr joined_tag joined{0};

/// Makes a span joined, and its origin wait first for what is queued on the side streams, so that no backlog leaks in.
struct isolated_tag {
  explicit constexpr isolated_tag(int) noexcept {}
};
inline constexpr isolated_tag isolated{0};

/// One stream's part of a span: open until the end of the scope that it was entered in.
/// Why: entered where the part's work begins, after the program's own waits, its interval is the work and not the waiting.
/// Requires: the span's recorder outlives it. A branch that outlives its span leaves the span without a device time.
/// Sync: none.
class [[nodiscard]] branch {
 public:
  branch(branch const&) = delete;
  branch& operator=(branch const&) = delete;
  static void* operator new(std::size_t) = delete;
  ~branch() {
    if (!range_.is_open()) return;
    if (now_.open()) close();
    range_.close();
  }

 private:
  friend class span;
  struct place_in_span : span_place {
    span_execution* of = nullptr;
    timed_slot* slot = nullptr;
    span_group* group = nullptr;
    absence refused = absence::none;  // before anything was recorded
    bool joins = false;
  };

  branch(span_execution& of, phase_range const& around, series_node* marked, series_node* node,
         stream_ref stream) noexcept {
    if (!around.is_open()) return;
    marked ? range_.open_in(around, *marked) : range_.open_as(around);
    if (node && of.lost()) node->lost.fetch_add(1, std::memory_order_relaxed);
    if (!node || !of.open()) return;
    if (&node->core != &of.node().core) {
      of.refuse(absence::other_recorder);
      return;
    }
    place_.in = &of.home();
    place_.parent = of.node().index;
    place_.admit = &admit;
    place_.of = &of;
    place_.joins = of.joins(stream);
    place_.refused = of.follow_fork(stream, *node);
    now_.begin(*node, &stream, lifetime::scoped, range_.begun_in(), &place_);
  }

  static absence admit(span_place& place, timed_slot* slot, stored_sample& where, absence why) noexcept {
    auto& mine = static_cast<place_in_span&>(place);
    if (mine.refused != absence::none)
      why = mine.refused;
    else if (slot)
      why = absence::none;
    mine.slot = slot;
    return mine.of->admit(slot, where, why, mine.group);
  }

  void close() noexcept {
    bool const unwinding = now_.unwinding();
    int status = cudaSuccess;
    if (now_.has_interval()) {
      if (!unwinding) status = now_.record_stop();
      // Behind the stop, and before anything else may reach the slot. What forked inside a capture leads back in any case:
      // otherwise CUDA would break the capture.
      if (place_.joins && (place_.slot->in_graph || (status == cudaSuccess && !unwinding))) {
        timed_slot const& slot = *place_.slot;
        int const recorded = record_edge(*driver().api, *place_.in, slot, stream_ref::resolved(slot.stream));
        edge_recorded_ = recorded == cudaSuccess;
        if (status == cudaSuccess) status = recorded;
      }
    }
    nanoseconds const now = now_.since_origin();
    if (place_.group) {
      brief_guard const guard{place_.in->lock};
      --place_.group->branches;
      place_.slot->edge_recorded = edge_recorded_;
    }
    unwinding ? now_.give_up() : now_.end(status, now);
  }

  phase_range range_;
  execution now_;
  place_in_span place_{};
  bool edge_recorded_ = false;
};

/// A phase over several streams, open until the end of the scope that it was entered in.
/// Why: work that forks to side streams is not between two events on one stream. A span is made of branches: its device
/// time, the wall, goes from the earliest begin to the latest end of them, by events of one device. Dependencies that the
/// program makes itself are invisible to it.
/// Shape: one sample of the phase, and one of each branch, with the same `sample::span`. Over several devices, which share
/// no clock, one of the phase under the condition device=N for each, and no device time in common.
/// Units: device time, event to event. A rate over a span uses the wall, never the sum of its branches.
/// Requires: the streams live until the span ends.
/// Throws: only `std::bad_alloc`.
/// Sync: none, unless `wait` is called.
/// Capture: inside a stream capture it marks and counts. Of a phase declared with `sg::in_graphs` it records: leave each
/// branch before the program's own join of its stream, since a record behind that join would be work that is never joined.
/// Threads: it ends on the thread that it began on; branches may be entered and left on any.
/// Example: `sg::span whole{overlap}; { auto part = whole.branch(side, compute); launch(side); }`
class [[nodiscard]] span {
 public:
  /// Observed: event records only, no dependency is added, and the program runs as if nobody looked.
  explicit span(phase const& of) noexcept { open(of, span_kind::observed); }

  /// Observed, with streams that are recorded on at the begin and the end of the scope: they count for the wall alone.
  template <class Unit = null_stream_here>
  span(phase const& of, std::initializer_list<stream_ref> listed, Unit = {}) {
    open(of, span_kind::observed);
    for (stream_ref const each : listed) list(each);
  }
  template <class Streams, class Unit = null_stream_here, class = decltype(std::declval<Streams const&>().begin())>
  span(phase const& of, Streams const& listed, Unit unit = {}) {
    open(of, span_kind::observed);
    for (auto const& each : listed) list({each, unit});
  }

  /// A single stream is listed in braces as well.
  template <class Stream, class Unit = null_stream_here, class = std::enable_if_t<names_a_stream<Stream>>, class = void>
  span(phase const& of, Stream const& forgotten_braces, Unit = {}) = delete;

  /// Joined: every branch starts behind the origin's start, and the origin waits for every branch before its stop. These
  /// dependencies come on top of the program's own, and only while times are taken: no program may rely on them.
  span(phase const& of, joined_tag, stream_ref origin) noexcept {
    open(of, span_kind::joined);
    now_.fork_from(origin);
    now_.fork();
  }

  /// Joined and isolated: the origin waits first for what is queued on these streams now.
  span(phase const& of, isolated_tag, stream_ref origin, std::initializer_list<stream_ref> sides) noexcept {
    open(of, span_kind::joined);
    now_.fork_from(origin);
    for (stream_ref const each : sides) now_.isolate_from(each);
    now_.fork();
  }

  span(span const&) = delete;
  span& operator=(span const&) = delete;
  static void* operator new(std::size_t) = delete;
  ~span() {
    if (!range_.is_open()) return;
    if (now_.open()) now_.unwinding() ? now_.give_up() : now_.end(wait_policy::none);
    range_.close();
  }

  /// Enters a branch: the stream's part of the span, and a sample of this phase.
  /// Throws: only `std::bad_alloc`.
  [[nodiscard]] streamgauge::branch branch(stream_ref stream, phase const& part) {
    if (range_.is_open()) about_to_begin(part.node(), &stream, range_.begun_in());
    now_.expect(stream);
    return {now_, range_, &part.node(), &part.node(), stream};
  }
  /// Enters a branch without a phase of its own: a sample of the span's phase under branch=1, 2, ... as they are entered.
  /// Where the phase has a condition of its own by that name, the key is `span branch`; of devices, `span device`.
  [[nodiscard]] streamgauge::branch branch(stream_ref stream) {
    now_.expect(stream);
    series_node* const numbered =
        now_.open() || now_.lost()
            ? &now_.node().core.refine(now_.node(), {{branch_key(now_.node()), now_.next_branch()}})
            : nullptr;
    return {now_, range_, nullptr, numbered, stream};
  }

  /// Ends the measured part, waits until every device is done with it, and keeps the host time from entering to then as
  /// the completion. Where there is no device time to come (off, or refused) it returns at once: a wait is a measurement,
  /// not the program's synchronisation.
  /// Sync: waits for the stop events of the span, spinning or asleep; no other stream, no device.
  void wait(wait_policy policy) noexcept {
    if (!now_.open()) return;
    now_.unwinding() ? now_.give_up() : now_.end(policy);
  }

 private:
  void open(phase const& of, span_kind kind) noexcept {
    series_node& node = of.node();
    if (node.recorded == mode::off) return;
    about_to_begin(node, nullptr);
    range_.open(node);
    if (node.recorded == mode::time) now_.begin(node, kind, range_.begun_in());
  }
  void list(stream_ref stream) {
    now_.expect(stream);
    now_.list(stream);
  }

  phase_range range_;
  span_execution now_;
};

}  // namespace streamgauge

#endif
