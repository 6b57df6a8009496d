// Phases behind a gate. Without these: launch gaps would stay in device times, a sample that the time limit let go would
// pass for a good one, or a program would hang for having been measured.
// Field cases: case-11, case-12, and case-50 for tools.

#include <algorithm>
#include <set>
#include <sstream>
#include <thread>

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/graph_interval.hpp>

#include "gated.hpp"

using namespace gated;

static_assert(!std::is_copy_constructible_v<sg::gate> && !std::is_move_constructible_v<sg::gate>);
static_assert(!std::is_move_constructible_v<sg::gated_scope>);
static_assert(std::is_constructible_v<sg::gate, std::chrono::seconds>);
static_assert(!std::is_constructible_v<sg::gate, int>);
static_assert(!std::is_convertible_v<std::chrono::seconds, sg::gate>);

namespace {

// What a timed-out sample is: its device time dropped, its host time kept, everything accounted for.
void check_let_go(sg::sample const& of) {
  CHECK(missing(of.device) == absence::gate_timeout);
  CHECK(of.submit.known());
}

void check_counts(sg::series const& of, std::size_t kept, std::size_t dropped, std::size_t incomplete) {
  auto const summary = sg::summarize(of);
  check_account(summary.device.samples, of.samples.size());
  CHECK(summary.device.samples.kept == kept);
  CHECK(summary.device.samples.dropped == dropped);
  CHECK(summary.device.samples.incomplete == incomplete);
}

}  // namespace

// ------------------------------------------------------------------------------------------------------ what it is for

TEST_CASE_FIXTURE(plain_run, "case-11 ten kernels: the launch gaps are in the plain device time, and not in the gated one") {
  auto const stream = new_stream();
  simulated::set_cost("cudaLaunchKernel", 3us);
  simulated::set_record_duration(1300ns);
  sg::recorder recorder;
  sg::phase const plain{recorder, "plain"};
  sg::phase const behind{recorder, "behind"};
  sg::gate gate{60s};
  auto const ten = [&] {
    for (int i = 0; i < 10; ++i) launch(stream, 1us);
  };
  {
    auto const scope = plain.enter(stream);
    ten();
  }
  synchronize(stream);
  for (int i = 0; i < 2; ++i) {
    auto const scope = behind.enter(stream, gate);
    ten();
  }
  auto const taken = recorder.collect();
  // The last launch comes 30 us after the start, whose record ends at 1.3 us; the stop's record ends at 31 + 1.3 us.
  CHECK(sample_of(taken, "plain").device == 31us);
  // Ten kernels and the record of the stop.
  CHECK(device_times(series_of(taken, "behind")) == std::vector<nanoseconds>{11300ns, 11300ns});
  CHECK(values(series_of(taken, "behind"), &sg::sample::submit) == std::vector<nanoseconds>{30us, 30us});
  CHECK(counts(gate) == "gated 2");
  CHECK(gate.last() == gating::gated);
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(plain_run, "a gate costs one call of the driver, before the start, and no allocation") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  { auto const scope = step.enter(stream, gate); }
  simulated::clear_log();
  { auto const scope = step.enter(stream); }
  auto plain = calls_of_ours();
  simulated::clear_log();
  auto const before = simulated::allocation_count();
  { auto const scope = step.enter(stream, gate); }
  CHECK(simulated::allocation_count() == before);
  auto const first_record = std::find(plain.begin(), plain.end(), "cuEventRecord");
  plain.insert(first_record, "cuStreamWaitValue32");
  CHECK(calls_of_ours() == plain);
}

TEST_CASE_FIXTURE(plain_run, "on the stream stand the wait, the start, the body, the stop, and the device begins at the end") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  launch(stream, 5us);  // not held
  { auto const warm = step.enter(stream, gate); }
  simulated::clear_log();
  auto const entered = simulated::host_now();
  {
    auto const scope = step.enter(stream, gate);
    launch(stream, 2us);
    simulated::host_advance(40us);
  }
  names order;
  for (auto const& each : simulated::log())
    if (each.stream == stream && std::string{each.name} != "cuStreamIsCapturing" && std::string{each.name} != "cuStreamGetCtx")
      order.emplace_back(each.name);
  CHECK(order == names{"cuStreamWaitValue32", "cuEventRecord", "cudaLaunchKernel", "cuEventRecord"});
  CHECK(simulated::stream_end(stream) == entered + 42us);
  CHECK(series_of(recorder.collect(), "step").samples.back().device == 2us);
}

