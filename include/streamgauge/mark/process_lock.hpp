#pragma once

#include <atomic>

#include <sched.h>
#include <unistd.h>

namespace streamgauge {

/// A lock for short sections that does not outlive its process: a forked child takes over what a thread of its parent held.
/// Why: that thread is not there to let go. What it was changing may be half changed, so sections change things in an order
/// in which that is harmless. No variable of static storage belongs to it: one would keep a plug-in from unloading. Threads: any.
class process_lock {
 public:
  constexpr process_lock() noexcept = default;
  process_lock(process_lock const&) = delete;
  process_lock& operator=(process_lock const&) = delete;

  void lock() noexcept {
    int const mine = getpid();
    for (;;) {
      int holder = 0;
      if (held_by_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return;
      if (holder != mine && held_by_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return;
      sched_yield();
    }
  }
  void unlock() noexcept { held_by_.store(0, std::memory_order_release); }

 private:
  std::atomic<int> held_by_{0};  // 0 when free, else the holder's process
};

/// Holds a `process_lock` for a scope.
class process_guard {
 public:
  explicit process_guard(process_lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  ~process_guard() { lock_.unlock(); }
  process_guard(process_guard const&) = delete;
  process_guard& operator=(process_guard const&) = delete;

 private:
  process_lock& lock_;
};

}  // namespace streamgauge
