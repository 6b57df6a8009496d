// One phase, scoped or started: exact times, exact calls, and every way to end it.

#include <sstream>
#include <stdexcept>
#include <thread>

#include "observed.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

static_assert(!std::is_copy_constructible_v<sg::scope> && !std::is_move_constructible_v<sg::scope>);
static_assert(!std::is_copy_constructible_v<sg::started_phase> && std::is_nothrow_move_constructible_v<sg::started_phase>);
static_assert(std::is_nothrow_destructible_v<sg::scope> && std::is_nothrow_destructible_v<sg::started_phase>);
static_assert(std::is_nothrow_destructible_v<sg::phase> && std::is_nothrow_destructible_v<sg::recorder>);

namespace {

template <class Argument, class = void>
struct can_enter : std::false_type {};
template <class Argument>
struct can_enter<Argument, std::void_t<decltype(std::declval<sg::phase const&>().enter(std::declval<Argument>()))>>
    : std::true_type {};
template <class Phase, class = void>
struct can_enter_with_nothing : std::false_type {};
template <class Phase>
struct can_enter_with_nothing<Phase, std::void_t<decltype(std::declval<Phase const&>().enter())>> : std::true_type {};

// A thread of its own for one action.
template <class Action>
void elsewhere(Action action) {
  std::thread{std::move(action)}.join();
}

void begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
}

// Ends the capture and says what CUDA said.
cudaError_t end_capture(cudaStream_t stream) {
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  cudaError_t const status = cudaStreamEndCapture(stream, &graph);
  if (graph) cudaGraphDestroy(graph);
  return status;
}

}  // namespace

// case-14: forgetting the stream does not compile.
static_assert(can_enter<cudaStream_t>::value && can_enter<sg::host_only_tag>::value);
static_assert(!can_enter<int>::value && !can_enter_with_nothing<sg::phase>::value);

TEST_CASE_FIXTURE(fresh_machine, "a phase reads exactly the device time between its events") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    launch(stream, 5ms);
  }
  auto const sample = sample_of(recorder.collect(), "step");
  CHECK(sample.device == 5ms);
  CHECK(sample.submit == 0ns);
  CHECK(missing(sample.completion) == sg::absence::not_asked);
  CHECK(sample.waited == sg::wait_policy::none);
  CHECK(sample.records_inside == 0);
  CHECK(!sample.parent);
}

TEST_CASE_FIXTURE(fresh_machine, "a flush before the phase is no part of it, and its condition says what was measured (case-72)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const body{recorder, "body", sg::conditions{{"cache", "cold"}}};
  for (int i = 0; i < 3; ++i) {
    launch(stream, 60us);  // overwrites the cache
    auto const scope = body.enter(stream);
    launch(stream, 5us);
  }
  sg::recording const taken = recorder.collect();
  auto const& series = series_of(taken, "body");
  REQUIRE(series.samples.size() == 3);
  for (auto const& each : series.samples) CHECK(each.device == 5us);
  std::ostringstream text;
  sg::report::table(text, taken);
  CHECK(text.str().find("cache=cold") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "submit runs from the stamp before the start record to the stamp after the stop record") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const warm = step.enter(stream); }
  auto const until_now = simulated::host_now();
  simulated::set_cost("steady_clock::now", 20ns);
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("cuStreamGetCtx", 15ns);
  simulated::set_cost("cuCtxGetId", 9ns);
  simulated::set_cost("cuStreamIsCapturing", 50ns);
  simulated::set_cost("cudaLaunchKernel", 3us);
  {
    auto const scope = step.enter(stream);
    launch(stream, 5ms);
  }
  // Before the stamp: context, its id, the capture question. After it: record, launch, id, capture question, record, stamp.
  CHECK(simulated::host_now() - until_now == 15ns + 9ns + 50ns + 20ns + 1us + 3us + 9ns + 50ns + 1us + 20ns);
  auto const series = series_of(recorder.collect(), "step");
  REQUIRE(series.samples.size() == 2);
  CHECK(series.samples[1].submit == 1us + 3us + 9ns + 50ns + 1us + 20ns);
  CHECK(series.samples[1].entered - series.samples[0].entered == 15ns + 9ns + 50ns + 20ns);
}