TEST_CASE_FIXTURE(plain_run, "a wait opens the gate first, and the completion is what the host saw") {
  auto const stream = new_stream();
  simulated::set_poll_step(1us);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block, sg::wait_policy::none}) {
    auto scope = step.enter(stream, gate);
    launch(stream, 20us);
    simulated::host_advance(10us);
    scope.wait(policy);
    scope.wait(policy);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(device_times(series) == std::vector<nanoseconds>{20us, 20us, 20us});
  CHECK(series.samples[0].completion == 30us);
  CHECK(series.samples[1].completion == 30us);
  CHECK(missing(series.samples[2].completion) == absence::not_asked);
  CHECK(counts(gate) == "gated 3");
}

// --------------------------------------------------------------------------------------------------------- time limits

TEST_CASE_FIXTURE(plain_run, "case-12 whatever waits for the device behind the gate is let go, its sample dropped, and the next is good") {
  auto const stream = new_stream();
  auto const other = new_stream();
  auto const event = [] {
    simulated::user_scope const user;
    cudaEvent_t made = nullptr;
    REQUIRE(cudaEventCreate(&made) == cudaSuccess);
    return made;
  }();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{30ms};
  sg::gate patient{60s};  // a machine that is busy must not let go what is to be good
  auto const really_began = real_now();
  bool in_time = true;
  {
    auto const scope = step.enter(stream, gate);
    launch(stream, 1us);
    simulated::user_scope const user;
    SUBCASE("a synchronise of the stream") { CHECK(cudaStreamSynchronize(stream) == cudaSuccess); }
    SUBCASE("a synchronise of the device") { CHECK(cudaDeviceSynchronize() == cudaSuccess); }
    SUBCASE("a synchronise of an event") {
      REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
      CHECK(cudaEventSynchronize(event) == cudaSuccess);
    }
    SUBCASE("a synchronise of a stream that waits for this one") {
      REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
      REQUIRE(cudaStreamWaitEvent(other, event, 0) == cudaSuccess);
      CHECK(cudaStreamSynchronize(other) == cudaSuccess);
    }
    SUBCASE("polling until it is done") {
      while (cudaStreamQuery(stream) == cudaErrorNotReady) {
      }
    }
    SUBCASE("the first launch of a kernel") { CHECK(simulated::first_launch(stream, 1us) == cudaSuccess); }
    SUBCASE("over a thousand launches") {
      for (int i = 0; i < 1100; ++i) REQUIRE(launch(stream, 1us) == cudaSuccess);
    }
    SUBCASE("a tool that nobody sees and that runs one thing at a time") {
      for (int i = 0; i < 3; ++i) {
        launch(stream, 1us);
        cudaStreamSynchronize(stream);
      }
    }
    SUBCASE("a collect of one's own") {
      { auto const inner = step.enter(stream); }
      CHECK(recorder.collect().all.at(0).samples.size() == 2);
      in_time = false;
    }
    SUBCASE("a host that is slow") { really_sleep(60ms); }
  }
  auto const took = real_now() - really_began;
  CHECK(took >= 30ms);
  CHECK(took < 1030ms);
  synchronize(stream);
  {
    auto const scope = step.enter(stream, patient);
    launch(stream, 7us);
    simulated::host_advance(1ms);
  }
  auto const taken = recorder.collect();
  auto const series = series_of(taken, "step");
  check_let_go(series.samples.front());
  CHECK(series.samples.back().device == 7us);
  check_counts(series, in_time ? 1 : 2, 1, 0);
  CHECK(counts(gate) == "timed_out 1");
  CHECK(counts(patient) == "gated 1");
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "step");
  CHECK(taken.problems[0].count == 1);
  CHECK(taken.problems[0].text.find("warm-up") != std::string::npos);
  std::ostringstream table;
  sg::report::table(table, taken);
  CHECK(table.str().find("its gate was opened by the time limit") != std::string::npos);
}

