// Three phases of a loop: what did the host spend, what did the device do, and when did the host see it done?
#include <cstdio>
#include <iostream>
#include <vector>

#include <streamgauge/streamgauge.hpp>
namespace sg = streamgauge;

__global__ void smooth(float const* in, float* out, int count) {
  int const i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i + 1 < count) out[i] = 0.25f * in[i - 1] + 0.5f * in[i] + 0.25f * in[i + 1];
}

int main() {
  constexpr int count = 1 << 22;
  std::vector<float> host(count, 1.0f);
  float *in = nullptr, *out = nullptr;
  cudaStream_t stream = nullptr;
  if (cudaMalloc(&in, count * sizeof(float)) != cudaSuccess || cudaMalloc(&out, count * sizeof(float)) != cudaSuccess ||
      cudaStreamCreate(&stream) != cudaSuccess)
    std::puts("No CUDA device can be used here, so what follows is what the host alone can measure.\n");

  sg::recorder recorder;
  sg::phase step{recorder, "step", sg::warmup{5}};
  sg::phase upload{recorder, "upload", sg::warmup{5}};
  sg::phase compute{recorder, "smooth", sg::warmup{5}, sg::conditions{{"count", count}}};

  for (int i = 0; i < 60; ++i) {
    auto whole = step.enter(stream);    // NVTX push, host stamp, start event
    {
      auto scope = upload.enter(stream);
      cudaMemcpyAsync(in, host.data(), count * sizeof(float), cudaMemcpyHostToDevice, stream);
    }                                   // stop event, host stamp, NVTX pop: nothing waits
    {
      auto scope = compute.enter(stream);
      smooth<<<(count + 255) / 256, 256, 0, stream>>>(in, out, count);
    }
    whole.wait(sg::wait_policy::spin);  // ends the step, and sees when the device is done with it
  }

  sg::report::table(std::cout, recorder.collect());
}
