// The bugs that would go unseen without this file: a gate that leaves launch gaps in, one that hangs where the device is
// waited for, and one that the driver takes in another way than the simulated one: memory that was registered, streams of
// other contexts and threads, a reset behind a closed gate.
// Field cases: case-11, case-12.
#include "program.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

#include <streamgauge/measure/gate.hpp>
#include <streamgauge/measure/kernel_floor.hpp>

#include "device.cuh"

using namespace std::chrono_literals;
using sg::absence;
using sg::gating;

__global__ void nothing() {}
__global__ void never_launched_before(int* value) { *value += 3; }

namespace {

/// Under a tool there is no gate, and nothing here to see.
bool gates_work() {
  if (watched()) std::printf("a tool is attached: no gate\n");
  return !watched();
}

/// Runs a body that waits for the device behind a gate; what became of the hold.
template <class Body>
gating behind_a_gate(char const* what, Body body) {
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase step{recorder, "step"};
  sg::gate gate{100ms};
  auto const began = sg::host_now();
  {
    auto scope = step.enter(stream, gate);
    body(stream);
  }
  auto const took = std::chrono::duration_cast<std::chrono::milliseconds>(sg::host_now() - began);
  stream.synchronize();
  auto const ended = gate.last().value_or(gating::not_timed);
  std::printf("%s: %s after %lld ms\n", what, sg::describe(ended), static_cast<long long>(took.count()));
  CHECK(took < 1100ms);
  {
    auto scope = step.enter(stream, gate);
    spin<<<1, 1, 0, stream>>>(20 * us, nullptr);
  }
  auto const seen = series_of(recorder.collect(), "step");
  REQUIRE(seen.samples.size() == 2);
  CHECK((seen.samples[0].device.why_absent() == absence::gate_timeout) == (ended == gating::timed_out));
  CHECK(seen.samples[0].submit.known());
  CHECK(gate.last() == gating::gated);
  CHECK(device_ns(seen.samples[1]) >= 19'000);
  CHECK(device_ns(seen.samples[1]) < 1'000'000);
  return ended;
}

}  // namespace

TEST_CASE("case-11: ten kernels behind a gate take what they take in a queue, and less than on an idle stream") {
  if (!gates_work()) return;
  warm_up();
  test_stream const stream;
  device_values<int> values{1};
  sg::recorder recorder{sg::mode::time};
  sg::phase plain{recorder, "plain"};
  sg::phase behind{recorder, "behind", sg::warmup{1}};
  sg::gate gate;
  auto const ten = [&] {
    for (int i = 0; i < 10; ++i) add_one<<<1, 1, 0, stream>>>(values.at(0));
  };
  for (int i = 0; i < 201; ++i) {
    {
      auto scope = plain.enter(stream);
      ten();
    }
    stream.synchronize();
    {
      auto scope = behind.enter(stream, gate);
      ten();
    }
    stream.synchronize();
  }
  CHECK(gate.count(gating::warmup) == 1);
  CHECK(gate.count(gating::gated) + gate.count(gating::timed_out) == 200);
  auto const taken = recorder.collect();
  auto const median = [&](char const* phase, auto of) {
    std::vector<std::int64_t> all;
    for (auto const& each : series_of(taken, phase).samples)
      if (!each.warmup && each.device.known()) all.push_back(of(each));
    return median_of(all);
  };
  auto const device = [](sg::sample const& each) { return each.device.value()->count(); };
  auto const submit = [](sg::sample const& each) { return each.submit.value()->count(); };
  std::printf("ten kernels: idle %lld ns, gated %lld ns; submit %lld ns, gated %lld ns\n",
              static_cast<long long>(median("plain", device)), static_cast<long long>(median("behind", device)),
              static_cast<long long>(median("plain", submit)), static_cast<long long>(median("behind", submit)));
  CHECK(5 * median("behind", device) < 4 * median("plain", device));
  CHECK(values.read()[0] == 4020);
}

TEST_CASE("kernels behind a gate, less the floor, take as long as by their own clock") {
  if (!gates_work()) return;
  warm_up();
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::allow_kernel_floor(recorder);
  sg::gate gate;
  constexpr std::uint64_t bases[] = {0, 1, 5, 20, 100, 1000};
  sg::phase empty{recorder, "empty"};
  std::vector<sg::phase> phases;
  std::vector<std::uint64_t> lengths;
  for (std::uint64_t const base : bases)
    for (std::uint64_t const length : lengths_over_a_step(base * us)) {
      phases.emplace_back(recorder, std::to_string(base) + " us, " + std::to_string(length) + " ns");
      lengths.push_back(length);
    }
  constexpr std::size_t count = 40;
  auto const behind_the_gate = [&](sg::phase& phase, auto launch) {
    {
      auto scope = phase.enter(stream, gate);
      launch();
    }
    stream.synchronize();
  };
  for (std::size_t i = 0; i < count; ++i)  // in turn, so that what wanders comes to all of them
    for (std::size_t k = 0; k < phases.size(); ++k) {
      if (k % 11 == 0) behind_the_gate(empty, [&] { nothing<<<1, 1, 0, stream>>>(); });
      behind_the_gate(phases[k], [&] { spin<<<1, 1, 0, stream>>>(lengths[k], nullptr); });  // writing the clocks down takes longer
    }
  auto const taken = recorder.collect();
  auto const median = [&](sg::phase const& phase) {
    std::vector<std::int64_t> read;
    for (sg::sample const& each : series_of(taken, phase.name()).samples)
      if (each.device.known()) read.push_back(device_ns(each));
    REQUIRE(read.size() >= count / 2);
    return median_of(read);
  };
  REQUIRE(taken.environment.devices.size() == 1);
  REQUIRE(taken.environment.devices[0].kernel_floor.has_value());
  std::int64_t const floor = taken.environment.devices[0].kernel_floor->count();
  std::int64_t const empty_floor = median(empty);
  std::int64_t spin_floor = 0;
  for (std::size_t base = 0; base < std::size(bases); ++base) {
    std::vector<std::int64_t> above;
    for (std::size_t k = 11 * base; k < 11 * base + 11; ++k) above.push_back(median(phases[k]) - lasts(lengths[k]));
    std::int64_t const typical = std::accumulate(above.begin(), above.end(), std::int64_t{0}) / static_cast<std::int64_t>(above.size());
    if (base == 0) spin_floor = typical;
    std::printf("spins from %4d us on behind a gate: %lld ns above their own clock, %lld to %lld; %+lld beside spins of no length\n",
                static_cast<int>(bases[base]), static_cast<long long>(typical),
                static_cast<long long>(*std::min_element(above.begin(), above.end())),
                static_cast<long long>(*std::max_element(above.begin(), above.end())), static_cast<long long>(typical - spin_floor));
    // Within 26 ns on one host and 76 on another; four steps of that clock.
    CHECK(typical - spin_floor <= 128);
    CHECK(typical - spin_floor >= -128);
    // An empty kernel is of one length, and so anywhere on the step of its end.
    CHECK(typical - empty_floor <= 176 + 128);
    CHECK(typical - empty_floor >= -176 - 128);
  }
  std::printf("an empty kernel behind a gate reads %lld ns, the library's floor is %lld\n", static_cast<long long>(empty_floor),
              static_cast<long long>(floor));
  CHECK(empty_floor <= floor + 300);
  CHECK(empty_floor >= floor - 300);
}

TEST_CASE("case-12: what waits for the device behind a gate is let go within the limit") {
  if (!gates_work()) return;
  warm_up();
  device_values<int> values{1};
  CHECK(behind_a_gate("synchronise of the stream", [](auto const& stream) {
          spin<<<1, 1, 0, stream>>>(us, nullptr);
          stream.synchronize();
        }) == gating::timed_out);
  CHECK(behind_a_gate("synchronise of the device", [](auto const& stream) {
          spin<<<1, 1, 0, stream>>>(us, nullptr);
          cudaDeviceSynchronize();
        }) == gating::timed_out);
  CHECK(behind_a_gate("2000 launches", [&](auto const& stream) {
          for (int i = 0; i < 2000; ++i) add_one<<<1, 1, 0, stream>>>(values.at(0));
        }) == gating::timed_out);
  CHECK(behind_a_gate("900 launches", [&](auto const& stream) {
          for (int i = 0; i < 900; ++i) add_one<<<1, 1, 0, stream>>>(values.at(0));
        }) == gating::gated);
  // With eager loading it is a launch like any other.
  gating const first = behind_a_gate("first launch", [&](auto const& stream) {
    never_launched_before<<<1, 1, 0, stream>>>(values.at(0));
  });
  CHECK((first == gating::timed_out || first == gating::gated));
  CHECK(values.read()[0] == 2903);
}

TEST_CASE("a gate beside somebody's capture, on fresh threads, on the per-thread stream, and on a blocking stream") {
  if (!gates_work()) return;
  warm_up();
  test_stream const stream;
  test_stream const captured;
  test_stream const blocking{cudaStreamDefault};
  sg::gate gate{500ms};
  REQUIRE(cudaStreamBeginCapture(captured, cudaStreamCaptureModeGlobal) == cudaSuccess);
  {
    auto held = gate.hold(stream);
    CHECK(held.open() == gating::gated);
    CHECK(gate.hold(captured).open() == gating::stream_capture);
  }
  cudaGraph_t graph = nullptr;
  CHECK(cudaStreamEndCapture(captured, &graph) == cudaSuccess);
  if (graph) cudaGraphDestroy(graph);
  std::thread{[&] { CHECK(gate.hold(stream).open() == gating::gated); }}.join();
  std::thread{[&] { CHECK(gate.hold(cudaStreamPerThread).open() == gating::gated); }}.join();
  CHECK(gate.hold(blocking).open() == gating::gated);
  CHECK(gate.hold(cudaStreamLegacy).open() == gating::legacy_stream);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("a stream of another device than the current one is held") {
  int devices = 0;
  if (!gates_work() || cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) return;
  warm_up();
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  warm_up();
  test_stream const there;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  sg::gate gate{500ms};
  auto held = gate.hold(there);
  CHECK(held.holds());
  CHECK(cudaStreamQuery(there) == cudaErrorNotReady);
  CHECK(held.open() == gating::gated);
  there.synchronize();
}

int reset_behind_a_closed_gate() {
  cudaStream_t stream = nullptr;
  sg::recorder recorder{sg::mode::time};
  sg::phase step{recorder, "step"};
  sg::gate gate{200ms};
  for (int i = 0; i < 3; ++i) {
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
    spin<<<1, 1, 0, stream>>>(us, nullptr);
    must(cudaStreamSynchronize(stream) == cudaSuccess, "a kernel");
    auto scope = step.enter(stream, gate);
    spin<<<1, 1, 0, stream>>>(us, nullptr);
    must(cudaDeviceReset() == cudaSuccess, "cudaDeviceReset");
    if (i == 1) usleep(400'000);  // the watch opens a gate whose context is gone
  }
  must(series_of(recorder.collect(), "step").samples.size() == 3, "every sample is there");
  return 0;
}
add_child const child_1{"reset_behind_a_closed_gate", reset_behind_a_closed_gate};

int exit_behind_a_closed_gate() {
  static sg::gate gate{60s};
  cudaStream_t stream = nullptr;
  must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
  spin<<<1, 1, 0, stream>>>(us, nullptr);
  must(cudaStreamSynchronize(stream) == cudaSuccess, "a kernel");
  auto* const held = new sg::held{gate.hold(stream)};
  spin<<<1, 1, 0, stream>>>(us, nullptr);
  static_cast<void>(held);
  std::exit(0);
}
add_child const child_2{"exit_behind_a_closed_gate", exit_behind_a_closed_gate};

TEST_CASE("a reset, and the end of the process, behind a closed gate") {
  for (child const& each : children()) {
    CAPTURE(each.name);
    auto const began = sg::host_now();
    auto const got = run_child(each.name);
    INFO(got.output);
    CHECK(got.exit_code == 0);
    CHECK(got.errors == "");
    CHECK(sg::host_now() - began < 30s);
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
