// The bugs that would go unseen without this file: NVML that starts anew with each measurement, and clocks that are read only
// when the device no longer works.
// Field cases: case-74.
#include "program.hpp"

#include <chrono>
#include <iostream>

#include <streamgauge/analyze/clock_readings.hpp>
#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/report/measurement_text.hpp>

#include "device.cuh"

// Follows the SM clock, and draws power.
__global__ void multiply_add(float* out, int rounds) {
  float a = static_cast<float>(threadIdx.x), b = 1.0f, c = 2.0f, d = 3.0f;
  for (int i = 0; i < rounds; ++i) {
    a = a * 1.0001f + 0.5f;
    b = b * 1.0001f + 0.5f;
    c = c * 1.0001f + 0.5f;
    d = d * 1.0001f + 0.5f;
  }
  if (a + b + c + d == 0.0f) *out = a;
}

TEST_CASE("NVML's start is paid once a process, outside of the budget") {
  warm_up();
  test_stream const stream;
  sg::measure_choices choices;
  choices.until.time = std::chrono::milliseconds{50};
  double first = 0;
  for (int i = 0; i < 3; ++i) {
    auto const begun = std::chrono::steady_clock::now();
    auto const found = sg::measure(stream, [](cudaStream_t on) { spin<<<1, 1, 0, on>>>(5 * us, nullptr); }, choices);
    auto const wall = std::chrono::steady_clock::now() - begun;
    double const beside = std::chrono::duration<double, std::milli>{wall - found.took}.count();
    std::printf("measurement %d: %.2f ms beside the %.2f ms that it took\n", i, beside,
                static_cast<double>(found.took.count()) / 1e6);
    if (watched()) return;
    CHECK(found.median().has_value());
    if (i == 0) first = beside;
    // 22 to 27 ms, and 3 to 7 later, as slow as NVML is on the host.
    if (i > 0) CHECK(beside < first / 2);
  }
}

TEST_CASE("beside work that keeps the device busy each interval has a reading near, and the clock is one that it may reach") {
  warm_up();
  test_stream const stream;
  device_values<float> const out{1};
  sg::measure_choices choices;
  choices.name = "multiply_add";
  choices.until.time = std::chrono::seconds{3};
  choices.until.width = -1.0;  // never narrow enough
  auto const found = sg::measure(
      stream, [&](cudaStream_t on) { multiply_add<<<1024, 256, 0, on>>>(out.at(0), 20'000); }, choices);
  if (watched()) return;
  REQUIRE(found.samples());
  REQUIRE(found.taken.environment.devices.size() == 1);
  auto const& device = found.taken.environment.devices[0];
  INFO(device.why_no_readings);
  // One every 10 ms, but for how long an interval and a reading take.
  REQUIRE(static_cast<double>(device.readings.size()) >= static_cast<double>(found.took.count()) / 30e6);
  REQUIRE(device.readings.size() >= 3);
  std::size_t idle = 0;
  std::size_t slow = 0;
  for (auto const& each : device.readings) {
    REQUIRE(each.sm_mhz);
    REQUIRE(each.slowed_by);
    CHECK(*each.sm_mhz <= device.most_sm_mhz.value_or(0));
    if ((*each.slowed_by & 1U) != 0) ++idle;
    if (2 * *each.sm_mhz < device.most_sm_mhz.value_or(0)) ++slow;
  }
  std::printf("%zu readings, %zu of them call the device idle, %zu below half the clock that it may reach\n",
              device.readings.size(), idle, slow);
  CHECK(slow < device.readings.size() / 4);
  auto const held = sg::count_held_back(*found.samples(), device.readings);
  CHECK(held.executions == found.samples()->samples.size());
  CHECK(held.not_known == 0);
  sg::report::measurement_text(std::cout, found);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
