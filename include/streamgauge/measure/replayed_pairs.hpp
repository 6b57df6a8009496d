#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/graph_api.hpp>
#include <streamgauge/measure/replay_nesting.hpp>
#include <streamgauge/measure/span_group.hpp>

namespace streamgauge {

/// The intervals inside one graph, their events swapped from launch to launch.
/// Threads: one at a time.
class replayed_pairs {
 public:
  explicit replayed_pairs(recorder_core& core) noexcept : core_{core} {}

  /// Finds the intervals of the recorder's phases among the record nodes of a graph.
  /// Throws: only `std::bad_alloc`.
  void find(std::vector<record_node> const& nodes);

  /// Notes for their phases which phase is around the launch: the one that tools can select.
  void note_launches(phase_entry const& launches) const noexcept;

  [[nodiscard]] std::size_t size() const noexcept { return pairs_.size(); }
  [[nodiscard]] context_key context() const noexcept { return pairs_.front().captured->pool->context(); }
  /// How many event records a launch makes.
  [[nodiscard]] std::uint32_t records() const noexcept { return static_cast<std::uint32_t>(2 * pairs_.size()); }
  [[nodiscard]] char const* name() const noexcept { return pairs_.front().captured->phase; }

  /// Takes events and samples for a launch from the lane of the launching thread; without a pool the samples say why.
  /// Under the lane's lock.
  void prepare(lane& mine, event_pool* pool, absence why, stream_ref stream, std::uint32_t parent,
               nanoseconds now) noexcept;
  /// Lets the executable graph record them; CUDA's status. After a failure it is not known what it records.
  [[nodiscard]] int swap(graph_api const& cuda, cudaGraphExec_t executable) noexcept;
  /// After the launch: the intervals wait for the device, or are given up. Under the lane's lock.
  void launched(lane& mine, absence why) noexcept;
  /// Before a launch: where it has no events from a pool, the graph's own will be recorded. Under no lock.
  void expect_own() noexcept;
  /// What was recorded before goes back to its pool once it was read. Under no lock.
  void let_go_of_earlier(lane& mine) noexcept;
  /// The same of what is recorded now: the executable graph records its own events from now on, or nothing.
  void let_go() noexcept;
  /// After a swap that failed at the end: what is recorded now never goes back, but may still be read. Under no lock.
  void keep_from_pools() noexcept;
  /// Whether the executable graph records events of a pool now.
  [[nodiscard]] bool swapped() const noexcept;
  /// After a swap that failed: what the executable graph may or may not record is never used again. Under no lock.
  void abandon(lane& mine, absence why) noexcept;

  /// Whether the events that were read last were recorded once more since: by a launch that nobody told of.
  [[nodiscard]] bool recorded_past_us(driver_api const& cuda) noexcept;

 private:
  static void let_go(replayed_pair& pair) noexcept;
  [[nodiscard]] span_group* group_after(series_node& node, lane& mine, span_group const& captured, std::uint32_t parent,
                                        nanoseconds now, stage in) noexcept;

