// Without these: looking at streams would order them, slow them, or call CUDA where nobody expects it.

#include <functional>

#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// A program over three streams of its own, with spans in it, and when each of its streams is done.
struct scenario {
  char const* name;
  std::function<void(sg::phase const& span_of, std::vector<cudaStream_t> const& on)> play;
  std::vector<nanoseconds> done;
};

std::vector<scenario> every_scenario() {
  return {
      {"one fork and its join",
       [](sg::phase const& of, std::vector<cudaStream_t> const& on) {
         launch(on[0], 2ms);
         follow(on[1], on[0]);
         {
           sg::span both{of};
           {
             auto const part = both.branch(on[0]);
             launch(on[0], 6ms);
           }
           auto const part = both.branch(on[1]);
           launch(on[1], 9ms);
         }
         follow(on[0], on[1]);
         launch(on[0], 1ms);
       },
       {12ms, 11ms, 0ms}},
      {"a fork from a fork, joined one after the other",
       [](sg::phase const& of, std::vector<cudaStream_t> const& on) {
         launch(on[0], 1ms);
         follow(on[1], on[0]);
         sg::span all{of, {on[2]}};
         auto const first = all.branch(on[0]);
         launch(on[0], 4ms);
         {
           sg::span nested{of};
           auto const second = all.branch(on[1]);
           launch(on[1], 2ms);
           follow(on[2], on[1]);
           auto const third = nested.branch(on[2]);
           launch(on[2], 3ms);
           auto const fourth = nested.branch(on[1]);
           launch(on[1], 1ms);
         }
         follow(on[1], on[2]);
         follow(on[0], on[1]);
         launch(on[0], 1ms);
       },
       {7ms, 6ms, 6ms}},
      {"a side stream that is 50 ms behind",
       [](sg::phase const& of, std::vector<cudaStream_t> const& on) {
         launch(on[1], 50ms);
         launch(on[0], 2ms);
         sg::span both{of, on};
         follow(on[1], on[0]);
         {
           auto const part = both.branch(on[1]);
           launch(on[1], 3ms);
         }
         follow(on[0], on[1]);
         auto const part = both.branch(on[0]);
         launch(on[0], 1ms);
       },
       {54ms, 53ms, 0ms}},
      {"two streams of 10 ms that overlap, one of them timed (case-14)",
       [](sg::phase const& of, std::vector<cudaStream_t> const& on) {
         launch(on[0], 10ms);
         sg::span one{of};
         auto const part = one.branch(on[1]);
         launch(on[1], 10ms);
       },
       {10ms, 10ms, 0ms}},
      {"an exception that leaves a branch, and a stream entered twice",
       [](sg::phase const& of, std::vector<cudaStream_t> const& on) {
         sg::span both{of};
         try {
           auto const part = both.branch(on[0]);
           launch(on[0], 5ms);
           throw 1;
         } catch (int) {
         }
         for (int i = 0; i < 2; ++i) {
           auto const part = both.branch(on[1]);
           launch(on[1], 4ms);
         }
         launch(on[0], 1ms);
       },
       {6ms, 8ms, 0ms}},
  };
}

}  // namespace

TEST_CASE("an observed span adds no dependency: everything is done when it is done without a recorder") {
  for (scenario const& each : every_scenario()) {
    for (unsigned int const flags : {1U, 0U}) {
      for (sg::mode const mode : {sg::mode::off, sg::mode::mark, sg::mode::time}) {
        CAPTURE(std::string{each.name});
        CAPTURE(static_cast<int>(mode));
        fresh_machine const machine;
        auto const started = simulated::host_now();
        std::vector<cudaStream_t> const on{new_stream(flags), new_stream(flags), new_stream(flags)};
        sg::recorder recorder{mode};
        sg::phase const of{recorder, "span"};
        simulated::clear_log();
        each.play(of, on);
        if (mode != sg::mode::time) CHECK(calls_of_ours().empty());
        CHECK(simulated::count("cuStreamWaitEvent") == 0);
        CHECK(simulated::host_now() == started);
        for (std::size_t i = 0; i < on.size(); ++i) {
          auto const done = simulated::stream_end(on[i]) - started;
          // A record on a stream that nothing was queued on is done at once.
          CHECK((simulated::stream_end(on[i]) == 0ns ? 0ns : done) == each.done[i]);
        }
        check_accounts(recorder.collect());
      }
    }
  }
}

