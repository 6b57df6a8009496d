// Without these: a capture by nsys or ncu would end early, miss its tail, carry the work from before, or never end.

#include <streamgauge/measure/capture_guard.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <streamgauge/measure/phase.hpp>

#include "own_process.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using simulated::profiler_step;
using streamgauge::capture_guard;
namespace sg = streamgauge;

static_assert(!std::is_copy_constructible_v<capture_guard>);
static_assert(!std::is_move_constructible_v<capture_guard>);
static_assert(std::is_nothrow_destructible_v<capture_guard>);
static_assert(!std::is_constructible_v<capture_guard, int>);
static_assert(!std::is_convertible_v<cudaStream_t, capture_guard>);

namespace {

using names = std::vector<std::string>;

/// The calls that order the device's work and the profiler, in their order.
names order_of_calls() {
  names order;
  for (auto const& name : simulated::logged_names())
    for (char const* const wanted : {"cuEventRecord", "cuEventSynchronize", "cuCtxSynchronize", "cuProfilerStart",
                                     "cuProfilerStop", "cudaLaunchKernel"})
      if (name == wanted) order.push_back(name);
  return order;
}

std::vector<profiler_step> profiler_steps() {
  std::vector<profiler_step> steps;
  for (auto const& each : simulated::profiler_log()) steps.push_back(each.step);
  return steps;
}

std::vector<profiler_step> const one_capture{profiler_step::start, profiler_step::stop};

void check_no_trace() {
  CHECK(sg::the_profiler.open == 0);
  CHECK_FALSE(sg::the_profiler.collecting);
  CHECK(pending_error() == cudaSuccess);
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-43 and case-45 the streams given are waited for before the start and before the stop, in that order") {
  program_stream const first;
  program_stream const second;
  program_stream const other;
  simulated::launch(first.get(), 5ms);
  simulated::launch(second.get(), 9ms);
  simulated::launch(other.get(), 70ms);
  simulated::clear_log();
  {
    capture_guard const guard{first.get(), second.get()};
    CHECK(simulated::host_now() == 1s + 9ms);  // no earlier work is left, and the other stream was not waited for
    CHECK(guard.notes().empty());
    simulated::launch(first.get(), 6ms);
    simulated::launch(second.get(), 2ms);
  }
  CHECK(order_of_calls() == names{"cuEventRecord", "cuEventSynchronize", "cuEventRecord", "cuEventSynchronize",
                                  "cuProfilerStart", "cudaLaunchKernel", "cudaLaunchKernel", "cuEventRecord",
                                  "cuEventSynchronize", "cuEventRecord", "cuEventSynchronize", "cuProfilerStop"});
  auto const profiler = simulated::profiler_log();
  REQUIRE(profiler.size() == 2);
  CHECK(profiler[0].at == 1s + 9ms);
  CHECK(profiler[1].at == 1s + 15ms);
  CHECK(simulated::live_events() == 0);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-43 and case-45 a recorder's finished phases are waited for before the start and the stop") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, {1000, 4}};
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 5ms);
  }
  {
    capture_guard const guard{recorder};
    CHECK(simulated::profiler_log().at(0).at == 1s + 5ms);
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 6ms);
  }
  CHECK(simulated::profiler_log().at(1).at == 1s + 11ms);
  CHECK(simulated::count("cuCtxSynchronize") == 0);
  sg::recording const taken = recorder.collect();
  CHECK(taken.all.at(0).samples.at(0).device == sg::observation{5ms});
  CHECK(taken.all.at(0).samples.at(1).device == sg::observation{6ms});
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-43 and case-45 without streams every device that has a context is waited for, and no other gets one") {
  simulated::machine_options options;
  options.devices = 3;
  simulated::reset(options);
  select_device(2);
  program_stream const far;
  select_device(0);
  program_stream const close_by;
  simulated::launch(close_by.get(), 5ms);
  simulated::launch(far.get(), 9ms);
  simulated::clear_log();
  {
    capture_guard const guard;
    CHECK(guard.notes().empty());
    CHECK(simulated::host_now() == 1s + 9ms);
    simulated::launch(close_by.get(), 6ms);
    simulated::launch(far.get(), 2ms);
  }
  CHECK(order_of_calls() ==
        names{"cuCtxSynchronize", "cuCtxSynchronize", "cuProfilerStart", "cudaLaunchKernel", "cudaLaunchKernel",
              "cuCtxSynchronize", "cuCtxSynchronize", "cuProfilerStop"});
  CHECK(simulated::profiler_log().at(1).at == 1s + 15ms);
  CHECK_FALSE(simulated::context_created(1));
  CHECK(simulated::count("cuDevicePrimaryCtxRetain") == simulated::count("cuDevicePrimaryCtxRelease"));
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-42 guards nested three deep start once and stop once, with the outermost") {
  program_stream const stream;
  {
    capture_guard const outer{stream.get()};
    {
      capture_guard const middle{stream.get()};
      { capture_guard const inner; }
      CHECK(profiler_steps() == std::vector<profiler_step>{profiler_step::start});
    }
    CHECK(profiler_steps() == std::vector<profiler_step>{profiler_step::start});
  }
  CHECK(profiler_steps() == one_capture);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-42 guards one after the other start and stop each") {
  program_stream const stream;
  for (int i = 0; i < 2; ++i) capture_guard const guard{stream.get()};
  CHECK(profiler_steps() ==
        std::vector<profiler_step>{profiler_step::start, profiler_step::stop, profiler_step::start, profiler_step::stop});
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-42 guards of two threads that overlap start once and stop once, after the last") {
  program_stream const stream;
  std::atomic<int> turn{0};
  auto const wait_until = [&turn](int value) {
    while (turn.load() != value) std::this_thread::yield();
  };
  std::thread a{[&] {
    auto guard = std::make_unique<capture_guard>(stream.get());
    turn = 1;
    wait_until(2);
    guard.reset();
    turn = 3;
  }};
  std::thread b{[&] {
    wait_until(1);
    auto guard = std::make_unique<capture_guard>(stream.get());
    turn = 2;
    wait_until(3);
    CHECK(profiler_steps() == std::vector<profiler_step>{profiler_step::start});
    simulated::launch(stream.get(), 3ms);
    guard.reset();
  }};
  a.join();
  b.join();
  CHECK(profiler_steps() == one_capture);
  CHECK(simulated::profiler_log().at(1).at == 1s + 3ms);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-42 guards opened and closed by eight threads at once leave no capture open") {
  program_stream const stream;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 50; ++k) capture_guard const guard{stream.get()};
    });
  for (std::thread& each : threads) each.join();
  bool collecting = false;
  for (profiler_step const step : profiler_steps()) {
    CHECK(collecting == (step == profiler_step::stop));  // never two starts or two stops in a row
    collecting = step == profiler_step::start;
  }
  CHECK_FALSE(collecting);
  CHECK(simulated::live_events() == 0);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-45 a guard that begins while another one's stop is under way waits for earlier work all the same") {
  static std::thread other;
  static sg::recorder* waited;
  static std::atomic<bool> begins;
  begins = false;
  program_stream const stream;
  sg::recorder recorder;
  waited = &recorder;
  sg::phase const step{recorder, "step"};
  {
    capture_guard const guard{stream.get()};
    program_stream const side;
    auto const scope = step.enter(side.get());
    simulated::launch(side.get(), 20ms);
    simulated::set_profiler_stop_action([] {
      other = std::thread{[] {
        begins = true;
        capture_guard const next{*waited};
      }};
      while (!begins) std::this_thread::yield();
      std::this_thread::sleep_for(50ms);
    });
  }
  simulated::set_profiler_stop_action(nullptr);
  other.join();
  auto const profiler = simulated::profiler_log();
  REQUIRE(profiler.size() == 4);
  CHECK(profiler[1].at == 1s);
  CHECK(profiler[2].step == profiler_step::start);
  CHECK(profiler[2].at == 1s + 20ms);
}

