// What is placed, and what is not: spans, graphs, several devices, warm-up, waits, tools, resets, forks, failures. Without
// these one kind of work would stand where another one ran, or a failure of ours would reach the program.

#include <streamgauge/measure/timeline.hpp>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <streamgauge/analyze/latency.hpp>

#include "graph_program.hpp"
#include "own_process.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using graph_program::timed_graph;
using sg::absence;
using sg::feeding;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// What anchors need to say something: records and readings that take time.
void costly_calls() {
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("cudaLaunchKernel", 3us);
  simulated::set_cost("cuEventElapsedTime", 100ns);
}

/// The moment since the recording's origin, as the sample places it.
nanoseconds begin_of(sg::sample const& one) {
  REQUIRE_MESSAGE(one.queue.known(), sg::describe(one.queue.why_absent()));
  return one.entered + *one.queue.value();
}
nanoseconds distance(nanoseconds a, nanoseconds b) { return a < b ? b - a : a - b; }

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-11 launches one by one starve the device, queued behind other work they do not") {
  costly_calls();
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const alone{recorder, "alone"};
  sg::phase const queued{recorder, "queued"};
  for (int i = 0; i < 20; ++i) {
    {
      auto const scope = alone.enter(stream);
      for (int k = 0; k < 10; ++k) launch(stream, 1us);
    }
    wait_for(stream);
    launch(stream, 1ms);
    {
      auto const scope = queued.enter(stream);
      for (int k = 0; k < 10; ++k) launch(stream, 1us);
    }
    wait_for(stream);
  }
  auto const taken = recorder.collect();
  auto const starved = sg::split_latency(series_of(taken, "alone"));
  auto const clean = sg::split_latency(series_of(taken, "queued"));
  CHECK(starved.count(feeding::starved) == 20);
  CHECK(clean.count(feeding::clean) == 20);
  // Ten launches of 3 us with 1 us of work each: the last one's work ends 31 us after the start, though ten are ten.
  CHECK(starved.device->count() == 31'000);
  CHECK(clean.device->count() == 10'000);
}

TEST_CASE_FIXTURE(fresh_machine, "case-35 host work, then device work: the queue is as long as the host made it wait") {
  costly_calls();
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  launch(stream, 50ms);
  nanoseconds const free_at = simulated::stream_end(stream) - 1s;
  {
    auto const scope = step.enter(stream);
    launch(stream, 5ms);
  }
  sg::sample const one = sample_of(recorder.collect(), "step");
  CHECK(distance(begin_of(one), free_at) <= one.bound);
  CHECK(*one.queue.value() > 49ms);
  CHECK(sg::feeding_of(one) == feeding::clean);
  CHECK(one.bound < 4us);
}

TEST_CASE_FIXTURE(fresh_machine, "a span and its branches are placed where each began") {
  costly_calls();
  cudaStream_t const first = new_stream();
  cudaStream_t const second = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const both{recorder, "both"};
  sg::phase const early{recorder, "early"};
  sg::phase const late{recorder, "late"};
  nanoseconds began[2];
  launch(first, 10ms);
  launch(second, 3ms);
  began[0] = simulated::stream_end(first) - 1s;
  began[1] = simulated::stream_end(second) - 1s;
  {
    sg::span span{both};
    {
      auto const branch = span.branch(first, early);
      launch(first, 1ms);
    }
    {
      auto const branch = span.branch(second, late);
      launch(second, 2ms);
    }
  }
  auto const taken = recorder.collect();
  sg::sample const whole = sample_of(taken, "both");
  sg::sample const one = sample_of(taken, "early");
  sg::sample const other = sample_of(taken, "late");
  CHECK(distance(begin_of(one), began[0]) <= one.bound);
  CHECK(distance(begin_of(other), began[1]) <= other.bound);
  // It begins with the branch that began first on the device, whichever was entered first.
  CHECK(distance(begin_of(whole), began[1]) <= whole.bound);
  CHECK(whole.bound < 4us);
  CHECK(other.begins == 0ns);
  REQUIRE(one.begins.known());
  CHECK(distance(*one.begins.value(), began[0] - began[1]) < 10ns);  // read as float milliseconds
}

TEST_CASE_FIXTURE(fresh_machine, "a branch that begins seconds after its span is told by the device's time, which drifts") {
  for (double const drift : {-5e-6, 5e-6}) {
    CAPTURE(drift);
    simulated::reset();
    costly_calls();
    simulated::set_device_clock(0, {drift, 0, 32ns});
    cudaStream_t const first = new_stream();
    cudaStream_t const second = new_stream();
    nanoseconds const origin = simulated::host_now();
    sg::timeline_recorder recorder;
    sg::phase const both{recorder, "both"};
    sg::phase const early{recorder, "early"};
    sg::phase const late{recorder, "late"};
    nanoseconds began{0};
    {
      sg::span span{both};
      {
        auto const branch = span.branch(first, early);
        launch(first, 1ms);
      }
      launch(second, 10s);
      {
        auto const branch = span.branch(second, late);
        began = simulated::stream_end(second) - origin;
        launch(second, 2ms);
      }
    }
    sg::sample const other = sample_of(recorder.collect(), "late");
    CHECK(distance(begin_of(other), began) <= other.bound);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "each replay of a graph is placed by its own events") {
  costly_calls();
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder{{1000, 16}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const step{inner, stream, 2ms};
  sg::graph_replay replay{launches, step.executable, step.graph, stream};
  std::vector<nanoseconds> began;
  for (int i = 0; i < 5; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    began.push_back(simulated::stream_end(stream) - 1s - 2ms);
    simulated::host_advance(1ms);
  }
  auto const samples = series_of(recorder.collect(), "inner").samples;
  REQUIRE(samples.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(samples[i].device == 2ms);
    CHECK(distance(begin_of(samples[i]), began[i]) <= samples[i].bound);
  }
}

TEST_CASE("two devices with clocks of their own share the host's") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  costly_calls();
  simulated::set_device_clock(0, {150e-6, 0, 32ns});
  simulated::set_device_clock(1, {-150e-6, 0, 32ns});
  select_device(1);
  cudaStream_t const there = new_stream();
  select_device(0);
  cudaStream_t const here = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step[] = {{recorder, "here"}, {recorder, "there"}};
  std::vector<nanoseconds> began[2];
  for (int i = 0; i < 60; ++i) {
    for (std::size_t device = 0; device < 2; ++device) {
      cudaStream_t const stream = device == 0 ? here : there;
      auto const scope = step[device].enter(stream);
      began[device].push_back(simulated::stream_end(stream) - 1s);
      launch(stream, 100us);
    }
    simulated::host_advance(50ms);
  }
  auto const taken = recorder.collect();
  CHECK(taken.clocks.size() == 2);
  for (std::size_t device = 0; device < 2; ++device) {
    auto const samples = series_of(taken, device == 0 ? "here" : "there").samples;
    REQUIRE(samples.size() == 60);
    for (std::size_t i = 0; i < 60; ++i) {
      REQUIRE(distance(begin_of(samples[i]), began[device][i]) <= samples[i].bound);
      REQUIRE(samples[i].bound < 4us);
    }
  }
  CHECK(simulated::fatal_misuses().empty());
}

TEST_CASE_FIXTURE(fresh_machine, "what has no device time has no place, for the same reason") {
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const hosted{recorder, "hosted"};
  sg::phase const captured{recorder, "captured"};
  { auto const scope = hosted.enter(sg::host_only); }
  graph_program::begin_capture(stream);
  { auto const scope = captured.enter(stream); }
  static_cast<void>(graph_program::end_capture(stream));
  auto const taken = recorder.collect();
  CHECK(missing(sample_of(taken, "hosted").queue) == absence::not_asked);
  CHECK(missing(sample_of(taken, "captured").queue) == absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine, "another thread's capture lives through anchors, in every mode") {
  for (auto const mode : graph_program::every_mode) {
    cudaStream_t const stream = new_stream();
    cudaStream_t const captured = new_stream();
    sg::timeline_recorder recorder;
    sg::phase const step{recorder, "step"};
    graph_program::begin_capture(captured, mode);
    std::thread{[&] {
      for (int i = 0; i < 3; ++i) {
        { auto const scope = step.enter(stream); }
        simulated::host_advance(200ms);
      }
    }}.join();
    launch(captured, 1ms);
    static_cast<void>(graph_program::end_capture(captured));
    CHECK(series_of(recorder.collect(), "step").samples.size() == 3);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "after a reset of the device what came before stays unplaced, and what comes after is placed") {
  costly_calls();
  std::optional<cudaStream_t> stream{new_stream()};
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(*stream);
    launch(*stream, 1ms);
  }
  reset_device();
  stream = new_stream();
  for (int i = 0; i < 3; ++i) {
    {
      auto const scope = step.enter(*stream);
      launch(*stream, 1ms);
    }
    simulated::host_advance(150ms);
  }
  auto const samples = series_of(recorder.collect(), "step").samples;
  REQUIRE(samples.size() == 4);
  CHECK(missing(samples[0].queue) == absence::context_gone);
  for (std::size_t i = 1; i < 4; ++i) CHECK(samples[i].queue.known());
}

TEST_CASE_FIXTURE(fresh_machine, "a forked child and its parent end without a call on each other's clocks") {
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  CHECK(in_forked_child([&] {
          simulated::clear_log();
          simulated::host_advance(300ms);
          { auto const scope = step.enter(stream); }
          auto const taken = recorder.collect();
          bool const untouched = simulated::count("cuEventRecord") == 0 && simulated::count("cuEventDestroy") == 0;
          return untouched && missing(taken.all.at(0).samples.at(1).queue) == absence::forked ? 0 : 1;
        }) == 0);
  { auto const scope = step.enter(stream); }
  for (auto const& each : series_of(recorder.collect(), "step").samples) CHECK(each.queue.known());
}

TEST_CASE_FIXTURE(fresh_machine, "under a tool that runs every kernel alone nothing is placed, and the recording says why") {
  setenv("NVTX_INJECTION64_PATH", "/some/where/libncu.so", 1);
  {
    cudaStream_t const stream = new_stream();
    sg::timeline_recorder recorder;
    unsetenv("NVTX_INJECTION64_PATH");
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(stream); }
    CHECK(simulated::count("cuStreamCreate") == 0);
    auto const taken = recorder.collect();
    CHECK(missing(sample_of(taken, "step").queue) == absence::no_clock);
    CHECK(taken.why_not_placed == "a tool that runs every kernel alone is attached");
    CHECK(taken.clocks.empty());
  }
}

TEST_CASE_FIXTURE(fresh_machine, "whatever call of a map fails: device times are right, places hold or are absent, nothing leaks") {
  for (std::size_t nth = 1;; ++nth) {
    simulated::reset();
    costly_calls();
    cudaStream_t const stream = new_stream();
    std::size_t const streams = simulated::live_streams();
    {
      sg::timeline_recorder recorder{{1000, 4}};
      sg::phase const step{recorder, "step"};
      { auto const scope = step.enter(sg::host_only); }
      simulated::fail_nth_call(nth, cudaErrorUnknown,
                               {"cuStreamCreate", "cuEventElapsedTime", "cuEventRecord", "cuEventCreate",
                                "cuThreadExchangeStreamCaptureMode", "cuCtxPushCurrent"});
      std::vector<nanoseconds> began;
      for (int i = 0; i < 4; ++i) {
        {
          auto const scope = step.enter(stream);
          began.push_back(simulated::stream_end(stream) - 1s);
          launch(stream, 1ms);
        }
        simulated::host_advance(120ms);
      }
      auto const samples = series_of(recorder.collect(), "step").samples;
      REQUIRE(samples.size() == 5);
      for (std::size_t i = 0; i < 4; ++i) {
        CAPTURE(nth);
        CAPTURE(i);
        sg::sample const& one = samples[i + 1];
        // The launch's own 3 us lie between the start and the work.
        if (one.device.known()) CHECK(distance(*one.device.value(), 1'003'000ns) < 2ns);
        if (one.queue.known()) CHECK(distance(begin_of(one), began[i]) <= one.bound);
      }
    }
    CHECK(simulated::live_streams() == streams);
    CHECK(simulated::live_events() == 0);
    CHECK(pending_error() == cudaSuccess);
    if (simulated::injected_failures() == 0) break;
    REQUIRE(nth < 300);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a host that is seconds ahead: what the device does later than any anchor of ours is placed by what was read before") {
  costly_calls();
  for (nanoseconds const each : {nanoseconds{10ms}, nanoseconds{200ms}, nanoseconds{450ms}}) {
    CAPTURE(each.count());
    cudaStream_t const stream = new_stream();
    nanoseconds const origin = simulated::host_now();
    sg::timeline_recorder recorder;
    sg::phase const step{recorder, "step"};
    std::vector<nanoseconds> began;
    launch(stream, 5ms);  // so that each begins when the one before it ends
    for (int i = 0; i < 100; ++i) {
      began.push_back(simulated::stream_end(stream) - origin);
      auto const scope = step.enter(stream);
      launch(stream, each);
    }
    auto const of = series_of(recorder.collect(), "step");
    wait_for(stream);
    auto const taken = recorder.collect();
    auto const& all = series_of(taken, "step").samples;
    REQUIRE(all.size() == began.size());
    for (std::size_t i = 0; i < all.size(); ++i)
      CHECK_MESSAGE(distance(begin_of(all[i]), began[i]) <= all[i].bound, i);
    // Told by elapsed times of up to half a second, one after the other, each rounded by up to 28 ns.
    CHECK(all.back().bound < 100 * 140ns);
  }
}
