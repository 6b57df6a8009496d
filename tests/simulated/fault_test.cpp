// Without these: a fault of the program's own work would be blamed on the measuring, or hang it; an error that the program
// has not looked at yet would vanish, or one of ours would be taken for the program's.

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::absence;
using streamgauge::observation;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

/// Every public operation that calls CUDA, by name, ready to be done once on a stream.
struct operation {
  char const* name;
  std::function<void(sg::recorder&, cudaStream_t)> act;
};

std::vector<operation> every_operation() {
  return {
      {"enter and leave",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto const scope = step.enter(stream);
       }},
      {"enter under conditions",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto const scope = step.enter(stream, {{"rows", 256}});
       }},
      {"enter on the host alone",
       [](sg::recorder& recorder, cudaStream_t) {
         sg::phase const step{recorder, "step"};
         auto const scope = step.enter(sg::host_only);
       }},
      {"start and stop",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto open = step.start(stream);
         open.stop();
       }},
      {"wait, spinning",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto scope = step.enter(stream);
         scope.wait(sg::wait_policy::spin);
       }},
      {"wait, asleep",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto scope = step.enter(stream);
         scope.wait(sg::wait_policy::block);
       }},
      {"wait of a started phase",
       [](sg::recorder& recorder, cudaStream_t stream) {
         sg::phase const step{recorder, "step"};
         auto open = step.start(stream);
         open.wait(sg::wait_policy::block);
       }},
      {"drain", [](sg::recorder& recorder, cudaStream_t) { recorder.drain(); }},
      {"collect", [](sg::recorder& recorder, cudaStream_t) { static_cast<void>(recorder.collect()); }},
      {"making and ending a recorder",
       [](sg::recorder&, cudaStream_t stream) {
         sg::recorder another{sg::mode::time, small_pool};
         sg::phase const step{another, "step"};
         auto const scope = step.enter(stream);
       }},
      {"interval",
       [](sg::recorder&, cudaStream_t stream) {
         try {
           sg::interval timer{stream};
           timer.start();
           timer.stop();
           static_cast<void>(timer.ready());
           timer.read();
           timer.wait();
         } catch (sg::cuda_error const&) {  // a call of its constructor was failed
         }
       }},
      {"event",
       [](sg::recorder&, cudaStream_t stream) {
         try {
           sg::event const made{stream};
         } catch (sg::cuda_error const&) {
         }
       }},
      {"guard of the devices", [](sg::recorder&, cudaStream_t) { sg::capture_guard const guard; }},
      {"guard of a stream", [](sg::recorder&, cudaStream_t stream) { sg::capture_guard const guard{stream}; }},
      {"guard of a recorder", [](sg::recorder& recorder, cudaStream_t) { sg::capture_guard const guard{recorder}; }},
      {"environment", [](sg::recorder&, cudaStream_t) { static_cast<void>(sg::describe_environment()); }},
  };
}

/// The driver functions that the operations call; each is failed once in each operation.
std::vector<char const*> driver_functions() {
  return {"cuEventCreate",          "cuEventDestroy",    "cuEventRecord",
          "cuEventSynchronize",     "cuEventElapsedTime", "cuStreamIsCapturing",
          "cuStreamGetCtx",         "cuStreamCreate",    "cuStreamDestroy",
          "cuCtxGetCurrent",        "cuCtxPushCurrent",  "cuCtxPopCurrent",
          "cuCtxGetId",             "cuCtxGetDevice",    "cuCtxSynchronize",
          "cuDeviceGetCount",       "cuDeviceGetName",   "cuDevicePrimaryCtxGetState",
          "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease", "cuThreadExchangeStreamCaptureMode",
          "cuProfilerStart",        "cuProfilerStop"};
}

