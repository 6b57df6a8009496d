// Without these: a span in a graph could break the capture that it forks in, or give a wall that no replay had.

#include <optional>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

struct measured {
  cudaStream_t origin = new_stream(), side = new_stream(), third = new_stream();
  sg::recorder recorder{sg::mode::time, {1000, 64}};
  sg::phase launches{recorder, "launch"};
  sg::phase whole{recorder, "whole", sg::in_graphs};
  sg::phase part{recorder, "part", sg::in_graphs};
  sg::phase plain{recorder, "plain"};

  measured() { sg::prepare_capture(recorder, origin); }

  void work_in(sg::span& all, cudaStream_t stream, sg::phase const& of, nanoseconds work) const {
    auto const branch = all.branch(stream, of);
    launch(stream, work);
  }
  /// Launches the graph so often, without waiting, and returns what was recorded.
  sg::recording replayed(cudaGraph_t graph, int times, std::size_t intervals) {
    auto const executable = made_of(graph);
    {
      sg::graph_replay replay{launches, executable, graph, origin};
      CHECK(replay.intervals() == intervals);
      for (int i = 0; i < times; ++i) REQUIRE(replay.launch() == cudaSuccess);
    }
    auto recording = recorder.collect();
    check_no_problems(recording);
    check_accounts(recording);
    return recording;
  }
};

