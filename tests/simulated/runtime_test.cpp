// Tests of the simulated runtime itself: time on both sides, streams, events. Without them a wrong rule of the machine
// would let wrong code of ours pass.

#include <thread>

#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;

// ---------------------------------------------------------------------------------------------- clock and device time

TEST_CASE_FIXTURE(fresh_machine, "an event pair around work reads exactly the duration of the work") {
  auto const stream = make_stream();
  timed_work const events(stream, 5ms);
  CHECK(elapsed_status(events.start, events.stop) == cudaErrorNotReady);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(cudaEventSynchronize(events.stop) == cudaSuccess);
  CHECK(elapsed(events.start, events.stop) == 5.0f);
  CHECK(simulated::host_now() == 1s + 5ms);
  simulated::host_advance(1ms);
  CHECK(cudaEventSynchronize(events.stop) == cudaSuccess);
  CHECK(simulated::host_now() == 1s + 6ms);
}

TEST_CASE_FIXTURE(fresh_machine, "the steady clock is the virtual clock and costs what it is told to cost") {
  auto const before = std::chrono::steady_clock::now();
  simulated::host_advance(7us);
  CHECK(std::chrono::steady_clock::now() - before == 7us);
  simulated::set_cost("steady_clock::now", 20ns);
  auto const first = std::chrono::steady_clock::now();
  CHECK(std::chrono::steady_clock::now() - first == 20ns);
}

TEST_CASE_FIXTURE(fresh_machine, "a call costs host time before it acts") {
  auto const stream = make_stream();
  simulated::set_cost("cudaEventRecord", 1us);
  simulated::set_cost("cudaLaunchKernel", 3us);
  timed_work const events(stream, 2us);  // records at 1 us, work from 4 to 6 us, records at 6 us
  CHECK(simulated::host_now() == 1s + 5us);
  CHECK(simulated::stream_end(stream) == 1s + 6us);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(elapsed(events.start, events.stop) == 0.005f);
}

TEST_CASE_FIXTURE(fresh_machine, "on an idle stream the host's gap is inside the pair, behind queued work it is not") {
  auto const stream = make_stream();
  auto const gap = [&] {
    auto const start = make_event(), stop = make_event();
    cudaEventRecord(start, stream);
    simulated::host_advance(10us);
    launch(stream, 2us);
    cudaEventRecord(stop, stream);
    cudaStreamSynchronize(stream);
    return elapsed(start, stop);
  };
  CHECK(gap() == 0.012f);
  launch(stream, 1ms);
  CHECK(gap() == 0.002f);
}

TEST_CASE_FIXTURE(fresh_machine, "each answer not ready moves the host clock by the poll step, so polling ends") {
  auto const stream = make_stream();
  timed_work const events(stream, 1us);
  int polls = 0;
  while (elapsed_status(events.start, events.stop) == cudaErrorNotReady) ++polls;
  CHECK(polls == 10);
  simulated::set_poll_step(0ns);
  launch(stream, 1us);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  CHECK(simulated::host_now() == 1s + 1us);
}

TEST_CASE_FIXTURE(fresh_machine, "a record takes the device time that it is told to take") {
  simulated::set_record_duration(1300ns);
  auto const stream = make_stream();
  auto const start = make_event(), stop = make_event();
  cudaEventRecord(start, stream);
  cudaEventRecord(stop, stream);
  cudaEventSynchronize(stop);
  CHECK(elapsed(start, stop) == 0.0013f);
}

TEST_CASE_FIXTURE(fresh_machine, "work behind a hold starts at the release, and waiting for it is a fatal misuse") {
  auto const stream = make_stream();
  launch(stream, 1us);
  simulated::hold(stream);
  timed_work const events(stream, 5us);
  simulated::host_advance(1ms);
  CHECK(cudaEventQuery(events.start) == cudaErrorNotReady);
  CHECK(misuses().empty());
  CHECK(cudaStreamSynchronize(stream) == cudaErrorUnknown);
  CHECK(mentions(misuses(), "cudaStreamSynchronize waits for ever"));
  simulated::set_poll_limit(2);
  CHECK(cudaEventQuery(events.stop) == cudaErrorNotReady);
  CHECK(cudaEventQuery(events.stop) == cudaErrorUnknown);
  CHECK(mentions(misuses(), "polls for ever"));
  auto const released = simulated::host_now();
  simulated::release(stream);
  CHECK(simulated::stream_end(stream) == released + 5us);
  CHECK(cudaEventSynchronize(events.stop) == cudaSuccess);
  CHECK(elapsed(events.start, events.stop) == 0.005f);
}

// ------------------------------------------------------------------------------------------------------------- streams

TEST_CASE_FIXTURE(fresh_machine, "streams overlap, and a wait orders them") {
  auto const a = make_stream(), b = make_stream();
  launch(a, 5ms);
  launch(b, 20ms);
  CHECK(simulated::stream_end(a) == 1s + 5ms);
  CHECK(simulated::stream_end(b) == 1s + 20ms);
  auto const joined = make_event(cudaEventDisableTiming);
  cudaEventRecord(joined, b);
  cudaStreamWaitEvent(a, joined, 0);
  launch(a, 1ms);
  CHECK(simulated::stream_end(a) == 1s + 21ms);
}

