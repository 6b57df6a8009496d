#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/measure/clock_calls.hpp>
#include <streamgauge/measure/kept_samples.hpp>
#include <streamgauge/measure/problem_log.hpp>
#include <streamgauge/measure/stream_numbers.hpp>

namespace streamgauge {

/// How much a recorder sets aside for each thread. Within it nothing is allocated after a thread's first phase.
struct capacity {
  std::size_t samples = 1000;    ///< beyond it, one block for each thousand
  std::size_t intervals = 1024;  ///< that wait for the device at a time, in each context; beyond it they are dropped
};

/// One thread's share of a recorder: its samples, its event pools, its intervals that wait for the device.
/// Why: threads that measure do not meet. The lock is taken by the lane's own thread and, at times, by one that collects
/// or that ends a started phase.
/// Threads: hold `lock` around every call but `left_behind`, which takes it.
class lane {
 public:
  lane(capacity limits, problem_log& problems, stream_numbers& streams) noexcept
      : limits_{limits}, problems_{problems}, streams_{streams}, samples_{limits.samples} {}
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  ~lane() {
    while (event_pool* const gone = pools_) {
      pools_ = gone->next;
      delete gone;
    }
    while (slot_keeper* const gone = keepers_) {
      keepers_ = gone->next_made;
      gone->destroy(gone);
    }
  }

  /// Keeps room for a sample; null without memory.
  [[nodiscard]] stored_sample* add_sample() noexcept {
    // Early where no interval is open, so that an allocation seldom falls inside one.
    return samples_.add(open_intervals == 0 ? sample_store::ahead : 0, open_intervals + open_scopes);
  }

  [[nodiscard]] bool has_room() noexcept { return samples_.has_room(); }  ///< for the next sample

  /// A slot for an interval on the stream, or the reason why there is none.
  /// Sync: none; reads back finished intervals when half of the pool is under way.
  /// Capture: a stream in a capture is told apart, nothing is recorded on it.
  [[nodiscard]] timed_slot* reserve(stream_ref stream, absence& why, char const* phase) noexcept {
    event_pool* const pool = pool_for(stream, why, phase);
    return pool ? take_from(*pool, stream, why, phase) : nullptr;
  }

  /// The pool of the stream's context, or the reason why nothing can be recorded on the stream now.
  /// Sync: none; the first time in a context its events are made. Capture: allowed.
  [[nodiscard]] event_pool* pool_for(stream_ref stream, absence& why, char const* phase) noexcept {
    driver_answer const cuda = driver();
    why = cuda.why;
    if (!cuda.api) {
      if (cuda.status != cudaSuccess) why = refuse(cuda.status, phase);
      return nullptr;
    }
    context_answer const found = context_of(*cuda.api, stream);
    int status = found.status;
    if (status == cudaSuccess) status = may_record(*cuda.api, stream, found.key);
    event_pool* const pool = status == cudaSuccess ? pool_of(*cuda.api, found.key, status) : nullptr;
    if (!pool) why = refuse(status, phase);
    return pool;
  }

  /// A slot of the pool; when half of it is under way, what is done is read back first.
  /// Requires: there is a driver. Sync: none.
  [[nodiscard]] timed_slot* take_from(event_pool& pool, stream_ref stream, absence& why, char const* phase) noexcept {
    if (pool.half_used()) {
      if (open_intervals == 0 || pool.empty())
        harvest(*driver().api);
      else
        harvest_oldest(*driver().api);
    }
    if (pool.empty()) {
      // Reading back may have found that the context is gone meanwhile.
      why = pool.gone() ? absence::context_gone : absence::pool_full;
      return nullptr;
    }
    timed_slot& slot = pool.take();
    slot.stream = stream.handle();
    slot.phase = phase;
    return &slot;
  }

  /// The pool of a context that this lane has measured in before.
  [[nodiscard]] event_pool* known_pool(context_key context) const noexcept {
    event_pool* pool = pools_;
    while (pool && (pool->gone() || !(pool->context() == context))) pool = pool->next;
    return pool;
  }

  /// The reason that a status stands for, noted as a problem where it is one.
  [[nodiscard]] absence refuse(int status, char const* phase) noexcept {
    absence const why = absence_of(status);
    if (why == absence::earlier_work_failed) problems_.note(trouble::earlier_work_failed, phase, status);
    if (why == absence::call_failed) problems_.note(trouble::call_failed, phase, status);
    return why;
  }

