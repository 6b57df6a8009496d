// What a joined span costs the host, against the same records and waits written by hand, in the same run.

#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/span.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

__global__ void nothing() {}

// Two intervals each: shorter than half of a pool of 2048, so that reading back is not in it.
constexpr std::size_t steps = 400;
constexpr std::size_t rounds = 200;
constexpr double most = 300;  // ns

// An origin and one side stream, as a joined span does it: three records on each (a timed start and stop, an untimed edge),
// two waits for the edges, the same ranges and host stamps.
class by_hand {
 public:
  by_hand() {
    for (auto* const events : {origin_start_, origin_stop_, side_start_, side_stop_})
      for (std::size_t i = 0; i < steps; ++i) sg::check(cudaEventCreate(&events[i]), "cudaEventCreate");
    for (auto* const events : {fork_, join_})
      for (std::size_t i = 0; i < steps; ++i)
        sg::check(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming), "cudaEventCreateWithFlags");
  }
  by_hand(by_hand const&) = delete;
  by_hand& operator=(by_hand const&) = delete;
  ~by_hand() {
    for (auto* const events : {origin_start_, origin_stop_, side_start_, side_stop_, fork_, join_})
      for (std::size_t i = 0; i < steps; ++i) cudaEventDestroy(events[i]);
  }

  void step(std::size_t i, cudaStream_t origin, cudaStream_t side) {
    nvtxRangePushA("span");
    entered_[i] = std::chrono::steady_clock::now();
    cudaEventRecord(origin_start_[i], origin);
    cudaEventRecord(fork_[i], origin);
    nothing<<<1, 1, 0, origin>>>();
    nvtxRangePushA("branch");
    cudaStreamWaitEvent(side, fork_[i], 0);
    branch_entered_[i] = std::chrono::steady_clock::now();
    cudaEventRecord(side_start_[i], side);
    nothing<<<1, 1, 0, side>>>();
    cudaEventRecord(side_stop_[i], side);
    cudaEventRecord(join_[i], side);
    branch_left_[i] = std::chrono::steady_clock::now();
    nvtxRangePop();
    cudaStreamWaitEvent(origin, join_[i], 0);
    cudaEventRecord(origin_stop_[i], origin);
    left_[i] = std::chrono::steady_clock::now();
    nvtxRangePop();
  }

 private:
  using stamp = std::chrono::steady_clock::time_point;

  cudaEvent_t origin_start_[steps];
  cudaEvent_t origin_stop_[steps];
  cudaEvent_t side_start_[steps];
  cudaEvent_t side_stop_[steps];
  cudaEvent_t fork_[steps];
  cudaEvent_t join_[steps];
  stamp entered_[steps];
  stamp branch_entered_[steps];
  stamp branch_left_[steps];
  stamp left_[steps];
};

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device here; what needs none is in overhead.marking and overhead.compiled_out\n");
    return 77;
  }
  cudaStream_t origin = nullptr;
  cudaStream_t side = nullptr;
  for (cudaStream_t* each : {&origin, &side})
    sg::check(cudaStreamCreateWithFlags(each, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  by_hand hand;
  sg::recorder recorder{sg::mode::time, sg::capacity{3 * 10 * steps * (rounds + 2), 2048}};
  sg::phase const whole{recorder, "span"};
  sg::phase const part{recorder, "branch"};

  char const* const raw = "by hand: 2 ranges, 4 clocks, 6 records, 2 waits, 2 launches";
  std::size_t races = 0;
  auto const compare = [&] {
    ++races;
    race loops{static_cast<double>(steps)};
    auto const drained = [&](auto const& block) {
      auto const before = std::chrono::steady_clock::now();
      for (std::size_t i = 0; i < steps; ++i) block(i);
      auto const took = std::chrono::steady_clock::now() - before;
      for (cudaStream_t const each : {origin, side}) sg::check(cudaStreamSynchronize(each), "cudaStreamSynchronize");
      recorder.drain();
      return std::chrono::nanoseconds{took};
    };
    loops.add("two launches alone", [&] {
      return drained([&](std::size_t) {
        nothing<<<1, 1, 0, origin>>>();
        nothing<<<1, 1, 0, side>>>();
      });
    });
    loops.add(raw, [&] { return drained([&](std::size_t i) { hand.step(i, origin, side); }); });
    loops.add("joined span with a branch on the side stream", [&] {
      return drained([&](std::size_t) {
        sg::span both{whole, sg::joined, origin};
        nothing<<<1, 1, 0, origin>>>();
        auto const one = both.branch(side, part);
        nothing<<<1, 1, 0, side>>>();
      });
    });
    loops.add("joined span with a branch on each stream", [&] {
      return drained([&](std::size_t) {
        sg::span both{whole, sg::joined, origin};
        {
          auto const one = both.branch(origin, part);
          nothing<<<1, 1, 0, origin>>>();
        }
        auto const other = both.branch(side, part);
        nothing<<<1, 1, 0, side>>>();
      });
    });
    loops.add("observed span with a branch on each stream", [&] {
      return drained([&](std::size_t) {
        sg::span both{whole};
        {
          auto const one = both.branch(origin, part);
          nothing<<<1, 1, 0, origin>>>();
        }
        auto const other = both.branch(side, part);
        nothing<<<1, 1, 0, side>>>();
      });
    });
    loops.run(rounds);
    loops.print("a loop of 400, the streams drained between loops, ns each");
    auto const more = loops.difference("joined span with a branch on the side stream", raw);
    std::printf("joined span minus by hand, round by round: p10 %.1f, median %.1f, p90 %.1f ns\n", more.quantile(0.1),
                more.median(), more.quantile(0.9));
    return more.median();
  };
  // How the two streams' commands meet differs from race to race by as much as is measured: the best of three.
  double best = compare();
  while (best > most && races < 3) best = (std::min)(best, compare());

  sg::recording const taken = recorder.collect();
  std::size_t samples = 0;
  std::size_t without = 0;
  for (sg::series const& each : taken.all)
    for (sg::sample const& one : each.samples) {
      ++samples;
      if (!one.device.known()) ++without;
    }
  bounds held;
  held.at_most(best, most, "ns", "a joined span of two streams, more than by hand");
  // What was measured was the whole: no sample lost its device time, so none was cheaper for it.
  std::size_t const expected = (2 + 3 + 3) * steps * (rounds + 1) * races;
  held.at_most(static_cast<double>(without), 0, "samples", "samples without a device time");
  held.at_most(static_cast<double>(expected - samples), 0, "samples", "samples that are missing");
  return held.exit_code();
}
