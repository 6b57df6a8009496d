// Without these: a device start that stands where it never was, with a bound that does not hold; a device start before its
// submission; a stall of ours in the program's loop; or calls of ours that nobody asked for.

#include <streamgauge/measure/timeline.hpp>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "observed.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// A host and a device as they are: calls cost something, the two clocks drift apart, readings step.
void as_on_a_real_machine(simulated::device_clock const& runs) {
  simulated::set_cost("steady_clock::now", 20ns);
  simulated::set_cost("cuEventRecord", 1us);
  simulated::set_cost("cudaLaunchKernel", 3us);
  simulated::set_cost("cuEventElapsedTime", 100ns);
  simulated::set_record_duration(1280ns);
  simulated::set_device_clock(0, runs);
}

/// What the program can know of one execution, for the test alone.
struct truth {
  nanoseconds begins;  ///< since the recording's origin
  nanoseconds ends;
};

/// Runs a phase and keeps where its interval truly lay.
class watched_phase {
 public:
  watched_phase() : step_{recorder_, "step"} {}

  template <class Body>
  void run(cudaStream_t stream, Body body) {
    auto const scope = step_.enter(stream);
    nanoseconds const begins = simulated::stream_end(stream) - origin_;
    body();
    truths_.push_back({begins, simulated::stream_end(stream) - origin_});
  }
  template <class Body>
  void run_and_wait(cudaStream_t stream, sg::wait_policy policy, Body body) {
    auto scope = step_.enter(stream);
    nanoseconds const begins = simulated::stream_end(stream) - origin_;
    body();
    truths_.push_back({begins, simulated::stream_end(stream) - origin_});
    scope.wait(policy);
  }

  [[nodiscard]] sg::recorder& recorder() noexcept { return recorder_; }
  [[nodiscard]] std::vector<truth> const& truths() const noexcept { return truths_; }

 private:
  nanoseconds origin_ = simulated::host_now();
  sg::timeline_recorder recorder_;
  sg::phase step_;
  std::vector<truth> truths_;
};

nanoseconds distance(nanoseconds a, nanoseconds b) { return a < b ? b - a : a - b; }

/// Every sample is placed, the truth lies within its bound, and no bound is above `widest`.
void check_placed(sg::series const& of, std::vector<truth> const& truths, nanoseconds widest) {
  REQUIRE(of.samples.size() == truths.size());
  for (std::size_t i = 0; i < truths.size(); ++i) {
    CAPTURE(i);
    sg::sample const& one = of.samples[i];
    REQUIRE(one.queue.known());
    nanoseconds const begins = one.entered + *one.queue.value();
    REQUIRE(distance(begins, truths[i].begins) <= one.bound);
    REQUIRE(one.bound <= widest);
    REQUIRE(*one.queue.value() - one.bound >= 0ns);
  }
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "device starts are placed on the host's clock, and the truth lies within every bound") {
  as_on_a_real_machine({3.5e-6, 0, 32ns});
  cudaStream_t const stream = new_stream();
  watched_phase phase;
  for (int i = 0; i < 3000; ++i) {
    phase.run(stream, [&] { launch(stream, 20us); });
    simulated::host_advance(1ms);
  }
  sg::recording const taken = phase.recorder().collect();
  check_placed(series_of(taken, "step"), phase.truths(), 4us);
  REQUIRE(taken.clocks.size() == 1);
  CHECK(taken.clocks[0].device == 0);
  CHECK(taken.clocks[0].why_not.empty());
  CHECK(taken.clocks[0].thrown_away == 0);
  // Three at the start, ten a second for three seconds, and one or two at the end.
  CHECK(taken.clocks[0].anchors >= 30);
  CHECK(taken.clocks[0].anchors <= 36);
  // The device's clock gains 3.5 us a second on the host's.
  REQUIRE(taken.clocks[0].drift);
  REQUIRE(taken.clocks[0].drift_bound);
  CHECK(*taken.clocks[0].drift_bound < 2e-6);
  CHECK(std::abs(*taken.clocks[0].drift + 3.5e-6) <= *taken.clocks[0].drift_bound);
  CHECK(taken.clocks[0].limits.change_of_drift == 1e-6);
}

