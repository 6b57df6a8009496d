// Without these: what ends early, a handle, a replay or a recorder, could take a replay's events or its times with it.

#include <optional>

#include "graph_program.hpp"
#include "ranges_seen.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

constexpr sg::capacity small_pool{1000, 16};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "handles may end before the replays, and the replay before the recording") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  std::optional<sg::phase> launches{std::in_place, recorder, "launch"};
  std::optional<sg::phase> inner{std::in_place, recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const step{*inner, stream, 3ms};
  inner.reset();
  {
    sg::graph_replay replay{*launches, step.executable, step.graph, stream};
    launches.reset();
    for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  }
  auto const recording = recorder.collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(3, 3ms));
  CHECK(series_of(recording, "launch").samples.size() == 3);
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "after the recorder has ended a launch still launches, whenever that was") {
  cudaStream_t const stream = new_stream();
  std::size_t kept = 0;
  for (int const before : {0, 1, 3}) {
    CAPTURE(before);
    {
      std::optional<sg::recorder> recorder{std::in_place, sg::mode::time, small_pool};
      sg::phase const launches{*recorder, "launch"};
      sg::phase const inner{*recorder, "inner", sg::in_graphs};
      sg::prepare_capture(*recorder, stream);
      timed_graph const step{inner, stream, 3ms};
      sg::graph_replay replay{launches, step.executable, step.graph, stream};
      for (int i = 0; i < before; ++i) REQUIRE(replay.launch() == cudaSuccess);
      recorder.reset();
      auto const end = simulated::stream_end(stream);
      CHECK(replay.launch() == cudaSuccess);
      CHECK(simulated::stream_end(stream) - std::max(end, simulated::host_now()) == 3ms);
      replay.wait();
      sg::graph_replay late{launches, step.executable, step.graph, stream};
      CHECK(late.launch() == cudaSuccess);
    }
    // What the graph records, and what launches that were under way at the end record still, goes with the context.
    kept += 2 + 2 * static_cast<std::size_t>(before);
    CHECK(simulated::live_events() == kept);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "two replays of one executable, one after the other, take turns without a false report") {
  for (std::size_t const intervals : {std::size_t{16}, std::size_t{2}}) {
    CAPTURE(intervals);
    simulated::reset();
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{sg::mode::time, {1000, intervals}};
    sg::phase const launches{recorder, "launch"};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    sg::prepare_capture(recorder, stream);
    timed_graph const step{inner, stream, 3ms};  // of the small pool one pair is left: the graph's own are used in turn
    for (int turn = 0; turn < 3; ++turn) {
      sg::graph_replay replay{launches, step.executable, step.graph, stream};
      for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
      wait_for(stream);
    }
    auto const recording = recorder.collect();
    auto const& samples = series_of(recording, "inner").samples;
    REQUIRE(samples.size() == 9);
    std::size_t known = 0;
    for (auto const& each : samples) {
      known += each.device.known() ? 1U : 0U;
      if (each.device.known()) CHECK(each.device == 3ms);
    }
    CHECK(known >= (intervals == 16 ? 9 : 3));
    check_no_problems(recording);
    check_accounts(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "two executables of one graph share its own events without a false report") {
  for (std::size_t const intervals : {std::size_t{16}, std::size_t{3}}) {
    CAPTURE(intervals);
    simulated::reset();
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{sg::mode::time, {1000, intervals}};
    sg::phase const launches{recorder, "launch"};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    sg::prepare_capture(recorder, stream);
    timed_graph const step{inner, stream, 3ms};
    auto const second = made_of(step.graph);
    sg::graph_replay a{launches, step.executable, step.graph, stream};
    for (int i = 0; i < 4; ++i) REQUIRE(a.launch() == cudaSuccess);
    wait_for(stream);
    sg::graph_replay b{launches, second, step.graph, stream};
    for (int i = 0; i < 4; ++i) {
      REQUIRE(b.launch() == cudaSuccess);
      REQUIRE(a.launch() == cudaSuccess);
    }
    auto const recording = recorder.collect();
    for (auto const& each : series_of(recording, "inner").samples)
      CHECK((each.device == 3ms || missing(each.device) == absence::pool_full));
    check_no_problems(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a launch into a stream capture gives no sample, and its graph is replayed like any other") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const step{inner, stream, 3ms};
  sg::graph_replay replay{launches, step.executable, step.graph, stream};
  REQUIRE(replay.launch() == cudaSuccess);
  auto const around = captured(stream, [&] { CHECK(replay.launch() == cudaSuccess); });
  CHECK(kinds_in(around) == std::vector<int>{4});
  REQUIRE(replay.launch() == cudaSuccess);
  auto const outer = made_of(around);
  {
    sg::graph_replay replays{launches, outer, around, stream};
    CHECK(replays.intervals() == 1);
    REQUIRE(replays.launch() == cudaSuccess);
  }
  REQUIRE(replay.launch() == cudaSuccess);
  auto const recording = recorder.collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(4, 3ms));
  CHECK(series_of(recording, "launch").samples.size() == 5);
  CHECK(series_of(recording, "launch").samples[1].records_inside == 0);
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "off and marking, a replay launches and does nothing else") {
  for (auto const mode : {sg::mode::off, sg::mode::mark}) {
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{mode, small_pool};
    sg::phase const launches{recorder, "launch"};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    sg::prepare_capture(recorder, stream);
    timed_graph const step{inner, stream, 3ms};
    CHECK(kinds_in(step.graph) == std::vector<int>{0});
    simulated::clear_log();
    {
      sg::graph_replay replay{launches, step.executable, step.graph, stream};
      CHECK(replay.intervals() == 0);
      CHECK(replay.launch() == cudaSuccess);
      replay.wait();
    }
    CHECK(calls_of_ours() == names{"cuGraphLaunch"});
    CHECK(simulated::live_events() == 0);
    check_no_problems(recorder.collect());
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-29 the capture marks the inner phase once, and every launch opens the range of its own") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  ranges_seen::so_far.forget();
  timed_graph const step{inner, stream, 3ms};
  CHECK(ranges_seen::so_far.pushes == 1);
  CHECK(ranges_seen::so_far.pops == 1);
  sg::graph_replay replay{launches, step.executable, step.graph, stream};
  for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  CHECK(ranges_seen::so_far.pushes == 4);
  CHECK(ranges_seen::so_far.pops == 4);
  CHECK(ranges_seen::so_far.starts == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a launch allocates nothing once its thread has launched before") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, {5000, 16}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::phase const whole{recorder, "whole", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  auto const graph = captured(stream, [&] {
    {
      sg::span all{whole};
      auto const part = all.branch(stream, inner);
      launch(stream, 1ms);
    }
    auto const scope = inner.enter(stream);
    launch(stream, 1ms);
  });
  auto const executable = made_of(graph);
  sg::graph_replay replay{launches, executable, graph, stream};
  for (int i = 0; i < 20; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const before = simulated::allocation_count();
  auto const events = simulated::events_created();
  for (int i = 0; i < 200; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    wait_for(stream);
  }
  CHECK(simulated::allocation_count() == before);
  CHECK(simulated::events_created() == events);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a wait covers what stands behind the last phase of the graph, and a graph without any") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  for (bool const measured : {true, false}) {
    CAPTURE(measured);
    auto const graph = captured(stream, [&] {
      if (measured) {
        auto const scope = inner.enter(stream);
        launch(stream, 1ms);
      }
      launch(stream, 50ms);
    });
    sg::graph_replay replay{launches, made_of(graph), graph, stream};
    REQUIRE(replay.launch() == cudaSuccess);
    CHECK(simulated::stream_end(stream) > simulated::host_now());
    replay.wait();
    CHECK(simulated::stream_end(stream) <= simulated::host_now());
  }
}