TEST_CASE_FIXTURE(plain_run, "just as many launches as there is room for are no timeout, and the stop is one too many") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate patient{60s};
  sg::gate gate{50ms};
  for (int const kernels : {1018, 1019}) {
    auto const scope = step.enter(stream, kernels == 1018 ? patient : gate);
    for (int i = 0; i < kernels; ++i) launch(stream, 1us);
  }
  {
    auto const scope = step.enter(stream, gate);
    for (int i = 0; i < 1020; ++i) launch(stream, 1us);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(series.samples[0].device == 1018us);
  check_let_go(series.samples[1]);
  check_let_go(series.samples[2]);
  CHECK(counts(patient) == "gated 1");
  CHECK(counts(gate) == "timed_out 2");
}

TEST_CASE_FIXTURE(plain_run, "case-12 after the third timeout a phase goes on ungated for good, and the recording says so once") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const other{recorder, "other"};
  sg::gate gate{1ms};
  sg::gate patient{60s};
  for (int i = 0; i < 6; ++i) {
    if (i == 2) auto const good = step.enter(stream, patient);
    {
      auto const scope = step.enter(stream, gate);
      launch(stream, 2us);
      synchronize(stream);
    }
    auto const unharmed = other.enter(stream, patient);
    launch(stream, 3us);
  }
  // Another gate knows it too.
  sg::gate second{1ms};
  { auto const scope = step.enter(stream, second); }
  auto const taken = recorder.collect();
  auto const series = series_of(taken, "step");
  check_counts(series, 5, 3, 0);
  for (std::size_t const i : {0u, 1u, 3u}) check_let_go(series.samples[i]);
  for (std::size_t const i : {4u, 5u, 6u}) CHECK(series.samples[i].device == 2us);
  CHECK(device_times(series_of(taken, "other")) == std::vector<nanoseconds>(6, 3us));
  CHECK(counts(gate) == "timed_out 3, given_up 3");
  CHECK(counts(patient) == "gated 7");
  CHECK(counts(second) == "given_up 1");
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "step");
  CHECK(taken.problems[0].count == 3);
}

TEST_CASE_FIXTURE(plain_run, "a phase that is waited for, and was let go, has no completion either") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{1ms};
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    auto scope = step.enter(stream, gate);
    synchronize(stream);
    scope.wait(policy);
  }
  for (auto const& each : series_of(recorder.collect(), "step").samples) {
    check_let_go(each);
    CHECK(missing(each.completion) == absence::gate_timeout);
  }
}

TEST_CASE_FIXTURE(plain_run, "a time limit that races with the opening: each sample is exact or dropped, never both") {
  auto const stream = new_stream();
  sg::recorder recorder{sg::capacity{4000, 64}};
  std::uint64_t kept = 0;
  std::uint64_t dropped = 0;
  for (int i = 0; i < 400; ++i) {
    // A phase of its own, since one gives up after three.
    sg::phase const step{recorder, "step " + std::to_string(i)};
    sg::gate gate{std::chrono::microseconds{i}};
    {
      auto const scope = step.enter(stream, gate);
      launch(stream, 5us);
      if (i % 3 == 0) really_sleep(std::chrono::microseconds{i / 2});
      simulated::host_advance(100us);
    }
    kept += gate.count(gating::gated);
    dropped += gate.count(gating::timed_out);
    CHECK(gate.count(gating::gated) + gate.count(gating::timed_out) == 1);
  }
  std::uint64_t good = 0;
  std::uint64_t let_go = 0;
  for (auto const& each : recorder.collect().all) {
    REQUIRE(each.samples.size() == 1);
    auto const device = each.samples[0].device;
    good += device == 5us ? 1u : 0u;
    let_go += missing(device) == absence::gate_timeout ? 1u : 0u;
  }
  CHECK(good == kept);
  CHECK(let_go == dropped);
  CHECK(good + let_go == 400);
}

