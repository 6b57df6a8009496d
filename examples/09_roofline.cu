// How near do a vector add and matrix products come to what the device can do? Each phase declares its work. The roofs are
// measured here: the memory's by a copy within the device, the arithmetic's by a large matrix product of cuBLAS.
#include <cublas_v2.h>
#include <cstdio>
#include <iostream>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/measure/copy_roof.hpp>
#include <streamgauge/report/roofline_table.hpp>
namespace sg = streamgauge;

constexpr std::size_t largest = 8192;             // of the matrices, which are square
constexpr std::size_t count = largest * largest;  // of the vectors: 256 MiB each, several times any L2 cache

__global__ void add(float const* a, float const* b, float* sum) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  sum[i] = a[i] + b[i];
}

__global__ void fill(float* values) {
  std::size_t const i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  values[i] = static_cast<float>(i % 1021) / 1021 - 0.5f;
}

void check(cublasStatus_t s) { sg::check(s == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown, "cuBLAS"); }

double flops_of(std::size_t n) { return 2.0 * static_cast<double>(n * n * n); }

int main() {
  float *a = nullptr, *b = nullptr, *c = nullptr;
  cudaStream_t stream = nullptr;
  cublasHandle_t cublas = nullptr;
  if (cudaStreamCreate(&stream) != cudaSuccess)
    return std::puts("No CUDA device can be used here, and it is the device whose roofs this is about."), 0;
  for (float** each : {&a, &b, &c}) {
    sg::check(cudaMalloc(each, count * sizeof(float)), "cudaMalloc");
    fill<<<count / 256, 256, 0, stream>>>(*each);
  }
  check(cublasCreate(&cublas)), check(cublasSetStream(cublas, stream));
  auto const multiply = [&](std::size_t n) {
    float const one = 1, zero = 0;
    int const size = static_cast<int>(n);
    check(cublasSgemm(cublas, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, a, size, b, size, &zero, c, size));
  };
  sg::check(cudaStreamSynchronize(stream));

  // The roofs, before anything else runs.
  sg::device_roofs roofs;
  roofs.bytes = sg::measure_copy_roof();
  sg::recorder reference;
  sg::phase large{reference, "large gemm", sg::warmup{3}};
  for (int i = 0; i < 3 + 12; ++i) {
    auto scope = large.enter(stream);
    multiply(largest);
  }
  sg::recording_summary const seen = sg::summarize(reference.collect());
  if (auto const median = seen.rows.at(0).what.device.values.steady.median)
    roofs.flops = sg::measured_roof(flops_of(largest), *median, "cublasSgemm of 8192 by 8192 matrices, the median of 12");

  // The phases. What a product does depends on its size, so it is declared with the size.
  sg::recorder recorder;
  constexpr std::size_t vector = sizeof(float) * count;
  sg::phase sum{recorder, "add", sg::warmup{5}, sg::work{}.flops(count).reads(2 * vector).writes(vector)};
  sg::phase gemm{recorder, "gemm", sg::warmup{5}};
  for (int i = 0; i < 5 + 40; ++i) {
    {
      auto scope = sum.enter(stream);
      add<<<count / 256, 256, 0, stream>>>(a, b, c);
    }
    for (std::size_t const n : {256U, 1024U, 4096U}) {
      std::size_t const matrix = sizeof(float) * n * n;
      auto scope = gemm.enter(stream, {{"n", n}}, sg::work{}.flops(flops_of(n)).reads(2 * matrix).writes(matrix));
      multiply(n);
    }
  }
  sg::recording const taken = recorder.collect();
  sg::report::roofline_table(std::cout, sg::roofline_of(taken, roofs));

  // The same under the roofs of the data sheet's kind, where the device told what they follow from.
  if (taken.environment.devices.empty() || !taken.environment.devices[0].most_memory_mhz) return 0;
  std::puts("\nUnder the roofs that follow from the device's attributes:");
  sg::report::roofline_table(std::cout, sg::roofline_of(taken, sg::roofs_of(taken.environment.devices[0])));
}
