#pragma once

#include <atomic>

#include <sched.h>

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
    if (step_.load(std::memory_order_acquire) != step::done) claim(action);
  }

  [[nodiscard]] bool done() const noexcept { return step_.load(std::memory_order_acquire) == step::done; }

 private:
  enum class step : unsigned char { fresh, busy, done };

  template <class Action>
  [[gnu::noinline, gnu::cold]] void claim(Action const& action) noexcept {
    auto seen = step::fresh;
    if (step_.compare_exchange_strong(seen, step::busy, std::memory_order_acquire)) {
      action();
      step_.store(step::done, std::memory_order_release);
    } else {
      while (step_.load(std::memory_order_acquire) != step::done) sched_yield();
    }
  }

  std::atomic<step> step_{step::fresh};
};

}  // namespace streamgauge
