// Fails each CUDA call of each scenario in turn, with several statuses. Whatever fails: no crash, no hang, no leak, no
// lost sample, no wrong number, and the program's own error stays as it was.
//
// The one exception is CUDA's: a failing *runtime* call overwrites the pending last error and nothing can put it back.
// Ours are few, and named in `lost_by_nature`; they are made at the first use, on a thread without a current context, and
// for the environment (driver.hpp, `without_trace`).

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program.hpp"

using namespace std::chrono_literals;
using streamgauge::absence;
using streamgauge::fate;
using streamgauge::nanoseconds;
using streamgauge::observation;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

/// The program that is measured: two streams, and what it knows of its own phases.
struct program {
  program_stream stream;
  program_stream other;

  void sync(cudaStream_t which) const { wait_for(which); }

  /// What a recorder kept, asked for without being failed.
  static sg::recording read(sg::recorder& recorder) {
    simulated::user_scope const user;
    return recorder.collect();
  }

  /// Every phase that was entered is there; its host side is kept; its device time is right or absent with a reason.
  void expect(sg::recording const& taken, char const* phase, std::size_t entered,
              std::vector<nanoseconds> const& possible) const {
    std::size_t found = 0;
    for (sg::series const& each : taken.all) {
      if (each.phase != phase) continue;
      found += each.samples.size() + each.lost;
      CHECK(each.lost == 0);
      for (sg::sample const& sample : each.samples) {
        CHECK(sample.submit.known());
        fate const device = fate_of(sample.device.why_absent());
        CHECK((device == fate::kept || device == fate::dropped));
        if (device == fate::kept)
          CHECK(std::count(possible.begin(), possible.end(), sample.device.value().value()) > 0);
        if (sample.waited == sg::wait_policy::none) continue;
        fate const completion = fate_of(sample.completion.why_absent());
        CHECK((completion == fate::kept || completion == fate::dropped));
        CHECK(completion == device);
      }
    }
    CHECK(found == entered);
  }
};

struct scenario {
  char const* name;
  std::function<void(program&)> play;
};

void check_guard(sg::capture_guard const& guard, std::size_t starts_before) {
  std::size_t starts = 0;
  for (auto const& each : simulated::profiler_log()) starts += each.step == simulated::profiler_step::start ? 1U : 0U;
  // Either the capture runs, or the guard says why not.
  if (starts == starts_before) CHECK_FALSE(guard.notes().empty());
}