TEST_CASE_FIXTURE(fresh_machine, "between a start and its stop stand the program's calls and the stop's own questions (case-13)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const first = step.enter(stream); }
  simulated::clear_log();
  auto const allocated = simulated::allocation_count();
  {
    auto const scope = step.enter(stream);
    launch(stream, 1ms);
  }
  CHECK(simulated::allocation_count() == allocated);
  // Right before each record: is the context the same, and is the stream being captured. Neither can wait nor fail others.
  CHECK(simulated::logged_names() ==
        names{"cuStreamGetCtx", "cuCtxGetId", "cuStreamIsCapturing", "cuEventRecord", "cudaLaunchKernel", "cuCtxGetId",
              "cuStreamIsCapturing", "cuEventRecord"});
  for (auto const& call : simulated::log()) CHECK(call.result == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "on an idle stream the interval holds the host's gap, behind queued work it does not (case-11)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const idle{recorder, "idle"};
  sg::phase const queued{recorder, "queued"};
  {
    auto const scope = idle.enter(stream);
    simulated::host_advance(10us);
    launch(stream, 2us);
  }
  simulated::host_advance(1ms);
  launch(stream, 1ms);
  {
    auto const scope = queued.enter(stream);
    simulated::host_advance(10us);
    launch(stream, 2us);
  }
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "idle").device == 12us);
  CHECK(sample_of(recording, "idle").submit == 10us);
  CHECK(sample_of(recording, "queued").device == 2us);
  CHECK(sample_of(recording, "queued").submit == 10us);
}

TEST_CASE_FIXTURE(fresh_machine, "work that keeps the host busy while it is enqueued shows in submit, apart from the device (case-20)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const pageable{recorder, "pageable"};
  sg::phase const pinned{recorder, "pinned"};
  { auto const first = pinned.enter(stream); }
  simulated::set_cost("cudaLaunchKernel", 8ms);  // the staging of a copy that is only called asynchronous
  {
    auto const scope = pageable.enter(stream);
    launch(stream, 10ms);
  }
  simulated::set_cost("cudaLaunchKernel", 5us);
  {
    auto const scope = pinned.enter(stream);
    launch(stream, 10ms);
  }
  for (char const* call : {"cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize", "cudaStreamSynchronize",
                           "cudaDeviceSynchronize", "cudaEventSynchronize", "cuEventQuery"})
    CHECK_MESSAGE(simulated::count(call) == 0, call);
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "pageable").submit == 8ms);
  CHECK(sample_of(recording, "pageable").device == 18ms);  // event to event: the idle stream waited for the host
  auto const second = series_of(recording, "pinned").samples.at(1);
  CHECK(second.submit == 5us);
  CHECK(second.device == 10ms);
}

