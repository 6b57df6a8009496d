// Would go unseen without these: a measurement that never ends, one that ends before its median is known, and checks that
// cost more than the measurement.
#include <streamgauge/analyze/stopping.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "steady_draws.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;
using sg::stop_cause;
using steady_draws::seed_of;
using steady_draws::source;

constexpr std::uint64_t draws = 1000;

/// Numbers from 1000 to 1100 of which no two are equal, in an order that neighbours do not share.
static double golden(int i) {
  double const turns = 0.6180339887498949 * i;
  return 1000.0 + 100.0 * (turns - static_cast<double>(static_cast<int>(turns)));
}

/// Offers samples, a microsecond each, until the rule says stop; the limit is far beyond any budget of these tests.
template <class Draw>
static sg::stopping_state offer(sg::stopping_rule rule, Draw draw) {
  sg::stopping<> stopping{rule};
  std::int64_t elapsed = 0;
  for (int i = 0; i < 100'000; ++i)
    if (stopping.add(draw(i), nanoseconds{elapsed += 1000}) != stop_cause::none) break;
  return stopping.state();
}

TEST_CASE("equal samples stop at the first check") {
  auto const found = offer({}, [](int) { return 5000.0; });
  CHECK(found.cause == stop_cause::narrow);
  CHECK(found.taken == 32);
  CHECK(found.checks == 1);
  CHECK(found.steady_samples == 32);
  CHECK(found.half_width == 0.0);
  CHECK(found.steady == sg::steadiness::yes);
  CHECK(std::string{sg::describe(found.cause)}.find("steady") == 0);
}

TEST_CASE("stops when the interval of the median is narrow, not before") {
  // 32 numbers in an order that neighbours do not share, a per cent apart: ranks 10 and 23 of 32 are 13 steps apart.
  auto const noisy = [](int i) { return 1000.0 + 10.0 * static_cast<double>(i * 13 % 32); };
  auto const wide = offer({0.05, nanoseconds{1'000'000'000}, 1000}, noisy);
  CHECK(wide.cause == stop_cause::narrow);
  CHECK(*wide.half_width <= 0.05);
  // Of golden ones they are 13/32 of 100 apart: half of that is about 2 % of the median, and shrinks with the root.
  CHECK(offer({0.022, nanoseconds{1'000'000'000}, 1000}, golden).taken == 32);
  auto const closer = offer({0.015, nanoseconds{1'000'000'000}, 1000}, golden);
  CHECK(closer.cause == stop_cause::narrow);
  CHECK(closer.taken > 40);
  CHECK(closer.taken < 100);
  auto const never = offer({0.0001, nanoseconds{1'000'000'000}, 1000}, noisy);
  CHECK(never.cause == stop_cause::samples_spent);
  CHECK(never.taken == 1000);
  CHECK(*never.half_width > 0.0001);
}

TEST_CASE("stops where the interval is within one step of the clock") {
  // One sample in four is a tick up: the median stands on one value, and half of nothing is less than half a tick; asked
  // for less than nothing, only the tick can stop it.
  auto const ticks = [](int i) { return i * 7 % 4 == 0 ? 6500.0 : 6000.0; };
  auto const found = offer({-1.0, nanoseconds{1'000'000'000}, 5000}, ticks);
  CHECK(found.cause == stop_cause::within_tick);
  CHECK(found.taken == 32);
}

TEST_CASE("case-70 ends at the budget whatever the samples are") {
  double const nothing = std::numeric_limits<double>::quiet_NaN();
  double const infinite = std::numeric_limits<double>::infinity();
  struct {
    char const* name;
    double (*draw)(int);
  } const all[] = {
      {"strictly falling", [](int i) { return 1e9 - 1e4 * i; }},
      {"strictly rising", [](int i) { return 1e3 + 10.0 * i; }},
      {"alternating", [](int i) { return i % 2 == 0 ? 1000.0 : 3000.0; }},
      {"NaN", [](int) { return std::numeric_limits<double>::quiet_NaN(); }},
      {"every other NaN", [](int i) { return i % 2 == 0 ? golden(i) : std::numeric_limits<double>::quiet_NaN(); }},
      {"infinite", [](int) { return std::numeric_limits<double>::infinity(); }},
      {"negative", [](int) { return -5.0; }},
      {"zero, then not", [](int i) { return i < 100 ? 0.0 : 1.0 + i; }},
  };
  sg::stopping_rule const by_samples{1e-9, nanoseconds{1'000'000'000'000}, 3000};
  sg::stopping_rule const by_time{1e-9, nanoseconds{2'000'000}, 1'000'000};
  for (auto const& each : all) {
    INFO(each.name);
    auto const samples = offer(by_samples, each.draw);
    CHECK(samples.stopped());
    CHECK(samples.taken <= 3000);
    auto const time = offer(by_time, each.draw);
    CHECK(time.stopped());
    CHECK(time.taken <= 2000);
    if (std::string{each.name} == "zero, then not") continue;  // 32 zeros are steady
    CHECK(samples.cause == stop_cause::samples_spent);
    CHECK(samples.taken == 3000);
    CHECK(time.cause == stop_cause::time_spent);
    CHECK(time.taken == 2000);
  }
  CHECK(offer(by_samples, all[3].draw).refused == 3000);
  CHECK(offer(by_samples, all[4].draw).refused == 1500);
  CHECK(offer(by_samples, [=](int) { return infinite; }).refused == 3000);
  CHECK(offer(by_samples, [=](int) { return nothing; }).steady == sg::steadiness::unknown);
  CHECK(offer(by_samples, all[0].draw).steady_samples == 0);
}

TEST_CASE("case-70 samples before the steady part do not count as steady") {
  auto const found = offer({}, [](int i) { return i < 20 ? 9000.0 - 200.0 * i : 3000.0 + i * 13 % 32; });
  CHECK(found.cause == stop_cause::narrow);
  CHECK(found.steady_samples >= 32);
  CHECK(found.steady_samples <= found.taken - 20);
}

TEST_CASE("a time budget that is spent at once ends with the first sample") {
  sg::stopping<> stopping{{0.005, nanoseconds{0}, 10}};
  CHECK(stopping.add(nanoseconds{7}, nanoseconds{0}) == stop_cause::time_spent);
  CHECK(stopping.state().taken == 1);
  CHECK(stopping.add(nanoseconds{7}, nanoseconds{0}) == stop_cause::time_spent);
  CHECK(stopping.state().taken == 1);  // what comes after the end changes nothing
}

TEST_CASE("the checks are a quarter apart, so that they cost no more than a few looks at all samples") {
  auto const found = offer({1e-12, nanoseconds{1'000'000'000'000}, 65'536},
                           golden);
  CHECK(found.taken == 65'536);
  // log(65536 / 32) / log(1.25) is 34.2: with the rounding down of the steps and the last look 36.
  CHECK(found.checks <= 37);
  CHECK(found.checks >= 33);
}

TEST_CASE("coverage: stopping at the first narrow interval still leaves the median in it") {
  std::uint64_t covered = 0;
  std::uint64_t stopped = 0;
  double taken = 0.0;
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    source random{seed_of(701, 0, draw)};
    sg::stopping<> stopping{{0.005, nanoseconds{1'000'000'000}, 5000}};
    std::vector<double> numbers;
    do {
      numbers.push_back(1e5 * (1.0 + 0.02 * random.normal()));
    } while (stopping.add(numbers.back(), nanoseconds{0}) == stop_cause::none);
    if (stopping.state().cause != stop_cause::narrow) continue;
    ++stopped;
    taken += static_cast<double>(numbers.size());
    auto const start = sg::detect_steady(numbers).start.value_or(0);
    auto const interval =
        sg::confidence_interval(sg::number_span<double>{numbers.data() + start, numbers.size() - start}).interval;
    if (interval && interval->low <= 1e5 && 1e5 <= interval->high) ++covered;
  }
  double const share = static_cast<double>(covered) / static_cast<double>(stopped);
  std::printf("\nadaptive stopping at half a per cent, noise 2 %%: %llu of %llu stopped after %.0f samples on average, coverage %.1f %%\n",
              static_cast<unsigned long long>(stopped), static_cast<unsigned long long>(draws),
              taken / static_cast<double>(stopped), 100.0 * share);
  CHECK(10 * stopped >= 9 * draws);
  CHECK(share >= 0.92);
}
