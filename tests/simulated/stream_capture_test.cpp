// Without these: measuring a program that captures its streams into graphs would destroy its captures, from this thread
// or from another, in one capture mode or in all.

#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>

#include <optional>
#include <set>
#include <thread>

#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::absence;
using streamgauge::observation;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};
constexpr cudaStreamCaptureMode every_mode[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                cudaStreamCaptureModeRelaxed};

void begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
}

/// The capture is still good, and its graph holds these many nodes.
void end_capture(cudaStream_t stream, std::size_t nodes) {
  simulated::user_scope const user;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusActive);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  CHECK(count == nodes);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

cudaStreamCaptureMode mode_of_this_thread() {
  simulated::user_scope const user;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  cudaStreamCaptureMode const here = mode;
  cudaThreadExchangeStreamCaptureMode(&mode);
  return here;
}

/// Runs one body for each capture mode, without and with an error of the program's pending.
template <class Body>
void in_every_mode(Body body) {
  for (cudaStreamCaptureMode const mode : every_mode) {
    for (bool const pending : {false, true}) {
      CAPTURE(static_cast<int>(mode));
      CAPTURE(pending);
      simulated::reset();
      make_context();
      if (pending) leave_an_error_pending();
      body(mode);
      CHECK(pending_error() == (pending ? cudaErrorInvalidValue : cudaSuccess));
      CHECK(mode_of_this_thread() == cudaStreamCaptureModeGlobal);
      for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK(misuse);
    }
  }
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-25 a phase entered and left inside a capture marks, counts and leaves the capture whole") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const stream;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    {
      auto const warm = step.enter(stream.get());
      simulated::launch(stream.get(), 1ms);
    }
    wait_for(stream.get());
    begin_capture(stream.get(), mode);
    simulated::clear_log();
    {
      auto scope = step.enter(stream.get());
      simulated::launch(stream.get(), 5ms);
      simulated::host_advance(2us);
      scope.wait(sg::wait_policy::block);
    }
    // Nothing unsafe is called for a phase inside, not even in a mode where it would do no harm.
    std::set<std::string> ours;
    for (auto const& call : simulated::log())
      if (!call.by_user) ours.insert(call.name);
    for (auto const& name : ours) {
      CAPTURE(name);
      CHECK((name == "cuStreamGetCtx" || name == "cuCtxGetId" || name == "cuStreamIsCapturing"));
    }
    end_capture(stream.get(), 1);
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 2);
    sg::sample const& inside = taken.all[0].samples[1];
    CHECK(inside.submit == observation{2us});
    CHECK(inside.device == observation{absence::stream_capture});
    CHECK(inside.completion == observation{absence::stream_capture});
    CHECK(taken.all[0].samples[0].device == observation{1ms});
    CHECK(taken.problems.empty());
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 the very first phase of a thread may be inside a capture") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const stream;
    program_stream const plain;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    begin_capture(stream.get(), mode);
    { auto const scope = step.enter(stream.get()); }
    {
      auto const scope = step.enter(plain.get());  // makes the pool's events while the capture is under way
      simulated::host_advance(3us);
    }
    simulated::launch(stream.get(), 1ms);
    end_capture(stream.get(), 1);
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 2);
    CHECK(taken.all[0].samples[0].device == observation{absence::stream_capture});
    CHECK(taken.all[0].samples[1].device == observation{3us});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 a phase entered before a capture and left inside it loses only its device time") {
  for (bool const waits : {false, true}) {
    in_every_mode([waits](cudaStreamCaptureMode mode) {
      program_stream const stream;
      sg::recorder recorder{sg::mode::time, small_pool};
      sg::phase const step{recorder, "step"};
      {
        auto scope = step.enter(stream.get());
        begin_capture(stream.get(), mode);
        simulated::launch(stream.get(), 5ms);
        simulated::host_advance(2us);
        if (waits) scope.wait(sg::wait_policy::spin);
      }
      end_capture(stream.get(), 1);
      {
        auto const scope = step.enter(stream.get());
        simulated::launch(stream.get(), 4ms);
      }
      sg::recording const taken = recorder.collect();
      REQUIRE(taken.all.at(0).samples.size() == 2);
      CHECK(taken.all[0].samples[0].submit == observation{2us});
      CHECK(taken.all[0].samples[0].device == observation{absence::stream_capture});
      CHECK(taken.all[0].samples[1].device == observation{4ms});
      CHECK(taken.problems.empty());
    });
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 a phase entered inside a capture and left after its end keeps its host side") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const stream;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    begin_capture(stream.get(), mode);
    {
      auto const scope = step.enter(stream.get());
      simulated::launch(stream.get(), 5ms);
      simulated::host_advance(2us);
      end_capture(stream.get(), 1);
      simulated::launch(stream.get(), 5ms);
    }
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 1);
    CHECK(taken.all[0].samples[0].submit == observation{2us});
    CHECK(taken.all[0].samples[0].device == observation{absence::stream_capture});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 a phase on the legacy stream while a blocking stream is captured is refused without harm") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const blocking{cudaStreamDefault};
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    begin_capture(blocking.get(), mode);
    for (cudaStream_t const stream : {cudaStreamLegacy, cudaStream_t{nullptr}}) {
      auto const scope = step.enter(stream);
      simulated::host_advance(2us);
    }
    simulated::launch(blocking.get(), 5ms);
    end_capture(blocking.get(), 1);
    {
      auto const scope = step.enter(cudaStreamLegacy);
      simulated::launch(cudaStreamLegacy, 4ms);
    }
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 3);
    CHECK(taken.all[0].samples[0].submit == observation{2us});
    CHECK(taken.all[0].samples[0].device == observation{absence::capture_elsewhere});
    CHECK(taken.all[0].samples[1].device == observation{absence::capture_elsewhere});
    CHECK(taken.all[0].samples[2].device == observation{4ms});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 a phase on the legacy stream that is left while a blocking stream is captured does no harm") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const blocking{cudaStreamDefault};
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    for (bool const waits : {false, true}) {
      auto scope = step.enter(cudaStreamLegacy);
      begin_capture(blocking.get(), mode);
      simulated::host_advance(2us);
      if (waits) {
        scope.wait(sg::wait_policy::block);
        end_capture(blocking.get(), 0);
      }
      else {
        std::optional<sg::started_phase> started{step.start(cudaStreamLegacy)};
        started.reset();
        end_capture(blocking.get(), 0);
      }
    }
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 3);
    CHECK(taken.problems.size() == 1);  // that the legacy stream is a barrier, no failure
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 the legacy stream is timed while a non-blocking stream is captured") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const stream{cudaStreamNonBlocking};
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    begin_capture(stream.get(), mode);
    {
      auto scope = step.enter(cudaStreamLegacy);
      simulated::launch(cudaStreamLegacy, 3ms);
      scope.wait(sg::wait_policy::block);
    }
    end_capture(stream.get(), 0);
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 1);
    CHECK(taken.all[0].samples[0].device == observation{3ms});
    CHECK(taken.all[0].samples[0].completion == observation{3ms});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 the capturing thread waits and collects beside its own capture, spinning and asleep") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const captured;
    program_stream const plain;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    {
      auto const scope = step.enter(plain.get());
      simulated::launch(plain.get(), 1ms);
    }
    begin_capture(captured.get(), mode);
    for (sg::wait_policy const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
      auto scope = step.enter(plain.get());
      simulated::host_advance(1ms);
      scope.wait(policy);
    }
    { auto const scope = step.enter(plain.get()); }
    sg::recording const taken = recorder.collect();
    end_capture(captured.get(), 0);
    REQUIRE(taken.all.at(0).samples.size() == 4);
    for (sg::sample const& each : taken.all[0].samples) CHECK(each.device.known());
    CHECK(taken.all[0].samples[0].device == observation{1ms});
    REQUIRE(taken.environment.devices.size() == 1);
    CHECK(taken.environment.devices[0].event_floor == sg::nanoseconds{0});  // the floor was measured meanwhile
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-26 another thread enters, harvests, waits and collects while a capture is under way") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const captured;
    program_stream const plain;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    begin_capture(captured.get(), mode);
    sg::recording taken;
    std::thread{[&] {
      cudaStreamCaptureMode const before = mode_of_this_thread();
      for (int i = 0; i < 10; ++i) {
        auto const scope = step.enter(plain.get());
        simulated::launch(plain.get(), 1us);
        simulated::host_advance(1us);
      }
      for (sg::wait_policy const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
        auto scope = step.enter(plain.get());
        simulated::launch(plain.get(), 1us);
        scope.wait(policy);
      }
      { auto const scope = step.enter(plain.get()); }
      taken = recorder.collect();
      CHECK(mode_of_this_thread() == before);
      CHECK(pending_error() == cudaSuccess);
    }}.join();
    end_capture(captured.get(), 0);
    REQUIRE(taken.all.at(0).samples.size() == 13);
    for (std::size_t i = 0; i < 10; ++i) CHECK(taken.all[0].samples[i].device == observation{1us});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-26 the capture mode of a thread is the same after a wait that failed") {
  for (cudaStreamCaptureMode const mode : every_mode) {
    for (int const status : {int{cudaErrorUnknown}, int{cudaErrorIllegalAddress}}) {
      simulated::reset();
      program_stream const captured;
      program_stream const plain;
      sg::recorder recorder{sg::mode::time, small_pool};
      sg::phase const step{recorder, "step"};
      begin_capture(captured.get(), mode);
      simulated::fail_nth("cuEventSynchronize", 1, status);
      {
        auto scope = step.enter(plain.get());
        scope.wait(sg::wait_policy::block);
      }
      simulated::fail_nth("cuEventSynchronize", 1, status);
      {
        auto const scope = step.enter(plain.get());
        simulated::launch(plain.get(), 1us);
      }
      static_cast<void>(recorder.collect());
      CHECK(simulated::injected_failures() == 2);
      CHECK(mode_of_this_thread() == cudaStreamCaptureModeGlobal);
      end_capture(captured.get(), 0);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 an interval inside a capture fails with the reason and works again after it") {
  in_every_mode([](cudaStreamCaptureMode mode) {
    program_stream const stream;
    program_stream const plain;
    sg::interval inside{stream.get()};
    sg::interval across{stream.get()};
    sg::interval before{plain.get()};
    before.start();
    simulated::launch(plain.get(), 2ms);
    before.stop();
    across.start();
    begin_capture(stream.get(), mode);
    CHECK(inside.start().why == absence::stream_capture);
    CHECK(inside.stop().state == sg::interval_state::failed);
    CHECK(inside.read().why == absence::stream_capture);
    CHECK(across.stop().why == absence::stream_capture);
    CHECK(before.read().state == sg::interval_state::pending);
    CHECK(before.wait().time == sg::nanoseconds{2ms});
    sg::interval const made_inside{stream.get()};
    simulated::launch(stream.get(), 1ms);
    end_capture(stream.get(), 1);
    CHECK(inside.start().state == sg::interval_state::not_stopped);
    simulated::launch(stream.get(), 3ms);
    inside.stop();
    CHECK(inside.wait().time == sg::nanoseconds{3ms});
  });
}

TEST_CASE_FIXTURE(fresh_machine, "case-25 a capture that the program has already lost is not asked for anything") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  begin_capture(stream.get(), cudaStreamCaptureModeGlobal);
  {
    simulated::user_scope const user;
    CHECK(cudaStreamSynchronize(stream.get()) == cudaErrorStreamCaptureUnsupported);
    CHECK(cudaGetLastError() == cudaErrorStreamCaptureUnsupported);
  }
  { auto const scope = step.enter(stream.get()); }
  sg::recording const taken = recorder.collect();
  CHECK(taken.all.at(0).samples.at(0).device == observation{absence::stream_capture});
  CHECK(pending_error() == cudaSuccess);
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(stream.get(), &graph) == cudaErrorStreamCaptureInvalidated);
}