sg::sample const& only_sample(sg::recording const& taken) {
  REQUIRE(taken.all.size() == 1);
  REQUIRE(taken.all[0].samples.size() == 1);
  return taken.all[0].samples[0];
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-32 a: an error of the program's that is pending stays so through every operation") {
  for (operation const& each : every_operation()) {
    CAPTURE(std::string{each.name});
    simulated::reset();
    program_stream const stream;
    {
      sg::recorder recorder{sg::mode::time, small_pool};
      simulated::launch(stream.get(), 1ms);
      leave_an_error_pending();
      each.act(recorder, stream.get());
      CHECK(pending_error() == cudaErrorInvalidValue);
    }
    CHECK(pending_error() == cudaErrorInvalidValue);
    CHECK(simulated::live_events() == 0);
    for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK(misuse);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-32 b and c: a failed call of ours leaves no error behind and takes none of the program's away") {
  std::size_t failed = 0;
  for (operation const& each : every_operation()) {
    for (char const* const function : driver_functions()) {
      for (bool const pending : {false, true}) {
        CAPTURE(std::string{each.name});
        CAPTURE(std::string{function});
        CAPTURE(pending);
        simulated::reset();
        program_stream const stream;
        {
          sg::recorder recorder{sg::mode::time, small_pool};
          if (std::string{each.name} == "drain" || std::string{each.name} == "collect") {
            sg::phase const step{recorder, "step"};
            auto const scope = step.enter(stream.get());
            simulated::launch(stream.get(), 1ms);
          }
          if (pending) leave_an_error_pending();
          simulated::fail_nth(function, 1, cudaErrorInvalidResourceHandle);
          each.act(recorder, stream.get());
          failed += simulated::injected_failures();
          simulated::clear_injections();
          CHECK(pending_error() == (pending ? cudaErrorInvalidValue : cudaSuccess));
        }
        CHECK(pending_error() == (pending ? cudaErrorInvalidValue : cudaSuccess));
        // Where the driver does not say that a context lives, its events are left alone: touching dead ones would crash.
        if (std::string{function} != "cuCtxGetId") CHECK(simulated::live_events() == 0);
        for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK(misuse);
      }
    }
  }
  CHECK(failed > 100);  // that injections were met at all
}

TEST_CASE_FIXTURE(fresh_machine, "case-32 b: polling what the device has not done yet leaves the last error clean") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 6; ++i) {
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
  }
  CHECK(simulated::count("cuEventElapsedTime") > 0);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "earlier work that failed is one problem with the first phase's name, and host columns stay whole") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const before{recorder, "before"};
  sg::phase const guilty{recorder, "guilty"};
  sg::phase const after{recorder, "after"};
  {
    auto scope = before.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
    scope.wait(sg::wait_policy::spin);
  }
  {
    auto const scope = guilty.enter(stream.get());
    simulated::fault(stream.get(), cudaErrorIllegalAddress, 2ms);
    simulated::host_advance(3us);
  }
  simulated::host_advance(10ms);
  for (int i = 0; i < 5; ++i) {
    auto scope = after.enter(stream.get());
    simulated::host_advance(4us);
    if (i % 2 == 1) scope.wait(i == 1 ? sg::wait_policy::spin : sg::wait_policy::block);
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.size() == 3);
  CHECK(taken.all[0].samples.at(0).device == observation{1ms});
  REQUIRE(taken.all[1].samples.size() == 1);
  CHECK(taken.all[1].samples[0].device == observation{absence::earlier_work_failed});
  CHECK(taken.all[1].samples[0].submit == observation{3us});
  REQUIRE(taken.all[2].samples.size() == 5);
  for (sg::sample const& each : taken.all[2].samples) {
    CHECK(each.device == observation{absence::earlier_work_failed});
    CHECK(each.submit == observation{4us});
  }
  CHECK(taken.all[2].samples[1].completion == observation{absence::earlier_work_failed});
  CHECK(taken.all[2].samples[3].completion == observation{absence::earlier_work_failed});
  CHECK(taken.all[2].samples[0].completion == observation{absence::not_asked});
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].status == cudaErrorIllegalAddress);
  CHECK(taken.problems[0].phase == "after");  // where a call of ours met it first
  CHECK(taken.problems[0].count == 6);
  CHECK(taken.problems[0].text.find("earlier work failed: an illegal memory access was encountered "
                                    "(cudaErrorIllegalAddress)") == 0);
  CHECK(pending_error() == cudaSuccess);
  // The same again: collecting adds nothing.
  CHECK(recorder.collect().problems.at(0).count == 6);
}

