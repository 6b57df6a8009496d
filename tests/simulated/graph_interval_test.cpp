// Without these: declaring a phase for graphs could break the capture that it is in, or leave nodes that nobody asked for.

#include <set>
#include <thread>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

constexpr sg::capacity small_pool{1000, 8};

/// What a capture may see of ours: questions and records.
void check_only_questions_and_records() {
  std::set<std::string> const allowed{"cuStreamGetCtx", "cuCtxGetId", "cuStreamIsCapturing", "cuEventRecordWithFlags"};
  for (auto const& name : calls_of_ours()) {
    CAPTURE(name);
    CHECK(allowed.count(name) == 1);
  }
}

void check_active(cudaStream_t stream) {
  simulated::user_scope const user;
  cudaStreamCaptureStatus status{};
  REQUIRE(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
}

}  // namespace

TEST_CASE_FIXTURE(
    fresh_machine,
    "case-22 case-25 a declared phase adds two record nodes and calls nothing but questions and records") {
  for (auto const mode : every_mode) {
    simulated::reset();
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    sg::phase const plain{recorder, "plain"};
    sg::prepare_capture(recorder, stream);
    { auto const first = plain.enter(stream); }  // a thread's first phase allocates
    leave_an_error_pending();
    begin_capture(stream, mode);
    simulated::clear_log();
    auto const events = simulated::events_created();
    auto const allocations = simulated::allocation_count();
    {
      auto const scope = inner.enter(stream);
      launch(stream, 5ms);
      auto const nested = plain.enter(stream);
    }
    CHECK(simulated::allocation_count() == allocations);
    CHECK(simulated::events_created() == events);
    CHECK(simulated::count("cuEventRecordWithFlags") == 2);
    CHECK(simulated::count("cuEventRecord") == 0);
    check_only_questions_and_records();
    check_active(stream);
    CHECK(kinds_in(end_capture(stream)) == std::vector<int>{7, 0, 7});
    CHECK(pending_error() == cudaErrorInvalidValue);
    {
      auto const outside = inner.enter(stream);
      launch(stream, 3ms);
    }
    auto const recording = recorder.collect();
    CHECK(sample_of(recording, "inner").device == 3ms);  // the capture itself is no sample
    auto const plain_ones = series_of(recording, "plain").samples;
    REQUIRE(plain_ones.size() == 2);
    CHECK(plain_ones[0].device == 0ns);
    CHECK(missing(plain_ones[1].device) == absence::stream_capture);
    check_no_problems(recording);
    check_accounts(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-22 before the first launch there is no sample, and after one by hand still none") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const step{inner, stream, 7ms};
  auto const before = recorder.collect();
  CHECK(series_of(before, "inner").samples.empty());
  check_no_problems(before);
  launch_by_hand(step.executable, stream);
  wait_for(stream);
  auto const after = recorder.collect();
  CHECK(series_of(after, "inner").samples.empty());
  CHECK(unseen(after) == 1);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a capture that nothing was prepared for lives, and its phase is counted with that reason") {
  for (auto const mode : every_mode) {
    simulated::reset();
    cudaStream_t const stream = new_stream();
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    auto const events = simulated::events_created();
    auto const graph = captured(
        stream,
        [&] {
          simulated::clear_log();
          auto const scope = inner.enter(stream);
          launch(stream, 5ms);
          simulated::host_advance(2us);
        },
        mode);
    check_only_questions_and_records();
    CHECK(simulated::events_created() == events);
    CHECK(kinds_in(graph) == std::vector<int>{0});
    auto const recording = recorder.collect();
    CHECK(missing(sample_of(recording, "inner").device) == absence::not_prepared);
    CHECK(sample_of(recording, "inner").submit == 2us);
    check_no_problems(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a phase that was entered outside before has prepared the capture") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  { auto const outside = inner.enter(stream); }
  timed_graph const step{inner, stream, 5ms};
  CHECK(kinds_in(step.graph) == std::vector<int>{7, 0, 7});
}

TEST_CASE_FIXTURE(fresh_machine, "preparing makes room also where finished intervals were not read back yet") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  for (int i = 0; i < 8; ++i) {
    auto const outside = inner.enter(stream);
    launch(stream, 1ms);
  }
  wait_for(stream);
  sg::prepare_capture(recorder, stream);
  timed_graph const step{inner, stream, 5ms};
  CHECK(kinds_in(step.graph) == std::vector<int>{7, 0, 7});
  CHECK(device_times(series_of(recorder.collect(), "inner")) == std::vector<nanoseconds>(8, 1ms));
}

TEST_CASE_FIXTURE(fresh_machine, "a capture that takes more pairs than the pool has keeps the rest with that reason") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, {1000, 2}};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  auto const three = [&] {
    for (int i = 0; i < 3; ++i) auto const scope = inner.enter(stream);
  };
  CHECK(kinds_in(captured(stream, three)) == std::vector<int>{7, 7, 7, 7});
  CHECK(kinds_in(captured(stream, three)).empty());
  sg::prepare_capture(recorder, stream);
  CHECK(kinds_in(captured(stream, three)) == std::vector<int>{7, 7, 7, 7});
  auto const recording = recorder.collect();
  CHECK(series_of(recording, "inner").samples.size() == 5);
  for (auto const& each : series_of(recording, "inner").samples) CHECK(missing(each.device) == absence::pool_full);
  check_accounts(recording);
}

TEST_CASE_FIXTURE(
    fresh_machine,
    "fifty captures in a row, each prepared, never run out of events, and only those of the graphs stay") {
  cudaStream_t const stream = new_stream();
  {
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const inner{recorder, "inner", sg::in_graphs};
    for (int i = 0; i < 50; ++i) {
      sg::prepare_capture(recorder, stream);
      CHECK(kinds_in(timed_graph{inner, stream, 1ms}.graph) == std::vector<int>{7, 0, 7});
    }
    CHECK(series_of(recorder.collect(), "inner").samples.empty());
    // 8 pairs and their edges in turn, 50 pairs with their edges at graphs, and the event to sleep on.
    CHECK(simulated::live_events() == 2 * (7 + 50) + (7 + 50) + 1);
  }
  CHECK(simulated::live_events() == 2 * 50);  // what graphs record goes with the context
}

TEST_CASE_FIXTURE(fresh_machine, "preparing inside a capture does nothing and harms nothing") {
  for (auto const mode : every_mode) {
    for (bool const prepared : {false, true}) {
      simulated::reset();
      cudaStream_t const stream = new_stream();
      sg::recorder recorder{sg::mode::time, small_pool};
      sg::phase const inner{recorder, "inner", sg::in_graphs};
      if (prepared) sg::prepare_capture(recorder, stream);
      begin_capture(stream, mode);
      simulated::clear_log();
      sg::prepare_capture(recorder, stream);
      check_only_questions_and_records();
      { auto const scope = inner.enter(stream); }
      check_active(stream);
      CHECK(kinds_in(end_capture(stream)).size() == (prepared ? 2 : 0));
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "what one thread prepared is not there for another, which counts instead") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  std::thread{[&] {
    CHECK(kinds_in(timed_graph{inner, stream, 1ms}.graph) == std::vector<int>{0});
    sg::prepare_capture(recorder, stream);
    CHECK(kinds_in(timed_graph{inner, stream, 1ms}.graph) == std::vector<int>{7, 0, 7});
  }}.join();
  CHECK(missing(sample_of(recorder.collect(), "inner").device) == absence::not_prepared);
}

TEST_CASE_FIXTURE(fresh_machine, "the legacy and the per-thread stream: the one is refused, the other is captured") {
  make_context();
  cudaStream_t const blocking = new_stream(cudaStreamDefault);
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, blocking);
  begin_capture(blocking);
  { auto const scope = inner.enter(cudaStreamLegacy); }
  check_active(blocking);
  CHECK(kinds_in(end_capture(blocking)).empty());
  timed_graph const own{inner, cudaStreamPerThread, 5ms};
  CHECK(kinds_in(own.graph) == std::vector<int>{7, 0, 7});
  CHECK(missing(sample_of(recorder.collect(), "inner").device) == absence::capture_elsewhere);
}
