#pragma once

#include <atomic>
#include <cstddef>
#include <new>

#include <streamgauge/measure/event.hpp>

namespace streamgauge {

struct stored_sample;
class event_pool;

/// An event pair with its place in a list: free in its pool, or under way until the device has passed the stop.
struct timed_slot {
  cudaEvent_t start = nullptr;
  cudaEvent_t stop = nullptr;
  timed_slot* next = nullptr;
  timed_slot* previous = nullptr;
  event_pool* pool = nullptr;
  stored_sample* where = nullptr;  ///< the sample that the reading belongs to
  cudaStream_t stream = nullptr;   ///< compared within one sweep, never used for a call
  char const* phase = "";          ///< whose interval it is, for the problems
  std::uint64_t ticket = 0;        ///< counts up, so that a waiter knows the slot again
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
  ~event_pool() { delete[] slots_; }

  /// Makes `count` pairs in the context, or as many as CUDA gives; the first status that was not success.
  /// Sync: none. Capture: allowed.
  [[nodiscard]] int open(driver_api const& cuda, context_key context, std::size_t count) noexcept {
    // More than an array can hold would throw even so.
    if (count > (std::size_t{1} << 40) / sizeof(timed_slot)) return cudaErrorMemoryAllocation;
    slots_ = new (std::nothrow) timed_slot[count];
    if (!slots_) return cudaErrorMemoryAllocation;
    context_scope const current{cuda, context.handle};
    int status = current.status();
    if (status != cudaSuccess) return status;
    context_ = context;
    if (cuda.context_device(&device_) != cudaSuccess) device_ = -1;
    // Without it a wait that should sleep spins, and the sample says so.
    if (cuda.event_create(&sleeper_, cudaEventBlockingSync | cudaEventDisableTiming) != cudaSuccess) sleeper_ = nullptr;
    for (std::size_t i = 0; i < count && status == cudaSuccess; ++i) {
      timed_slot& slot = slots_[i];
      slot.pool = this;
      status = cuda.event_create(&slot.start, cudaEventDefault);
      if (status != cudaSuccess) break;
      status = cuda.event_create(&slot.stop, cudaEventDefault);
      if (status != cudaSuccess) {
        cuda.event_destroy(slot.start);
        break;
      }
      ++made_;
      ++used_;
      give_back(slot);
    }
    if (made_ > 0) return cudaSuccess;
    if (sleeper_) cuda.event_destroy(std::exchange(sleeper_, nullptr));
    return status;
  }

  [[nodiscard]] context_key context() const noexcept { return context_; }
  [[nodiscard]] int device() const noexcept { return device_; }  ///< the device's number, -1 when CUDA did not say
  [[nodiscard]] bool empty() const noexcept { return free_ == nullptr; }
  [[nodiscard]] bool half_used() const noexcept { return 2 * used_ >= made_; }
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// An untimed event on whose completion the pool's own thread can sleep; null when it could not be made.
  [[nodiscard]] cudaEvent_t sleeper() const noexcept { return sleeper_; }

  /// Requires: not `empty()`.
  [[nodiscard]] timed_slot& take() noexcept {
    timed_slot& slot = *free_;
    free_ = slot.next;
    ++used_;
    return slot;
  }

  void give_back(timed_slot& slot) noexcept {
    slot.next = free_;
    free_ = &slot;
    --used_;
  }

  /// Takes a slot back whose events must not be touched: their context is gone.
  void abandon() noexcept { --used_; }

  /// Destroys the events of a slot that nobody uses any more, if their context still lives: touching them otherwise would
  /// crash. An event that the device has not reached yet is destroyed by CUDA once it has.
  void retire(driver_api const& cuda, timed_slot& slot) noexcept {
    --used_;
    if (!alive(cuda, context_)) return;
    cuda.event_destroy(slot.start);
    cuda.event_destroy(slot.stop);
  }

  /// Destroys what is free. A phase that is open still has its slot, and retires it when it ends.
  void close(driver_api const& cuda) noexcept {
    if (!gone() && sleeper_ && alive(cuda, context_)) cuda.event_destroy(sleeper_);
    sleeper_ = nullptr;
    while (!empty()) retire(cuda, take());
    forget();
  }

  /// Gives no event any more: the context is gone, or the recorder.
  void forget() noexcept {
    gone_.store(true, std::memory_order_relaxed);
    free_ = nullptr;
  }
  [[nodiscard]] bool gone() const noexcept { return gone_.load(std::memory_order_relaxed); }

  event_pool* next = nullptr;  ///< the lane's next pool

 private:
  context_key context_;  // as it was when the pool was opened, for good
  std::atomic<bool> gone_{false};
  int device_ = -1;
  timed_slot* slots_ = nullptr;
  timed_slot* free_ = nullptr;
  std::size_t made_ = 0;
  std::size_t used_ = 0;
  cudaEvent_t sleeper_ = nullptr;
};

}  // namespace streamgauge
