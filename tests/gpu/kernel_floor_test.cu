// The bug that would go unseen without this file: a floor around a kernel that is not what a queued kernel reads, that this
// driver cannot load, or that disturbs the program.
#include "program.hpp"

#include <chrono>
#include <thread>

#include <streamgauge/analyze/less_floor.hpp>
#include <streamgauge/measure/kernel_floor.hpp>

#include "device.cuh"

namespace {

__global__ void nothing() {}

sg::context_key context_here() {
  sg::context_answer const found = sg::current_context(*sg::driver().api);
  REQUIRE(found.status == cudaSuccess);
  return found.key;
}

sg::device_description measured() {
  sg::device_description device;
  sg::kernel_floor_measurement{*sg::driver().api, context_here()}.describe(device);
  INFO(device.why_no_kernel_floor);
  REQUIRE(device.kernel_floor.has_value());
  return device;
}

// What two events by hand read around `launch`, each time behind a kernel that keeps the device busy until all is queued;
// only what was.
template <class Launch>
std::vector<std::int64_t> queued_by_hand(Launch launch) {
  test_stream const stream;
  test_event const start{cudaEventDefault};
  test_event const stop{cudaEventDefault};
  launch(stream);
  stream.synchronize();
  std::vector<std::int64_t> readings;
  for (int i = 0; i < 100; ++i) {
    spin<<<1, 1, 0, stream>>>(100 * us, nullptr);
    start.record(stream);
    launch(stream);
    stop.record(stream);
    bool const in_time = cudaEventQuery(start) == cudaErrorNotReady;
    stream.synchronize();
    float milliseconds = 0;
    sg::check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    if (in_time) readings.push_back(std::llround(milliseconds * 1e6));
  }
  return readings;
}

double microseconds_of(std::chrono::steady_clock::time_point before) {
  return std::chrono::duration<double, std::micro>{std::chrono::steady_clock::now() - before}.count();
}

}  // namespace

TEST_CASE("the floor is what two events by hand read around an empty kernel, all queued") {
  warm_up();
  sg::device_description const device = measured();
  auto const by_hand = queued_by_hand([](cudaStream_t stream) { nothing<<<1, 1, 0, stream>>>(); });
  if (by_hand.size() < 50 && watched()) return;
  REQUIRE(by_hand.size() >= 50);
  auto const median = median_of(by_hand);
  auto const floor = device.kernel_floor->count();
  std::printf("floor around an empty kernel: %lld ns, by hand %lld ns\n", static_cast<long long>(floor),
              static_cast<long long>(median));
  if (watched()) return;
  CHECK(floor > 1500);
  CHECK(floor < 6000);
  // The two kernels are compiled by different compilers, and medians of 15 differ by some steps of 32 ns.
  CHECK(floor <= median + 300);
  CHECK(floor >= median - 300);
}

TEST_CASE("a queued kernel's time less the floor is what the kernel's own clock was told") {
  warm_up();
  sg::device_description const device = measured();
  for (std::uint64_t const length : {5ul, 20ul, 100ul, 1000ul}) {
    CAPTURE(length);
    auto const read = queued_by_hand([&](cudaStream_t stream) { spin<<<1, 1, 0, stream>>>(length * us, nullptr); });
    if (read.size() < 50 && watched()) return;
    REQUIRE(read.size() >= 50);
    auto const own = sg::less_floor(sg::nanoseconds{median_of(read)}, device);
    REQUIRE(own.corrected.has_value());
    CHECK(own.floor->kind == sg::floor_kind::empty_kernel);
    double const beside = own.corrected->count() - static_cast<double>(length * us);
    std::printf("spin %4d us: read less the floor %+.0f ns beside what it was told\n", static_cast<int>(length), beside);
    if (watched()) continue;
    CHECK(beside < 400.0);
    CHECK(beside > -400.0);
  }
}

TEST_CASE("collect has it where it was allowed, nothing else is different, and what the program had is as it was") {
  warm_up();
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::allow_kernel_floor(recorder);
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    nothing<<<1, 1, 0, stream>>>();
  }
  sg::context_key const before = context_here();
  CHECK(cudaMemcpy(nullptr, nullptr, 1, static_cast<cudaMemcpyKind>(77)) != cudaSuccess);
  cudaError_t const pending = cudaPeekAtLastError();
  CHECK(pending != cudaSuccess);
  sg::recording taken;
  SUBCASE("on the thread that measured") { taken = recorder.collect(); }
  SUBCASE("on a thread without a context") {
    std::thread{[&] { taken = recorder.collect(); }}.join();
  }
  CHECK(cudaGetLastError() == pending);
  CHECK(context_here() == before);
  REQUIRE(taken.environment.devices.size() == 1);
  sg::device_description const& device = taken.environment.devices[0];
  CAPTURE(device.why_no_kernel_floor);
  CHECK(taken.problems.empty());
  CHECK(device.event_floor.has_value());
  CHECK(device.kernel_floor.has_value() != watched());
  if (device.kernel_floor) CHECK(*device.kernel_floor > *device.event_floor);
  if (watched()) CHECK(device.why_no_kernel_floor.find(" was attached") != std::string::npos);
}

// What `allow_kernel_floor` warns of: which calls wait for a kernel of 50 ms that runs beside them. It ends by itself.
TEST_CASE("how long loading a kernel takes beside one that runs") {
  warm_up();
  static_cast<void>(measured());  // compiled once, as the driver's cache has it
  test_stream const busy;
  test_stream const stream;
  sg::kernel_api api;
  REQUIRE(api.find());
  for (bool const beside : {false, true}) {
    CUmod_st* code = nullptr;
    CUfunc_st* empty = nullptr;
    if (beside) spin<<<1, 1, 0, busy>>>(50 * ms, nullptr);
    auto const begun = std::chrono::steady_clock::now();
    REQUIRE(api.load(&code, sg::kernel_floor_code) == cudaSuccess);
    double const loaded = microseconds_of(begun);
    REQUIRE(api.function_of(&empty, code, "streamgauge_empty") == cudaSuccess);
    double const found = microseconds_of(begun);
    REQUIRE(api.launch(empty, 1, 1, 1, 1, 1, 1, 0, stream, nullptr, nullptr) == cudaSuccess);
    double const launched = microseconds_of(begun);
    stream.synchronize();
    double const done = microseconds_of(begun);
    REQUIRE(api.unload(code) == cudaSuccess);
    double const unloaded = microseconds_of(begun);
    busy.synchronize();
    std::printf("%s a kernel of 50 ms, us from the start: loaded %.0f, function %.0f, launched %.0f, done %.0f, "
                "unloaded %.0f\n",
                beside ? "beside" : "without", loaded, found, launched, done, unloaded);
    CHECK(unloaded < 10e6);
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
