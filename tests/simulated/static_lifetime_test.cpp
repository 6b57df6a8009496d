// Globals and thread-locals of ours at process exit. Each scenario is a process of its own: it passes when it says
// nothing, ends with 0, and left nothing behind.

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <thread>

#include "observed.hpp"
#include "own_process.hpp"
#include "program.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::launch;

namespace {

// Constructed first, so destroyed last: looks at what the others did on their way out.
struct last_look {
  bool watches = false;  // only in a process that runs a scenario of this file
  bool expects_no_call = false;
  bool expects_no_live_event = false;

  ~last_look() {
    if (!watches) return;
    for (auto const& misuse : simulated::fatal_misuses()) refuse(misuse.c_str());
    if (expects_no_call && simulated::count_all() != 0) refuse("a call was made on the way out");
    if (expects_no_live_event && simulated::live_events() != 0) refuse("an event was left behind");
    if (ranges_seen::so_far.pushes != ranges_seen::so_far.pops) refuse("a range was left open");
    if (ranges_seen::so_far.starts != ranges_seen::so_far.ends) refuse("a started range was left open");
    if (failed) _exit(3);
  }
  void refuse(char const* why) {
    std::fprintf(stderr, "at exit: %s\n", why);
    failed = true;
  }
  bool failed = false;
} at_exit;

// Enters a phase when it is destroyed itself.
struct late_user {
  std::optional<sg::phase> phase;
  cudaStream_t stream = nullptr;

  ~late_user() {
    if (!phase) return;
    auto scope = phase->enter(stream);
    { auto const inner = phase->enter(sg::host_only, {{"when", "late"}}); }
    scope.wait(sg::wait_policy::spin);
    auto const open = phase->start(stream);
  }
};

// In an order that is as bad as it can be: users that outlive their recorder, and users that go before it.
late_user destroyed_after_the_recorder;
std::optional<sg::started_phase> open_after_the_recorder;
sg::recorder the_recorder{sg::capacity{1000, 16}};
sg::phase const the_phase{the_recorder, "global"};
sg::phase const under_conditions{the_recorder, "global", sg::conditions{{"rows", 256}}};
std::optional<sg::started_phase> open_before_the_recorder;
late_user destroyed_before_the_recorder;
sg::recorder never_used;
thread_local sg::phase const phase_of_thread{the_recorder, "of the thread"};
thread_local std::optional<sg::started_phase> open_of_thread;

// Everything is used: intervals wait for the device, and phases are open everywhere.
void use_everything(cudaStream_t stream) {
  {
    auto const scope = the_phase.enter(stream);
    launch(stream, 1ms);
  }
  { auto const scope = phase_of_thread.enter(stream); }
  std::thread{[&] {
    auto const scope = phase_of_thread.enter(stream);
    open_of_thread.emplace(phase_of_thread.start(stream));
  }}.join();
  open_of_thread.emplace(phase_of_thread.start(stream));
  open_before_the_recorder.emplace(the_phase.start(stream));
  open_after_the_recorder.emplace(the_phase.start(stream));
  destroyed_after_the_recorder.phase.emplace(the_phase);
  destroyed_after_the_recorder.stream = stream;
  destroyed_before_the_recorder.phase.emplace(the_phase);
  destroyed_before_the_recorder.stream = stream;
  CHECK(series_of(the_recorder.collect(), "of the thread").samples.size() == 4);
}

sg::series global_series() {
  for (auto const& each : the_recorder.collect().all)
    if (each.phase == "global" && each.conditions.empty()) return each;
  return {};
}

void check_quiet(char const* scenario) {
  auto const outcome = in_own_process(scenario);
  CHECK_MESSAGE(outcome.passed(), outcome.output);
  CHECK(outcome.signal == 0);
  CHECK(outcome.errors == "");
}

}  // namespace

// -------------------------------------------------------------------------------------------------------- the scenarios

TEST_CASE("scenario: main does nothing" * doctest::skip()) {
  at_exit.watches = true;
  CHECK(simulated::count_all() == 0);
  CHECK(ranges_seen::so_far.all() == 0);
  at_exit.expects_no_call = true;
}

