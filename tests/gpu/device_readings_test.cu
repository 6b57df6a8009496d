// The bug that would go unseen without this file: a clock, a UUID or a limit that is another device's or another unit's, a
// look-up that this driver answers otherwise, or readings that disturb the program.
#include "program.hpp"

#include <chrono>
#include <thread>

#include <streamgauge/measure/device_readings.hpp>
#include <streamgauge/measure/device_sampler.hpp>

#include "device.cuh"
#include "tools.cuh"

namespace {

sg::device_description device_of(sg::recording const& taken) {
  REQUIRE(taken.environment.devices.size() == 1);
  return taken.environment.devices[0];
}

void say_reasons(sg::device_description const& device) {
  for (sg::condition const& each : device.not_read) std::printf("not read: %s: %s\n", each.key.c_str(), each.value.c_str());
}

// What must hold for every reading of this device.
void check_reading(sg::device_reading const& reading, sg::device_description const& device) {
  REQUIRE(reading.sm_mhz.has_value());
  REQUIRE(device.most_sm_mhz.has_value());
  CHECK(*reading.sm_mhz >= 100);
  CHECK(*reading.sm_mhz <= *device.most_sm_mhz);
  REQUIRE(reading.memory_mhz.has_value());
  REQUIRE(device.most_memory_mhz.has_value());
  CHECK(*reading.memory_mhz >= 100);
  CHECK(*reading.memory_mhz <= *device.most_memory_mhz);
  CHECK(reading.slowed_by.has_value());
  REQUIRE(reading.temperature.has_value());
  CHECK(*reading.temperature >= 10);
  CHECK(*reading.temperature <= 110);
  REQUIRE(reading.power_mw.has_value());
  CHECK(*reading.power_mw >= 10'000);
  CHECK(*reading.power_mw <= 2'000'000);
}

}  // namespace

TEST_CASE("the driver's figures are those that the runtime tells, and both look-ups of the UUID are answered") {
  warm_up();
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  sg::device_facts_api api;
  api.find();
  bool const found = api.attribute && api.memory && api.uuid;
  bool const found_older = static_cast<bool>(api.uuid_of_whole);
  CHECK(found);
  CHECK(found_older);
  sg::device_description const device = sg::name_device(*cuda.api, 0);
  say_reasons(device);
  cudaDeviceProp told{};
  REQUIRE(cudaGetDeviceProperties(&told, 0) == cudaSuccess);
  CHECK(device.name == told.name);
  CHECK(device.multiprocessors == told.multiProcessorCount);
  CHECK(device.memory_bytes == told.totalGlobalMem);
  CHECK(device.l2_bytes == static_cast<std::uint64_t>(told.l2CacheSize));
  CHECK(device.memory_bus_bits == static_cast<std::uint32_t>(told.memoryBusWidth));
  CHECK(device.compute_capability == 10 * told.major + told.minor);
  CHECK(device.ecc == (told.ECCEnabled != 0));
  CHECK(device.scheduling == "automatic");
  std::string bytes;
  for (char const each : told.uuid.bytes) {
    auto const byte = static_cast<unsigned char>(each);
    bytes += "0123456789abcdef"[byte >> 4];
    bytes += "0123456789abcdef"[byte & 15];
  }
  std::string written = device.uuid;
  for (auto at = written.find('-'); at != std::string::npos; at = written.find('-')) written.erase(at, 1);
  REQUIRE(written.size() == 3 + 32);
  CHECK(written.substr(3) == bytes);
  std::printf("%s %s, %d SMs, %u MHz, memory %u MHz, %u bits\n", device.name.c_str(), device.uuid.c_str(),
              device.multiprocessors.value_or(0), device.most_sm_mhz.value_or(0), device.most_memory_mhz.value_or(0),
              device.memory_bus_bits.value_or(0));
}

TEST_CASE("a reading beside a kernel that runs is this device's, and nothing of the program's is touched") {
  warm_up();
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  auto const before_start = std::chrono::steady_clock::now();
  sg::read_devices(recorder);
  auto const started = std::chrono::steady_clock::now() - before_start;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    spin<<<1, 1, 0, stream>>>(300 * ms, nullptr);
  }
  CHECK(cudaMemcpy(nullptr, nullptr, 1, static_cast<cudaMemcpyKind>(77)) != cudaSuccess);
  cudaError_t const pending = cudaPeekAtLastError();
  auto const before_read = std::chrono::steady_clock::now();
  recorder.core().describing.reader.load()->read(recorder.core());
  auto const first = std::chrono::steady_clock::now();
  recorder.core().describing.reader.load()->read(recorder.core());
  auto const second = std::chrono::steady_clock::now();
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);  // nothing waited for the kernel
  sg::device_description const device = device_of(recorder.collect());
  CHECK(cudaGetLastError() == pending);
  say_reasons(device);
  INFO(device.why_no_readings);
  REQUIRE(device.readings.size() == 3);
  for (sg::device_reading const& each : device.readings) check_reading(each, device);
  CHECK(device.readings[0].at < device.readings[1].at);
  REQUIRE(device.power_limit_mw.has_value());
  CHECK(*device.power_limit_mw >= 50'000);
  CHECK(device.ecc.has_value());
  CHECK(device.why_no_readings.empty());
  CHECK(device.not_read.empty());
  auto const us_of = [](auto time) { return std::chrono::duration<double, std::micro>{time}.count(); };
  std::printf("NVML started in %.0f us; first reading %.0f us, second %.0f us; limit %u mW; %s\n", us_of(started),
              us_of(first - before_read), us_of(second - first), *device.power_limit_mw,
              sg::report::clock_note(device).c_str());
}