TEST_CASE_FIXTURE(fresh_machine, "a fault inside the first phase is noted under that phase when it is read") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const guilty{recorder, "guilty"};
  {
    auto const scope = guilty.enter(stream.get());
    simulated::fault(stream.get(), cudaErrorLaunchFailure, 2ms);
  }
  sg::recording const taken = recorder.collect();  // it waits, and the wait ends with the fault
  CHECK(only_sample(taken).device == observation{absence::earlier_work_failed});
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "guilty");
  CHECK(taken.problems[0].count == 1);
  REQUIRE(taken.environment.devices.size() == 1);
  CHECK_FALSE(taken.environment.devices[0].event_floor.has_value());
  CHECK(taken.environment.devices[0].why_no_floor == "unspecified launch failure");
  CHECK(simulated::host_now() == 1s + 2ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait on a fault ends, spinning and asleep, and the host time goes on") {
  for (sg::wait_policy const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    simulated::reset();
    program_stream const stream;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    {
      auto scope = step.enter(stream.get());
      simulated::fault(stream.get(), cudaErrorAssert, 2ms);
      simulated::launch(stream.get(), 5ms);  // behind it, so it never completes
      scope.wait(policy);
    }
    CHECK(simulated::host_now() == 1s + 2ms);
    sg::recording const taken = recorder.collect();
    CHECK(only_sample(taken).device == observation{absence::earlier_work_failed});
    CHECK(only_sample(taken).completion == observation{absence::earlier_work_failed});
    CHECK(only_sample(taken).submit == observation{0ns});
    CHECK(taken.problems.size() == 1);
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an interval on a fault fails with CUDA's status, reading and waiting") {
  program_stream const stream;
  sg::interval timer{stream.get()};
  timer.start();
  simulated::fault(stream.get(), cudaErrorIllegalAddress, 2ms);
  timer.stop();
  CHECK(timer.read().state == sg::interval_state::pending);
  sg::reading const read = timer.wait();
  CHECK(read.state == sg::interval_state::failed);
  CHECK(read.why == absence::earlier_work_failed);
  CHECK(read.status == cudaErrorIllegalAddress);
  CHECK(timer.start().why == absence::earlier_work_failed);
  CHECK(describe(read, "x") ==
        "interval \"x\": no device time: earlier work of the program failed (cudaErrorIllegalAddress)");
}

TEST_CASE_FIXTURE(fresh_machine, "everything of ours ends quietly after a fault, and its events are given back") {
  program_stream const stream;
  {
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    {
      auto const scope = step.enter(stream.get());
      simulated::fault(stream.get(), cudaErrorIllegalAddress);
    }
  }
  CHECK(simulated::live_events() == 0);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "a fault on one device leaves the times of another one") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  select_device(1);
  program_stream const broken;
  select_device(0);
  program_stream const whole;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(broken.get());
    simulated::fault(broken.get(), cudaErrorIllegalAddress);
  }
  for (int i = 0; i < 6; ++i) {
    auto const scope = step.enter(whole.get());
    simulated::launch(whole.get(), 1ms);
    wait_for(whole.get());
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 7);
  CHECK(taken.all[0].samples[0].device == observation{absence::earlier_work_failed});
  for (std::size_t i = 1; i < 6; ++i) CHECK(taken.all[0].samples[i].device == observation{1ms});
}

