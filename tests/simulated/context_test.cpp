// Without these: a device gets a context of hundreds of megabytes because somebody measured; a thread that has not called
// CUDA yet loses its device times; and after a reset an event of the old life crashes the process.

#include <streamgauge/measure/phase.hpp>

#include <memory>
#include <thread>

#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using sg_absence = streamgauge::absence;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

sg::series const& series_named(sg::recording const& taken, std::string_view name) {
  for (sg::series const& each : taken.all)
    if (each.phase == name) return each;
  FAIL("no such phase: " << name);
  return taken.all.front();
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a device without a context gets none: the device time is dropped and says so") {
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread, cudaStream_t{nullptr}}) {
    auto scope = step.enter(stream);
    simulated::host_advance(3us);
    scope.wait(sg::wait_policy::spin);
  }
  sg::recording const taken = recorder.collect();
  CHECK_FALSE(simulated::context_created(0));
  REQUIRE(taken.all.at(0).samples.size() == 3);
  for (sg::sample const& each : taken.all[0].samples) {
    CHECK(each.submit == sg::observation{3us});
    CHECK(each.device == sg::observation{sg_absence::no_context});
    CHECK(each.completion == sg::observation{sg_absence::no_context});
  }
  CHECK(taken.problems.empty());
  CHECK(taken.environment.devices.empty());
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "the device time is there as soon as the program has made the context") {
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(cudaStreamPerThread); }
  make_context();
  {
    auto const scope = step.enter(cudaStreamPerThread);
    simulated::launch(cudaStreamPerThread, 2ms);
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 2);
  CHECK(taken.all[0].samples[0].device == sg::observation{sg_absence::no_context});
  CHECK(taken.all[0].samples[1].device == sg::observation{2ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a fresh thread that has not called CUDA yet is timed on the legacy and the per-thread stream") {
  make_context();
  sg::recorder recorder{sg::mode::time, small_pool};
  for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread}) {
    sg::phase const step{recorder, stream == cudaStreamLegacy ? "legacy" : "per-thread"};
    std::thread{[&] {
      auto scope = step.enter(stream);
      simulated::host_advance(4ms);
      scope.wait(sg::wait_policy::block);
    }}.join();
    std::thread{[&] {
      auto scope = step.enter(stream);
      simulated::launch(stream, 5ms);  // the program's first call makes the context current on this thread
      scope.wait(sg::wait_policy::block);
    }}.join();
  }
  sg::recording const taken = recorder.collect();
  for (char const* const name : {"legacy", "per-thread"}) {
    sg::series const& each = series_named(taken, name);
    CAPTURE(name);
    REQUIRE(each.samples.size() == 2);
    CHECK(each.samples[0].device == sg::observation{4ms});
    CHECK(each.samples[0].completion == sg::observation{4ms});
    CHECK(each.samples[1].device == sg::observation{5ms});
  }
  CHECK(simulated::live_events() > 0);
}

TEST_CASE_FIXTURE(fresh_machine, "measuring on a fresh thread leaves its current context as it was: none") {
  make_context();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  simulated::forget_current_context();
  for (cudaStream_t const stream : {cudaStreamLegacy, cudaStreamPerThread}) {
    auto scope = step.enter(stream);
    scope.wait(sg::wait_policy::block);
  }
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  sg::context_handle current = nullptr;
  CHECK(cuda.api->context_current(&current) == cudaSuccess);
  CHECK(current == nullptr);
  static_cast<void>(recorder.collect());
  CHECK(cuda.api->context_current(&current) == cudaSuccess);
  CHECK(current == nullptr);
}

