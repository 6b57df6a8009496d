// The bug that would go unseen without this file: a capture guard that changes what the program computes or measures,
// or does not wait for what it was told to.
#include "program.hpp"

#include <thread>

#include "device.cuh"

using sg::absence;

TEST_CASE("case-47: each form of the guard runs without a tool and changes no result") {
  warm_up();
  test_stream const stream;
  test_stream const other;
  device_values<int> value{1};
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  auto const step = [&] {
    auto scope = steps.enter(stream);
    add_one<<<1, 1, 0, stream>>>(value.at(0));
  };
  step();
  {
    sg::capture_guard const guard;
    step();
    CHECK(guard.notes().empty());
  }
  {
    sg::capture_guard const guard{stream};
    step();
    CHECK(guard.notes().empty());
  }
  {
    sg::capture_guard const guard{stream, other, cudaStreamPerThread};
    step();
    CHECK(guard.notes().empty());
  }
  {
    sg::capture_guard const guard{std::vector<sg::stream_ref>{stream, other}};
    step();
    CHECK(guard.notes().empty());
  }
  {
    sg::capture_guard const guard{recorder};
    step();
    CHECK(guard.notes().empty());
  }
  {
    sg::capture_guard const outer{stream};
    sg::capture_guard const inner{recorder};
    step();
  }
  try {
    sg::capture_guard const guard{stream};
    step();
    throw 7;
  } catch (int thrown) {
    CHECK(thrown == 7);
  }
  auto const seen = series_of(recorder.collect(), "steps");
  CHECK(value.read()[0] == 8);
  CHECK(seen.samples.size() == 8);
  CHECK(count_of(seen, absence::none) == 8);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("case-43, case-45: the guard waits for its streams before it begins and before it ends") {
  warm_up();
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  auto const queue = [&] {
    auto scope = steps.enter(stream);
    spin<<<1, 1, 0, stream>>>(5 * ms, nullptr);
  };
  auto const check_form = [&](auto make) {
    queue();
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    {
      auto const guard = make();
      CHECK(cudaStreamQuery(stream) == cudaSuccess);
      queue();
    }
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
  };
  SUBCASE("with a stream") {
    check_form([&] { return sg::capture_guard{stream}; });
  }
  SUBCASE("with a recorder") {
    check_form([&] { return sg::capture_guard{recorder}; });
  }
  SUBCASE("with nothing") {
    check_form([] { return sg::capture_guard{}; });
  }
}

TEST_CASE("case-42: guards of two threads overlap in any order") {
  warm_up();
  std::thread threads[8];
  for (std::thread& each : threads) {
    each = std::thread{[] {
      test_stream const mine;
      for (int i = 0; i < 50; ++i) {
        sg::capture_guard const guard{mine};
        spin<<<1, 1, 0, mine>>>(10 * us, nullptr);
      }
      CHECK(cudaPeekAtLastError() == cudaSuccess);
    }};
  }
  for (std::thread& each : threads) each.join();
  CHECK(sg::the_profiler.open == 0);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
