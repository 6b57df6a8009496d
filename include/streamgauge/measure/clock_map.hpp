#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <atomic>
#include <vector>

#include <streamgauge/analyze/clock_fit.hpp>
#include <streamgauge/analyze/plain_array.hpp>
#include <streamgauge/measure/clock_anchors.hpp>
#include <streamgauge/measure/event_pool.hpp>
#include <streamgauge/measure/sample_store.hpp>

namespace streamgauge {

/// What is known of a device's clock around one anchor: the anchor's own window, and of the program's samples the one that
/// says most of how early and the one that says most of how late.
struct clock_knowledge {
  clock_window anchor;
  clock_window start;  ///< an interval began no earlier than its phase was entered
  clock_window end;    ///< and had ended when it was read

  /// What says more of either stays.
  static void join(clock_window& mine, clock_window const& other) noexcept {
    auto const width = [](clock_window const& of) {
      bool const open = of.earliest == clock_window::open_before || of.latest == clock_window::open_after;
      return open ? clock_window::open_after : of.latest - of.earliest;
    };
    if (width(other) < width(mine)) mine = other;
  }
  void add_start(clock_window const& seen) noexcept {
    bool const none = start.earliest == clock_window::open_before;
    if (none || seen.earliest - seen.device > start.earliest - start.device) start = seen;
  }
  void add_end(clock_window const& seen) noexcept {
    bool const none = end.latest == clock_window::open_after;
    if (none || seen.latest - seen.device < end.latest - end.device) end = seen;
  }
  void join(clock_knowledge const& other) noexcept {
    join(anchor, other.anchor);
    if (other.start.earliest != clock_window::open_before) add_start(other.start);
    if (other.end.latest != clock_window::open_after) add_end(other.end);
  }
};

/// One device's clock beside the host's, in one life of its context.
/// Why: where device time lies on the host's clock is told without CUPTI, so also while a tool owns that: by events of ours
/// on a stream of ours, recorded between two readings of the host's clock. Such an event is looked at for a few
/// microseconds and otherwise later, never waited for: a stream of ours may stand behind the program's in hardware. What a
/// look finds late says little and is thrown away as a window; as a reference for elapsed times it serves all the same.
/// Threads: any.
class clock_map : public pool_clock {
 public:
  /// How often an anchor is due, and how long it is looked at: a ten-thousandth of the time.
  static constexpr nanoseconds period{100'000'000};
  static constexpr nanoseconds patience{10'000};
  /// A wider window says less than its neighbours do.
  static constexpr nanoseconds widest{50'000};
  /// Further from the nearest anchor an elapsed time no longer tells 32 ns.
  static constexpr nanoseconds furthest{500'000'000};

  clock_map(context_key context, int device, std::uint8_t number, host_stamp origin) noexcept
      : pool_clock{&place_on}, context_{context}, device_{device}, number_{number}, origin_{origin} {}
  clock_map(clock_map const&) = delete;
  clock_map& operator=(clock_map const&) = delete;

  /// Makes the stream and the first anchors; CUDA's status.
  /// Sync: looks at each anchor for some microseconds. Capture: allowed; nothing that is being captured is touched.
  int start(driver_api const& cuda) noexcept {
    brief_guard const guard{lock_};
    if (!anchors_.prepare()) return status_ = cudaErrorMemoryAllocation;
    relaxed_capture_mode const relaxed{cuda};
    context_scope const current{cuda, context_.handle};
    status_ = relaxed.status() == cudaSuccess ? current.status() : relaxed.status();
    if (status_ == cudaSuccess) status_ = cuda.stream_create(&stream_, cudaStreamNonBlocking);
    if (status_ != cudaSuccess) stream_ = nullptr;
    for (std::size_t i = 0; i < first_anchors; ++i) anchor_locked(cuda);
    return status_;
  }

  /// Records an anchor and looks at it, and at those that wait.
  /// Sync: looks for some microseconds at most. Capture: as `start`.
  void anchor(driver_api const& cuda) noexcept {
    brief_guard const guard{lock_};
    if (!stream_) return;
    if (!alive(cuda, context_)) return forget();
    relaxed_capture_mode const relaxed{cuda};
    context_scope const current{cuda, context_.handle};
    if (relaxed.status() == cudaSuccess && current.status() == cudaSuccess) anchor_locked(cuda);
  }

  /// Notes in a sample when its interval began, as a moment of this clock, and learns from it.
  /// Requires: `into` has its device time, which began `later` after the device had passed the slot's start.
  /// Sync: none. Capture: allowed.
  void place(driver_api const& cuda, timed_slot& slot, nanoseconds later, stored_sample& into) noexcept {
    nanoseconds const read = host_now() - origin_;
    brief_guard const guard{lock_};
    into.clock = number_;
    into.begins = absence::no_clock;
    clock_anchor const* near_by = stream_ && alive(cuda, context_) ? anchors_.nearest(into.entered) : nullptr;
    if (!near_by) return;
    elapsed_answer since = elapsed(cuda, near_by->event, slot.start);
    if (since.status == cudaSuccess && is_beyond(period, since.time)) {
      near_by = &anchors_.nearest_on_device(near_by->at + since.time.count());
      since = elapsed(cuda, near_by->event, slot.start);
    }
    if (since.status != cudaSuccess || is_beyond(furthest, since.time)) return;
    std::int64_t const start = near_by->at + since.time.count();
    std::int64_t const begin = start + later.count();
    std::int64_t const end = begin + into.device.value()->count();
    // Not on the way from anchor to anchor, so it is no part of their blur: two samples may be off to different sides.
    std::int64_t const off = clock_anchors::rounding_of(since.time) + clock_anchors::rounding_of(*into.device.value());
    into.begins = nanoseconds{begin};
    // An event that a graph records again says something else soon.
    if (is_beyond(period, since.time) && !slot.replayed && !slot.in_graph && has_spare(cuda))
      anchors_.adopt(slot.start, spare_, {nullptr, into.entered, start, near_by->blur + off});
    if (knowledge_.size() == 0) return;
    clock_knowledge& known = knowledge_.data()[knowledge_.size() - 1];
    known.add_start({begin, into.entered.count() - off, clock_window::open_after, near_by->blur});
    nanoseconds const passed = into.completion.known() ? into.entered + *into.completion.value() : read;
    known.add_end({end, clock_window::open_before, passed.count() + off, near_by->blur});
  }

  /// All windows so far. Throws: only `std::bad_alloc`.
  [[nodiscard]] std::vector<clock_window> windows() {
    // Memory is asked for without the lock; what comes meanwhile is left for the next time.
    std::vector<clock_knowledge> copied(count_knowledge());
    std::size_t count = 0;
    {
      brief_guard const guard{lock_};
      for (; count < knowledge_.size() && count < copied.size(); ++count) copied[count] = knowledge_.data()[count];
    }
    std::vector<clock_window> found;
    for (std::size_t i = 0; i < count; ++i) {
      if (copied[i].anchor.latest != clock_window::open_after) found.push_back(copied[i].anchor);
      if (copied[i].start.earliest != clock_window::open_before) found.push_back(copied[i].start);
      if (copied[i].end.latest != clock_window::open_after) found.push_back(copied[i].end);
    }
    return found;
  }

  /// Destroys what is of ours in the context, if it still lives.
  void close(driver_api const& cuda) noexcept {
    brief_guard const guard{lock_};
    if (stream_ && alive(cuda, context_)) {
      anchors_.destroy(cuda);
      if (spare_) cuda.event_destroy(spare_);
      cuda.stream_destroy(stream_);
    }
    forget();
  }

  [[nodiscard]] context_key context() const noexcept { return context_; }
  [[nodiscard]] int device() const noexcept { return device_; }
  [[nodiscard]] std::uint8_t number() const noexcept { return number_; }  ///< within its recorder, from 1
  [[nodiscard]] int status() const noexcept { return status_; }
  [[nodiscard]] std::uint64_t recorded() const noexcept { return recorded_.load(std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t thrown_away() const noexcept { return thrown_away_.load(std::memory_order_relaxed); }

  clock_map* next = nullptr;  ///< the recorder's next

 private:
  static void place_on(pool_clock& on, timed_slot& slot, nanoseconds later, stored_sample& into) noexcept {
    driver_answer const cuda = into.device.known() ? driver() : driver_answer{};
    if (cuda.api) static_cast<clock_map&>(on).place(*cuda.api, slot, later, into);
  }
  [[nodiscard]] static bool is_beyond(nanoseconds limit, nanoseconds time) noexcept { return time > limit || time < -limit; }
  // Where the host is far ahead one after the other is wanted, before another anchor of ours is due.
  [[nodiscard]] bool has_spare(driver_api const& cuda) noexcept {
    if (spare_) return true;
    relaxed_capture_mode const relaxed{cuda};
    context_scope const current{cuda, context_.handle};
    bool const may = relaxed.status() == cudaSuccess && current.status() == cudaSuccess;
    if (!may || cuda.event_create(&spare_, cudaEventDefault) != cudaSuccess) spare_ = nullptr;
    return spare_ != nullptr;
  }
  [[nodiscard]] std::size_t count_knowledge() noexcept {
    brief_guard const guard{lock_};
    return knowledge_.size();
  }
  static constexpr std::size_t first_anchors = 3;
  static constexpr std::size_t knowledge_most = 16384;  // 1.5 MiB, after half an hour

  void forget() noexcept {
    stream_ = nullptr;
    spare_ = nullptr;
  }

  // Requires: the lock, the context current, the capture mode relaxed.
  void anchor_locked(driver_api const& cuda) noexcept {
    if (!stream_) return;
    while (clock_anchor const* const late = anchors_.look(cuda)) learn(*late, host_now() - origin_);
    begin_knowledge();
    if (!spare_ && cuda.event_create(&spare_, cudaEventDefault) != cudaSuccess) spare_ = nullptr;
    if (anchors_.enough_waiting()) return;
    clock_anchor& fresh = anchors_.next();
    if (!fresh.event && cuda.event_create(&fresh.event, cudaEventDefault) != cudaSuccess) {
      fresh.event = nullptr;
      return;
    }
    fresh.before = host_now() - origin_;
    if (cuda.event_record(fresh.event, stream_) != cudaSuccess) return;
    anchors_.recorded();
    recorded_.fetch_add(1, std::memory_order_relaxed);
    nanoseconds now = fresh.before;
    while (anchors_.waiting() > 0 && now - fresh.before < patience) {
      clock_anchor const* const passed = anchors_.look(cuda);
      now = host_now() - origin_;
      if (passed) return learn(*passed, now);
    }
  }

  // Where there is no memory, what comes adds to what is there. In a long run fewer are begun: all lie equally far apart.
  void begin_knowledge() noexcept {
    nanoseconds const now = host_now() - origin_;
    if (knowledge_.size() > 0 && now - begun_ < spacing_) return;
    begun_ = now;
    if (knowledge_.size() == knowledge_most) thin();
    std::size_t const wanted = knowledge_.room() > 0 ? 2 * knowledge_.room() : 64;
    if (knowledge_.size() < knowledge_.room() || knowledge_.reserve(wanted)) knowledge_.append(clock_knowledge{});
  }

  void learn(clock_anchor const& passed, nanoseconds now) noexcept {
    if (now - passed.before > widest || knowledge_.size() == 0) {
      thrown_away_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    clock_knowledge& known = knowledge_.data()[knowledge_.size() - 1];
    clock_knowledge::join(known.anchor, {passed.at, passed.before.count(), now.count(), passed.blur});
  }

  // Of every two neighbours one is left, with what says most of both.
  void thin() noexcept {
    clock_knowledge* const all = knowledge_.data();
    for (std::size_t i = 0; 2 * i + 1 < knowledge_.size(); ++i) {
      clock_knowledge both = all[2 * i];
      both.join(all[2 * i + 1]);
      all[i] = both;
    }
    knowledge_.resize(knowledge_.size() / 2);
    spacing_ = spacing_ < period ? 2 * period : 2 * spacing_;
  }

  context_key const context_;
  int const device_;
  std::uint8_t const number_;
  host_stamp const origin_;
  std::atomic<std::uint64_t> recorded_{0};
  std::atomic<std::uint64_t> thrown_away_{0};
  brief_lock lock_;  // what follows
  cudaStream_t stream_ = nullptr;
  cudaEvent_t spare_ = nullptr;  ///< for the program's event that becomes an anchor
  int status_ = cudaSuccess;
  clock_anchors anchors_;
  plain_array<clock_knowledge> knowledge_;
  nanoseconds begun_{0};    ///< when the last of them was
  nanoseconds spacing_{0};  ///< and how long after it the next one is
};

}  // namespace streamgauge

#endif