  recorder_core& core_;
  std::vector<replayed_pair> pairs_;
  std::vector<replayed_span> groups_;
  replay_nesting nesting_;
};

inline void replayed_pairs::find(std::vector<record_node> const& nodes) {
  auto const node_of = [&nodes](cudaEvent_t event) {
    for (record_node const& each : nodes)
      if (each.event == event) return each.node;
    return cudaGraphNode_t{};
  };
  for (lane* each = core_.lanes(); each; each = each->next) {
    std::size_t count = 0;
    {
      brief_guard const guard{each->lock};
      for (timed_slot const* slot = each->captured; slot; slot = slot->next) ++count;
    }
    pairs_.reserve(pairs_.size() + count);  // not under the lock
    brief_guard const guard{each->lock};
    timed_slot* slot = each->captured;
    for (std::size_t left = count; slot && left > 0; slot = slot->next, --left) {
      replayed_pair const pair{core_.node_of(slot->series), slot, each,   node_of(slot->start),
                               node_of(slot->stop),         slot, nullptr};
      if (!pair.node || !pair.start || !pair.stop) continue;
      pairs_.push_back(pair);
      if (!slot->keeper) continue;
      auto const* const group = static_cast<span_group const*>(slot->keeper);
      bool known = false;
      for (replayed_span const& one : groups_) known = known || one.captured == group;
      if (!known) groups_.push_back({core_.node_of(group->series), group, nullptr, no_place, 0});
    }
  }
  // In the order in which they were left: the newest of a lane stood first.
  for (std::size_t i = 0; i < pairs_.size() / 2; ++i) std::swap(pairs_[i], pairs_[pairs_.size() - 1 - i]);
  for (std::size_t i = 0; i < groups_.size() / 2; ++i) std::swap(groups_[i], groups_[groups_.size() - 1 - i]);
  find_nesting(nesting_, pairs_, groups_);
}

inline void replayed_pairs::note_launches(phase_entry const& launches) const noexcept {
  for (phase_entry* each = core_.entries(); each; each = each->next)
    for (replayed_pair const& pair : pairs_)
      if (pair.captured->phase == each->label.text().c_str())
        each->launched_by.store(&launches, std::memory_order_relaxed);
}

inline void replayed_pairs::prepare(lane& mine, event_pool* pool, absence why, stream_ref stream, std::uint32_t parent,
                                    nanoseconds now) noexcept {
  nesting_.begin();
  for (replayed_span& each : groups_)
    each.group = group_after(*each.node, mine, *each.captured, parent, now, nesting_.stage_of(each.place));
  for (replayed_pair& pair : pairs_) {
    timed_slot const& captured = *pair.captured;
    absence missing = why;
    pair.next = pool ? mine.take_from(*pool, stream, missing, captured.phase) : nullptr;
    span_group* group = nullptr;
    for (replayed_span const& each : groups_)
      if (each.captured == captured.keeper) group = each.group;
    bool const counts = captured.where != nullptr;  // not a stream of a span that counts for the wall alone
    stored_sample* const kept =
        counts ? add_replay(*pair.node, mine, captured, parent, now, nesting_.stage_of(pair.place)) : nullptr;
    if (kept) {
      if (!pair.next) kept->device = kept->begins = missing;
      kept->span = group ? group->number : 0;
    }
    if (!pair.next) {
      if (group) group->spoil(missing);
      continue;
    }
    pair.next->where = kept;
    pair.next->series = captured.series;
    pair.next->held = pair.next->replayed = true;
    if (group) group->add(*pair.next);
  }
}

inline span_group* replayed_pairs::group_after(series_node& node, lane& mine, span_group const& captured,
                                               std::uint32_t parent, nanoseconds now, stage in) noexcept {
  span_group* const group = span_group::take(mine);
  stored_sample* const kept = group ? mine.add_sample() : nullptr;
  if (!kept) node.lost.fetch_add(1, std::memory_order_relaxed);
  if (!group) return nullptr;
  group->pool = captured.pool;
  group->number = core_.next_span();
  group->series = captured.series;
  group->spoiled = captured.spoiled;
  group->where = kept;
  if (!kept) return group;
  kept->series = captured.series;
  kept->warmup = in != stage::steady;
  kept->entered = now;
  kept->device = absence::still_open;
  kept->parent = captured.parent == stored_sample::no_series ? parent : captured.parent;
  kept->thread = mine.thread;
  kept->records_inside = captured.records;
  kept->part = span_part::whole;
  kept->span = group->number;
  return group;
}

inline int replayed_pairs::swap(graph_api const& cuda, cudaGraphExec_t executable) noexcept {
  for (replayed_pair& pair : pairs_) {
    // Also where it was the same before: an update of the executable graph brings other events.
    timed_slot* const wanted = pair.next ? pair.next : pair.captured;
    int status = cuda.set_event(executable, pair.start, wanted->start);
    if (status == cudaSuccess) status = cuda.set_event(executable, pair.stop, wanted->stop);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

inline void replayed_pairs::expect_own() noexcept {
  for (replayed_pair const& pair : pairs_) {
    if (pair.next) continue;
    brief_guard const guard{pair.captured_in->lock};
    pair.captured->seen = absence::not_asked;
  }
}

inline void replayed_pairs::launched(lane& mine, absence why) noexcept {
  for (replayed_pair const& pair : pairs_) {
    if (!pair.next) continue;
    if (why == absence::none) {
      mine.wait_for_device(*pair.next);
    } else {
      if (pair.next->where) pair.next->where->device = why;
      mine.release(*pair.next, why);
    }
  }
  for (replayed_span& each : groups_) {
    span_group* const group = std::exchange(each.group, nullptr);
    if (!group) continue;
    if (why != absence::none) group->spoil(why);
    group->end();
  }
}

inline void replayed_pairs::let_go_of_earlier(lane& mine) noexcept {
  for (replayed_pair& pair : pairs_) {
    let_go(pair);
    if (!pair.next) continue;
    pair.now = std::exchange(pair.next, nullptr);
    pair.now_in = &mine;
  }
}

inline void replayed_pairs::let_go(replayed_pair& pair) noexcept {
  timed_slot* const earlier = std::exchange(pair.now, pair.captured);
  lane* const in = std::exchange(pair.now_in, nullptr);
  if (!in) return;
  brief_guard const guard{in->lock};
  earlier->held = false;
  if (earlier->idle) in->put_back(*earlier);
}

inline void replayed_pairs::let_go() noexcept {
  for (replayed_pair& pair : pairs_) let_go(pair);
}

inline void replayed_pairs::keep_from_pools() noexcept {
  for (replayed_pair const& pair : pairs_) {
    if (!pair.now_in) continue;
    brief_guard const guard{pair.now_in->lock};
    pair.now->pool->give_to_graph(*pair.now);
  }
}

inline bool replayed_pairs::swapped() const noexcept {
  for (replayed_pair const& pair : pairs_)
    if (pair.now_in) return true;
  return false;
}

inline void replayed_pairs::abandon(lane& mine, absence why) noexcept {
  for (replayed_pair& pair : pairs_) {
    if (pair.now_in) {
      // Its reading may be that of another launch soon.
      brief_guard const guard{pair.now_in->lock};
      if (!pair.now->idle && pair.now->seen == observation{absence::still_open}) pair.now_in->settle(*pair.now, why);
      pair.now->pool->give_to_graph(*pair.now);
    }
    if (!pair.next) continue;
    brief_guard const guard{mine.lock};
    if (pair.next->where) pair.next->where->device = why;
    mine.release(*pair.next, why);
    pair.next->pool->give_to_graph(*pair.next);
    pair.next = nullptr;
  }
}

inline bool replayed_pairs::recorded_past_us(driver_api const& cuda) noexcept {
  replayed_pair const& pair = pairs_.front();
  if (!alive(cuda, context())) return false;
  brief_guard const guard{(pair.now_in ? pair.now_in : pair.captured_in)->lock};
  if (pair.now_in && !pair.now->seen.known()) return false;  // not read yet
  return recorded_again(cuda, *pair.now);
}

}  // namespace streamgauge

#endif