TEST_CASE_FIXTURE(fresh_machine, "the legacy stream is a barrier for blocking streams and not for the others") {
  auto const a = make_stream(cudaStreamDefault), b = make_stream(cudaStreamDefault), free = make_stream();
  auto const start = make_event();
  launch(a, 10ms);
  cudaEventRecord(start, nullptr);  // a mere record on the legacy stream separates two streams
  launch(b, 10ms);
  launch(free, 10ms);
  CHECK(simulated::stream_end(a) == 1s + 10ms);
  CHECK(simulated::stream_end(b) == 1s + 20ms);
  CHECK(simulated::stream_end(free) == 1s + 10ms);
  launch(cudaStreamPerThread, 30ms);
  launch(cudaStreamLegacy, 1ms);
  CHECK(simulated::stream_end(cudaStreamPerThread) == 1s + 40ms);
  CHECK(simulated::stream_end(cudaStreamLegacy) == 1s + 41ms);
}

TEST_CASE_FIXTURE(fresh_machine, "each thread has its own per-thread default stream") {
  launch(cudaStreamPerThread, 10ms);
  simulated::nanoseconds other{};
  std::thread([&] {
    launch(cudaStreamPerThread, 3ms);
    other = simulated::stream_end(cudaStreamPerThread);
  }).join();
  CHECK(other == 1s + 3ms);
  CHECK(simulated::stream_end(cudaStreamPerThread) == 1s + 10ms);
}

extern "C" cudaError_t cudaEventRecord_ptsz(cudaEvent_t event, cudaStream_t stream);

TEST_CASE_FIXTURE(fresh_machine, "a null stream means what the function's form or the look-up's flag says") {
  auto const event = make_event();
  auto const per_thread = driver<int(cudaEvent_t, cudaStream_t)>("cuEventRecord", cudaEnablePerThreadDefaultStream);
  auto const legacy = driver<int(cudaEvent_t, cudaStream_t)>("cuEventRecord");
  simulated::clear_log();
  CHECK(cudaEventRecord(event, nullptr) == cudaSuccess);
  CHECK(cudaEventRecord_ptsz(event, nullptr) == cudaSuccess);
  CHECK(legacy(event, nullptr) == 0);
  CHECK(per_thread(event, nullptr) == 0);
  auto const log = simulated::log();
  REQUIRE(log.size() == 4);
  CHECK(log[0].stream == cudaStreamLegacy);
  CHECK(log[1].stream == cudaStreamPerThread);
  CHECK(log[2].stream == cudaStreamLegacy);
  CHECK(log[3].stream == cudaStreamPerThread);
}

TEST_CASE_FIXTURE(fresh_machine, "the next stream gets the handle of the one destroyed before, and events never do") {
  auto const stream = make_stream();
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(make_stream() == stream);
  auto const event = make_event();
  CHECK(cudaEventDestroy(event) == cudaSuccess);
  CHECK(make_event() != event);
}

// -------------------------------------------------------------------------------------------------------------- events

TEST_CASE_FIXTURE(fresh_machine, "recording again overwrites: three pairs over one read as the last") {
  auto const stream = make_stream();
  auto const start = make_event(), stop = make_event();
  for (auto const work : {1ms, 2ms, 3ms}) {
    cudaEventRecord(start, stream);
    launch(stream, work);
    cudaEventRecord(stop, stream);
  }
  cudaEventSynchronize(stop);
  CHECK(elapsed(start, stop) == 3.0f);
}

TEST_CASE_FIXTURE(fresh_machine, "an event that was never recorded is complete and has no time") {
  auto const stream = make_stream();
  auto const recorded = make_event(), never = make_event(), untimed = make_event(cudaEventDisableTiming);
  cudaEventRecord(recorded, stream);
  cudaEventRecord(untimed, stream);
  CHECK(cudaEventQuery(never) == cudaSuccess);
  CHECK(cudaEventSynchronize(never) == cudaSuccess);
  CHECK(elapsed_status(recorded, never) == cudaErrorInvalidResourceHandle);
  CHECK(elapsed_status(recorded, untimed) == cudaErrorInvalidResourceHandle);
  CHECK(elapsed_status(recorded, nullptr) == cudaErrorInvalidResourceHandle);
}

TEST_CASE("events of two devices: no record across, no time across, but a wait") {
  simulated::machine_options two;
  two.devices = 2;
  fresh_machine const machine(two);
  auto const stream0 = make_stream();
  timed_work const on0(stream0, 1ms);
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  auto const stream1 = make_stream();
  timed_work const on1(stream1, 1ms);
  CHECK(cudaEventRecord(on0.stop, stream1) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamWaitEvent(stream1, on0.stop, 0) == cudaSuccess);
  cudaEventSynchronize(on1.stop);
  CHECK(elapsed_status(on0.start, on1.stop) == cudaErrorInvalidResourceHandle);
}

TEST_CASE_FIXTURE(fresh_machine, "a pair whose stream was destroyed still reads right") {
  auto const stream = make_stream();
  timed_work const events(stream, 4ms);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaEventSynchronize(events.stop) == cudaSuccess);
  CHECK(elapsed(events.start, events.stop) == 4.0f);
}

TEST_CASE_FIXTURE(fresh_machine, "what crashes a real process is a fatal misuse here") {
  auto const stream = make_stream();
  auto const event = make_event();
  cudaStreamDestroy(stream);
  CHECK(cudaEventRecord(event, stream) == cudaErrorInvalidResourceHandle);
  CHECK(mentions(misuses(), "cudaEventRecord: stream"));
  cudaEventDestroy(event);
  cudaEventDestroy(event);
  CHECK(mentions(misuses(), "cudaEventDestroy: event"));
  cudaEventDestroy(nullptr);
  CHECK(mentions(misuses(), "a null event"));
  cudaStreamDestroy(stream);
  CHECK(mentions(misuses(), "cudaStreamDestroy: stream"));
}

TEST_CASE_FIXTURE(fresh_machine, "a fatal misuse that nobody asks for fails its test case" * doctest::should_fail()) {
  cudaEventDestroy(nullptr);
}
