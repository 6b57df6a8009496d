// Tests of the simulated runtime itself: what a test can ask of it and inject into it.

#include <thread>

#include <cuda_profiler_api.h>

#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;
using names = std::vector<std::string>;

// --------------------------------------------------------------------------------------- log, injection, other counts

TEST_CASE_FIXTURE(fresh_machine, "the log has every call in order, with thread, handles and result") {
  auto const stream = make_stream();
  simulated::set_cost("cudaEventRecord", 1us);
  auto const event = make_event();
  simulated::clear_log();
  cudaEventRecord(event, stream);
  {
    simulated::user_scope const user;
    cudaStreamSynchronize(stream);
  }
  int thread = -1;
  std::thread([&] {
    cudaSetDevice(7);
    thread = simulated::log().back().thread;
  }).join();
  driver<int(cudaEvent_t)>("cuEventQuery");
  auto const log = simulated::log();
  REQUIRE(log.size() == 4);
  CHECK(simulated::logged_names() == names{"cudaEventRecord", "cudaStreamSynchronize", "cudaSetDevice"});
  CHECK(log[0].kind == simulated::call_kind::runtime);
  CHECK(log[0].handle == event);
  CHECK(log[0].stream == stream);
  CHECK(log[0].result == 0);
  CHECK(log[0].at == 1s);
  CHECK_FALSE(log[0].by_user);
  CHECK(log[1].by_user);
  CHECK(log[1].at == 1s + 1us);
  CHECK(log[2].result == cudaErrorInvalidDevice);
  CHECK(thread != log[0].thread);
  CHECK(log[3].kind == simulated::call_kind::look_up);
  CHECK(log[3].symbol == "cuEventQuery");
  CHECK(simulated::count("cudaEventRecord") == 1);
  CHECK(simulated::count("cudaEventQuery") == 0);
  CHECK(simulated::count_all() == 4);
}

