// Without these: a table would show a number within the instrument's own reading and nobody could tell; or measuring the
// floor would be paid on every collect, or disturb the program.

#include <streamgauge/measure/environment.hpp>

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>
#include <streamgauge/report/table.hpp>

#include "own_process.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

sg::recording one_phase(sg::recorder& recorder, cudaStream_t stream) {
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  return recorder.collect();
}

/// Sets a variable for a scope.
class variable_set {
 public:
  variable_set(char const* name, char const* value) : name_{name} { setenv(name, value, 1); }
  ~variable_set() { unsetenv(name_); }
  variable_set(variable_set const&) = delete;
  variable_set& operator=(variable_set const&) = delete;

 private:
  char const* name_;
};

std::vector<std::string> whole_environment() {
  std::vector<std::string> entries;
  for (char const* const* each = environ; *each; ++each) entries.emplace_back(*each);
  return entries;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-71 lazy loading is the program's choice: it stands in the recording, unset as not there, and is never set") {
  unsetenv("CUDA_MODULE_LOADING");
  std::vector<std::string> const before = whole_environment();
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  CHECK(one_phase(recorder, stream.get()).environment.variable("CUDA_MODULE_LOADING") == nullptr);
  CHECK(whole_environment() == before);

  variable_set const eager{"CUDA_MODULE_LOADING", "EAGER"};
  sg::recording const taken = one_phase(recorder, stream.get());
  REQUIRE(taken.environment.variable("CUDA_MODULE_LOADING") != nullptr);
  CHECK(*taken.environment.variable("CUDA_MODULE_LOADING") == "EAGER");
  std::ostringstream text;
  sg::report::table(text, taken);
  CHECK(text.str().find("CUDA_MODULE_LOADING=EAGER") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "the variables that bear on results are kept by name, no others, and no secret") {
  variable_set const ours{"STREAMGAUGE", "time"};
  variable_set const device{"CUDA_VISIBLE_DEVICES", ""};
  variable_set const key{"NVIDIA_API_KEY", "nvapi-1234"};
  variable_set const nccl{"NCCL_DEBUG", "WARN"};
  variable_set const other{"MY_CUDA_THING", "1"};
  std::vector<std::string> seen;
  for (sg::environment_variable const& each : sg::variables_here()) seen.push_back(each.key + "=" + each.value);
  // What else the machine sets of these families is left out here.
  std::vector<std::string> const wanted{"CUDA_VISIBLE_DEVICES=", "NCCL_DEBUG=WARN", "NVIDIA_API_KEY=(withheld)",
                                        "STREAMGAUGE=time"};
  std::vector<std::string> found;
  for (std::string const& each : seen)
    for (std::string const& one : wanted)
      if (each == one) found.push_back(each);
  CHECK(found == wanted);
  for (std::string const& each : seen) {
    CAPTURE(each);
    CHECK(each.find("nvapi-1234") == std::string::npos);
    CHECK(each.find("MY_CUDA_THING") == std::string::npos);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "the versions are the driver's, the loaded runtime's, the headers' and ours") {
  simulated::machine_options options;
  options.driver_version = 13010;
  options.runtime_version = 12060;
  simulated::reset(options);
  // The functions may have been found by an earlier case; the version belongs to this machine.
  sg::the_driver.found.store(false);
  sg::environment const found = sg::describe_environment();
  CHECK(found.library_version == "0.1.0");
  CHECK(found.driver_version == 13010);
  CHECK(found.runtime_version == 12060);
  CHECK(found.compiled_runtime_version == CUDART_VERSION);
  CHECK(found.why_no_device.empty());
  CHECK(found.devices.empty());
  CHECK_FALSE(simulated::context_created(0));
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "the host's floor is what a pair of stamps with nothing between reads") {
  simulated::set_cost("steady_clock::now", 21ns);
  CHECK(sg::describe_environment().host_floor == nanoseconds{21});
  simulated::set_cost("steady_clock::now", 0ns);
  CHECK(sg::describe_environment().host_floor == nanoseconds{0});
}

TEST_CASE_FIXTURE(fresh_machine, "the floors of a device are exact: device time from the records, submit time from their cost") {
  program_stream const stream;
  simulated::set_record_duration(1300ns);
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("steady_clock::now", 20ns);
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::recording const taken = one_phase(recorder, stream.get());
  REQUIRE(taken.environment.devices.size() == 1);
  sg::device_description const& device = taken.environment.devices[0];
  CHECK(device.ordinal == 0);
  CHECK(device.name == "Simulated device 0");
  CHECK(device.event_floor == nanoseconds{1300});
  CHECK(device.submit_floor == nanoseconds{2020});
  CHECK(device.why_no_floor.empty());
  CHECK_FALSE(device.event_resolution.has_value());  // every reading was the same: no step was seen
}

TEST_CASE_FIXTURE(fresh_machine, "the floor is that of queued records: a slow host does not stand in it") {
  // The first records are in the stream before the device is through with the ones before: a queue, as behind real work.
  program_stream const stream;
  simulated::set_record_duration(5us);
  simulated::set_cost("cuEventRecord", 1us);
  sg::recorder recorder{sg::mode::time, small_pool};
  CHECK(one_phase(recorder, stream.get()).environment.devices.at(0).event_floor == nanoseconds{5us});
}

TEST_CASE_FIXTURE(fresh_machine, "the resolution is the smallest step between two readings") {
  // A device whose steps are 32 ns: readings of 1280, 1312 and 1376 differ by 32 and 64.
  sg::device_description device;
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  static int calls = 0;
  calls = 0;
  sg::driver_api stepping = *cuda.api;
  stepping.event_elapsed = [](float* milliseconds, cudaEvent_t, cudaEvent_t) {
    float const readings[] = {0.001280F, 0.001376F, 0.001312F};
    *milliseconds = readings[calls++ % 3];
    return 0;
  };
  make_context();
  sg::context_answer const context = sg::current_context(stepping);
  REQUIRE(context.status == cudaSuccess);
  sg::floor_measurement const floor{stepping, context.key};
  REQUIRE(floor.status() == cudaSuccess);
  floor.describe(device);
  CHECK(device.event_resolution == nanoseconds{32});
  CHECK(device.event_floor == nanoseconds{1312});
  CHECK(calls == 31);
}

TEST_CASE_FIXTURE(fresh_machine, "a floor is measured once in each life of a context, after the program's own work") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  static_cast<void>(one_phase(recorder, stream.get()));
  CHECK(simulated::count("cuStreamCreate") == 1);
  CHECK(one_phase(recorder, stream.get()).environment.devices.at(0).event_floor.has_value());
  CHECK(simulated::count("cuStreamCreate") == 1);
  reset_device();
  stream.forget();
  program_stream const next;
  sg::recording const taken = one_phase(recorder, next.get());
  CHECK(simulated::count("cuStreamCreate") == 2);
  CHECK(taken.environment.devices.size() == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "the floor is not measured while a phase is open: it would lie inside") {
  program_stream const stream;
  simulated::set_record_duration(1300ns);
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const outer{recorder, "outer"};
  std::size_t const streams_before = simulated::live_streams();
  {
    auto const open = outer.enter(stream.get());
    simulated::clear_log();
    sg::recording const early = one_phase(recorder, stream.get());
    CHECK(simulated::count("cuStreamCreate") == 0);
    REQUIRE(early.environment.devices.size() == 1);
    CHECK_FALSE(early.environment.devices[0].event_floor.has_value());
    CHECK(early.environment.devices[0].why_no_floor == "a phase was open; it is measured when none is");
  }
  CHECK(recorder.collect().environment.devices.at(0).event_floor == nanoseconds{1300});
  CHECK(simulated::live_streams() == streams_before);
}

TEST_CASE_FIXTURE(fresh_machine, "measuring the floor waits for its own stream alone and leaves nothing behind") {
  program_stream const stream;
  program_stream const busy;
  {
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(stream.get()); }
    simulated::hold(busy.get());
    simulated::launch(busy.get(), 1s);
    std::size_t const events = simulated::live_events();
    sg::recording const taken = recorder.collect();
    CHECK(taken.environment.devices.at(0).event_floor.has_value());
    CHECK(simulated::live_events() == events);
    CHECK(simulated::live_streams() == 2);
    CHECK(simulated::host_now() < 2s);
    simulated::release(busy.get());
  }
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "two devices are described apart, each with its own floor") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  select_device(1);
  program_stream const far;
  select_device(0);
  program_stream const close_by;
  simulated::set_record_duration(700ns);
  sg::recorder recorder{sg::mode::time, small_pool};
  static_cast<void>(one_phase(recorder, far.get()));
  sg::recording const taken = one_phase(recorder, close_by.get());
  REQUIRE(taken.environment.devices.size() == 2);
  bool seen[2] = {false, false};
  for (sg::device_description const& device : taken.environment.devices) {
    REQUIRE(device.ordinal >= 0);
    REQUIRE(device.ordinal < 2);
    seen[device.ordinal] = true;
    CHECK(device.name == "Simulated device " + std::to_string(device.ordinal));
    CHECK(device.event_floor == nanoseconds{700});
  }
  CHECK(seen[0]);
  CHECK(seen[1]);
}

