// Without these: a phase would be called slower where the device had lowered its clocks, and nobody could tell; or NVML would
// name another device than CUDA does, cost the program a figure that it could have had, or be asked though nobody wanted it.
// Field cases: case-32, case-74.

#include <streamgauge/measure/device_readings.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "nvml/fake_nvml.hpp"
#include "observed.hpp"
#include "own_process.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

/// A recorder of which one phase was entered on a device.
struct measured {
  sg::recorder recorder{sg::mode::time, small_pool};
  cudaStream_t stream = observed::new_stream();

  measured() {
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(stream); }
  }
  sg::device_description device() {
    auto const found = recorder.collect().environment.devices;
    REQUIRE(found.size() == 1);
    return found[0];
  }
};

sg::device_description device_with(fake_nvml const& nvml) {
  measured one;
  sg::read_devices(one.recorder, nvml.library());
  return one.device();
}

std::vector<std::string> reasons_of(sg::device_description const& device) {
  std::vector<std::string> found;
  for (sg::condition const& each : device.not_read) found.push_back(each.key + ": " + each.value);
  return found;
}

// What the driver of the simulation does not know, so that NVML's own remain.
void set_attributes() {
  for (int const attribute : {16, 13, 36, 37, 38, 75}) simulated::set_device_attribute(0, attribute, 1'000'000);
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-74 each collect takes one reading, at its begin, of what the clock is and not what it may be, and those of earlier ones stay before it") {
  set_attributes();
  fake_nvml nvml;
  nvml->rises = 1;
  measured one;
  sg::read_devices(one.recorder, nvml.library());
  simulated::host_advance(5ms);
  nanoseconds const first = simulated::host_now() - nanoseconds{1s};
  sg::device_description device = one.device();
  REQUIRE(device.readings.size() == 1);
  sg::device_reading const& reading = device.readings[0];
  CHECK(reading.at == first);
  CHECK(reading.sm_mhz == 1755U);
  CHECK(reading.memory_mhz == 3201U);
  CHECK(reading.slowed_by == 0x4U);
  CHECK(reading.temperature == 41U);
  CHECK(reading.power_mw == 612'345U);
  CHECK(device.power_limit_mw == 700'000U);
  CHECK(device.most_sm_mhz == 1980U);
  CHECK(device.most_memory_mhz == 3202U);
  CHECK(device.ecc == true);
  CHECK(device.uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(device.why_no_readings.empty());
  CHECK(device.not_read.empty());

  simulated::host_advance(7ms);
  device = one.device();
  REQUIRE(device.readings.size() == 2);
  CHECK(device.readings[0].sm_mhz == 1755U);
  CHECK(device.readings[0].at == first);
  CHECK(device.readings[1].sm_mhz == 1756U);
  CHECK(device.readings[1].at >= first + nanoseconds{7ms});
  CHECK(nvml->readings == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "nobody is asked unless the program wants it: no reading, no reason, and NVML is not started") {
  fake_nvml nvml;
  sg::device_description const device = measured{}.device();
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings.empty());
  CHECK_FALSE(device.power_limit_mw.has_value());
  for (sg::mode const mode : {sg::mode::mark, sg::mode::off}) {
    sg::recorder recorder{mode};
    sg::read_devices(recorder, nvml.library());
    CHECK(recorder.collect().environment.devices.empty());
  }
  CHECK(nvml->inits == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "NVML is started once a recorder, whoever asks again, and shut down with it") {
  fake_nvml nvml;
  {
    measured one;
    sg::read_devices(one.recorder, nvml.library());
    sg::read_devices(one.recorder, nvml.library());
    CHECK(nvml->started == 1);
    CHECK(one.device().readings.size() == 1);
    measured other;
    sg::read_devices(other.recorder, nvml.library());
    CHECK(nvml->started == 2);
  }
  CHECK(nvml->started == 0);
  CHECK(nvml->inits == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "without NVML the driver's figures stay, and the reason is the loader's") {
  set_attributes();
  measured one;
  sg::read_devices(one.recorder, "libnvidia-ml-that-is-not-here.so.1");
  sg::device_description const device = one.device();
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings ==
        "libnvidia-ml-that-is-not-here.so.1: cannot open shared object file: No such file or directory");
  CHECK(device.uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(device.most_sm_mhz == 1000U);
  CHECK(device.event_floor.has_value());
  CHECK(device.not_read.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a library that is none of NVML's says what it lacks") {
  measured one;
  sg::read_devices(one.recorder, "libm.so.6");
  CHECK(one.device().why_no_readings == "this NVML lacks nvmlInit_v2");
}

TEST_CASE_FIXTURE(fresh_machine, "a start that NVML refuses is the reason, and nothing is shut down that never started") {
  fake_nvml nvml;
  nvml->failing = "nvmlInit_v2";
  nvml->status = 18;
  sg::device_description const device = device_with(nvml);
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings == "nvmlInit_v2: Unknown Error (NVML 18)");
  CHECK(nvml->started == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a device that NVML does not know has no readings, and says which call did not find it") {
  fake_nvml nvml;
  nvml->known_uuid = "GPU-ffffffff-4455-6677-8899-aabbccddeeff";
  sg::device_description const device = device_with(nvml);
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings == "nvmlDeviceGetHandleByUUID: Not Found (NVML 6)");
  CHECK(device.uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE_FIXTURE(fresh_machine, "a device whose UUID CUDA does not say cannot be found, and says so") {
  fake_nvml nvml;
  simulated::machine_options options;
  options.hidden_entry_points = {"cuDeviceGetUuid"};
  simulated::reset(options);
  CHECK(device_with(nvml).why_no_readings == "its UUID is not known: the driver lacks cuDeviceGetUuid");
}

TEST_CASE_FIXTURE(fresh_machine, "case-32 whichever call fails, its figure alone is missing, with the call and what NVML answered") {
  struct one {
    char const* failing;
    char const* figure;
    char const* call;
  };
  for (one const& each :
       {one{"nvmlDeviceGetClockInfo sm", "sm_mhz", "nvmlDeviceGetClockInfo"},
        one{"nvmlDeviceGetClockInfo memory", "memory_mhz", "nvmlDeviceGetClockInfo"},
        one{"reasons", "slowed_by", "nvmlDeviceGetCurrentClocksEventReasons"},
        one{"nvmlDeviceGetTemperature", "temperature", "nvmlDeviceGetTemperature"},
        one{"nvmlDeviceGetPowerUsage", "power_mw", "nvmlDeviceGetPowerUsage"},
        one{"nvmlDeviceGetEnforcedPowerLimit", "power_limit_mw", "nvmlDeviceGetEnforcedPowerLimit"},
        one{"nvmlDeviceGetEccMode", "", ""},
        one{"nvmlDeviceGetMaxClockInfo sm", "", ""},
        one{"nvmlDeviceGetMaxClockInfo memory", "", ""},
        one{"nvmlShutdown", "", ""}}) {
    CAPTURE(std::string{each.failing});
    simulated::reset();
    set_attributes();
    fake_nvml nvml;
    nvml->failing = each.failing;
    nvml->status = 3;
    sg::device_description const device = device_with(nvml);
    std::string const figure = each.figure;
    std::string const failing = each.failing;
    REQUIRE(device.readings.size() == 1);
    CHECK(device.readings[0].sm_mhz.has_value() == (figure != "sm_mhz"));
    CHECK(device.readings[0].memory_mhz.has_value() == (figure != "memory_mhz"));
    CHECK(device.readings[0].slowed_by.has_value() == (figure != "slowed_by"));
    CHECK(device.readings[0].temperature.has_value() == (figure != "temperature"));
    CHECK(device.readings[0].power_mw.has_value() == (figure != "power_mw"));
    CHECK(device.power_limit_mw.has_value() == (figure != "power_limit_mw"));
    // What the driver knows as well is its answer then: of ECC here that there is none.
    CHECK(device.ecc == (failing != "nvmlDeviceGetEccMode"));
    CHECK(device.most_sm_mhz == (failing == "nvmlDeviceGetMaxClockInfo sm" ? 1000U : 1980U));
    CHECK(device.most_memory_mhz == (failing == "nvmlDeviceGetMaxClockInfo memory" ? 1000U : 3202U));
    CHECK(device.why_no_readings.empty());
    CHECK(reasons_of(device) == (figure.empty() ? observed::names{}
                                                : observed::names{figure + ": " + each.call + ": Not Supported (NVML 3)"}));
    CHECK(nvml->started == 0);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "what neither the driver nor NVML knows is absent, with the reason of whom was asked first") {
  fake_nvml nvml;
  nvml->failing = "nvmlDeviceGetMaxClockInfo sm";
  nvml->status = 3;
  sg::device_description const device = device_with(nvml);
  CHECK_FALSE(device.most_sm_mhz.has_value());
  CHECK(device.most_memory_mhz == 3202U);
  std::vector<std::string> const reasons = reasons_of(device);
  REQUIRE(reasons.size() == 5);
  CHECK(reasons[0] == "multiprocessors: the driver does not know it");
  CHECK(reasons[1] == "most_sm_mhz: the driver does not know it");
  CHECK(reasons[2] == "memory_bus_bits: the driver does not know it");
}

TEST_CASE_FIXTURE(fresh_machine, "an NVML of before 535 has the reasons under their older name, and lacks what it lacks") {
  set_attributes();
  fake_nvml const nvml{FAKE_NVML_OLD};
  sg::device_description const device = device_with(nvml);
  REQUIRE(device.readings.size() == 1);
  CHECK(device.readings[0].slowed_by == 0x4U);
  CHECK_FALSE(device.readings[0].power_mw.has_value());
  CHECK(reasons_of(device) == observed::names{"power_mw: this NVML lacks nvmlDeviceGetPowerUsage"});
}

TEST_CASE_FIXTURE(fresh_machine, "a part of a device is found by its own UUID; its clocks and its power are those of the whole") {
  set_attributes();
  simulated::make_part(0);
  fake_nvml nvml;
  sg::device_description device = device_with(nvml);
  CHECK(device.uuid == "MIG-00112233-4455-6677-8899-aabbccddee01");
  REQUIRE(device.readings.size() == 1);
  CHECK(device.readings[0].sm_mhz == 1755U);
  CHECK(device.readings[0].power_mw == 612'345U);
  CHECK(device.power_limit_mw == 700'000U);
  CHECK(device.ecc == true);
  CHECK(device.not_read.empty());
  CHECK(nvml->asked_of_part == 9);  // each figure was asked of the part first

  // Without the way to the whole nothing can be read, and each figure says why.
  nvml->failing = "nvmlDeviceGetDeviceHandleFromMigDeviceHandle";
  nvml->status = 3;
  device = device_with(nvml);
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings == "no figure could be read");
  CHECK(reasons_of(device) == observed::names{"power_limit_mw: nvmlDeviceGetEnforcedPowerLimit: Not Supported (NVML 3)",
                                              "sm_mhz: nvmlDeviceGetClockInfo: Not Supported (NVML 3)",
                                              "memory_mhz: nvmlDeviceGetClockInfo: Not Supported (NVML 3)",
                                              "slowed_by: nvmlDeviceGetCurrentClocksEventReasons: Not Supported (NVML 3)",
                                              "temperature: nvmlDeviceGetTemperature: Not Supported (NVML 3)",
                                              "power_mw: nvmlDeviceGetPowerUsage: Not Supported (NVML 3)"});
}

TEST_CASE_FIXTURE(fresh_machine, "a part that the driver calls a device is told by NVML") {
  fake_nvml nvml;
  nvml->known_uuid = "GPU-of-the-whole";
  nvml->known_part = "MIG-00112233-4455-6677-8899-aabbccddeeff";
  sg::device_description const device = device_with(nvml);
  CHECK(device.uuid == "MIG-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(device.readings.size() == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "two devices are read apart, each once a collect however many threads and streams there are") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  fake_nvml nvml;
  measured one;
  sg::read_devices(one.recorder, nvml.library());
  select_device(1);
  cudaStream_t const other = observed::new_stream();
  sg::phase const step{one.recorder, "step"};
  { auto const scope = step.enter(other); }
  select_device(0);
  auto const devices = one.recorder.collect().environment.devices;
  REQUIRE(devices.size() == 2);
  for (sg::device_description const& device : devices) {
    CAPTURE(device.ordinal);
    CHECK(device.readings.size() == (device.ordinal == 0 ? 1U : 0U));
    CHECK(device.why_no_readings ==
          (device.ordinal == 0 ? "" : "nvmlDeviceGetHandleByUUID: Not Found (NVML 6)"));
  }
  CHECK(nvml->readings == 1);
}

TEST_CASE("of more readings than are kept every second one goes, the lowest and the highest clock and each reason stay") {
  sg::reading_list list;
  std::size_t const full = sg::reading_list::most;
  for (std::size_t i = 0; i < full; ++i) {
    sg::device_reading fresh;
    fresh.at = nanoseconds{static_cast<std::int64_t>(i)};
    fresh.sm_mhz = i == 101 ? 345U : i == 303 ? 1980U : 1700U;
    fresh.slowed_by = i == 505 ? 0x20U : i == 507 ? 0x20U : 0U;
    list.add(fresh);
  }
  CHECK(list.all().size() == full);
  list.add({});
  REQUIRE(list.all().size() == full / 2 + 3 + 1);
  std::vector<std::int64_t> odd;
  for (sg::device_reading const& each : list.all())
    if (each.at.count() % 2 != 0) odd.push_back(each.at.count());
  CHECK(odd == std::vector<std::int64_t>{101, 303, 505});
  CHECK(list.all()[0].at.count() == 0);
  CHECK(list.all()[1].at.count() == 2);
  CHECK_FALSE(list.all().back().sm_mhz.has_value());
}

TEST_CASE_FIXTURE(fresh_machine, "in a forked child nothing is read, the reason says so, and NVML is left as the parent has it") {
  fake_nvml nvml;
  auto* const one = new measured;
  sg::read_devices(one->recorder, nvml.library());
  CHECK(one->device().readings.size() == 1);
  int const status = in_forked_child([&] {
    sg::device_description device;
    one->recorder.core().describing.reader.load()->read(one->recorder.core());
    one->recorder.core().describing.reader.load()->describe(device);
    bool const right =
        device.readings.empty() && device.why_no_readings == "the process was forked from the one that reads the devices";
    delete one;
    return right && nvml->started == 1 && nvml->readings == 1 ? 0 : 1;
  });
  CHECK(status == 0);
  delete one;
  CHECK(nvml->started == 0);
}

namespace {
// Ends after NVML's own globals would, were it a real one.
struct ending_last {
  sg::recorder recorder{sg::mode::time};
};
}  // namespace

TEST_CASE("in a process whose recorder is a global" * doctest::skip()) {
  fresh_machine const machine;
  static fake_nvml const nvml;
  struct check_at_end {
    ~check_at_end() { std::printf("started at the end: %d\n", nvml->started); }
  };
  static check_at_end const check;
  static ending_last global;
  sg::read_devices(global.recorder, nvml.library());
  CHECK(nvml->started == 1);
}

TEST_CASE("NVML is not shut down while the process ends, when its own globals may be gone") {
  process_outcome const outcome = in_own_process("in a process whose recorder is a global");
  CAPTURE(outcome.output);
  CHECK(outcome.passed());
  CHECK(outcome.output.find("started at the end: 1\n") != std::string::npos);
}
