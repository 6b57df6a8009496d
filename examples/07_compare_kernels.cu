// Three versions of a kernel over several runs in turns: is one faster, by how much, or can it not be told? The second does
// the same work as the first, the third 3 % more.
#include <cstdio>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/file.hpp>
#include <streamgauge/report/recording_json.hpp>
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

// With a folder as argument the recordings are kept there, for `compare`, `show` and `tuning_log`.
int main(int argc, char** argv) {
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
  for (int i = 0; argc > 1 && i < runs; ++i) {
    for (auto const& [name, runs_of] : {std::pair{"first", &first}, std::pair{"same", &same}, std::pair{"slower", &slower}}) {
      auto const path = std::string{argv[1]} + '/' + name + '-' + std::to_string(i) + ".json";
      if (auto const done = sg::report::write_file(path, sg::report::json_of((*runs_of)[i])); !done)
        return std::puts(done.why_not.c_str()), 1;
    }
  }
  std::puts("The same work:");
  sg::report::table(std::cout, sg::compare_runs(first, same));
  std::puts("\n3 % more work:");
  sg::report::table(std::cout, sg::compare_runs(first, slower));
}