TEST_CASE("the UUID is the one that nvidia-smi tells") {
  warm_up();
  if (!has("nvidia-smi")) {
    MESSAGE("skipped: nvidia-smi is not here");
    return;
  }
  std::string const uuid = sg::name_device(*sg::driver().api, 0).uuid;
  std::string const listed = shell("nvidia-smi -L");
  CAPTURE(listed);
  CAPTURE(uuid);
  CHECK(uuid.size() == 40);
  CHECK((uuid.substr(0, 4) == "GPU-" || uuid.substr(0, 4) == "MIG-"));
  CHECK(listed.find("UUID: " + uuid) != std::string::npos);
}

TEST_CASE("a thread on request reads meanwhile: the clock is up while the kernel runs") {
  warm_up();
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  {
    sg::device_sampler const sampler{recorder, std::chrono::milliseconds{10}};
    auto scope = step.enter(stream);
    spin<<<512, 256, 0, stream>>>(500 * ms, nullptr);
    scope.wait(sg::wait_policy::block);
  }
  sg::recording const taken = recorder.collect();
  sg::device_description const device = device_of(taken);
  INFO(device.why_no_readings);
  REQUIRE(device.readings.size() >= 10);
  std::uint32_t highest = 0;
  for (sg::device_reading const& each : device.readings) {
    check_reading(each, device);
    highest = std::max(highest, *each.sm_mhz);
  }
  if (!watched()) CHECK(2 * highest >= *device.most_sm_mhz);
  std::printf("%zu readings beside a kernel of 500 ms: %s\n", device.readings.size(),
              sg::report::clock_note(device).c_str());
  sg::series const& series = taken.all.at(0);
  REQUIRE(series.samples.size() == 1);
  CHECK(series.samples[0].device.known());
}

TEST_CASE("each device is found by its own UUID, whatever number CUDA gives it") {
  int devices = 0;
  sg::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2) {
    MESSAGE("skipped: one device is here");
    return;
  }
  sg::recorder recorder{sg::mode::time};
  sg::read_devices(recorder);
  sg::phase const step{recorder, "step"};
  for (int device : {1, 0}) {
    sg::check(cudaSetDevice(device), "cudaSetDevice");
    warm_up();
    test_stream const stream;
    auto scope = step.enter(stream);
    add_one<<<1, 1, 0, stream>>>(device_values<int>{1}.at(0));
    scope.wait(sg::wait_policy::spin);
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.environment.devices.size() == 2);
  CHECK(taken.environment.devices[0].uuid != taken.environment.devices[1].uuid);
  for (sg::device_description const& each : taken.environment.devices) {
    CAPTURE(each.ordinal);
    REQUIRE(each.readings.size() == 1);
    check_reading(each.readings[0], each);
  }
}

namespace {
// The last device alone, which CUDA calls 0 then.
int only_the_last_device() {
  setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
  setenv("CUDA_VISIBLE_DEVICES", std::getenv("STREAMGAUGE_TEST_LAST"), 1);
  sg::recorder recorder{sg::mode::time};
  sg::read_devices(recorder);
  sg::phase const step{recorder, "step"};
  sg::check(cudaFree(nullptr), "cudaFree");
  {
    test_stream const stream;
    auto scope = step.enter(stream);
    scope.wait(sg::wait_policy::spin);
  }
  auto const devices = recorder.collect().environment.devices;
  if (devices.size() != 1 || devices[0].readings.size() != 1) return 1;
  std::printf("%s", devices[0].uuid.c_str());
  return 0;
}
add_child const last_device{"only_the_last_device", only_the_last_device};
}  // namespace

TEST_CASE("a device that CUDA_VISIBLE_DEVICES renumbers keeps its UUID, and NVML finds it") {
  int devices = 0;
  sg::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (devices < 2 || std::getenv("CUDA_VISIBLE_DEVICES") || !has("nvidia-smi")) {
    MESSAGE("skipped: one device, the variable is set, or nvidia-smi is not here");
    return;
  }
  setenv("STREAMGAUGE_TEST_LAST", std::to_string(devices - 1).c_str(), 1);
  outcome const seen = run_child("only_the_last_device");
  unsetenv("STREAMGAUGE_TEST_LAST");
  CAPTURE(seen.errors);
  REQUIRE(seen.exit_code == 0);
  std::string const listed = shell("nvidia-smi -L");
  CAPTURE(listed);
  auto const line = listed.find("GPU " + std::to_string(devices - 1) + ":");
  REQUIRE(line != std::string::npos);
  std::string const uuid = seen.output.substr(seen.output.find("GPU-"));
  CHECK(listed.substr(line, listed.find('\n', line) - line).find(uuid) != std::string::npos);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
