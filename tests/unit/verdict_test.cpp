// Would go unseen without these: a threshold that is not the same on both sides, and a verdict finer than the clock.
#include <streamgauge/analyze/verdict.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>

namespace sg = streamgauge;

using sg::verdict;

TEST_CASE("a verdict is where the interval lies against the threshold on both sides") {
  sg::comparison empty;
  auto const judged = [&](double low, double middle, double high) {
    return sg::judged(empty, std::log(middle), {std::log(low), std::log(high)}, 0.0);
  };
  CHECK(judged(1.011, 1.02, 1.03).verdict == verdict::slower);
  CHECK(judged(1.009, 1.02, 1.03).verdict == verdict::inconclusive);
  CHECK(judged(0.97, 0.98, 0.989).verdict == verdict::faster);
  CHECK(judged(0.97, 0.98, 0.991).verdict == verdict::inconclusive);
  CHECK(judged(0.9902, 1.0, 1.0099).verdict == verdict::same);  // 1/1.01 is 0.99010
  CHECK(judged(0.9900, 1.0, 1.0099).verdict == verdict::inconclusive);
  CHECK(judged(0.9902, 1.0, 1.0101).verdict == verdict::inconclusive);
  CHECK(judged(1.01003, 1.02, 1.03).verdict == verdict::slower);  // a ratio above 1.01, its logarithm below 0.01
  CHECK(judged(0.97, 0.98, 0.99007).verdict == verdict::faster);
  CHECK(judged(1.0, 1.0, 1.0).verdict == verdict::same);
  CHECK(judged(1.009, 1.02, 1.03).reason.find("they differ") == 0);
  CHECK(judged(0.98, 1.0, 1.03).reason.find("no difference") != std::string::npos);
  auto const found = judged(1.011, 1.02, 1.03);
  CHECK(*found.ratio == doctest::Approx(1.02).epsilon(1e-12));
  CHECK(found.interval->low == doctest::Approx(1.011).epsilon(1e-12));
  CHECK(found.interval->high == doctest::Approx(1.03).epsilon(1e-12));
  CHECK(found.level == 0.95);
  CHECK(found.threshold == 0.01);
}

TEST_CASE("an interval finer than the clock claims no more than the clock shows") {
  sg::comparison empty;
  auto const judged = [&](double ratio, double tick) {
    return sg::judged(empty, std::log(ratio), {std::log(ratio), std::log(ratio)}, tick);
  };
  CHECK(judged(1.05, 0.05).verdict == verdict::inconclusive);  // 1.0 and 1.05 may be neighbours on either side of a step
  CHECK(judged(1.05, 0.05).reason == "the difference is no more than one step of the clock");
  CHECK(judged(1.10, 0.05).verdict == verdict::slower);
  CHECK(judged(1.0, 0.01).verdict == verdict::same);
  CHECK(judged(1.0, 0.02).verdict == verdict::inconclusive);
  CHECK(judged(1.0, 0.02).reason == "one step of the clock is more than the threshold");
  // A wide interval says enough by itself.
  CHECK(sg::judged(empty, std::log(1.05), {std::log(1.02), std::log(1.08)}, 0.05).verdict == verdict::slower);
}
