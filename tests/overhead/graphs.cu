// What telling the replays of a graph apart costs the host, against launching the same instrumented graph by hand, and
// what the records inside cost the launch itself.

#include <cuda_runtime.h>

#include <memory>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/graph_replay.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

__global__ void nothing() {}

// Few enough that no launch waits for the device to take an earlier one, and that reading back is not in it.
constexpr std::size_t steps = 16;
constexpr std::size_t rounds = 400;
constexpr int kernels = 50;

// 50 empty kernels, with `intervals` pairs of records around: the first around everything, the others around ten kernels
// each. `stamp(number, is it a start)` records.
template <class Stamp>
cudaGraph_t capture(cudaStream_t stream, int intervals, Stamp stamp) {
  cudaGraph_t graph = nullptr;
  sg::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  if (intervals > 0) stamp(0, true);
  for (int i = 0; i < kernels; ++i) {
    int const ten = i / 10 + 1;
    if (i % 10 == 0 && ten < intervals) stamp(ten, true);
    nothing<<<1, 1, 0, stream>>>();
    if (i % 10 == 9 && ten < intervals) stamp(ten, false);
  }
  if (intervals > 0) stamp(0, false);
  sg::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  return graph;
}

// The graph with raw event records, launched by hand, for it says nothing of the recorder's phases.
class raw_graph {
 public:
  raw_graph(cudaStream_t stream, int intervals) {
    for (auto& pair : events_)
      for (cudaEvent_t& each : pair) sg::check(cudaEventCreate(&each), "cudaEventCreate");
    graph_ = capture(stream, intervals, [&](int number, bool start) {
      sg::check(cudaEventRecordWithFlags(events_[number][start ? 0 : 1], stream, cudaEventRecordExternal),
                "cudaEventRecordWithFlags");
    });
    sg::check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  raw_graph(raw_graph const&) = delete;
  raw_graph& operator=(raw_graph const&) = delete;
  ~raw_graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
    for (auto const& pair : events_)
      for (cudaEvent_t const each : pair) cudaEventDestroy(each);
  }
  void launch(cudaStream_t stream) const { cudaGraphLaunch(executable_, stream); }

 private:
  cudaEvent_t events_[3][2] = {};
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

// The same graph with phases that were declared for graphs, launched by graph_replay.
class replayed_graph {
 public:
  replayed_graph(sg::recorder& recorder, sg::phase const& step, cudaStream_t stream, int intervals) {
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    sg::prepare_capture(recorder, stream);
    std::unique_ptr<sg::started_phase> open[3];
    graph_ = capture(stream, intervals, [&](int number, bool start) {
      if (start)
        open[number] = std::make_unique<sg::started_phase>(inner.start(stream));
      else
        open[number]->stop();
    });
    sg::check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
    replay_ = std::make_unique<sg::graph_replay>(step, executable_, graph_, stream);
  }
  replayed_graph(replayed_graph const&) = delete;
  replayed_graph& operator=(replayed_graph const&) = delete;
  ~replayed_graph() {
    replay_.reset();
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  void launch() const { static_cast<void>(replay_->launch()); }
  [[nodiscard]] std::size_t intervals() const { return replay_->intervals(); }

 private:
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
  std::unique_ptr<sg::graph_replay> replay_;
};

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::printf("skipped: no CUDA device here; what needs none is in overhead.marking and overhead.compiled_out\n");
    return 77;
  }
  cudaStream_t stream = nullptr;
  sg::check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  nothing<<<1, 1, 0, stream>>>();  // loaded before any capture
  sg::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  sg::recorder recorder{sg::mode::time, sg::capacity{6 * steps * (rounds + 2), 1024}};
  sg::phase const step{recorder, "step"};
  raw_graph const bare{stream, 0};
  raw_graph const hand_one{stream, 1};
  raw_graph const hand_three{stream, 3};
  replayed_graph const one{recorder, step, stream, 1};
  replayed_graph const three{recorder, step, stream, 3};

  race loops{static_cast<double>(steps)};
  auto const drained = [&](auto const& block) {
    auto const before = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < steps; ++i) block();
    auto const took = std::chrono::steady_clock::now() - before;
    sg::check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    recorder.drain();
    return std::chrono::nanoseconds{took};
  };
  loops.add("by hand: 50 kernels", [&] { return drained([&] { bare.launch(stream); }); });
  loops.add("by hand: 50 kernels, 1 interval", [&] { return drained([&] { hand_one.launch(stream); }); });
  loops.add("by hand: 50 kernels, 3 intervals", [&] { return drained([&] { hand_three.launch(stream); }); });
  loops.add("replay: 50 kernels, 1 interval", [&] { return drained([&] { one.launch(); }); });
  loops.add("replay: 50 kernels, 3 intervals", [&] { return drained([&] { three.launch(); }); });
  loops.run(rounds);
  loops.print("launching a graph, a loop of 16, the stream drained between, ns each");
  for (char const* const instrumented : {"by hand: 50 kernels, 1 interval", "by hand: 50 kernels, 3 intervals"}) {
    auto const rise = loops.difference(instrumented, "by hand: 50 kernels");
    std::printf("the launch itself, %s, more than bare: p10 %.1f, median %.1f, p90 %.1f ns\n", instrumented,
                rise.quantile(0.1), rise.median(), rise.quantile(0.9));
  }

  sg::recording const taken = recorder.collect();
  std::size_t kept = 0;
  for (sg::series const& each : taken.all)
    for (sg::sample const& sample : each.samples)
      if (sample.device.known()) ++kept;
  bounds held;
  auto const more_one = loops.difference("replay: 50 kernels, 1 interval", "by hand: 50 kernels, 1 interval");
  auto const more_three = loops.difference("replay: 50 kernels, 3 intervals", "by hand: 50 kernels, 3 intervals");
  held.at_most(more_one.median(), 900, "ns", "a replay with 1 interval, more than by hand");
  held.at_most(more_three.median(), 900 + 2 * 450, "ns", "a replay with 3 intervals, more than by hand");
  // What was measured was the whole: every replay has all of its device times.
  std::size_t const expected = (1 + 3) * steps * (rounds + 1);
  held.at_most(static_cast<double>(expected - kept), 0, "samples", "intervals without a device time");
  held.at_most(static_cast<double>(taken.problems.size()), 0, "problems", "problems while measuring");
  if (one.intervals() != 1 || three.intervals() != 3) return 1;
  return held.exit_code();
}