TEST_CASE_FIXTURE(fresh_machine, "where the floor cannot be measured the reason stands in its place, and nothing is left behind") {
  for (char const* const call : {"cuStreamCreate", "cuEventCreate", "cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
                                 "cuCtxPushCurrent"}) {
    CAPTURE(std::string{call});
    simulated::reset();
    program_stream const stream;
    {
      sg::recorder recorder{sg::mode::time, small_pool};
      sg::phase const step{recorder, "step"};
      {
        auto scope = step.enter(stream.get());
        scope.wait(sg::wait_policy::spin);  // so that collecting reads nothing and the failure meets the floor
      }
      simulated::fail_nth(call, 1, cudaErrorUnknown);
      sg::recording const taken = recorder.collect();
      REQUIRE(taken.environment.devices.size() == 1);
      sg::device_description const& device = taken.environment.devices[0];
      CHECK(device.why_no_floor == "unknown error");
      CHECK_FALSE(device.event_floor.has_value());
      CHECK_FALSE(device.submit_floor.has_value());
      CHECK_FALSE(device.event_resolution.has_value());
      CHECK(device.name == "Simulated device 0");
      CHECK(simulated::live_streams() == 1);
    }
    CHECK(simulated::live_events() == 0);
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a device whose name CUDA does not say has none, and still its floor") {
  program_stream const stream;
  simulated::fail_nth("cuDeviceGetName", 1, cudaErrorUnknown);
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::recording const taken = one_phase(recorder, stream.get());
  REQUIRE(taken.environment.devices.size() == 1);
  CHECK(taken.environment.devices[0].name.empty());
  CHECK(taken.environment.devices[0].event_floor.has_value());
}

// What follows must be the first that a process asks of CUDA, so each runs in a process of its own.

namespace {

void check_host_alone(sg::absence why) {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto scope = step.enter(cudaStreamLegacy);
    simulated::host_advance(6us);
    scope.wait(sg::wait_policy::block);
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 1);
  CHECK(taken.all[0].samples[0].submit == sg::observation{6us});
  CHECK(taken.all[0].samples[0].device == sg::observation{why});
  CHECK(taken.all[0].samples[0].completion == sg::observation{why});
  CHECK(taken.problems.empty());
  CHECK(taken.environment.devices.empty());
  CHECK(taken.environment.why_no_device == sg::describe(why));
  CHECK(taken.environment.host_floor.has_value());
  CHECK(pending_error() == cudaSuccess);
}

}  // namespace

