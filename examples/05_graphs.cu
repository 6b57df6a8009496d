// A loop's step captured once as a graph and replayed: every replay still has a time of its own for the whole and for a
// part inside.
#include <cstdio>
#include <iostream>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/graph_replay.hpp>
namespace sg = streamgauge;

__global__ void scale(float* values, int count, float factor) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}

int main() {
  constexpr int count = 1 << 22, blocks = (count + 255) / 256;
  float* values = nullptr;
  cudaStream_t stream = nullptr;
  bool const device = cudaMalloc(&values, count * sizeof(float)) == cudaSuccess &&
                      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess;
  if (!device) std::puts("No CUDA device can be used here, so what follows is what the host alone can measure.\n");

  sg::recorder recorder;
  sg::phase launch{recorder, "launch", sg::warmup{10}};  // the host's side of each replay
  // Declared for graphs, a phase puts two event records into the graph; otherwise it would leave no trace there.
  sg::phase step{recorder, "step", sg::warmup{10}, sg::in_graphs};
  sg::phase update{recorder, "update", sg::warmup{10}, sg::in_graphs};

  // A capture is no place to make events in, so they are made before it.
  sg::prepare_capture(recorder, stream);
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  {
    auto whole = step.enter(stream);
    for (int i = 0; i < 3; ++i) scale<<<blocks, 256, 0, stream>>>(values, count, 1.5f);
    {
      auto part = update.enter(stream);
      scale<<<blocks, 256, 0, stream>>>(values, count, 0.5f);
    }
  }
  cudaStreamEndCapture(stream, &graph);
  if (device) sg::check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");

  {
    sg::graph_replay replay{launch, executable, graph, stream};
    // Nothing waits between two launches: each replay records into events of its own.
    for (int i = 0; i < 200; ++i)
      if (cudaError_t const status = replay.launch(); device) sg::check(status, "launching the graph");
    replay.wait();
  }
  sg::report::table(std::cout, recorder.collect());

  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
}