TEST_CASE_FIXTURE(fresh_machine, "host work, then device work: each clock tells its own part (case-35)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const kernel{recorder, "kernel"};
  {
    auto scope = step.enter(stream);
    simulated::host_advance(5ms);
    {
      auto const inner = kernel.enter(stream);
      launch(stream, 2ms);
    }
    scope.wait(sg::wait_policy::spin);
  }
  auto const recording = recorder.collect();
  auto const outer = sample_of(recording, "step");
  CHECK(outer.submit == 5ms);
  CHECK(outer.completion == 7ms);
  CHECK(outer.device == 7ms);  // event to event: the stream idled while the host slept
  CHECK(sample_of(recording, "kernel").device == 2ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a phase is a range and an interval, two fields, and nothing waits unless asked (case-68)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  simulated::set_cost("cudaLaunchKernel", 8us);
  {
    auto const scope = step.enter(stream);
    launch(stream, 3ms);
  }
  CHECK(simulated::host_now() == 1s + 8us);
  for (char const* call : {"cuEventSynchronize", "cuStreamSynchronize", "cuCtxSynchronize", "cudaDeviceSynchronize"})
    CHECK_MESSAGE(simulated::count(call) == 0, call);
  auto const sample = sample_of(recorder.collect(), "step");
  CHECK(sample.submit == 8us);
  CHECK(sample.device == 3ms + 8us);
}

TEST_CASE_FIXTURE(fresh_machine, "each observable carries its clock, with count, median, least and most beside it (case-84)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{1}};
  for (auto const time : {90ms, 3ms, 1ms, 2ms, 50ms}) {
    auto scope = step.enter(stream);
    launch(stream, time);
    scope.wait(sg::wait_policy::block);
  }
  auto const rows = sg::summarize(recorder.collect()).rows;
  REQUIRE(rows.size() == 1);
  auto const& what = rows[0].what;
  CHECK(what.device.clock == sg::clock_domain::device);
  CHECK(what.submit.clock == sg::clock_domain::host);
  CHECK(what.completion.clock == sg::clock_domain::host);
  CHECK(what.device.values.warmup.count == 1);
  CHECK(what.device.values.warmup.median == sg::fractional_nanoseconds{90ms});
  CHECK(what.device.values.steady.count == 4);
  CHECK(what.device.values.steady.median == sg::fractional_nanoseconds{2500us});
  CHECK(what.device.values.steady.minimum == 1ms);
  CHECK(what.device.values.steady.maximum == 50ms);
  CHECK(what.completion.by(sg::wait_policy::block).steady.median == sg::fractional_nanoseconds{2500us});
}

// ------------------------------------------------------------------------------------------------------------- waiting

TEST_CASE_FIXTURE(fresh_machine, "a spinning wait sees the device done at the poll that follows its end") {
  cudaStream_t const stream = new_stream();
  simulated::set_poll_step(300ns);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const first = step.enter(stream); }
  {
    auto scope = step.enter(stream);
    launch(stream, 1us);
    simulated::clear_log();
    scope.wait(sg::wait_policy::spin);
    CHECK(calls_of_ours() == names{"cuCtxGetId", "cuStreamIsCapturing", "cuEventRecord", "cuThreadExchangeStreamCaptureMode",
                                   "cuEventQuery", "cuEventQuery", "cuEventQuery", "cuEventQuery", "cuEventQuery",
                                   "cuThreadExchangeStreamCaptureMode", "cuEventElapsedTime"});
    simulated::clear_log();
    simulated::host_advance(1ms);  // after the wait: in the range, in none of the times
  }
  CHECK(simulated::count_all() == 0);
  auto const sample = series_of(recorder.collect(), "step").samples.at(1);
  CHECK(sample.submit == 0ns);
  CHECK(sample.device == 1us);
  CHECK(sample.completion == 1200ns);  // four polls of 300 ns
  CHECK(sample.waited == sg::wait_policy::spin);
}

