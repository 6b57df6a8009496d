#pragma once

#include <atomic>
#include <cstdint>

namespace streamgauge {

[[gnu::visibility("default")]] inline std::atomic<std::uint64_t> threads_seen{0};
[[gnu::visibility("default")]] inline thread_local std::uint64_t own_thread_id = 0;

/// A number for the calling thread that no other thread of the process has or will have.
/// Why: addresses and handles of threads are used again once a thread has ended, and a per-thread default stream that is
/// ended by such a successor would read a time that nobody measured.
[[nodiscard]] inline std::uint64_t this_thread_id() noexcept {
  if (own_thread_id == 0) own_thread_id = threads_seen.fetch_add(1, std::memory_order_relaxed) + 1;
  return own_thread_id;
}

}  // namespace streamgauge
