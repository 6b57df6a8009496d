#pragma once

#include <atomic>

#include <sched.h>
#include <unistd.h>

namespace streamgauge {

/// Does something exactly once, at the first use; whoever comes meanwhile waits until it is done.
/// Why: constant-initialised and trivially destroyed, so that a name of static storage makes no NVTX call before main
/// and still serves in a static destructor. The wait is as long as a tool takes to register one string. Threads: any.
class first_use {
 public:
  constexpr first_use() noexcept = default;
  first_use(first_use const&) = delete;
  first_use& operator=(first_use const&) = delete;

  template <class Action>
  [[gnu::always_inline]] void operator()(Action const& action) noexcept {
    if (step_.load(std::memory_order_acquire) != finished) claim(action);
  }

  [[nodiscard]] bool done() const noexcept { return step_.load(std::memory_order_acquire) == finished; }

 private:
  // Otherwise the process in which somebody is at it: in a forked child that thread is not there, and the child does it.
  static constexpr int fresh = 0;
  static constexpr int finished = -1;

  template <class Action>
  [[gnu::noinline, gnu::cold]] void claim(Action const& action) noexcept {
    int const mine = getpid();
    int seen = step_.load(std::memory_order_acquire);
    while (seen != finished) {
      if (seen == mine) {
        sched_yield();
        seen = step_.load(std::memory_order_acquire);
      } else if (step_.compare_exchange_weak(seen, mine, std::memory_order_acq_rel)) {
        action();
        step_.store(finished, std::memory_order_release);
        return;
      }
    }
  }

  std::atomic<int> step_{fresh};
};

}  // namespace streamgauge