TEST_CASE_FIXTURE(fresh_machine, "the n-th call of a function fails and does nothing") {
  auto const stream = make_stream();
  auto const start = make_event(), stop = make_event();
  simulated::fail_nth("cudaEventRecord", 2, cudaErrorLaunchFailure);
  CHECK(cudaEventRecord(start, stream) == cudaSuccess);
  CHECK(cudaEventRecord(stop, stream) == cudaErrorLaunchFailure);
  CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
  CHECK(elapsed_status(start, stop) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(stop, stream) == cudaSuccess);
  CHECK(elapsed(start, stop) == 0.0f);
  CHECK(simulated::injected_failures() == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "the n-th call of any function fails, the user's own calls and the last error aside") {
  auto const event = make_event();
  simulated::fail_nth_call(2, cudaErrorUnknown);
  cudaPeekAtLastError();
  CHECK(cudaEventQuery(event) == cudaSuccess);
  {
    simulated::user_scope const user;
    CHECK(cudaEventQuery(event) == cudaSuccess);
  }
  launch(nullptr, 0us);
  CHECK(cudaEventSynchronize(event) == cudaErrorUnknown);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  simulated::fail_nth_call(1, cudaErrorUnknown, {"cudaEventQuery"});
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(cudaEventQuery(event) == cudaErrorUnknown);
  simulated::fail_nth_call(1, cudaErrorUnknown);
  simulated::clear_injections();
  CHECK(cudaEventQuery(event) == cudaSuccess);
  CHECK(simulated::injected_failures() == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "what undoes something is done although its failure is injected") {
  driver_functions const cu;
  auto const event = make_event();
  context_handle home = nullptr;
  REQUIRE(cu.current(&home) == 0);
  simulated::fail_nth("cuEventDestroy", 1, cudaErrorUnknown);
  CHECK(cu.destroy(event) == cudaErrorUnknown);
  CHECK(simulated::live_events() == 0);
  REQUIRE(cu.push(home) == 0);
  simulated::fail_nth("cuCtxPopCurrent", 1, cudaErrorUnknown);
  CHECK(cu.pop(&home) == cudaErrorUnknown);
  CHECK(cu.pop(&home) == 0);
  CHECK(cu.pop(&home) == 201);

  auto mode = cudaStreamCaptureModeRelaxed;
  simulated::fail_nth("cuThreadExchangeStreamCaptureMode", 1, cudaErrorUnknown);
  simulated::fail_nth("cuThreadExchangeStreamCaptureMode", 3, cudaErrorUnknown);
  CHECK(cu.exchange(&mode) == cudaErrorUnknown);  // not done
  CHECK(mode == cudaStreamCaptureModeRelaxed);
  CHECK(cu.exchange(&mode) == 0);
  CHECK(mode == cudaStreamCaptureModeGlobal);
  CHECK(cu.exchange(&mode) == cudaErrorUnknown);  // put back
  mode = cudaStreamCaptureModeRelaxed;
  CHECK(cu.exchange(&mode) == 0);
  CHECK(mode == cudaStreamCaptureModeGlobal);
}

TEST_CASE_FIXTURE(fresh_machine, "events and streams are counted") {
  auto const stream = make_stream();
  auto const first = make_event();
  make_event();
  cudaEventDestroy(first);
  CHECK(simulated::live_events() == 1);
  CHECK(simulated::events_created() == 2);
  CHECK(simulated::events_destroyed() == 1);
  CHECK(simulated::live_streams() == 1);
  cudaStreamDestroy(stream);
  CHECK(simulated::live_streams() == 0);
  CHECK(simulated::streams_created() == 1);
  CHECK(simulated::streams_destroyed() == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "the profiler's starts and stops are kept with their time") {
  cudaProfilerStart();
  simulated::host_advance(1ms);
  cudaProfilerStop();
  auto const log = simulated::profiler_log();
  REQUIRE(log.size() == 2);
  CHECK(log[0].step == simulated::profiler_step::start);
  CHECK(log[0].at == 1s);
  CHECK(log[1].step == simulated::profiler_step::stop);
  CHECK(log[1].at == 1s + 1ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a driver function may be unknown, hidden, or newer than the version asked for") {
  void* function = &function;
  cudaDriverEntryPointQueryResult result{};
  auto const look_up = [&](char const* name, unsigned version = 12000) {
    return cudaGetDriverEntryPointByVersion(name, &function, version, cudaEnableLegacyStream, &result);
  };
  CHECK(look_up("cuNoSuchThing") == cudaSuccess);
  CHECK(result == cudaDriverEntryPointSymbolNotFound);
  CHECK(function == nullptr);
  CHECK(look_up("cuCtxGetId") == cudaSuccess);
  CHECK(result == cudaDriverEntryPointSuccess);
  CHECK(function != nullptr);
  CHECK(look_up("cuCtxGetId", 11000) == cudaSuccess);
  CHECK(result == cudaDriverEntryPointVersionNotSufficent);
  CHECK(function == nullptr);
  simulated::hide_entry_point("cuCtxGetId");
  CHECK(look_up("cuCtxGetId") == cudaSuccess);
  CHECK(result == cudaDriverEntryPointSymbolNotFound);
  CHECK(function == nullptr);
}

TEST_CASE_FIXTURE(fresh_machine, "only this thread's own allocations are counted, not the machine's") {
  auto const stream = make_stream();
  auto const before = simulated::allocation_count();
  for (int i = 0; i < 100; ++i) launch(stream, 1us);
  auto const event = make_event();
  cudaEventRecord(event, stream);
  CHECK(simulated::allocation_count() == before);
  std::vector<int> const block(100);
  CHECK(simulated::allocation_count() == before + 1);
  std::size_t of_another = 0;
  std::thread thread([&] {
    std::vector<int> const first(100), second(100);
    of_another = simulated::allocation_count();
  });
  thread.join();
  CHECK(of_another == 2);
  CHECK(simulated::allocation_count() == before + 2);  // the second: the thread's own state, made here
}

TEST_CASE_FIXTURE(fresh_machine, "eight threads at once lose no call") {
  cudaFree(nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([] {
      cudaStream_t stream = nullptr;
      cudaEvent_t start = nullptr, stop = nullptr;
      cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
      cudaEventCreateWithFlags(&start, 0);
      cudaEventCreateWithFlags(&stop, 0);
      for (int i = 0; i < 200; ++i) {
        cudaEventRecord(start, stream);
        launch(stream, 5us);
        cudaEventRecord(stop, stream);
        cudaEventSynchronize(stop);
      }
      float ms = 0;
      cudaEventElapsedTime(&ms, start, stop);
      CHECK(ms >= 0.005f);
      cudaEventDestroy(start);
      cudaEventDestroy(stop);
      cudaStreamDestroy(stream);
    });
  for (auto& thread : threads) thread.join();
  CHECK(simulated::count("cudaEventRecord") == 3200);
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == 0);
}
