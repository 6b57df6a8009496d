// Without these: what a program does that it should not would end in a number that looks right.

#include <streamgauge/measure/phase.hpp>

#include <limits>
#include <memory>
#include <stdexcept>
#include <thread>

#include "observed.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using observed::series_of;
using simulated::fresh_machine;
using streamgauge::absence;
namespace sg = streamgauge;

static_assert(!std::is_default_constructible_v<sg::host_only_tag>, "enter({}) must not mean the host alone");

TEST_CASE_FIXTURE(fresh_machine, "a per-thread stream that a later thread ends is refused, also where that thread got the first one's address") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 4}};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 10; ++i) {
    std::unique_ptr<sg::started_phase> open;
    std::thread{[&] { open = std::make_unique<sg::started_phase>(step.start(cudaStreamPerThread)); }}.join();
    simulated::host_advance(1us);
    std::thread{[&] { open->stop(); }}.join();
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 10);
  for (sg::sample const& each : taken.all[0].samples) CHECK(each.device.why_absent() == absence::other_thread_stream);
}

TEST_CASE_FIXTURE(fresh_machine, "a start that CUDA refused is not counted as a record inside another phase") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 8}};
  sg::phase const refused{recorder, "refused"};
  sg::phase const sound{recorder, "sound"};
  { auto const first = sound.enter(stream.get()); }  // the events
  simulated::fail_nth("cuEventRecord", 1, cudaErrorUnknown);
  auto open = refused.start(stream.get());
  {
    auto const scope = sound.enter(stream.get());
    open.stop();
    { auto const inner = sound.enter(stream.get()); }
  }
  sg::recording const taken = recorder.collect();
  sg::series const seen = series_of(taken, "sound");
  REQUIRE(seen.samples.size() == 3);
  CHECK(seen.samples[0].records_inside == 0);
  CHECK(seen.samples[1].records_inside == 2);
  CHECK(seen.samples[2].records_inside == 0);
  CHECK(series_of(taken, "refused").samples.at(0).device.why_absent() == absence::call_failed);
}

TEST_CASE_FIXTURE(fresh_machine, "a fault is named even after a hundred phases on the legacy stream were advised against") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 128}};
  for (int i = 0; i < 100; ++i) {
    sg::phase const each{recorder, "phase " + std::to_string(i)};
    auto const scope = each.enter(cudaStreamLegacy);
  }
  sg::phase const late{recorder, "late"};
  simulated::fault(stream.get(), cudaErrorIllegalAddress, 0ns);
  simulated::host_advance(1ms);
  { auto const scope = late.enter(stream.get()); }
  std::size_t faults = 0;
  std::uint64_t legacy = 0;
  for (sg::problem const& each : recorder.collect().problems) {
    faults += each.status == cudaErrorIllegalAddress;
    legacy += each.status == 0 ? each.count : 0;
  }
  CHECK(faults == 1);
  CHECK(legacy == 100);
}

TEST_CASE_FIXTURE(fresh_machine, "capacities that no memory can hold cost the device side and nothing else") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, (std::numeric_limits<std::size_t>::max)() / 2}};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream.get()); }
  sg::sample const seen = recorder.collect().all.at(0).samples.at(0);
  CHECK(seen.submit.known());
  CHECK(seen.device.why_absent() == absence::no_memory);
}

TEST_CASE_FIXTURE(fresh_machine, "null names and keys are empty ones (case-62)") {
  char const* const nothing = nullptr;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 4}};
  sg::phase const step{recorder, nothing, sg::conditions{{nothing, 1}, {"key", nothing}}};
  { auto const scope = step.enter(sg::host_only); }
  sg::series const seen = recorder.collect().all.at(0);
  CHECK(seen.phase.empty());
  REQUIRE(seen.conditions.size() == 2);
  CHECK(seen.conditions[0] == sg::condition{"", "1"});
  CHECK(seen.conditions[1] == sg::condition{"key", ""});
}

