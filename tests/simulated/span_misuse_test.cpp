// What a program does to a span that it should not: each has its reason, no time is stored, and the counts add up.

#include <atomic>
#include <optional>
#include <stdexcept>
#include <thread>

#include "own_process.hpp"
#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using sg::absence;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// A recorder with a span's phase, two branches' phases and two streams.
struct workplace {
  program_stream main;
  program_stream side;
  sg::recorder recorder;
  sg::phase overlap{recorder, "overlap"};
  sg::phase left{recorder, "left"};
  sg::phase right{recorder, "right"};

  explicit workplace(std::size_t intervals = 16) : recorder{sg::mode::time, sg::capacity{1000, intervals}} {}

  /// A span as it should be, of 3 ms: what goes wrong before it has no effect on it.
  void use_well() {
    wait_for(main.get());
    wait_for(side.get());
    sg::span both{overlap};
    {
      auto const part = both.branch(main, left);
      launch(main.get(), 3ms);
    }
    auto const part = both.branch(side, right);
    launch(side.get(), 1ms);
  }

  /// The span that went wrong is the first sample, the one after it has its 3 ms.
  void expect(absence why) {
    use_well();
    auto const taken = recorder.collect();
    auto const all = row_of(taken, "overlap", {});
    REQUIRE(all.samples.size() == 2);
    CHECK(missing(all.samples[0].device) == why);
    CHECK(all.samples[1].device == 3ms);
    for (auto const& each : taken.all)
      for (auto const& sample : each.samples)
        if (sample.part == sg::span_part::branch && sample.entered < all.samples[1].entered)
          CHECK(!sample.begins.known());
    check_accounts(taken);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch that is open when its span ends leaves the span without a time, its own stays") {
  workplace at;
  {
    std::optional<sg::span> both{std::in_place, at.overlap};
    auto const outlives = both->branch(at.side, at.right);
    launch(at.side.get(), 2ms);
    {
      auto const part = both->branch(at.main, at.left);
      launch(at.main.get(), 1ms);
    }
    both.reset();
    both.emplace(at.overlap);  // the next one begins before the branch has ended
    auto const part = both->branch(at.main, at.left);
    launch(at.main.get(), 5ms);
  }
  auto const taken = at.recorder.collect();
  auto const all = row_of(taken, "overlap", {});
  REQUIRE(all.samples.size() == 2);
  CHECK(missing(all.samples[0].device) == absence::branch_open);
  auto const late = sample_of(taken, "right");
  CHECK(late.device == 2ms);
  CHECK(missing(late.begins) == absence::branch_open);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch of another thread that is still open then is refused the same way, joined or not") {
  for (bool const joined : {false, true}) {
    workplace at;
    std::atomic<int> turn{0};
    std::thread other;
    {
      std::optional<sg::span> whole;
      joined ? whole.emplace(at.overlap, sg::joined, at.main) : whole.emplace(at.overlap);
      other = std::thread{[&] {
        auto const part = whole->branch(at.side, at.right);
        turn = 1;
        while (turn.load() != 2) std::this_thread::yield();
      }};
      while (turn.load() != 1) std::this_thread::yield();
    }
    turn = 2;
    other.join();
    at.expect(absence::branch_open);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a stream that is entered twice spoils the span, whichever way it was named") {
  for (int i = 0; i < 4; ++i) {
    workplace at;
    {
      std::optional<sg::span> whole;
      i < 2 ? whole.emplace(at.overlap) : whole.emplace(at.overlap, sg::joined, at.main);
      std::optional<std::thread> other;
      {
        auto const part = whole->branch(at.side, at.left);
        launch(at.side.get(), 1ms);
      }
      simulated::clear_log();
      auto const again = [&] { auto const part = whole->branch(at.side.get(), at.right); };
      i % 2 == 0 ? again() : std::thread{again}.join();
      CHECK(stamps_and_edges().empty());
    }
    auto const taken = at.recorder.collect();
    CHECK(sample_of(taken, "left").device == 1ms);
    CHECK(missing(sample_of(taken, "right").device) == absence::branch_twice);
    at.use_well();
    CHECK(missing(row_of(at.recorder.collect(), "overlap", {}).samples.at(0).device) == absence::branch_twice);
  }
}

TEST_CASE_FIXTURE(
    fresh_machine,
    "a null stream and the legacy one are the same stream twice; per-thread ones of two threads are not") {
  workplace at;
  {
    sg::span both{at.overlap};
    { auto const part = both.branch(cudaStream_t{}, at.left); }
    auto const part = both.branch(cudaStreamLegacy, at.right);
  }
  {
    sg::span both{at.overlap};
    auto const on_own = [&](std::chrono::milliseconds work) {
      auto const part = both.branch(cudaStreamPerThread);
      launch(cudaStreamPerThread, work);
    };
    on_own(2ms);
    std::thread{on_own, 7ms}.join();
  }
  auto const all = row_of(at.recorder.collect(), "overlap", {});
  REQUIRE(all.samples.size() == 2);
  CHECK(missing(all.samples[0].device) == absence::branch_twice);
  CHECK(all.samples[1].device == 7ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a wait counts no work that was queued behind a branch") {
  cudaStream_t const main = new_stream();
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    wait_for(main);
    sg::recorder recorder;
    sg::phase const overlap{recorder, "overlap"};
    {
      sg::span one{overlap};
      {
        auto const part = one.branch(main);
        launch(main, 6ms);
      }
      launch(main, 50ms);  // not the span's
      one.wait(policy);
    }
    auto const seen = sample_of(recorder.collect(), "overlap", {});
    CHECK(seen.device == 6ms);
    CHECK(seen.completion == 6ms);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a wait covers another thread's default stream, spinning or asleep") {
  workplace at;
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    sg::span one{at.overlap};
    std::thread{[&] {
      auto const part = one.branch(cudaStreamPerThread);
      launch(cudaStreamPerThread, 7ms);
    }}.join();
    one.wait(policy);
  }
  for (auto const& each : row_of(at.recorder.collect(), "overlap", {}).samples) CHECK(each.completion == 7ms);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "more branches than there are event pairs: no time for that span, and the next is whole") {
  for (bool const joined : {false, true}) {
    workplace at{2};
    program_stream const third;
    {
      std::optional<sg::span> whole;
      joined ? whole.emplace(at.overlap, sg::joined, at.main) : whole.emplace(at.overlap);
      for (auto const stream : {at.main.get(), at.side.get(), third.get()}) auto const part = whole->branch(stream);
    }
    at.expect(absence::pool_full);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "an exception that leaves a branch, or the whole span, passes, and makes it incomplete") {
  for (bool const caught_inside : {true, false}) {
    for (bool const joined : {false, true}) {
      workplace at;
      std::string passed;
      try {
        std::optional<sg::span> whole;
        joined ? whole.emplace(at.overlap, sg::joined, at.main) : whole.emplace(at.overlap);
        try {
          { auto const sound = whole->branch(at.main, at.left); }
          auto const part = whole->branch(at.side, at.right);
          launch(at.side.get(), 2ms);
          throw std::runtime_error{"the body's own"};
        } catch (std::runtime_error const&) {
          if (!caught_inside) throw;
          passed = "the body's own";
        }
      } catch (std::runtime_error const& error) {
        passed = error.what();
      }
      CHECK(passed == "the body's own");
      at.expect(absence::body_threw);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "where a branch was given up, a wait for the span keeps no completion, as it keeps no device time") {
  workplace at;
  simulated::set_poll_step(1us);
  for (bool const refused : {false, true}) {
    sg::span both{at.overlap};
    try {
      auto const part = both.branch(at.side, at.right);
      launch(at.side.get(), 9ms);
      if (refused) simulated::fail_nth("cuEventRecord", 1, cudaErrorUnknown);
      if (!refused) throw 1;
    } catch (int) {
    }
    {
      auto const part = both.branch(at.main, at.left);
      launch(at.main.get(), 1ms);
    }
    both.wait(sg::wait_policy::spin);
  }
  auto const all = row_of(at.recorder.collect(), "overlap", {}).samples;
  REQUIRE(all.size() == 2);
  CHECK(missing(all[0].device) == absence::body_threw);
  CHECK(missing(all[0].completion) == absence::body_threw);
  CHECK(missing(all[1].device) == absence::call_failed);
  CHECK(missing(all[1].completion) == absence::call_failed);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch that is entered after its span has ended is no part of it, and records nothing") {
  workplace at;
  {
    sg::span one{at.overlap};
    {
      auto const part = one.branch(at.main, at.left);
      launch(at.main.get(), 1ms);
    }
    one.wait(sg::wait_policy::spin);
    simulated::clear_log();
    auto const part = one.branch(at.side, at.right);
    CHECK(stamps_and_edges().empty());
  }
  auto const taken = at.recorder.collect();
  CHECK(sample_of(taken, "overlap", {}).device == 1ms);
  CHECK(row_of(taken, "right", {}).samples.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "a branch of another recorder's phase is refused before anything is recorded") {
  workplace at;
  sg::recorder another;
  for (int i = 0; i < 5; ++i) sg::phase const filler{another, "filler " + std::to_string(i)};
  sg::phase const foreign{another, "foreign"};
  {
    sg::span both{at.overlap};
    simulated::clear_log();
    { auto const part = both.branch(at.side, foreign); }
    CHECK(stamps_and_edges().empty());
    auto const part = both.branch(at.main, at.left);
  }
  auto const taken = at.recorder.collect();
  CHECK(taken.all.size() == 3);
  CHECK(!sample_of(taken, "overlap", {}).device.known());
  CHECK(series_of(another.collect(), "foreign").samples.empty());
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch that there was no memory for leaves its span without a wall, never with a shorter one") {
  bool lost_a_branch = false;
  for (bool const joined : {false, true}) {
    for (std::size_t filled = 980; filled < 1010; ++filled) {
      CAPTURE(filled);
      workplace here;
      sg::phase const filler{here.recorder, "filler"};
      { sg::span both{here.overlap, sg::joined, here.main}; }
      simulated::no_memory_scope const none;
      // The first block and the one behind it; then there is no other.
      for (std::size_t i = 0; i < 1000 + filled; ++i) auto const host = filler.enter(sg::host_only);
      {
        std::optional<sg::span> both;
        joined ? both.emplace(here.overlap, sg::joined, here.main) : both.emplace(here.overlap);
        {
          auto const part = both->branch(here.main, here.left);
          launch(here.main.get(), 1ms);
        }
        auto const part = both->branch(here.side, here.right);
        launch(here.side.get(), 5ms);
      }
      auto const taken = here.recorder.collect();
      auto const whole = row_of(taken, "overlap", {});
      auto const right = row_of(taken, "right", {});
      CHECK(right.samples.size() + right.lost == 1);
      if (whole.samples.size() < 2) continue;
      auto const wall = whole.samples[1].device;
      lost_a_branch = lost_a_branch || right.lost == 1;
      CHECK(wall == (right.lost == 1 ? sg::observation{absence::no_memory} : sg::observation{5ms}));
    }
  }
  CHECK(lost_a_branch);
}
