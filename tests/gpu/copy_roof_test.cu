// The bug that would go unseen without this file: a roof of the memory that is not what copies by hand reach, that is above
// what the device's attributes promise, or that leaves memory taken.
#include "program.hpp"

#include <streamgauge/measure/copy_roof.hpp>

#include "device.cuh"

namespace {

int attribute(cudaDeviceAttr which) {
  int value = 0;
  REQUIRE(cudaDeviceGetAttribute(&value, which, 0) == cudaSuccess);
  return value;
}

std::size_t free_memory() {
  std::size_t left = 0;
  std::size_t all = 0;
  REQUIRE(cudaMemGetInfo(&left, &all) == cudaSuccess);
  return left;
}

// The fastest of 20 copies of as many bytes, by two events around each.
double by_hand(std::size_t bytes) {
  test_stream const stream;
  test_event const start{cudaEventDefault};
  test_event const stop{cudaEventDefault};
  void* from = nullptr;
  void* to = nullptr;
  REQUIRE(cudaMalloc(&from, bytes) == cudaSuccess);
  REQUIRE(cudaMalloc(&to, bytes) == cudaSuccess);
  float fastest = 0;
  for (int i = 0; i < 21; ++i) {
    start.record(stream);
    REQUIRE(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream) == cudaSuccess);
    stop.record(stream);
    stream.synchronize();
    float milliseconds = 0;
    REQUIRE(cudaEventElapsedTime(&milliseconds, start, stop) == cudaSuccess);
    if (i == 1 || (i > 1 && milliseconds < fastest)) fastest = milliseconds;
  }
  REQUIRE(cudaFree(from) == cudaSuccess);
  REQUIRE(cudaFree(to) == cudaSuccess);
  return 2.0 * static_cast<double>(bytes) / (static_cast<double>(fastest) * 1e-3);
}

}  // namespace

TEST_CASE("the memory's roof is what copies by hand reach, to a tenth, and not above what the attributes promise") {
  warm_up();
  double const hand = by_hand(std::size_t{256} << 20U);
  std::size_t const before = free_memory();
  sg::roof const roof = sg::measure_copy_roof();
  CHECK(free_memory() == before);
  INFO(roof.source << ' ' << roof.why_not);
  REQUIRE(roof.per_second.has_value());
  std::printf("copies within the device: %.0f GB/s, by hand %.0f GB/s; %s\n", *roof.per_second * 1e-9, hand * 1e-9,
              roof.source.c_str());
  CHECK(*roof.per_second > 0.9 * hand);
  CHECK(*roof.per_second < 1.1 * hand);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  sg::device_description device;
  device.memory_bus_bits = static_cast<std::uint32_t>(attribute(cudaDevAttrGlobalMemoryBusWidth));
  device.most_memory_mhz = static_cast<std::uint32_t>(attribute(cudaDevAttrMemoryClockRate) / 1000);
  device.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
  device.most_sm_mhz = static_cast<std::uint32_t>(attribute(cudaDevAttrClockRate) / 1000);
  device.compute_capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
  sg::device_roofs const peaks = sg::roofs_of(device);
  if (!peaks.bytes.per_second) return;  // a device that does not tell its memory's clock
  std::printf("by the attributes: %.0f GB/s, %.1f Tflop/s\n", *peaks.bytes.per_second * 1e-9,
              peaks.flops.per_second.value_or(0) * 1e-12);
  CHECK(*roof.per_second < *peaks.bytes.per_second);
  CHECK(*roof.per_second > 0.5 * *peaks.bytes.per_second);
}

TEST_CASE("while another stream is being captured the roof is measured, and the capture goes on") {
  warm_up();
  test_stream const stream;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(sg::measure_copy_roof().per_second.has_value());
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  if (graph) cudaGraphDestroy(graph);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
