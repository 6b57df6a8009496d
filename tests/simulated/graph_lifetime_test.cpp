// Without these: a device reset or a fork between a capture and its replays would touch dead events, which crashes.

#include "graph_program.hpp"
#include "own_process.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

TEST_CASE_FIXTURE(fresh_machine,
                  "a device reset between replays and collecting drops what was not read, and keeps what was") {
  replay_program its;
  timed_graph const step{its.inner, its.stream, 3ms};
  {
    sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    REQUIRE(replay.launch() == cudaSuccess);
    reset_device();
  }
  auto const recording = its.recorder.collect();
  auto const samples = series_of(recording, "inner").samples;
  REQUIRE(samples.size() == 2);
  CHECK(samples[0].device == 3ms);
  CHECK(missing(samples[1].device) == absence::context_gone);
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "after a device reset a replay touches no dead event, and a new capture works") {
  for (int const before : {0, 1}) {
    CAPTURE(before);
    simulated::reset();
    replay_program its;
    timed_graph const step{its.inner, its.stream, 3ms};
    {
      sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
      for (int i = 0; i < before; ++i) REQUIRE(replay.launch() == cudaSuccess);
      reset_device();
      make_context();
      simulated::clear_log();
      static_cast<void>(its.recorder.collect());
      CHECK(simulated::count("cuGraphExecEventRecordNodeSetEvent") == 0);
    }
    CHECK(simulated::count("cuGraphExecEventRecordNodeSetEvent") == 0);
    cudaStream_t const stream = new_stream();
    sg::prepare_capture(its.recorder, stream);
    timed_graph const next{its.inner, stream, 5ms};
    sg::graph_replay replay{its.launches, next.executable, next.graph, stream};
    CHECK(replay.intervals() == 1);
    REQUIRE(replay.launch() == cudaSuccess);
    auto const recording = its.recorder.collect();
    CHECK(series_of(recording, "inner").samples.back().device == 5ms);
    check_no_problems(recording);
    check_accounts(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "launching on the per-thread stream after a device reset drops the sample with that reason") {
  make_context();
  sg::recorder recorder{sg::mode::time, {1000, 16}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, cudaStreamPerThread);
  timed_graph const step{inner, cudaStreamPerThread, 3ms};
  {
    sg::graph_replay replay{launches, step.executable, step.graph, cudaStreamPerThread};
    REQUIRE(replay.launch() == cudaSuccess);
    reset_device();
    make_context();
    simulated::clear_log();
    static_cast<void>(replay.launch());
    CHECK(simulated::count("cuGraphExecEventRecordNodeSetEvent") == 0);
  }
  auto const recording = recorder.collect();
  auto const samples = series_of(recording, "inner").samples;
  REQUIRE(samples.size() == 2);
  for (auto const& each : samples) CHECK(missing(each.device) == absence::context_gone);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "in a forked child nothing of the parent's is touched, and the parent goes on") {
  replay_program its;
  timed_graph const step{its.inner, its.stream, 3ms};
  sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
  REQUIRE(replay.launch() == cudaSuccess);
  int const child = in_forked_child([&] {
    try {
      sg::graph_replay const another{its.launches, step.executable, step.graph, its.stream};
      return 1;
    } catch (sg::cuda_error const& error) {
      return error.status() == cudaErrorInitializationError ? 0 : 2;
    }
  });
  CHECK(child == 0);
  int const quiet = in_forked_child([&] {
    simulated::clear_log();
    static_cast<void>(replay.launch());
    replay.wait();
    for (auto const& each : simulated::log()) {
      std::string const name = each.name;
      if (name == "cuEventRecord" || name == "cuGraphExecEventRecordNodeSetEvent" || name == "cuEventElapsedTime")
        return 1;
    }
    return simulated::fatal_misuses().empty() ? 0 : 2;
  });
  CHECK(quiet == 0);
  REQUIRE(replay.launch() == cudaSuccess);
  CHECK(device_times(series_of(its.recorder.collect(), "inner")) == std::vector<nanoseconds>{3ms, 3ms});
}

TEST_CASE("a stream of another device has no time of this device's graph, and the graph launches") {
  simulated::machine_options two;
  two.devices = 2;
  fresh_machine const machine{two};
  replay_program its;
  timed_graph const step{its.inner, its.stream, 3ms};
  select_device(1);
  cudaStream_t const other = new_stream();
  {
    sg::graph_replay replay{its.launches, step.executable, step.graph, other};
    static_cast<void>(replay.launch());
  }
  auto const recording = its.recorder.collect();
  CHECK(missing(sample_of(recording, "inner").device) == absence::other_device);
  check_no_problems(recording);
  check_accounts(recording);
}
