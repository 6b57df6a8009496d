#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include <streamgauge/measure/event.hpp>

namespace streamgauge {

struct stored_sample;
class event_pool;
class lane;
struct timed_slot;

/// What keeps an event pair from its pool after it was read: a span needs the pairs of all its branches at once.
/// Threads: under the lock of the lane that it belongs to, which destroys it.
struct slot_keeper {
  void (*settled)(slot_keeper&, lane&, timed_slot&) noexcept;  ///< the pair was read or given up: its `seen` says which
  void (*destroy)(slot_keeper*) noexcept;
  slot_keeper* next_made = nullptr;
  slot_keeper* next_spare = nullptr;
};

/// A device's clock, as far as an interval has to do with it: `clock_map` is one.
struct pool_clock {
  void (*place)(pool_clock& on, timed_slot& slot, nanoseconds later, stored_sample& into) noexcept;
};

/// An event pair with its place in a list: free in its pool, or under way until the device has passed the stop.
struct timed_slot {
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  cudaEvent_t edge = nullptr;  ///< untimed, for a dependency; there once a joined span has needed one
  timed_slot* next = nullptr;
  timed_slot* previous = nullptr;
  event_pool* pool = nullptr;
  stored_sample* where = nullptr;  ///< the sample that the reading belongs to; null: it has none of its own
  cudaStream_t stream = nullptr;   ///< compared within one sweep, and used while its phase is open
  char const* phase = "";          ///< whose interval it is, for the problems
  std::uint64_t ticket = 0;        ///< counts up, so that a waiter knows the slot again
  std::uint32_t series = 0;        ///< the same, by the series' number
  cudaStream_t numbered = nullptr;  ///< the stream that `number` is of
  std::uint16_t number = 0;        ///< in `stream_numbers`; 0: none yet

  // What only spans and graphs use.
  slot_keeper* keeper = nullptr;          ///< told when it was read; null: it goes back to its pool then
  nanoseconds begins{0};                  ///< within its span: device time from the event in common to its start
  timed_slot* beside = nullptr;           ///< the next one of the same span
  observation seen{absence::still_open};  ///< what the reading was; still open: there was none
  bool edge_recorded = false;             ///< the origin of its span has something to wait for
  bool replayed = false;                  ///< a launch of a graph records it this time
  bool in_graph = false;                  ///< a graph records it, for good: it never goes back
  bool held = false;                      ///< an executable graph may record it again: it does not go back yet
  bool idle = false;                      ///< while held: it was read
};

/// The event pairs of one thread in one life of one context.
/// Why: making an event costs a tenth of a launch or more, so all are made when a thread first measures in a context, none
/// between a start and its stop.
/// Threads: one at a time; a lane guards its own.
class event_pool {
 public:
  event_pool() = default;
  event_pool(event_pool const&) = delete;
  event_pool& operator=(event_pool const&) = delete;
  ~event_pool() {
    while (chunk* const gone = chunks_) {
      chunks_ = gone->next;
      delete[] gone->slots;
      delete gone;
    }
  }

  /// Makes `count` pairs in the context, or as many as CUDA gives; the first status that was not success.
  /// Sync: none. Capture: allowed.
  [[nodiscard]] int open(driver_api const& cuda, context_key context, std::size_t count) noexcept {
    context_scope const current{cuda, context.handle};
    if (current.status() != cudaSuccess) return current.status();
    context_ = context;
    if (cuda.context_device(&device_) != cudaSuccess) device_ = -1;
    // Without it a wait that should sleep spins, and the sample says so.
    if (cuda.event_create(&sleeper_, cudaEventBlockingSync | cudaEventDisableTiming) != cudaSuccess) sleeper_ = nullptr;
    int const status = add(cuda, count);
    if (made_ > 0) return cudaSuccess;
    if (sleeper_) cuda.event_destroy(std::exchange(sleeper_, nullptr));
    return status;
  }