// ------------------------------------------------------------------------------------------------- where it is left out

TEST_CASE_FIXTURE(plain_run, "case-12 never in warm-up, nor inside the warm-up of a phase around") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer", sg::warmup{1}};
  sg::phase const step{recorder, "step", sg::warmup{2}};
  sg::gate gate{60s};
  for (int i = 0; i < 2; ++i) {
    auto const scope = step.enter(stream, gate);
    simulated::first_launch(stream, 1us);
  }
  CHECK(waits() == 0);
  {
    auto const around = outer.enter(stream);
    auto const scope = step.enter(stream, gate);
  }
  CHECK(waits() == 0);
  CHECK(counts(gate) == "warmup 3");
  CHECK(gate.last() == gating::warmup);
  { auto const scope = step.enter(stream, gate); }
  CHECK(counts(gate) == "gated 1, warmup 3");
}

TEST_CASE_FIXTURE(plain_run, "case-12 never while a capture for a profiler is open") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  {
    sg::capture_guard const guard{recorder};
    auto const scope = step.enter(stream, gate);
    launch(stream, 1us);
    synchronize(stream);
  }
  CHECK(waits() == 0);
  CHECK(counts(gate) == "capture_open 1");
  { auto const scope = step.enter(stream, gate); }
  CHECK(gate.last() == gating::gated);
  CHECK(series_of(recorder.collect(), "step").samples[0].device == 1us);
}

TEST_CASE_FIXTURE(plain_run, "case-50 never under a tool that is known") {
  auto const stream = new_stream();
  sg::recorder recorder;
  auto const use = [&](std::string const& name) {
    sg::phase const step{recorder, name};
    sg::gate gate{60s};
    auto const scope = step.enter(stream, gate);
    auto const held = gate.hold(new_stream());
    return counts(gate);
  };
  for (char const* const each : {"NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID"}) {
    setenv(each, "1", 1);
    CHECK(use(each) == "tool_attached 2");
    no_tool();
  }
  ranges_seen::takes_names = true;
  CHECK(use("handles") == "tool_attached 2");
  CHECK(waits() == 0);
  no_tool();
  CHECK(use("none") == "");  // both held when it was asked
  CHECK(waits() == 2);
}

TEST_CASE_FIXTURE(plain_run, "never under a tool that takes the phase's own name, though the gate was made in a unit without ranges") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  ranges_seen::takes_names = true;
  { auto const scope = step.enter(stream); }
  ranges_seen::takes_names = false;
  { auto const scope = step.enter(stream, gate); }
  CHECK(counts(gate) == "tool_attached 1");
}

TEST_CASE_FIXTURE(plain_run, "never on a stream that is being captured, and the capture goes on") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  {
    auto const scope = step.enter(stream, gate);
    auto const held = gate.hold(stream);
    launch(stream, 1us);
  }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(waits() == 0);
  CHECK(counts(gate) == "stream_capture 2");
  CHECK(missing(sample_of(recorder.collect(), "step").device) == absence::stream_capture);
}

TEST_CASE_FIXTURE(plain_run, "never in a graph, where the phase records all the same") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::in_graphs};
  sg::gate gate{60s};
  sg::prepare_capture(recorder, stream);
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  {
    auto scope = step.enter(stream, gate);
    launch(stream, 1us);
    scope.wait(sg::wait_policy::spin);
  }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(waits() == 0);
  CHECK(simulated::count("cuEventRecordWithFlags") == 2);
  CHECK(counts(gate) == "stream_capture 1");
}

TEST_CASE_FIXTURE(plain_run, "the first hold of all beside somebody's capture does not break it") {
  auto const captured = new_stream();
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal) == cudaSuccess);
  { auto const scope = step.enter(stream, gate); }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
  CHECK(counts(gate) == "gated 1");
}

TEST_CASE_FIXTURE(plain_run, "never on the legacy stream, which would hold back every blocking stream") {
  make_context();
  auto const blocking = new_stream(cudaStreamDefault);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  for (cudaStream_t const legacy : {cudaStream_t{nullptr}, cudaStreamLegacy}) {
    auto const scope = step.enter(legacy, gate);
    auto const held = gate.hold(legacy);
    launch(blocking, 1us);
    synchronize(blocking);
  }
  CHECK(waits() == 0);
  CHECK(counts(gate) == "legacy_stream 4");
}