  /// Takes a slot back whose interval will not be waited for; `seen` is what became of it.
  void release(timed_slot& slot, observation seen) noexcept {
    slot.seen = seen;
    slot.keeper ? slot.keeper->settled(*slot.keeper, *this, slot) : put_back(slot);
  }

  /// Puts a slot back into its pool once nothing can record its events any more. After the recorder they go with it.
  void put_back(timed_slot& slot) noexcept {
    slot.idle = slot.held;
    if (slot.held || slot.in_graph) return;
    if (!closed) return slot.pool->gone() ? slot.pool->abandon() : slot.pool->give_back(slot);
    if (driver_answer const cuda = driver(); cuda.api) slot.pool->retire(*cuda.api, slot);
  }

  /// The interval is recorded: it waits for the device from now on.
  void wait_for_device(timed_slot& slot) noexcept {
    slot.ticket = ++last_ticket_;
    slot.next = nullptr;
    slot.previous = newest_;
    (newest_ ? newest_->next : oldest_) = &slot;
    newest_ = &slot;
  }

  /// An interval that waits was read, or is given up.
  void settle(timed_slot& slot, observation seen) noexcept {
    unlink(slot);
    if (slot.where) slot.where->device = seen;
    if (slot.where && seen.known()) slot.where->stream = streams_.number_of(slot, slot.where->thread);
    // Parts of a span are placed with it.
    if (slot.where && !slot.keeper) place_interval(slot, nanoseconds{0}, *slot.where);
    release(slot, seen);
  }

  /// A keeper that is not in use, of those that were given back or made here before.
  [[nodiscard]] slot_keeper* spare_keeper() noexcept {
    slot_keeper* const spare = spare_;
    if (spare) spare_ = spare->next_spare;
    return spare;
  }
  void own(slot_keeper& fresh) noexcept {
    fresh.next_made = keepers_;
    keepers_ = &fresh;
  }
  void give_back(slot_keeper& used) noexcept {
    used.next_spare = spare_;
    spare_ = &used;
  }

  /// Reads every waiting interval that the device has passed.
  /// Sync: none. Capture: allowed.
  void harvest(driver_api const& cuda) noexcept {
    bury_dead_contexts(cuda);
    // A stream works in order: where one interval is not done, the later ones of that stream are not either.
    cudaStream_t lagging[8];
    event_pool const* of[8];
    std::size_t lagging_count = 0;
    for (timed_slot *slot = oldest_, *later = nullptr; slot; slot = later) {
      later = slot->next;
      bool lags = false;
      for (std::size_t i = 0; i < lagging_count; ++i)
        lags = lags || (lagging[i] == slot->stream && of[i] == slot->pool);
      if (lags || read_back(cuda, *slot) || lagging_count == 8) continue;
      lagging[lagging_count] = slot->stream;
      of[lagging_count++] = slot->pool;
    }
  }

  /// Where to wait next so that all intervals up to `last` come back: the newest one of the oldest one's stream, since a
  /// stream works in order. Null when none waits any more.
  [[nodiscard]] timed_slot const* worth_waiting_for(driver_api const& cuda, std::uint64_t last) noexcept {
    bury_dead_contexts(cuda);
    if (!oldest_ || oldest_->ticket > last) return nullptr;
    timed_slot const* slot = newest_;
    while (slot->ticket > last || slot->stream != oldest_->stream || slot->pool != oldest_->pool) slot = slot->previous;
    return slot;
  }
  [[nodiscard]] std::uint64_t last_ticket() const noexcept { return last_ticket_; }

  /// Reads what came back with a wait for `waited`: that interval, and those before it on its stream. `status` is what
  /// the wait answered; where it failed, what cannot be read is given up for that reason.
  void read_up_to(driver_api const& cuda, timed_slot const& waited, int status) noexcept {
    bury_dead_contexts(cuda);
    for (timed_slot *slot = oldest_, *later = nullptr; slot && slot->ticket <= waited.ticket; slot = later) {
      later = slot->next;
      if (slot->stream != waited.stream || slot->pool != waited.pool) continue;
      if (read_back(cuda, *slot) || status == cudaSuccess) continue;
      settle(*slot, refuse(status, slot->phase));
    }
  }

