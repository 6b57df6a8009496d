// Tests of the simulated runtime itself: contexts, errors, and the states of a process in which nothing works any more.
// What was measured on a real machine is asserted with the values measured there.

#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include <cuda_profiler_api.h>

#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;

// ------------------------------------------------------------------------------------------------------------ contexts

TEST_CASE_FIXTURE(fresh_machine, "asking makes no context, the first use does") {
  int value = 0;
  auto mode = cudaStreamCaptureModeRelaxed;
  cudaGetDevice(&value);
  cudaGetDeviceCount(&value);
  cudaDriverGetVersion(&value);
  cudaRuntimeGetVersion(&value);
  cudaPeekAtLastError();
  cudaGetLastError();
  cudaThreadExchangeStreamCaptureMode(&mode);
  driver_functions const cu;
  unsigned flags = 9;
  int active = 9;
  CHECK(cu.state(0, &flags, &active) == 0);
  CHECK(active == 0);
  CHECK_FALSE(simulated::context_created(0));

  SUBCASE("cudaFree") { cudaFree(nullptr); }
  SUBCASE("cudaSetDevice") { cudaSetDevice(0); }
  SUBCASE("a stream") { make_stream(); }
  SUBCASE("an event") { make_event(); }
  SUBCASE("the profiler") { cudaProfilerStart(); }
  SUBCASE("work") { launch(nullptr, 1us); }
  CHECK(simulated::context_created(0));
  CHECK(cu.state(0, &flags, &active) == 0);
  CHECK(active == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "a thread without a context: explicit streams work, default streams answer 201") {
  driver_functions const cu;
  auto const stream = make_stream();
  auto const event = make_event();
  std::thread([&] {
    context_handle home = nullptr;
    cudaStreamCaptureStatus status{};
    CHECK(cu.current(&home) == 0);
    CHECK(home == nullptr);
    for (auto const special : {cudaStreamLegacy, cudaStreamPerThread}) {
      CHECK(cu.record(event, special) == 201);
      CHECK(cu.stream_context(special, &home) == 201);
      CHECK(cu.is_capturing(special, &status) == 201);
    }
    cudaEvent_t made = nullptr;
    CHECK(cu.create(&made, 0) == 201);
    CHECK(cu.profiler_start() == 201);
    CHECK(cu.record(event, stream) == 0);
    CHECK(cu.query(event) == 0);
    CHECK(cu.stream_context(stream, &home) == 0);
    CHECK(home != nullptr);
    CHECK(cu.push(home) == 0);
    CHECK(cu.create(&made, 0) == 0);
    CHECK(cu.destroy(made) == 0);
    CHECK(cu.record(event, cudaStreamLegacy) == 0);
    CHECK(cu.pop(&home) == 0);
    CHECK(cu.pop(&home) == 201);
    CHECK(cudaEventRecord(event, stream) == cudaSuccess);  // the runtime takes a context for the thread
    CHECK(cu.current(&home) == 0);
    CHECK(home != nullptr);
  }).join();
}

TEST_CASE_FIXTURE(fresh_machine, "a reset context keeps its pointer, has no id for a while and then another one") {
  driver_functions const cu;
  auto const stream = make_stream();
  timed_work const events(stream, 1ms);
  context_handle before = nullptr, after = nullptr;
  unsigned long long id_before = 0, id_after = 0;
  cudaStreamCaptureStatus status{};
  float ms = 0;
  REQUIRE(cu.current(&before) == 0);
  REQUIRE(cu.id(before, &id_before) == 0);
  CHECK(simulated::live_events() == 2);
  CHECK(cudaDeviceReset() == cudaSuccess);
  CHECK(simulated::live_events() == 0);
  CHECK_FALSE(simulated::context_created(0));
  CHECK(cu.id(before, &id_after) == 709);
  CHECK(cu.stream_context(stream, &after) == 709);
  CHECK(cu.is_capturing(stream, &status) == 709);
  CHECK(cu.elapsed(&ms, events.start, events.stop) == 709);
  CHECK(cudaEventDestroy(events.start) == cudaErrorDeviceUninitialized);
  CHECK(misuses().empty());

  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cu.current(&after) == 0);
  CHECK(after == before);
  CHECK(cu.id(after, &id_after) == 0);
  CHECK(id_after == id_before + 1);
  cu.destroy(events.start);
  CHECK(mentions(misuses(), "cuEventDestroy: event"));
  cu.record(events.stop, make_stream());
  CHECK(mentions(misuses(), "belongs to a context that was reset"));
  cu.query(events.stop);
  CHECK(mentions(misuses(), "cuEventQuery"));
}

TEST_CASE_FIXTURE(fresh_machine, "a retained primary context lives until it is released") {
  driver_functions const cu;
  context_handle home = nullptr;
  CHECK(cu.retain(&home, 0) == 0);
  CHECK(simulated::context_created(0));
  CHECK(cu.release(0) == 0);
  CHECK_FALSE(simulated::context_created(0));
  CHECK(cu.release(0) == 201);
  cudaFree(nullptr);
  CHECK(cu.retain(&home, 0) == 0);
  CHECK(cu.release(0) == 0);
  CHECK(simulated::context_created(0));
}

// -------------------------------------------------------------------------------------------------------------- errors

