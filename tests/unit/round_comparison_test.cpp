// The bug that would go unseen without this file: a verdict about two callables that the clock between their rounds gave.

#include <streamgauge/analyze/round_comparison.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "steady_draws.hpp"

namespace sg = streamgauge;
using sg::verdict;

namespace {

// So many rounds at a level that steps down by `step` in the middle; b takes `ratio` as long as a.
struct rounds {
  std::vector<double> a, b;
  rounds(std::uint64_t seed, std::size_t count, double ratio, double step, double noise = 0.01) {
    steady_draws::source random{seed};
    for (std::size_t i = 0; i < count; ++i) {
      double const level = i < count / 2 ? 100.0 : 100.0 * step;
      a.push_back(level * std::exp(noise * random.normal()));
      b.push_back(level * ratio * std::exp(noise * random.normal()));
    }
  }
};

}  // namespace

TEST_CASE("ratios of rounds by hand: twice as long in every round is twice as long, whatever the level does") {
  std::vector<std::int64_t> a, b;
  for (std::int64_t i = 0; i < 20; ++i) {
    a.push_back(1000 * (i + 1));
    b.push_back(2000 * (i + 1));
  }
  auto const found = sg::compare_rounds(a, b);
  CHECK(found.ratio.value() == doctest::Approx(2.0));
  CHECK(found.interval->low == doctest::Approx(2.0));
  CHECK(found.a.median.value() == 10'500.0);
  CHECK(found.a.samples == 20);
  CHECK(found.basis == sg::comparison_basis::one_run);
}

TEST_CASE("of a thousand A/A pairs, half of them with a clock step of a tenth, at most five are called different") {
  int different = 0;
  int same = 0;
  for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
    rounds const pair{seed, 200, 1.0, seed % 2 ? 1.0 : 1.1};
    auto const found = sg::compare_rounds(pair.a, pair.b);
    different += found.verdict == verdict::faster || found.verdict == verdict::slower ? 1 : 0;
    same += found.verdict == verdict::same ? 1 : 0;
  }
  CHECK(different <= 5);
  CHECK(same >= 900);
}

TEST_CASE("three per cent slower is found in at least 95 of 100 pairs, a clock step or not") {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    rounds const pair{seed, 200, 1.03, seed % 2 ? 1.0 : 0.9};
    if (sg::compare_rounds(pair.a, pair.b).verdict == verdict::slower) ++found;
  }
  CHECK(found >= 95);
}

TEST_CASE("what gives no ratio is refused or open, with the reason") {
  std::vector<double> const one(20, 1.0);
  CHECK(sg::compare_rounds(one, std::vector<double>(19, 1.0)).reason == "the sides have not as many rounds as each other");
  CHECK(sg::compare_rounds(one, one, -1.0).verdict == verdict::refused);
  auto bad = one;
  bad[3] = std::nan("");
  CHECK(sg::compare_rounds(one, bad).reason == "side b holds a NaN or an infinity");
  bad[3] = 0.0;
  auto const zero = sg::compare_rounds(one, bad);
  CHECK(zero.verdict == verdict::inconclusive);
  CHECK(zero.reason == "round 3 has a time that is not above zero, so its ratio is undefined");
  CHECK(sg::compare_rounds(std::vector<double>(15, 1.0), std::vector<double>(15, 1.0)).reason == "fewer than 16 rounds");
  CHECK(sg::compare_rounds(std::vector<double>{}, std::vector<double>{}).verdict == verdict::inconclusive);
}
