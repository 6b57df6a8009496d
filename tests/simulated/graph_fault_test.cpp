// Without these: misuse and faults around graphs would crash, hang, break a capture, or pass for numbers.

#include <thread>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

TEST_CASE_FIXTURE(fresh_machine,
                  "case-25 waiting for a phase inside a capture does not wait, says so, and the capture lives") {
  for (auto const mode : every_mode) {
    for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
      simulated::reset();
      replay_program its;
      simulated::clear_log();
      auto const graph = captured(
          its.stream,
          [&] {
            auto scope = its.inner.enter(its.stream);
            launch(its.stream, 5ms);
            scope.wait(policy);
          },
          mode);
      CHECK(simulated::count("cuEventQuery") == 0);
      CHECK(simulated::count("cuEventSynchronize") == 0);
      CHECK(kinds_in(graph) == std::vector<int>{7, 0, 7});
      auto const recording = its.recorder.collect();
      CHECK(problems_about(recording, "waited for inside a stream capture") == 1);
      CHECK(series_of(recording, "inner").samples.empty());
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-26 collecting on the same thread and on another breaks no capture") {
  for (auto const mode : every_mode) {
    simulated::reset();
    replay_program its;
    cudaStream_t const other = new_stream();
    timed_graph const step{its.inner, its.stream, 3ms};
    sg::graph_replay replay{its.launches, step.executable, step.graph, other};
    begin_capture(its.stream, mode);
    REQUIRE(replay.launch() == cudaSuccess);
    {
      auto const scope = its.inner.enter(its.stream);
      launch(its.stream, 1ms);
      std::thread{[&] {
        for (int i = 0; i < 3; ++i) static_cast<void>(its.recorder.collect());
      }}.join();
      REQUIRE(replay.launch() == cudaSuccess);
      replay.wait();
    }
    static_cast<void>(its.recorder.collect());
    CHECK(kinds_in(end_capture(its.stream)) == std::vector<int>{7, 0, 7});
    auto const recording = its.recorder.collect();
    CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>{3ms, 3ms});
    check_no_problems(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a phase begun inside a capture and ended after it, and the reverse, has no time and no problem") {
  for (bool const inside_first : {false, true}) {
    simulated::reset();
    replay_program its;
    cudaGraph_t graph = nullptr;
    if (inside_first) {
      begin_capture(its.stream);
      auto const scope = its.inner.enter(its.stream);
      launch(its.stream, 1ms);
      graph = end_capture(its.stream);
    } else {
      auto scope = its.inner.start(its.stream);
      begin_capture(its.stream);
      scope.stop();
      graph = end_capture(its.stream);
    }
    auto const executable = made_of(graph);
    sg::graph_replay replay{its.launches, executable, graph, its.stream};
    CHECK(replay.intervals() == 0);
    REQUIRE(replay.launch() == cudaSuccess);
    auto const recording = its.recorder.collect();
    CHECK(missing(sample_of(recording, "inner").device) == absence::stream_capture);
    check_no_problems(recording);
    check_accounts(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a capture that somebody else lost is told, and the last error stays the program's") {
  replay_program its;
  begin_capture(its.stream);
  {
    auto const before = its.inner.enter(its.stream);
    {
      simulated::user_scope const user;
      CHECK(cudaStreamSynchronize(its.stream) == cudaErrorStreamCaptureUnsupported);
      cudaGetLastError();
    }
    auto const after = its.inner.enter(its.stream);
  }
  CHECK(pending_error() == cudaSuccess);
  {
    simulated::user_scope const user;
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(its.stream, &graph) == cudaErrorStreamCaptureInvalidated);
    cudaGetLastError();
  }
  auto const recording = its.recorder.collect();
  REQUIRE(series_of(recording, "inner").samples.size() == 2);
  for (auto const& each : series_of(recording, "inner").samples) CHECK(missing(each.device) == absence::stream_capture);
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "an exception that leaves a phase inside a capture passes, and its sample is incomplete") {
  replay_program its;
  auto const graph = captured(its.stream, [&] {
    try {
      auto const scope = its.inner.enter(its.stream);
      launch(its.stream, 1ms);
      throw 7;
    } catch (int) {
    }
  });
  CHECK(kinds_in(graph) == std::vector<int>{7, 0});
  auto const executable = made_of(graph);
  sg::graph_replay replay{its.launches, executable, graph, its.stream};
  CHECK(replay.intervals() == 0);
  REQUIRE(replay.launch() == cudaSuccess);
  CHECK(missing(sample_of(its.recorder.collect(), "inner").device) == absence::body_threw);
}

TEST_CASE_FIXTURE(fresh_machine, "a graph that is gone, or none, makes the constructor throw and say so") {
  replay_program its;
  timed_graph const step{its.inner, its.stream, 3ms};
  {
    simulated::user_scope const user;
    REQUIRE(cudaGraphDestroy(step.graph) == cudaSuccess);
  }
  for (cudaGraph_t const graph : {step.graph, cudaGraph_t{nullptr}}) {
    try {
      sg::graph_replay const replay{its.launches, step.executable, graph, its.stream};
      FAIL_CHECK("nothing was thrown");
    } catch (sg::cuda_error const& error) {
      CHECK(error.status() == cudaErrorInvalidValue);
      CHECK(std::string{error.what()}.find("instantiated from") != std::string::npos);
    }
  }
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a graph that the executable did not come from gives no number, and launches all the same") {
  replay_program its;
  timed_graph const step{its.inner, its.stream, 3ms}, other{its.inner, its.stream, 5ms};
  {
    sg::graph_replay replay{its.launches, step.executable, other.graph, its.stream};
    for (int i = 0; i < 3; ++i) {
      auto const before = simulated::stream_end(its.stream);
      CHECK(replay.launch() == cudaSuccess);
      CHECK(simulated::stream_end(its.stream) - std::max(before, simulated::host_now()) == 3ms);
    }
    wait_for(its.stream);
  }
  auto const recording = its.recorder.collect();
  auto const samples = series_of(recording, "inner").samples;
  REQUIRE(samples.size() == 3);
  for (auto const& each : samples) CHECK(missing(each.device) == absence::call_failed);
  CHECK(problems_about(recording, "a CUDA call of the recorder failed") == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "a swap that fails half way costs samples, never a wrong one, and no event") {
  for (std::size_t nth = 1; nth <= 8; ++nth) {
    CAPTURE(nth);
    simulated::reset();
    {
      replay_program its;
      auto const graph = captured(its.stream, [&] {
        for (auto const work : {3ms, 5ms}) {
          auto const scope = its.inner.enter(its.stream);
          launch(its.stream, work);
        }
      });
      auto const executable = made_of(graph);
      {
        sg::graph_replay replay{its.launches, executable, graph, its.stream};
        simulated::fail_nth("cuGraphExecEventRecordNodeSetEvent", nth, cudaErrorUnknown);
        for (int i = 0; i < 4; ++i) {
          CHECK(replay.launch() == cudaSuccess);
          launch(its.stream, 1ms);
          if (i % 2) wait_for(its.stream);
        }
        CHECK(simulated::injected_failures() == 1);
      }
      sg::phase const plain{its.recorder, "plain"};
      for (int i = 0; i < 30; ++i) {
        {
          auto const scope = plain.enter(its.stream);
          launch(its.stream, 1ms);
        }
        launch_by_hand(executable, its.stream);  // whatever it records, it is no plain phase's
        wait_for(its.stream);
      }
      auto const recording = its.recorder.collect();
      auto const samples = series_of(recording, "inner").samples;
      REQUIRE(samples.size() == 8);
      for (std::size_t i = 0; i < 8; ++i)
        CHECK((samples[i].device == (i % 2 ? 5ms : 3ms) || missing(samples[i].device) == absence::call_failed));
      CHECK(device_times(series_of(recording, "plain")) == std::vector<nanoseconds>(30, 1ms));
      check_accounts(recording);
    }
    // Two pairs are the graph's; what it may record instead, once a swap has failed, is two more or, with those of the
    // launch before, four.
    CHECK(simulated::live_events() == (nth <= 4 ? 8 : 12));
  }
}
