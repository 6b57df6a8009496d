// Without these: a trace whose device work is not where the device ran it, or one that looks placed where nothing was.
// Field case: case-97.

#include <streamgauge/measure/timeline.hpp>

#include <string>

#include <streamgauge/report/trace.hpp>

#include "observed.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

void costly_calls() {
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("cudaLaunchKernel", 3us);
  simulated::set_cost("cuEventElapsedTime", 100ns);
}

// A time in microseconds behind its name, in the only line that holds the part.
double number_in(std::string const& trace, std::string const& part, std::string const& key) {
  auto const at = trace.find(part);
  REQUIRE_MESSAGE(at != std::string::npos, part << " is not in\n" << trace);
  REQUIRE(trace.find(part, at + 1) == std::string::npos);
  auto const line = trace.rfind('\n', at);
  auto const found = trace.find("\"" + key + "\":", line);
  REQUIRE(found < trace.find('\n', at));
  return std::stod(trace.substr(found + key.size() + 3));
}
bool has(std::string const& trace, std::string const& part) { return trace.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-97 an hour in, at 100 ppm between the clocks, device work is drawn where it ran, within the bound") {
  costly_calls();
  simulated::device_clock runs;
  runs.drift = 100e-6;
  simulated::set_device_clock(0, runs);
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const last{recorder, "last"};
  for (int minute = 0; minute < 60; ++minute) {
    { auto const scope = step.enter(stream); }
    wait_for(stream);
    simulated::host_advance(1min);
  }
  nanoseconds began{0};
  {
    launch(stream, 200us);
    began = simulated::stream_end(stream) - 1s;  // the machine's host clock starts at one second
    auto const scope = last.enter(stream);
    launch(stream, 50us);
  }
  auto const taken = recorder.collect();
  auto const text = sg::report::trace_of(taken);
  CHECK(has(text, "\"alignment\":\"bounded\""));
  double const base = number_in(text, "\"base_us\"", "base_us");
  std::string const on_device = "\"name\":\"last\",\"cat\":\"device\"";
  double const drawn = base + number_in(text, on_device, "ts");
  double const off = drawn - static_cast<double>(began.count()) / 1000;
  double const bound = number_in(text, on_device, "bound_us");
  CHECK(bound < 1000);
  CHECK(off <= bound);
  CHECK(-off <= bound);
  // 50 us of the host's are 50.005 of the device's, and durations are the device's.
  CHECK(number_in(text, on_device, "device_us") == doctest::Approx(50.0).epsilon(2e-4));
  CHECK(number_in(text, on_device, "ts") > number_in(text, "\"name\":\"last\",\"cat\":\"host\"", "ts"));
  CHECK(has(text, "\"left_out\":[]"));
}

TEST_CASE_FIXTURE(fresh_machine, "a recorder that places nothing gives a trace of the host alone, which says so and counts what is left out") {
  costly_calls();
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{1}};
  for (int i = 0; i < 3; ++i) {
    auto const scope = step.enter(stream);
    launch(stream, 50us);
  }
  auto const text = sg::report::trace_of(recorder.collect());
  CHECK(has(text, "\"alignment\":\"none\",\"alignment_why\":\"the recorder was no sg::timeline_recorder\""));
  CHECK(has(text, "\"left_out\":[{\"what\":\"device slices\",\"reason\":\"not placed: not asked for\",\"count\":3}]"));
  CHECK_FALSE(has(text, "\"cat\":\"device"));
  CHECK(number_in(text, "\"cat\":\"host,warmup\"", "dur") == doctest::Approx(5.0));  // two records and a launch
}
