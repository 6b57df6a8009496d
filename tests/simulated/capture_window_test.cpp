// Without these: a capture would hold the warm-up, miss an execution, lose the results where a tool ends the program at
// Stop, or stay open on one of the ways out.

#include <streamgauge/measure/capture_window.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <type_traits>

#include "own_process.hpp"
#include "windows_seen.hpp"

using namespace std::chrono_literals;
using namespace windows_seen;
using sg::capture_window;

static_assert(!std::is_copy_constructible_v<capture_window>);
static_assert(!std::is_move_constructible_v<capture_window>);
static_assert(std::is_nothrow_destructible_v<capture_window>);

TEST_CASE_FIXTURE(
    program, "case-45 and case-49 the executions before a window run outside, and are waited for before the start") {
  capture_window window{recorder, step, sg::executions{2, 4}};
  run(6);
  CHECK(story() == "kkd[kkd]kk");
  auto const profiler = simulated::profiler_log();
  REQUIRE(profiler.size() == 2);
  CHECK(profiler[0].at == 1s + 2ms);  // case-43: the kernels of both are done, to the nanosecond
  CHECK(profiler[1].at == 1s + 4ms);
  CHECK(window.notes().empty());
  check_closed();
  CHECK(kept(recorder.collect()) == 6);
  CHECK(problems(recorder).empty());
}

TEST_CASE_FIXTURE(program,
                  "case-43 a window that ends before its last execution closes at its own end, with its work in it") {
  {
    capture_window window{recorder, step, sg::executions{1, 100}};
    run(3);
    CHECK(kernels() == "k[kk");
  }
  CHECK(story() == "kd[kkd]");
  CHECK(simulated::profiler_log().at(1).at == 1s + 3ms);
  run(2);
  CHECK(kernels() == "k[kk]kk");
  check_closed();
}

TEST_CASE_FIXTURE(program, "a window counts from its own making on") {
  run(3);
  capture_window window{recorder, step, sg::executions{1, 2}};
  run(3);
  CHECK(kernels() == "kkkk[k]k");
}

TEST_CASE_FIXTURE(program, "the first execution is captured from its range on") {
  capture_window window{recorder, step, sg::executions{0, 1}};
  run(2);
  CHECK(story() == "[kd]k");
}

TEST_CASE_FIXTURE(program, "empty windows do nothing and say nothing") {
  {
    capture_window window{recorder, step, sg::executions{2, 2}};
    capture_window never{recorder, step, sg::capture_schedule{1, 1, 0, 3}};
    capture_window steps{recorder, sg::executions{}};
    run(7);
    steps.step();
  }
  CHECK(story() == "kkkkkkk");
  CHECK(problems(recorder).empty());
}

TEST_CASE_FIXTURE(program, "a schedule waits, warms up and is active, as often as it repeats") {
  capture_window window{recorder, step, sg::capture_schedule{1, 1, 2, 2}};
  run(10);
  CHECK(kernels() == "kk[kk]kk[kk]kk");
  check_closed();
}

TEST_CASE_FIXTURE(program, "a schedule that repeats 0 times goes on until its window ends") {
  {
    capture_window window{recorder, step, sg::capture_schedule{0, 2, 1, 0}};
    run(9);
  }
  CHECK(kernels() == "kk[k]kk[k]kk[k]");
}

TEST_CASE_FIXTURE(program, "cycles without a pause are captures of their own") {
  capture_window window{recorder, step, sg::capture_schedule{0, 0, 2, 2}};
  run(5);
  CHECK(kernels() == "[kk][kk]k");
}

TEST_CASE_FIXTURE(program, "case-42 windows that overlap start once and stop once") {
  capture_window first{recorder, step, sg::executions{1, 4}};
  capture_window second{recorder, step, sg::executions{2, 6}};
  run(8);
  CHECK(kernels() == "k[kkkkk]kk");
  check_closed();
}

TEST_CASE_FIXTURE(program, "case-42 a window inside a guard, and a guard inside a window") {
  {
    sg::capture_guard const guard{recorder};
    capture_window window{recorder, step, sg::executions{1, 2}};
    run(3);
  }
  CHECK(kernels() == "[kkk]");
  simulated::clear_log();
  {
    capture_window window{recorder, step, sg::executions{0, 2}};
    for (int i = 0; i < 3; ++i) {
      auto const scope = step.enter(stream.get());
      sg::capture_guard const guard{recorder};
      simulated::launch(stream.get(), 1ms);
    }
  }
  CHECK(kernels() == "[kk][k]");
  check_closed();
}