  /// Destroys the events that no open phase holds, and forgets what waits; the samples stay.
  void close() noexcept {
    closed = true;
    while (oldest_) settle(*oldest_, absence::context_gone);
    driver_answer const cuda = pools_ ? driver() : driver_answer{};
    for (event_pool* pool = pools_; pool; pool = pool->next) cuda.api ? pool->close(*cuda.api) : pool->forget();
  }

  [[nodiscard]] capacity limits() const noexcept { return limits_; }
  [[nodiscard]] kept_samples& samples() noexcept { return samples_; }
  [[nodiscard]] event_pool const* pools() const noexcept { return pools_; }
  /// Whether its thread has ended and nothing of it is open.
  [[nodiscard]] bool left_behind() noexcept {
    brief_guard const guard{lock};
    return adoptable && open_intervals == 0;
  }

  brief_lock lock;
  lane* next = nullptr;                   ///< the recorder's next lane
  std::uint32_t thread = 0;               ///< the number of the thread that owns it now
  std::uint32_t open_intervals = 0;       ///< started on this thread, not stopped
  std::atomic<std::uint32_t> records{0};  ///< event records made for its phases, counting round; needs no lock
  std::uint32_t innermost = stored_sample::no_series;  ///< the innermost scoped phase that is open
  std::uint32_t open_scopes = 0;                       ///< of its thread
  bool adoptable = false;                              ///< its thread has ended
  bool closed = false;                                 ///< its recorder has ended
  timed_slot* captured = nullptr;                      ///< what graphs record for its phases, the newest first

 private:
  [[nodiscard]] event_pool* pool_of(driver_api const& cuda, context_key context, int& status) noexcept {
    if (event_pool* const known = known_pool(context)) return known;
    bury_dead_contexts(cuda);
    drop_forgotten_pools();
    event_pool* const fresh = new (std::nothrow) event_pool;
    status = fresh ? fresh->open(cuda, context, limits_.intervals) : static_cast<int>(cudaErrorMemoryAllocation);
    if (status != cudaSuccess) {
      delete fresh;
      return nullptr;
    }
    fresh->next = pools_;
    pools_ = fresh;
    return fresh;
  }

  // Intervals of a context that is gone will never be read, and its events are not touched again.
  void bury_dead_contexts(driver_api const& cuda) noexcept {
    for (event_pool* pool = pools_; pool; pool = pool->next) {
      absence const dead = pool->gone() ? absence::none : why_dead(cuda, pool->context());
      if (dead == absence::none) continue;
      for (timed_slot *slot = oldest_, *later = nullptr; slot; slot = later) {
        later = slot->next;
        if (slot->pool == pool) settle(*slot, dead);
      }
      pool->forget();
    }
  }

  // A phase that is open still points into its pool; it is kept until that phase has ended.
  void drop_forgotten_pools() noexcept {
    for (event_pool** link = &pools_; *link;) {
      event_pool* const pool = *link;
      if (pool->gone() && !pool->referred_to()) {
        *link = pool->next;
        delete pool;
      } else {
        link = &pool->next;
      }
    }
  }

  void harvest_oldest(driver_api const& cuda) noexcept {
    if (oldest_ && alive(cuda, oldest_->pool->context())) read_back(cuda, *oldest_);
  }

  // False while the device has not passed the stop.
  bool read_back(driver_api const& cuda, timed_slot& slot) noexcept {
    elapsed_answer const answer = elapsed(cuda, slot.start, slot.stop);
    if (answer.status == cudaErrorNotReady) return false;
    settle(slot, answer.status == cudaSuccess ? observation{answer.time} : observation{refuse(answer.status, slot.phase)});
    return true;
  }

  void unlink(timed_slot& slot) noexcept {
    (slot.previous ? slot.previous->next : oldest_) = slot.next;
    (slot.next ? slot.next->previous : newest_) = slot.previous;
  }

  capacity limits_;
  problem_log& problems_;
  stream_numbers& streams_;
  kept_samples samples_;
  event_pool* pools_ = nullptr;
  timed_slot* oldest_ = nullptr;
  timed_slot* newest_ = nullptr;
  slot_keeper* keepers_ = nullptr;
  slot_keeper* spare_ = nullptr;
  std::uint64_t last_ticket_ = 0;
};

}  // namespace streamgauge

#endif
