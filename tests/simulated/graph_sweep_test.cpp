// Fails each CUDA call of each scenario around graphs in turn. Whatever fails: no crash, no leak, no lost sample, no wrong
// number, the program's launch answered as CUDA answered it, and the program's own error as it was.

#include <streamgauge/measure/graph_replay_by_wait.hpp>

#include <algorithm>
#include <functional>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;

namespace {

/// The program that is measured, and what it has to expect.
struct program {
  cudaStream_t stream = new_stream(), side = new_stream();

  /// A capture that may lose its stamps, and itself only where an edge that leads back could not be made.
  template <class Body>
  [[nodiscard]] cudaGraph_t capture(Body body) const {
    begin_capture(stream);
    simulated::clear_log();
    body();
    bool edge_failed = false;
    for (auto const& each : simulated::log()) {
      std::string const name = each.name;
      bool const of_edge = name == "cuStreamWaitEvent" || name == "cuEventRecord" || name == "cuCtxGetId" ||
                           name == "cuStreamIsCapturing" || name == "cuStreamGetCtx";
      edge_failed = edge_failed || (of_edge && each.result != 0);
    }
    simulated::user_scope const user;
    cudaGraph_t graph = nullptr;
    cudaError_t const pending = cudaPeekAtLastError();
    cudaError_t const ended = cudaStreamEndCapture(stream, &graph);
    if (ended != cudaSuccess) cudaGetLastError();
    if (ended != cudaSuccess && pending != cudaSuccess) leave_an_error_pending();
    CHECK((ended == cudaSuccess || (ended == cudaErrorStreamCaptureUnjoined && edge_failed)));
    return ended == cudaSuccess ? graph : captured(stream, [] {});
  }
  static sg::recording read(sg::recorder& recorder) {
    simulated::user_scope const user;
    return recorder.collect();
  }
  static void expect(sg::recording const& taken, char const* phase, std::vector<nanoseconds> const& possible) {
    for (auto const& each : samples_of(taken, phase)) {
      auto const device = sg::fate_of(missing(each.device));
      CHECK((device == sg::fate::kept || device == sg::fate::dropped));
      if (each.device.known()) CHECK(std::count(possible.begin(), possible.end(), each.device.value().value()) > 0);
      if (each.begins.known()) CHECK(each.begins == 0ns);
    }
  }
};

/// Launches; CUDA's answer is what the program gets.
template <class Replay>
void launch_checked(Replay& replay) {
  simulated::clear_log();
  cudaError_t const answered = replay.launch();
  cudaError_t last = cudaSuccess;
  std::size_t launches = 0;
  for (auto const& each : simulated::log()) {
    if (std::string{each.name} != "cuGraphLaunch") continue;
    last = static_cast<cudaError_t>(each.result);
    ++launches;
  }
  // Where the driver's function could not even be looked up, nothing was launched and the answer says so.
  if (launches > 0)
    CHECK(answered == last);
  else
    CHECK(answered != cudaSuccess);
}

struct scenario {
  char const* name;
  std::size_t of_graphs;  ///< events that a graph records: they go with the context
  std::function<void(program&)> play;
};

std::vector<scenario> every_scenario() {
  return {
      {"two phases, captured and replayed", 4,
       [](program& its) {
         sg::recorder recorder{sg::mode::time, {1000, 8}};
         sg::phase const launches{recorder, "launch"};
         sg::phase const inner{recorder, "inner", sg::in_graphs};
         sg::prepare_capture(recorder, its.stream);
         auto const graph = its.capture([&] {
           for (auto const work : {3ms, 5ms}) {
             auto const scope = inner.enter(its.stream);
             launch(its.stream, work);
           }
         });
         auto const executable = made_of(graph);
         bool told_apart = true;
         try {
           sg::graph_replay replay{launches, executable, graph, its.stream};
           told_apart = replay.intervals() > 0;  // where the driver's functions were not found, it only launches
           for (int i = 0; i < 4; ++i) {
             launch_checked(replay);
             launch(its.stream, 1ms);
             if (i == 1) wait_for(its.stream);
             if (i == 2) replay.wait();
           }
         } catch (sg::cuda_error const&) {
         }
         auto const taken = program::read(recorder);
         program::expect(taken, "inner", {3ms, 5ms});
         check_accounts(taken);
         if (told_apart) CHECK(unseen(taken) == 0);
       }},
      {"a joined span, replayed beyond the pool, with plain phases in between", 4,
       [](program& its) {
         sg::recorder recorder{sg::mode::time, {1000, 7}};
         sg::phase const launches{recorder, "launch"};
         sg::phase const whole{recorder, "whole", sg::in_graphs};
         sg::phase const part{recorder, "part", sg::in_graphs};
         sg::phase const plain{recorder, "plain"};
         sg::prepare_capture(recorder, its.stream);
         auto const graph = its.capture([&] {
           sg::span all{whole, sg::joined, its.stream};
           auto const branch = all.branch(its.side, part);
           launch(its.side, 5ms);
         });
         auto const executable = made_of(graph);
         try {
           sg::graph_replay replay{launches, executable, graph, its.stream};
           for (int i = 0; i < 4; ++i) {
             launch_checked(replay);
             auto const scope = plain.enter(its.side);
             launch(its.side, 1ms);
           }
           wait_for(its.stream);
           launch_checked(replay);
         } catch (sg::cuda_error const&) {
         }
         auto const taken = program::read(recorder);
         program::expect(taken, "whole", {5ms});
         program::expect(taken, "part", {5ms});
         program::expect(taken, "plain", {1ms});
         check_accounts(taken);
       }},
      {"one sample for each wait", 2,
       [](program& its) {
         sg::recorder recorder{sg::mode::time, {1000, 8}};
         sg::phase const launches{recorder, "launch"};
         sg::phase const inner{recorder, "inner", sg::in_graphs};
         sg::prepare_capture(recorder, its.stream);
         timed_graph const step{inner, its.stream, 3ms};
         try {
           sg::graph_replay_by_wait replay{launches, step.executable, its.stream, {inner}};
           for (int i = 0; i < 4; ++i) {
             launch_checked(replay);
             if (i % 2) replay.wait();
           }
         } catch (sg::cuda_error const&) {
         }
         auto const taken = program::read(recorder);
         program::expect(taken, "inner", {3ms});
         check_accounts(taken);
         CHECK(unseen(taken) == 0);
       }},
  };
}

/// Plays a scenario with `how_many` calls failing from the n-th on; how many did fail.
std::size_t play(scenario const& each, std::size_t nth, std::size_t how_many, int status, bool error_pending) {
  simulated::reset();
  sg::the_driver.found.store(false);
  sg::the_graph_api.found.store(false);
  std::size_t failed = 0;
  {
    program its;
    if (error_pending) leave_an_error_pending();
    for (std::size_t i = 0; nth > 0 && i < how_many; ++i) simulated::fail_nth_call(nth + i, status);
    each.play(its);
    failed = simulated::injected_failures();
    simulated::clear_injections();
  }
  for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK("fatal misuse: " << misuse);
  simulated::clear_fatal_misuses();
  cudaError_t const pending = pending_error();
  // A failing look-up is a call of the runtime, which alone overwrites the pending error.
  if (error_pending)
    CHECK((pending == cudaErrorInvalidValue || pending == status));
  else
    CHECK(pending == cudaSuccess);
  return failed;
}

}  // namespace

