// The bugs that would go unseen without this file: inputs that are said to rotate and are the same again, a graph that stays
// with its first set, and a sample that holds more executions than it says.
// Field cases: case-50, case-51, case-72, case-85.

#include <map>
#include <stdexcept>

#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>

#include "measured.hpp"

using namespace measured;

namespace {

sg::measure_choices over(std::size_t sets) {
  sg::measure_choices chosen;
  chosen.until.time = 10s;
  chosen.until.samples = 200;
  chosen.cache = sg::cache_state::rotating;
  chosen.sets = sets;
  return chosen;
}

/// An L2 that holds one set: work on the set that was there last takes 20 us, on another one 50 us.
struct cache_of_one_set {
  std::vector<std::size_t> used;
  void run(cudaStream_t on, std::size_t set) {
    launch(on, !used.empty() && used.back() == set ? 20us : 50us);
    used.push_back(set);
  }
};

}  // namespace

TEST_CASE_FIXTURE(plain_run, "execution k works on set k, counted round, and the same set again stands beside it") {
  cudaStream_t const stream = new_stream();
  cache_of_one_set cache;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) { cache.run(on, set); }, over(3));
  CAPTURE(found.why_none);
  CHECK(found.median() == sg::fractional_nanoseconds{50us});
  CHECK(found.cold_over_warm.value() == doctest::Approx(2.5));
  // Those at the end are the same set's: one that finds another's traces, and 16.
  std::size_t const rotating = found.alone()->samples.size() + found.samples()->samples.size();
  REQUIRE(cache.used.size() == rotating + 17);
  for (std::size_t k = 0; k < cache.used.size(); ++k) CHECK(cache.used[k] == (k < rotating ? k % 3 : 0));
  CHECK(found.samples()->conditions == std::vector<sg::condition>{{"cache", "rotating"}, {"sets", "3"}});
  CHECK(has(text_of(found), "caches: rotating over 3 sets: 2.500 times as long as the same set again\n"));
}

TEST_CASE_FIXTURE(plain_run, "each set's first use is warm-up") {
  cudaStream_t const stream = new_stream();
  std::map<std::size_t, int> uses;
  auto chosen = over(12);
  chosen.warmup = 2;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) { launch(on, uses[set]++ == 0 ? 5ms : 50us); }, chosen);
  REQUIRE(found.alone());
  for (std::size_t i = 0; i < found.alone()->samples.size(); ++i) {
    CHECK(found.alone()->samples[i].warmup == (i < 12));
    CHECK(found.alone()->samples[i].device.value() == (i < 12 ? nanoseconds{5ms} : nanoseconds{50us}));
  }
  // The same with and without: it may be that the caches hold them all.
  CHECK(found.cold_over_warm.value() == doctest::Approx(1.0));
  CHECK(has(text_of(found), "the same set again, so the caches hold them all, or do not matter"));
}

TEST_CASE_FIXTURE(plain_run, "case-85 several executions in one interval go through the sets within it") {
  cudaStream_t const stream = new_stream();
  cache_of_one_set cache;
  auto chosen = over(4);
  chosen.iterations = 3;
  auto const found = sg::measure(stream, [&](std::size_t set) { cache.run(stream, set); }, chosen);
  CHECK(found.median() == sg::fractional_nanoseconds{50us});
  CHECK(found.samples()->samples[0].device.value() == 150us);
  std::size_t const rotating = found.alone()->samples.size() + 3 * found.samples()->samples.size();
  REQUIRE(cache.used.size() == rotating + 3 * 17);
  for (std::size_t k = 0; k < rotating; ++k) CHECK(cache.used[k] == k % 4);
}

TEST_CASE_FIXTURE(plain_run, "of graphs there are as many as there are sets that an interval begins with, and each launch is one interval") {
  cudaStream_t const stream = new_stream();
  // A set's work takes as long as its number says, so a sample shows which sets it holds.
  auto const numbered = [](cudaStream_t on, std::size_t set) { launch(on, 10us * (static_cast<int>(set) + 1)); };
  for (std::size_t const iterations : {1u, 2u, 3u, 6u}) {
    CAPTURE(iterations);
    auto chosen = over(6);
    chosen.how = sg::launched_by::graph;
    chosen.iterations = iterations;
    chosen.until.samples = 60;
    simulated::clear_log();
    auto const found = sg::measure(stream, numbered, chosen);
    CHECK(found.why_none == "");
    REQUIRE(found.samples());
    auto const& all = found.samples()->samples;
    CHECK(all.size() >= 32);
    // The first interval goes on where single executions and captures, whole turns, ended.
    std::size_t next = found.alone()->samples.size();
    for (auto const& one : all) {
      nanoseconds expected{0};
      for (std::size_t k = 0; k < iterations; ++k) expected += 10us * (static_cast<int>(next++ % 6) + 1);
      CHECK(one.device.value() == expected);
    }
    // 6, 3, 2 and 1, and that of the same set again.
    CHECK(simulated::count("cudaGraphInstantiate") == 6 / iterations + 1);
    CHECK(found.samples()->conditions.back() == sg::condition{"sets", "6"});
  }
}

TEST_CASE_FIXTURE(plain_run, "in graphs too the same set again is what the ratio is to") {
  cudaStream_t const stream = new_stream();
  cache_of_one_set cache;
  auto chosen = over(2);
  chosen.how = sg::launched_by::graph;
  chosen.iterations = 2;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) { cache.run(on, set); }, chosen);
  CHECK(found.samples()->samples[0].device.value() == 100us);
  CHECK(found.cold_over_warm.value() == doctest::Approx(2.5));
}

