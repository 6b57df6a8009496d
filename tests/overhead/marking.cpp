// What marking costs, and what a phase costs that needs no device. It runs everywhere and is judged everywhere: the
// least of many short rounds also holds on a machine that others use, where a median need not.

#include <new>
#include <cstdint>

#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvtx3.hpp>)
#include <nvtx3/nvtx3.hpp>
#endif

#include <streamgauge/streamgauge.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

namespace {
std::size_t bytes_allocated = 0;
}

[[gnu::noinline]] void* operator new(std::size_t bytes) {
  bytes_allocated += bytes;
  if (void* const got = std::malloc(bytes)) return got;
  throw std::bad_alloc{};
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::nothrow_t const&) noexcept {
  bytes_allocated += bytes;
  return std::malloc(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

constexpr long repetitions = 800;
constexpr std::size_t rounds = 400;

struct their_name {
  static constexpr char const* message = "step";
};

template <class Piece>
void add(race& into, char const* name, Piece piece) {
  into.add(name, [piece] { return timed(repetitions, piece); });
}

// Stands for the work inside, and keeps the compiler from moving anything across it.
inline void work() { asm volatile("" ::: "memory"); }

void compare_ranges(bounds& held) {
  static sg::registered_name const our_registered{"step"};
  race ranges{repetitions};
  add(ranges, "nothing", [] { work(); });
  add(ranges, "raw push and pop", [] {
    nvtxRangePushA("step");
    work();
    nvtxRangePop();
  });
  add(ranges, "sg::scoped_range, literal", [] {
    sg::scoped_range const range{"step"};
    work();
  });
  add(ranges, "sg::scoped_range, registered", [] {
    sg::scoped_range const range{our_registered};
    work();
  });
#if __has_include(<nvtx3/nvtx3.hpp>)
  add(ranges, "nvtx3::scoped_range, literal", [] {
    nvtx3::scoped_range const range{"step"};
    work();
  });
  add(ranges, "nvtx3::scoped_range, registered", [] {
    nvtx3::scoped_range const range{nvtx3::registered_string::get<their_name>()};
    work();
  });
  static nvtx3::event_attributes const attributes{"step"};
  add(ranges, "nvtx3::scoped_range, attributes made before", [] {
    nvtx3::scoped_range const range{attributes};
    work();
  });
#endif
  // Not judged: back to back, a range also waits for what the one before it left on the stack.
  add(ranges, "four sg::scoped_range in a row, literal", [] {
    {
      sg::scoped_range const range{"step"};
      work();
    }
    {
      sg::scoped_range const range{"step"};
      work();
    }
    {
      sg::scoped_range const range{"step"};
      work();
    }
    {
      sg::scoped_range const range{"step"};
      work();
    }
  });
#if __has_include(<nvtx3/nvtx3.hpp>)
  add(ranges, "four nvtx3::scoped_range in a row, literal", [] {
    {
      nvtx3::scoped_range const range{"step"};
      work();
    }
    {
      nvtx3::scoped_range const range{"step"};
      work();
    }
    {
      nvtx3::scoped_range const range{"step"};
      work();
    }
    {
      nvtx3::scoped_range const range{"step"};
      work();
    }
  });
#endif
  ranges.run(rounds);
  ranges.print("ranges, no tool attached, ns each");
#if __has_include(<nvtx3/nvtx3.hpp>)
  double const best = (std::min)({ranges.of("nvtx3::scoped_range, literal").least(),
                                  ranges.of("nvtx3::scoped_range, registered").least(),
                                  ranges.of("nvtx3::scoped_range, attributes made before").least()});
  held.at_most(ranges.of("sg::scoped_range, literal").least(), 1.1 * best + 0.3, "ns",
               "scoped_range against nvtx3's best");
  held.at_most(ranges.of("sg::scoped_range, registered").least(),
               1.1 * ranges.of("nvtx3::scoped_range, registered").least() + 0.3, "ns",
               "scoped_range, registered, against nvtx3's registered");
#else
  static_cast<void>(held);
  std::printf("not compared with nvtx3::scoped_range: this toolkit has no nvtx3.hpp\n");
#endif
}

void compare_phases(bounds& held) {
  sg::recorder off{sg::mode::off};
  sg::recorder marks{sg::mode::mark};
  sg::recorder time{sg::mode::time, sg::capacity{2 * repetitions * (rounds + 2), 16}};
  sg::phase const phase_off{off, "step"};
  sg::phase const phase_marks{marks, "step"};
  sg::phase const phase_time{time, "step"};
  cudaStream_t const stream = cudaStreamPerThread;  // no CUDA call is made with it in these modes
  race phases{repetitions};
  add(phases, "nothing", [] { work(); });
  add(phases, "a pair of host stamps", [] {
    auto const before = sg::host_now();
    work();
    auto const after = sg::host_now();
    asm volatile("" ::"r"(after - before) : "memory");
  });
  add(phases, "phase, mode off", [&] {
    auto const scope = phase_off.enter(stream);
    work();
  });
  add(phases, "phase, mode off, conditions on entering", [&] {
    auto const scope = phase_off.enter(stream, {{"rows", 256}, {"dtype", "f32"}});
    work();
  });
  add(phases, "phase, mode mark", [&] {
    auto const scope = phase_marks.enter(stream);
    work();
  });
  add(phases, "phase, host only", [&] {
    auto const scope = phase_time.enter(sg::host_only);
    work();
  });
  add(phases, "phase, host only, conditions on entering, seen before", [&] {
    auto const scope = phase_time.enter(sg::host_only, {{"rows", 256}, {"dtype", "f32"}});
    work();
  });
  phases.run(rounds);
  phases.print("phases without a device, ns each");
  held.at_most(phases.of("phase, mode off").least(), 2.0, "ns", "a phase in mode off");
}

void weigh_samples(bounds& held) {
  constexpr std::size_t count = 1'000'000;
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(sg::host_only); }
  std::size_t const before = bytes_allocated;
  auto const more = [&](std::size_t by) {
    for (std::size_t i = 0; i < by; ++i) auto const scope = step.enter(sg::host_only);
  };
  more(10'000);
  double const each = static_cast<double>(bytes_allocated - before) / 10'000.0;
  held.at_most(static_cast<double>(sizeof(sg::stored_sample)), 64, "B", "memory kept for a sample");
  // A block of a thousand carries its own link and count, 16 bytes, and the last one is not full.
  held.at_most(each, 64.1, "B", "memory allocated for a sample, a thousandth of its block's head included");
  more(count - 10'000);
  auto const at_a_million = bytes_allocated - before;
  std::printf("bytes allocated for %zu samples: %zu\n", count, at_a_million);
  // 16 blocks of the newest, 67,518 older ones of 64 bytes, and octaves of 8 KiB.
  held.at_most(static_cast<double>(at_a_million) / 1048576.0, 6.0, "MiB", "memory for a series of a million samples");
  more(count);
  held.at_most(static_cast<double>(bytes_allocated - before - at_a_million) / 1024.0, 64.0, "KiB",
               "more memory for a second million");
}

}  // namespace

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  bounds held;
  compare_ranges(held);
  compare_phases(held);
  weigh_samples(held);
  return held.exit_code();
}