TEST_CASE("on the legacy stream a branch is CUDA's own barrier, and the report says so and what helps") {
  for (sg::mode const mode : {sg::mode::off, sg::mode::time}) {
    fresh_machine const machine;
    auto const started = simulated::host_now();
    cudaStream_t const one = new_stream(cudaStreamDefault);
    cudaStream_t const other = new_stream(cudaStreamDefault);
    sg::recorder recorder{mode};
    sg::phase const of{recorder, "span"};
    sg::phase const part_of{recorder, "part"};
    {
      sg::span around{of, {one}};
      launch(one, 10ms);
      auto const part = around.branch(cudaStreamLegacy, part_of);
      launch(other, 10ms);
    }
    CHECK(simulated::stream_end(other) - started == (mode == sg::mode::time ? 20ms : 10ms));
    auto const taken = recorder.collect();
    if (mode == sg::mode::off) continue;
    REQUIRE(taken.problems.size() == 1);
    CHECK(taken.problems[0].phase == "part");
    CHECK(taken.problems[0].text.find("name the stream that the work runs on") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "between a branch's start and its stop stand the program's calls and the two records (case-13)") {
  cudaStream_t const main = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const part_of{recorder, "part"};
  for (bool const first : {true, false}) {
    recorder.drain();
    sg::span both{overlap};
    for (auto const stream : {main, side}) {
      std::size_t const before = simulated::allocation_count();
      {
        auto const part = both.branch(stream, part_of);
        simulated::clear_log();
        launch(stream, 1ms);
      }
      std::size_t const allocated = simulated::allocation_count() - before;
      CHECK(calls_of_ours() == names{"cuCtxGetId", "cuStreamIsCapturing", "cuEventRecord"});
      for (auto const& call : simulated::log()) CHECK(call.result == cudaSuccess);
      if (!first || stream == side) CHECK(allocated == 0);
    }
  }
  CHECK(device_times(series_of(recorder.collect(), "overlap")) == std::vector<nanoseconds>{1ms, 1ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a span calls nothing at its own begin and end") {
  cudaStream_t const main = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  { auto const first = overlap.enter(main); }
  simulated::clear_log();
  {
    sg::span one{overlap};
    CHECK(calls_of_ours().empty());
    { auto const part = one.branch(main); }
    simulated::clear_log();
  }
  CHECK(calls_of_ours().empty());
}

TEST_CASE_FIXTURE(fresh_machine, "after the first span nothing is allocated as long as the spans before it were read") {
  cudaStream_t const main = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder{sg::capacity{1000, 64}};
  sg::phase const overlap{recorder, "overlap"};
  std::size_t allocated = 0;
  for (int i = 0; i < 200; ++i) {
    if (i == 1) allocated = simulated::allocation_count();
    {
      sg::span both{overlap, {main}};
      for (auto const stream : {main, side}) {
        auto const part = both.branch(stream);
        launch(stream, 1us);
      }
    }
    wait_for(main);
    wait_for(side);
    recorder.drain();
  }
  CHECK(simulated::allocation_count() == allocated);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "1000 spans of two branches through eight event pairs: all are kept, exact and in order (case-08)") {
  cudaStream_t const main = new_stream();
  cudaStream_t const side = new_stream();
  sg::recorder recorder{sg::capacity{1000, 8}};
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const late{recorder, "late"};
  std::vector<nanoseconds> walls;
  std::vector<nanoseconds> begins;
  for (int i = 0; i < 1000; ++i) {
    launch(side, 1us * (i % 7));
    {
      sg::span both{overlap};
      {
        auto const part = both.branch(main);
        launch(main, 4us);
      }
      auto const part = both.branch(side, late);
      launch(side, 1us * (i + 1));
    }
    walls.emplace_back((std::max)(4us, 1us * (i % 7 + i + 1)));
    begins.emplace_back(1us * (i % 7));
    wait_for(main);
    wait_for(side);
  }
  CHECK(simulated::events_created() == 2 * 8 + 1);
  auto const taken = recorder.collect();
  CHECK(device_times(row_of(taken, "overlap", {})) == walls);
  CHECK(values(row_of(taken, "late", {}), &sg::sample::begins) == begins);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a wait, spinning or asleep, ends when the last branch is done, and completes the span alone") {
  cudaStream_t const main = new_stream();
  cudaStream_t const side = new_stream();
  cudaStream_t const third = new_stream();
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  simulated::set_poll_step(1us);
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block, sg::wait_policy::none}) {
    sg::span both{overlap};
    for (auto const& [stream, time] : {std::pair{main, 6ms}, std::pair{side, 9ms}, std::pair{third, 1ms}}) {
      auto const part = both.branch(stream);
      launch(stream, time);
    }
    simulated::host_advance(1ms);
    both.wait(policy);
    simulated::host_advance(50ms);  // in none of its times
  }
  auto const taken = recorder.collect();
  for (auto const& each : row_of(taken, "overlap", {}).samples) {
    CHECK(each.device == 9ms);
    CHECK(each.submit == 1ms);
    if (each.waited == sg::wait_policy::none)
      CHECK(missing(each.completion) == sg::absence::not_asked);
    else
      CHECK(each.completion == 9ms);
  }
  // The stop of a branch may lie behind by now, so there is nothing to sleep on: it spins, and says so.
  CHECK(row_of(taken, "overlap", {}).samples.at(1).waited == sg::wait_policy::spin);
  for (auto const& each : row_of(taken, "overlap", {{"branch", "1"}}).samples)
    CHECK(missing(each.completion) == sg::absence::not_asked);
}