TEST_CASE_FIXTURE(fresh_machine, "the bound holds with drifts to 200 ppm, and with a drift that changes within its limit") {
  for (double const drift : {-200e-6, -3e-6, 0.0, 200e-6}) {
    for (double const change : {-0.9e-6, 0.0, 0.9e-6}) {
      CAPTURE(drift);
      CAPTURE(change);
      simulated::reset();
      as_on_a_real_machine({drift, change, 32ns});
      cudaStream_t const stream = new_stream();
      watched_phase phase;
      for (int i = 0; i < 200; ++i) {
        phase.run(stream, [&] { launch(stream, 50us); });
        simulated::host_advance(i % 20 == 0 ? 600ms : 7ms);
      }
      check_placed(series_of(phase.recorder().collect(), "step"), phase.truths(), 4us);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an hour of anchors and samples stays bounded in memory and in error") {
  as_on_a_real_machine({100e-6, 1e-9, 32ns});
  cudaStream_t const stream = new_stream();
  watched_phase phase;
  std::size_t events = 0;
  for (int i = 0; i < 36'000; ++i) {
    phase.run(stream, [&] { launch(stream, 50us); });
    simulated::host_advance(100ms);
    if (i == 18'000) events = simulated::live_events();
  }
  CHECK(simulated::live_events() == events);
  check_placed(series_of(phase.recorder().collect(), "step"), phase.truths(), 4us);
}

TEST_CASE_FIXTURE(fresh_machine, "device durations are the device's own: the map never rescales them") {
  as_on_a_real_machine({100e-6, 0, 1ns});
  simulated::set_record_duration(0ns);
  cudaStream_t const stream = new_stream();
  watched_phase phase;
  phase.run(stream, [&] { launch(stream, 100ms); });
  // The launch costs 3 us before the work begins: 100.003 ms of true time, read by a clock that gains 100 us a second.
  sg::sample const one = sample_of(phase.recorder().collect(), "step");
  REQUIRE(one.device.known());
  CHECK(distance(*one.device.value(), 100'003'000ns + 1us + 10'000ns) < 1100ns);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait that saw the device done bounds the start from above, a submission from below") {
  as_on_a_real_machine({0, 0, 1ns});
  cudaStream_t const stream = new_stream();
  watched_phase phase;
  for (int i = 0; i < 50; ++i)
    phase.run_and_wait(stream, sg::wait_policy::spin, [&] { launch(stream, 20us); });
  sg::recording const taken = phase.recorder().collect();
  sg::series const series = series_of(taken, "step");
  check_placed(series, phase.truths(), 4us);
  for (sg::sample const& one : series.samples) {
    REQUIRE(one.completion.known());
    // But for what the clocks may drift apart in 22 us, and what is rounded.
    CHECK(*one.queue.value() + one.bound + *one.device.value() <= *one.completion.value() + 9ns);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "between two anchors nothing of ours is called but the records, and nothing waits") {
  as_on_a_real_machine({0, 0, 1ns});
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  simulated::clear_log();
  for (int i = 0; i < 100; ++i) {
    auto const scope = step.enter(stream);
    launch(stream, 5us);
  }
  CHECK(simulated::count("cuEventRecord") == 200);
  CHECK(simulated::count("cuEventElapsedTime") == 0);
  CHECK(simulated::count("cuEventQuery") == 0);
  CHECK(simulated::count("cuEventSynchronize") == 0);
  CHECK(simulated::count("cuStreamCreate") == 0);
  CHECK(simulated::count("cuEventCreate") == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "without a timeline_recorder there is no stream of ours, no anchor, and no place") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  CHECK(simulated::count("cuStreamCreate") == 0);
  sg::recording const taken = recorder.collect();
  CHECK(missing(sample_of(taken, "step").queue) == sg::absence::not_asked);
  CHECK(taken.clocks.empty());
  CHECK(taken.why_not_placed.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a device that does not come to the anchors holds nobody up, and samples alone bound the map") {
  as_on_a_real_machine({2e-6, 0, 32ns});
  cudaStream_t const stream = new_stream();
  watched_phase phase;
  phase.run(stream, [&] { launch(stream, 5us); });
  cudaStream_t ours = nullptr;
  for (auto const& each : simulated::log())
    if (std::string{each.name} == "cuEventRecord" && each.stream != stream)
      ours = static_cast<cudaStream_t>(const_cast<void*>(each.stream));
  REQUIRE(ours != nullptr);
  simulated::hold(ours);
  nanoseconds longest{0};
  for (int i = 0; i < 1000; ++i) {
    nanoseconds const before = simulated::host_now();
    phase.run_and_wait(stream, sg::wait_policy::spin, [&] { launch(stream, 20us); });
    // What the phase costs by itself: three calls, stamps, and the wait for 20 us of work.
    longest = (std::max)(longest, simulated::host_now() - before);
    simulated::host_advance(3ms);
  }
  CHECK(longest < 60us);
  sg::recording const taken = phase.recorder().collect();
  check_placed(series_of(taken, "step"), phase.truths(), 10us);
  CHECK(taken.clocks.at(0).anchors <= 4 + 8);
  simulated::release(ours);
}

TEST_CASE_FIXTURE(fresh_machine, "case-35 phases of seconds and minutes that are waited for: drift and float times spoil no bound") {
  for (int const seconds : {1, 7, 61, 1001}) {
    for (double const drift : {-3.5e-6, 3.5e-6, 200e-6}) {
      CAPTURE(seconds);
      CAPTURE(drift);
      simulated::reset();
      as_on_a_real_machine({drift, 0, 32ns});
      cudaStream_t const stream = new_stream();
      watched_phase phase;
      for (int i = 0; i < 12; ++i) {
        phase.run_and_wait(stream, sg::wait_policy::block, [&] { launch(stream, seconds * 1s + i * 7'654'321ns); });
        simulated::host_advance(1ms);
      }
      check_placed(series_of(phase.recorder().collect(), "step"), phase.truths(), 5us);
    }
  }
}