  /// Makes as many new pairs as graphs have taken for good.
  /// Requires: the context is current. Sync: none.
  void replace_taken(driver_api const& cuda) noexcept {
    std::size_t const missing = std::exchange(taken_, 0);
    std::size_t const before = made_;
    if (missing > 0) static_cast<void>(add(cuda, missing));
    taken_ = missing - (made_ - before);
  }

  /// Makes the untimed events that joined spans need, one for each pair that has none yet; CUDA's status.
  /// Sync: none.
  [[nodiscard]] int make_edges(driver_api const& cuda) noexcept {
    if (edges_ == made_) return cudaSuccess;
    context_scope const current{cuda, context_.handle};
    int status = current.status();
    edges_ = 0;
    for (chunk* each = chunks_; each && status == cudaSuccess; each = each->next) {
      for (std::size_t i = 0; i < each->made && status == cudaSuccess; ++i) {
        if (each->slots[i].in_graph) continue;
        cudaEvent_t& edge = each->slots[i].edge;
        if (!edge) status = cuda.event_create(&edge, cudaEventDisableTiming);
        if (status == cudaSuccess) ++edges_;
      }
    }
    return status;
  }
  [[nodiscard]] bool has_edges() const noexcept { return edges_ == made_; }

  [[nodiscard]] context_key context() const noexcept { return context_; }
  [[nodiscard]] int device() const noexcept { return device_; }  ///< the device's number, -1 when CUDA did not say
  [[nodiscard]] bool empty() const noexcept { return free_ == nullptr; }
  [[nodiscard]] bool half_used() const noexcept { return 2 * used_ >= made_; }
  /// An untimed event on whose completion the pool's own thread can sleep; null when it could not be made.
  [[nodiscard]] cudaEvent_t sleeper() const noexcept { return sleeper_; }

  /// Requires: not `empty()`.
  [[nodiscard]] timed_slot& take() noexcept {
    timed_slot& slot = *free_;
    free_ = slot.next;
    ++used_;
    slot.where = nullptr;
    slot.keeper = nullptr;
    slot.beside = nullptr;
    slot.seen = absence::still_open;
    slot.held = slot.idle = slot.edge_recorded = slot.replayed = false;
    return slot;
  }

  void give_back(timed_slot& slot) noexcept {
    slot.next = free_;
    free_ = &slot;
    --used_;
  }

  /// A pair that a graph records from now on: it stays out until the recorder ends. `seen` stays what it read before.
  /// Requires: not `empty()`.
  [[nodiscard]] timed_slot& take_for_graph() noexcept {
    observation const before = free_->seen;
    timed_slot& slot = take();
    slot.seen = before;
    give_to_graph(slot);
    return slot;
  }
  /// A graph may record the pair at any time from now on: it stays out until the recorder ends.
  void give_to_graph(timed_slot& slot) noexcept {
    slot.in_graph = true;
    --used_;
    --made_;
    if (slot.edge && edges_ > 0) --edges_;
    ++taken_;
    in_graphs_ = true;
  }
  /// Whether something outside still points at its slots.
  [[nodiscard]] bool referred_to() const noexcept { return used_ > 0 || in_graphs_; }

  /// Takes a slot back whose events must not be touched: their context is gone.
  void abandon() noexcept { --used_; }

  /// Destroys the events of a slot that nobody uses any more, if their context still lives: touching them otherwise would
  /// crash. An event that the device has not reached yet is destroyed by CUDA once it has; one that a launch of a graph
  /// records still goes with the context.
  void retire(driver_api const& cuda, timed_slot& slot) noexcept {
    --used_;
    bool const still_recorded = slot.replayed && elapsed(cuda, slot.start, slot.stop).status != cudaSuccess;
    if (!alive(cuda, context_)) return;
    destroy_edge(cuda, slot);
    if (still_recorded) return;
    cuda.event_destroy(slot.start);
    cuda.event_destroy(slot.stop);
  }

