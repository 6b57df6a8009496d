// The run-time modes: off, mark, time; from the program or from STREAMGAUGE.

#include <cstdlib>
#include <sstream>

#include "observed.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

// STREAMGAUGE for a scope; null: not set.
class environment_says {
 public:
  explicit environment_says(char const* word) { word ? setenv("STREAMGAUGE", word, 1) : unsetenv("STREAMGAUGE"); }
  ~environment_says() { unsetenv("STREAMGAUGE"); }
  environment_says(environment_says const&) = delete;
  environment_says& operator=(environment_says const&) = delete;
};

std::string table_of(sg::recording const& of) {
  std::ostringstream text;
  sg::report::table(text, of);
  return text.str();
}

// Everything that a program does with phases, once.
void use(sg::recorder& recorder, cudaStream_t stream) {
  sg::phase const step{recorder, "step", sg::warmup{1}};
  sg::phase const under{recorder, "under", sg::conditions{{"rows", 1}}};
  {
    auto scope = step.enter(stream);
    auto const inner = under.enter(stream, {{"columns", 2}});
    launch(stream, 1ms);
    scope.wait(sg::wait_policy::block);
  }
  { auto const scope = step.enter(sg::host_only, {{"columns", 3}}); }
  auto open = step.start(stream);
  auto moved = std::move(open);
  moved.stop();
  auto waited = step.start(sg::host_only);
  waited.wait(sg::wait_policy::spin);
  auto const copy = step.with({{"rows", 5}});
  { auto const scope = copy.enter(stream); }
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "STREAMGAUGE chooses the mode when a recorder is made") {
  struct {
    char const* word;
    sg::mode chosen;
    char const* why;
  } const cases[] = {
      {nullptr, sg::mode::time, ""},
      {"", sg::mode::time, ""},
      {"time", sg::mode::time, ""},
      {"mark", sg::mode::mark, "mark, set by STREAMGAUGE"},
      {"off", sg::mode::off, "off, set by STREAMGAUGE"},
  };
  for (auto const& each : cases) {
    environment_says const now{each.word};
    sg::recorder recorder;
    setenv("STREAMGAUGE", "mark", 1);  // too late for this one
    CHECK(recorder.recorded() == each.chosen);
    auto const recording = recorder.collect();
    CHECK(recording.recorded == each.chosen);
    CHECK(recording.why_not_measured == each.why);
    CHECK(recording.problems.empty());
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a word that is no mode is a problem of the recording, and the program is measured") {
  for (char const* word : {"nonsense", "OFF", "off ", "0", "timed"}) {
    environment_says const now{word};
    sg::recorder recorder;
    CHECK(recorder.recorded() == sg::mode::time);
    auto const recording = recorder.collect();
    CHECK(recording.why_not_measured.empty());
    REQUIRE(recording.problems.size() == 1);
    CHECK(recording.problems[0].text.find("STREAMGAUGE") != std::string::npos);
    CHECK(recording.problems[0].status == 0);
    CHECK(table_of(recording).find("STREAMGAUGE is none of off, mark, time") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a mode that the program gives wins over STREAMGAUGE") {
  for (char const* word : {"off", "mark", "time", "nonsense"}) {
    environment_says const now{word};
    for (auto const mode : {sg::mode::off, sg::mode::mark, sg::mode::time}) {
      sg::recorder recorder{mode};
      CHECK(recorder.recorded() == mode);
      auto const recording = recorder.collect();
      CHECK(recording.recorded == mode);
      CHECK(recording.problems.empty());
      CHECK(recording.why_not_measured == (mode == sg::mode::time  ? ""
                                           : mode == sg::mode::off ? "off, set in code"
                                                                   : "mark, set in code"));
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "off: no CUDA call, no NVTX call, no allocation, and the report says so") {
  cudaStream_t const stream = new_stream();
  simulated::clear_log();
  ranges_seen::so_far.forget();
  sg::recording recording;
  {
    sg::recorder recorder{sg::mode::off};
    use(recorder, stream);
    sg::phase const step{recorder, "step"};
    auto const allocated = simulated::allocation_count();
    for (int i = 0; i < 5000; ++i) auto const scope = step.enter(stream, {{"i", i}});
    CHECK(simulated::allocation_count() == allocated);
    recorder.drain();
    recording = recorder.collect();
  }
  CHECK(calls_of_ours().empty());
  std::size_t look_ups = 0;
  for (auto const& call : simulated::log()) look_ups += call.kind == simulated::call_kind::look_up ? 1u : 0u;
  CHECK(look_ups == 0);
  CHECK(ranges_seen::so_far.all() == 0);
  for (auto const& each : recording.all) CHECK(each.samples.empty());
  CHECK(table_of(recording).find("not measured: off") != std::string::npos);
  CHECK(recording.environment.library_version == sg::version_string);
}

TEST_CASE_FIXTURE(fresh_machine, "mark: ranges, and not one CUDA call") {
  cudaStream_t const stream = new_stream();
  simulated::clear_log();
  ranges_seen::so_far.forget();
  sg::recording recording;
  {
    sg::recorder recorder{sg::mode::mark};
    use(recorder, stream);
    recording = recorder.collect();
  }
  CHECK(calls_of_ours().empty());
  CHECK(ranges_seen::so_far.pushes == 4);
  CHECK(ranges_seen::so_far.pops == 4);
  CHECK(ranges_seen::so_far.starts == 2);
  CHECK(ranges_seen::so_far.ends == 2);
  // A name is registered once, whatever its conditions: step, and both phases in the warm-up of step.
  CHECK(ranges_seen::so_far.registrations == 3);
  for (auto const& each : recording.all) CHECK(each.samples.empty());
  CHECK(table_of(recording).find("not measured: mark") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "time: the same ranges, and everything measured") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  sg::recorder recorder{sg::mode::time};
  use(recorder, stream);
  CHECK(ranges_seen::so_far.pushes == 4);
  CHECK(ranges_seen::so_far.pops == 4);
  CHECK(ranges_seen::so_far.starts == 2);
  CHECK(ranges_seen::so_far.ends == 2);
  auto const recording = recorder.collect();
  std::size_t samples = 0;
  for (auto const& each : recording.all) samples += each.samples.size();
  CHECK(samples == 6);
  CHECK(table_of(recording).find("not measured") == std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "a switch that is flipped between entering and leaving leaves no range open") {
  cudaStream_t const stream = new_stream();
  for (char const* word : {"time", "mark", "off"}) {
    CAPTURE(word);
    environment_says const now{word};
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    ranges_seen::so_far.forget();
    {
      auto const scope = step.enter(stream);
      auto started = step.start(stream);
      setenv("STREAMGAUGE", recorder.recorded() == sg::mode::off ? "time" : "off", 1);
      sg::recorder const flipped;
      CHECK(flipped.recorded() != recorder.recorded());
    }
    int const ranges = recorder.recorded() == sg::mode::off ? 0 : 1;
    CHECK(ranges_seen::so_far.pushes == ranges);
    CHECK(ranges_seen::so_far.pops == ranges);
    CHECK(ranges_seen::so_far.starts == ranges);
    CHECK(ranges_seen::so_far.ends == ranges);
    auto const samples = series_of(recorder.collect(), "step").samples.size();
    CHECK(samples == (recorder.recorded() == sg::mode::time ? 2u : 0u));
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a mode is a recorder's own: one that is off leaves another as it is") {
  cudaStream_t const stream = new_stream();
  sg::recorder off{sg::mode::off};
  sg::recorder on;
  sg::phase const in_off{off, "step"};
  sg::phase const in_on{on, "step"};
  {
    auto const outer = in_off.enter(stream);
    auto const inner = in_on.enter(stream);
    launch(stream, 1ms);
  }
  CHECK(sample_of(on.collect(), "step").device == 1ms);
  CHECK(series_of(off.collect(), "step").samples.empty());
}