TEST_CASE_FIXTURE(fresh_machine, "the primary context is held no longer than it is asked for") {
  make_context();
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  simulated::forget_current_context();
  { auto const scope = step.enter(cudaStreamLegacy); }
  static_cast<void>(recorder.collect());
  CHECK(simulated::count("cuDevicePrimaryCtxRetain") > 0);
  CHECK(simulated::count("cuDevicePrimaryCtxRetain") == simulated::count("cuDevicePrimaryCtxRelease"));
  CHECK(simulated::context_created(0));
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 a device reset between entering and leaving drops that device time and no later one") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
    reset_device();
    stream.forget();
    simulated::host_advance(7us);
  }
  program_stream const next;
  {
    auto const scope = step.enter(next.get());
    simulated::launch(next.get(), 2ms);
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 2);
  CHECK(taken.all[0].samples[0].device == sg::observation{sg_absence::context_gone});
  CHECK(taken.all[0].samples[0].submit == sg::observation{7us});
  CHECK(taken.all[0].samples[1].device == sg::observation{2ms});
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 a wait after a device reset ends and says why there is no time") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  for (sg::wait_policy const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    program_stream next;
    auto scope = step.enter(next.get());
    simulated::launch(next.get(), 1ms);
    reset_device();
    next.forget();
    scope.wait(policy);
  }
  stream.forget();
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 2);
  for (sg::sample const& each : taken.all[0].samples) {
    CHECK(each.device == sg::observation{sg_absence::context_gone});
    CHECK(each.completion == sg::observation{sg_absence::context_gone});
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 a device reset between samples keeps what was read and gives up what was pending") {
  program_stream first_life;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  auto const run = [&](cudaStream_t stream, std::chrono::nanoseconds duration) {
    auto const scope = step.enter(stream);
    simulated::launch(stream, duration);
  };
  for (int i = 1; i <= 3; ++i) run(first_life.get(), i * 1ms);
  wait_for(first_life.get());
  run(first_life.get(), 4ms);  // entering it reads the three before, since half of the pool is under way
  reset_device();
  first_life.forget();
  program_stream const second_life;
  for (int i = 5; i <= 12; ++i) {
    run(second_life.get(), i * 1ms);
    wait_for(second_life.get());
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(taken.all.at(0).samples.size() == 12);
  for (std::size_t i = 0; i < 12; ++i) {
    CAPTURE(i);
    sg::observation const device = taken.all[0].samples[i].device;
    if (i == 3) CHECK(device == sg::observation{sg_absence::context_gone});
    else CHECK(device == sg::observation{sg::nanoseconds{(static_cast<int>(i) + 1) * 1ms}});
  }
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 a device reset before collecting ends no wait in a hang and drops what was pending") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 3; ++i) {
    auto const scope = step.enter(stream.get());
    simulated::launch(stream.get(), 1ms);
  }
  reset_device();
  stream.forget();
  simulated::clear_log();
  sg::recording const taken = recorder.collect();
  CHECK(simulated::count("cuEventElapsedTime") == 0);
  CHECK(simulated::count("cuEventSynchronize") == 0);
  REQUIRE(taken.all.at(0).samples.size() == 3);
  for (sg::sample const& each : taken.all[0].samples) CHECK(each.device == sg::observation{sg_absence::context_gone});
  REQUIRE(taken.environment.devices.size() == 1);  // the samples came from it; its floor can no longer be measured there
  CHECK(taken.environment.devices[0].why_no_floor == "the device was reset");
  CHECK_FALSE(taken.environment.devices[0].event_floor.has_value());
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 an outer phase that is open across a device reset does not harm the phases inside") {
  program_stream first_life;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  {
    auto const around = outer.enter(first_life.get());
    {
      auto const scope = inner.enter(first_life.get());
      simulated::launch(first_life.get(), 1ms);
    }
    wait_for(first_life.get());
    {
      auto const scope = inner.enter(first_life.get());
      simulated::launch(first_life.get(), 2ms);
    }
    reset_device();
    first_life.forget();
    program_stream const second_life;
    for (int i = 0; i < 10; ++i) {
      auto const scope = inner.enter(second_life.get());
      simulated::launch(second_life.get(), 3ms);
      wait_for(second_life.get());
    }
  }
  sg::recording const taken = recorder.collect();
  REQUIRE(series_named(taken, "outer").samples.size() == 1);
  CHECK(series_named(taken, "outer").samples[0].device == sg::observation{sg_absence::context_gone});
  auto const& samples = series_named(taken, "inner").samples;
  REQUIRE(samples.size() == 12);
  for (std::size_t i = 2; i < 12; ++i) CHECK(samples[i].device == sg::observation{3ms});
  CHECK(samples[1].device == sg::observation{sg_absence::context_gone});
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 everything of ours that outlives a device reset dies quietly, before and after a new start") {
  for (bool const started_anew : {false, true}) {
    CAPTURE(started_anew);
    program_stream stream;
    auto recorder = std::make_unique<sg::recorder>(sg::mode::time, small_pool);
    auto step = std::make_unique<sg::phase>(*recorder, "step");
    { auto const scope = step->enter(stream.get()); }
    auto open = std::make_unique<sg::started_phase>(step->start(stream.get()));
    reset_device();
    stream.forget();
    if (started_anew) make_context();
    std::size_t const destroyed = simulated::events_destroyed();
    recorder.reset();
    open.reset();
    step.reset();
    CHECK(simulated::events_destroyed() == destroyed);
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "events of a device are all given back when the recorder ends, also those still under way") {
  program_stream const stream;
  {
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const step{recorder, "step"};
    for (int i = 0; i < 3; ++i) {
      auto const scope = step.enter(stream.get());
      simulated::launch(stream.get(), 1ms);
    }
    CHECK(simulated::live_events() == 2 * 4 + 1);  // four pairs and the event to sleep on
  }
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "streams of two devices on one thread keep their times apart") {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  select_device(1);
  program_stream const far;
  select_device(0);
  program_stream const near_by;
  {
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const here{recorder, "here"};
    sg::phase const there{recorder, "there"};
    for (int i = 1; i <= 8; ++i) {
      {
        auto const outer = here.enter(near_by.get());
        auto const inner = there.enter(far.get());
        simulated::launch(near_by.get(), i * 1ms);
        simulated::launch(far.get(), i * 10ms);
      }
      wait_for(far.get());
    }
    sg::recording const taken = recorder.collect();
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(series_named(taken, "here").samples.at(i).device == sg::observation{sg::nanoseconds{(static_cast<int>(i) + 1) * 1ms}});
      CHECK(series_named(taken, "there").samples.at(i).device == sg::observation{sg::nanoseconds{(static_cast<int>(i) + 1) * 10ms}});
    }
    REQUIRE(taken.environment.devices.size() == 2);
  }
  CHECK(simulated::live_events() == 0);
}
