// Without these: a measurement under a power cap would look like one of slower work; or reading the clocks would stand in what
// is measured, spend its budget, or start NVML under a tool.
// Field cases: case-50, case-70, case-74.

#include <streamgauge/measure/clock_watch.hpp>

#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <streamgauge/analyze/clock_changes.hpp>
#include <streamgauge/analyze/clock_readings.hpp>
#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>
#include <streamgauge/report/measurement_text.hpp>
#include <streamgauge/report/contest_text.hpp>

#include "gated.hpp"
#include "nvml/fake_nvml.hpp"
#include "own_process.hpp"

using namespace gated;

namespace {

/// Runs until so many intervals are taken, however closely the median is known: times that differ by more than a step of
/// the clock see to the rest.
sg::measure_choices taking(std::size_t samples, char const* library) {
  sg::measure_choices chosen;
  chosen.until.time = 100s;
  chosen.until.samples = samples;
  chosen.until.width = -1.0;
  chosen.clocks_from = library;
  return chosen;
}

sg::device_description device_in(sg::recording const& of) {
  REQUIRE(of.environment.devices.size() == 1);
  return of.environment.devices[0];
}

/// A device that its power cap slows down by an eighth from the so manieth call on.
struct capped_device {
  fake_nvml nvml;
  int calls = 0;
  int cap_from;

  explicit capped_device(int from) : cap_from{from} {
    nvml->sm_mhz = 1980;
    nvml->reasons = 0x0;
  }
  void operator()(cudaStream_t on) {
    if (++calls == cap_from) {
      nvml->sm_mhz = 1755;
      nvml->reasons = 0x4;
    }
    launch(on, (calls < cap_from ? 100us : 113us) + 1ns * (calls * 37 % 401));
  }
};

template <class Found>
std::string text_of(Found const& found) {
  std::ostringstream out;
  if constexpr (std::is_same_v<Found, sg::contest>)
    sg::report::contest_text(out, found);
  else
    sg::report::measurement_text(out, found);
  std::string text = out.str();
  // As one line: where it breaks is the page's business.
  std::string flat;
  for (char const each : text) {
    bool const space = each == ' ' || each == '\n';
    if (!space || (!flat.empty() && flat.back() != ' ')) flat += space ? ' ' : each;
  }
  return flat;
}

bool says(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(plain_run, "case-74 the clocks are read unasked, 10 ms apart and at both ends, while the device works and the host does not enqueue") {
  cudaStream_t const stream = new_stream();
  capped_device body{1'000'000};
  body.nvml->at_reading = [] { simulated::host_advance(1us); };  // so that one before an interval is not at its begin
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    simulated::host_advance(100us);
    body(on);
  }, taking(1000, body.nvml.library()));
  CHECK(found.why_none == "");
  REQUIRE(found.samples()->samples.size() == 1000);
  auto const readings = device_in(found.taken).readings;
  // 1000 of 100 us, read every 10 ms, and by each look at the samples: 32, 40, 50 and so on to 1000.
  CHECK(readings.size() >= 10);
  CHECK(readings.size() <= 40);
  CHECK(readings.front().at < sg::stretch_of(found.samples()->samples.front()).begin);
  CHECK(readings.back().at >= sg::stretch_of(found.samples()->samples.back()).end);
  std::size_t while_it_works = 0;
  for (auto const& each : readings) {
    CHECK(each.sm_mhz == 1980U);
    CHECK(each.memory_mhz == 3201U);
    for (auto const& one : found.samples()->samples) {
      auto const ran = sg::stretch_of(one);
      if (each.at + one.bound >= ran.begin && each.at + one.bound < ran.end) ++while_it_works;  // from its begin on
      if (each.at >= one.entered && each.at < one.entered + *one.submit.value()) FAIL_CHECK("read at ", each.at.count());
    }
  }
  CHECK(while_it_works >= 12);  // the others by a look at the samples, when it is done
  // A chunk of 64 may come between, which takes the host as long as the device.
  for (std::size_t i = 1; i < readings.size(); ++i) CHECK(readings[i].at - readings[i - 1].at < 25ms);
  auto const held = sg::count_held_back(*found.samples(), readings);
  CHECK(held.executions == 1000);
  CHECK(held.held_back == 0);
  CHECK(held.not_known == 0);
}

TEST_CASE_FIXTURE(plain_run, "executions that are measured alone have readings between them, at most every 10 ms") {
  cudaStream_t const stream = new_stream();
  for (auto const& [time, least, most] : {std::tuple{30ms, 37, 39}, std::tuple{3ms, 12, 14}}) {
    fake_nvml const nvml;
    auto chosen = taking(1, nvml.library());
    auto const found = sg::measure(stream, [&, took = time](cudaStream_t on) { launch(on, took); }, chosen);
    REQUIRE(found.alone()->samples.size() == 35);
    int const readings = nvml->readings;
    CHECK(readings >= least);
    CHECK(readings <= most);
  }
}

