// The bug that would go unseen without this file: samples that are lost or mixed when many threads measure and another
// collects at the same time.
#include "program.hpp"

#include <atomic>
#include <set>
#include <thread>

#include "device.cuh"

using sg::absence;

constexpr std::size_t threads = 8;
std::size_t const each_thread = watched() ? 100 : 2000;  // a tool that looks at every call takes its time

TEST_CASE("case-41: eight threads of two thousand phases each while another thread collects") {
  warm_up();
  bool own_streams = true;
  SUBCASE("on streams of their own") {}
  SUBCASE("on their per-thread default streams") { own_streams = false; }
  test_stream const streams[threads];
  kernel_clocks const clocks{threads * each_thread};
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  {
    auto scope = steps.enter(streams[0], {{"worker", threads}});
  }
  static_cast<void>(recorder.collect());  // the floor, before the threads: a stream that is made holds them all up
  std::atomic<std::size_t> running{threads};
  std::vector<std::thread> all;
  for (std::size_t t = 0; t < threads; ++t) {
    all.emplace_back([&, t] {
      cudaStream_t const stream = own_streams ? static_cast<cudaStream_t>(streams[t]) : cudaStreamPerThread;
      for (std::size_t i = 0; i < each_thread; ++i) {
        auto scope = steps.enter(stream, {{"worker", t}});
        spin<<<1, 1, 0, stream>>>(2 * us * (t + 1), clocks.at(t * each_thread + i));
      }
      --running;
    });
  }
  std::size_t collections = 0;
  std::size_t before = 0;
  while (running > 0) {
    std::size_t now = 0;
    for (sg::series const& one : recorder.collect().all) now += one.samples.size();
    CHECK(now >= before);
    before = now;
    ++collections;
    usleep(2000);
  }
  for (std::thread& each : all) each.join();
  auto const taken = recorder.collect();
  auto const own = clocks.read();
  std::set<std::uint32_t> numbers;
  std::size_t kept = 0;
  std::size_t below = 0;
  std::size_t workers = 0;
  for (sg::series const& one : taken.all) {
    if (one.samples.empty()) continue;  // the phase itself, which was never entered without a worker's number
    REQUIRE(one.conditions.size() == 1);
    auto const t = static_cast<std::size_t>(std::stoul(one.conditions[0].value));
    if (t == threads) continue;
    ++workers;
    REQUIRE(one.samples.size() == each_thread);
    numbers.insert(one.samples[0].thread);
    kept += count_of(one, absence::none);
    CHECK(count_of(one, absence::none) + count_of(one, absence::pool_full) == each_thread);
    for (std::size_t i = 0; i < each_thread; ++i) {
      CHECK_UNARY(one.samples[i].thread == one.samples[0].thread);
      // A reading that belongs to another worker or another step would in part be below its own kernel's clock.
      if (one.samples[i].device.known() && device_ns(one.samples[i]) < own[t * each_thread + i].ns()) ++below;
    }
  }
  CHECK(workers == threads);
  CHECK(numbers.size() == threads);
  CHECK(below == 0);
  CHECK(kept > threads * each_thread / 2);
  CHECK(taken.problems.empty());
  std::printf("kept %zu of %zu device times, %zu collections meanwhile\n", kept, threads * each_thread, collections);
}

TEST_CASE("case-55: a started phase ends on another thread, a per-thread default stream is refused there") {
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{1};
  sg::recorder recorder{sg::mode::time};
  sg::phase moved{recorder, "moved"};
  auto fine = moved.start(stream);
  spin<<<1, 1, 0, stream>>>(ms, clocks.at(0));
  auto refused = moved.start(cudaStreamPerThread);
  auto waited = moved.start(stream);
  std::thread{[&] {
    fine.stop();
    refused.stop();
    waited.wait(sg::wait_policy::block);
  }}.join();
  auto const seen = series_of(recorder.collect(), "moved");
  REQUIRE(seen.samples.size() == 3);
  CHECK(device_ns(seen.samples[0]) >= clocks.read()[0].ns());
  CHECK(seen.samples[1].device.why_absent() == absence::other_thread_stream);
  CHECK(seen.samples[2].completion.known());
}

int main(int argc, char** argv) { return run_program(argc, argv); }