TEST_CASE("in a process without a driver" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  simulated::fresh_machine const machine{options};
  check_host_alone(sg::absence::no_driver);
  CHECK_FALSE(sg::describe_environment().driver_version.has_value());
}

TEST_CASE("in a process with a driver older than the runtime" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_version = 11080;
  options.runtime_version = 12060;
  simulated::fresh_machine const machine{options};
  check_host_alone(sg::absence::driver_too_old);
}

TEST_CASE("in a process whose driver lacks a function" * doctest::skip()) {
  simulated::machine_options options;
  options.hidden_entry_points = {"cuCtxGetId"};
  simulated::fresh_machine const machine{options};
  check_host_alone(sg::absence::driver_too_old);
}

TEST_CASE("in a process with a driver and no device" * doctest::skip()) {
  simulated::machine_options options;
  options.devices = 0;
  simulated::fresh_machine const machine{options};
  check_host_alone(sg::absence::no_driver);
}

TEST_CASE("a process without a usable driver or device keeps its host columns and says why there is no more") {
  for (char const* const kind :
       {"in a process without a driver", "in a process with a driver older than the runtime",
        "in a process whose driver lacks a function", "in a process with a driver and no device"}) {
    process_outcome const outcome = in_own_process(kind);
    CAPTURE(outcome.output);
    CHECK(outcome.passed());
    CHECK(outcome.errors.empty());
  }
}
