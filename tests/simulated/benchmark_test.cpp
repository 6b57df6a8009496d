// The bugs that would go unseen without this file: a median that is not the callable's, a measurement that never ends, and a
// number where there is none.
// Field cases: case-11, case-12, case-49 to case-51, case-69, case-70, case-74, case-85.

#include <stdexcept>

#include <streamgauge/measure/benchmark.hpp>

#include "measured.hpp"

using namespace measured;

TEST_CASE_FIXTURE(plain_run, "case-69 the median is the callable's, and its first call is warm-up") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { launch(on, ++calls == 1 ? 5ms : 20us); }, within(10s));
  CAPTURE(found.why_none);
  CHECK(found.why_none == "");
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(found.feeding == sg::fed_by::gate);
  CHECK_FALSE(found.watched);
  REQUIRE(found.alone());
  CHECK(found.alone()->samples[0].warmup);
  CHECK(found.alone()->samples[0].device.value() == 5ms);
  CHECK(found.stopped.cause == sg::stop_cause::narrow);
  CHECK(found.stopped.taken == 32);
  CHECK(found.gate == gating::gated);
  // One to try; 1, 2, 4, 8, 16 and the last one behind a gate each; and before each of the 32 one that parts it.
  CHECK(waits() == 1 + 6 + 32);
  CHECK(found.samples()->samples.size() == found.stopped.taken);
}

TEST_CASE_FIXTURE(plain_run, "case-70 what came before it was steady is kept apart, and a callable that never is ends at the budget") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto settling = within(10s);
  settling.warmup = 1;
  auto const settled = sg::measure(stream, [&](cudaStream_t on) { launch(on, ++calls < 50 ? 40us : 20us); }, settling);
  CHECK(settled.median() == sg::fractional_nanoseconds{20us});
  CHECK(settled.stopped.cause == sg::stop_cause::narrow);
  CHECK(settled.device_summary()->device.values.before_steady > 0);

  calls = 0;
  auto const falling = sg::measure(stream, [&](cudaStream_t on) { launch(on, 2ms - ++calls * 5us); }, within(10s, 100));
  CHECK(falling.stopped.cause == sg::stop_cause::samples_spent);
  CHECK(falling.stopped.taken == 100);
  CHECK(falling.stopped.steady != sg::steadiness::yes);
}

TEST_CASE_FIXTURE(plain_run, "case-85 an interval over four executions is one sample, and the median is one execution's") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto chosen = within(10s);
  chosen.iterations = 4;
  chosen.warmup = 2;
  chosen.work.flops = 1e6;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { ++calls, launch(on, 10us); }, chosen);
  CHECK(found.median() == sg::fractional_nanoseconds{10us});
  REQUIRE(found.samples());
  CHECK(found.samples()->samples[0].device.value() == 40us);
  REQUIRE(found.samples()->conditions.size() == 1);
  CHECK(found.samples()->conditions[0] == sg::condition{"iterations", "4"});
  CHECK(static_cast<std::size_t>(calls) == found.alone()->samples.size() + 4 * found.samples()->samples.size());
  // Declared is the work of one execution; the series has an interval's.
  CHECK(found.work.flops == 1e6);
  REQUIRE(found.samples()->work);
  CHECK(found.samples()->work->flops == 4e6);
  CHECK_FALSE(found.samples()->work->bytes_read);
}

TEST_CASE_FIXTURE(plain_run, "a callable without a parameter is called as it is, and both sides are there") {
  cudaStream_t const stream = new_stream();
  simulated::set_poll_step(1us);
  auto const found = sg::measure(stream, [&] { launch(stream, 20us); }, within(10s));
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  for (auto const& one : found.alone()->samples) {
    CHECK(one.waited == sg::wait_policy::spin);
    REQUIRE(one.completion.known());
    CHECK(*one.completion.value() >= 20us);
  }
}