TEST_CASE_FIXTURE(fresh_machine, "a blocking wait sleeps on an event behind the stop and sees the exact end") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const first = step.enter(stream); }
  {
    auto scope = step.enter(stream);
    simulated::host_advance(40us);
    launch(stream, 7ms);
    simulated::clear_log();
    scope.wait(sg::wait_policy::block);
  }
  CHECK(calls_of_ours() ==
        names{"cuCtxGetId", "cuStreamIsCapturing", "cuEventRecord", "cuEventRecord", "cuThreadExchangeStreamCaptureMode",
              "cuEventSynchronize", "cuThreadExchangeStreamCaptureMode", "cuEventElapsedTime"});
  auto const sample = series_of(recorder.collect(), "step").samples.at(1);
  CHECK(sample.submit == 40us);
  CHECK(sample.device == 7ms + 40us);
  CHECK(sample.completion == 7ms + 40us);
  CHECK(sample.waited == sg::wait_policy::block);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait that is asked for twice waits once") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto scope = step.enter(stream);
    launch(stream, 3ms);
    scope.wait(sg::wait_policy::block);
    simulated::clear_log();
    simulated::host_advance(2ms);
    scope.wait(sg::wait_policy::spin);
  }
  CHECK(simulated::count_all() == 0);
  auto const sample = sample_of(recorder.collect(), "step");
  CHECK(sample.completion == 3ms);
  CHECK(sample.waited == sg::wait_policy::block);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait for nothing is an ordinary end") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto scope = step.enter(stream);
    launch(stream, 3ms);
    scope.wait(sg::wait_policy::none);
  }
  auto const sample = sample_of(recorder.collect(), "step");
  CHECK(sample.device == 3ms);
  CHECK(missing(sample.completion) == sg::absence::not_asked);
  CHECK(sample.waited == sg::wait_policy::none);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait without a stream has nothing to wait for, and makes no call") {
  sg::recorder recorder;
  sg::phase const parse{recorder, "parse"};
  {
    auto scope = parse.enter(sg::host_only);
    simulated::host_advance(4us);
    scope.wait(sg::wait_policy::block);
    simulated::host_advance(4us);
  }
  CHECK(simulated::count_all() == 0);
  auto const sample = sample_of(recorder.collect(), "parse");
  CHECK(sample.submit == 4us);
  CHECK(missing(sample.device) == sg::absence::not_asked);
  CHECK(missing(sample.completion) == sg::absence::not_asked);
  CHECK(sample.waited == sg::wait_policy::none);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait inside a capture of the stream waits for nothing and leaves the capture whole") {
  for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
      cudaStream_t const stream = new_stream();
      sg::recorder recorder;
      sg::phase const step{recorder, "step"};
      { auto const first = step.enter(stream); }
      begin_capture(stream, mode);
      {
        auto scope = step.enter(stream);
        launch(stream, 3ms);
        scope.wait(policy);
      }
      CHECK(end_capture(stream) == cudaSuccess);
      auto const sample = series_of(recorder.collect(), "step").samples.at(1);
      CHECK(sample.submit == 0ns);
      CHECK(missing(sample.device) == sg::absence::stream_capture);
      CHECK(missing(sample.completion) == sg::absence::stream_capture);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a wait beside a capture leaves the capture whole") {
  for (auto const mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
      cudaStream_t const captured = new_stream();
      cudaStream_t const stream = new_stream();
      sg::recorder recorder;
      sg::phase const step{recorder, "step"};
      begin_capture(captured, mode);
      launch(captured, 1ms);
      {
        auto scope = step.enter(stream);
        launch(stream, 3ms);
        scope.wait(policy);
      }
      auto const sample = sample_of(recorder.collect(), "step");
      CHECK(end_capture(captured) == cudaSuccess);
      CHECK(sample.device == 3ms);
      CHECK(sample.completion == 3ms);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a capture that begins inside a phase costs the phase its device time and nothing else") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    begin_capture(stream, cudaStreamCaptureModeGlobal);
    launch(stream, 1ms);
  }
  CHECK(end_capture(stream) == cudaSuccess);
  auto const recording = recorder.collect();
  CHECK(missing(sample_of(recording, "step").device) == sg::absence::stream_capture);
  CHECK(sample_of(recording, "step").submit == 0ns);
  CHECK(recording.problems.empty());
}

// ----------------------------------------------------------------------------------------------------- started phases

TEST_CASE_FIXTURE(fresh_machine, "a started phase moves, and ends once, wherever it was moved to") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  sg::recorder recorder;
  sg::phase const request{recorder, "request"};
  {
    auto first = request.start(stream);
    launch(stream, 2ms);
    sg::started_phase second{std::move(first)};
    first.stop();  // moved from: does nothing
    CHECK(ranges_seen::so_far.ends == 0);
    launch(stream, 3ms);
    second.stop();
    second.stop();
    launch(stream, 4ms);
  }
  CHECK(ranges_seen::so_far.starts == 1);
  CHECK(ranges_seen::so_far.ends == 1);
  CHECK(sample_of(recorder.collect(), "request").device == 5ms);
}