TEST_CASE_FIXTURE(plain_run, "the per-thread default stream is held, also on a thread whose first CUDA call it is") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  std::thread{[&] {
    auto const scope = step.enter(cudaStreamPerThread, gate);
    launch(cudaStreamPerThread, 4us);
    simulated::host_advance(1ms);
  }}.join();
  CHECK(counts(gate) == "gated 1");
  CHECK(sample_of(recorder.collect(), "step").device == 4us);
}

TEST_CASE_FIXTURE(plain_run, "a recorder that does not time, or has no events to give, leaves the stream alone") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  for (auto const mode : {sg::mode::off, sg::mode::mark}) {
    sg::recorder recorder{mode};
    sg::phase const step{recorder, "step"};
    simulated::clear_log();
    {
      auto scope = step.enter(stream, gate);
      scope.wait(sg::wait_policy::spin);
    }
    CHECK(simulated::count_all() == 0);
  }
  CHECK(counts(gate) == "not_timed 2");
  sg::recorder small{sg::capacity{100, 2}};
  sg::phase const step{small, "step"};
  simulated::hold(stream);
  for (int i = 0; i < 3; ++i) auto const scope = step.enter(stream, gate);
  simulated::release(stream);
  CHECK(counts(gate) == "gated 2, not_timed 3");
  CHECK(missing(series_of(small.collect(), "step").samples[2].device) == absence::pool_full);
}

// ------------------------------------------------------------------------------------------------------------- its scope

TEST_CASE_FIXTURE(plain_run, "an exception opens the gate at once, and its sample is incomplete") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  for (int i = 0; i < 2; ++i) {
    CHECK_THROWS_AS(
        [&] {
          auto scope = step.enter(stream, gate);
          launch(stream, 1us);
          if (i == 1) scope.wait(sg::wait_policy::none);
          throw 1;
        }(),
        int);
    synchronize(stream);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(missing(series.samples[0].device) == absence::body_threw);
  CHECK(series.samples[1].device == 1us);  // it had ended before
  check_counts(series, 1, 0, 1);
  CHECK(counts(gate) == "gated 2");
}

TEST_CASE_FIXTURE(plain_run, "a wait while an exception unwinds opens the gate and does not wait") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  struct waits_on_the_way {
    sg::gated_scope& scope;
    ~waits_on_the_way() { scope.wait(sg::wait_policy::spin); }
  };
  CHECK_THROWS_AS(
      [&] {
        auto scope = step.enter(stream, gate);
        waits_on_the_way const last{scope};
        throw 1;
      }(),
      int);
  CHECK(missing(sample_of(recorder.collect(), "step").completion) == absence::not_asked);
  CHECK(counts(gate) == "gated 1");
}

TEST_CASE_FIXTURE(plain_run, "an exception out of a body that was let go is incomplete, and the timeout counts") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{1ms};
  CHECK_THROWS_AS(
      [&] {
        auto const scope = step.enter(stream, gate);
        synchronize(stream);
        throw 1;
      }(),
      int);
  auto const taken = recorder.collect();
  check_counts(series_of(taken, "step"), 0, 0, 1);
  CHECK(counts(gate) == "timed_out 1");
  CHECK(taken.problems.size() == 1);
}

TEST_CASE_FIXTURE(plain_run, "an early return opens the gate") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  auto const body = [&](int how) {
    auto const scope = step.enter(stream, gate);
    if (how == 0) return;
    launch(stream, 1us);
  };
  body(0);
  body(1);
  synchronize(stream);
  CHECK(device_times(series_of(recorder.collect(), "step")) == std::vector<nanoseconds>{0ns, 1us});
}

