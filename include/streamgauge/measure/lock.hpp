#pragma once

#include <atomic>
#include <pthread.h>
#include <sched.h>

namespace streamgauge {

/// How many forks lie between the program's first process and this one.
[[gnu::visibility("default")]] inline std::atomic<unsigned int> fork_generation{0};

/// From here on a fork is noticed in the child. Cheap after the first call.
inline void notice_forks() noexcept {
  static bool const noticed = pthread_atfork(nullptr, nullptr, [] { ++fork_generation; }) == 0;
  static_cast<void>(noticed);
}

/// A lock for short sections, microseconds at most, that nearly always one thread alone enters.
/// Why: taking it uncontended costs one exchange, and a forked child is not locked out by a holder that exists only in its
/// parent: who holds the lock says in which process, and one that another process held is taken over.
/// Requires: `notice_forks` was called.
/// Threads: any.
class brief_lock {
 public:
  void lock() noexcept {
    unsigned int const mine = fork_generation.load(std::memory_order_relaxed) + 1;
    for (int spins = 0;; ++spins) {
      unsigned int holder = 0;
      if (held_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return;
      if (holder != mine && held_.compare_exchange_strong(holder, mine, std::memory_order_acquire)) return;
      if (spins >= 64) sched_yield();
    }
  }

  void unlock() noexcept { held_.store(0, std::memory_order_release); }

 private:
  std::atomic<unsigned int> held_{0};  // 0 when free, else one more than the holder's generation
};

/// Holds a `brief_lock` for a scope.
class brief_guard {
 public:
  explicit brief_guard(brief_lock& lock) noexcept : lock_{lock} { lock_.lock(); }
  ~brief_guard() { lock_.unlock(); }
  brief_guard(brief_guard const&) = delete;
  brief_guard& operator=(brief_guard const&) = delete;

 private:
  brief_lock& lock_;
};

}  // namespace streamgauge