TEST_CASE_FIXTURE(fresh_machine, "moving onto a live started phase ends that one first (case-31)") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  sg::recorder recorder;
  sg::phase const early{recorder, "early"};
  sg::phase const late{recorder, "late"};
  {
    auto kept = early.start(stream);
    launch(stream, 1ms);
    kept = late.start(stream);
    CHECK(ranges_seen::so_far.ends == 1);
    launch(stream, 2ms);
  }
  CHECK(ranges_seen::so_far.starts == 2);
  CHECK(ranges_seen::so_far.ends == 2);
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "early").device == 1ms);
  CHECK(sample_of(recording, "late").device == 2ms);
  CHECK(sample_of(recording, "early").records_inside == 1);  // the start of the later one
  CHECK(simulated::count("cuEventDestroy") > 0);
  for (auto const& call : simulated::log())
    if (std::string_view{call.name} == "cuEventDestroy") CHECK(call.handle != nullptr);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "a started phase that is moved onto itself goes on (case-31)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const request{recorder, "request"};
  {
    auto open = request.start(stream);
    launch(stream, 1ms);
    auto& same = open;
    open = std::move(same);
    launch(stream, 1ms);
  }
  CHECK(sample_of(recorder.collect(), "request").device == 2ms);
}

TEST_CASE("events in equal number are made and destroyed, and none that is null (case-31)") {
  fresh_machine const machine;
  cudaStream_t const stream = new_stream();
  {
    sg::recorder recorder;
    sg::phase const request{recorder, "request"};
    auto first = request.start(stream);
    auto second = request.start(stream);
    auto third = std::move(first);
    second = std::move(third);
    third = std::move(second);
    first = request.start(stream);
    launch(stream, 1ms);
    static_cast<void>(recorder.collect());
  }
  CHECK(simulated::events_created() == simulated::events_destroyed());
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 1);  // the program's own
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "a started phase may end on another thread") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  sg::recorder recorder;
  sg::phase const request{recorder, "request"};
  auto open = request.start(stream);
  launch(stream, 6ms);
  elsewhere([moved = std::move(open), &recorder]() mutable {
    CHECK(sample_of(recorder.collect(), "request").submit == sg::absence::still_open);
    simulated::host_advance(1ms);
    moved.stop();
  });
  CHECK(ranges_seen::so_far.starts == 1);
  CHECK(ranges_seen::so_far.ends == 1);
  auto const sample = sample_of(recorder.collect(), "request");
  CHECK(sample.device == 6ms);
  CHECK(sample.thread == 0);
  CHECK(simulated::fatal_misuses().empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a started phase that is waited for on another thread has its completion") {
  cudaStream_t const stream = new_stream();
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    sg::recorder recorder;
    sg::phase const request{recorder, "request"};
    auto open = request.start(stream);
    launch(stream, 6ms);
    elsewhere([&] { open.wait(policy); });
    auto const sample = sample_of(recorder.collect(), "request");
    CHECK(sample.device == 6ms);
    CHECK(sample.completion == 6ms);
    CHECK(sample.waited == sg::wait_policy::spin);  // the event to sleep on is the starting thread's
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a per-thread default stream that is ended on another thread is refused with its reason") {
  sg::recorder recorder;
  sg::phase const request{recorder, "request"};
  {
    simulated::user_scope const user;
    REQUIRE(cudaFree(nullptr) == cudaSuccess);  // gives the device its context
  }
  auto open = request.start(cudaStreamPerThread);
  launch(cudaStreamPerThread, 1ms);
  simulated::host_advance(3us);
  simulated::clear_log();
  elsewhere([&] { open.stop(); });
  CHECK(simulated::count("cuEventRecord") == 0);  // it would land on that thread's stream
  {
    auto const here = request.start(cudaStreamPerThread);
    launch(cudaStreamPerThread, 2ms);
  }
  auto const recording = recorder.collect();
  auto const series = series_of(recording, "request");
  REQUIRE(series.samples.size() == 2);
  CHECK(missing(series.samples[0].device) == sg::absence::other_thread_stream);
  CHECK(series.samples[0].submit == 3us);
  CHECK(series.samples[1].device == 2ms);
  CHECK(sg::describe(series.samples[0].device.why_absent()) ==
        std::string{"a per-thread default stream was ended on another thread"});
  CHECK(recording.problems.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "phases that overlap without nesting keep their own times") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const first{recorder, "first"};
  sg::phase const second{recorder, "second"};
  auto a = first.start(stream);
  launch(stream, 1ms);
  auto b = second.start(stream);
  launch(stream, 2ms);
  a.stop();
  launch(stream, 4ms);
  b.stop();
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "first").device == 3ms);
  CHECK(sample_of(recording, "second").device == 6ms);
  CHECK(!sample_of(recording, "second").parent);  // started phases nest in scopes, never in each other
}