TEST_CASE_FIXTURE(program, "steps count where no phase does, and a phase's window takes no notice of them") {
  capture_window window{recorder, sg::executions{1, 3}};
  capture_window of_phase{recorder, sg::phase{recorder, "other"}, sg::executions{0, 1}};
  for (int i = 0; i < 5; ++i) {
    window.step();
    of_phase.step();
    run(1);
  }
  CHECK(kernels() == "k[kk]kk");
  check_closed();
}

TEST_CASE_FIXTURE(program, "started phases, spans and branches count where they begin") {
  sg::phase const part{recorder, "part"};
  capture_window window{recorder, step, sg::executions{1, 3}};
  capture_window of_part{recorder, part, sg::executions{1, 2}};
  { auto const started = step.start(stream.get()); }
  CHECK(kernels().empty());
  {
    sg::span whole{step};
    CHECK(kernels() == "[");
    { auto const one = whole.branch(stream.get(), part); }
    { auto const unnamed = whole.branch(stream.get()); }  // the span's own, which counted already
    CHECK(sg::the_profiler.open == 1);
  }
  {
    sg::span whole{step};
    auto const one = whole.branch(stream.get(), part);
    CHECK(sg::the_profiler.open == 2);
  }
  { auto const scope = step.enter(sg::host_only); }
  CHECK(sg::the_profiler.open == 1);
}

TEST_CASE_FIXTURE(program, "conditions make no difference: executions of the phase count") {
  capture_window window{recorder, step, sg::executions{1, 2}};
  for (int rows = 0; rows < 3; ++rows) {
    auto const scope = step.enter(stream.get(), {{"rows", rows}});
    simulated::launch(stream.get(), 1ms);
  }
  CHECK(kernels() == "k[k]k");
}

TEST_CASE_FIXTURE(
    program, "case-46 before each stop the user gets the recording so far, with the window's last execution read") {
  std::vector<std::size_t> seen;
  std::string stories;
  {
    capture_window window{recorder, step, sg::capture_schedule{1, 0, 2, 0}, [&](sg::recording const& so_far) {
                            seen.push_back(kept(so_far));
                            stories += story() + ' ';
                            run(1);  // counted by no window
                          }};
    run(6);
  }
  CHECK(seen == std::vector<std::size_t>{3, 7});
  CHECK(stories == "kd[kkd kd[kkdkd]kd[kkd ");
  CHECK(kernels() == "k[kkk]k[kkk]");
  check_closed();
}

TEST_CASE_FIXTURE(program, "the recording so far measures no floor: that would be in the capture") {
  std::string why;
  capture_window window{recorder, step, sg::executions{0, 1},
                        [&](sg::recording const& so_far) { why = so_far.environment.devices.at(0).why_no_floor; }};
  run(2);
  CHECK(why == "a capture was open; it is measured when none is");
  CHECK(simulated::streams_created() == 1);
  CHECK(recorder.collect().environment.devices.at(0).why_no_floor.empty());
}

TEST_CASE_FIXTURE(program, "no floor is measured in anybody's capture: of a guard, or of another recorder's window") {
  sg::recorder other{sg::mode::time, {1000, 8}};
  sg::phase const its{other, "its"};
  auto const why_no_floor = [](sg::recorder& of) { return of.collect().environment.devices.at(0).why_no_floor; };
  {
    sg::capture_guard const guard{recorder};
    run(1);
    CHECK(why_no_floor(recorder) == "a capture was open; it is measured when none is");
  }
  {
    capture_window window{recorder, step, sg::executions{0, 2}};
    run(1);
    windows_seen::run(its, stream.get(), 1);
    CHECK(why_no_floor(other) == "a capture was open; it is measured when none is");
  }
  CHECK(simulated::streams_created() == 1);
  CHECK(why_no_floor(recorder).empty());
  CHECK(why_no_floor(other).empty());
}

