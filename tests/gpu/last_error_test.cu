// The bug that would go unseen without this file: an error of the program's own that is eaten or overwritten, or one of
// ours that is blamed on the program's next launch.
// Failing calls are made on purpose: under compute-sanitizer pass --report-api-errors no.
#include "program.hpp"

#include "device.cuh"

using sg::absence;

void every_use(cudaStream_t stream) {
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 16}};
  sg::phase used{recorder, "used"};
  for (int i = 0; i < 40; ++i) {  // more than the pool holds: reading back is in it
    auto scope = used.enter(stream, {{"round", i % 2}});
  }
  {
    auto scope = used.enter(stream);
    scope.wait(sg::wait_policy::spin);
  }
  {
    auto scope = used.enter(stream);
    scope.wait(sg::wait_policy::block);
  }
  { auto scope = used.enter(sg::host_only); }
  auto open = used.start(stream);
  auto moved = std::move(open);
  moved.stop();
  static_cast<void>(recorder.collect());
  sg::interval timer{stream};
  timer.start();
  timer.stop();
  static_cast<void>(timer.read());
  static_cast<void>(timer.wait());
  { sg::capture_guard const guard{stream}; }
  { sg::capture_guard const guard{recorder}; }
  { sg::capture_guard const guard; }
}

// A launch with more threads than a block may have; toolkits differ in what they call it.
cudaError_t plant_an_error() {
  spin<<<1, 4096>>>(0, nullptr);
  cudaError_t const planted = cudaPeekAtLastError();
  REQUIRE(planted != cudaSuccess);
  return planted;
}

TEST_CASE("case-32: a pending error of the program's own survives everything that we do") {
  warm_up();
  test_stream const own;
  cudaError_t const planted = plant_an_error();
  every_use(own);
  CHECK(cudaPeekAtLastError() == planted);
  every_use(cudaStreamPerThread);
  CHECK(cudaPeekAtLastError() == planted);
  every_use(cudaStreamLegacy);
  CHECK(cudaGetLastError() == planted);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("case-32: a clean error slot stays clean when a call of ours is refused") {
  warm_up();
  test_stream const blocking{cudaStreamDefault};
  sg::recorder recorder{sg::mode::time};
  sg::phase refused{recorder, "refused"};
  auto capture_around = [&](auto body) {
    cudaGraph_t graph = nullptr;
    sg::check(cudaStreamBeginCapture(blocking, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    body();
    CHECK(cudaStreamEndCapture(blocking, &graph) == cudaSuccess);
    cudaGraphDestroy(graph);
  };
  SUBCASE("and nothing was pending") {
    capture_around([&] {
      { auto scope = refused.enter(cudaStreamLegacy); }
      CHECK(cudaPeekAtLastError() == cudaSuccess);
    });
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  }
  SUBCASE("and a pending one of the program's own stays") {
    cudaError_t const planted = plant_an_error();
    capture_around([&] {
      { auto scope = refused.enter(cudaStreamLegacy); }
      CHECK(cudaPeekAtLastError() == planted);
    });
    CHECK(cudaGetLastError() == planted);
  }
  auto const seen = series_of(recorder.collect(), "refused");
  REQUIRE(seen.samples.size() == 1);
  CHECK(seen.samples[0].device.why_absent() == absence::capture_elsewhere);
  CHECK(seen.samples[0].submit.known());
}

__global__ void fault(int* nowhere) { *nowhere = 1; }

// The program's own kernel faults; what is measured before, during and after it has to say so, once.
int faulting_program() {
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase before{recorder, "before"};
  sg::phase innocent{recorder, "innocent"};
  { auto scope = before.enter(stream); }
  cudaStreamSynchronize(stream);
  recorder.drain();
  fault<<<1, 1, 0, stream>>>(reinterpret_cast<int*>(std::uintptr_t{64}));
  for (int i = 0; i < 10; ++i) {
    auto scope = innocent.enter(stream);
    scope.wait(i % 2 == 0 ? sg::wait_policy::spin : sg::wait_policy::block);
  }
  for (int i = 0; i < 10; ++i) {
    auto scope = innocent.enter(stream);
  }
  auto const taken = recorder.collect();
  auto const again = recorder.collect();
  std::size_t told = 0;
  for (sg::problem const& each : taken.problems) {
    std::printf("%s: %s (%d, %d times)\n", each.phase.c_str(), each.text.c_str(), each.status,
                static_cast<int>(each.count));
    if (each.text.find("earlier work failed") == std::string::npos) continue;
    ++told;
    must(each.phase == "innocent", "it names the phase where it showed first");
    must(each.status == cudaErrorIllegalAddress, "it carries CUDA's status");
  }
  must(told == 1, "earlier work failed, told once");
  must(taken.problems.size() == 1, "and nothing else");
  auto const seen = series_of(taken, "innocent");
  must(seen.samples.size() == 20, "every sample is kept");
  for (sg::sample const& each : seen.samples) {
    must(each.submit.known(), "with its host side");
    must(each.device.why_absent() == absence::earlier_work_failed, "and the reason for the missing device time");
  }
  must(series_of(taken, "before").samples.at(0).device.known(), "what was read before the fault stays");
  must(cudaGetLastError() != cudaErrorInvalidResourceHandle, "the error slot holds nothing of ours");
  return 0;
}
add_child const faulting{"fault", faulting_program};

TEST_CASE("earlier work that failed is told once, with the phase's name, and the program ends well") {
  if (watched()) {
    MESSAGE("not run under a tool, which would report the deliberate fault");
    return;
  }
  auto const got = run_child("fault");
  INFO(got.output);
  CHECK(got.exit_code == 0);
  CHECK(got.errors == "");
}

int main(int argc, char** argv) { return run_program(argc, argv); }
