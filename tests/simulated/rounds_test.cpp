// The bugs that would go unseen without this file: a verdict that the order decided, and one that a drifting clock did.
// Field cases: case-12, case-72.

#include <stdexcept>

#include <streamgauge/measure/rounds.hpp>

#include "measured.hpp"

using namespace measured;

TEST_CASE_FIXTURE(plain_run, "three callables in rounds: ratios to the first, the fastest, and a warm-up apart") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure_rounds(stream, {{"one", taking(100us)}, {"two", taking(103us)}, {"three", taking(80us)}}, within(10s));
  CHECK(found.why_none == "");
  CHECK(found.ended == sg::stop_cause::narrow);
  CHECK(found.feeding == sg::fed_by::gate);
  REQUIRE(found.against_first.size() == 2);
  CHECK(found.against_first[0].verdict == sg::verdict::slower);
  CHECK(found.against_first[0].ratio.value() == doctest::Approx(1.03));
  CHECK(found.against_first[1].verdict == sg::verdict::faster);
  CHECK(found.fastest == 2);
  CHECK(found.rounds == 32);
  auto const one = series_of(found.taken, "one");
  REQUIRE(one.samples.size() == 35);
  CHECK(one.samples[2].warmup);
  CHECK_FALSE(one.samples[3].warmup);
}

TEST_CASE_FIXTURE(plain_run, "a clock that slows down by half for both leaves them the same, and the order changes from round to round") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  std::string order;
  auto const body = [&](char name) {
    return [&, name](cudaStream_t on) {
      order += name;
      ++calls;
      launch(on, (calls < 60 ? 100us : 150us) + 32ns * (calls % 5));
    };
  };
  auto const found = sg::measure_pair(stream, body('a'), body('b'), within(10s));
  REQUIRE(found.against_first.size() == 1);
  CHECK(found.against_first[0].verdict == sg::verdict::same);
  CHECK(found.names == std::vector<std::string>{"a", "b"});
  std::size_t a_first = 0;
  for (std::size_t i = 0; i + 1 < order.size(); i += 2) {
    CHECK(order[i] != order[i + 1]);
    if (order[i] == 'a') ++a_first;
  }
  CHECK(a_first > order.size() / 8);
  CHECK(a_first < order.size() * 3 / 8);
}

TEST_CASE_FIXTURE(plain_run, "callables that know their stream by themselves are called with nothing") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure_pair(stream, [stream] { launch(stream, 100us); }, [](cudaStream_t on) { launch(on, 103us); }, within(10s));
  CHECK(found.why_none == "");
  REQUIRE(found.against_first.size() == 1);
  CHECK(found.against_first[0].ratio.value() == doctest::Approx(1.03));
  CHECK(found.against_first[0].verdict == sg::verdict::slower);
}

TEST_CASE_FIXTURE(plain_run, "what cannot be compared is said, without a call") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  std::function<void(cudaStream_t)> const body = [&](cudaStream_t on) { ++calls, launch(on, 1us); };
  CHECK(sg::measure_rounds(stream, {{"one", body}}).why_none == "there is nothing to compare: fewer than two callables");
  CHECK(sg::measure_rounds(stream, {{"one", body}, {"one", body}}).why_none == "two callables are called \"one\"");
  CHECK(sg::measure_rounds(stream, {{"one", body}, {"two", nullptr}}).why_none == "\"two\" is no callable");
  CHECK(sg::measure_rounds(stream, {{"one", body}, {"two", body}}, within(0s)).why_none == "the budget allows no round");
  CHECK(calls == 0);
}

TEST_CASE_FIXTURE(plain_run, "case-12 a callable that synchronises is compared without a gate, and the spoiled rounds are dropped") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure_pair(stream, taking(100us), [](cudaStream_t on) {
    launch(on, 110us);
    synchronize(on);
  }, within(10s));
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(found.overtaken > 16);  // each of the one's, and none of the other's
  CHECK(found.overtaken < found.rounds);
  REQUIRE(found.against_first.size() == 1);
  CHECK(found.against_first[0].ratio.value() == doctest::Approx(1.1));
}

TEST_CASE_FIXTURE(plain_run, "what a callable throws comes out, and a spent budget is told") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  CHECK_THROWS_AS(void(sg::measure_pair(stream, taking(1us), [&](cudaStream_t) {
                    if (++calls == 20) throw std::runtime_error{"mine"};
                  }, within(10s))),
                  std::runtime_error);
  synchronize(stream);
  int step = 0;
  auto const noisy = [&step](cudaStream_t on) { launch(on, 100us + 1us * (step = (step * 13 + 7) % 64)); };
  auto const found = sg::measure_pair(stream, noisy, noisy, within(10s, 40));
  CHECK(found.ended == sg::stop_cause::samples_spent);
  CHECK(found.rounds == 40);
}

TEST_CASE_FIXTURE(plain_run, "the floor's kernels, which the driver compiles for as long as it likes, take nothing off the rounds' budget") {
  cudaStream_t const stream = new_stream();
  simulated::set_cost("cuModuleLoadData", 90ms);
  auto const begun = sg::host_now();
  auto const found = sg::measure_pair(stream, taking(100us), taking(103us), within(50ms));
  CHECK(found.ended == sg::stop_cause::narrow);
  CHECK(found.took < 50ms);
  CHECK(sg::host_now() - begun >= 90ms);
}

TEST_CASE_FIXTURE(plain_run, "where no interval gets a time the rounds end at once, with the reason") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  std::function<void(cudaStream_t)> const capturing = [&](cudaStream_t on) {
    ++calls;
    simulated::user_scope const user;
    static_cast<void>(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed));
  };
  auto const found = sg::measure_pair(stream, capturing, capturing, within(10s));
  CHECK(found.why_none == sg::describe(absence::stream_capture));
  CHECK(calls <= 6);
  CHECK(found.ended == sg::stop_cause::none);
}
