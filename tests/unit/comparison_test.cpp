// Would go unseen without these: a verdict that noise made, a ratio the wrong way round, a difference that is one tick
// of the clock, warm-up that is compared, and a verdict where there is nothing to compare.
#include <streamgauge/analyze/comparison.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "compared_runs.hpp"
#include "known_series.hpp"

namespace sg = streamgauge;

using integers = std::vector<std::int64_t>;
using reals = std::vector<double>;
using sg::verdict;
using steady_draws::seed_of;
using steady_draws::source;

TEST_CASE("the pairs with known answers: ratio, interval and verdict") {
  auto const root = std::string{STREAMGAUGE_TEST_DATA} + "/pairs/";
  std::size_t seen = 0;
  for (auto const& row : rows_in("pairs/pairs.csv")) {
    auto const a = series_in(root + row[0]);
    auto const b = series_in(root + row[1]);
    INFO(row[0]);
    ++seen;
    auto const number = [&](std::size_t field) { return std::strtod(row[field].c_str(), nullptr); };
    auto const medians = sg::ratio_of_medians(a, b);
    REQUIRE(medians.log_ratio);
    REQUIRE(medians.plain_logs);
    REQUIRE(medians.logs);
    CHECK(std::fabs(std::exp(*medians.log_ratio) - number(5)) <= 1e-9);
    CHECK(std::fabs(std::exp(medians.plain_logs->low) - number(6)) <= 1e-9);
    CHECK(std::fabs(std::exp(medians.plain_logs->high) - number(7)) <= 1e-9);
    CHECK(medians.logs->low <= medians.plain_logs->low);
    CHECK(medians.logs->high >= medians.plain_logs->high);
    auto const found = sg::compare(a, b);
    INFO(found.reason);
    CHECK(std::string{sg::describe(found.verdict)} == row[8]);
    CHECK(found.basis == sg::comparison_basis::one_run);
    // A sample or two may be taken for warm-up, which moves the ends by a few ranks at most.
    CHECK(static_cast<double>(found.a.samples) >= 0.97 * number(2));
    CHECK(static_cast<double>(found.b.samples) >= 0.97 * number(3));
    CHECK(std::fabs(*found.ratio - number(5)) <= 2e-4);
  }
  CHECK(seen == 9);
}

TEST_CASE("the interval of one run a side is worked out by hand") {
  // Ranks 2 and 8 of nine numbers. On logarithms to base 2 the sides are: median 3 from 2 to 4, and 5 from 2 to 6; so
  // the ratio's logarithm is 2 with sqrt(3^2 + 1^2) below and sqrt(1^2 + 1^2) above.
  auto const powers = [](std::vector<int> const& exponents) {
    reals numbers;
    for (int const each : exponents) numbers.push_back(std::ldexp(1.0, each));
    return numbers;
  };
  auto const found = sg::compare(powers({3, 2, 4, 1, 3, 5, 4, 3, 2}), powers({5, 2, 6, 1, 5, 7, 6, 5, 2}));
  CHECK(*found.ratio == doctest::Approx(4.0).epsilon(1e-12));
  REQUIRE(found.plain_interval);
  CHECK(std::log2(found.plain_interval->low) == doctest::Approx(2.0 - std::sqrt(10.0)).epsilon(1e-12));
  CHECK(std::log2(found.plain_interval->high) == doctest::Approx(2.0 + std::sqrt(2.0)).epsilon(1e-12));
  CHECK(found.verdict == verdict::inconclusive);  // far too noisy to be steady
}

TEST_CASE("one run a side says that it is no more") {
  source random{11};
  auto const a = run_at(random, 1000.0, 0.0);
  auto const found = sg::compare(a, run_at(random, 1100.0, 0.0));
  CHECK(found.verdict == verdict::slower);
  CHECK(std::string{sg::describe(found.basis)} == "within one run only");
  CHECK(found.a.runs == 1);
  CHECK(found.a.unsteady_runs == 0);
  CHECK(*found.a.median == doctest::Approx(1000.0).epsilon(0.01));
  CHECK_FALSE(found.degrees_of_freedom);
}

TEST_CASE("the verdict goes by the wider interval where samples depend on their neighbours") {
  source random{18};
  auto const dependent = [&](double level) {
    reals numbers;
    double state = 0.0;
    for (int i = 0; i < 1000; ++i) {
      state = 0.7 * state + random.normal();
      numbers.push_back(level * (1.0 + 0.004 * state));
    }
    return numbers;
  };
  auto const found = sg::compare(dependent(1000.0), dependent(1000.0));
  REQUIRE(found.interval);
  REQUIRE(found.plain_interval);
  double const wide = found.interval->high - found.interval->low;
  double const narrow = found.plain_interval->high - found.plain_interval->low;
  CHECK(wide > 1.5 * narrow);  // the variance grows by 1.7 / 0.3, somewhat less in signs
}

