// Who watched while it was measured. Without these, times that were taken under a profiler, or while a capture was open,
// would pass for the program's own.
// Field case: case-50.

#include <cstdlib>
#include <optional>
#include <sstream>

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/span.hpp>

#include "observed.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

constexpr char const* variables[] = {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"};

// No tool gives a handle and no variable tells of one, as in a plain run.
struct nobody_watches : fresh_machine {
  nobody_watches() {
    ranges_seen::takes_names = false;
    for (char const* const each : variables) unsetenv(each);
  }
  ~nobody_watches() {
    ranges_seen::takes_names = true;
    for (char const* const each : variables) unsetenv(each);
  }
};

std::vector<bool> watched(sg::series const& of) {
  std::vector<bool> all;
  for (auto const& each : of.samples) all.push_back(each.watched);
  return all;
}

std::string table_of(sg::recording const& of) {
  std::ostringstream text;
  sg::report::table(text, of);
  return text.str();
}

bool has(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(nobody_watches, "case-50 a plain run has no tool, no tagged sample and no line about one") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(new_stream()); }
  auto const taken = recorder.collect();
  CHECK(taken.environment.tool.empty());
  CHECK(watched(series_of(taken, "step")) == std::vector<bool>{false});
  CHECK_FALSE(has(table_of(taken), "\ntool"));
}

TEST_CASE_FIXTURE(nobody_watches, "case-50 a sample that a capture touches is tagged, and no other is") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const around{recorder, "around"};
  sg::phase const opening{recorder, "opening"};
  auto const stream = new_stream();
  { auto const scope = step.enter(stream); }
  {
    auto const outer = around.enter(stream);
    sg::capture_guard const guard{recorder};
    auto const scope = step.enter(stream);
    launch(stream, 1ms);
  }
  auto opened = opening.start(sg::host_only);
  {
    sg::capture_guard const guard{recorder};
    opened.stop();
  }
  std::optional<sg::capture_guard> closing{std::in_place, recorder};
  {
    auto const scope = step.enter(stream);
    closing.reset();
  }
  { auto const scope = step.enter(stream); }
  auto const taken = recorder.collect();
  CHECK(watched(series_of(taken, "step")) == std::vector<bool>{false, true, true, false});
  CHECK(watched(series_of(taken, "around")) == std::vector<bool>{true});
  CHECK(watched(series_of(taken, "opening")) == std::vector<bool>{true});
  CHECK(taken.environment.tool.empty());
}

TEST_CASE_FIXTURE(nobody_watches, "case-50 the report counts the samples that were taken while a capture was open") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const stream = new_stream();
  { auto const scope = step.enter(stream); }
  for (int i = 0; i < 2; ++i) {
    sg::capture_guard const guard{recorder};
    auto const scope = step.enter(stream);
  }
  auto const taken = recorder.collect();
  CHECK(sg::summarize(series_of(taken, "step")).watched == 2);
  CHECK(has(table_of(taken), "\ntool         2 samples were taken while a capture was open\n"));
}

TEST_CASE_FIXTURE(nobody_watches, "case-50 the branches of a span in a capture are tagged as the span is") {
  sg::recorder recorder;
  sg::phase const both{recorder, "both"};
  sg::phase const part{recorder, "part"};
  auto const stream = new_stream();
  {
    sg::capture_guard const guard{recorder};
    sg::span whole{both};
    auto const branch = whole.branch(stream, part);
  }
  auto const taken = recorder.collect();
  CHECK(watched(series_of(taken, "both")) == std::vector<bool>{true});
  CHECK(watched(series_of(taken, "part")) == std::vector<bool>{true});
}

TEST_CASE_FIXTURE(nobody_watches,
                  "case-50 under a tool that gives handles every sample is tagged, and the report says so") {
  ranges_seen::takes_names = true;
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{2}};
  sg::phase const never{recorder, "never"};
  for (int i = 0; i < 2; ++i) auto const scope = step.enter(sg::host_only);
  auto const taken = recorder.collect();
  CHECK(taken.environment.tool == "a tool for NVTX");
  CHECK(taken.environment.tool_sign == "NVTX gives handles");
  CHECK(watched(series_of(taken, "step")) == std::vector<bool>{true, true});
  CHECK(has(table_of(taken),
            "\ntool         a tool for NVTX was attached (NVTX gives handles): 2 samples were taken under it\n"));
}

TEST_CASE_FIXTURE(nobody_watches, "case-50 the variables that tools set name the tool") {
  struct {
    char const* variable;
    bool gives_handles;
    char const* tool;
  } const cases[] = {
      {"NSYS_PROFILING_SESSION_ID", false, "nsys"},
      {"NSYS_PROFILING_SESSION_ID", true, "nsys"},
      {"NVTX_INJECTION64_PATH", true, "ncu or another tool that takes ranges"},
      {"NVTX_INJECTION64_PATH", false, "compute-sanitizer or another tool that takes no ranges"},
      {"CUDA_INJECTION64_PATH", false, "a tool for CUDA"},
  };
  for (auto const& each : cases) {
    CAPTURE(each.tool);
    setenv(each.variable, "1", 1);
    ranges_seen::takes_names = each.gives_handles;
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(sg::host_only); }
    auto const taken = recorder.collect();
    CHECK(taken.environment.tool == each.tool);
    CHECK(watched(series_of(taken, "step")) == std::vector<bool>{true});
    unsetenv(each.variable);
  }
}

TEST_CASE_FIXTURE(nobody_watches, "a variable that is set to nothing is no sign") {
  setenv("NSYS_PROFILING_SESSION_ID", "", 1);
  sg::recorder recorder;
  CHECK(recorder.collect().environment.tool.empty());
}

TEST_CASE_FIXTURE(nobody_watches, "a recorder that only marks says who watched, and one that is off asks nobody") {
  setenv("NSYS_PROFILING_SESSION_ID", "1", 1);
  sg::recorder marks{sg::mode::mark};
  sg::phase const step{marks, "step"};
  { auto const scope = step.enter(sg::host_only); }
  CHECK(has(table_of(marks.collect()), "\ntool         nsys was attached (NSYS_PROFILING_SESSION_ID is set)\n"));
  sg::recorder off{sg::mode::off};
  CHECK(off.collect().environment.tool.empty());
}

TEST_CASE_FIXTURE(nobody_watches, "who watches is told without a call of NVTX or of CUDA") {
  sg::recorder recorder{sg::mode::mark};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(sg::host_only); }
  ranges_seen::so_far.forget();
  simulated::clear_log();
  static_cast<void>(recorder.collect());
  CHECK(ranges_seen::so_far.all() == 0);
  CHECK(simulated::logged_names().empty());
}
