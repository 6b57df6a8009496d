// The bug that would go unseen without this file: a measured time that is not what the kernel took. Under nsys the same
// executions are timed twice, by our intervals and by CUPTI's stamps of the kernels inside.
#include "nsys_export.cuh"

#include <algorithm>
#include <cstdlib>

#include <cublas_v2.h>
#include <cuda_bf16.h>

#include <streamgauge/measure/benchmark.hpp>

#include "device.cuh"

__global__ void nothing() {}
__global__ void add(float const* a, float const* b, float* c, int n) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n; i += static_cast<int>(gridDim.x * blockDim.x))
    c[i] = a[i] + b[i];
}

namespace {

constexpr std::size_t executions = 200;
constexpr int added = 64 << 20;
constexpr unsigned int add_blocks = 4096;
constexpr unsigned int empty_blocks = 3;
constexpr int size = 8192;

void check(cublasStatus_t status) {
  streamgauge::check(status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown, "cuBLAS");
}

void print(char const* what, sg::series const& of) {
  for (sg::sample const& one : of.samples)
    if (one.device.known()) std::printf("device %s %lld\n", what, static_cast<long long>(one.device.value()->count()));
}

int measured() {
  warm_up();
  test_stream const stream;
  sg::measure_choices choices;
  choices.under_tool = executions;
  {
    device_values<float> const a{added}, b{added}, c{added};
    auto const found = sg::measure(
        stream, [&](cudaStream_t on) { add<<<add_blocks, 512, 0, on>>>(a.at(0), b.at(0), c.at(0), added); }, choices);
    std::printf("watched %d, add: %s\n", found.watched ? 1 : 0, found.why_none.c_str());
    if (found.samples()) print("add", *found.samples());
  }
  {
    constexpr std::size_t elements = std::size_t{size} * size;
    device_values<__nv_bfloat16> const a{elements}, b{elements}, c{elements};
    cublasHandle_t handle = nullptr;
    check(cublasCreate(&handle));
    check(cublasSetStream(handle, stream));
    float const one = 1, zero = 0;
    auto const found = sg::measure(
        stream,
        [&] {
          check(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, size, size, size, &one, a.at(0), CUDA_R_16BF, size, b.at(0),
                             CUDA_R_16BF, size, &zero, c.at(0), CUDA_R_16BF, size, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        },
        choices);
    std::printf("gemm: %s\n", found.why_none.c_str());
    if (found.samples()) print("gemm", *found.samples());
    check(cublasDestroy(handle));
  }
  // What an interval adds to a kernel, with both records and the kernel queued before the device begins.
  sg::recorder recorder;
  sg::phase const empty{recorder, "empty"};
  for (int i = 0; i < 10; ++i) {
    spin<<<1, 1, 0, stream>>>(5 * ms, nullptr);
    for (int k = 0; k < 20; ++k) {
      auto const scope = empty.enter(stream);
      nothing<<<empty_blocks, 1, 0, stream>>>();
    }
    stream.synchronize();
  }
  for (sg::series const& each : recorder.collect().all) print("empty", each);
  return 0;
}
add_child const as_measured{"measured", measured};

std::vector<std::int64_t> times_of(std::string const& printed, std::string const& what) {
  std::vector<std::int64_t> found;
  std::string const word = "device " + what + " ";
  for (auto at = printed.find(word); at != std::string::npos; at = printed.find(word, at + 1))
    found.push_back(std::strtoll(printed.c_str() + at + word.size(), nullptr, 10));
  return found;
}

double share_of(std::vector<double> values, double share) {
  REQUIRE_FALSE(values.empty());
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace

TEST_CASE("measured times less the floor are what nsys saw the kernels take, execution by execution") {
  std::string const printed =
      shell("nsys profile -t cuda,nvtx --sample=none --cpuctxsw=none -f true -o measured " + self() + " --child=measured");
  CHECK(printed.find("watched 1, add: \n") != std::string::npos);
  nsys_export const seen = exported_from("measured.nsys-rep");
  std::vector<std::int64_t> ran[3];
  for (exported const& each : seen.kernels) {
    std::int64_t const took = each.end - each.begin;
    if (each.kind == static_cast<int>(add_blocks))
      ran[0].push_back(took);
    else if (each.kind == static_cast<int>(empty_blocks))
      ran[2].push_back(took);
    else if (took > 500'000 && took < 4'000'000)  // the product, neither small kernels nor spins of 5 ms
      ran[1].push_back(took);
  }
  std::vector<std::int64_t> const empty = times_of(printed, "empty");
  REQUIRE(empty.size() == ran[2].size());
  std::vector<double> adds;
  for (std::size_t i = 0; i < empty.size(); ++i) adds.push_back(static_cast<double>(empty[i] - ran[2][i]));
  double const floor = share_of(adds, 0.5);
  std::printf("an empty kernel: interval %.0f ns, by nsys %.0f, so an interval adds %.0f\n",
              share_of({empty.begin(), empty.end()}, 0.5), share_of({ran[2].begin(), ran[2].end()}, 0.5), floor);
  for (int i = 0; i < 2; ++i) {
    char const* const what = i == 0 ? "add" : "gemm";
    CAPTURE(std::string{what});
    std::vector<std::int64_t> const ours = times_of(printed, what);
    REQUIRE(ours.size() == executions);
    REQUIRE(ran[i].size() >= executions);  // those before were single executions, for the host's side
    std::size_t const before = ran[i].size() - executions;
    std::vector<double> off;
    std::size_t within = 0;
    for (std::size_t k = 0; k < executions; ++k) {
      auto const theirs = static_cast<double>(ran[i][before + k]);
      off.push_back((static_cast<double>(ours[k]) - floor - theirs) / theirs);
      if (off.back() <= 0.005 && off.back() >= -0.005) ++within;
    }
    std::printf("%s: %zu executions of %.1f us; ours less the floor beside nsys's: least %+.3f %%, median %+.3f %%, most %+.3f %%; "
                "%zu within 0.5 %%\n",
                what, executions, share_of({ran[i].begin(), ran[i].end()}, 0.5) / 1e3, 100 * share_of(off, 0), 100 * share_of(off, 0.5),
                100 * share_of(off, 1), within);
    CHECK(within >= executions - 2);
  }
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
