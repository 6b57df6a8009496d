// Without these: replays whose source graph is gone would give the times of the last one N times, or old ones.

#include <streamgauge/measure/graph_replay_by_wait.hpp>

#include <optional>
#include <thread>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

struct measured {
  cudaStream_t stream = new_stream();
  std::optional<sg::recorder> recorder{std::in_place, sg::mode::time, sg::capacity{1000, 16}};
  sg::phase launches{*recorder, "launch"};
  sg::phase inner{*recorder, "inner", sg::in_graphs};

  measured() { sg::prepare_capture(*recorder, stream); }

  /// An executable whose graph is gone.
  [[nodiscard]] cudaGraphExec_t orphan(nanoseconds work) const {
    timed_graph const step{inner, stream, work};
    simulated::user_scope const user;
    REQUIRE(cudaGraphDestroy(step.graph) == cudaSuccess);
    return step.executable;
  }
};

void check_missing(sg::series const& of, std::vector<absence> const& expected) {
  REQUIRE(of.samples.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(missing(of.samples[i].device) == expected[i]);
  }
}

constexpr absence known = absence::none;

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-24 a launch and a wait, five times over, give five times") {
  measured its;
  auto const executable = its.orphan(1ms);
  sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
  CHECK(replay.intervals() == 1);
  for (int i = 1; i <= 5; ++i) {
    simulated::set_record_duration(1us * i);  // so that each replay reads another time
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    replay.wait();
  }
  auto const recording = its.recorder->collect();
  CHECK(device_times(series_of(recording, "inner")) ==
        std::vector<nanoseconds>{1001us, 1002us, 1003us, 1004us, 1005us});
  CHECK(series_of(recording, "launch").samples.size() == 5);
  for (auto const& each : series_of(recording, "launch").samples) CHECK(each.records_inside == 4);
  for (auto const& each : series_of(recording, "inner").samples)
    CHECK(recording.all.at(each.parent.value()).phase == "launch");
  check_no_problems(recording);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "case-24 five launches and one wait give one time, and four are counted as unread") {
  simulated::set_poll_step(0ns);
  measured its;
  auto const executable = its.orphan(5ms);
  sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
  for (int i = 0; i < 5; ++i) REQUIRE(replay.launch() == cudaSuccess);
  check_missing(series_of(its.recorder->collect(), "inner"),
                {absence::unread, absence::unread, absence::unread, absence::unread, absence::still_open});
  launch(its.stream, 100ms);  // behind the launch: not waited for
  auto const before = simulated::host_now();
  replay.wait();
  CHECK(simulated::host_now() - before == 25ms);
  auto const recording = its.recorder->collect();
  check_missing(series_of(recording, "inner"),
                {absence::unread, absence::unread, absence::unread, absence::unread, known});
  CHECK(series_of(recording, "inner").samples.back().device == 5ms);
  check_no_problems(recording);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "an executable that does not hold the pair never gives an old time") {
  measured its;
  auto const executable = its.orphan(5ms);
  cudaStream_t const other = new_stream();
  auto const bare = captured(other, [&] { launch(other, 2ms); });
  auto const without = made_of(bare);
  {
    sg::graph_replay_by_wait replay{its.launches, without, its.stream, {its.inner}};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();  // never recorded
    sg::graph_replay_by_wait right{its.launches, executable, its.stream, {its.inner}};
    REQUIRE(right.launch() == cudaSuccess);
    right.wait();
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();  // recorded by the launch before
  }
  auto const recording = its.recorder->collect();
  check_missing(series_of(recording, "inner"), {absence::not_replayed, known, absence::not_replayed});
  check_no_problems(recording);
}

TEST_CASE_FIXTURE(fresh_machine, "the latest capture of a phase is the one that is meant, on whatever thread it was") {
  measured its;
  auto const first = its.orphan(5ms);
  cudaGraphExec_t second = nullptr;
  std::thread{[&] {
    simulated::host_advance(1us);
    sg::prepare_capture(*its.recorder, its.stream);
    second = its.orphan(3ms);
  }}.join();
  sg::phase const never{*its.recorder, "never", sg::in_graphs};
  sg::graph_replay_by_wait replay{its.launches, second, its.stream, {its.inner, never}};
  CHECK(replay.intervals() == 1);
  REQUIRE(replay.launch() == cudaSuccess);
  replay.wait();
  sg::graph_replay_by_wait old{its.launches, first, its.stream, {its.inner}};
  REQUIRE(old.launch() == cudaSuccess);
  old.wait();
  auto const recording = its.recorder->collect();
  check_missing(series_of(recording, "inner"), {known, absence::not_replayed});
  CHECK(series_of(recording, "inner").samples.front().device == 3ms);
  check_missing(series_of(recording, "never"), {absence::not_replayed});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "what was not waited for at the end is unread, and after the recorder nothing is touched") {
  measured its;
  auto const executable = its.orphan(5ms);
  {
    sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
    REQUIRE(replay.launch() == cudaSuccess);
  }
  check_missing(series_of(its.recorder->collect(), "inner"), {absence::unread});
  {
    sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
    REQUIRE(replay.launch() == cudaSuccess);
    its.recorder.reset();
    replay.wait();
    CHECK(replay.launch() == cudaSuccess);
    replay.wait();
  }
  CHECK(simulated::live_events() == 2);  // the graph may be launched again: its events go with the context
}