TEST_CASE_FIXTURE(plain_run, "case-12 a callable that synchronises is measured without a gate, and what a gate had spoiled is dropped") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    launch(on, 20us);
    synchronize(on);
  }, within(10s));
  CAPTURE(found.why_none);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(found.gate == gating::timed_out);
  auto const& all = found.samples()->samples;
  REQUIRE(all.size() >= 34);
  CHECK(missing(all[0].device) == absence::gate_timeout);
  CHECK(missing(all[1].device) == absence::gate_timeout);
  CHECK(all[2].device.value() == 20us);
}

TEST_CASE_FIXTURE(plain_run, "what the callable throws comes out, and the stream is not held") {
  cudaStream_t const stream = new_stream();
  for (int last : {1, 2, 40}) {
    CAPTURE(last);
    int calls = 0;
    CHECK_THROWS_WITH_AS(void(sg::measure(stream, [&](cudaStream_t on) {
                           if (++calls == last) throw std::runtime_error{"mine"};
                           launch(on, 20us);
                         }, within(10s))),
                         "mine", std::runtime_error);
    synchronize(stream);  // would hang
  }
}

TEST_CASE_FIXTURE(plain_run, "a budget of nothing runs nothing, and says so") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const body = [&](cudaStream_t on) { ++calls, launch(on, 20us); };
  for (auto const& chosen : {within(0s), within(10s, 0)}) {
    auto const found = sg::measure(stream, body, chosen);
    CHECK_FALSE(found.median());
    CHECK(found.why_none == "the budget allows no execution");
    CHECK(found.samples() == nullptr);
  }
  auto nothing = within(10s);
  nothing.iterations = 0;
  CHECK(sg::measure(stream, body, nothing).why_none == "an interval without an execution has no time");
  CHECK(calls == 0);
}

TEST_CASE_FIXTURE(plain_run, "the floor's kernels, which the driver compiles for as long as it likes, take nothing off the budget") {
  cudaStream_t const stream = new_stream();
  simulated::set_cost("cuModuleLoadData", 90ms);
  auto const begun = sg::host_now();
  auto const found = sg::measure(stream, [](cudaStream_t on) { launch(on, 20us); }, within(50ms));
  CHECK(found.stopped.cause == sg::stop_cause::narrow);
  CHECK(found.why_none == "");
  CHECK(found.took < 50ms);
  CHECK(found.taken.environment.devices.at(0).kernel_floor.has_value());
  CHECK(sg::host_now() - begun >= 90ms);
}

TEST_CASE_FIXTURE(plain_run, "a callable that takes a minute runs a few times at most") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    ++calls;
    launch(on, 60s);
    simulated::host_advance(60s);
  }, within(5s));
  CHECK(calls <= 3);
  CHECK(found.stopped.cause == sg::stop_cause::time_spent);
  CHECK_FALSE(found.median());
  CHECK(found.why_none != "");
  REQUIRE(found.alone());
  CHECK(found.alone()->samples[0].device.value() == 60s);
}

TEST_CASE_FIXTURE(plain_run, "case-50 case-51 under a tool the asked number of executions runs without gate and flush, and is no result") {
  setenv("NVTX_INJECTION64_PATH", "/a/tool", 1);
  simulated::set_device_attribute(0, l2_attribute, 1'000'000);
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto chosen = within(10s);
  chosen.under_tool = 7;
  chosen.cache = sg::cache_state::cold;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { ++calls, launch(on, 20us); }, chosen);
  unsetenv("NVTX_INJECTION64_PATH");
  CHECK(found.watched);
  CHECK(waits() == 0);
  CHECK(simulated::count("cudaMemsetAsync") == 0);
  REQUIRE(found.samples());
  CHECK(found.samples()->samples.size() == 7);
  CHECK(found.stopped.taken == 0);
}

