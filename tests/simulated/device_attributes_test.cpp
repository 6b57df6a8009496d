// Without these: a recording could not be told from one of another device, or a figure that CUDA does not know would stand
// there as 0; or one call that fails would cost the other figures.

#include <streamgauge/measure/device_attributes.hpp>

#include <cstdlib>
#include <string>
#include <vector>

#include "observed.hpp"
#include "own_process.hpp"
#include "program.hpp"

using simulated::fresh_machine;
namespace sg = streamgauge;

namespace {

// An H200's, as CUDA numbers them.
void set_attributes(int device) {
  simulated::set_device_attribute(device, 16, 132);
  simulated::set_device_attribute(device, 13, 1'980'000);
  simulated::set_device_attribute(device, 36, 3'201'000);
  simulated::set_device_attribute(device, 37, 6144);
  simulated::set_device_attribute(device, 38, 62'914'560);
  simulated::set_device_attribute(device, 75, 9);
  simulated::set_device_attribute(device, 76, 0);
  simulated::set_device_attribute(device, 32, 1);
}

sg::device_description described(int device = 0) {
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  return sg::name_device(*cuda.api, device);
}

std::string reason(std::vector<sg::condition> const& of, std::string const& figure) {
  for (sg::condition const& each : of)
    if (each.key == figure) return each.value;
  return "";
}

std::vector<std::string> keys(std::vector<sg::condition> const& of) {
  std::vector<std::string> found;
  for (sg::condition const& each : of) found.push_back(each.key);
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a device says what it is: each figure in its own unit, and no context is made for it") {
  set_attributes(0);
  sg::device_description const device = described();
  CHECK(device.name == "Simulated device 0");
  CHECK(device.uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(device.compute_capability == 90);
  CHECK(device.multiprocessors == 132);
  CHECK(device.memory_bytes == 85'899'345'920U);
  CHECK(device.l2_bytes == 62'914'560U);
  CHECK(device.memory_bus_bits == 6144U);
  CHECK(device.most_sm_mhz == 1980U);
  CHECK(device.most_memory_mhz == 3201U);
  CHECK(device.ecc == true);
  CHECK(device.scheduling == "automatic");
  CHECK(device.not_read.empty());
  CHECK_FALSE(device.power_limit_mw.has_value());
  CHECK(device.readings.empty());
  CHECK(device.why_no_readings.empty());
  CHECK_FALSE(simulated::context_created(0));
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "two devices have two UUIDs, and a part of one has its own, which says so") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  simulated::make_part(1);
  CHECK(described(0).uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(described(1).uuid == "MIG-01112233-4455-6677-8899-aabbccddee01");
}

TEST_CASE_FIXTURE(fresh_machine, "a figure of 0 is one that the driver does not know; an ECC of 0 is an answer") {
  sg::device_description const device = described();
  CHECK_FALSE(device.multiprocessors.has_value());
  CHECK_FALSE(device.compute_capability.has_value());
  CHECK(device.ecc == false);
  CHECK(reason(device.not_read, "multiprocessors") == "the driver does not know it");
  CHECK(keys(device.not_read) == observed::names{"multiprocessors", "most_sm_mhz", "most_memory_mhz", "memory_bus_bits",
                                                 "l2_bytes", "compute_capability"});
}

TEST_CASE_FIXTURE(fresh_machine, "how a thread waits for the device is what its context was told") {
  unsigned int const flags[] = {cudaDeviceScheduleAuto, cudaDeviceScheduleSpin, cudaDeviceScheduleYield,
                                cudaDeviceScheduleBlockingSync, cudaDeviceScheduleBlockingSync | cudaDeviceMapHost};
  char const* const words[] = {"automatic", "spin", "yield", "block", "block"};
  for (std::size_t i = 0; i < 5; ++i) {
    simulated::set_scheduling(0, flags[i]);
    CHECK(described().scheduling == words[i]);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-32 whichever call fails, its figure alone is missing, with the call and what CUDA answered") {
  struct one {
    char const* call;
    std::size_t nth;
    char const* figure;
  };
  one const all[] = {{"cuDeviceGetUuid", 1, "uuid"},
                     {"cuDeviceGetAttribute", 1, "multiprocessors"},
                     {"cuDeviceGetAttribute", 2, "most_sm_mhz"},
                     {"cuDeviceGetAttribute", 3, "most_memory_mhz"},
                     {"cuDeviceGetAttribute", 4, "memory_bus_bits"},
                     {"cuDeviceGetAttribute", 5, "l2_bytes"},
                     {"cuDeviceGetAttribute", 6, "compute_capability"},
                     {"cuDeviceGetAttribute", 7, "compute_capability"},
                     {"cuDeviceGetAttribute", 8, "ecc"},
                     {"cuDeviceTotalMem", 1, "memory_bytes"},
                     {"cuDevicePrimaryCtxGetState", 1, "scheduling"}};
  for (one const& each : all) {
    CAPTURE(std::string{each.figure});
    simulated::reset();
    set_attributes(0);
    simulated::fail_nth(each.call, each.nth, cudaErrorUnknown);
    sg::device_description const device = described();
    CHECK(keys(device.not_read) == observed::names{each.figure});
    CHECK(device.not_read.at(0).value == std::string{each.call} + ": unknown error (cudaErrorUnknown, 999)");
    std::string const figure = each.figure;
    CHECK(device.uuid.empty() == (figure == "uuid"));
    CHECK(device.multiprocessors.has_value() == (figure != "multiprocessors"));
    CHECK(device.most_sm_mhz.has_value() == (figure != "most_sm_mhz"));
    CHECK(device.most_memory_mhz.has_value() == (figure != "most_memory_mhz"));
    CHECK(device.memory_bus_bits.has_value() == (figure != "memory_bus_bits"));
    CHECK(device.l2_bytes.has_value() == (figure != "l2_bytes"));
    CHECK(device.compute_capability.has_value() == (figure != "compute_capability"));
    CHECK(device.ecc.has_value() == (figure != "ecc"));
    CHECK(device.memory_bytes.has_value() == (figure != "memory_bytes"));
    CHECK(device.scheduling.empty() == (figure == "scheduling"));
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a UUID of which the older function says nothing is that of a whole device") {
  simulated::fail_nth("cuDeviceGetUuid", 2, cudaErrorUnknown);
  CHECK(described().uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
}

TEST_CASE_FIXTURE(fresh_machine, "a driver that lacks a function costs its figures alone, and the last error stays the program's") {
  struct one {
    char const* function;
    observed::names figures;
  };
  for (one const& each : {one{"cuDeviceGetUuid", {"uuid"}}, one{"cuDeviceTotalMem", {"memory_bytes"}},
                          one{"cuDeviceGetAttribute",
                              {"multiprocessors", "most_sm_mhz", "most_memory_mhz", "memory_bus_bits", "l2_bytes",
                               "compute_capability", "ecc"}}}) {
    CAPTURE(std::string{each.function});
    simulated::machine_options options;
    options.hidden_entry_points = {each.function};
    simulated::reset(options);
    set_attributes(0);
    leave_an_error_pending();
    sg::device_description const device = described();
    CHECK(keys(device.not_read) == each.figures);
    CHECK(device.not_read.at(0).value == std::string{"the driver lacks "} + each.function);
    CHECK(pending_error() == cudaErrorInvalidValue);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a recording has the devices' figures, the program's own keys, its command line and its compiler") {
  set_attributes(0);
  cudaStream_t const stream = observed::new_stream();
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  recorder.describe({"commit", "3f2a91c"});
  recorder.describe({"rank", 3});
  recorder.describe({"commit", "77aa001"});
  sg::environment const found = recorder.collect().environment;
  REQUIRE(found.devices.size() == 1);
  CHECK(found.devices[0].uuid == "GPU-00112233-4455-6677-8899-aabbccddeeff");
  CHECK(found.devices[0].multiprocessors == 132);
  CHECK(found.given == std::vector<sg::condition>{{"commit", "77aa001"}, {"rank", "3"}});
  REQUIRE(found.command.has_value());
  REQUIRE_FALSE(found.command->empty());
  CHECK(found.command == sg::this_program().words);
  CHECK(found.why_no_command.empty());
#if defined(__clang__)
  CHECK(found.compiler.find("lang") != std::string::npos);
#else
  CHECK(found.compiler == "GCC " __VERSION__);
#endif
  CHECK(found.compiled_as.substr(0, 5) == (__cplusplus > 202002L ? "C++23" : __cplusplus > 201703L ? "C++20" : "C++17"));
#if defined(__OPTIMIZE__)
  CHECK(found.compiled_as.find(", optimised") == 5);
#else
  CHECK(found.compiled_as.find(", not optimised") == 5);
#endif
}

TEST_CASE_FIXTURE(fresh_machine, "a command line is left out where the program says so, from then on") {
  for (sg::mode const mode : {sg::mode::time, sg::mode::mark, sg::mode::off}) {
    sg::recorder recorder{mode};
    CHECK(recorder.collect().environment.command.has_value());
    recorder.leave_out_command();
    sg::environment const found = recorder.collect().environment;
    CHECK_FALSE(found.command.has_value());
    CHECK(found.why_no_command == "left out by the program");
    CHECK_FALSE(found.compiler.empty());
    CHECK_FALSE(found.host.empty());
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a forked child describes what it was given, though a thread of its parent's is gone") {
  sg::recorder recorder{sg::mode::mark};
  recorder.describe({"commit", "3f2a91c"});
  int const status = in_forked_child([&recorder] {
    recorder.describe({"child", 1});
    return recorder.collect().environment.given.size() == 2 ? 0 : 1;
  });
  CHECK(status == 0);
}
