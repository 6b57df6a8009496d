// Three versions of a kernel over several runs in turns: is one faster, by how much, or can it not be told? The second does
// the same work as the first, the third 3 % more.
#include <cstdio>
#include <iostream>
#include <vector>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/report/comparison_table.hpp>
namespace sg = streamgauge;

__global__ void work(float* out, int steps) {
  float value = static_cast<float>(threadIdx.x);
  for (int i = 0; i < steps; ++i) value = fmaf(value, 0.999f, 1.0f);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

// One run of one version: a recording of its own. What is compared has the same name.
sg::recording run(float* out, cudaStream_t stream, int steps) {
  sg::recorder recorder;
  sg::phase version{recorder, "work", sg::warmup{20}};
  for (int i = 0; i < 220; ++i) {
    auto scope = version.enter(stream);
    work<<<1024, 256, 0, stream>>>(out, steps);
  }
  return recorder.collect();
}

int main() {
  constexpr int steps = 20'000, runs = 5;
  float* out = nullptr;
  cudaStream_t stream = nullptr;
  if (cudaMalloc(&out, 1024 * 256 * sizeof(float)) != cudaSuccess || cudaStreamCreate(&stream) != cudaSuccess)
    return std::puts("No CUDA device can be used here, and what differs between these versions is on the device."), 0;

  std::vector<sg::recording> first, same, slower;
  for (int i = 0; i < runs; ++i) {  // in turns, so that what drifts meets all three alike
    first.push_back(run(out, stream, steps));
    same.push_back(run(out, stream, steps));
    slower.push_back(run(out, stream, steps + steps * 3 / 100));
  }
  std::puts("The same work:");
  sg::report::table(std::cout, sg::compare_runs(first, same));
  std::puts("\n3 % more work:");
  sg::report::table(std::cout, sg::compare_runs(first, slower));
}