// ------------------------------------------------------------------------------------------------------------- nesting

TEST_CASE_FIXTURE(fresh_machine, "a nested phase names its parent, and the outer one counts the records within") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const layer{recorder, "layer"};
  sg::phase const kernel{recorder, "kernel"};
  {
    auto const outer = step.enter(stream);
    for (int i = 0; i < 2; ++i) {
      auto const middle = layer.enter(stream);
      auto const inner = kernel.enter(stream);
      launch(stream, 1ms);
    }
    auto const inner = kernel.enter(sg::host_only);
  }
  auto const recording = recorder.collect();
  REQUIRE(recording.all.size() == 3);
  CHECK(recording.all[0].phase == "step");
  CHECK(recording.all[1].phase == "layer");
  CHECK(recording.all[2].phase == "kernel");
  auto const outer = sample_of(recording, "step");
  CHECK(!outer.parent);
  CHECK(outer.records_inside == 8);
  CHECK(outer.device == 2ms);
  auto const middle = series_of(recording, "layer");
  REQUIRE(middle.samples.size() == 2);
  for (auto const& each : middle.samples) {
    CHECK(each.parent == 0u);
    CHECK(each.records_inside == 2);
    CHECK(each.device == 1ms);
  }
  auto const inner = series_of(recording, "kernel");
  REQUIRE(inner.samples.size() == 3);
  CHECK(inner.samples[0].parent == 1u);
  CHECK(inner.samples[1].parent == 1u);
  CHECK(inner.samples[2].parent == 0u);
  CHECK(inner.samples[0].records_inside == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a waited phase counts in the outer one with every record that it made") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const kernel{recorder, "kernel"};
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    simulated::clear_log();
    {
      auto const outer = step.enter(stream);
      auto inner = kernel.enter(stream);
      inner.wait(policy);
    }
    auto const sample = series_of(recorder.collect(), "step").samples.back();
    CHECK(sample.records_inside == (policy == sg::wait_policy::spin ? 2 : 3));
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a phase nested in itself keeps both levels") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const outer = step.enter(stream);
    launch(stream, 1ms);
    auto const inner = step.enter(stream);
    launch(stream, 2ms);
  }
  { auto const after = step.enter(stream); }
  auto const series = series_of(recorder.collect(), "step");
  REQUIRE(series.samples.size() == 3);
  CHECK(!series.samples[0].parent);
  CHECK(series.samples[1].parent == 0u);
  CHECK(!series.samples[2].parent);
  CHECK(device_times(series) == std::vector<nanoseconds>{3ms, 2ms, 0ms});
}

TEST_CASE_FIXTURE(fresh_machine, "what a thread enters does not nest in the phase that spawned the thread (case-67)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const spawn{recorder, "spawn"};
  sg::phase const work{recorder, "work"};
  std::thread worker;
  {
    auto const scope = spawn.enter(sg::host_only);
    elsewhere([&] {
      auto const inside = work.enter(stream);
      launch(stream, 1ms);
    });
    simulated::host_advance(9us);
  }
  elsewhere([&] {
    auto const inside = work.enter(stream);
    launch(stream, 100ms);
    simulated::host_advance(100ms);
  });
  auto const recording = recorder.collect();
  auto const launcher = sample_of(recording, "spawn");
  CHECK(launcher.submit == 9us);
  CHECK(launcher.records_inside == 0);
  auto const series = series_of(recording, "work");
  REQUIRE(series.samples.size() == 2);
  for (auto const& each : series.samples) {
    CHECK(!each.parent);
    CHECK(each.thread != launcher.thread);
  }
  CHECK(series.samples[1].submit == 100ms);
}