TEST_CASE("warm-up is not compared") {
  source random{12};
  auto warm = run_at(random, 1000.0, 0.0, 100);
  for (std::size_t i = 0; i < 45; ++i) warm[i] *= 2.0;
  auto const found = sg::compare(run_at(random, 1000.0, 0.0, 100), warm);
  CHECK(found.verdict == verdict::same);
  CHECK(found.b.samples == 55);
  CHECK(*found.b.median == doctest::Approx(1000.0).epsilon(0.01));
}

TEST_CASE("a run that is not steady gives no verdict, and the reason says which and why") {
  source random{13};
  auto const steady = run_at(random, 1000.0, 0.0, 100);
  auto shifted = run_at(random, 1100.0, 0.0, 100);
  for (std::size_t i = 70; i < 100; ++i) shifted[i] *= 1.2;
  auto const found = sg::compare(steady, shifted);
  CHECK(found.verdict == verdict::inconclusive);
  CHECK(found.ratio);  // what was seen still stands there
  CHECK(found.interval);
  CHECK(found.b.unsteady_runs == 1);
  CHECK(found.reason.find("side b: ") == 0);
  CHECK(found.reason == "side b: " + sg::describe(sg::detect_steady(shifted)));
  auto const few = sg::compare(reals{3, 1, 2, 3, 2, 1, 3}, steady);
  CHECK(few.verdict == verdict::inconclusive);
  CHECK(few.reason.find("side a: ") == 0);
}

TEST_CASE("case-77 nothing to compare gives no verdict, a reason, and no number") {
  source random{14};
  auto const good = run_at(random, 1000.0, 0.0);
  auto const no_b = sg::compare(good, integers{});
  CHECK(no_b.verdict == verdict::inconclusive);
  CHECK(no_b.reason == "no samples on side b");
  CHECK_FALSE(no_b.ratio);
  CHECK_FALSE(no_b.interval);
  CHECK(sg::compare(reals{}, good).reason == "no samples on side a");
  auto const few = sg::compare(reals(5, 3.0), reals(5, 6.0));
  CHECK(few.ratio == doctest::Approx(2.0));
  CHECK_FALSE(few.interval);
  CHECK(few.reason == "the median of side a has no interval: fewer than 6 numbers");
}

TEST_CASE("a median of zero or below has no ratio") {
  source random{15};
  auto const good = run_at(random, 1000.0, 0.0);
  auto const zero = sg::compare(reals(30, 0.0), good);
  CHECK(zero.verdict == verdict::inconclusive);
  CHECK_FALSE(zero.ratio);
  CHECK(zero.reason == "the median of side a is not above zero, so the ratio is undefined");
  CHECK(sg::compare(good, integers(30, -4)).reason.find("the median of side b is not above zero") == 0);
}

TEST_CASE("a NaN, an infinity or a threshold that is none is refused") {
  source random{16};
  auto const good = run_at(random, 1000.0, 0.0);
  auto bad = good;
  bad[5] = std::numeric_limits<double>::quiet_NaN();
  CHECK(sg::compare(bad, good).verdict == verdict::refused);
  CHECK(sg::compare(good, bad).reason == "side b holds a NaN or an infinity");
  for (double const threshold : {-0.01, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    CHECK(sg::compare(good, good, threshold).verdict == verdict::refused);
  }
}

TEST_CASE("rates of verdicts: one run a side, where runs do not differ") {
  std::printf("\nverdicts of one run a side without a run-to-run effect, %llu comparisons of noise 2 %%\n",
              static_cast<unsigned long long>(draws));
  for (std::size_t const count : {30U, 100U, 300U}) {
    std::uint64_t wrong = 0;
    std::uint64_t same = 0;
    std::uint64_t found = 0;
    std::uint64_t missed = 0;
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      source random{seed_of(603, count, draw)};
      auto const a = run_at(random, 1e5, 0.0, count, 0.02);
      auto const alike = sg::compare(a, run_at(random, 1e5, 0.0, count, 0.02)).verdict;
      auto const slow = sg::compare(a, run_at(random, 1.03e5, 0.0, count, 0.02)).verdict;
      if (alike == verdict::faster || alike == verdict::slower) ++wrong;
      if (alike == verdict::same) ++same;
      if (slow == verdict::slower) ++found;
      if (slow == verdict::faster || slow == verdict::same) ++missed;
    }
    auto const share = [](std::uint64_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(draws); };
    std::printf("  n = %3zu: identical: false %.2f %%, same %.1f %%; 3 %% slower: found %.1f %%, faster or same %.2f %%\n",
                count, share(wrong), share(same), share(found), share(missed));
    CHECK(share(wrong) <= 0.5);
    CHECK(share(missed) == 0.0);
    if (count == 300) CHECK(share(found) >= 90.0);
  }
}

