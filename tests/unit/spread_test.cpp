// Would go unseen without these: a spread that one outlier blows up, an outlier of every tick where most samples are
// equal, a worst sample that cannot be found again, and a drift where there is only noise.
#include <streamgauge/analyze/spread.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "known_series.hpp"
#include "steady_draws.hpp"

namespace sg = streamgauge;

using integers = std::vector<std::int64_t>;
using reals = std::vector<double>;

constexpr auto largest = (std::numeric_limits<std::int64_t>::max)();
constexpr auto smallest = (std::numeric_limits<std::int64_t>::min)();

TEST_CASE("the MAD is the median distance from the median, not scaled") {
  CHECK(sg::mad(integers{1, 2, 4, 8}) == 1.5);  // from 3: 2 1 1 5
  CHECK(sg::mad(integers{8, 4, 2, 1}) == 1.5);
  CHECK(sg::mad(integers{1, 1, 2, 2, 4, 6, 9}) == 1.0);  // from 2: 1 1 0 0 2 4 7
  CHECK(sg::mad(reals{0.5, 1.5, 100.0}) == 1.0);         // from 1.5: 1 0 98.5
  CHECK(sg::mad(integers{7}) == 0.0);
  CHECK(sg::mad(integers{5, 5, 5, 9}) == 0.0);
}

TEST_CASE("the IQR is the distance of the quartiles of type 7") {
  CHECK(sg::iqr(integers{40, 10, 30, 20}) == 15.0);  // 32.5 - 17.5
  CHECK(sg::iqr(integers{7}) == 0.0);
  CHECK(sg::iqr(integers{1, 2, 3, 4, 1000000}) == 2.0);
}

TEST_CASE("case-77 what has no numbers, or a NaN, has no spread") {
  reals const bad{1.0, std::numeric_limits<double>::quiet_NaN(), 2.0};
  for (auto const& numbers : {reals{}, bad}) {
    CHECK_FALSE(sg::mad(numbers));
    CHECK_FALSE(sg::iqr(numbers));
    CHECK_FALSE(sg::find_outliers(numbers));
  }
}

TEST_CASE("the spread of very large numbers neither overflows nor is infinite") {
  CHECK(sg::mad(integers{smallest, largest}) == 9223372036854775807.5);
  CHECK(sg::mad(integers{largest - 2, largest - 1, largest}) == 1.0);
  double const most = (std::numeric_limits<double>::max)();
  CHECK(sg::mad(reals{-most, most}) == most);
  CHECK_FALSE(sg::iqr(reals{-most, -most, most, most}));
}

TEST_CASE("case-81 a constant offset does not touch the spread") {
  // The deviations are small beside the level: squares would cancel, distances do not.
  std::int64_t const far = 1'000'000'000'000;
  CHECK(sg::mad(integers{far - 1, far, far + 1, far + 4, far + 9}) == 2.0);  // from far + 1: 2 1 0 3 8
}

TEST_CASE("outliers are counted beyond 1.5 and 3 quartile distances on both sides, and the worst has its index") {
  // 21 numbers in a row and eight around them: of 29 the quartiles stand at ranks 7 and 21, counted from 0.
  integers numbers;
  for (int i = 0; i <= 20; ++i) numbers.push_back(100 + i);
  for (std::int64_t const each : {84, 61, 100, 120, 137, 141, 160, 40}) numbers.push_back(each);
  // Sorted: 40 61 84 100 100 101 102 103 | ... | 117 118 119 120 120 137 141 160: quartiles 103 and 117, distance 14.
  auto const q = sg::quantile(numbers, 0.25);
  CHECK(q == 103.0);
  CHECK(sg::quantile(numbers, 0.75) == 117.0);
  auto const found = sg::find_outliers(numbers);
  REQUIRE(found);
  CHECK(found->beyond_1_5_iqr.below == 2);  // under 82: 40, 61
  CHECK(found->beyond_1_5_iqr.above == 2);  // over 138: 141, 160
  CHECK(found->beyond_1_5_iqr.count() == 4);
  CHECK(found->beyond_3_iqr.below == 1);  // under 61: 40
  CHECK(found->beyond_3_iqr.above == 1);  // over 159: 160
  CHECK(found->worst == 40);
  CHECK(found->worst_index == 28);
}

TEST_CASE("a number on a fence is inside") {
  // Quartiles 2 and 4 of 1 2 3 4 5 and the like: fences at -1 and 7, and at -4 and 10.
  CHECK(sg::find_outliers(integers{2, 2, 3, 4, 7})->beyond_1_5_iqr.count() == 0);
  CHECK(sg::find_outliers(integers{2, 2, 3, 4, 8})->beyond_1_5_iqr.above == 1);
  CHECK(sg::find_outliers(integers{2, 2, 3, 4, 10})->beyond_3_iqr.count() == 0);
  CHECK(sg::find_outliers(integers{2, 2, 3, 4, 11})->beyond_3_iqr.above == 1);
  CHECK(sg::find_outliers(integers{-4, 2, 3, 4, 4})->beyond_3_iqr.count() == 0);
  CHECK(sg::find_outliers(integers{-5, 2, 3, 4, 4})->beyond_3_iqr.below == 1);
  CHECK(sg::find_outliers(integers{-1, 2, 3, 4, 4})->beyond_1_5_iqr.count() == 0);
  CHECK(sg::find_outliers(integers{-2, 2, 3, 4, 4})->beyond_1_5_iqr.below == 1);
}