  /// Destroys what is free. A phase that is open still has its slot, and retires it when it ends. What was given to graphs
  /// goes with the context: CUDA crashes where a graph records an event that was destroyed (H200).
  void close(driver_api const& cuda) noexcept {
    if (!gone() && sleeper_ && alive(cuda, context_)) cuda.event_destroy(sleeper_);
    sleeper_ = nullptr;
    while (!empty()) retire(cuda, take());
    bool const touchable = !gone() && in_graphs_ && alive(cuda, context_);
    for (chunk* each = touchable ? chunks_ : nullptr; each; each = each->next)
      for (std::size_t i = 0; i < each->made; ++i)
        if (each->slots[i].in_graph) destroy_edge(cuda, each->slots[i]);
    forget();
  }

  /// Gives no event any more: the context is gone, or the recorder.
  void forget() noexcept {
    gone_.store(true, std::memory_order_relaxed);
    free_ = nullptr;
  }
  [[nodiscard]] bool gone() const noexcept { return gone_.load(std::memory_order_relaxed); }

  event_pool* next = nullptr;  ///< the lane's next pool
  pool_clock* clock = nullptr;  ///< places what it times on the host's clock; null: nobody asked for that

 private:
  struct chunk {
    timed_slot* slots = nullptr;
    std::size_t made = 0;
    chunk* next = nullptr;
  };

  // Requires: the context is current.
  [[nodiscard]] int add(driver_api const& cuda, std::size_t count) noexcept {
    // More than an array can hold would throw even so.
    if (count > (std::size_t{1} << 40) / sizeof(timed_slot)) return cudaErrorMemoryAllocation;
    auto* const fresh = new (std::nothrow) chunk;
    if (!fresh) return cudaErrorMemoryAllocation;
    fresh->slots = new (std::nothrow) timed_slot[count];
    if (!fresh->slots) {
      delete fresh;
      return cudaErrorMemoryAllocation;
    }
    fresh->next = chunks_;
    chunks_ = fresh;
    for (std::size_t i = 0; i < count; ++i) {
      timed_slot& slot = fresh->slots[i];
      slot.pool = this;
      if (int const status = cuda.event_create(&slot.start, cudaEventDefault); status != cudaSuccess) return status;
      if (int const status = cuda.event_create(&slot.stop, cudaEventDefault); status != cudaSuccess) {
        cuda.event_destroy(slot.start);
        return status;
      }
      ++fresh->made;
      ++made_;
      ++used_;
      give_back(slot);
    }
    return cudaSuccess;
  }

  // No node of a graph refers to an edge.
  static void destroy_edge(driver_api const& cuda, timed_slot& slot) noexcept {
    if (slot.edge) cuda.event_destroy(std::exchange(slot.edge, nullptr));
  }

  context_key context_;  // as it was when the pool was opened, for good
  std::atomic<bool> gone_{false};
  int device_ = -1;
  chunk* chunks_ = nullptr;
  timed_slot* free_ = nullptr;
  std::size_t made_ = 0;   // in turn between the pool and the intervals
  std::size_t used_ = 0;   // under way
  std::size_t taken_ = 0;  // by graphs, and not replaced
  bool in_graphs_ = false;
  std::size_t edges_ = 0;  // pairs in turn that have an edge
  cudaEvent_t sleeper_ = nullptr;
};

/// Whether the events of a captured interval were recorded since they were looked at last, by a launch that nobody told
/// of. Where a launch of ours records them, `seen` is set to `not_asked` before it: the next reading is then taken over.
/// Requires: their context lives. Sync: none. Capture: allowed.
[[nodiscard]] inline bool recorded_again(driver_api const& cuda, timed_slot& captured) noexcept {
  elapsed_answer const now = elapsed(cuda, captured.start, captured.stop);
  bool const pending = now.status == cudaErrorNotReady;
  if (!pending && now.status != cudaSuccess) return false;
  observation const before = captured.seen;
  bool const comparable = before.known() || before == observation{absence::still_open};
  if (!pending)
    captured.seen = now.time;
  else if (comparable)
    captured.seen = absence::unread;
  return comparable && captured.seen != before;
}

}  // namespace streamgauge