TEST_CASE_FIXTURE(fresh_machine, "case-34 an exception inside a guard passes unchanged and the capture stops once, with its work in it") {
  program_stream const stream;
  try {
    capture_guard const guard{stream.get()};
    simulated::launch(stream.get(), 4ms);
    throw std::domain_error{"the program's own"};
  } catch (std::domain_error const& error) {
    CHECK(std::string{error.what()} == "the program's own");
  }
  CHECK(profiler_steps() == one_capture);
  CHECK(simulated::profiler_log().at(1).at == 1s + 4ms);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "case-43 a stream that is being captured is left alone and noted, and the others are waited for") {
  for (cudaStreamCaptureMode const mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    simulated::reset();
    program_stream const captured;
    program_stream const plain;
    {
      simulated::user_scope const user;
      REQUIRE(cudaStreamBeginCapture(captured.get(), mode) == cudaSuccess);
    }
    simulated::launch(plain.get(), 5ms);
    {
      capture_guard const guard{captured.get(), plain.get()};
      REQUIRE(guard.notes().size() == 1);
      CHECK(guard.notes()[0] == "a stream was not waited for: the stream was being captured into a graph");
      CHECK(simulated::host_now() == 1s + 5ms);
      simulated::launch(captured.get(), 1ms);
    }
    {
      simulated::user_scope const user;
      cudaGraph_t graph = nullptr;
      CHECK(cudaStreamEndCapture(captured.get(), &graph) == cudaSuccess);
      std::size_t nodes = 0;
      CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
      CHECK(nodes == 1);
      CHECK(cudaGraphDestroy(graph) == cudaSuccess);
    }
    CHECK(profiler_steps() == one_capture);
    check_no_trace();
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-43 a recorder is drained beside a capture of its own stream, which survives") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, {1000, 4}};
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 5ms);
  }
  {
    simulated::user_scope const user;
    REQUIRE(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  {
    capture_guard const guard{recorder};
    CHECK(simulated::host_now() == 1s + 5ms);
  }
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream.get(), &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "the legacy stream beside a captured blocking stream is left alone and noted") {
  program_stream const blocking{cudaStreamDefault};
  {
    simulated::user_scope const user;
    REQUIRE(cudaStreamBeginCapture(blocking.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  {
    capture_guard const guard{cudaStreamLegacy};
    REQUIRE(guard.notes().size() == 1);
    CHECK(guard.notes()[0].find("a stream was not waited for: the legacy stream") == 0);
  }
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(blocking.get(), &graph) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "where no device has a context nothing is started, a note says so and no context is made") {
  {
    capture_guard const guard;
    REQUIRE(guard.notes().size() == 1);
    CHECK(guard.notes()[0].find("nothing is captured: the device had no context yet") == 0);
  }
  {
    capture_guard const guard{cudaStreamLegacy};
    CHECK(guard.notes().back().find("nothing is captured: ") == 0);
  }
  CHECK_FALSE(simulated::context_created(0));
  CHECK(profiler_steps().empty());
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "a thread without a current context starts the capture on a device that has one") {
  program_stream const stream;
  simulated::forget_current_context();
  {
    capture_guard const guard{stream.get()};
    CHECK(guard.notes().empty());
  }
  CHECK(profiler_steps() == one_capture);
  sg::context_handle current = nullptr;
  CHECK(sg::driver().api->context_current(&current) == cudaSuccess);
  CHECK(current == nullptr);
}

TEST_CASE_FIXTURE(fresh_machine, "a start that CUDA refuses is noted and owes no stop") {
  program_stream const stream;
  simulated::fail_nth("cuProfilerStart", 1, cudaErrorUnknown);
  {
    capture_guard const guard{stream.get()};
    REQUIRE(guard.notes().size() == 1);
    CHECK(guard.notes()[0] == "cuProfilerStart: unknown error (cudaErrorUnknown, 999)");
  }
  CHECK(simulated::count("cuProfilerStop") == 0);
  { capture_guard const guard{stream.get()}; }
  CHECK(profiler_steps() == one_capture);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "a wait that fails is noted, and the capture runs all the same") {
  program_stream const stream;
  for (char const* const call : {"cuEventCreate", "cuEventRecord", "cuEventSynchronize"}) {
    CAPTURE(std::string{call});
    simulated::fail_nth(call, 1, cudaErrorUnknown);
    capture_guard const guard{stream.get()};
    REQUIRE(guard.notes().size() == 1);
    CHECK(guard.notes()[0] == "waiting before the capture: unknown error (cudaErrorUnknown, 999)");
  }
  CHECK(profiler_steps().size() == 6);
  CHECK(simulated::live_events() == 0);
  check_no_trace();
}

TEST_CASE_FIXTURE(fresh_machine, "a fault inside the guard ends no wait in a hang, and the stop is made") {
  program_stream const stream;
  {
    capture_guard const guard{stream.get()};
    simulated::fault(stream.get(), cudaErrorIllegalAddress, 2ms);
  }
  CHECK(simulated::count("cuProfilerStop") == 1);
  CHECK(sg::the_profiler.open == 0);
  CHECK(sg::the_profiler.collecting);  // CUDA reported the fault, so whether it stopped is not known
  sg::the_profiler.collecting = false;
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "case-47 the samples are the same with and without a guard") {
  auto const run = [](bool guarded) {
    simulated::reset();
    program_stream const stream;
    sg::recorder recorder{sg::mode::time, {1000, 4}};
    sg::phase const step{recorder, "step"};
    std::unique_ptr<capture_guard> const guard{guarded ? new capture_guard{stream.get()} : nullptr};
    for (int i = 1; i <= 3; ++i) {
      auto const scope = step.enter(stream.get());
      simulated::launch(stream.get(), i * 1ms);
    }
    std::vector<sg::nanoseconds> times;
    sg::recording const taken = recorder.collect();
    for (sg::sample const& each : taken.all.at(0).samples) times.push_back(each.device.value().value());
    return times;
  };
  std::vector<sg::nanoseconds> const expected{1ms, 2ms, 3ms};
  CHECK(run(false) == expected);
  CHECK(run(true) == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "a guard keeps the recorder's samples alive for its own end, also when the recorder ended first") {
  program_stream const stream;
  auto recorder = std::make_unique<sg::recorder>(sg::mode::time, sg::capacity{1000, 4});
  {
    sg::phase const step{*recorder, "step"};
    capture_guard const guard{*recorder};
    { auto const scope = step.enter(stream.get()); }
    recorder.reset();
  }
  CHECK(profiler_steps() == one_capture);
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a forked child owes no stop for its parent's guard") {
  program_stream const stream;
  auto guard = std::make_unique<capture_guard>(stream.get());
  int const exit_code = in_forked_child([&] {
    simulated::clear_log();
    guard.reset();
    return simulated::count_all() == 0 && simulated::fatal_misuses().empty() ? 0 : 1;
  });
  CHECK(exit_code == 0);
  CHECK(profiler_steps() == std::vector<profiler_step>{profiler_step::start});
  guard.reset();
  CHECK(profiler_steps() == one_capture);
}

// What ends a process, or must be the first that it does.

namespace {

/// Runs after the guard's own handler, which was registered later.
void report_what_the_profiler_saw() {
  std::string text = "profiler:";
  for (auto const& each : simulated::profiler_log()) text += each.step == profiler_step::start ? " start" : " stop";
  text += " at " + std::to_string(simulated::profiler_log().back().at.count());
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

}  // namespace

TEST_CASE("leaves by exit inside a guard" * doctest::skip()) {
  simulated::reset();
  std::atexit(report_what_the_profiler_saw);
  program_stream const stream;
  capture_guard const outer{stream.get()};
  capture_guard const inner{stream.get()};
  simulated::launch(stream.get(), 7ms);
  std::exit(42);
}

TEST_CASE("a program that leaves by exit inside a guard still stops the capture once, with its work in it") {
  process_outcome const outcome = in_own_process("leaves by exit inside a guard");
  CHECK(outcome.exit_code == 42);
  CHECK(outcome.output.find("profiler: start stop at 1007000000\n") != std::string::npos);
  CHECK(outcome.errors.empty());
}

TEST_CASE("leaves by return after a stop that CUDA refused" * doctest::skip()) {
  simulated::reset();
  std::atexit(report_what_the_profiler_saw);
  program_stream const stream;
  simulated::fail_nth("cuProfilerStop", 1, cudaErrorUnknown);
  { capture_guard const guard{stream.get()}; }
  CHECK(sg::the_profiler.open == 0);
  CHECK(sg::the_profiler.collecting);
}

TEST_CASE("a stop that CUDA refuses is made again at exit") {
  process_outcome const outcome = in_own_process("leaves by return after a stop that CUDA refused");
  CHECK(outcome.passed());
  CHECK(outcome.output.find("profiler: start stop stop at") != std::string::npos);  // a refused stop acts all the same here
  CHECK(outcome.errors.empty());
}

TEST_CASE("guards on a machine without a driver" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  simulated::fresh_machine const machine{options};
  sg::recorder recorder;
  for (int i = 0; i < 3; ++i) {
    capture_guard const plain;
    capture_guard const of_a_stream{cudaStreamLegacy};
    capture_guard const of_a_recorder{recorder};
    REQUIRE(plain.notes().size() == 1);
    CHECK(plain.notes()[0] == "nothing is captured: no CUDA device or driver on this machine");
    CHECK(of_a_stream.notes() == plain.notes());
    CHECK(of_a_recorder.notes() == plain.notes());
  }
  CHECK(profiler_steps().empty());
  check_no_trace();
}

TEST_CASE("on a machine without a driver guards do nothing but say so once") {
  process_outcome const outcome = in_own_process("guards on a machine without a driver");
  CAPTURE(outcome.output);
  CHECK(outcome.passed());
  CHECK(outcome.errors ==
        "streamgauge: nothing is captured for a profiler: no CUDA device or driver on this machine\n");
}

TEST_CASE_FIXTURE(fresh_machine, "case-42 a stop that CUDA refused is made before the next capture starts, which is one of its own") {
  program_stream const stream;
  simulated::fail_nth("cuProfilerStop", 1, cudaErrorUnknown);
  { capture_guard const first{stream.get()}; }
  CHECK(sg::the_profiler.collecting);
  simulated::clear_log();
  {
    capture_guard const second{stream.get()};
    capture_guard const inside{stream.get()};
  }
  names switches;
  for (auto const& name : order_of_calls())
    if (name.substr(0, 10) == "cuProfiler") switches.push_back(name);
  CHECK(switches == names{"cuProfilerStop", "cuProfilerStart", "cuProfilerStop"});
  check_no_trace();
}
