#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/execution.hpp>
#include <streamgauge/measure/span_group.hpp>

namespace streamgauge {

/// Why intervals in another context cannot be joined with those in this one: it is dead, or it is another device's.
[[nodiscard]] inline absence why_other(driver_api const& cuda, context_key context) noexcept {
  absence const dead = why_dead(cuda, context);
  return dead == absence::none ? absence::other_device : dead;
}

/// Why a branch could not be joined again that forks from this origin in a graph: `absence::none` where it can.
/// Why: a stream that joins a stream capture and does not come back breaks it. Coming back takes an event.
[[nodiscard]] inline absence why_no_way_back(timed_slot const& origin, series_node const& part) noexcept {
  if (!part.entry.in_graph.load(std::memory_order_relaxed)) return absence::stream_capture;
  if (origin.pool->empty()) return absence::pool_full;
  return origin.pool->has_edges() ? absence::none : absence::not_prepared;
}

/// The key that tells rows of a span apart: another one where the program's own conditions hold it already.
/// Why: it would replace the program's value, and rows under different conditions would become one.
[[nodiscard]] inline char const* branch_key(series_node const& of) noexcept {
  return of.under.has("branch") ? "span branch" : "branch";
}
[[nodiscard]] inline char const* device_key(series_node const& of) noexcept {
  return of.under.has("device") ? "span device" : "device";
}

/// The groups of one execution of a span: one for each device that it has been seen on.
/// Why: devices share no clock. On one device the span's own sample has the wall; as soon as there is a second one, each
/// gets a sample of its own, under the condition device=N, and the span's has no device time.
/// Threads: under the lock of the span's lane, but for `expect`.
class span_groups {
 public:
  void begin(series_node& node) noexcept { node_ = &node; }

  /// Makes the series for a second device, and for the first one then. Under no lock, and before anything is recorded.
  /// Throws: only `std::bad_alloc`.
  void expect(lane& home, stream_ref stream);

  /// The group of the slot's device, made at the first asking; null, and why, where it cannot be.
  [[nodiscard]] span_group* of(timed_slot const& slot, execution const& now, absence& why) noexcept;

  [[nodiscard]] span_group* first() const noexcept { return first_; }
  [[nodiscard]] bool several() const noexcept { return several_; }
  void forget() noexcept { first_ = nullptr; }

 private:
  // A sample of its own for one of several devices; null without memory.
  [[nodiscard]] stored_sample* add_row(span_group& group, execution const& now) noexcept;

  [[nodiscard]] bool has_row(event_pool const& on) const noexcept {
    return node_->core.known(*node_, {{device_key(*node_), on.device()}}) != nullptr;
  }
  // The number of a context's device, -1 when CUDA does not say.
  [[nodiscard]] static int device_of(driver_api const& cuda, context_key context) noexcept {
    int device = -1;
    if (!alive(cuda, context)) return device;
    context_scope const current{cuda, context.handle};
    if (current.status() != cudaSuccess || cuda.context_device(&device) != cudaSuccess) device = -1;
    return device;
  }

  series_node* node_ = nullptr;
  span_group* first_ = nullptr;
  context_key expected_;  // of the first stream that was expected
  bool several_ = false;
};

inline void span_groups::expect(lane& home, stream_ref stream) {
  driver_answer const cuda = driver();
  if (!cuda.api) return;
  context_answer const found = context_of(*cuda.api, stream);
  if (found.status != cudaSuccess) return;  // the branch will meet it too, and say so
  int first = -1;
  context_key other;
  {
    brief_guard const guard{home.lock};
    for (span_group const* each = first_; each; each = each->next)
      if (each->pool->context() == found.key) return;
    // The first one may be expected on another thread, and not be there yet.
    if (!expected_.handle) expected_ = found.key;
    other = expected_;
    if (first_) first = first_->pool->device();
    if (!first_ && other == found.key) return;
  }
  if (first < 0) first = device_of(*cuda.api, other);
  int const second = device_of(*cuda.api, found.key);
  if (first < 0 || second < 0) {
    brief_guard const guard{home.lock};
    static_cast<void>(home.refuse(cudaErrorUnknown, node_->name()));
    return;
  }
  static_cast<void>(node_->core.refine(*node_, {{device_key(*node_), first}}));
  static_cast<void>(node_->core.refine(*node_, {{device_key(*node_), second}}));
}

inline stored_sample* span_groups::add_row(span_group& group, execution const& now) noexcept {
  series_node* const row = node_->core.known(*node_, {{device_key(*node_), group.pool->device()}});
  stored_sample* const added = row ? now.home()->add_sample() : nullptr;
  if (!added) {
    (row ? row : node_)->lost.fetch_add(1, std::memory_order_relaxed);
    return nullptr;
  }
  added->series = row->index;
  added->entered = now.entered();
  added->device = absence::still_open;
  added->parent = node_->index;
  added->thread = now.where()->thread;
  added->part = span_part::whole;
  added->span = group.number;
  added->warmup = now.where()->warmup;
  return added;
}

inline span_group* span_groups::of(timed_slot const& slot, execution const& now, absence& why) noexcept {
  span_group* last = nullptr;
  for (span_group* each = first_; each; each = each->next) {
    last = each;
    if (each->pool != slot.pool) continue;
    if (each->in_graph == slot.in_graph) return each;
    why = absence::stream_capture;
    return nullptr;
  }
  for (span_group const* each = first_; each; each = each->next) {
    if (each->pool->device() != slot.pool->device()) continue;
    // Another context of a device that has a row already, mostly another life of it: its intervals cannot be joined.
    why = why_other(*driver().api, each->pool->context());
    return nullptr;
  }
  if (last && (slot.in_graph || last->in_graph)) {
    why = absence::other_device;  // the samples of a replay are those of one device
    return nullptr;
  }
  if (last && !(has_row(*slot.pool) && has_row(*first_->pool))) {
    why = absence::call_failed;  // a call of `expect`
    return nullptr;
  }
  span_group* const group = span_group::take(*now.home());
  if (!group) {
    why = absence::no_memory;
    return nullptr;
  }
  stored_sample& own = *now.where();
  group->pool = slot.pool;
  group->number = node_->core.next_span();
  group->series = node_->index;
  group->parent = own.parent;
  group->in_graph = slot.in_graph;
  (last ? last->next : first_) = group;
  if (slot.in_graph) {
    own.series = stored_sample::no_series;  // its samples come with the replays
  } else if (!last) {
    group->where = &own;
    own.span = group->number;
  } else {
    if (!several_) first_->where = add_row(*first_, now);
    several_ = true;
    own.span = 0;
    group->where = add_row(*group, now);
  }
  return group;
}

}  // namespace streamgauge

#endif
