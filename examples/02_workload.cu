// A real workload, marked: tanh(A * B) in single precision, the product by cuBLAS, tanh by a kernel of our own. Each
// step is waited for, so the table shows what the host took to submit it, what the device did, and when the host knew.
#include <cublas_v2.h>
#include <cmath>
#include <iostream>
#include <random>
#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/device_readings.hpp>
#include <streamgauge/measure/profile_plan.hpp>
#include <streamgauge/measure/timeline.hpp>
#include <streamgauge/report/file.hpp>
#include <streamgauge/report/latency_table.hpp>
#include <streamgauge/report/recording_json.hpp>
namespace sg = streamgauge;

constexpr std::size_t m = 256, n = 1024, k = 1024;  // A is m by k and B is k by n, both stored row by row

__global__ void tanh_of_each(float* values) {
  float& mine = values[blockIdx.x * blockDim.x + threadIdx.x];
  mine = tanhf(mine);
}

std::vector<float> random_values(std::size_t count, float limit, unsigned int seed) {
  std::mt19937 generator{seed};
  std::uniform_real_distribution<float> between{-limit, limit};
  std::vector<float> values(count);
  for (float& each : values) each = between(generator);
  return values;
}

std::vector<double> reference(std::vector<float> const& a, std::vector<float> const& b) {
  std::vector<double> c(m * n);
  for (std::size_t row = 0; row < m; ++row)
    for (std::size_t i = 0; i < k; ++i)
      for (std::size_t j = 0; j < n; ++j) c[row * n + j] += double{a[row * k + i]} * b[i * n + j];
  for (double& each : c) each = std::tanh(each);
  return c;
}

float* on_device(std::vector<float> const& host) {
  float* device = nullptr;
  sg::check(cudaMalloc(&device, sizeof(float) * host.size()));
  sg::check(cudaMemcpy(device, host.data(), sizeof(float) * host.size(), cudaMemcpyHostToDevice));
  return device;
}

void check(cublasStatus_t s) { sg::check(s == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown, "cuBLAS"); }

int main(int argc, char** argv) {
  auto const a = random_values(m * k, 1.0f, 1), b = random_values(k * n, 1.0f / 32, 2);
  sg::recorder plain;
  sg::timeline_recorder placing;  // also tells where the time goes: examples/run 02_workload --timeline
  sg::recorder& recorder = argc > 1 ? placing : plain;
  sg::read_devices(recorder);  // what clock the device ran at, and what held it back
  if (int devices = 0; cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::cout << "no CUDA device here: only the reference on the CPU is measured\n\n";
    sg::phase on_host{recorder, "reference"};
    for (int i = 0; i < 3; ++i)
      if (auto scope = on_host.enter(sg::host_only); reference(a, b).empty()) return 1;
    return sg::report::table(std::cout, recorder.collect()), 0;
  }
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
  sg::check(cudaStreamCreate(&stream));
  check(cublasCreate(&cublas)), check(cublasSetStream(cublas, stream));
  float *const da = on_device(a), *const db = on_device(b), *const dc = on_device(std::vector<float>(m * n));
  auto const multiply = [&] {  // cuBLAS stores column by column, where A * B row by row is B * A
    float const one = 1, zero = 0;
    check(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, &one, db, n, da, k, &zero, dc, n));
  };
  auto const activate = [&] { tanh_of_each<<<m * n / 256, 256, 0, stream>>>(dc); };
  multiply(), activate();  // first the result, then the time
  std::vector<float> c(m * n);
  sg::check(cudaMemcpyAsync(c.data(), dc, sizeof(float) * m * n, cudaMemcpyDeviceToHost, stream));
  sg::check(cudaStreamSynchronize(stream));
  auto const expected = reference(a, b);
  double worst = 0;
  for (std::size_t i = 0; i < m * n; ++i) worst = std::fmax(worst, std::abs(c[i] - expected[i]));
  std::cout << "largest difference from the double-precision reference: " << worst << "\n\n";
  if (!(worst < 1e-5)) return 1;

  sg::conditions const shape{{"dtype", "f32"}, {"m", m}, {"n", n}, {"k", k}};
  sg::phase step{recorder, "step", shape, sg::warmup{20}};  // its first 20 samples are shown apart
  sg::phase matmul{recorder, "matmul", shape, sg::warmup{20}}, tanh{recorder, "tanh", shape, sg::warmup{20}};
  for (int i = 0; i < 20 + 30; ++i) {
    auto whole = step.enter(stream);
    if (auto scope = matmul.enter(stream); true) multiply();
    if (auto scope = tanh.enter(stream); true) activate();
    whole.wait(sg::wait_policy::spin);
  }
  sg::recording const taken = recorder.collect();
  sg::report::table(std::cout, taken);
  if (argc > 1) sg::report::latency_table(std::cout << '\n', taken, sg::ncu_commands(recorder, taken));
  if (argc > 2)  // and keeps the recording: examples/run 02_workload --timeline workload.json
    if (auto const done = sg::report::write_file(argv[2], sg::report::json_of(taken)); !done) return std::cerr << done.why_not << '\n', 1;
}
