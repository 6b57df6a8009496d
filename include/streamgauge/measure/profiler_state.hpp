#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstdint>
#include <sys/types.h>

#include <streamgauge/measure/lock.hpp>

namespace streamgauge {

class entry_watch;

/// The one process-wide state of the library: how many guards are open. cudaProfilerStart is process-wide too.
struct profiler_state {
  brief_lock lock;
  unsigned int open = 0;
  unsigned int wanted = 0;               ///< guards that there are, also where nothing can be captured
  std::atomic<std::uint32_t> asked{0};   ///< outermost ones so far
  std::atomic<bool> collecting{false};   ///< a Start was answered with success, its Stop is owed
  std::atomic<std::uint32_t> starts{0};  ///< Starts so far
  bool stops_at_exit = false;
  std::atomic<bool> explained{false};          ///< the one line for a machine where nothing can be captured was printed
  std::atomic<pid_t> process{0};               ///< where the Start was made
  entry_watch* windows = nullptr;              ///< capture windows that are open
  void (*close_windows)() noexcept = nullptr;  ///< set with the first of them
};
[[gnu::visibility("default")]] inline profiler_state the_profiler;

/// Whether a capture of ours is open: a sample that is taken now is not what the program does by itself.
[[nodiscard]] inline bool capture_is_open() noexcept { return the_profiler.collecting.load(std::memory_order_relaxed); }

/// Whether a guard is open, so that what is made now may be in its capture. One whose Stop CUDA refused is not.
[[nodiscard]] inline bool guard_is_open() noexcept {
  brief_guard const guard{the_profiler.lock};
  return the_profiler.open > 0;
}

/// How many captures of ours were begun so far: what one began and ended in was not undisturbed either.
[[nodiscard]] inline std::uint32_t captures_begun() noexcept {
  return the_profiler.starts.load(std::memory_order_relaxed);
}

/// How many captures the program asked for so far, whether or not a device was there: what a profiler would see of it.
[[nodiscard]] inline std::uint32_t captures_asked() noexcept {
  return the_profiler.asked.load(std::memory_order_relaxed);
}

}  // namespace streamgauge

#endif