TEST_CASE_FIXTURE(plain_run, "case-70 case-74 a level that the power cap moved is said to be the clock's, and its intervals are marked and stay") {
  cudaStream_t const stream = new_stream();
  capped_device body{1000};
  auto const found = sg::measure(stream, body, taking(3000, body.nvml.library()));
  REQUIRE(found.samples()->samples.size() == 3000);
  auto const device = device_in(found.taken);
  auto const changes =
      sg::clock_changes(*found.samples(), found.device_summary()->device.values.steadiness, device.readings);
  REQUIRE(changes.size() == 1);
  CHECK(changes[0].role == sg::clock_role::sm);
  CHECK(changes[0].before.sm_mhz == 1980.0);
  CHECK(changes[0].after.sm_mhz == 1755.0);
  CHECK(changes[0].after.slowed_by == 0x4U);
  // The first 35 calls are alone; a reading says so up to 10 ms and a chunk of 64 too early or too late.
  auto const held = sg::count_held_back(*found.samples(), device.readings);
  CHECK(held.executions == 3000);
  CHECK(held.held_back > 3000 - (1000 - 35) - 200);
  CHECK(held.held_back < 3000 - (1000 - 35) + 200);
  CHECK(held.reasons == 0x4);
  std::string const text = text_of(found);
  CAPTURE(text);
  CHECK(says(text, "clocks SM 1755 to 1980 MHz in "));
  CHECK(says(text, "of 3000 intervals ran while the clocks were held back (software power cap): marked, not left out"));
  CHECK(says(text, " the level changed by +13.0 % at interval 964: the SM clock went from 1980 to 1755 MHz (software power cap)"));
}

TEST_CASE_FIXTURE(plain_run, "a level that moves beside a clock that stays is not called the clock's") {
  cudaStream_t const stream = new_stream();
  fake_nvml const nvml;
  int calls = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    ++calls;
    launch(on, (calls < 1000 ? 100us : 113us) + 1ns * (calls * 37 % 401));
  }, taking(3000, nvml.library()));
  CHECK(says(text_of(found), "at interval 964: the SM clock stayed at 1755 MHz, which does not explain it"));
}

TEST_CASE_FIXTURE(plain_run, "launched as a graph, each interval has a reading near it as well, and is marked by it") {
  cudaStream_t const stream = new_stream();
  fake_nvml const nvml;
  auto chosen = taking(1000, nvml.library());
  chosen.how = sg::launched_by::graph;
  auto const found = sg::measure(stream, [](cudaStream_t on) { launch(on, 100us); }, chosen);
  REQUIRE(found.samples());
  auto const held = sg::count_held_back(*found.samples(), device_in(found.taken).readings);
  CHECK(held.executions == found.samples()->samples.size());
  CHECK(held.held_back == held.executions);
  CHECK(held.reasons == 0x4);
}

TEST_CASE_FIXTURE(plain_run, "without NVML, or where it refuses, the reason stands there and the median is no worse") {
  cudaStream_t const stream = new_stream();
  auto const body = [](cudaStream_t on) { launch(on, 20us); };
  auto const without = sg::measure(stream, body, taking(100, "libnvidia-ml-that-is-not-here.so.1"));
  CHECK(without.median() == sg::fractional_nanoseconds{20us});
  CHECK(device_in(without.taken).readings.empty());
  CHECK(device_in(without.taken).why_no_readings ==
        "libnvidia-ml-that-is-not-here.so.1: cannot open shared object file: No such file or directory");
  CHECK(says(text_of(without), "clocks clocks were not read: libnvidia-ml-that-is-not-here.so.1"));

  fake_nvml nvml;
  nvml->failing = "nvmlDeviceGetClockInfo sm";
  nvml->status = 3;
  auto const refused = sg::measure(stream, body, taking(100, nvml.library()));
  CHECK(refused.median() == sg::fractional_nanoseconds{20us});
  REQUIRE_FALSE(device_in(refused.taken).readings.empty());
  CHECK_FALSE(device_in(refused.taken).readings[0].sm_mhz);
  CHECK(sg::count_held_back(*refused.samples(), device_in(refused.taken).readings).held_back ==
        refused.samples()->samples.size());
}

