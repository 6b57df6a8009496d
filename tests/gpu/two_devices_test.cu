// The bug that would go unseen without this file: events made on the current device instead of the stream's, and a
// context made on a device only because it was current.
#include "program.hpp"

#include <thread>

#include "device.cuh"

using sg::absence;

int stream_on_one_current_zero() {
  must(cudaSetDevice(1) == cudaSuccess, "cudaSetDevice");
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{2};
  spin<<<1, 1, 0, stream>>>(ms, clocks.at(0));
  must(cudaStreamSynchronize(stream) == cudaSuccess, "work on device 1");
  must(!has_context(0), "so far only device 1 is in use");
  sg::recorder recorder{sg::mode::time};
  sg::recording taken;
  // cudaSetDevice(0) would make a context on device 0. A new thread has it current without one.
  std::thread{[&] {
    int current = -1;
    sg::phase across{recorder, "across"};
    { auto scope = across.enter(stream); }
    {
      auto scope = across.enter(stream);
      scope.wait(sg::wait_policy::block);
    }
    {
      auto scope = across.enter(stream);
      scope.wait(sg::wait_policy::spin);
    }
    sg::interval timer{stream};
    timer.start();
    timer.stop();
    must(timer.wait().state == sg::interval_state::done, "an interval on device 1");
    { sg::capture_guard const guard{stream}; }
    { sg::capture_guard const guard; }
    taken = recorder.collect();
    must(cudaGetDevice(&current) == cudaSuccess && current == 0, "device 0 is still current");
    must(cudaPeekAtLastError() == cudaSuccess, "no error left behind");
  }}.join();
  must(!has_context(0), "device 0 got no context because of us");
  must(count_of(series_of(taken, "across"), absence::none) == 3, "every phase was measured");
  must(taken.environment.devices.size() == 1, "one device was used");
  must(taken.environment.devices[0].ordinal == 1, "device 1");
  must(taken.environment.devices[0].event_floor.has_value(), "its floor was measured there");
  return 0;
}
add_child const across{"stream_on_one_current_zero", stream_on_one_current_zero};

TEST_CASE("case-06: a phase on a stream of device 1 leaves device 0, which is current, without a context") {
  auto const got = run_child("stream_on_one_current_zero");
  INFO(got.output);
  CHECK(got.exit_code == 0);
  CHECK(got.errors == "");
}

TEST_CASE(
    "case-06: phases on streams of both devices, nested and in any order of current devices, read their own kernels") {
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  warm_up();
  test_stream const on_one;
  kernel_clocks const one{20};
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  warm_up();
  test_stream const on_zero;
  kernel_clocks const zero{20};
  sg::recorder recorder{sg::mode::time};
  sg::phase outer{recorder, "outer"};
  sg::phase inner{recorder, "inner"};
  for (std::size_t i = 0; i < 20; ++i) {
    REQUIRE(cudaSetDevice(static_cast<int>(i % 2)) == cudaSuccess);
    auto out = outer.enter(on_zero);
    auto in = inner.enter(on_one);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    spin<<<1, 1, 0, on_zero>>>(100 * us, zero.at(i));
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    spin<<<1, 1, 0, on_one>>>(300 * us, one.at(i));
  }
  auto const taken = recorder.collect();
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  auto const own_one = one.read();
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  auto const own_zero = zero.read();
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK(device_ns(series_of(taken, "outer").samples.at(i)) >= own_zero[i].ns());
    CHECK(device_ns(series_of(taken, "inner").samples.at(i)) >= own_one[i].ns());
  }
  CHECK(taken.environment.devices.size() == 2);
  CHECK(taken.problems.empty());
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

int main(int argc, char** argv) { return run_program(argc, argv, 2); }