TEST_CASE("scenario: host phases alone" * doctest::skip()) {
  at_exit.watches = true;
  {
    auto const outer = the_phase.enter(sg::host_only);
    auto const inner = phase_of_thread.enter(sg::host_only);
  }
  CHECK(simulated::count_all() == 0);
  at_exit.expects_no_call = true;
}

TEST_CASE("scenario: the first start makes the first call" * doctest::skip()) {
  at_exit.watches = true;
  cudaStream_t const stream = new_stream();
  simulated::clear_log();
  sg::phase const copy = the_phase;
  CHECK(simulated::count_all() == 0);
  { auto const scope = copy.enter(stream); }
  CHECK(simulated::count("cuEventRecord") == 2);
  CHECK(simulated::count("cuDeviceGetCount") == 0);
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: everything is used and the runtime lives" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  CHECK(global_series().samples.size() == 3);
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: everything is used and the runtime unloads" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  simulated::begin_unloading();
}

TEST_CASE("scenario: everything is used and the device is reset" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  destroyed_after_the_recorder.phase.reset();
  destroyed_before_the_recorder.phase.reset();  // their stream is gone, and a record on it would crash
  reset_device();
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: everything is used and a new context takes the place of the old" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  reset_device();
  cudaStream_t const stream = new_stream();
  destroyed_after_the_recorder.stream = stream;
  destroyed_before_the_recorder.stream = stream;
  {
    auto const scope = the_phase.enter(stream);
    launch(stream, 1ms);
  }
  CHECK(global_series().samples.back().device == 1ms);
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: a new context takes the place of the old and nothing is entered in it" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  destroyed_after_the_recorder.phase.reset();
  destroyed_before_the_recorder.phase.reset();
  reset_device();
  static_cast<void>(new_stream());
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: the work of the last intervals never ends" * doctest::skip()) {
  at_exit.watches = true;
  cudaStream_t const stream = new_stream();
  simulated::hold(stream);
  for (int i = 0; i < 5; ++i) {
    auto const scope = the_phase.enter(stream);
    launch(stream, 1ms);
  }
  at_exit.expects_no_live_event = true;
}

TEST_CASE("scenario: the program leaves by exit" * doctest::skip()) {
  at_exit.watches = true;
  use_everything(new_stream());
  std::puts("test cases: 1 | 1 passed | 0 failed");  // doctest does not come to say it
  auto const open = the_phase.start(sg::host_only);
  auto moved = std::make_unique<sg::started_phase>(the_phase.start(sg::host_only));
  moved->stop();
  open_before_the_recorder.reset();
  ranges_seen::so_far.ends += 1;  // the local's: exit unwinds no stack
  at_exit.expects_no_live_event = true;
  std::exit(0);
}

// ------------------------------------------------------------------------------------------------------------ the tests

TEST_CASE("a program that only includes and declares makes no CUDA and no NVTX call, at start or at exit (case-38)") {
  check_quiet("scenario: main does nothing");
}

TEST_CASE("phases of the host alone make no CUDA call, at exit neither (case-38)") {
  check_quiet("scenario: host phases alone");
}

TEST_CASE("the first CUDA call comes with the first start, and no device is counted (case-38)") {
  check_quiet("scenario: the first start makes the first call");
}

TEST_CASE("globals and thread-locals die quietly (case-36)") {
  check_quiet("scenario: everything is used and the runtime lives");
}

TEST_CASE("globals and thread-locals die quietly while the runtime unloads (case-36)") {
  check_quiet("scenario: everything is used and the runtime unloads");
}

TEST_CASE("globals and thread-locals die quietly after a device reset (case-37)") {
  check_quiet("scenario: everything is used and the device is reset");
}

TEST_CASE("globals and thread-locals die quietly when another context took the old one's place (case-37)") {
  check_quiet("scenario: everything is used and a new context takes the place of the old");
}

TEST_CASE("at exit no event of a lost context is touched, when another context has its place (case-37)") {
  check_quiet("scenario: a new context takes the place of the old and nothing is entered in it");
}

TEST_CASE("a program may end while its work is not done (case-36)") {
  check_quiet("scenario: the work of the last intervals never ends");
}

TEST_CASE("a program may leave by exit from within a phase (case-36)") { check_quiet("scenario: the program leaves by exit"); }