TEST_CASE_FIXTURE(fresh_machine, "a failing runtime call overwrites the last error, a driver call never does") {
  driver_functions const cu;
  auto const recorded = make_event(), never = make_event();
  cudaEventRecord(recorded, make_stream());
  CHECK(cudaSetDevice(7) == cudaErrorInvalidDevice);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  float ms = 0;
  CHECK(cu.elapsed(&ms, recorded, never) == cudaErrorInvalidResourceHandle);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidDevice);
  CHECK(elapsed_status(recorded, never) == cudaErrorInvalidResourceHandle);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidResourceHandle);
  std::thread([] { CHECK(cudaPeekAtLastError() == cudaSuccess); }).join();
  CHECK(cudaGetLastError() == cudaErrorInvalidResourceHandle);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "work that fails: not ready until the device is there, then every call says so") {
  driver_functions const cu;
  auto const stream = make_stream();
  auto const start = make_event(), stop = make_event();
  context_handle home = nullptr;
  unsigned long long id = 0;
  float ms = 0;
  cudaStreamCaptureStatus status{};
  cudaEventRecord(start, stream);
  simulated::fault(stream, cudaErrorIllegalAddress, 1us);
  cudaEventRecord(stop, stream);
  int polls = 0;
  while (cu.elapsed(&ms, start, stop) == cudaErrorNotReady) ++polls;
  CHECK(polls == 10);
  CHECK(cu.elapsed(&ms, start, stop) == 700);
  CHECK(cu.query(start) == 700);
  CHECK(cu.synchronize(stop) == 700);
  CHECK(cu.record(start, stream) == 700);
  CHECK(cu.is_capturing(stream, &status) == 700);
  CHECK(cu.stream_context(stream, &home) == 700);
  CHECK(cu.current(&home) == 0);
  CHECK(cu.id(home, &id) == 0);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
  CHECK(cudaGetLastError() == cudaErrorIllegalAddress);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait for work behind a fault ends with the fault") {
  auto const stream = make_stream();
  simulated::fault(stream, cudaErrorIllegalAddress, 3us);
  launch(stream, 1ms);
  CHECK(cudaStreamSynchronize(stream) == cudaErrorIllegalAddress);
  CHECK(simulated::host_now() == 1s + 3us);
}

TEST_CASE("without a usable driver every call answers 35, but for the versions") {
  simulated::machine_options options;
  int expected_version = 0;
  SUBCASE("no driver") { options.driver_state = simulated::driver::missing; }
  SUBCASE("a driver too old") { options.driver_version = expected_version = 11080; }
  fresh_machine const machine(options);
  int value = -1;
  CHECK(cudaDriverGetVersion(&value) == cudaSuccess);
  CHECK(value == expected_version);
  CHECK(cudaRuntimeGetVersion(&value) == cudaSuccess);
  CHECK(value == CUDART_VERSION);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(cudaGetDeviceCount(&value) == cudaErrorInsufficientDriver);
  CHECK(cudaGetDevice(&value) == cudaErrorInsufficientDriver);
  void* function = nullptr;
  cudaDriverEntryPointQueryResult result{};
  CHECK(cudaGetDriverEntryPointByVersion("cuEventRecord", &function, 12000, 0, &result) == cudaErrorInsufficientDriver);
  CHECK(function == nullptr);
  CHECK(launch(nullptr, 1us) == cudaErrorInsufficientDriver);
  CHECK(cudaGetLastError() == cudaErrorInsufficientDriver);
}

TEST_CASE("without a device the count answers 100") {
  simulated::machine_options options;
  options.devices = 0;
  fresh_machine const machine(options);
  int count = -1;
  CHECK(cudaGetDeviceCount(&count) == cudaErrorNoDevice);
  CHECK(cudaFree(nullptr) == cudaErrorNoDevice);
  CHECK_FALSE(simulated::context_created(0));
}

TEST_CASE_FIXTURE(fresh_machine, "while the process is unloading every call answers 4") {
  driver_functions const cu;
  auto const event = make_event();
  simulated::begin_unloading();
  CHECK(cudaEventDestroy(event) == cudaErrorCudartUnloading);
  CHECK(cu.destroy(event) == 4);
  int version = 0;
  CHECK(cudaDriverGetVersion(&version) == cudaErrorCudartUnloading);
}

TEST_CASE_FIXTURE(fresh_machine, "in a forked child old handles still answer, everything else does not") {
  driver_functions const cu;
  auto const stream = make_stream();
  auto const event = make_event();
  context_handle home = nullptr;
  REQUIRE(cu.current(&home) == 0);
  auto const in_child = [&] {
    unsigned long long id = 0;
    unsigned flags = 0;
    int value = 0;
    cudaStreamCaptureStatus status{};
    return cu.id(home, &id) == 3 && cu.current(&home) == 3 && cu.state(0, &flags, &value) == 3 &&
           cu.device_count(&value) == 3 && cudaGetDeviceCount(&value) == cudaErrorInitializationError &&
           cudaDriverGetVersion(&value) == cudaSuccess && cu.stream_context(stream, &home) == 0 &&
           cu.is_capturing(stream, &status) == 0 && cu.record(event, stream) == 0;
  };
  SUBCASE("a real fork") {
    auto const child = fork();
    if (child == 0) _exit(in_child() ? 0 : 1);
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(cu.record(event, stream) == 0);
    CHECK(cu.current(&home) == 0);
  }
  SUBCASE("the switch") {
    simulated::become_forked_child();
    CHECK(in_child());
  }
}
