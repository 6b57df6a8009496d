// The bug that would go unseen without this file: a phase, a collection or a guard of ours that breaks a stream capture
// of the program's, whichever thread makes it and whatever mode it has.
#include "program.hpp"

#include <atomic>
#include <thread>

#include <streamgauge/measure/kernel_floor.hpp>

#include "device.cuh"

using sg::absence;

constexpr cudaStreamCaptureMode every_mode[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                cudaStreamCaptureModeRelaxed};

// Also when a check that is required ends the test.
struct join_at_end {
  std::atomic<bool>& ends;
  std::thread& busy;

  ~join_at_end() {
    ends = true;
    busy.join();
  }
};

// Captures one kernel with `body` before it, replays the graph twice, and checks that nothing of ours is in it: one
// node, the right result, no error.
template <class Body>
void capture_and_replay(cudaStream_t stream, cudaStreamCaptureMode mode, Body body) {
  device_values<int> value{1};
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
  body();
  add_one<<<1, 1, 0, stream>>>(value.at(0));
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  std::size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 1);
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(cudaGraphLaunch(executable, stream) == cudaSuccess);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(value.read()[0] == 2);
  CHECK(cudaGraphExecDestroy(executable) == cudaSuccess);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("case-25: a phase on a stream in capture marks and counts, records nothing and says why") {
  warm_up();
  test_stream const stream;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    sg::recorder recorder{sg::mode::time};
    sg::phase outer{recorder, "outer"};
    sg::phase inner{recorder, "inner"};
    capture_and_replay(stream, mode, [&] {
      auto all = outer.enter(stream);
      { auto one = inner.enter(stream); }
      {
        auto waited = inner.enter(stream);
        waited.wait(sg::wait_policy::spin);
      }
      {
        auto slept = inner.enter(stream);
        slept.wait(sg::wait_policy::block);
      }
      auto open = inner.start(stream);
      open.stop();
    });
    auto const taken = recorder.collect();
    auto const in = series_of(taken, "inner");
    REQUIRE(in.samples.size() == 4);
    CHECK(count_of(in, absence::stream_capture) == 4);
    for (sg::sample const& each : in.samples) CHECK(each.submit.known());
    CHECK(in.samples[1].completion.why_absent() == absence::stream_capture);
    CHECK(count_of(series_of(taken, "outer"), absence::stream_capture) == 1);
    CHECK(taken.problems.empty());
  }
}

TEST_CASE(
    "a capture that begins inside a phase, or ends inside one, costs the phase its device time and nothing else") {
  warm_up();
  test_stream const stream;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    sg::recorder recorder{sg::mode::time};
    sg::phase straddling{recorder, "straddling"};
    cudaGraph_t graph = nullptr;
    {
      auto scope = straddling.enter(stream);
      REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
    }
    REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
    {
      REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
      auto scope = straddling.enter(stream);
      REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
      cudaGraphDestroy(graph);
    }
    { auto scope = straddling.enter(stream); }
    auto const seen = series_of(recorder.collect(), "straddling");
    REQUIRE(seen.samples.size() == 3);
    CHECK(seen.samples[0].device.why_absent() == absence::stream_capture);
    CHECK(seen.samples[1].device.why_absent() == absence::stream_capture);
    CHECK(seen.samples[2].device.known());
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
}

TEST_CASE("the capturing thread goes on measuring other streams: first use, waits, reading back, the recorder's end") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    kernel_clocks const clocks{3};
    sg::recording taken;
    capture_and_replay(stream, mode, [&] {
      sg::recorder recorder{sg::mode::time};  // its events are made, read and destroyed while the capture goes on
      sg::phase beside{recorder, "beside"};
      {
        auto scope = beside.enter(other);
        spin<<<1, 1, 0, other>>>(ms, clocks.at(0));
        scope.wait(sg::wait_policy::spin);
      }
      {
        auto scope = beside.enter(other);
        spin<<<1, 1, 0, other>>>(ms, clocks.at(1));
        scope.wait(sg::wait_policy::block);
      }
      {
        auto scope = beside.enter(other);
        spin<<<1, 1, 0, other>>>(ms, clocks.at(2));
      }
      taken = recorder.collect();
    });
    auto const own = clocks.read();
    auto const seen = series_of(taken, "beside");
    REQUIRE(seen.samples.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) CHECK(device_ns(seen.samples[i]) >= own[i].ns());
    REQUIRE(taken.environment.devices.size() == 1);
    CHECK(taken.environment.devices[0].why_no_floor == "");
  }
}

TEST_CASE("case-26: another thread collects, the floor measured for the first time, while a capture goes on") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    kernel_clocks const clocks{1};
    sg::recorder recorder{sg::mode::time};
    sg::phase pending{recorder, "pending"};
    sg::recording taken;
    capture_and_replay(stream, mode, [&] {
      {
        auto scope = pending.enter(other);
        spin<<<1, 1, 0, other>>>(10 * ms, clocks.at(0));
      }
      std::thread{[&] {
        for (int i = 0; i < 20; ++i) taken = recorder.collect();  // the first one has to wait
      }}.join();
    });
    auto const seen = series_of(taken, "pending");
    REQUIRE(seen.samples.size() == 1);
    CHECK(device_ns(seen.samples[0]) >= clocks.read()[0].ns());
    REQUIRE(taken.environment.devices.size() == 1);
    CHECK(taken.environment.devices[0].event_floor.has_value());
    CHECK(taken.environment.devices[0].why_no_floor == "");
    CHECK(taken.problems.empty());
  }
}

