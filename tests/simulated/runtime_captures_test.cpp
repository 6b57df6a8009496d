// Tests of the simulated runtime itself: stream captures, by the table of what was measured on a real machine.

#include <thread>

#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;

// ------------------------------------------------------------------------------------------------------------ captures

namespace {

constexpr cudaStreamCaptureMode all_modes[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                               cudaStreamCaptureModeRelaxed};

/// What a call did to a capture that was open meanwhile: its own status, and the status of ending the capture.
struct outcome {
  int call;
  int end;
  bool operator==(outcome const& other) const { return call == other.call && end == other.end; }
};
doctest::String toString(outcome const& o) {
  return ("{" + std::to_string(o.call) + ", " + std::to_string(o.end) + "}").c_str();
}

template <class Call>
outcome during_capture(cudaStream_t stream, cudaStreamCaptureMode mode, Call call) {
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
  outcome result{call(), 0};
  cudaGraph_t graph = nullptr;
  result.end = cudaStreamEndCapture(stream, &graph);
  CHECK((graph == nullptr) == (result.end != 0));
  if (graph) cudaGraphDestroy(graph);
  return result;
}

template <class Call>
int on_another_thread(Call call) {
  int status = -1;
  std::thread([&] { status = call(); }).join();
  return status;
}

template <class Call>
int relaxed(Call call) {
  auto mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  int const status = call();
  cudaThreadExchangeStreamCaptureMode(&mode);
  return status;
}

constexpr outcome fine{0, 0}, broken{900, 901};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "which calls break a capture, by its mode and by the thread that calls") {
  auto const stream = make_stream(), other = make_stream();
  timed_work const old(other, 1us);
  cudaStreamSynchronize(other);
  auto const read = [&] { return elapsed_status(old.start, old.stop); };
  auto const query = [&]() -> int { return cudaEventQuery(old.stop); };
  auto const wait = [&]() -> int { return cudaEventSynchronize(old.stop); };
  auto const drain = [&]() -> int { return cudaStreamSynchronize(other); };
  for (auto const mode : all_modes) {
    CAPTURE(mode);
    auto const by_same_thread = mode == cudaStreamCaptureModeRelaxed ? fine : broken;
    auto const by_another = mode == cudaStreamCaptureModeGlobal ? broken : fine;
    CHECK(during_capture(stream, mode, read) == fine);
    CHECK(during_capture(stream, mode, [&] { return on_another_thread(read); }) == fine);
    CHECK(during_capture(stream, mode, query) == by_same_thread);
    CHECK(during_capture(stream, mode, wait) == by_same_thread);
    CHECK(during_capture(stream, mode, drain) == by_same_thread);
    CHECK(during_capture(stream, mode, [&] { return on_another_thread(query); }) == by_another);
    CHECK(during_capture(stream, mode, [&] { return relaxed(query); }) == fine);
    CHECK(during_capture(stream, mode, [&] { return relaxed(wait); }) == fine);
    CHECK(during_capture(stream, mode, [&] { return relaxed(drain); }) == fine);
    CHECK(during_capture(stream, mode, [&] { return relaxed([&]() -> int { return cudaDeviceSynchronize(); }); }) ==
          broken);
    CHECK(during_capture(stream, mode, [&] {
            return on_another_thread([&]() -> int { return cudaDeviceSynchronize(); });
          }) == broken);
    CHECK(during_capture(stream, mode, [&]() -> int { return cudaStreamSynchronize(stream); }) == broken);
    CHECK(during_capture(stream, mode, [&]() -> int { return cudaStreamQuery(stream); }) == broken);
#if CUDART_VERSION >= 12080
    int device = 0;
    CHECK(during_capture(stream, mode, [&]() -> int { return cudaStreamGetDevice(stream, &device); }) == broken);
#endif
    CHECK(during_capture(stream, mode, [&]() -> int {
            auto const event = make_event();
            return cudaEventRecord(event, other) + cudaEventDestroy(event);
          }) == fine);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "the legacy stream beside a capture: asking is refused, its context even does harm") {
  driver_functions const cu;
  auto const blocking = make_stream(cudaStreamDefault), free = make_stream();
  cudaStreamCaptureStatus status{};
  context_handle home = nullptr;
  unsigned long long id = 0;
  REQUIRE(cu.current(&home) == 0);
  cudaGetLastError();
  for (auto const mode : all_modes) {
    CAPTURE(mode);
    CHECK(during_capture(blocking, mode, [&] { return cu.is_capturing(cudaStreamLegacy, &status); }) ==
          outcome{906, 0});
    CHECK(during_capture(blocking, mode, [&] { return cu.is_capturing(nullptr, &status); }) == outcome{906, 0});
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    CHECK(during_capture(blocking, mode, [&] {
            int const refused = cu.stream_context(cudaStreamLegacy, &home);
            CHECK(cu.is_capturing(blocking, &status) == 0);
            CHECK(status == cudaStreamCaptureStatusInvalidated);
            return refused;
          }) == outcome{906, 901});
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);  // of the runtime's end of the capture
    CHECK(during_capture(blocking, mode, [&]() -> int { return cudaStreamIsCapturing(nullptr, &status); }) ==
          outcome{906, 0});
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureImplicit);
    CHECK(during_capture(blocking, mode, [&] { return cu.record(make_event(), cudaStreamLegacy); }) ==
          outcome{906, 901});
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureInvalidated);
    for (auto const allowed : {blocking, cudaStreamPerThread}) {
      CHECK(during_capture(blocking, mode, [&] { return cu.stream_context(allowed, &home); }) == fine);
      CHECK(during_capture(blocking, mode, [&] { return cu.is_capturing(allowed, &status); }) == fine);
      CHECK(status == (allowed == blocking ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone));
    }
    CHECK(during_capture(blocking, mode, [&] { return cu.current(&home) + cu.id(home, &id); }) == fine);
    CHECK(during_capture(free, mode, [&] { return cu.stream_context(cudaStreamLegacy, &home); }) == fine);
    CHECK(during_capture(free, mode, [&] { return cu.is_capturing(cudaStreamLegacy, &status); }) == fine);
    CHECK(status == cudaStreamCaptureStatusNone);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a plain record inside a capture cannot be read, an external one is read each launch") {
  auto const stream = make_stream();
  auto const plain = make_event(), start = make_event(), stop = make_event();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  CHECK(cudaEventRecord(plain, stream) == cudaSuccess);
  CHECK(elapsed_status(plain, plain) == cudaErrorCapturedEvent);
  CHECK(cudaEventQuery(plain) == cudaErrorCapturedEvent);
  CHECK(cudaEventRecordWithFlags(start, stream, cudaEventRecordExternal) == cudaSuccess);
  CHECK(launch(stream, 7ms) == cudaSuccess);
  CHECK(cudaEventRecordWithFlags(stop, stream, cudaEventRecordExternal) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  CHECK(elapsed_status(plain, plain) == cudaErrorInvalidValue);
  CHECK(cudaEventQuery(plain) == cudaErrorInvalidValue);
  CHECK(elapsed_status(start, stop) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(stop) == cudaSuccess);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 3);
  CHECK(simulated::stream_end(stream) == 0s);  // nothing ran yet
  CHECK(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  launch(stream, 1ms);
  for (int i = 0; i < 2; ++i) {
    CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
    CHECK(elapsed_status(start, stop) == cudaErrorNotReady);
    CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
    CHECK(elapsed(start, stop) == 7.0f);
    CHECK(simulated::host_now() == 1s + (i + 1) * 7ms + 1ms);
  }
  CHECK(cudaEventRecord(plain, stream) == cudaSuccess);
  CHECK(cudaEventQuery(plain) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "a capture forks by waiting for a captured event and must be joined again") {
  auto const origin = make_stream(), side = make_stream();
  auto const forked = make_event(), joined = make_event(), outside = make_event();
  auto const start = make_event(), stop = make_event();
  cudaGraph_t graph = nullptr;
  cudaEventRecord(outside, side);
  auto const begin = [&] { REQUIRE(cudaStreamBeginCapture(origin, cudaStreamCaptureModeGlobal) == cudaSuccess); };
  auto const fork_work = [&] {
    cudaEventRecordWithFlags(start, origin, cudaEventRecordExternal);
    cudaEventRecord(forked, origin);
    cudaStreamWaitEvent(side, forked, 0);
    launch(side, 20ms);
    launch(origin, 5ms);
  };
  SUBCASE("joined: it runs as long as its longer branch") {
    begin();
    fork_work();
    cudaEventRecord(joined, side);
    cudaStreamWaitEvent(origin, joined, 0);
    cudaEventRecordWithFlags(stop, origin, cudaEventRecordExternal);
    CHECK(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureUnmatched);
    CHECK(cudaStreamEndCapture(origin, &graph) == cudaSuccess);
    cudaGraphExec_t executable = nullptr;
    cudaGraphInstantiate(&executable, graph, 0);
    cudaGraphLaunch(executable, origin);
    cudaEventSynchronize(stop);
    CHECK(elapsed(start, stop) == 20.0f);
  }
  SUBCASE("unjoined") {
    begin();
    fork_work();
    CHECK(cudaStreamEndCapture(origin, &graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(graph == nullptr);
    CHECK(launch(side, 1ms) == cudaSuccess);
  }
  SUBCASE("a wait for an event from outside breaks the isolation") {
    begin();
    CHECK(cudaStreamWaitEvent(origin, outside, 0) == cudaErrorStreamCaptureIsolation);
    CHECK(launch(origin, 1ms) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(origin, &graph) == cudaErrorStreamCaptureInvalidated);
  }
  SUBCASE("two captures may not merge") {
    begin();
    cudaEventRecord(forked, origin);
    CHECK(cudaStreamBeginCapture(side, cudaStreamCaptureModeGlobal) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(side, forked, 0) == cudaErrorStreamCaptureMerge);
    CHECK(cudaStreamEndCapture(side, &graph) == cudaErrorStreamCaptureInvalidated);
    CHECK(cudaStreamEndCapture(origin, &graph) == cudaErrorStreamCaptureInvalidated);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a capture begins once, not on the legacy stream, and ends on its own thread") {
  auto const stream = make_stream();
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamBeginCapture(cudaStreamLegacy, cudaStreamCaptureModeGlobal) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorIllegalState);
  auto const end = [&]() -> int { return cudaStreamEndCapture(stream, &graph); };
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal) == cudaErrorIllegalState);
  CHECK(on_another_thread(end) == cudaErrorStreamCaptureWrongThread);
  cudaStreamCaptureStatus status{};
  unsigned long long id = 0;
#if CUDART_VERSION >= 13000
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr, nullptr) == cudaSuccess);
#else
  CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, nullptr, nullptr, nullptr) == cudaSuccess);
#endif
  CHECK(status == cudaStreamCaptureStatusActive);
  CHECK(id != 0);
  CHECK(end() == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(on_another_thread(end) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
}
