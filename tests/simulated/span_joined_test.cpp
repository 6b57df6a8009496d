// Spans that fork and join: exactly the edges that were asked for, and what they read (case-17).

#include <optional>
#include <thread>

#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// A stream's records and waits in the log since the last `clear_log`.
struct costs {
  std::size_t records = 0;
  std::size_t waits = 0;
};
costs costs_on(cudaStream_t stream) {
  costs found;
  for (auto const& call : stamps_and_edges()) {
    if (call.stream != stream) continue;
    std::string{call.name} == "cuEventRecord" ? ++found.records : ++found.waits;
  }
  return found;
}

/// Whether elapsed time can be asked of an event at all.
bool timed(void const* event) {
  simulated::user_scope const user;
  auto const handle = reinterpret_cast<cudaEvent_t>(const_cast<void*>(event));
  float milliseconds = -1;
  bool const can = cudaEventElapsedTime(&milliseconds, handle, handle) == cudaSuccess;
  cudaGetLastError();
  return can;
}

template <class Action>
void elsewhere(Action action) {
  std::thread{std::move(action)}.join();
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "origin 5 ms, side 20 ms: joined it reads 20, and the calls stand in this order (case-17)") {
  cudaStream_t const origin = new_stream();
  cudaStream_t const side = new_stream();
  cudaStream_t const second = new_stream();
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  sg::phase const alone{recorder, "alone"};
  { auto const first = forked.enter(origin); }
  simulated::clear_log();
  {
    sg::span whole{forked, sg::joined, origin};
    {
      auto const part = whole.branch(side);
      launch(side, 20ms);
    }
    {
      auto const part = whole.branch(second);
      launch(second, 1ms);
    }
    auto const scope = alone.enter(origin);
    launch(origin, 5ms);
  }
  auto const calls = stamps_and_edges();
  REQUIRE(calls.size() == 15);
  struct expected {
    char const* name;
    cudaStream_t on;
    std::size_t same_event_as;
    bool timed;
  };
  std::vector<expected> const order{
      {"cuEventRecord", origin, 0, true},       // the span's start
      {"cuEventRecord", origin, 1, false},      // the fork
      {"cuStreamWaitEvent", side, 1, false},    //
      {"cuEventRecord", side, 3, true},         // a branch
      {"cuEventRecord", side, 4, true},         //
      {"cuEventRecord", side, 5, false},        // its join
      {"cuStreamWaitEvent", second, 1, false},  //
      {"cuEventRecord", second, 7, true},       //
      {"cuEventRecord", second, 8, true},       //
      {"cuEventRecord", second, 9, false},      //
      {"cuEventRecord", origin, 10, true},      // the phase on the origin
      {"cuEventRecord", origin, 11, true},      //
      {"cuStreamWaitEvent", origin, 5, false},  // the joins, then the stop
      {"cuStreamWaitEvent", origin, 9, false},  //
      {"cuEventRecord", origin, 14, true},      //
  };
  simulated::user_scope const user;
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (std::size_t i = 0; i < order.size(); ++i) {
    CAPTURE(i);
    CHECK(std::string{calls[i].name} == order[i].name);
    CHECK(calls[i].stream == order[i].on);
    CHECK(calls[i].handle == calls[order[i].same_event_as].handle);
    CHECK(timed(calls[i].handle) == order[i].timed);
    CHECK(calls[i].result == cudaSuccess);
  }
  auto const taken = recorder.collect();
  CHECK(row_of(taken, "forked", {}).samples.at(1).device == 20ms);
  CHECK(sample_of(taken, "alone").device == 5ms);
  CHECK(sample_of(taken, "forked", {{"branch", "1"}}).device == 20ms);
  CHECK(sample_of(taken, "forked", {{"branch", "1"}}).begins == 0ms);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine, "a joined span makes at most three records a stream and two waits a side stream") {
  cudaStream_t const origin = new_stream();
  std::vector<cudaStream_t> const sides{new_stream(), new_stream(), new_stream()};
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  for (int i = 0; i < 3; ++i) {
    simulated::clear_log();
    {
      sg::span whole{forked, sg::joined, origin};
      for (auto const side : sides) {
        auto const part = whole.branch(side);
        launch(side, 1ms);
      }
    }
    CHECK(costs_on(origin).records == 3);
    CHECK(costs_on(origin).waits == 3);  // the second of each side stream's two
    for (auto const side : sides) {
      CHECK(costs_on(side).records == 3);
      CHECK(costs_on(side).waits == 1);
    }
  }
  CHECK(row_of(recorder.collect(), "forked", {}).samples.at(2).records_inside == 12);
}

TEST_CASE_FIXTURE(fresh_machine, "the origin's own branch needs no edge: it adds its two stamps alone") {
  cudaStream_t const origin = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  simulated::clear_log();
  {
    sg::span whole{forked, sg::joined, origin};
    {
      auto const part = whole.branch(origin);
      launch(origin, 6ms);
    }
    auto const part = whole.branch(side);
    launch(side, 9ms);
  }
  CHECK(costs_on(origin).records == 5);
  CHECK(costs_on(origin).waits == 1);
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "forked", {}).device == 9ms);
  CHECK(sample_of(taken, "forked", {{"branch", "1"}}).device == 6ms);
  CHECK(sample_of(taken, "forked", {{"branch", "1"}}).begins == 0ms);
  CHECK(sample_of(taken, "forked", {{"branch", "2"}}).begins == 0ms);
}

