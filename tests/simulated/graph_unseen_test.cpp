// Without these: replays that nobody told of would be missing from a recording that looks complete.

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

struct measured : replay_program {
  timed_graph step = graph_of(3ms);

  void by_hand() const { launch_by_hand(step.executable, stream); }
  /// So many samples, all right, and the problem said once or not at all.
  void expect(std::size_t samples, bool reported) {
    auto const recording = recorder.collect();
    CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(samples, 3ms));
    CHECK(unseen(recording) == (reported ? 1 : 0));
    check_accounts(recording);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a launch by hand before the replay exists is reported, done or still pending") {
  for (bool const done : {false, true}) {
    simulated::reset();
    measured its;
    its.by_hand();
    if (done) wait_for(its.stream);
    sg::graph_replay replay{its.launches, its.step.executable, its.step.graph, its.stream};
    its.expect(0, true);
    REQUIRE(replay.launch() == cudaSuccess);
    its.expect(1, true);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a launch by hand between two launches is reported, and gives no sample") {
  for (bool const pending : {false, true}) {
    simulated::reset();
    measured its;
    sg::graph_replay replay{its.launches, its.step.executable, its.step.graph, its.stream};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    launch(its.stream, 1us);
    auto const other = timed_graph{its.inner, its.stream, 8ms};
    update(its.step.executable, other.graph);
    launch_by_hand(its.step.executable, its.stream);  // the update brought the other graph's own events
    if (!pending) wait_for(its.stream);
    update(its.step.executable, its.step.graph);
    REQUIRE(replay.launch() == cudaSuccess);
    its.expect(2, true);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a launch by hand that records the events of the last launch again is reported") {
  for (bool const pending : {false, true}) {
    simulated::reset();
    measured its;
    sg::graph_replay replay{its.launches, its.step.executable, its.step.graph, its.stream};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    simulated::set_record_duration(1us);  // the same work reads another time now
    its.by_hand();
    if (!pending) wait_for(its.stream);
    simulated::set_record_duration(0us);
    REQUIRE(replay.launch() == cudaSuccess);
    its.expect(2, true);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a launch by hand while the replay lives is reported at its end, and one after it at collecting") {
  measured its;
  {
    sg::graph_replay replay{its.launches, its.step.executable, its.step.graph, its.stream};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    its.by_hand();
  }
  its.expect(1, true);

  simulated::reset();
  measured other;
  {
    sg::graph_replay replay{other.launches, other.step.executable, other.step.graph, other.stream};
    REQUIRE(replay.launch() == cudaSuccess);
  }
  other.expect(1, false);
  other.by_hand();
  wait_for(other.stream);
  other.expect(1, true);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a launch by hand of a graph that was never replayed is reported, pending or done, once") {
  for (bool const done : {false, true}) {
    simulated::reset();
    measured its;
    its.by_hand();
    if (done) wait_for(its.stream);
    its.expect(0, true);
    wait_for(its.stream);
    its.expect(0, true);
    auto const problems = its.recorder.collect().problems;
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].phase == "inner");
    CHECK(problems[0].count == 1);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "events that phases used before their capture are no sign of a launch") {
  for (bool const failed : {false, true}) {
    simulated::reset();
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{sg::mode::time, {1000, 2}};
    sg::phase const launches{recorder, "launch"};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    for (int i = 0; i < 4; ++i) {
      {
        auto const scope = inner.enter(stream);
        launch(stream, 1ms);
        if (failed) simulated::fail_nth("cuEventElapsedTime", 1, cudaErrorUnknown);
      }
      wait_for(stream);
    }
    static_cast<void>(recorder.collect());
    simulated::clear_injections();
    timed_graph const step{inner, stream, 3ms};
    CHECK(kinds_in(step.graph).size() == 3);
    CHECK(unseen(recorder.collect()) == 0);
    sg::graph_replay replay{launches, step.executable, step.graph, stream};
    REQUIRE(replay.launch() == cudaSuccess);
    auto const recording = recorder.collect();
    CHECK(unseen(recording) == 0);
    CHECK(series_of(recording, "inner").samples.back().device == 3ms);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "where the graph's own events stood in for the pool, a later launch by hand is still seen") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, {1000, 2}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const step{inner, stream, 3ms};
  {
    sg::graph_replay replay{launches, step.executable, step.graph, stream};
    for (int i = 0; i < 5; ++i) REQUIRE(replay.launch() == cudaSuccess);
    CHECK(unseen(recorder.collect()) == 0);
    wait_for(stream);
    CHECK(unseen(recorder.collect()) == 0);
  }
  CHECK(unseen(recorder.collect()) == 0);
  launch_by_hand(step.executable, stream);
  CHECK(unseen(recorder.collect()) == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "a launch by hand never records events that a phase has by now") {
  measured its;
  sg::phase const plain{its.recorder, "plain"};
  cudaStream_t const other = new_stream();
  sg::graph_replay replay{its.launches, its.step.executable, its.step.graph, its.stream};
  for (int i = 0; i < 40; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    {
      auto const first = plain.enter(other);
      auto const second = plain.enter(other);
      launch(other, 1ms);
    }
    its.by_hand();  // behind the phases' records, before they are read
    wait_for(other);
    wait_for(its.stream);
  }
  auto const recording = its.recorder.collect();
  CHECK(device_times(series_of(recording, "plain")) == std::vector<nanoseconds>(80, 1ms));
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(40, 3ms));
}