// ---------------------------------------------------------------------------------------------------------- exceptions

TEST_CASE_FIXTURE(fresh_machine, "an exception passes unchanged, its sample is incomplete, the range is popped once, the pair returns (case-34)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{100, 1}};
  sg::phase const step{recorder, "step"};
  sg::phase const host{recorder, "host"};
  ranges_seen::so_far.forget();
  for (int i = 0; i < 3; ++i) {
    try {
      auto const scope = step.enter(stream);
      auto const inner = host.enter(sg::host_only);
      throw std::out_of_range{"the body's own text"};
    } catch (std::out_of_range const& same) {
      CHECK(same.what() == std::string{"the body's own text"});
    }
  }
  CHECK(ranges_seen::so_far.pushes == 6);
  CHECK(ranges_seen::so_far.pops == 6);
  {
    auto const scope = step.enter(stream);  // the only pair of the pool is free again
    launch(stream, 2ms);
  }
  auto const recording = recorder.collect();
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(missing(series.samples[i].device) == sg::absence::body_threw);
    CHECK(missing(series.samples[i].submit) == sg::absence::body_threw);
    CHECK(missing(series.samples[i].completion) == sg::absence::not_asked);
  }
  CHECK(series.samples[3].device == 2ms);
  CHECK(missing(series_of(recording, "host").samples.at(0).device) == sg::absence::not_asked);
  auto const row = sg::summarize(series);
  CHECK(row.submit.samples.incomplete == 3);
  CHECK(row.device.samples.incomplete == 3);
  check_account(row.submit.samples, 4);
  check_account(row.device.samples, 4);
}

TEST_CASE_FIXTURE(fresh_machine, "a started phase that an exception ends is incomplete as well (case-34)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const request{recorder, "request"};
  ranges_seen::so_far.forget();
  auto const body = [&] {
    auto const open = request.start(stream);
    throw std::runtime_error{"on its way"};
  };
  CHECK_THROWS_WITH_AS(body(), "on its way", std::runtime_error);
  CHECK(ranges_seen::so_far.ends == 1);
  CHECK(missing(sample_of(recorder.collect(), "request").device) == sg::absence::body_threw);
}

TEST_CASE_FIXTURE(fresh_machine, "a phase that lives within the unwinding of another exception is complete") {
  struct cleanup {
    sg::phase const& step;
    cudaStream_t stream;
    ~cleanup() {
      auto const scope = step.enter(stream);
      launch(stream, 1ms);
    }
  };
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const body = [&] {
    cleanup const last{step, stream};
    throw std::runtime_error{"outer"};
  };
  CHECK_THROWS_AS(body(), std::runtime_error);
  CHECK(sample_of(recorder.collect(), "step").device == 1ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a failing stop record passes the body's exception and costs nothing else (case-34)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{100, 1}};
  sg::phase const step{recorder, "step"};
  ranges_seen::so_far.forget();
  {
    auto const scope = step.enter(stream);
    simulated::fail_nth("cuEventRecord", 1, cudaErrorUnknown);
  }
  { auto const scope = step.enter(stream); }
  CHECK(ranges_seen::so_far.pushes == 2);
  CHECK(ranges_seen::so_far.pops == 2);
  auto const recording = recorder.collect();
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == 2);
  CHECK(missing(series.samples[0].device) == sg::absence::call_failed);
  CHECK(series.samples[0].submit == 0ns);
  CHECK(series.samples[1].device == 0ns);
  REQUIRE(recording.problems.size() == 1);
  CHECK(recording.problems[0].phase == "step");
  CHECK(recording.problems[0].status == cudaErrorUnknown);
  CHECK(recording.problems[0].count == 1);
}

