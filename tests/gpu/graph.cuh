#pragma once

// Graphs of kernels that keep their own clock for each replay, and owners for what the tests make of them.

#include "device.cuh"

/// Captures what `body` queues on a stream.
template <class Body>
cudaGraph_t captured(cudaStream_t stream, cudaStreamCaptureMode mode, Body body) {
  cudaGraph_t graph = nullptr;
  streamgauge::check(cudaStreamBeginCapture(stream, mode), "cudaStreamBeginCapture");
  body();
  streamgauge::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  return graph;
}

/// A graph and the executable that was made from it.
class test_graph {
 public:
  explicit test_graph(cudaGraph_t graph) : graph_{graph} {
    streamgauge::check(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
  }
  ~test_graph() {
    cudaGraphExecDestroy(executable_);
    cudaGraphDestroy(graph_);
  }
  test_graph(test_graph const&) = delete;
  test_graph& operator=(test_graph const&) = delete;

  [[nodiscard]] cudaGraph_t graph() const { return graph_; }
  [[nodiscard]] cudaGraphExec_t executable() const { return executable_; }
  [[nodiscard]] std::size_t nodes() const {
    std::size_t count = 0;
    streamgauge::check(cudaGraphGetNodes(graph_, nullptr, &count), "cudaGraphGetNodes");
    return count;
  }
  void launch(cudaStream_t stream) const {
    streamgauge::check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch");
  }

 private:
  cudaGraph_t graph_;
  cudaGraphExec_t executable_ = nullptr;
};

/// Where the kernels of a graph keep their clocks: one for each kernel in each replay, told apart by a counter that the
/// graph's last kernel advances.
struct replay_clocks {
  int* replay;
  kernel_clock* seen;
  int kernels;
  int most;  ///< replays that there is room for
};

// From replay to replay another number from 0 to 100, at least 37 away from the one before.
inline __host__ __device__ std::uint64_t varying(int replay) { return static_cast<std::uint64_t>(replay) * 37 % 101; }

/// Spins for so long, and for so much more times the replay's varying number.
__global__ void spin_in_replay(std::uint64_t ns, std::uint64_t more, replay_clocks clocks, int kernel) {
  std::uint64_t const start = global_timer();
  int const replay = *clocks.replay;
  ns += more * varying(replay);
  std::uint64_t now = start;
  while (now - start < ns) now = global_timer();
  if (replay < clocks.most) clocks.seen[replay * clocks.kernels + kernel] = {start, now};
}

__global__ void next_replay(replay_clocks clocks) { ++*clocks.replay; }

/// The clocks of all kernels in all replays.
class replayed_clocks {
 public:
  replayed_clocks(int kernels, int replays)
      : kernels_{kernels},
        replays_{replays},
        counter_{1},
        clocks_{static_cast<std::size_t>(kernels) * static_cast<std::size_t>(replays)} {}

  [[nodiscard]] replay_clocks on_device() const { return {counter_.at(0), clocks_.at(0), kernels_, replays_}; }
  /// How many replays have ended.
  [[nodiscard]] int replays() const { return counter_.read()[0]; }
  /// Reads the device's memory once all is done; `ns` tells from it.
  void read() { own_ = clocks_.read(); }
  /// From the start of one kernel to the stop of another one in a replay.
  [[nodiscard]] std::int64_t ns(std::size_t replay, std::size_t from, std::size_t to) const {
    auto const first = replay * static_cast<std::size_t>(kernels_);
    return static_cast<std::int64_t>(own_.at(first + to).stop - own_.at(first + from).start);
  }

 private:
  int kernels_;
  int replays_;
  device_values<int> counter_;
  kernel_clocks clocks_;
  std::vector<kernel_clock> own_;
};

/// Loads the kernels of the graphs as well: a first launch inside a capture would be another thing.
inline void warm_up_graphs() {
  warm_up();
  replayed_clocks const once{1, 1};
  spin_in_replay<<<1, 1>>>(us, 0, once.on_device(), 0);
  next_replay<<<1, 1>>>(once.on_device());
  streamgauge::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}