TEST_CASE_FIXTURE(fresh_machine, "a wait while an exception leaves the body keeps no time (case-34)") {
  struct waits_at_the_end {
    sg::scope& open;
    ~waits_at_the_end() { open.wait(sg::wait_policy::spin); }
  };
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 4}};
  sg::phase const step{recorder, "step"};
  try {
    auto scope = step.enter(stream.get());
    waits_at_the_end const last{scope};
    throw std::runtime_error{"the body's own"};
  } catch (std::runtime_error const& passed) {
    CHECK(std::string{passed.what()} == "the body's own");
  }
  sg::sample const seen = recorder.collect().all.at(0).samples.at(0);
  CHECK(seen.submit.why_absent() == absence::body_threw);
  CHECK(seen.device.why_absent() == absence::body_threw);
  CHECK(seen.completion.why_absent() == absence::not_asked);
}

TEST_CASE_FIXTURE(fresh_machine, "another warm-up count for the same phase is said to have no effect") {
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 4}};
  sg::phase const first{recorder, "step"};
  sg::phase const second{recorder, "step", sg::warmup{3}};
  sg::phase const third{recorder, "step"};
  CHECK(first == second);
  CHECK(first == third);
  sg::recording const taken = recorder.collect();
  CHECK(taken.all.at(0).warmup == 0);
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "step");
  CHECK(taken.problems[0].text == "made again with another warm-up count; the count of its first handle stands");
}

namespace {

// A scope as the member of an object that lives as long as somebody wants.
struct holder {
  sg::scope open;
};
std::unique_ptr<holder> held(sg::phase const& of) { return std::unique_ptr<holder>{new holder{of.enter(sg::host_only)}}; }

std::vector<std::string> troubled_phases(sg::recording const& taken, std::string const& words) {
  std::vector<std::string> phases;
  for (auto const& each : taken.problems)
    if (each.text.find(words) != std::string::npos) phases.push_back(each.phase);
  return phases;
}

std::string parent_of(sg::recording const& taken, std::string const& phase, std::size_t at) {
  auto const parent = series_of(taken, phase).samples.at(at).parent;
  return parent ? taken.all.at(*parent).phase : "";
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "scopes that end out of order are named, and what is entered later nests as it should") {
  sg::recorder recorder;
  sg::phase const first{recorder, "first"};
  sg::phase const second{recorder, "second"};
  sg::phase const later{recorder, "later"};
  auto one = held(first);
  auto other = held(second);
  one.reset();
  { auto const scope = later.enter(sg::host_only); }  // inside second, which is still open
  other.reset();
  { auto const scope = later.enter(sg::host_only); }  // on its own
  auto const taken = recorder.collect();
  CHECK(troubled_phases(taken, "entered inside it was still open") == std::vector<std::string>{"first"});
  CHECK(parent_of(taken, "second", 0) == "first");
  CHECK(parent_of(taken, "later", 0) == "second");
  CHECK(parent_of(taken, "later", 1) == "");
  for (char const* phase : {"first", "second", "later"})
    for (auto const& one_of : series_of(taken, phase).samples) CHECK(one_of.submit.known());
}

TEST_CASE_FIXTURE(fresh_machine, "case-55 a scope that is left on another thread is named in every mode") {
  for (auto const mode : {sg::mode::time, sg::mode::mark}) {
    sg::recorder recorder{mode};
    sg::phase const strayed{recorder, "strayed"};
    sg::phase const later{recorder, "later"};
    auto open = held(strayed);
    std::thread{[&] { open.reset(); }}.join();
    { auto const scope = later.enter(sg::host_only); }
    auto const taken = recorder.collect();
    CHECK(troubled_phases(taken, "left on another thread") == std::vector<std::string>{"strayed"});
    CHECK(taken.problems.size() == 1);
    CHECK(taken.problems.at(0).count == 1);
    if (mode == sg::mode::time) CHECK(parent_of(taken, "later", 0) == "");
  }
}