// -------------------------------------------------------------------------------------------------- the program's state

TEST_CASE_FIXTURE(fresh_machine, "the program's pending error survives, and none of ours is left (case-32)") {
  cudaStream_t const stream = new_stream();
  auto const run = [&] {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    for (auto const policy : {sg::wait_policy::none, sg::wait_policy::spin, sg::wait_policy::block}) {
      auto scope = step.enter(stream);
      launch(stream, 1ms);
      scope.wait(policy);
    }
    static_cast<void>(recorder.collect());
  };
  auto const leave_an_error = [] {
    simulated::user_scope const user;
    CHECK(cudaEventCreateWithFlags(nullptr, 0) == cudaErrorInvalidValue);
  };
  SUBCASE("a pending error is as it was") {
    leave_an_error();
    run();
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  }
  SUBCASE("a clean slot stays clean when calls of ours fail") {
    for (char const* call : {"cuEventRecord", "cuEventCreate", "cuStreamIsCapturing", "cuEventElapsedTime", "cuStreamGetCtx"}) {
      simulated::fail_nth(call, 2, cudaErrorInvalidResourceHandle);
      run();
      CHECK_MESSAGE(cudaPeekAtLastError() == cudaSuccess, call);
    }
  }
  SUBCASE("both at once: the pending error is as it was") {
    leave_an_error();
    for (char const* call : {"cuEventRecord", "cuEventCreate", "cuStreamIsCapturing", "cuEventElapsedTime", "cuStreamGetCtx"}) {
      simulated::fail_nth(call, 2, cudaErrorStreamCaptureImplicit);
      run();
      CHECK_MESSAGE(cudaPeekAtLastError() == cudaErrorInvalidValue, call);
    }
    CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  }
}

TEST_CASE("a stream of device 1 is measured there, and device 0 gets no context (case-06)") {
  simulated::machine_options options;
  options.devices = 2;
  fresh_machine const machine{options};
  cudaStream_t stream = nullptr;
  elsewhere([&] {
    simulated::user_scope const user;
    CHECK(cudaSetDevice(1) == cudaSuccess);
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess);
  });
  REQUIRE(!simulated::context_created(0));
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (auto const policy : {sg::wait_policy::none, sg::wait_policy::spin, sg::wait_policy::block}) {
    auto scope = step.enter(stream);
    // The program launches from a thread that device 1 is current on: a launch of the runtime's from here would give
    // device 0 its context.
    elsewhere([&] {
      simulated::user_scope const user;
      CHECK(cudaSetDevice(1) == cudaSuccess);
      launch(stream, 4ms);
    });
    scope.wait(policy);
  }
  simulated::fail_nth("cuEventRecord", 2, cudaErrorUnknown);  // and with an error on the way
  { auto const scope = step.enter(stream); }
  auto const recording = recorder.collect();
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == 4);
  for (std::size_t i = 0; i < 3; ++i) CHECK(series.samples[i].device == 4ms);
  CHECK(missing(series.samples[3].device) == sg::absence::call_failed);
  REQUIRE(recording.environment.devices.size() == 1);
  CHECK(recording.environment.devices[0].ordinal == 1);
  CHECK(!simulated::context_created(0));
  int current = -1;
  CHECK(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a scope that ends on another thread keeps its times and says what went wrong") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const next{recorder, "next"};
  struct holder {
    sg::scope scope;
  };
  ranges_seen::so_far.forget();
  auto* const frame = new holder{step.enter(stream)};  // as a coroutine keeps its locals
  launch(stream, 1ms);
  elsewhere([&] { delete frame; });
  { auto const scope = next.enter(stream); }
  CHECK(ranges_seen::so_far.pushes == 2);
  CHECK(ranges_seen::so_far.pops == 1);
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "step").device == 1ms);
  CHECK(!sample_of(recording, "next").parent);
  REQUIRE(recording.problems.size() == 1);
  CHECK(recording.problems[0].phase == "step");
}