std::vector<nanoseconds> begins(std::vector<sg::sample> const& of) {
  std::vector<nanoseconds> all;
  for (auto const& each : of) all.push_back(each.begins.value().value_or(nanoseconds{-1}));
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-23 a joined fork of 5 and 20 inside a graph reads 20 at every replay") {
  for (auto const mode : every_mode) {
    simulated::reset();
    measured its;
    auto const events = simulated::events_created();
    simulated::clear_log();
    auto const graph = captured(
        its.origin,
        [&] {
          sg::span all{its.whole, sg::joined, its.origin};
          its.work_in(all, its.side, its.part, 5ms);
          its.work_in(all, its.third, its.part, 20ms);
        },
        mode);
    CHECK(simulated::events_created() == events);
    CHECK(simulated::count("cuEventRecordWithFlags") == 6);
    CHECK(simulated::count("cuEventRecord") == 3);
    CHECK(simulated::count("cuStreamWaitEvent") == 4);
    for (auto const* const never : {"cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime", "cuEventDestroy"})
      CHECK(simulated::count(never) == 0);
    CHECK(kinds_in(graph).size() == 8);  // six stamps and two kernels: an edge is no node
    auto const recording = its.replayed(graph, 20, 3);
    CHECK(device_times(series_of(recording, "whole")) == std::vector<nanoseconds>(20, 20ms));
    auto const parts = series_of(recording, "part");
    REQUIRE(parts.samples.size() == 40);
    for (std::size_t i = 0; i < 40; ++i) {
      CHECK(parts.samples[i].device == (i % 2 ? 20ms : 5ms));
      CHECK(parts.samples[i].begins == 0ns);
      CHECK(parts.samples[i].part == sg::span_part::branch);
      CHECK(parts.samples[i].span == series_of(recording, "whole").samples[i / 2].span);
      CHECK(recording.all.at(parts.samples[i].parent.value()).phase == "whole");
    }
    for (auto const& each : series_of(recording, "whole").samples) {
      CHECK(each.part == sg::span_part::whole);
      CHECK(recording.all.at(each.parent.value()).phase == "launch");
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "an observed fork inside a graph adds stamps alone, and its begins are exact over 100 replays") {
  measured its;
  begin_capture(its.origin);
  {
    sg::span all{its.whole};
    launch(its.origin, 2ms);
    edge(its.origin, its.side);
    its.work_in(all, its.origin, its.part, 1ms);
    edge(its.origin, its.third);
    its.work_in(all, its.side, its.part, 6ms);
    its.work_in(all, its.third, its.part, 9ms);
    edge(its.side, its.origin);
    edge(its.third, its.origin);
    launch(its.origin, 3ms);
  }
  auto const graph = end_capture(its.origin);
  CHECK(kinds_in(graph).size() == 6 + 5);
  // origin from 0 to 1, side from 0 to 6, third from 1 to 10
  auto const recording = its.replayed(graph, 15, 3);
  CHECK(device_times(series_of(recording, "whole")) == std::vector<nanoseconds>(15, 10ms));
  auto const parts = series_of(recording, "part").samples;
  REQUIRE(parts.size() == 45);
  for (std::size_t i = 0; i < 45; i += 3) {
    CHECK(begins({parts[i], parts[i + 1], parts[i + 2]}) == std::vector<nanoseconds>{0ms, 0ms, 1ms});
    CHECK(parts[i].device == 1ms);
    CHECK(parts[i + 1].device == 6ms);
    CHECK(parts[i + 2].device == 9ms);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-23 a branch that is left behind the program's own join is unjoined work to CUDA") {
  measured its;
  begin_capture(its.origin);
  edge(its.origin, its.side);
  {
    sg::span all{its.whole};
    auto const branch = all.branch(its.side, its.part);
    launch(its.side, 5ms);
    edge(its.side, its.origin);
  }
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(its.origin, &graph) == cudaErrorStreamCaptureUnjoined);
  CHECK(cudaGetLastError() == cudaErrorStreamCaptureUnjoined);
}

TEST_CASE_FIXTURE(fresh_machine, "a fork from a fork, joined in turn, and streams that are only listed") {
  measured its;
  auto const graph = captured(its.origin, [&] {
    sg::span all{its.whole, sg::joined, its.origin};
    auto const first = all.branch(its.side, its.part);
    launch(its.side, 4ms);
    {
      sg::span inside{its.whole, sg::joined, its.side};
      its.work_in(inside, its.third, its.part, 7ms);
      its.work_in(inside, its.side, its.part, 1ms);
    }
    launch(its.side, 2ms);
  });
  auto const recording = its.replayed(graph, 10, 5);
  auto const wholes = series_of(recording, "whole").samples;
  REQUIRE(wholes.size() == 20);
  std::size_t outer = 0, inner = 0;
  for (auto const& each : wholes) {
    outer += each.device == 13ms ? 1U : 0U;
    inner += each.device == 7ms ? 1U : 0U;
  }
  CHECK(outer == 10);
  CHECK(inner == 10);
  sg::phase const listed{its.recorder, "listed", sg::in_graphs};
  auto const second = captured(its.origin, [&] {
    sg::span const all{listed, {its.origin}};
    launch(its.origin, 8ms);
  });
  auto const executable = made_of(second);
  sg::graph_replay replay{its.launches, executable, second, its.origin};
  for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const after = its.recorder.collect();
  CHECK(device_times(series_of(after, "listed")) == std::vector<nanoseconds>(3, 8ms));
  check_no_problems(after);
}

TEST_CASE_FIXTURE(fresh_machine, "two spans in one graph stay apart, over 100 replays with few events") {
  measured its;
  auto const graph = captured(its.origin, [&] {
    for (auto const work : {3ms, 11ms}) {
      sg::span all{its.whole, sg::isolated, its.origin, {its.side}};
      its.work_in(all, its.side, its.part, work);
      its.work_in(all, its.origin, its.part, 1ms);
    }
  });
  CHECK(kinds_in(graph).size() == 2 * (6 + 2));
  auto const executable = made_of(graph);
  sg::graph_replay replay{its.launches, executable, graph, its.origin};
  for (int i = 0; i < 100; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    if (i % 3 == 2) wait_for(its.origin);
  }
  auto const recording = its.recorder.collect();
  check_no_problems(recording);
  auto const wholes = device_times(series_of(recording, "whole"));
  REQUIRE(wholes.size() == 200);
  for (std::size_t i = 0; i < 200; ++i) CHECK(wholes[i] == (i % 2 ? 11ms : 3ms));
  CHECK(device_times(series_of(recording, "part")).size() == 400);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a span whose branches are not declared counts in the capture, and so does the reverse") {
  for (bool const joins : {false, true}) {
    CAPTURE(joins);
    simulated::reset();
    measured its;
    sg::phase const undeclared{its.recorder, "undeclared"};
    auto const play = [&](sg::phase const& whole, sg::phase const& part) {
      begin_capture(its.origin);
      {
        std::optional<sg::span> all;
        joins ? all.emplace(whole, sg::joined, its.origin) : all.emplace(whole);
        its.work_in(*all, its.origin, part, 5ms);
      }
      return end_capture(its.origin);
    };
    auto const graph = play(its.whole, its.plain);
    auto const first = its.recorder.collect();
    CHECK(missing(sample_of(first, "whole").device) == absence::stream_capture);
    CHECK(missing(sample_of(first, "plain").device) == absence::stream_capture);
    play(undeclared, its.part);
    auto const second = its.recorder.collect();
    if (joins) {
      CHECK(missing(sample_of(second, "undeclared").device) == absence::stream_capture);
      CHECK(missing(sample_of(second, "part").device) == absence::stream_capture);
    }
    check_no_problems(second);
    check_accounts(second);
    launch_by_hand(made_of(graph), its.origin);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an observed span that is half in a capture counts, and disturbs neither half") {
  measured its;
  begin_capture(its.origin);
  {
    sg::span all{its.whole};
    its.work_in(all, its.origin, its.part, 1ms);
    its.work_in(all, its.third, its.part, 2ms);  // not captured
  }
  auto const graph = end_capture(its.origin);
  CHECK(simulated::count("cuStreamWaitEvent") == 0);
  CHECK(simulated::stream_end(its.third) == simulated::host_now() + 2ms);
  auto const recording = its.recorder.collect();
  CHECK(missing(sample_of(recording, "whole").device) == absence::stream_capture);
  CHECK(missing(sample_of(recording, "part").device) == absence::stream_capture);
  check_no_problems(recording);
  launch_by_hand(made_of(graph), its.origin);
}

TEST_CASE_FIXTURE(fresh_machine, "waiting for a span inside a capture does not wait, says so, and the capture lives") {
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    simulated::reset();
    measured its;
    simulated::clear_log();
    auto const graph = captured(its.origin, [&] {
      sg::span all{its.whole, sg::joined, its.origin};
      its.work_in(all, its.side, its.part, 5ms);
      all.wait(policy);
    });
    CHECK(simulated::count("cuEventQuery") == 0);
    CHECK(simulated::count("cuEventSynchronize") == 0);
    CHECK(problems_about(its.recorder.collect(), "waited for inside a stream capture") == 1);
    auto const executable = made_of(graph);
    sg::graph_replay replay{its.launches, executable, graph, its.origin};
    REQUIRE(replay.launch() == cudaSuccess);
    CHECK(sample_of(its.recorder.collect(), "whole").device == 5ms);
  }
}