TEST_CASE_FIXTURE(plain_run, "a phase inside one on the same stream needs no gate of its own") {
  auto const stream = new_stream();
  simulated::set_cost("cudaLaunchKernel", 3us);
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  sg::phase const plain{recorder, "plain"};
  sg::gate gate{60s};
  sg::gate other{60s};
  {
    auto const around = outer.enter(stream, gate);
    launch(stream, 1us);
    {
      auto const scope = inner.enter(stream, gate);
      for (int i = 0; i < 2; ++i) launch(stream, 1us);
    }
    {
      auto const scope = inner.enter(stream, other);
      for (int i = 0; i < 2; ++i) launch(stream, 1us);
    }
    auto const scope = plain.enter(stream);
    for (int i = 0; i < 2; ++i) launch(stream, 1us);
  }
  auto const taken = recorder.collect();
  CHECK(waits() == 1);
  CHECK(sample_of(taken, "outer").device == 7us);
  CHECK(device_times(series_of(taken, "inner")) == std::vector<nanoseconds>{2us, 2us});
  CHECK(sample_of(taken, "plain").device == 2us);
  CHECK(counts(gate) == "gated 1, already_held 1");
  CHECK(counts(other) == "already_held 1");
}

TEST_CASE_FIXTURE(plain_run, "what was open inside when the outer hold was let go is dropped too, what was over is not") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const over{recorder, "over"};
  sg::phase const open{recorder, "open"};
  sg::phase const later{recorder, "later"};
  sg::gate gate{300ms};
  sg::gate patient{60s};
  {
    auto const around = outer.enter(stream, gate);
    {
      auto const scope = over.enter(stream, gate);
      launch(stream, 1us);
    }
    {
      auto const scope = open.enter(stream, gate);
      launch(stream, 2us);
      synchronize(stream);
    }
    // The stream is held by nobody now.
    auto const scope = later.enter(stream, patient);
    launch(stream, 3us);
  }
  auto const taken = recorder.collect();
  check_let_go(sample_of(taken, "outer"));
  CHECK(sample_of(taken, "over").device == 1us);
  check_let_go(sample_of(taken, "open"));
  CHECK(sample_of(taken, "later").device == 3us);
  CHECK(counts(gate) == "timed_out 2, already_held 1");
  CHECK(counts(patient) == "gated 1");
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "outer");
}

TEST_CASE_FIXTURE(plain_run, "a wait inside another hold lets that one go, and both are dropped") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  sg::gate gate{300ms};
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    auto const around = outer.enter(stream, gate);
    auto scope = inner.enter(stream, gate);
    launch(stream, 1us);
    scope.wait(policy);
  }
  auto const taken = recorder.collect();
  for (char const* const phase : {"outer", "inner"})
    for (auto const& each : series_of(taken, phase).samples) check_let_go(each);
  for (auto const& each : series_of(taken, "inner").samples)
    CHECK(missing(each.completion) == absence::gate_timeout);
}

TEST_CASE_FIXTURE(plain_run, "two streams are held apart, one inside the other") {
  auto const stream = new_stream();
  auto const side = new_stream();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  sg::gate gate{60s};
  auto const began = simulated::host_now();
  {
    auto const around = outer.enter(stream, gate);
    launch(stream, 5us);
    {
      auto const scope = inner.enter(side, gate);
      launch(side, 3us);
      simulated::host_advance(10us);
    }
    CHECK(simulated::stream_end(side) == began + 13us);
    simulated::host_advance(10us);
    launch(stream, 5us);
  }
  CHECK(simulated::stream_end(stream) == began + 30us);
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "outer").device == 10us);
  CHECK(sample_of(taken, "inner").device == 3us);
  CHECK(counts(gate) == "gated 2");
}

TEST_CASE_FIXTURE(plain_run, "streams of two devices are held, each by a word of its own context") {
  simulated::machine_options two;
  two.devices = 2;
  simulated::reset(two);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  for (int const device : {0, 1, 0, 1}) {
    select_device(device);
    auto const stream = new_stream();
    auto const scope = step.enter(stream, gate);
    launch(stream, 2us);
    simulated::host_advance(1ms);
  }
  CHECK(device_times(series_of(recorder.collect(), "step")) == std::vector<nanoseconds>(4, 2us));
  CHECK(counts(gate) == "gated 4");
  CHECK(simulated::count("cuMemHostRegister") == 2);
}

