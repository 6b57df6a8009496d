#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <csignal>
#include <ctime>

#include <streamgauge/measure/gate_words.hpp>

namespace streamgauge {

/// Lets go what is held for too long, from a thread of its own, which is there while a gate is that was ever closed.
/// Why: the thread that closed a gate may be inside a call that waits for the device, and then nobody else would open it.
/// The watch calls no CUDA: it moves words on. It sleeps until the earliest time limit, and for ever when nothing is held.
/// Closing a gate wakes it only where it would sleep too long. It then sleeps until that hold's limit even where the hold
/// is over by then, so a loop of short holds wakes it twice each limit, and not each time.
/// Constant-initialised and trivially destroyed: it serves before main and in static destructors.
/// Threads: any. A forked child has no such thread, and must not come here.
struct gate_watch {
  pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;  ///< starting and ending: `users` and `thread`
  unsigned int users = 0;
  pthread_t thread{};
  pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  ///< what follows; the thread holds it while it looks around
  pthread_cond_t changed{};
  bool ending = false;
  release_time told = never_released;  ///< by whom it was woken: the limit of that hold
  std::atomic<release_time> wakes_at{never_released};
};
[[gnu::visibility("default")]] inline gate_watch the_gate_watch;

/// Holds a mutex for a scope.
/// Why: it may be held while a thread ends, which is too long for a `brief_lock`.
class mutex_guard {
 public:
  explicit mutex_guard(pthread_mutex_t& mutex) noexcept : mutex_{mutex} { pthread_mutex_lock(&mutex_); }
  ~mutex_guard() { pthread_mutex_unlock(&mutex_); }
  mutex_guard(mutex_guard const&) = delete;
  mutex_guard& operator=(mutex_guard const&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

/// The clock of the time limits.
/// Why: not the clock of the stamps, though usually the same one. This is the one that a thread can sleep by, and no time
/// that is measured comes from it.
[[nodiscard]] inline release_time watch_now() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return release_time{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}
/// When a hold is let go that is closed now.
[[nodiscard]] inline release_time release_after(nanoseconds limit) noexcept {
  release_time const now = watch_now();
  release_time const longest = never_released - 1 - now;
  return now + (limit.count() < longest ? limit.count() : longest);
}

inline void* run_gate_watch(void*) noexcept {
  gate_watch& watch = the_gate_watch;
  mutex_guard const guard{watch.lock};
  while (!watch.ending) {
    // From here on who closes a gate tells of it, so that what this look misses is not slept over.
    watch.wakes_at.store(never_released, std::memory_order_seq_cst);
    release_time const now = watch_now();
    release_time earliest = watch.told > now ? watch.told : never_released;
    watch.told = never_released;
    let_go_holds([now, &earliest](void const*, release_time until) noexcept {
      if (until > now && until < earliest) earliest = until;
      return until <= now;
    });
    watch.wakes_at.store(earliest, std::memory_order_seq_cst);
    if (earliest == never_released) {
      pthread_cond_wait(&watch.changed, &watch.lock);
    } else {
      timespec until{};
      until.tv_sec = static_cast<std::time_t>(earliest / 1'000'000'000);
      until.tv_nsec = static_cast<long>(earliest % 1'000'000'000);
      pthread_cond_timedwait(&watch.changed, &watch.lock, &until);
    }
  }
  return nullptr;
}

/// Starts the watch's thread. It takes none of the program's signals. False when the system gives no thread.
/// Requires: the lock of `life`.
[[nodiscard]] inline bool start_gate_watch(gate_watch& watch) noexcept {
  pthread_condattr_t by_monotonic_clock;
  if (pthread_condattr_init(&by_monotonic_clock) != 0) return false;
  bool ready = pthread_condattr_setclock(&by_monotonic_clock, CLOCK_MONOTONIC) == 0 &&
               pthread_cond_init(&watch.changed, &by_monotonic_clock) == 0;
  pthread_condattr_destroy(&by_monotonic_clock);
  if (!ready) return false;
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  watch.ending = false;
  watch.wakes_at.store(never_released, std::memory_order_relaxed);
  watch.told = never_released;
  ready = pthread_create(&watch.thread, nullptr, &run_gate_watch, nullptr) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!ready) pthread_cond_destroy(&watch.changed);
  return ready;
}

/// One more gate is in use; false when there is no watch for it, and then nothing may be held.
[[nodiscard]] inline bool join_gate_watch() noexcept {
  gate_watch& watch = the_gate_watch;
  mutex_guard const guard{watch.life};
  if (watch.users == 0 && !start_gate_watch(watch)) return false;
  ++watch.users;
  return true;
}
/// A gate is gone; with the last one the thread ends.
/// Sync: waits for the end of the thread, which is not waiting for anything itself.
inline void leave_gate_watch() noexcept {
  gate_watch& watch = the_gate_watch;
  mutex_guard const guard{watch.life};
  if (--watch.users > 0) return;
  {
    mutex_guard const its{watch.lock};
    watch.ending = true;
    pthread_cond_signal(&watch.changed);
  }
  pthread_join(watch.thread, nullptr);
  pthread_cond_destroy(&watch.changed);
}

/// Tells the watch of a hold that was closed, where it would sleep too long.
inline void tell_gate_watch(release_time until) noexcept {
  gate_watch& watch = the_gate_watch;
  if (until >= watch.wakes_at.load(std::memory_order_seq_cst)) return;
  mutex_guard const guard{watch.lock};
  if (until < watch.told) watch.told = until;
  pthread_cond_signal(&watch.changed);
}

}  // namespace streamgauge

#endif
