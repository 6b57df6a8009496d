// Would go unseen without these: a median that picks one of the middle two, an overflow between large integers, a
// spread that cancels to nothing, and any statistic that answers where none exists. The numbers are small enough to
// work out by hand.
#include <streamgauge/analyze/statistics.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace sg = streamgauge;

using integers = std::vector<std::int64_t>;
using reals = std::vector<double>;

constexpr auto largest = (std::numeric_limits<std::int64_t>::max)();
constexpr auto smallest = (std::numeric_limits<std::int64_t>::min)();

TEST_CASE("case-79 the median of an even count is the mean of the middle two") {
  CHECK(sg::median(integers{4, 1, 3, 2}) == 2.5);
  CHECK(sg::median(integers{1, 3}) == 2.0);
  CHECK(sg::median(integers{3, 1, 2}) == 2.0);
  CHECK(sg::median(integers{7}) == 7.0);
  CHECK(sg::median(integers{1, 5, 5, 9}) == 5.0);
  CHECK(sg::median(reals{4, 1, 3, 2}) == 2.5);
  CHECK(sg::median(reals{-4, -1, 3, -2}) == -1.5);
}

TEST_CASE("case-79 asking for a median reorders nothing and works on constant numbers") {
  integers const numbers{9, 1, 5, 5};
  CHECK(sg::median(numbers) == 5.0);
  CHECK(numbers == integers{9, 1, 5, 5});
}

TEST_CASE("the middle of very large integers neither overflows nor loses its half") {
  CHECK(sg::median(integers{largest, largest}) == 9223372036854775807.0);
  CHECK(sg::median(integers{smallest, largest}) == -0.5);
  CHECK(sg::median(integers{smallest, smallest}) == -9223372036854775808.0);
  std::int64_t const big = std::int64_t{1} << 51;
  CHECK(sg::median(integers{big, big + 1}) == 2251799813685248.5);
  // Where doubles are two apart the exact 2^53 + 1.5 is rounded once, to 2^53 + 2.
  std::int64_t const bigger = std::int64_t{1} << 53;
  CHECK(sg::median(integers{bigger + 1, bigger + 2}) == 9007199254740994.0);
}

TEST_CASE("quantiles are of type 7: linear around position (n - 1) p") {
  integers const numbers{40, 10, 30, 20};
  CHECK(sg::quantile(numbers, 0.0) == 10.0);
  CHECK(sg::quantile(numbers, 0.25) == 17.5);
  CHECK(sg::quantile(numbers, 0.5) == 25.0);
  CHECK(sg::quantile(numbers, 0.75) == 32.5);
  CHECK(sg::quantile(numbers, 1.0) == 40.0);
  CHECK(sg::quantile(integers{7}, 0.3) == 7.0);
  CHECK(sg::quantile(reals{0.5, -0.5}, 0.25) == -0.25);
}

TEST_CASE("a quantile outside 0 to 1 does not exist") {
  integers const numbers{1, 2, 3};
  CHECK_FALSE(sg::quantile(numbers, -0.001));
  CHECK_FALSE(sg::quantile(numbers, 1.001));
  CHECK_FALSE(sg::quantile(numbers, std::numeric_limits<double>::quiet_NaN()));
  CHECK_FALSE(sg::quantile(numbers, std::numeric_limits<double>::infinity()));
}

TEST_CASE("every rank of every small arrangement is the one that counting gives") {
  // All 4^6 arrangements of six values, ties included, spread so that several bytes take part.
  std::int64_t const values[] = {-70000, -1, 0, 66000};
  for (int code = 0; code < 4096; ++code) {
    std::array<std::int64_t, 6> numbers{};
    int counts[4] = {};
    for (int i = 0, rest = code; i < 6; ++i, rest /= 4) {
      numbers[static_cast<std::size_t>(i)] = values[rest % 4];
      ++counts[rest % 4];
    }
    int rank = 0;
    for (int v = 0; v < 4; ++v)
      for (int k = 0; k < counts[v]; ++k, ++rank)
        REQUIRE(sg::quantile(numbers, rank / 5.0) == doctest::Approx(static_cast<double>(values[v])).epsilon(1e-12));
  }
}

TEST_CASE("doubles of both signs are ordered as numbers") {
  reals const numbers{3.5, -2.25, 0.0, 1e300, -1e-300, -1e300, 1e-300};
  double const sorted[] = {-1e300, -2.25, -1e-300, 0.0, 1e-300, 3.5, 1e300};
  for (int rank = 0; rank < 7; ++rank) CHECK(sg::quantile(numbers, rank / 6.0) == doctest::Approx(sorted[rank]));
  CHECK(sg::minimum(numbers) == -1e300);
  CHECK(sg::maximum(numbers) == 1e300);
}