TEST_CASE_FIXTURE(fresh_machine, "each kind of failure of a record becomes its reason, and only real failures become problems") {
  struct meaning {
    int status;
    absence why;
    bool problem;
  };
  for (meaning const& each : {meaning{cudaErrorMemoryAllocation, absence::no_memory, false},
                              meaning{cudaErrorUnknown, absence::call_failed, true},
                              meaning{cudaErrorInvalidResourceHandle, absence::call_failed, true},
                              meaning{cudaErrorIllegalAddress, absence::earlier_work_failed, true},
                              meaning{cudaErrorContextIsDestroyed, absence::context_gone, false},
                              meaning{cudaErrorStreamCaptureUnsupported, absence::stream_capture, false},
                              meaning{cudaErrorStreamCaptureInvalidated, absence::stream_capture, false},
                              meaning{cudaErrorStreamCaptureImplicit, absence::capture_elsewhere, false},
                              meaning{cudaErrorCudartUnloading, absence::context_gone, false},
                              meaning{cudaErrorInitializationError, absence::forked, false}}) {
    for (std::size_t const which : {1U, 2U}) {  // the start's record, the stop's
      for (bool const waits : {false, true}) {
        CAPTURE(each.status);
        CAPTURE(which);
        CAPTURE(waits);
        simulated::reset();
        program_stream const stream;
        sg::recorder recorder{sg::mode::time, small_pool};
        sg::phase const step{recorder, "step"};
        simulated::fail_nth("cuEventRecord", which, each.status);
        {
          auto scope = step.enter(stream.get());
          simulated::launch(stream.get(), 1ms);
          simulated::host_advance(5us);
          if (waits) scope.wait(sg::wait_policy::block);
        }
        CHECK(simulated::injected_failures() == 1);
        sg::recording const taken = recorder.collect();
        CHECK(only_sample(taken).device == observation{each.why});
        CHECK(only_sample(taken).submit == observation{5us});
        CHECK(only_sample(taken).completion == observation{waits ? each.why : absence::not_asked});
        REQUIRE(taken.problems.size() == (each.problem ? 1 : 0));
        if (each.problem) CHECK(taken.problems[0].status == each.status);
        if (each.problem) CHECK(taken.problems[0].phase == "step");
        {
          auto const scope = step.enter(stream.get());
          simulated::launch(stream.get(), 2ms);
        }
        CHECK(recorder.collect().all.at(0).samples.at(1).device == observation{2ms});
      }
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a pool whose events cannot all be made works with those that there are") {
  for (std::size_t const which : {1U, 2U, 3U, 4U, 5U, 9U}) {
    CAPTURE(which);
    simulated::reset();
    program_stream const stream;
    {
      sg::recorder recorder{sg::mode::time, small_pool};
      sg::phase const step{recorder, "step"};
      simulated::fail_nth("cuEventCreate", which, cudaErrorMemoryAllocation);
      for (int i = 0; i < 5; ++i) {
        auto scope = step.enter(stream.get());
        simulated::launch(stream.get(), 1ms);
        scope.wait(sg::wait_policy::block);
      }
      sg::recording const taken = recorder.collect();
      REQUIRE(taken.all.at(0).samples.size() == 5);
      // Without a single pair the first sample has no device time; the next one tries again. The first event is the one
      // to sleep on: without it the waits spin.
      bool const no_pair = which == 2 || which == 3;
      CHECK(taken.all[0].samples[0].device == (no_pair ? observation{absence::no_memory} : observation{1ms}));
      for (std::size_t i = 1; i < 5; ++i) CHECK(taken.all[0].samples[i].device == observation{1ms});
      CHECK(taken.all[0].samples[4].waited == (which == 1 ? sg::wait_policy::spin : sg::wait_policy::block));
      CHECK(taken.problems.empty());
    }
    CHECK(simulated::live_events() == 0);
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a reading that fails drops that sample, names the phase and spares the others") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const first{recorder, "first"};
  sg::phase const second{recorder, "second"};
  {
    auto const scope = first.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
  }
  {
    auto const scope = second.enter(stream.get());
    simulated::launch(stream.get(), 2ms);
  }
  wait_for(stream.get());
  simulated::fail_nth("cuEventElapsedTime", 1, cudaErrorUnknown);
  sg::recording const taken = recorder.collect();
  CHECK(taken.all.at(0).samples.at(0).device == observation{absence::call_failed});
  CHECK(taken.all.at(1).samples.at(0).device == observation{2ms});
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "first");
  CHECK(taken.problems[0].text == "a CUDA call of the recorder failed: unknown error (cudaErrorUnknown); the sample kept its host side");
}
