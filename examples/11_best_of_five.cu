// Which block size is the best? Five of them in rounds, each once in random order, so that they meet the same clocks; and how
// near the best one comes to what the memory can do.
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/rounds.hpp>
#include <streamgauge/report/contest_text.hpp>
namespace sg = streamgauge;

__global__ void add(float const* a, float const* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 64 << 20;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaStream_t stream = nullptr;
  for (float** each : {&a, &b, &c})
    if (cudaMalloc(each, n * sizeof(float)) != cudaSuccess)
      return std::puts("No CUDA device can be used here, and what is measured here is on the device."), 0;
  sg::check(cudaStreamCreate(&stream));

  std::vector<sg::contender> sizes;
  for (int threads : {64, 128, 256, 512, 1024})
    sizes.push_back({std::to_string(threads) + " threads",
                     [=](cudaStream_t on) { add<<<n / threads, threads, 0, on>>>(a, b, c, n); }});
  sg::measure_choices choices;
  choices.work = sg::work{}.flops(n).reads(8.0 * n).writes(4.0 * n);
  sg::report::contest_text(std::cout, sg::measure_rounds(stream, sizes, choices));
}