TEST_CASE_FIXTURE(plain_run, "who wants no readings gets none, and NVML is not asked") {
  cudaStream_t const stream = new_stream();
  fake_nvml const nvml;
  auto const found = sg::measure(stream, [](cudaStream_t on) { launch(on, 20us); }, taking(100, nullptr));
  CHECK(device_in(found.taken).readings.empty());
  CHECK(device_in(found.taken).why_no_readings.empty());
  CHECK_FALSE(says(text_of(found), "clocks"));
  CHECK(nvml->inits == 0);
}

TEST_CASE_FIXTURE(plain_run, "case-50 under a tool NVML is not started, and the recording says why there are no readings") {
  fake_nvml const nvml;
  cudaStream_t const stream = new_stream();
  auto const body = [](cudaStream_t on) { launch(on, 20us); };
  for (char const* const sign : {"NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID", "none, but it takes names"}) {
    bool const is_variable = sign[0] == 'N';
    if (is_variable) setenv(sign, "/a/tool", 1);
    ranges_seen::takes_names = !is_variable;
    auto const found = sg::measure(stream, body, taking(100, nvml.library()));
    auto const rounds = sg::measure_pair(stream, body, body, taking(100, nvml.library()));
    // Of the legacy stream the gate looks for no tool; what stands in the environment is seen.
    auto const legacy =
        sg::measure(is_variable ? cudaStreamLegacy : stream, body, taking(100, nvml.library()));
    no_tool();
    for (sg::recording const* each : {&found.taken, &rounds.taken, &legacy.taken}) {
      CHECK(device_in(*each).readings.empty());
      CHECK(device_in(*each).why_no_readings == "a tool is attached, which reading would disturb");
    }
  }
  CHECK(nvml->inits == 0);
}

TEST_CASE_FIXTURE(plain_run, "how long NVML takes to start is not taken from the budget") {
  cudaStream_t const stream = new_stream();
  fake_nvml nvml;
  nvml->at_init = [] { simulated::host_advance(300ms); };
  auto chosen = taking(100, nvml.library());
  chosen.until.time = 200ms;
  auto const body = [](cudaStream_t on) { launch(on, 20us); };
  auto const found = sg::measure(stream, body, chosen);
  CHECK(found.stopped.cause == sg::stop_cause::within_tick);
  CHECK(found.took < 200ms);
  chosen.until.samples = 10;
  auto const rounds = sg::measure_pair(stream, body, body, chosen);
  CHECK(rounds.rounds == 10);
  CHECK(rounds.took < 200ms);
}

TEST_CASE("in a process that measures three times" * doctest::skip()) {
  plain_run const machine;
  cudaStream_t const stream = new_stream();
  fake_nvml const nvml;
  auto const body = [](cudaStream_t on) { launch(on, 20us); };
  for (int i = 0; i < 3; ++i) CHECK(sg::measure(stream, body, taking(40, nvml.library())).why_none == "");
  // One that stays, and one a recorder, which are but counted.
  CHECK(nvml->inits == 4);
  CHECK(nvml->started == 1);
  {
    sg::recorder other{sg::mode::time};
    sg::read_devices(other, nvml.library());
    CHECK(nvml->started == 2);
  }
  CHECK(nvml->started == 1);
  // A forked child has NVML as its parent left it, and starts its own.
  int const status = in_forked_child([&] {
    sg::keep_nvml_started(nvml.library());
    sg::keep_nvml_started(nvml.library());
    return nvml->started == 2 ? 0 : 1;
  });
  CHECK(status == 0);
  CHECK(nvml->started == 1);
}

TEST_CASE("NVML is started once a process and never ends between two measurements") {
  process_outcome const outcome = in_own_process("in a process that measures three times");
  CAPTURE(outcome.output);
  CHECK(outcome.passed());
}

TEST_CASE_FIXTURE(plain_run, "rounds have the clocks too: how many of all their intervals were held back") {
  cudaStream_t const stream = new_stream();
  capped_device body{1'000};
  auto const each = [&](cudaStream_t on) { body(on); };
  auto const found = sg::measure_pair(stream, each, each, taking(1000, body.nvml.library()));
  REQUIRE(found.rounds == 1000);
  auto const readings = device_in(found.taken).readings;
  CHECK(readings.size() >= 20);
  for (std::size_t i = 1; i < readings.size(); ++i) CHECK(readings[i].at - readings[i - 1].at < 20ms);
  std::string const text = text_of(found);
  CAPTURE(text);
  CHECK(says(text, "clocks SM 1755 to 1980 MHz in "));
  CHECK(says(text, " of 2000 intervals ran while the clocks were held back (software power cap): marked, not left out"));
  std::uint64_t held = 0;
  for (sg::series const& one : found.taken.all) held += sg::count_held_back(one, readings).held_back;
  CHECK(held > 800);
  CHECK(held < 1200);
}