TEST_CASE_FIXTURE(fresh_machine, "launching and waiting break no capture, and a launch into one gives no sample") {
  for (auto const mode : every_mode) {
    simulated::reset();
    measured its;
    cudaStream_t const other = new_stream();
    auto const executable = its.orphan(5ms);
    sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
    begin_capture(other, mode);
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
    end_capture(other);
    auto const graph = captured(
        its.stream, [&] { CHECK(replay.launch() == cudaSuccess); }, mode);
    CHECK(kinds_in(graph) == std::vector<int>{4});
    auto const recording = its.recorder->collect();
    CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>{5ms});
    CHECK(series_of(recording, "launch").samples.size() == 2);
    check_no_problems(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "whichever call fails, the launch is the program's, and no time is wrong or lost") {
  for (bool const from_then_on : {false, true}) {
    for (std::size_t nth = 1; nth < 60; ++nth) {
      CAPTURE(nth);
      simulated::reset();
      measured its;
      auto const executable = its.orphan(5ms);
      leave_an_error_pending();
      sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
      for (std::size_t i = 0; i < (from_then_on ? 60U : 1U); ++i) simulated::fail_nth_call(nth + i, cudaErrorUnknown);
      std::size_t launched = 0;
      for (int i = 0; i < 3; ++i) {
        simulated::clear_log();
        cudaError_t const status = replay.launch();
        auto const log = simulated::log();
        for (auto const& each : log)
          if (std::string{each.name} == "cuGraphLaunch") CHECK(each.result == status);
        ++launched;
        replay.wait();
      }
      simulated::clear_injections();
      CHECK(pending_error() == cudaErrorInvalidValue);
      auto const recording = its.recorder->collect();
      auto const inner = series_of(recording, "inner");
      CHECK(inner.samples.size() == launched);
      for (auto const& each : inner.samples)
        CHECK((each.device == 5ms || sg::fate_of(missing(each.device)) != sg::fate::kept));
      check_accounts(recording);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "off it launches and does nothing else, and a launch allocates nothing") {
  cudaStream_t const stream = new_stream();
  sg::recorder off{sg::mode::off};
  sg::phase const launches{off, "launch"};
  sg::phase const inner{off, "inner", sg::in_graphs};
  auto const empty = made_of(captured(stream, [&] { launch(stream, 1ms); }));
  simulated::clear_log();
  {
    sg::graph_replay_by_wait replay{launches, empty, stream, {inner}};
    CHECK(replay.launch() == cudaSuccess);
    replay.wait();
  }
  CHECK(calls_of_ours() == names{"cuGraphLaunch"});
  measured its;
  auto const executable = its.orphan(5ms);
  sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
  REQUIRE(replay.launch() == cudaSuccess);
  auto const before = simulated::allocation_count();
  for (int i = 0; i < 100; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
  }
  CHECK(simulated::allocation_count() == before);
}

TEST_CASE_FIXTURE(
    fresh_machine,
    "what it launches itself is never reported as launched past it, also where it was not told of every phase") {
  measured its;
  sg::phase const untold{*its.recorder, "untold", sg::in_graphs};
  cudaGraphExec_t executable = nullptr;
  {
    auto const graph = captured(its.stream, [&] {
      auto const outer = untold.enter(its.stream);
      for (int i = 0; i < 2; ++i) {  // the same phase twice: the latest is read
        auto const scope = its.inner.enter(its.stream);
        launch(its.stream, i == 0 ? 3ms : 5ms);
      }
    });
    executable = made_of(graph);
  }
  sg::graph_replay_by_wait replay{its.launches, executable, its.stream, {its.inner}};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
  }
  auto const recording = its.recorder->collect();
  CHECK(device_times(series_of(recording, "inner")) == std::vector<nanoseconds>(3, 5ms));
  CHECK(series_of(recording, "untold").samples.empty());
  CHECK(recording.problems.empty());
}
