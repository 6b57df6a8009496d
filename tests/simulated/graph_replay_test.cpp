// Without these: a thousand replays could give one time, or the times of each other.

#include <optional>
#include <thread>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

/// Graphs of one shape with these durations, for updates of one executable.
std::vector<timed_graph> graphs_of(replay_program const& its, std::vector<nanoseconds> const& durations) {
  std::vector<timed_graph> all;
  for (auto const duration : durations) all.push_back(its.graph_of(duration));
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "case-24 five launches back to back of bodies that an update changed give five times, in order") {
  replay_program its;
  auto const all = graphs_of(its, {1ms, 2ms, 3ms, 4ms, 5ms});
  sg::graph_replay replay{its.launches, all[0].executable, all[0].graph, its.stream};
  CHECK(replay.intervals() == 1);
  for (auto const& each : all) {
    update(all[0].executable, each.graph);
    REQUIRE(replay.launch() == cudaSuccess);
  }
  auto const recording = its.recorder.collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>{1ms, 2ms, 3ms, 4ms, 5ms});
  CHECK(series_of(recording, "launch").samples.size() == 5);
  check_no_problems(recording);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-24 a thousand launches over a pool of sixteen are right, every one that got events") {
  replay_program its;
  auto const step = its.graph_of(3ms);
  auto const other = its.graph_of(5ms);
  {
    sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
    for (int i = 0; i < 1000; ++i) {
      update(step.executable, i % 2 ? other.graph : step.graph);
      REQUIRE(replay.launch() == cudaSuccess);
      if (i % 3 == 0) wait_for(its.stream);  // up to two replays are under way
    }
  }
  auto const recording = its.recorder.collect();
  auto const times = device_times(series_of(recording, "inner"));
  REQUIRE(times.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) CHECK(times[i] == (i % 2 ? 5ms : 3ms));
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "beyond the pool replays are dropped and counted, and later ones are timed again") {
  replay_program its{4};
  auto const step = its.graph_of(3ms);  // three pairs are left, the one at the executable among them
  sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
  for (int i = 0; i < 10; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const full = its.recorder.collect();
  wait_for(its.stream);
  auto const longer = its.graph_of(7ms);
  update(step.executable, longer.graph);
  for (int i = 0; i < 2; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const recording = its.recorder.collect();
  auto const& samples = series_of(recording, "inner").samples;
  REQUIRE(samples.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    if (i < 3)
      CHECK(samples[i].device == 3ms);
    else if (i < 10)
      CHECK(missing(samples[i].device) == absence::pool_full);
    else
      CHECK(samples[i].device == 7ms);
  }
  check_no_problems(recording);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a relaunch before the last replay has ended, on one stream or two, never mixes their times") {
  replay_program its;
  auto const all = graphs_of(its, {30ms, 1ms, 20ms});
  cudaStream_t const second = new_stream();
  sg::graph_replay on_first{its.launches, all[0].executable, all[0].graph, its.stream};
  sg::graph_replay on_second{its.launches, all[1].executable, all[1].graph, second};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(on_first.launch() == cudaSuccess);
    REQUIRE(on_second.launch() == cudaSuccess);
    simulated::host_advance(7ms);
  }
  auto const times = device_times(series_of(its.recorder.collect(), "inner"));
  CHECK(times == std::vector<nanoseconds>{30ms, 1ms, 30ms, 1ms, 30ms, 1ms});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "plain phases in between take events from the same small pool, and every time stays right") {
  replay_program its{5};
  sg::phase const plain{its.recorder, "plain"};
  cudaStream_t const other = new_stream();
  auto const step = its.graph_of(3ms);
  sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
  for (int i = 0; i < 200; ++i) {
    if (i % 4 != 3) REQUIRE(replay.launch() == cudaSuccess);
    {
      auto const scope = plain.enter(other);
      launch(other, 1us * (i + 1));
    }
    if (i % 7 == 0) wait_for(other);
    if (i % 11 == 0) wait_for(its.stream);
  }
  auto const recording = its.recorder.collect();
  std::size_t known = 0;
  for (auto const& each : series_of(recording, "inner").samples) {
    if (each.device.known())
      CHECK(each.device == 3ms);
    else
      CHECK(missing(each.device) == absence::pool_full);
    known += each.device.known() ? 1U : 0U;
  }
  CHECK(known > 20);
  auto const& samples = series_of(recording, "plain").samples;
  REQUIRE(samples.size() == 200);
  for (std::size_t i = 0; i < 200; ++i)
    if (samples[i].device.known()) CHECK(samples[i].device == 1us * static_cast<int>(i + 1));
  check_no_problems(recording);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "nested phases in one graph keep their order, their parents and the records inside") {
  replay_program its;
  sg::phase const outer{its.recorder, "outer", sg::in_graphs};
  auto const graph = captured(its.stream, [&] {
    auto const around = outer.enter(its.stream);
    launch(its.stream, 1ms);
    for (int i = 0; i < 2; ++i) {
      auto const scope = its.inner.enter(its.stream);
      launch(its.stream, 3ms * (i + 1));
    }
  });
  CHECK(kinds_in(graph) == std::vector<int>{7, 0, 7, 0, 7, 7, 0, 7, 7});
  auto const executable = made_of(graph);
  sg::graph_replay replay{its.launches, executable, graph, its.stream};
  CHECK(replay.intervals() == 3);
  for (int i = 0; i < 2; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const recording = its.recorder.collect();
  CHECK(device_times(series_of(recording, "outer")) == std::vector<nanoseconds>{10ms, 10ms});
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>{3ms, 6ms, 3ms, 6ms});
  for (auto const& each : series_of(recording, "outer").samples) {
    CHECK(recording.all.at(each.parent.value()).phase == "launch");
    CHECK(each.records_inside == 4);
    CHECK(missing(each.submit) == absence::not_asked);
    CHECK(missing(each.completion) == absence::not_asked);
  }
  for (auto const& each : series_of(recording, "inner").samples)
    CHECK(recording.all.at(each.parent.value()).phase == "outer");
  for (auto const& each : series_of(recording, "launch").samples) {
    CHECK(each.records_inside == 6);
    CHECK(missing(each.device) == absence::not_asked);
    CHECK(each.submit.known());
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an executable made from a clone is replayed with the clone as its graph") {
  replay_program its;
  auto const step = its.graph_of(3ms);
  cudaGraph_t clone = nullptr;
  {
    simulated::user_scope const user;
    REQUIRE(cudaGraphClone(&clone, step.graph) == cudaSuccess);
  }
  auto const of_clone = made_of(clone);
  sg::graph_replay original{its.launches, step.executable, step.graph, its.stream};
  sg::graph_replay replay{its.launches, of_clone, clone, its.stream};
  CHECK(replay.intervals() == 1);
  for (int i = 0; i < 3; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    REQUIRE(original.launch() == cudaSuccess);
  }
  auto const recording = its.recorder.collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(6, 3ms));
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "a captured graph inside another one is found there, two levels down") {
  replay_program its;
  auto const step = its.graph_of(3ms);
  cudaGraph_t parent = nullptr, grandparent = nullptr;
  {
    simulated::user_scope const user;
    cudaGraphNode_t node = nullptr;
    REQUIRE(cudaGraphCreate(&parent, 0) == cudaSuccess);
    REQUIRE(cudaGraphAddChildGraphNode(&node, parent, nullptr, 0, step.graph) == cudaSuccess);
    REQUIRE(cudaGraphCreate(&grandparent, 0) == cudaSuccess);
    REQUIRE(cudaGraphAddChildGraphNode(&node, grandparent, nullptr, 0, parent) == cudaSuccess);
  }
  auto const executable = made_of(grandparent);
  sg::graph_replay replay{its.launches, executable, grandparent, its.stream};
  CHECK(replay.intervals() == 1);
  for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  CHECK(device_times(series_of(its.recorder.collect(), "inner")) == std::vector<nanoseconds>(3, 3ms));
}

TEST_CASE_FIXTURE(fresh_machine,
                  "after an update the first graph stays the one, also where the graph's own events are used") {
  replay_program its{4};
  auto const first = its.graph_of(3ms);
  auto const second = its.graph_of(8ms);  // two pairs are left
  sg::phase const plain{its.recorder, "plain"};
  sg::graph_replay replay{its.launches, first.executable, first.graph, its.stream};
  cudaStream_t const held = new_stream();
  simulated::hold(held);
  for (int i = 0; i < 2; ++i) auto const scope = plain.enter(held);
  REQUIRE(replay.launch() == cudaSuccess);  // the pool is empty
  update(first.executable, second.graph);
  REQUIRE(replay.launch() == cudaSuccess);
  simulated::release(held);
  wait_for(held);
  wait_for(its.stream);
  REQUIRE(replay.launch() == cudaSuccess);
  auto const recording = its.recorder.collect();
  auto const& samples = series_of(recording, "inner").samples;
  REQUIRE(samples.size() == 3);
  CHECK(missing(samples[0].device) == absence::pool_full);
  CHECK(missing(samples[1].device) == absence::pool_full);
  CHECK(samples[2].device == 8ms);
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "captured on one thread, launched on others, read on a third") {
  replay_program its;
  auto const step = its.graph_of(3ms);
  std::optional<sg::graph_replay> replay;
  std::thread{[&] {
    replay.emplace(its.launches, step.executable, step.graph, its.stream);
    REQUIRE(replay->launch() == cudaSuccess);
  }}.join();
  std::thread{[&] {
    for (int i = 0; i < 2; ++i) REQUIRE(replay->launch() == cudaSuccess);
  }}.join();
  REQUIRE(replay->launch() == cudaSuccess);
  replay->wait();
  auto const recording = its.recorder.collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(4, 3ms));
  check_no_problems(recording);
}