TEST_CASE_FIXTURE(plain_run, "what cannot rotate is said, without a call") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const with_set = [&](cudaStream_t on, std::size_t) { ++calls, launch(on, 20us); };
  auto const without = [&](cudaStream_t on) { ++calls, launch(on, 20us); };
  CHECK(sg::measure(stream, without, over(8)).why_none ==
        "nothing rotates: the callable takes no number of a set, as body(stream, set) does");
  CHECK(sg::measure(stream, with_set, over(1)).why_none ==
        "nothing rotates over 1 set of inputs: say in choices.sets how many there are, two or more");
  CHECK(sg::measure(stream, with_set, over(0)).why_none ==
        "nothing rotates over 0 sets of inputs: say in choices.sets how many there are, two or more");
  auto warm = over(8);
  warm.cache = sg::cache_state::warm;
  CHECK(sg::measure(stream, with_set, warm).why_none ==
        "8 sets of inputs, and nothing rotates: choose cache_state::rotating, or leave choices.sets at 1");
  CHECK(sg::measure_pair(stream, without, without, over(8)).why_none ==
        "callables in rounds get no number of a set: let each rotate by itself, and leave choices.cache and choices.sets");
  CHECK(calls == 0);
  // One set, always the same: allowed to a callable that could take more.
  warm.sets = 1;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) { calls += set == 0 ? 0 : 1, launch(on, 20us); }, warm);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(calls == 0);
  CHECK_FALSE(found.cold_over_warm);
}

TEST_CASE_FIXTURE(plain_run, "what a rotating callable throws comes out, from a stream and out of a capture, and the stream is free") {
  cudaStream_t const stream = new_stream();
  for (auto const how : {sg::launched_by::stream, sg::launched_by::graph})
    for (int last : {1, 40, 45, 50}) {
      CAPTURE(last);
      auto chosen = over(16);  // 48 calls alone, and 16 to capture
      chosen.how = how;
      int calls = 0;
      CHECK_THROWS_WITH_AS(void(sg::measure(stream, [&](cudaStream_t on, std::size_t) {
                             launch(on, 20us);
                             if (++calls == last) throw std::runtime_error{"mine"};
                           }, chosen)),
                           "mine", std::runtime_error);
      synchronize(stream);  // would hang
      simulated::user_scope const user;
      cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
      CHECK(cudaStreamIsCapturing(stream, &capture) == cudaSuccess);
      CHECK(capture == cudaStreamCaptureStatusNone);
    }
}

TEST_CASE_FIXTURE(plain_run, "a set whose work cannot be captured gives no number but the reason") {
  cudaStream_t const stream = new_stream();
  auto chosen = over(4);
  chosen.how = sg::launched_by::graph;
  auto const found = sg::measure(stream, [](cudaStream_t on, std::size_t set) {
    launch(on, 20us);
    if (set == 2) synchronize(on);
  }, chosen);
  CHECK_FALSE(found.median());
  CHECK(has(found.why_none, "the callable cannot be captured into a graph: "));
  auto const nothing = sg::measure(stream, [](cudaStream_t on, std::size_t set) {
    if (set != 3) launch(on, 20us);
  }, chosen);
  CHECK(nothing.why_none == "the callable enqueued nothing on the stream");
}

TEST_CASE_FIXTURE(plain_run, "more graphs than there is time to capture give no number, and the remedy") {
  cudaStream_t const stream = new_stream();
  auto chosen = over(16);
  chosen.how = sg::launched_by::graph;
  int calls = 0;
  auto const slow = [&](cudaStream_t on, std::size_t) {
    ++calls;
    simulated::host_advance(400ms);
    launch(on, 20us);
  };
  auto const found = sg::measure(stream, slow, chosen);
  CHECK(found.why_none == "the time for it was spent on capturing a graph for each set: of choices.iterations that are a "
                          "multiple of choices.sets one holds all");
  CHECK(calls == 16 + 9);  // 6.4 s to use each once, and 3.6
  CHECK_FALSE(found.median());
}

TEST_CASE_FIXTURE(plain_run, "case-12 a rotating callable that synchronises is measured without a gate") {
  cudaStream_t const stream = new_stream();
  std::vector<std::size_t> used;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) {
    used.push_back(set);
    launch(on, 20us);
    synchronize(on);
  }, over(3));
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(missing(found.samples()->samples[0].device) == absence::gate_timeout);
  for (std::size_t k = 0; k + 17 < used.size(); ++k) CHECK(used[k] == k % 3);
}

TEST_CASE_FIXTURE(plain_run, "case-50 case-51 under a tool they rotate all the same, and nothing is compared") {
  setenv("NVTX_INJECTION64_PATH", "/a/tool", 1);
  cudaStream_t const stream = new_stream();
  cache_of_one_set cache;
  auto chosen = over(3);
  chosen.under_tool = 7;
  auto const found = sg::measure(stream, [&](cudaStream_t on, std::size_t set) { cache.run(on, set); }, chosen);
  unsetenv("NVTX_INJECTION64_PATH");
  CHECK(found.watched);
  CHECK(found.samples()->samples.size() == 7);
  CHECK_FALSE(found.cold_over_warm);
  for (std::size_t k = 0; k < cache.used.size(); ++k) CHECK(cache.used[k] == k % 3);
  CHECK(has(text_of(found), "caches: rotating over 3 sets\n"));
}
