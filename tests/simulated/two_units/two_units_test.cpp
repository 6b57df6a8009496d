// Two translation units of one program that mean different streams by a null handle (case-16).

#include <thread>

#include "../observed.hpp"
#include "../program.hpp"
#include "unit.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;

namespace {

using streams = std::vector<void const*>;

// The streams of all calls of ours since the last `clear_log`; a call without one is left out.
streams streams_of(char const* name) {
  streams all;
  for (auto const& call : simulated::log())
    if (!call.by_user && std::string_view{call.name} == name) all.push_back(call.stream);
  return all;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a null stream is recorded on what the caller's own unit means by it (case-16)") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  simulated::clear_log();
  SUBCASE("legacy") {
    legacy_unit().enter_and_leave(step, nullptr);
    CHECK(streams_of("cuEventRecord") == streams(3, cudaStreamLegacy));
    CHECK(streams_of("cuStreamIsCapturing") == streams(2, cudaStreamLegacy));
  }
  SUBCASE("per thread") {
    per_thread_unit().enter_and_leave(step, nullptr);
    CHECK(streams_of("cuEventRecord") == streams(3, cudaStreamPerThread));
    CHECK(streams_of("cuStreamIsCapturing") == streams(2, cudaStreamPerThread));
  }
  SUBCASE("one after the other, on one phase") {
    legacy_unit().enter_a_null_pointer(step);
    per_thread_unit().enter_a_null_pointer(step);
    CHECK(streams_of("cuEventRecord") ==
          streams{cudaStreamLegacy, cudaStreamLegacy, cudaStreamPerThread, cudaStreamPerThread});
    auto const recording = recorder.collect();
    REQUIRE(recording.all.size() == 2);
    CHECK(recording.all[1].samples.size() == 2);
  }
  SUBCASE("a null handle is never passed on") {
    for (auto const& each : {legacy_unit(), per_thread_unit()}) each.enter_and_leave(step, nullptr);
    for (auto const& call : simulated::log())
      if (std::string_view{call.name} == "cuEventRecord") CHECK(call.stream != nullptr);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an explicit handle means the same in both units (case-16)") {
  cudaStream_t const stream = new_stream();
  for (auto const& each : {legacy_unit(), per_thread_unit()}) {
    CHECK(each.resolved(stream) == stream);
    CHECK(each.resolved(cudaStreamLegacy) == cudaStreamLegacy);
    CHECK(each.resolved(cudaStreamPerThread) == cudaStreamPerThread);
  }
  CHECK(legacy_unit().resolved(nullptr) == legacy_unit().resolved(cudaStreamLegacy));
  CHECK(per_thread_unit().resolved(nullptr) == cudaStreamPerThread);
}

TEST_CASE_FIXTURE(fresh_machine, "a phase that one unit starts the other may end, on the stream of the first (case-16)") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto open = per_thread_unit().start(step, nullptr);
  simulated::launch(cudaStreamPerThread, 2ms);
  auto other = legacy_unit().start(step, cudaStream_t{cudaStreamPerThread});
  open.stop();
  other.stop();
  auto const series = series_of(recorder.collect(), "step");
  CHECK(device_times(series) == std::vector<nanoseconds>{2ms, 0ms});
}

TEST_CASE_FIXTURE(fresh_machine, "the per-thread streams of two threads are two streams (case-16)") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto on_this = per_thread_unit().start(step, nullptr);
  simulated::launch(cudaStreamPerThread, 5ms);
  std::thread{[&] {
    make_context();
    auto here = per_thread_unit().start(step, nullptr);
    simulated::launch(cudaStreamPerThread, 1ms);
    here.stop();
  }}.join();
  on_this.stop();
  auto const times = device_times(series_of(recorder.collect(), "step"));
  REQUIRE(times.size() == 2);
  CHECK((std::min)(times[0], times[1]) == 1ms);
  CHECK((std::max)(times[0], times[1]) == 5ms);
}

TEST_CASE("both units throw the one type") {
  CHECK(legacy_unit().throws());
  CHECK(per_thread_unit().throws());
}
