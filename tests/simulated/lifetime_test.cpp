// Who may outlive whom, and what is left behind: nothing.

#include <memory>
#include <thread>

#include "observed.hpp"
#include "program.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

// What is left of CUDA's objects once everything of ours is gone: the program's own streams.
void check_nothing_left(std::size_t streams) {
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::live_streams() == streams);
  CHECK(simulated::events_created() == simulated::events_destroyed());
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a recorder that ends with intervals still waiting destroys its events and waits for nothing") {
  cudaStream_t const stream = new_stream();
  {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    for (int i = 0; i < 10; ++i) {
      auto const scope = step.enter(stream);
      launch(stream, 1s);
    }
  }
  CHECK(simulated::host_now() == 1s);
  CHECK(simulated::count("cuEventSynchronize") == 0);
  check_nothing_left(1);
}

TEST_CASE_FIXTURE(fresh_machine, "a handle that outlives its recorder may still be entered, copied, refined and destroyed") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  auto recorder = std::make_unique<sg::recorder>();
  auto const step = std::make_unique<sg::phase>(*recorder, "step");
  { auto const scope = step->enter(stream); }
  recorder.reset();
  check_nothing_left(1);
  simulated::clear_log();
  sg::phase const copy = *step;
  sg::phase const refined = step->with({{"rows", 1}});
  for (auto const& each : {*step, copy, refined}) {
    auto scope = each.enter(stream);
    scope.wait(sg::wait_policy::block);
  }
  std::thread{[&] { auto const scope = copy.enter(stream); }}.join();
  CHECK(simulated::count("cuEventRecord") == 0);
  CHECK(simulated::count("cuEventCreate") == 0);
  CHECK(ranges_seen::so_far.pushes == ranges_seen::so_far.pops);
  check_nothing_left(1);
}

TEST_CASE_FIXTURE(fresh_machine, "a started phase that outlives its recorder ends on any thread, with its range, and gives its events back") {
  cudaStream_t const stream = new_stream();
  ranges_seen::so_far.forget();
  auto recorder = std::make_unique<sg::recorder>();
  auto const step = std::make_unique<sg::phase>(*recorder, "step");
  auto first = step->start(stream);
  auto second = step->start(stream);
  auto third = step->start(sg::host_only);
  auto fourth = step->start(stream);
  recorder.reset();
  simulated::clear_log();
  first.stop();
  second.wait(sg::wait_policy::spin);
  std::thread{[&] { third.stop(); }}.join();
  std::thread{[moved = std::move(fourth)]() mutable { moved.wait(sg::wait_policy::block); }}.join();
  for (char const* call : {"cuEventRecord", "cuEventElapsedTime", "cuEventSynchronize", "cuEventQuery"})
    CHECK_MESSAGE(simulated::count(call) == 0, call);
  CHECK(simulated::count("cuEventDestroy") == 6);  // the two of each of the three on a stream
  CHECK(ranges_seen::so_far.starts == 4);
  CHECK(ranges_seen::so_far.ends == 4);
  check_nothing_left(1);
}

TEST_CASE_FIXTURE(fresh_machine, "a thread may outlive the recorders that it measured for, and measure for the next") {
  cudaStream_t const stream = new_stream();
  std::thread{[&] {
    for (int i = 0; i < 5; ++i) {
      sg::recorder first{sg::capacity{100, 4}};
      auto second = std::make_unique<sg::recorder>(sg::capacity{100, 4});
      sg::phase const in_first{first, "step"};
      sg::phase const in_second{*second, "step"};
      for (int k = 0; k < 3; ++k) {
        auto const outer = in_first.enter(stream);
        auto const inner = in_second.enter(stream);
        launch(stream, 1ms);
      }
      second.reset();
      {
        auto const scope = in_first.enter(stream);
        launch(stream, 2ms);
      }
      CHECK(device_times(series_of(first.collect(), "step")) == std::vector<nanoseconds>{1ms, 1ms, 1ms, 2ms});
    }
  }}.join();
  check_nothing_left(1);
}

TEST_CASE_FIXTURE(fresh_machine, "what a thread measured outlives the thread") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  std::thread{[&] {
    auto const scope = step.enter(stream);
    launch(stream, 3ms);
  }}.join();
  CHECK(sample_of(recorder.collect(), "step").device == 3ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a recorder that ends on another thread than it was made on takes everything along") {
  cudaStream_t const stream = new_stream();
  auto recorder = std::make_unique<sg::recorder>();
  auto step = std::make_unique<sg::phase>(*recorder, "step");
  {
    auto const scope = step->enter(stream);
    launch(stream, 1ms);
  }
  simulated::host_advance(1ns);
  std::thread{[moved = std::move(recorder), handle = std::move(step), stream]() mutable {
    {
      auto const scope = handle->enter(stream);
      launch(stream, 2ms);
    }
    CHECK(device_times(series_of(moved->collect(), "step")) == std::vector<nanoseconds>{1ms, 2ms});
    moved.reset();
  }}.join();
  check_nothing_left(1);
}

TEST_CASE_FIXTURE(fresh_machine, "a recording is values: it outlives its recorder") {
  cudaStream_t const stream = new_stream();
  sg::recording kept;
  {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    {
      auto const scope = step.enter(stream);
      launch(stream, 1ms);
    }
    kept = recorder.collect();
  }
  CHECK(sample_of(kept, "step").device == 1ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a scope that is open while its recorder is collected closes into the next recording") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    CHECK(missing(sample_of(recorder.collect(), "step").submit) == sg::absence::still_open);
    launch(stream, 1ms);
  }
  auto const sample = sample_of(recorder.collect(), "step");
  CHECK(sample.submit.known());
  CHECK(sample.device == 1ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a device reset between samples neither crashes nor mixes events of two contexts (case-37)") {
  cudaStream_t const before = new_stream();
  {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    {
      auto const read = step.enter(before);
      launch(before, 1ms);
    }
    recorder.drain();
    {
      auto const lost = step.enter(before);
      launch(before, 1ms);
    }
    auto open = step.start(before);
    reset_device();
    cudaStream_t const after = new_stream();
    {
      auto const fresh = step.enter(after);
      launch(after, 2ms);
    }
    open.stop();
    auto const series = series_of(recorder.collect(), "step");
    REQUIRE(series.samples.size() == 4);
    CHECK(series.samples[0].device == 1ms);
    CHECK(missing(series.samples[1].device) == sg::absence::context_gone);
    CHECK(missing(series.samples[2].device) == sg::absence::context_gone);
    CHECK(series.samples[3].device == 2ms);
  }
  CHECK(simulated::live_events() == 0);
}