TEST_CASE_FIXTURE(fresh_machine, "50 ms of backlog on a side stream are in a joined span, and not in an isolated one") {
  cudaStream_t const origin = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  for (bool const isolated : {false, true}) {
    simulated::host_advance(100ms);
    auto const started = simulated::host_now();
    launch(side, 50ms);
    simulated::clear_log();
    {
      std::optional<sg::span> whole;
      if (isolated)
        whole.emplace(forked, sg::isolated, origin, std::initializer_list<sg::stream_ref>{side});
      else
        whole.emplace(forked, sg::joined, origin);
      {
        auto const part = whole->branch(side);
        launch(side, 20ms);
      }
      launch(origin, 5ms);
    }
    CHECK(simulated::stream_end(origin) - started == 70ms);
    CHECK(costs_on(side).records == (isolated ? 4 : 3));
  }
  auto const taken = recorder.collect();
  CHECK(device_times(row_of(taken, "forked", {})) == std::vector<nanoseconds>{70ms, 20ms});
  auto const parts = row_of(taken, "forked", {{"branch", "1"}});
  CHECK(device_times(parts) == std::vector<nanoseconds>{20ms, 20ms});
  CHECK(values(parts, &sg::sample::begins) == std::vector<nanoseconds>{50ms, 0ms});
}

TEST_CASE_FIXTURE(
    fresh_machine,
    "a joined branch starts behind what the origin had queued, and the origin goes on behind all of them") {
  cudaStream_t const origin = new_stream();
  cudaStream_t const side = new_stream();
  auto const started = simulated::host_now();
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  launch(origin, 7ms);
  {
    sg::span whole{forked, sg::joined, origin};
    launch(origin, 2ms);  // behind the fork: no branch waits for it
    auto const part = whole.branch(side);
    launch(side, 4ms);
  }
  launch(origin, 1ms);
  CHECK(simulated::stream_end(side) - started == 11ms);
  CHECK(simulated::stream_end(origin) - started == 12ms);
  CHECK(sample_of(recorder.collect(), "forked", {}).device == 4ms);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "branches are entered and left on other threads, per-thread streams too: each is joined") {
  auto const started = simulated::host_now();
  cudaStream_t const origin = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  {
    sg::span whole{forked, sg::joined, origin};
    elsewhere([&] {
      auto const part = whole.branch(side);
      launch(side, 3ms);
    });
    for (auto const work : {8ms, 5ms}) {
      elsewhere([&] {
        auto const part = whole.branch(cudaStreamPerThread);
        launch(cudaStreamPerThread, work);
      });
    }
    whole.wait(sg::wait_policy::block);
  }
  CHECK(simulated::host_now() - started == 8ms);
  auto const taken = recorder.collect();
  auto const whole = sample_of(taken, "forked", {});
  CHECK(whole.device == 8ms);
  CHECK(whole.completion == 8ms);
  CHECK(whole.waited == sg::wait_policy::block);
  CHECK(sample_of(taken, "forked", {{"branch", "2"}}).device == 8ms);
  CHECK(sample_of(taken, "forked", {{"branch", "3"}}).device == 5ms);
  CHECK(sample_of(taken, "forked", {{"branch", "3"}}).thread == 3);
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "joined spans nest, also inside a branch of another, and each reads its own") {
  cudaStream_t const a = new_stream();
  cudaStream_t const b = new_stream();
  cudaStream_t const c = new_stream();
  auto const started = simulated::host_now();
  sg::recorder recorder;
  sg::phase const outer{recorder, "outer"};
  sg::phase const inner{recorder, "inner"};
  {
    sg::span whole{outer, sg::joined, a};
    launch(a, 1ms);
    auto const part = whole.branch(b);
    launch(b, 2ms);
    {
      sg::span within{inner, sg::joined, b};
      {
        auto const deep = within.branch(c);
        launch(c, 6ms);
      }
      auto const deep = within.branch(b);
      launch(b, 4ms);
    }
    launch(b, 1ms);
  }
  launch(a, 1ms);
  CHECK(simulated::stream_end(a) - started == 10ms);
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "outer", {}).device == 9ms);
  CHECK(sample_of(taken, "outer", {{"branch", "1"}}).device == 9ms);
  CHECK(sample_of(taken, "inner", {}).device == 6ms);
  CHECK(sample_of(taken, "inner", {{"branch", "1"}}).device == 6ms);
  CHECK(sample_of(taken, "inner", {{"branch", "2"}}).device == 4ms);
  check_accounts(taken);
}

TEST_CASE("off and mark add no edge either: joined spans make no call") {
  for (sg::mode const mode : {sg::mode::off, sg::mode::mark}) {
    fresh_machine const machine;
    cudaStream_t const origin = new_stream();
    cudaStream_t const side = new_stream();
    sg::recorder recorder{mode};
    sg::phase const forked{recorder, "forked"};
    simulated::clear_log();
    {
      sg::span whole{forked, sg::isolated, origin, {side}};
      auto const part = whole.branch(side);
      auto const named = whole.branch(origin, forked);
      whole.wait(sg::wait_policy::block);
    }
    CHECK(calls_of_ours().empty());
    CHECK(recorder.collect().all.at(0).samples.empty());
  }
}