TEST_CASE("case-26: a kernel of ours is loaded, launched and unloaded, by either thread, while a capture goes on") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  for (auto const mode : every_mode) {
    for (bool const by_another : {false, true}) {
      CAPTURE(mode);
      CAPTURE(by_another);
      sg::recorder recorder{sg::mode::time};
      sg::allow_kernel_floor(recorder);
      sg::phase beside{recorder, "beside"};
      { auto scope = beside.enter(other); }
      sg::recording taken;
      capture_and_replay(stream, mode, [&] {
        if (by_another)
          std::thread{[&] { taken = recorder.collect(); }}.join();
        else
          taken = recorder.collect();
      });
      REQUIRE(taken.environment.devices.size() == 1);
      sg::device_description const& device = taken.environment.devices[0];
      CAPTURE(device.why_no_kernel_floor);
      CHECK(device.kernel_floor.has_value() != watched());
    }
  }
}

TEST_CASE("case-26: another thread measures, waits and collects all the while") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  std::atomic<bool> ends{false};
  sg::recorder recorder{sg::mode::time};
  std::thread busy{[&] {
    sg::phase beside{recorder, "beside"};
    while (!ends) {
      {
        auto scope = beside.enter(other);
        spin<<<1, 1, 0, other>>>(50 * us, nullptr);
      }
      {
        auto scope = beside.enter(other);
        spin<<<1, 1, 0, other>>>(50 * us, nullptr);
        scope.wait(sg::wait_policy::block);
      }
      recorder.drain();
      { sg::capture_guard const guard{other}; }
    }
  }};
  {
    join_at_end const joined{ends, busy};
    for (int i = 0; i < 60; ++i) capture_and_replay(stream, every_mode[i % 3], [] { usleep(500); });
  }
  auto const seen = series_of(recorder.collect(), "beside");
  CHECK(seen.samples.size() > 60);
  CHECK(count_of(seen, absence::none) == seen.samples.size());
}

TEST_CASE("a phase on the legacy stream stays out while a blocking stream is being captured") {
  warm_up();
  test_stream const blocking{cudaStreamDefault};
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    sg::recorder recorder{sg::mode::time};
    sg::phase here{recorder, "here"};
    sg::phase elsewhere{recorder, "elsewhere"};
    sg::phase own{recorder, "per-thread"};
    capture_and_replay(blocking, mode, [&] {
      { auto scope = here.enter(cudaStreamLegacy); }
      { auto scope = own.enter(cudaStreamPerThread); }
      {
        auto scope = here.enter(cudaStreamLegacy);
        scope.wait(sg::wait_policy::block);
      }
      std::thread{[&] { auto scope = elsewhere.enter(cudaStreamLegacy); }}.join();
    });
    { auto scope = here.enter(cudaStreamLegacy); }
    auto const taken = recorder.collect();
    auto const seen = series_of(taken, "here");
    REQUIRE(seen.samples.size() == 3);
    CHECK(seen.samples[0].device.why_absent() == absence::capture_elsewhere);
    CHECK(seen.samples[1].device.why_absent() == absence::capture_elsewhere);
    CHECK(seen.samples[2].device.known());
    CHECK(series_of(taken, "elsewhere").samples.at(0).device.why_absent() == absence::capture_elsewhere);
    CHECK(series_of(taken, "per-thread").samples.at(0).device.known());
  }
}

TEST_CASE("a blocking stream's capture that begins inside a phase on the legacy stream survives the phase's end") {
  warm_up();
  test_stream const blocking{cudaStreamDefault};
  sg::recorder recorder{sg::mode::time};
  sg::phase straddling{recorder, "straddling"};
  cudaGraph_t graph = nullptr;
  {
    auto scope = straddling.enter(cudaStreamLegacy);
    REQUIRE(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal) == cudaSuccess);
  }
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  REQUIRE(cudaStreamEndCapture(blocking, &graph) == cudaSuccess);
  cudaGraphDestroy(graph);
  CHECK(series_of(recorder.collect(), "straddling").samples.at(0).device.why_absent() == absence::capture_elsewhere);
}

TEST_CASE("a capture guard leaves a stream in capture alone, says so, and waits for the others") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    std::vector<std::string> notes;
    capture_and_replay(stream, mode, [&] {
      spin<<<1, 1, 0, other>>>(5 * ms, nullptr);
      sg::capture_guard const guard{stream, other};
      notes = guard.notes();
    });
    CHECK(cudaStreamQuery(other) == cudaSuccess);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0] == "a stream was not waited for: the stream was being captured into a graph");
  }
}

TEST_CASE("a capture guard with a recorder waits for its finished phases without harm to a capture") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  for (auto const mode : every_mode) {
    CAPTURE(mode);
    sg::recorder recorder{sg::mode::time};
    sg::phase pending{recorder, "pending"};
    capture_and_replay(stream, mode, [&] {
      {
        auto scope = pending.enter(other);
        spin<<<1, 1, 0, other>>>(5 * ms, nullptr);
      }
      auto const before = sg::host_now();
      sg::capture_guard const guard{recorder};
      CHECK((sg::host_now() - before).count() > 3'000'000);  // it did wait: the spin was 5 ms, and had just been queued
      CHECK(guard.notes().empty());
    });
    CHECK(series_of(recorder.collect(), "pending").samples.at(0).device.known());
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
