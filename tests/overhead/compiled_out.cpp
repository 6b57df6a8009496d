// What is left of marking and measuring when they are compiled out: nothing. Two functions do the same work, one of
// them with everything that the library offers around it, and the compiler must make the same machine code of both.

#define STREAMGAUGE_DISABLE
#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/capture_guard.hpp>

#include <cstring>

#include "stopwatch.hpp"

namespace sg = streamgauge;

// The linker marks where a section of such a name begins and ends.
extern char const plain_begin[] asm("__start_loop_plain");
extern char const plain_end[] asm("__stop_loop_plain");
extern char const gauged_begin[] asm("__start_loop_gauged");
extern char const gauged_end[] asm("__stop_loop_gauged");

namespace {

inline void work() { asm volatile("" ::: "memory"); }

[[gnu::noinline, gnu::used, gnu::section("loop_plain")]] void plain(long count) {
  for (long i = 0; i < count; ++i) {
    work();
  }
}

[[gnu::noinline, gnu::used, gnu::section("loop_gauged")]] void gauged(long count) {
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{3}};
  sg::phase const inner{recorder, "inner"};
  sg::capture_guard const guard{cudaStreamPerThread};
  for (long i = 0; i < count; ++i) {
    sg::scoped_range const range{"range"};
    sg::range open{"open"};
    sg::mark("mark");
    auto scope = step.enter(cudaStreamPerThread);
    auto nested = inner.enter(sg::host_only);
    auto started = inner.start(cudaStreamLegacy);
    work();
    started.stop();
    open.end();
    scope.wait(sg::wait_policy::spin);
  }
}

}  // namespace

int main() {
  if (!optimised) return cannot_judge();
  auto const plain_size = plain_end - plain_begin;
  auto const gauged_size = gauged_end - gauged_begin;
  bool const same =
      plain_size == gauged_size && std::memcmp(plain_begin, gauged_begin, static_cast<std::size_t>(plain_size)) == 0;
  std::printf("machine code of a loop: %td bytes plain, %td bytes with everything compiled out around it, %s\n",
              plain_size, gauged_size, same ? "byte for byte the same" : "NOT the same");

  // Printed, not judged: equal code takes equal time.
  constexpr long count = 10'000;
  race loops{count};
  auto const run = [](void (*loop)(long)) {
    auto const before = std::chrono::steady_clock::now();
    loop(count);
    return std::chrono::nanoseconds{std::chrono::steady_clock::now() - before};
  };
  loops.add("plain", [&] { return run(plain); });
  loops.add("with everything compiled out around it", [&] { return run(gauged); });
  loops.run(100);
  loops.print("an iteration, ns");
  return same ? 0 : 1;
}
