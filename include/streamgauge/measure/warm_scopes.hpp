#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <streamgauge/mark/range_label.hpp>
#include <streamgauge/measure/lock.hpp>

namespace streamgauge {

/// An open scope whose execution is warm-up; it lies in the scope, which does not move.
struct warm_scope {
  warm_scope() noexcept {}  // set on entering

  thread_mark thread;
  warm_scope* newer;
  warm_scope* older;
};

/// The warm-up executions of a recorder that are open just now, on all threads.
/// Why: a phase is asked on entering whether it lies inside one. Where none is open, which is nearly always, the answer is
/// one relaxed load, and no thread needs a state of its own. Threads: any.
class warm_scopes {
 public:
  [[nodiscard]] bool covers_this_thread() noexcept {
    return newest_.load(std::memory_order_relaxed) != nullptr && holds_one_of(this_thread_mark());
  }
  void enter(warm_scope& scope) noexcept {
    brief_guard const guard{lock_};
    scope.thread = this_thread_mark();
    scope.newer = nullptr;
    scope.older = newest_.load(std::memory_order_relaxed);
    if (scope.older) scope.older->newer = &scope;
    newest_.store(&scope, std::memory_order_relaxed);
  }
  void leave(warm_scope& scope) noexcept {
    brief_guard const guard{lock_};
    if (scope.older) scope.older->newer = scope.newer;
    if (scope.newer)
      scope.newer->older = scope.older;
    else
      newest_.store(scope.older, std::memory_order_relaxed);
  }

 private:
  [[gnu::noinline, gnu::cold]] bool holds_one_of(thread_mark thread) noexcept {
    brief_guard const guard{lock_};
    warm_scope const* each = newest_.load(std::memory_order_relaxed);
    while (each && each->thread != thread) each = each->older;
    return each != nullptr;
  }

  std::atomic<warm_scope*> newest_{nullptr};
  brief_lock lock_;
};

}  // namespace streamgauge

#endif