TEST_CASE("every scenario around graphs is whole when nothing fails") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    CHECK(play(each, 0, 0, 0, true) == 0);
    CHECK(simulated::live_events() == each.of_graphs);
  }
}

TEST_CASE("case-32 whichever call around a graph fails, nothing crashes, is lost, is wrong or is overwritten") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    for (int const status : {999, 700, 901}) {
      for (bool const pending : {false, true}) {
        for (std::size_t nth = 1;; ++nth) {
          CAPTURE(nth);
          CAPTURE(status);
          CAPTURE(pending);
          if (play(each, nth, 1, status, pending) == 0) break;
        }
      }
    }
  }
}

TEST_CASE("case-32 from whichever call around a graph on everything fails, the same holds") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    for (std::size_t nth = 1;; ++nth) {
      CAPTURE(nth);
      if (play(each, nth, 200, 700, true) == 0) break;
    }
  }
}

TEST_CASE("after a failed call no event stays behind, but where the driver does not say that its context lives") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    for (auto const* const name : {"cuGraphExecEventRecordNodeSetEvent", "cuGraphLaunch", "cuEventRecordWithFlags",
                                   "cuEventRecord", "cuEventElapsedTime", "cuStreamWaitEvent", "cuStreamIsCapturing"}) {
      for (std::size_t nth = 1; nth < 20; ++nth) {
        CAPTURE(std::string{name});
        CAPTURE(nth);
        simulated::reset();
        program its;
        simulated::fail_nth(name, nth, cudaErrorUnknown);
        each.play(its);
        simulated::clear_injections();
        // Those of the graph, and what it may record instead where a swap failed.
        CHECK(simulated::live_events() % 2 == 0);
        CHECK(simulated::live_events() <= 3 * each.of_graphs);
      }
    }
  }
}
