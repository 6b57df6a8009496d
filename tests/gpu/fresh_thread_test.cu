// The bug that would go unseen without this file: a first use of CUDA that is ours. It must work where the program has
// a context, and make none where it has not.
#include "program.hpp"

#include <thread>

#include "device.cuh"

using sg::absence;

TEST_CASE("the first CUDA use of a thread may be a phase, on any kind of stream") {
  warm_up();
  test_stream const own;
  kernel_clocks const clocks{3};
  sg::recorder recorder{sg::mode::time};
  cudaStream_t const streams[] = {own, cudaStreamLegacy, cudaStreamPerThread};
  char const* const names[] = {"explicit", "legacy", "per-thread"};
  for (std::size_t i = 0; i < 3; ++i) {
    std::thread{[&, i] {
      sg::phase first{recorder, names[i]};
      auto scope = first.enter(streams[i]);
      spin<<<1, 1, 0, streams[i]>>>(ms, clocks.at(i));
    }}.join();
  }
  auto const taken = recorder.collect();
  auto const seen = clocks.read();
  for (std::size_t i = 0; i < 3; ++i) {
    CAPTURE(names[i]);
    auto const one = series_of(taken, names[i]);
    REQUIRE(one.samples.size() == 1);
    CHECK(device_ns(one.samples[0]) >= seen[i].ns());
  }
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("the first CUDA use of a thread may be a wait, a guard, an interval or a collection") {
  warm_up();
  test_stream const own;
  sg::recorder recorder{sg::mode::time};
  sg::phase waited{recorder, "waited"};
  for (cudaStream_t const stream : {static_cast<cudaStream_t>(own), cudaStreamLegacy, cudaStreamPerThread}) {
    for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
      std::thread{[&] {
        auto scope = waited.enter(stream);
        scope.wait(policy);
      }}.join();
    }
    std::thread{[&] {
      sg::capture_guard const guard{stream};
      CHECK(guard.notes().empty());
    }}.join();
    std::thread{[&] {
      sg::interval timer{stream};
      timer.start();
      timer.stop();
      CHECK(timer.wait().state == sg::interval_state::done);
    }}.join();
  }
  { auto scope = waited.enter(own); }
  sg::recording taken;
  std::thread{[&] { taken = recorder.collect(); }}.join();
  auto const seen = series_of(taken, "waited");
  CHECK(seen.samples.size() == 7);
  CHECK(count_of(seen, absence::none) == 7);
}

// A process that never used CUDA: phases count, the device gets no context because of us, and once the program makes
// one, the device is measured.
int without_a_context() {
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  { auto scope = steps.enter(cudaStreamLegacy); }
  {
    auto scope = steps.enter(cudaStreamPerThread);
    scope.wait(sg::wait_policy::spin);
  }
  std::thread{[&] { auto scope = steps.enter(cudaStreamLegacy); }}.join();
  { auto scope = steps.enter(sg::host_only); }
  auto const before = recorder.collect();
  must(!has_context(0), "no context was made");
  must(cudaPeekAtLastError() == cudaSuccess, "no error left behind");
  auto const early = series_of(before, "steps");
  must(early.samples.size() == 4, "every sample is there");
  for (std::size_t i = 0; i < 3; ++i) {
    std::printf("%s\n", sg::describe(early.samples[i].device.why_absent()));
    must(early.samples[i].device.why_absent() == absence::no_context, "the reason is said");
    must(early.samples[i].submit.known(), "the host side is kept");
  }
  must(before.problems.empty() || before.problems.size() == 1, "at most the note on the legacy stream");
  must(before.environment.why_no_device == "", "there is a device");

  must(cudaFree(nullptr) == cudaSuccess, "the program makes its context");
  { auto scope = steps.enter(cudaStreamLegacy); }
  auto const late = series_of(recorder.collect(), "steps");
  must(late.samples.at(4).device.known(), "from then on the device is measured");
  return 0;
}
add_child const bare{"without_a_context", without_a_context};

int guard_without_a_context() {
  {
    sg::capture_guard const guard;
    must(guard.notes().size() == 1, "it says that nothing is captured");
    std::printf("%s\n", guard.notes()[0].c_str());
  }
  { sg::capture_guard const guard; }
  must(!has_context(0), "no context was made");
  must(cudaPeekAtLastError() == cudaSuccess, "no error left behind");
  return 0;
}
add_child const bare_guard{"guard_without_a_context", guard_without_a_context};

int nothing_at_all() {
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  { auto scope = steps.enter(sg::host_only); }
  must(!has_context(0), "host phases make no context");
  return 0;
}
add_child const bare_host{"nothing_at_all", nothing_at_all};

TEST_CASE("a device without a context gets none because of us") {
  for (child const& each : children()) {
    CAPTURE(each.name);
    auto const got = run_child(each.name);
    INFO(got.output);
    CHECK(got.exit_code == 0);
    bool const guards = std::string_view{each.name} == "guard_without_a_context";
    CHECK(got.errors ==
          (guards ? "streamgauge: nothing is captured for a profiler: the device had no context yet (any CUDA "
                    "call of yours makes one)\n"
                  : ""));
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
