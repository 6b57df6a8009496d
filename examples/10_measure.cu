// How long does a kernel take? Three ways to ask: as it is launched, out of a graph, with cold caches.
#include <cstdio>
#include <iostream>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/report/measurement_text.hpp>
namespace sg = streamgauge;

__global__ void add(float const* a, float const* b, float* c, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) c[i] = a[i] + b[i];
}

int main() {
  constexpr int n = 2 << 20;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaStream_t stream = nullptr;
  for (float** each : {&a, &b, &c})
    if (cudaMalloc(each, n * sizeof(float)) != cudaSuccess)
      return std::puts("No CUDA device can be used here, and what is measured here is on the device."), 0;
  sg::check(cudaStreamCreate(&stream));

  auto const launch = [&](cudaStream_t on) { add<<<n / 256, 256, 0, on>>>(a, b, c, n); };
  sg::measure_choices choices;
  choices.name = "add, as it is launched";
  choices.work = sg::work{}.flops(n).reads(8.0 * n).writes(4.0 * n);
  sg::report::measurement_text(std::cout, sg::measure(stream, launch, choices));
  choices.name = "add, eight in a graph";
  choices.how = sg::launched_by::graph;
  choices.iterations = 8;
  sg::report::measurement_text(std::cout << '\n', sg::measure(stream, launch, choices));
  choices = {};
  choices.name = "add, cold caches";
  choices.cache = sg::cache_state::cold;
  sg::report::measurement_text(std::cout << '\n', sg::measure(stream, launch, choices));
}