TEST_CASE_FIXTURE(program, "case-34 an exception passes unchanged and the window closes once") {
  int asked = 0;
  try {
    capture_window window{recorder, step, sg::executions{1, 9}, [&](sg::recording const&) { ++asked; }};
    run(2);
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
    throw std::domain_error{"the program's own"};
  } catch (std::domain_error const& error) {
    CHECK(std::string{error.what()} == "the program's own");
  }
  CHECK(kernels() == "k[kk]");
  CHECK(asked == 1);
  check_closed();
}

TEST_CASE_FIXTURE(program, "case-47 a window changes no sample") {
  for (bool const with : {false, true}) {
    simulated::clear_log();
    std::optional<capture_window> window;
    sg::recorder own{sg::mode::time, {1000, 8}};
    sg::phase const phase{own, "step"};
    if (with) window.emplace(own, phase, sg::executions{1, 2});
    windows_seen::run(phase, stream.get(), 3);
    sg::recording const taken = own.collect();
    CHECK(taken.problems.empty());
    REQUIRE(taken.all.at(0).samples.size() == 3);
    for (sg::sample const& each : taken.all.at(0).samples) CHECK(each.device == sg::observation{1ms});
  }
}

TEST_CASE_FIXTURE(program, "case-43 a stream in a capture is not waited for, and its capture survives") {
  program_stream const captured;
  {
    simulated::user_scope const user;
    REQUIRE(cudaStreamBeginCapture(captured.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  {
    capture_window window{recorder, step, sg::executions{1, 2}, sg::drains{captured.get()}};
    for (int i = 0; i < 3; ++i) {
      run(1);
      auto const scope = step.enter(captured.get());
    }
    CHECK(window.notes().size() == 1);
  }
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(captured.get(), &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  check_closed();
}

TEST_CASE_FIXTURE(program, "streams that were given are waited for as well") {
  program_stream const side;
  simulated::launch(side.get(), 7ms);
  {
    capture_window window{recorder, step, sg::executions{0, 1}, sg::drains{side.get()}};
    run(1);
    simulated::launch(side.get(), 5ms);
  }
  CHECK(simulated::profiler_log().at(0).at == 1s + 7ms);
  CHECK(simulated::profiler_log().at(1).at == 1s + 12ms);
}

TEST_CASE_FIXTURE(simulated::fresh_machine, "no device gets a context because of a window") {
  simulated::machine_options options;
  options.devices = 3;
  simulated::reset(options);
  select_device(2);
  program_stream const far;
  simulated::clear_log();
  sg::recorder own{sg::mode::time, {1000, 8}};
  sg::phase const phase{own, "step"};
  capture_window window{own, phase, sg::executions{0, 1}};
  windows_seen::run(phase, far.get(), 2);
  CHECK(kernels() == "[k]k");
  CHECK_FALSE(simulated::context_created(0));
  CHECK_FALSE(simulated::context_created(1));
}

TEST_CASE_FIXTURE(program, "mark: executions count, and the stream that they come on is waited for") {
  sg::recorder marks{sg::mode::mark};
  sg::phase const phase{marks, "step"};
  capture_window window{marks, phase, sg::executions{1, 2}};
  windows_seen::run(phase, stream.get(), 3);
  CHECK(story() == "kd[kd]k");
  CHECK(simulated::profiler_log().at(1).at == 1s + 2ms);
  CHECK(problems(marks).empty());
}

TEST_CASE_FIXTURE(program, "off: executions are not counted, and the recording says so; steps are") {
  sg::recorder off{sg::mode::off};
  sg::phase const phase{off, "step"};
  {
    capture_window window{off, phase, sg::executions{1, 2}};
    windows_seen::run(phase, stream.get(), 3);
    CHECK(problems(off) ==
          std::vector<std::string>{
              "step: its capture window never opens: the recorder is off, and executions are not counted"});
  }
  capture_window steps{off, sg::executions{0, 1}, sg::drains{stream.get()}};
  steps.step();
  run(1);
  steps.step();
  CHECK(kernels() == "kkk[k]");
}

TEST_CASE_FIXTURE(program, "a window that never opened says how far it came, once it has ended") {
  {
    capture_window window{recorder, step, sg::executions{5, 6}};
    capture_window steps{recorder, sg::executions{2, 3}};
    run(2);
    steps.step();
    CHECK(problems(recorder).empty());  // they may still
  }
  CHECK(
      problems(recorder) ==
      std::vector<std::string>{
          "step: a capture window ended and had never opened: executions counted: 2, the first to capture is number 5, "
          "from 0",
          ": a capture window ended and had never opened: steps counted: 1, the first to capture is number 2, from 0"});
}

TEST_CASE_FIXTURE(program, "windows by the thousand leave little behind") {
  for (int i = 0; i < 1000; ++i) capture_window window{recorder, step, sg::executions{5, 6}};
  CHECK(problems(recorder).size() == 16);
  for (int i = 0; i < 1000; ++i) {
    capture_window window{recorder, step, sg::executions{0, 1}};
    auto const scope = step.enter(stream.get());
  }
  CHECK(problems(recorder).size() == 16);
}

TEST_CASE_FIXTURE(program, "empty windows take no room from those that have something to say") {
  for (int i = 0; i < 20; ++i) capture_window window{recorder, step, sg::executions{5, 5}};
  { capture_window window{recorder, "never:2"}; }
  CHECK(problems(recorder) ==
        std::vector<std::string>{
            "never: a capture window waits for this phase, and none of its executions began while the window was there; no "
            "phase was entered so far. the capture window's text (\"never:2\") was read as phase \"never\", first 2, count 1, "
            "repeat 1"});
}

TEST_CASE_FIXTURE(program, "a phase that was entered before, and not since the window was made, is not said to be missing") {
  run(3);
  std::vector<std::string> const expected{
      "step: a capture window waits for this phase, and none of its executions began while the window was there; entered so "
      "far: \"step\""};
  {
    capture_window window{recorder, step, sg::executions{1, 2}};
    CHECK(problems(recorder) == expected);
  }
  CHECK(problems(recorder) == expected);
}

TEST_CASE_FIXTURE(program, "another recorder's phase is refused in words, also where one of that name is here") {
  sg::recorder other;
  {
    capture_window window{other, step, sg::executions{0, 1}};
    sg::phase const namesake{other, "step"};
    run(2);
    windows_seen::run(namesake, stream.get(), 2);
  }
  CHECK(kernels() == "kkkk");
  CHECK(problems(other) ==
        std::vector<std::string>{"step: its capture window never opens: it was given another recorder's phase"});
}

TEST_CASE_FIXTURE(program, "a phase whose name is empty has windows as any other, and windows over steps do not count it") {
  sg::phase const nameless{recorder, ""};
  capture_window steps{recorder, sg::executions{0, 1}};
  capture_window window{recorder, nameless, sg::executions{1, 2}};
  windows_seen::run(nameless, stream.get(), 3);
  CHECK(kernels() == "k[k]k");
  CHECK(problems(recorder).empty());
}

TEST_CASE_FIXTURE(program, "a phase is looked after no longer than its windows need") {
  auto const& watched = step.node().entry.watched;
  CHECK_FALSE(watched);
  {
    capture_window window{recorder, step, sg::executions{0, 1}};
    CHECK(watched);
    run(2);
    CHECK_FALSE(watched);
    capture_window other{recorder, step, sg::executions{0, 9}};
    run(1);
    CHECK(watched);
  }
  CHECK_FALSE(watched);
}

TEST_CASE_FIXTURE(program, "case-42 many threads: every execution counts once, and the capture holds its own number") {
  std::atomic<int> asked{0};
  {
    capture_window window{recorder, step, sg::capture_schedule{10, 0, 10, 5}, [&](sg::recording const&) { ++asked; }};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) auto const scope = step.enter(sg::host_only);
      });
    for (std::thread& each : threads) each.join();
  }
  std::string steps;
  for (auto const& each : simulated::profiler_log()) steps += each.step == simulated::profiler_step::start ? '[' : ']';
  CHECK(steps == "[][][][][]");
  CHECK(asked == 5);
  CHECK(recorder.collect().all.at(0).samples.size() == 200);
  check_closed();
}

TEST_CASE_FIXTURE(program, "an execution of another thread begins only once the window has closed") {
  std::atomic<bool> entered{false};
  std::thread other;
  capture_window window{recorder, step, sg::executions{0, 1}, [&](sg::recording const&) {
                          other = std::thread{[&] {
                            auto const scope = step.enter(sg::host_only);
                            CHECK(simulated::profiler_log().size() == 2);
                            entered = true;
                          }};
                          std::this_thread::sleep_for(50ms);
                          CHECK_FALSE(entered);
                        }};
  run(2);
  other.join();
  CHECK(kernels() == "[k]k");
}

TEST_CASE_FIXTURE(program, "a before_stop may end its window, and windows beside it, and nothing looks after the phase any more") {
  std::optional<capture_window> beside;
  std::optional<capture_window> window;
  beside.emplace(recorder, step, sg::executions{0, 100});
  int asked = 0;
  window.emplace(recorder, step, sg::executions{1, 2}, [&](sg::recording const&) {
    ++asked;
    window.reset();
    beside.reset();
  });
  run(4);
  CHECK(asked == 1);
  CHECK(kernels() == "[kk]kk");
  CHECK_FALSE(step.node().entry.watched);
  check_closed();
}

TEST_CASE_FIXTURE(program, "a window may outlive its recorder") {
  auto own = std::make_unique<sg::recorder>(sg::mode::time, sg::capacity{1000, 8});
  std::size_t seen = 0;
  {
    sg::phase const phase{*own, "step"};
    capture_window window{*own, phase, sg::executions{0, 9},
                          [&](sg::recording const& so_far) { seen = so_far.all.at(0).samples.size(); }};
    windows_seen::run(phase, stream.get(), 2);
    own.reset();
  }
  CHECK(seen == 2);
  CHECK(kernels() == "[kk]");
  check_closed();
}

TEST_CASE_FIXTURE(program, "a start that CUDA refuses is noted, owes no stop, and the next cycle starts") {
  simulated::fail_nth("cuProfilerStart", 1, cudaErrorUnknown);
  capture_window window{recorder, step, sg::capture_schedule{1, 0, 1, 2}};
  run(2);
  CHECK(window.notes() == std::vector<std::string>{"cuProfilerStart: unknown error (cudaErrorUnknown, 999)"});
  run(3);
  CHECK(window.notes().empty());
  CHECK(simulated::count("cuProfilerStart") == 2);
  CHECK(simulated::count("cuProfilerStop") == 1);
  CHECK(kept(recorder.collect()) == 5);
  check_closed();
}

TEST_CASE_FIXTURE(program, "a stop that CUDA refuses costs no sample, and is made before the next window starts") {
  simulated::fail_nth("cuProfilerStop", 1, cudaErrorUnknown);
  capture_window window{recorder, step, sg::capture_schedule{1, 0, 1, 2}};
  run(5);
  CHECK(simulated::count("cuProfilerStop") == 3);
  CHECK(simulated::count("cuProfilerStart") == 2);
  CHECK(kept(recorder.collect()) == 5);
  check_closed();
}

TEST_CASE_FIXTURE(program, "a forked child owes no stop, counts nothing and asks nobody") {
  bool asked = false;
  auto window = std::make_unique<capture_window>(recorder, step, sg::executions{0, 2},
                                                 [&](sg::recording const&) { asked = true; });
  run(1);
  int const exit_code = in_forked_child([&] {
    simulated::clear_log();
    run(3);
    window.reset();
    return kernels() == "kkk" && !asked ? 0 : 1;
  });
  CHECK(exit_code == 0);
  window.reset();
  CHECK(asked);
  CHECK(kernels() == "[k]");
  check_closed();
}

// What ends a process, or must be the first that it does.

namespace {

void say(char const* what, sg::recording const& so_far) {
  std::printf("%s: %zu kept after %s\n", what, kept(so_far), story().c_str());
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("a tool ends the program at the stop of a window" * doctest::skip()) {
  program at;
  simulated::set_profiler_stop_action([] { _exit(7); });
  capture_window window{at.recorder, at.step, sg::executions{1, 3},
                        [](sg::recording const& so_far) { say("before stop", so_far); }};
  at.run(9);
  std::printf("never here\n");
}

TEST_CASE("case-46 where the stop ends the program the results are out before") {
  process_outcome const outcome = in_own_process("a tool ends the program at the stop of a window");
  CHECK(outcome.exit_code == 7);
  CHECK(outcome.output.find("before stop: 3 kept after kd[kkd\n") != std::string::npos);
  CHECK(outcome.output.find("never here") == std::string::npos);
}

TEST_CASE("leaves by exit inside a window" * doctest::skip()) {
  program at;
  std::atexit([] {
    std::printf("at the end: %s\n", story().c_str());
    std::fflush(stdout);
  });
  capture_window window{at.recorder, at.step, sg::executions{1, 9},
                        [](sg::recording const& so_far) { say("before stop", so_far); }};
  at.run(2);
  auto const scope = at.step.enter(at.stream.get());
  simulated::launch(at.stream.get(), 1ms);
  std::exit(42);
}

TEST_CASE("a program that leaves by exit inside a window has its results and one stop") {
  process_outcome const outcome = in_own_process("leaves by exit inside a window");
  CHECK(outcome.exit_code == 42);
  CHECK(outcome.output.find("before stop: 2 kept after kd[kkd\n") != std::string::npos);
  std::string const after = outcome.output.substr(outcome.output.find("at the end:"));
  CHECK(after.find(']') != std::string::npos);
  CHECK(after.find(']') == after.rfind(']'));
  CHECK(outcome.errors.empty());
}

TEST_CASE("leaves by exit before the stop of a static window" * doctest::skip()) {
  static program at;
  static capture_window window{at.recorder, at.step, sg::executions{0, 1}, [](sg::recording const&) {
                                 std::printf("asked\n");
                                 std::exit(3);
                               }};
  std::atexit([] {  // before the window's own end, behind what was registered as it opened
    std::printf("registered\n");
  });
  at.run(2);
}

TEST_CASE("a before_stop that leaves by exit is asked once and hangs nowhere") {
  process_outcome const outcome = in_own_process("leaves by exit before the stop of a static window");
  CHECK(outcome.exit_code == 3);
  CHECK(outcome.output.find("asked") != std::string::npos);
  CHECK(outcome.output.find("asked") == outcome.output.rfind("asked"));
}

TEST_CASE("enters phases in static destructors behind a window" * doctest::skip()) {
  struct last {
    ~last() {
      std::printf("%s, %s\n", kernels().c_str(), sg::the_profiler.collecting ? "collecting" : "closed");
      std::fflush(stdout);
    }
  };
  struct late {
    sg::phase const* step = nullptr;
    ~late() {
      for (int i = 0; i < 6; ++i) auto const scope = step->enter(sg::host_only);
    }
  };
  static last const looks;
  static late enters;
  auto* const at = new program;
  enters.step = &at->step;
  auto* const window = new capture_window{at->recorder, at->step, sg::capture_schedule{1, 0, 1, 0}};
  at->run(4);
  static_cast<void>(window);
  std::exit(0);
}

TEST_CASE("what a window captures while the program is on its way out is stopped as well") {
  process_outcome const outcome = in_own_process("enters phases in static destructors behind a window");
  CHECK(outcome.exit_code == 0);
  CHECK(outcome.output.find("k[k]k[k][][][], closed\n") != std::string::npos);
}

TEST_CASE("windows on a machine without a driver" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  simulated::fresh_machine const machine{options};
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  int asked = 0;
  {
    capture_window window{recorder, step, sg::capture_schedule{1, 0, 1, 2}, [&](sg::recording const&) { ++asked; }};
    for (int i = 0; i < 6; ++i) auto const scope = step.enter(sg::host_only);
    REQUIRE(window.notes().size() == 1);
    CHECK(window.notes()[0] == "nothing is captured: no CUDA device or driver on this machine");
  }
  CHECK(asked == 2);
  CHECK(recorder.collect().all.at(0).samples.size() == 6);
}

TEST_CASE("without a device a window changes nothing and says so in one line") {
  process_outcome const outcome = in_own_process("windows on a machine without a driver");
  CHECK(outcome.passed());
  CHECK(outcome.errors ==
        "streamgauge: nothing is captured for a profiler: no CUDA device or driver on this machine\n");
}

TEST_CASE("leaves by exit inside a window without a driver" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  simulated::reset(options);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  capture_window window{recorder, step, sg::executions{0, 9},
                        [](sg::recording const& so_far) { say("before stop", so_far); }};
  auto const scope = step.enter(sg::host_only);
  std::exit(42);
}

TEST_CASE("a program that leaves by exit has its results without a device as well") {
  process_outcome const outcome = in_own_process("leaves by exit inside a window without a driver");
  CHECK(outcome.exit_code == 42);
  CHECK(outcome.output.find("before stop: 0 kept") != std::string::npos);
}