TEST_CASE_FIXTURE(plain_run, "many threads share a gate, each on its stream and each on one in common") {
  auto const common = new_stream();
  // The thread that holds the common stream may sleep meanwhile: all that three others queue there finds room behind it.
  constexpr int per_thread = 110;
  std::vector<cudaStream_t> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(new_stream());
  sg::recorder recorder{sg::capacity{2000, 1024}};
  sg::phase const step{recorder, "step"};
  sg::phase const shared{recorder, "shared"};
  sg::gate gate{60s};
  std::vector<std::thread> threads;
  for (auto const stream : streams)
    threads.emplace_back([&, stream] {
      for (int i = 0; i < per_thread; ++i) {
        {
          auto const scope = step.enter(stream, gate);
          launch(stream, 1us);
        }
        auto const scope = shared.enter(common, gate);
        launch(common, 1us);
      }
    });
  for (auto& each : threads) each.join();
  auto const taken = recorder.collect();
  CHECK(device_times(series_of(taken, "step")) == std::vector<nanoseconds>(4 * per_thread, 1us));
  CHECK(device_times(series_of(taken, "shared")).size() == 4 * per_thread);
  CHECK(gate.count(gating::gated) + gate.count(gating::already_held) == 8 * per_thread);
  CHECK(gate.count(gating::gated) >= 4 * per_thread);
}

TEST_CASE_FIXTURE(plain_run, "many threads that synchronise behind the gate: all are let go, none hangs") {
  std::vector<std::thread> threads;
  sg::recorder recorder;
  sg::gate gate{5ms};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, stream = new_stream(), name = "step " + std::to_string(i)] {
      sg::phase const step{recorder, name};
      for (int k = 0; k < 5; ++k) {
        auto const scope = step.enter(stream, gate);
        launch(stream, 1us);
        synchronize(stream);
      }
    });
  for (auto& each : threads) each.join();
  CHECK(counts(gate) == "timed_out 12, given_up 8");
  auto const taken = recorder.collect();
  for (auto const& each : taken.all) check_counts(each, 2, 3, 0);
  CHECK(taken.problems.size() == 4);
}

// --------------------------------------------------------------------------------------------------- ends in bad order

TEST_CASE_FIXTURE(plain_run, "a recorder that ends before the scope leaves no stream held") {
  auto const stream = new_stream();
  auto recorder = std::make_unique<sg::recorder>();
  sg::phase const step{*recorder, "step"};
  sg::gate gate{60s};
  {
    auto scope = step.enter(stream, gate);
    launch(stream, 1us);
    recorder.reset();
    SUBCASE("and is only left") {}
    SUBCASE("and is waited for") { scope.wait(sg::wait_policy::spin); }
  }
  synchronize(stream);
  CHECK(counts(gate) == "gated 1");
  { auto const scope = step.enter(stream, gate); }
  CHECK(counts(gate) == "gated 1, not_timed 1");
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(plain_run, "case-37 a device reset inside the body: nothing is touched that is gone, and the next context is gated") {
  auto stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{2ms};
  sg::gate patient{60s};
  {
    auto const scope = step.enter(stream, gate);
    launch(stream, 1us);
    reset_device();
    really_sleep(10ms);  // the watch writes into a word of the context that is gone
  }
  stream = new_stream();
  {
    auto const scope = step.enter(stream, patient);
    launch(stream, 2us);
    simulated::host_advance(1ms);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(missing(series.samples[0].device) == absence::context_gone);
  CHECK(series.samples[1].device == 2us);
  CHECK(counts(gate) == "timed_out 1");
  CHECK(counts(patient) == "gated 1");
}

TEST_CASE("every answer of a gate has words of its own") {
  std::set<std::string> words;
  for (std::size_t i = 0; i < sg::gating_count; ++i) words.insert(sg::describe(static_cast<gating>(i)));
  CHECK(words.size() == sg::gating_count);
  CHECK(words.count("unknown") == 0);
  CHECK(sg::describe(static_cast<gating>(sg::gating_count)) == std::string{"unknown"});
}