std::vector<scenario> every_scenario() {
  return {
      {"phases read back as the pool fills",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 7; ++i) {
           {
             auto const scope = step.enter(its.stream.get());
             simulated::launch(its.stream.get(), 1ms);
           }
           its.sync(its.stream.get());
         }
         its.expect(program::read(recorder), "step", 7, {1ms});
       }},
      {"phases beyond the pool",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 7; ++i) {
           auto const scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1ms);
         }
         its.expect(program::read(recorder), "step", 7, {1ms});
       }},
      {"nested phases on two streams under conditions",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const outer{recorder, "outer"};
         sg::phase const inner{recorder, "inner"};
         for (int i = 0; i < 3; ++i) {
           {
             auto const around = outer.enter(its.stream.get(), {{"turn", i % 2}});
             {
               auto const scope = inner.enter(its.stream.get());
               simulated::launch(its.stream.get(), 1ms);
             }
             auto const scope = inner.enter(its.other.get());
             simulated::launch(its.other.get(), 2ms);
           }
           its.sync(its.other.get());
         }
         sg::recording const taken = program::read(recorder);
         its.expect(taken, "outer", 3, {1ms});
         its.expect(taken, "inner", 6, {1ms, 2ms});
       }},
      {"spinning waits",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 3; ++i) {
           its.sync(its.stream.get());
           auto scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1us);
           scope.wait(sg::wait_policy::spin);
         }
         its.expect(program::read(recorder), "step", 3, {1us});
       }},
      {"sleeping waits",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 3; ++i) {
           its.sync(its.stream.get());
           auto scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1us);
           scope.wait(sg::wait_policy::block);
         }
         its.expect(program::read(recorder), "step", 3, {1us});
       }},
      {"started phases that move and overlap",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const request{recorder, "request"};
         std::vector<sg::started_phase> open;
         for (int i = 0; i < 3; ++i) open.push_back(request.start(its.stream.get()));
         simulated::launch(its.stream.get(), 1ms);
         open[1].stop();
         open[0] = std::move(open[2]);
         open[0].wait(sg::wait_policy::block);
         open.clear();
         its.expect(program::read(recorder), "request", 3, {1ms});
       }},
      {"draining and collecting with the floor",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 2; ++i) {
           auto const scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1ms);
         }
         recorder.drain();
         {
           auto const scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1ms);
         }
         sg::recording const taken = recorder.collect();
         its.expect(taken, "step", 3, {1ms});
         for (sg::device_description const& device : taken.environment.devices)
           CHECK(device.event_floor.has_value() == device.why_no_floor.empty());
       }},
      {"the legacy and the per-thread stream on a thread without a current context",
       [](program& its) {
         simulated::forget_current_context();
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread}) {
           auto scope = step.enter(stream);
           simulated::host_advance(1ms);
           scope.wait(sg::wait_policy::block);
         }
         its.expect(program::read(recorder), "step", 2, {1ms});
       }},
      {"a device reset between phases",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (int i = 0; i < 2; ++i) {
           auto const scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1ms);
         }
         reset_device();
         its.stream.forget();
         its.other.forget();
         program_stream const next;
         for (int i = 0; i < 2; ++i) {
           auto const scope = step.enter(next.get());
           simulated::launch(next.get(), 2ms);
         }
         its.expect(program::read(recorder), "step", 4, {1ms, 2ms});
       }},
      {"waiting and collecting beside a capture of the program's",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         {
           simulated::user_scope const user;
           REQUIRE(cudaStreamBeginCapture(its.other.get(), cudaStreamCaptureModeGlobal) == cudaSuccess);
         }
         { auto const scope = step.enter(its.other.get()); }
         for (int i = 0; i < 2; ++i) {
           auto scope = step.enter(its.stream.get());
           simulated::host_advance(1ms);
           if (i == 1) scope.wait(sg::wait_policy::block);
         }
         recorder.drain();
         {
           simulated::user_scope const user;
           cudaGraph_t graph = nullptr;
           cudaError_t const ended = cudaStreamEndCapture(its.other.get(), &graph);
           CHECK(ended == cudaSuccess);
           if (ended == cudaSuccess) cudaGraphDestroy(graph);
           else cudaGetLastError();
         }
         its.expect(program::read(recorder), "step", 3, {1ms});
       }},
      {"a guard of the devices",
       [](program& its) {
         simulated::launch(its.stream.get(), 1ms);
         sg::capture_guard const guard;
         check_guard(guard, 0);
         sg::capture_guard const nested;
         simulated::launch(its.stream.get(), 1ms);
       }},
      {"a guard of two streams",
       [](program& its) {
         simulated::launch(its.stream.get(), 1ms);
         sg::capture_guard const guard{its.stream.get(), its.other.get()};
         check_guard(guard, 0);
         simulated::launch(its.stream.get(), 1ms);
       }},
      {"a guard of a recorder, twice",
       [](program& its) {
         sg::recorder recorder{sg::mode::time, small_pool};
         sg::phase const step{recorder, "step"};
         for (std::size_t i = 0; i < 2; ++i) {
           sg::capture_guard const guard{recorder};
           auto const scope = step.enter(its.stream.get());
           simulated::launch(its.stream.get(), 1ms);
         }
         its.expect(program::read(recorder), "step", 2, {1ms});
       }},
      {"a guard on a thread without a current context",
       [](program& its) {
         simulated::forget_current_context();
         sg::capture_guard const guard{its.stream.get()};
         check_guard(guard, 0);
       }},
      {"an interval, read and waited for",
       [](program& its) {
         try {
           sg::interval timer{its.stream.get()};
           for (int i = 0; i < 3; ++i) {
             timer.start();
             simulated::launch(its.stream.get(), 1ms);
             timer.stop();
             sg::reading read = i == 0 ? timer.read() : timer.wait();
             if (i == 0) its.sync(its.stream.get());
             if (i == 0) read = timer.read();
             CHECK((read.state == sg::interval_state::done || read.state == sg::interval_state::failed));
             if (read.state == sg::interval_state::done) CHECK(read.time == nanoseconds{1ms});
             else CHECK(read.why != absence::none);
             CHECK(read.time.has_value() == (read.state == sg::interval_state::done));
           }
           sg::interval const moved{std::move(timer)};
         } catch (sg::cuda_error const& error) {
           CHECK(error.status() != cudaSuccess);
         }
       }},
      {"the environment",
       [](program&) {
         sg::environment const found = sg::describe_environment();
         CHECK(found.library_version == "0.1.0");
         CHECK(found.host_floor.has_value());
       }},
  };
}

