#pragma once

#include <ctime>
#include <unistd.h>

#include <chrono>

/// The system's clock, for what really waits: every other clock of a simulated test is virtual.
[[nodiscard]] inline std::chrono::nanoseconds real_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}
inline void really_sleep(std::chrono::microseconds time) { usleep(static_cast<useconds_t>(time.count())); }

/// A test that hangs ends its process, and so fails.
class no_hang {
 public:
  no_hang() { alarm(120); }
  ~no_hang() { alarm(0); }
  no_hang(no_hang const&) = delete;
  no_hang& operator=(no_hang const&) = delete;
};
