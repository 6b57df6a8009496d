// One binary for three runs: alone it prints its times as JSON; under nsys or ncu, with --capture, it gives them one
// measured step and nothing of the warm-up.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <vector>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/capture_window.hpp>
#include <streamgauge/report/json.hpp>
namespace sg = streamgauge;

constexpr int m = 256, n = 1024, k = 1024, warmup_steps = 20, measured_steps = 30;

// C = A * B, all stored row by row.
__global__ void matmul(float const* a, float const* b, float* c) {
  int const row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
  c[row * n + column] = sum;
}
__global__ void tanh_of_each(float* values) {
  float& mine = values[blockIdx.x * blockDim.x + threadIdx.x];
  mine = tanhf(mine);
}

// The times of a summary as JSON members; what is not known is null.
void write(sg::report::json& out, sg::recording_summary const& all) {
  auto const in_ms = [](auto time) {
    return time ? std::optional{static_cast<double>(time->count()) / 1e6} : std::nullopt;
  };
  for (auto const& row : all.rows) {
    if (row.what.phase != "step") continue;
    auto const& seen = row.what.completion.by(sg::wait_policy::spin).steady;
    out.member("mode", "host-observed completion, by spin").member("samples", seen.count);
    out.member("median_ms", in_ms(seen.median)).member("min_ms", in_ms(seen.minimum)).member("max_ms", in_ms(seen.maximum));
  }
  auto const& from = all.environment;
  out.key("metadata").begin_object();
  out.member("device", from.devices.empty() ? std::nullopt : std::optional{std::string_view{from.devices[0].name}});
  out.member("driver", from.driver_version).member("runtime", from.runtime_version);
  out.member("streamgauge", from.library_version).member("m", m).member("n", n).member("k", k).member("dtype", "f32");
  if (!from.why_no_device.empty()) out.member("why_no_device", from.why_no_device);
  out.end().key("problems").begin_array();
  for (auto const& each : all.problems) out.value(each.phase + ": " + each.text);
  out.end();
}

int main(int argc, char** argv) {
  bool const capture = argc > 1 && std::strcmp(argv[1], "--capture") == 0;
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaStream_t stream = nullptr;
  bool const device = cudaMalloc(&a, sizeof(float) * m * k) == cudaSuccess && cudaStreamCreate(&stream) == cudaSuccess;
  if (device) {
    sg::check(cudaMalloc(&b, sizeof(float) * k * n)), sg::check(cudaMalloc(&c, sizeof(float) * m * n));
    std::vector<float> const ones(k * n, 1.0f / k);
    sg::check(cudaMemcpy(a, ones.data(), sizeof(float) * m * k, cudaMemcpyHostToDevice));
    sg::check(cudaMemcpy(b, ones.data(), sizeof(float) * k * n, cudaMemcpyHostToDevice));
  }
  auto const multiply = [&] { matmul<<<dim3(n / 16, m / 16), dim3(16, 16), 0, stream>>>(a, b, c); };
  auto const activate = [&] { tanh_of_each<<<m * n / 256, 256, 0, stream>>>(c); };

  sg::recorder recorder;
  sg::phase step{recorder, "step", sg::warmup{warmup_steps}};
  sg::capture_window from_outside{recorder};  // what STREAMGAUGE_CAPTURE says, as in STREAMGAUGE_CAPTURE=step:20:5
  for (int i = 0; i < warmup_steps + (capture ? 0 : measured_steps); ++i) {
    auto whole = step.enter(stream);
    multiply(), activate();
    whole.wait(sg::wait_policy::spin);
  }
  if (capture) {
    sg::phase measured{recorder, "measured_step"}, target{recorder, "target"}, activation{recorder, "activation"};
    sg::capture_guard guard{recorder};  // nsys --capture-range=cudaProfilerApi, ncu --profile-from-start off
    auto whole = measured.enter(stream);
    if (auto scope = target.enter(stream); true) multiply();
    if (auto scope = activation.enter(stream); true) activate();
    whole.wait(sg::wait_policy::spin);
    return 0;
  }
  float first = 0;
  if (device) sg::check(cudaMemcpy(&first, c, sizeof first, cudaMemcpyDeviceToHost));
  if (device && std::fabs(first - std::tanh(1.0f / k)) > 1e-6f) return std::fprintf(stderr, "wrong result\n"), 1;
  sg::report::json out;
  out.begin_object(), write(out, sg::summarize(recorder.collect())), out.end();
  std::cout << out.text();
}