TEST_CASE("where most samples are equal one tick of the clock is no outlier") {
  integers numbers(97, 5120);
  numbers.insert(numbers.end(), {6144, 4096, 6144});
  CHECK(sg::iqr(numbers) == 0.0);
  auto const ticks = sg::find_outliers(numbers);
  REQUIRE(ticks);
  CHECK(ticks->beyond_1_5_iqr.count() == 0);
  CHECK(ticks->worst == 6144);
  CHECK(ticks->worst_index == 97);
  numbers.push_back(7168);  // two ticks up: beyond 1.5, not beyond 3
  numbers.push_back(9216);  // four: beyond both
  auto const more = sg::find_outliers(numbers);
  CHECK(more->beyond_1_5_iqr.above == 2);
  CHECK(more->beyond_3_iqr.above == 1);
  CHECK(more->worst == 9216);
}

TEST_CASE("a lone number far from all equal ones is an outlier, not a tick") {
  integers numbers(30, 10);
  numbers[4] = 500;
  CHECK(sg::find_outliers(numbers)->beyond_3_iqr.above == 1);
  CHECK(sg::find_outliers(numbers)->worst_index == 4);
  CHECK(sg::find_outliers(integers(30, 10))->beyond_1_5_iqr.count() == 0);
}

TEST_CASE("the smallest step is that between different numbers") {
  integers const numbers{30, 10, 10, 17, 30};
  CHECK(sg::smallest_step(numbers.data(), numbers.size()) == 7.0);
  CHECK(sg::smallest_step(numbers.data() + 1, 2) == 0.0);
}

TEST_CASE("drift: the last third against the first, in shares of the median") {
  // Three thirds of 20 at 100, 103 and 106, each +-1 in a pattern that neighbours do not share.
  integers numbers;
  for (int i = 0; i < 60; ++i) numbers.push_back(1000 + 30 * (i / 20) + (i % 3 - 1));
  auto const found = sg::drift_of(numbers);
  REQUIRE(found.share);
  CHECK(*found.share == doctest::Approx(60.0 / 1030.0).epsilon(1e-12));
  REQUIRE(found.interval);
  // Twenty of -1, 0, 1 in turn: ranks 6 and 15 of each third are -1 and 1, so the ends are sqrt(2) to each side.
  CHECK(found.interval->low == doctest::Approx((60.0 - 1.4142135623730951) / 1030.0).epsilon(1e-12));
  CHECK(found.interval->high == doctest::Approx((60.0 + 1.4142135623730951) / 1030.0).epsilon(1e-12));
  CHECK(found.why_absent == sg::no_drift::none);
}

TEST_CASE("drift down is below zero, and noise alone has zero in its interval nearly always") {
  reals falling;
  steady_draws::source random{77};
  for (int i = 0; i < 300; ++i) falling.push_back(1000.0 - 0.1 * i + random.normal());
  CHECK(*sg::drift_of(falling).share == doctest::Approx(-0.0202).epsilon(0.05));
  int moved = 0;
  for (int draw = 0; draw < 1000; ++draw) {
    reals flat;
    for (int i = 0; i < 90; ++i) flat.push_back(1000.0 + random.normal());
    auto const found = sg::drift_of(flat);
    if (found.interval && (found.interval->low > 0.0 || found.interval->high < 0.0)) ++moved;
  }
  CHECK(moved <= 50);  // one in twenty is what the level allows
}

TEST_CASE("no drift where there are too few numbers, a NaN, or no level to take shares of") {
  integers numbers;
  for (int i = 0; i < 17; ++i) numbers.push_back(100 + i % 3);
  CHECK_FALSE(sg::drift_of(numbers).share);
  CHECK(sg::drift_of(numbers).why_absent == sg::no_drift::too_few);
  numbers.push_back(101);
  CHECK(sg::drift_of(numbers).share);
  reals bad(20, 1.0);
  bad[3] = std::numeric_limits<double>::infinity();
  CHECK(sg::drift_of(bad).why_absent == sg::no_drift::not_finite);
  CHECK(sg::drift_of(integers(30, 0)).why_absent == sg::no_drift::no_level);
  CHECK_FALSE(sg::drift_of(integers(30, 0)).share);
  CHECK(sg::drift_of(integers(30, -5)).why_absent == sg::no_drift::no_level);
  integers rising;
  for (int i = 0; i < 60; ++i) rising.push_back(1000 + i);
  auto const found = sg::drift_of(rising);
  CHECK(*found.share == doctest::Approx(40.0 / 1029.5).epsilon(1e-12));
  CHECK_FALSE(found.interval);
  CHECK(found.why_absent == sg::no_drift::too_correlated);
}

TEST_CASE("MAD and quantiles of the synthetic series are those of the index") {
  std::size_t seen = 0;
  for (auto const& row : rows_in("synthetic/index.csv")) {
    auto const values = series_in(std::string{STREAMGAUGE_TEST_DATA} + "/synthetic/" + row[0]);
    std::size_t const start = row[2] == "never" || row[2] == "unknown" ? 0 : std::strtoul(row[2].c_str(), nullptr, 10);
    sg::number_span<std::int64_t> const part{values.data() + start, values.size() - start};
    INFO(row[0]);
    ++seen;
    struct {
      std::size_t column;
      std::optional<double> found;
    } const known[] = {{4, sg::median(part)}, {7, sg::quantile(part, 0.05)}, {8, sg::quantile(part, 0.95)}, {9, sg::mad(part)}};
    for (auto const& each : known) {
      INFO(each.column);
      REQUIRE(each.found.has_value() == !row[each.column].empty());
      if (each.found) CHECK(*each.found == doctest::Approx(std::strtod(row[each.column].c_str(), nullptr)).epsilon(1e-6));
    }
    if (row[5].empty()) continue;
    CHECK(sg::minimum(part) == std::strtoll(row[5].c_str(), nullptr, 10));
    CHECK(sg::maximum(part) == std::strtoll(row[6].c_str(), nullptr, 10));
  }
  CHECK(seen == 53);
}