/// The runtime functions that only the runtime answers: a failure of theirs takes the pending error with it.
bool lost_by_nature(std::string const& call) {
  for (char const* const name : {"cudaDriverGetVersion", "cudaRuntimeGetVersion", "cudaGetDeviceCount", "cudaGetDevice",
                                 "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion"})
    if (call == name) return true;
  return false;
}

struct failure {
  std::size_t first = 0;  ///< which call fails, counted from 1; 0 for none
  std::size_t how_many = 1;
  int status = cudaSuccess;
  bool error_pending = false;
};

struct outcome {
  std::size_t calls = 0;   ///< of ours
  std::size_t failed = 0;
};

outcome play(scenario const& each, failure const& what) {
  simulated::reset();
  // So that the look-ups are part of every scenario.
  sg::the_driver.found.store(false);
  outcome seen;
  {
    program its;
    if (what.error_pending) leave_an_error_pending();
    for (std::size_t i = 0; what.first > 0 && i < what.how_many; ++i) simulated::fail_nth_call(what.first + i, what.status);
    each.play(its);
    seen.failed = simulated::injected_failures();
    simulated::clear_injections();
  }

  std::vector<std::string> failed;
  for (auto const& call : simulated::log()) {
    std::string const name = call.name;
    if (call.by_user || name == "cudaPeekAtLastError" || name == "cudaGetLastError") continue;
    ++seen.calls;
    if (what.first > 0 && seen.calls >= what.first && seen.calls < what.first + what.how_many) failed.push_back(name);
  }
  std::string names;
  for (std::string const& name : failed) names += name + ' ';
  auto const has_failed = [&](auto matches) { return std::any_of(failed.begin(), failed.end(), matches); };
  CAPTURE(names);

  for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK("fatal misuse: " << misuse);
  cudaError_t const pending = pending_error();
  if (!what.error_pending) CHECK(pending == cudaSuccess);
  else if (has_failed(lost_by_nature)) CHECK((pending == cudaErrorInvalidValue || pending == what.status));
  else CHECK(pending == cudaErrorInvalidValue);
  // Where the driver does not say that a context lives, its events are left alone: touching dead ones would crash.
  if (!has_failed([](std::string const& name) { return name == "cuCtxGetId"; })) CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 0);
  CHECK(simulated::context_created(0));
  CHECK(sg::the_profiler.open == 0);
  bool collecting = false;
  for (auto const& step : simulated::profiler_log()) collecting = step.step == simulated::profiler_step::start;
  // A stop that CUDA refused is still owed, and made at exit.
  if (collecting) CHECK(sg::the_profiler.collecting);
  sg::the_profiler.collecting = false;
  simulated::user_scope const user;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  cudaThreadExchangeStreamCaptureMode(&mode);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  return seen;
}

}  // namespace

TEST_CASE("every scenario is whole when nothing fails") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    for (bool const pending : {false, true}) {
      outcome const seen = play(each, {0, 1, cudaSuccess, pending});
      CHECK(seen.calls > 0);
      CHECK(seen.failed == 0);
    }
  }
}

TEST_CASE("case-32 whichever call fails, in whatever scenario, nothing crashes, leaks, hangs, is lost or is overwritten") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    std::size_t const calls = play(each, {}).calls;
    for (std::size_t nth = 1; nth <= calls; ++nth) {
      for (int const status : {999, 2, 700, 709, 201, 900}) {
        for (bool const pending : {false, true}) {
          CAPTURE(nth);
          CAPTURE(status);
          CAPTURE(pending);
          CHECK(play(each, {nth, 1, status, pending}).failed == 1);
        }
      }
    }
  }
}

TEST_CASE("case-32 from whichever call on everything fails, as after a fault, the same holds") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    std::size_t const calls = play(each, {}).calls;
    for (std::size_t nth = 1; nth <= calls; ++nth) {
      for (bool const pending : {false, true}) {
        CAPTURE(nth);
        CAPTURE(pending);
        CHECK(play(each, {nth, 100, 700, pending}).failed > 0);
      }
    }
  }
}