TEST_CASE("minimum and maximum keep the type, so that no integer is rounded") {
  CHECK(sg::minimum(integers{3, largest - 1, largest}) == 3);
  CHECK(sg::maximum(integers{3, largest - 1, largest}) == largest);
  CHECK(sg::maximum(integers{largest - 1, 3}) == largest - 1);
}

TEST_CASE("case-82 the spread of a sample divides by n - 1") {
  CHECK(*sg::sample_stddev(integers{1, 2, 3, 4}) == doctest::Approx(1.2909944487).epsilon(1e-10));
  CHECK(*sg::sample_variance(integers{1, 2, 3, 4}) == doctest::Approx(5.0 / 3.0).epsilon(1e-15));
}

TEST_CASE("case-81 the spread of large, similar numbers does not cancel") {
  std::int64_t const trillion = 1'000'000'000'000;
  CHECK(sg::sample_stddev(integers{trillion - 1, trillion, trillion + 1}) == 1.0);
  CHECK(sg::sample_stddev(reals{1e12 - 1, 1e12, 1e12 + 1}) == 1.0);
  CHECK(*sg::sample_stddev(reals{1e9 + 1, 1e9 + 2, 1e9 + 3, 1e9 + 4}) == doctest::Approx(1.29099444874).epsilon(1e-11));
  auto const flat = sg::sample_stddev(reals(100, 0.2345));
  REQUIRE(flat);
  CHECK(*flat >= 0.0);
  CHECK(*flat < 1e-12);
}

TEST_CASE("the mean of the largest integers does not overflow") {
  CHECK(sg::mean(integers{largest, largest, largest}) == 9223372036854775807.0);
  CHECK(sg::mean(integers{1, 2, 4, 5}) == 3.0);
}

TEST_CASE("case-77 without numbers no statistic exists") {
  CHECK_FALSE(sg::median(integers{}));
  CHECK_FALSE(sg::quantile(integers{}, 0.5));
  CHECK_FALSE(sg::minimum(integers{}));
  CHECK_FALSE(sg::maximum(integers{}));
  CHECK_FALSE(sg::mean(integers{}));
  CHECK_FALSE(sg::sample_variance(integers{}));
  CHECK_FALSE(sg::sample_stddev(integers{}));
  CHECK_FALSE(sg::median(reals{}));
}

TEST_CASE("case-78 one number has every statistic but a spread") {
  integers const one{3};
  CHECK(sg::minimum(one) == 3);
  CHECK(sg::maximum(one) == 3);
  CHECK(sg::median(one) == 3.0);
  CHECK(sg::mean(one) == 3.0);
  CHECK_FALSE(sg::sample_variance(one));
  CHECK_FALSE(sg::sample_stddev(one));
}

TEST_CASE("a NaN or an infinity anywhere makes every statistic absent") {
  for (double const bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                           -std::numeric_limits<double>::infinity()}) {
    reals const numbers{1.0, 2.0, bad};
    CHECK_FALSE(sg::median(numbers));
    CHECK_FALSE(sg::quantile(numbers, 0.0));
    CHECK_FALSE(sg::minimum(numbers));
    CHECK_FALSE(sg::maximum(numbers));
    CHECK_FALSE(sg::mean(numbers));
    CHECK_FALSE(sg::sample_variance(numbers));
    CHECK_FALSE(sg::sample_stddev(numbers));
  }
}

TEST_CASE("a variance that no double can hold is absent, its root is there") {
  reals const numbers{-1e300, 1e300};
  CHECK_FALSE(sg::sample_variance(numbers));
  CHECK(*sg::sample_stddev(numbers) == doctest::Approx(1.41421356237e300).epsilon(1e-10));
  CHECK(sg::mean(numbers) == 0.0);
  CHECK(sg::median(reals{1.7e308, 1.7e308}) == 1.7e308);
}

TEST_CASE("a deviation that no double holds is absent, not infinite") {
  double const most = (std::numeric_limits<double>::max)();
  CHECK_FALSE(sg::sample_stddev(std::vector<double>{-most, most}).has_value());
  CHECK_FALSE(sg::sample_variance(std::vector<double>{-most, most}).has_value());
}

TEST_CASE("arrays, pointers with a size and vectors are all numbers") {
  double const plain[] = {3.0, 1.0, 2.0};
  std::array<std::int64_t, 3> const array{3, 1, 2};
  CHECK(sg::median(plain) == 2.0);
  CHECK(sg::median(array) == 2.0);
  CHECK(sg::median(sg::number_span<double>{plain, 2}) == 2.0);
  CHECK(sg::maximum(plain) == 3.0);
}
