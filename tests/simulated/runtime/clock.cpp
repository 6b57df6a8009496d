// The virtual host clock, and the standard library's steady clock on top of it.

#include "clock.hpp"

#include <atomic>

#include "calls.hpp"
#include "device.hpp"

namespace simulated::inside {
namespace {
// Not zero, so that a stamp that was forgotten differs from one taken at the start.
constexpr nanos clock_start = 1'000'000'000;
std::atomic<nanos> now_ns{clock_start};
std::atomic<nanos> cost_ns{0};
}  // namespace

nanos host_clock() { return now_ns.load(std::memory_order_acquire); }

void host_clock_advance(nanos duration) { now_ns.fetch_add(duration, std::memory_order_acq_rel); }

void host_clock_reach(nanos time) {
  auto now = host_clock();
  while (now < time && !now_ns.compare_exchange_weak(now, time, std::memory_order_acq_rel)) {
  }
}

void host_clock_restart() {
  now_ns.store(clock_start, std::memory_order_release);
  cost_ns.store(0, std::memory_order_relaxed);
}

void set_clock_cost(nanos cost) { cost_ns.store(cost, std::memory_order_relaxed); }

nanos read_steady_clock() {
  if (auto const cost = cost_ns.load(std::memory_order_relaxed); cost != 0) {
    look_at_words();
    host_clock_advance(cost);
  }
  return host_clock();
}

}  // namespace simulated::inside

namespace std::chrono {
inline namespace _V2 {
steady_clock::time_point steady_clock::now() noexcept {
  return time_point{nanoseconds{simulated::inside::read_steady_clock()}};
}
}  // namespace _V2
}  // namespace std::chrono

namespace simulated {

nanoseconds host_now() { return nanoseconds{inside::host_clock()}; }

void host_advance(nanoseconds duration) {
  inside::look_at_words();
  inside::host_clock_advance(duration.count());
}

void set_poll_step(nanoseconds step) {
  inside::at_work at;
  at.m.poll_step = step.count();
}

void set_poll_limit(std::size_t answers) {
  inside::at_work at;
  at.m.poll_limit = answers;
}

}  // namespace simulated