TEST_CASE_FIXTURE(plain_run, "with cold caches the L2 is overwritten before each interval, outside of it, and warm ones are compared") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  std::size_t overwritten = 0;
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    std::size_t const now = simulated::count("cudaMemsetAsync");
    launch(on, now > overwritten ? 80us : 20us);
    overwritten = now;
  }, chosen);
  CAPTURE(found.why_none);
  CHECK(found.median() == sg::fractional_nanoseconds{80us});
  CHECK(overwritten == found.samples()->samples.size());
  CHECK(found.cold_over_warm.value() == doctest::Approx(4.0));
  CHECK(found.samples()->conditions[0] == sg::condition{"cache", "cold"});
}

TEST_CASE_FIXTURE(plain_run, "cold in a graph is cold too, and the warm launches that it is compared with are no samples") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  chosen.how = sg::launched_by::graph;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { launch(on, 20us); }, chosen);
  CAPTURE(found.why_none);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(simulated::count("cudaMemsetAsync") == found.samples()->samples.size());
  CHECK(found.cold_over_warm.value() == doctest::Approx(1.0));
}

TEST_CASE_FIXTURE(plain_run, "an interval whose caches were not overwritten gives no number, and the measurement ends") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  simulated::fail_nth("cudaMemsetAsync", 3, cudaErrorInvalidValue);
  auto const found = sg::measure(stream, [&](cudaStream_t on) { launch(on, 20us); }, chosen);
  CHECK_FALSE(found.median());
  CHECK(found.why_none.find("the caches cannot be made cold: ") == 0);
  CHECK(found.why_none.find("cudaMemsetAsync") != std::string::npos);
  CHECK(found.samples()->samples.size() < 32);
}

TEST_CASE_FIXTURE(plain_run, "caches that cannot be made cold give no number") {
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { launch(on, 20us); }, chosen);
  CHECK(found.why_none == "the caches cannot be made cold: the device does not say how large its L2 cache is");
  CHECK_FALSE(found.median());
}

TEST_CASE_FIXTURE(plain_run, "a callable that leaves its stream in a capture, or enqueues nothing, is told") {
  cudaStream_t const stream = new_stream();
  auto const captured = sg::measure(stream, [&](cudaStream_t on) {
    simulated::user_scope const user;
    static_cast<void>(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed));
  }, within(1s));
  CHECK_FALSE(captured.median());
  CHECK(captured.why_none == sg::describe(absence::stream_capture));
}

TEST_CASE_FIXTURE(plain_run, "captured once, the callable is measured inside its graph, as often as one interval holds it") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto chosen = within(10s);
  chosen.how = sg::launched_by::graph;
  chosen.iterations = 3;
  auto const found = sg::measure(stream, [&](cudaStream_t on) { ++calls, launch(on, 20us); }, chosen);
  CAPTURE(found.why_none);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(found.feeding == sg::fed_by::gate);
  REQUIRE(found.samples());
  CHECK(found.samples()->samples[0].device.value() == 60us);
  CHECK(static_cast<std::size_t>(calls) == found.alone()->samples.size() + 3);
  CHECK(found.stopped.cause == sg::stop_cause::narrow);
}

TEST_CASE_FIXTURE(plain_run, "what cannot be captured gives no number but the reason, and ends its capture") {
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.how = sg::launched_by::graph;
  auto const nothing = sg::measure(stream, [](cudaStream_t) {}, chosen);
  CHECK(nothing.why_none == "the callable enqueued nothing on the stream");
  auto const waiting = sg::measure(stream, [&](cudaStream_t on) {
    launch(on, 20us);
    synchronize(on);
  }, chosen);
  CHECK_FALSE(waiting.median());
  CHECK(waiting.why_none.find("the callable cannot be captured into a graph: ") == 0);
  int calls = 0;
  CHECK_THROWS_AS(void(sg::measure(stream, [&](cudaStream_t on) {
                    launch(on, 20us);
                    if (++calls > 35) throw std::runtime_error{"mine"};
                  }, chosen)),
                  std::runtime_error);
  simulated::user_scope const user;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  CHECK(cudaStreamIsCapturing(stream, &capture) == cudaSuccess);
  CHECK(capture == cudaStreamCaptureStatusNone);
}
