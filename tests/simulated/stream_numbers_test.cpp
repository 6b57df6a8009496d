// The bug that would go unseen without this file: device time that is told of another stream, or of another device's.

#include <thread>
#include <vector>

#include <streamgauge/analyze/phases_on_device.hpp>
#include <streamgauge/measure/graph_replay_by_wait.hpp>
#include <streamgauge/measure/timeline.hpp>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using simulated::fresh_machine;
using simulated::launch;

namespace {

void run(sg::phase const& in, cudaStream_t on) {
  auto const scope = in.enter(on);
  launch(on, 1ms);
}

std::vector<std::uint32_t> streams_of(sg::series const& of) {
  std::vector<std::uint32_t> found;
  for (sg::sample const& one : of.samples) found.push_back(one.stream);
  return found;
}

struct fresh_devices : fresh_machine {
  fresh_devices() : fresh_machine{of_two()} {}
  static simulated::machine_options of_two() {
    simulated::machine_options options;
    options.devices = 2;
    return options;
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "samples name their stream, and no stream where there is no device time") {
  program_stream const first;
  program_stream const second;
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  run(step, second.get());
  run(step, first.get());
  run(step, second.get());
  { auto const scope = step.enter(sg::host_only); }
  run(step, cudaStreamLegacy);
  run(step, nullptr);
  auto const taken = recorder.collect();
  CHECK(streams_of(series_of(taken, "step")) == std::vector<std::uint32_t>{1, 2, 1, 0, 3, 3});
  REQUIRE(taken.streams.size() == 3);
  CHECK(taken.streams[0].handle == reinterpret_cast<std::uintptr_t>(second.get()));
  CHECK(taken.streams[1].handle == reinterpret_cast<std::uintptr_t>(first.get()));
  CHECK(taken.streams[0].kind == sg::stream_kind::made);
  CHECK(taken.streams[0].device == 0);
  CHECK(taken.streams[2].kind == sg::stream_kind::legacy);
  // Numbers stay from collecting to collecting.
  run(step, first.get());
  CHECK(streams_of(series_of(recorder.collect(), "step")).back() == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "two threads have two per-thread streams") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  run(step, cudaStreamPerThread);
  std::thread{[&] {
    run(step, cudaStreamPerThread);
    run(step, cudaStreamPerThread);
  }}.join();
  run(step, cudaStreamPerThread);
  auto const taken = recorder.collect();
  REQUIRE(taken.streams.size() == 2);
  CHECK(taken.streams[0].kind == sg::stream_kind::per_thread);
  CHECK(taken.streams[1].kind == sg::stream_kind::per_thread);
  std::vector<std::uint32_t> by_thread(2);
  for (sg::sample const& one : series_of(taken, "step").samples) {
    REQUIRE(one.thread < 2);
    std::uint32_t& its = by_thread[one.thread];
    CHECK((its == 0 || its == one.stream));
    its = one.stream;
  }
  CHECK(by_thread[0] != by_thread[1]);
  CHECK(by_thread[0] + by_thread[1] == 3);
}

TEST_CASE_FIXTURE(fresh_machine, "an interval that is read after its thread ended is of that thread's per-thread stream") {
  make_context();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 3; ++i) std::thread{[&] { run(step, cudaStreamPerThread); }}.join();  // one lane, three threads
  auto const taken = recorder.collect();
  CHECK(taken.streams.size() == 3);
  CHECK(streams_of(series_of(taken, "step")) == std::vector<std::uint32_t>{1, 2, 3});
}

TEST_CASE_FIXTURE(fresh_devices, "a phase that was waited for names its stream and its device") {
  select_device(1);
  cudaStream_t const there = new_stream();
  select_device(0);
  cudaStream_t const here = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  for (sg::wait_policy const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    for (cudaStream_t const stream : {here, there}) {
      auto scope = step.enter(stream);
      launch(stream, 1ms);
      scope.wait(policy);
    }
  }
  auto const taken = recorder.collect();
  auto const steps = series_of(taken, "step").samples;
  CHECK(streams_of(series_of(taken, "step")) == std::vector<std::uint32_t>{1, 2, 1, 2});
  CHECK(sg::device_of(taken, steps[0]) == 0);
  CHECK(sg::device_of(taken, steps[1]) == 1);
  CHECK(sg::stretches_of(taken).size() == 4);
}

TEST_CASE_FIXTURE(fresh_devices, "streams of two devices are told apart with their devices, the branches of a span too") {
  select_device(1);
  cudaStream_t const there = new_stream();
  select_device(0);
  cudaStream_t const here = new_stream();
  sg::recorder recorder;
  sg::phase const exchange{recorder, "exchange"};
  sg::phase const part{recorder, "part"};
  {
    sg::span both{exchange};
    for (cudaStream_t const stream : {there, here}) {
      auto const scope = both.branch(stream, part);
      launch(stream, 1ms);
    }
  }
  auto const taken = recorder.collect();
  REQUIRE(taken.streams.size() == 2);
  auto const parts = series_of(taken, "part").samples;
  REQUIRE(parts.size() == 2);
  CHECK(taken.streams[parts[0].stream - 1].device == 1);
  CHECK(taken.streams[parts[1].stream - 1].device == 0);
  CHECK(sg::device_of(taken, parts[0]) == 1);
  for (sg::series const& each : taken.all)
    for (sg::sample const& one : each.samples)
      if (one.part == sg::span_part::whole) CHECK(one.stream == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "the interval of a graph is told of the stream that the graph was launched on") {
  replay_program its;
  auto const step = its.graph_of(3ms);
  {
    sg::graph_replay replay{its.launches, step.executable, step.graph, its.stream};
    REQUIRE(replay.launch() == cudaSuccess);
  }
  {
    sg::graph_replay_by_wait replay{its.launches, step.executable, its.stream, {its.inner}};
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
  }
  auto const taken = its.recorder.collect();
  auto const inner = series_of(taken, "inner").samples;
  REQUIRE(inner.size() == 2);
  for (sg::sample const& one : inner) {
    CHECK(one.device.value() == 3ms);
    REQUIRE(one.stream != 0);
    CHECK(taken.streams[one.stream - 1].handle == reinterpret_cast<std::uintptr_t>(its.stream));
  }
}

TEST_CASE("five hundred streams have five hundred numbers, and each is found again") {
  sg::stream_numbers numbers;
  auto const of = [](std::uintptr_t handle, unsigned long long context, std::uint32_t thread = 0) {
    sg::numbered_stream wanted;
    wanted.context = {reinterpret_cast<sg::context_handle>(std::uintptr_t{0x10}), context};
    wanted.handle = reinterpret_cast<cudaStream_t>(handle);
    wanted.thread = thread;
    return wanted;
  };
  for (int round = 0; round < 2; ++round)
    for (std::uintptr_t i = 0; i < 500; ++i) CHECK(numbers.number_of(of(0x1000 + 64 * (i / 4), i % 2, i % 4 / 2)) == i + 1);
  CHECK(numbers.size() == 500);
  CHECK(numbers.at(500).is(of(0x1000 + 64 * 124, 1, 1)));
}

TEST_CASE("behind the last number streams have none, and those before keep theirs") {
  sg::stream_numbers numbers;
  sg::numbered_stream wanted;
  for (std::uintptr_t i = 1; i <= sg::stream_numbers::most + 2; ++i) {
    wanted.handle = reinterpret_cast<cudaStream_t>(i * 64);
    auto const number = numbers.number_of(wanted);
    if (number != (i <= sg::stream_numbers::most ? i : 0)) FAIL("stream " << i << " has number " << number);
  }
  wanted.handle = reinterpret_cast<cudaStream_t>(std::uintptr_t{64});
  CHECK(numbers.number_of(wanted) == 1);
}
