// Would go unseen without these: ranks that are off by one, a tail that vanishes for long series, an interval that
// encloses the median less often than it says, and one that does not widen where samples follow each other.
#include <streamgauge/analyze/confidence.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "known_series.hpp"
#include "steady_draws.hpp"

namespace sg = streamgauge;

using integers = std::vector<std::int64_t>;
using reals = std::vector<double>;
using steady_draws::seed_of;
using steady_draws::source;

// As many draws as fit into the time that a test may take: all of them where the compiler optimises.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t independent_draws = 20000;
constexpr std::uint64_t correlated_draws = 2000;
#else
constexpr std::uint64_t independent_draws = 4000;
constexpr std::uint64_t correlated_draws = 1000;
#endif

static reals counted_to(std::size_t count) {
  reals numbers;
  for (std::size_t i = 1; i <= count; ++i) numbers.push_back(static_cast<double>(i));
  return numbers;
}

TEST_CASE("the ranks are the largest that leave out at most 2.5 % at each end") {
  CHECK_FALSE(sg::confidence_rank(0));
  CHECK_FALSE(sg::confidence_rank(1));
  CHECK_FALSE(sg::confidence_rank(5));  // 1/32 is 3.1 %
  CHECK(sg::confidence_rank(6) == 1);   // 1/64 is 1.6 %, with the next 7/64 10.9 %
  CHECK(sg::confidence_rank(8) == 1);   // 9/256 is 3.5 %
  CHECK(sg::confidence_rank(9) == 2);   // 10/512 is 2.0 %
  CHECK(sg::confidence_rank(10) == 2);  // 11/1024 is 1.1 %, with the next 56/1024 5.5 %
  CHECK(sg::confidence_rank(12) == 3);  // 79/4096 is 1.9 %
  CHECK(sg::confidence_rank(30) == 10);
  CHECK(sg::confidence_rank(100) == 40);
  // Worked out with whole numbers of a thousand and of a million bits.
  CHECK(sg::confidence_rank(1000) == 469);
  CHECK(sg::confidence_rank(1075) == 505);
  CHECK(sg::confidence_rank(20000) == 9861);
  CHECK(sg::confidence_rank(1000000) == 499020);
}

TEST_CASE("up to 60 numbers every rank is the one that counting subsets gives") {
  for (unsigned count = 1; count <= 60; ++count) {
    // Rows of Pascal's triangle; all sums stay below 2^60.
    std::array<std::uint64_t, 61> row{1};
    for (unsigned i = 1; i <= count; ++i)
      for (unsigned j = i; j > 0; --j) row[j] += row[j - 1];
    std::uint64_t below = 0;
    std::size_t rank = 0;
    std::uint64_t const all = std::uint64_t{1} << count;
    while (below + row[rank] <= all / 40) below += row[rank++];
    INFO(count);
    CHECK(sg::confidence_rank(count).value_or(0) == rank);
  }
}

TEST_CASE("case-78 fewer than six numbers have no interval and say why") {
  for (std::size_t count = 0; count < 6; ++count) {
    auto const found = sg::confidence_interval(counted_to(count));
    CHECK(found.count == count);
    CHECK_FALSE(found.plain);
    CHECK_FALSE(found.interval);
    CHECK_FALSE(found.correlation.tau);
    CHECK(found.why_absent == sg::no_confidence::too_few);
    CHECK(std::string{sg::describe(found.why_absent)} == "fewer than 6 numbers");
  }
  auto const six = sg::confidence_interval(reals{3, 1, 2, 6, 5, 4});
  REQUIRE(six.plain);
  CHECK(six.plain->low == 1.0);
  CHECK(six.plain->high == 6.0);
  CHECK(six.plain->low_rank == 1);
  CHECK(six.plain->high_rank == 6);
  CHECK(six.level == 0.95);
}

TEST_CASE("a NaN or an infinity leaves no interval and says so") {
  for (double const bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto numbers = counted_to(20);
    numbers[7] = bad;
    auto const found = sg::confidence_interval(numbers);
    CHECK_FALSE(found.plain);
    CHECK_FALSE(found.interval);
    CHECK(found.why_absent == sg::no_confidence::not_finite);
  }
}

TEST_CASE("integers keep their type: an end of the interval is one of the numbers, exactly") {
  std::int64_t const big = (std::int64_t{1} << 53) + 1;  // no double holds it
  integers const numbers{big, big, big, big, big, big, big};
  auto const found = sg::confidence_interval(numbers);
  static_assert(std::is_same_v<decltype(found.plain->low), std::int64_t>);
  REQUIRE(found.interval);
  CHECK(found.interval->low == big);
  CHECK(found.interval->high == big);
  double const plain[] = {1, 2, 3, 4, 5, 6};
  CHECK(sg::confidence_interval(plain).plain->high == 6.0);
  CHECK(sg::confidence_interval(sg::number_span<double>{plain, 5}).why_absent == sg::no_confidence::too_few);
}

TEST_CASE("the batch estimate of tau is worked out by hand") {
  // Nine numbers, median 5, three batches. At or below: 1 1 1 | 1 0 0 | 0 1 0, so means 1, 1/3, 1/3 about 5/9:
  // their variance is 4/27, times a batch of 3 over a quarter 16/9.
  auto const ordered = sg::confidence_interval(reals{1, 2, 3, 4, 9, 8, 7, 5, 6});
  CHECK(*ordered.correlation.tau == doctest::Approx(16.0 / 9.0).epsilon(1e-12));
  // Alternating: each batch of 10 holds as many below as above, so the means do not vary at all.
  reals alternating;
  for (int i = 0; i < 100; ++i) alternating.push_back(i % 2 == 0 ? 1.0 + i / 1000.0 : 2.0 + i / 1000.0);
  auto const found = sg::confidence_interval(alternating);
  CHECK(found.correlation.tau == 0.0);
  CHECK(*found.correlation.neighbours == doctest::Approx(-0.98).epsilon(1e-9));  // -0.99 + 0.01
  CHECK(found.correlation.factor == 1.0);
  CHECK_FALSE(found.widened);
}

TEST_CASE("the ranks move outwards by the square root of the factor") {
  // 400 numbers in blocks of ten on one side of the median: batches of 20 hold one block of each, so tau is 0, but
  // neighbours are alike: 9 of 10 pairs. The sum of products is (360 - 39) / 4 = 80.25 of 100, and 1/400 on top:
  // 0.805, which lets the variance grow by 1.805 / 0.195.
  reals blocks;
  for (int i = 0; i < 400; ++i) blocks.push_back((i / 10 % 2 == 0 ? 1000.0 : 2000.0) + i);
  auto const found = sg::confidence_interval(blocks);
  CHECK(found.correlation.tau == 0.0);
  CHECK(*found.correlation.neighbours == doctest::Approx(0.805).epsilon(1e-12));
  CHECK(found.correlation.factor == doctest::Approx(1.805 / 0.195).epsilon(1e-12));
  REQUIRE(found.plain);
  REQUIRE(found.interval);
  CHECK(found.widened);
  CHECK(found.plain->low_rank == 180);
  CHECK(found.interval->low_rank == 138);  // 200.5 - 20.5 * 3.0424 = 138.1
  CHECK(found.interval->high_rank == 263);
  CHECK(found.interval->low < found.plain->low);
  CHECK(found.interval->high > found.plain->high);
}

TEST_CASE("numbers that only rise have no interval: each is its neighbour's shadow") {
  auto const found = sg::confidence_interval(counted_to(30));
  REQUIRE(found.plain);
  CHECK(found.plain->low == 10.0);
  CHECK_FALSE(found.interval);
  CHECK(found.why_absent == sg::no_confidence::too_correlated);
}

TEST_CASE("equal numbers have an interval of no width") {
  auto const found = sg::confidence_interval(integers(50, 7));
  REQUIRE(found.interval);
  CHECK(found.interval->low == 7);
  CHECK(found.interval->high == 7);
  CHECK_FALSE(found.correlation.neighbours);
  CHECK(found.correlation.factor == 1.0);
}

TEST_CASE("a constant factor on all numbers is one on the interval, and changes nothing else") {
  reals numbers;
  source random{5};
  for (int i = 0; i < 200; ++i) numbers.push_back(1000.0 + 10.0 * random.normal());
  auto const before = sg::confidence_interval(numbers);
  for (auto& each : numbers) each *= 4.0;
  auto const after = sg::confidence_interval(numbers);
  CHECK(after.interval->low == 4.0 * before.interval->low);
  CHECK(after.interval->high == 4.0 * before.interval->high);
  CHECK(after.correlation.tau == before.correlation.tau);
  CHECK(after.correlation.factor == before.correlation.factor);
}

TEST_CASE("the difference of two estimates: distances to the ends add up as squares") {
  auto const ends = sg::difference_bounds({10, 6, 14}, {20, 17, 23});
  CHECK(ends.low == 5.0);    // 10 - sqrt(3^2 + 4^2)
  CHECK(ends.high == 15.0);  // 10 + sqrt(3^2 + 4^2)
  auto const lopsided = sg::difference_bounds({10, 10, 22}, {20, 15, 20});
  CHECK(lopsided.low == -3.0);   // 10 - sqrt(5^2 + 12^2)
  CHECK(lopsided.high == 10.0);  // 10 + 0
}

TEST_CASE("the intervals of the synthetic series are those of the index, to the last digit") {
  std::size_t seen = 0;
  for (auto const& row : rows_in("synthetic/index.csv")) {
    auto const values = series_in(std::string{STREAMGAUGE_TEST_DATA} + "/synthetic/" + row[0]);
    std::size_t const start = row[2] == "never" || row[2] == "unknown" ? 0 : std::strtoul(row[2].c_str(), nullptr, 10);
    auto const found =
        sg::confidence_interval(sg::number_span<std::int64_t>{values.data() + start, values.size() - start});
    INFO(row[0]);
    ++seen;
    REQUIRE(found.plain.has_value() == !row[10].empty());
    if (!found.plain) continue;
    CHECK(found.plain->low == std::strtoll(row[10].c_str(), nullptr, 10));
    CHECK(found.plain->high == std::strtoll(row[11].c_str(), nullptr, 10));
  }
  CHECK(seen == 53);
}

/// The exact probability that the plain interval of so many independent numbers encloses the median.
static double binomial_coverage(std::size_t count) {
  double const rank = static_cast<double>(*sg::confidence_rank(count));
  double const n = static_cast<double>(count);
  double outside = 0.0;
  for (double k = 0.0; k < rank; k += 1.0)
    outside += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) - n * std::log(2.0));
  return 1.0 - 2.0 * outside;
}

struct noise_shape {
  char const* name;
  double median;
  double (*draw)(source&);
};

TEST_CASE("coverage: of independent numbers of any shape, what the binomial says") {
  noise_shape const shapes[] = {
      {"normal", 0.0, [](source& random) { return random.normal(); }},
      {"lognormal", 1.0, [](source& random) { return std::exp(0.5 * random.normal()); }},
      {"exponential", 0.6931471805599453, [](source& random) { return random.exponential(); }},
      {"uniform", 0.5, [](source& random) { return random.uniform(); }},
      // Two bumps of equal weight at 0 and 10; the median is the middle between them.
      {"bimodal", 5.0, [](source& random) { return (random.uniform() < 0.5 ? 0.0 : 10.0) + random.normal(); }},
  };
  std::printf("\ncoverage of the 95 %% interval, independent numbers, %llu draws: plain (to go by)\n",
              static_cast<unsigned long long>(independent_draws));
  for (std::size_t const count : {10U, 30U, 100U}) {
    double const exact = binomial_coverage(count);
    std::printf("  n = %3zu, binomial %.2f %%:", count, 100.0 * exact);
    for (std::size_t which = 0; which < 5; ++which) {
      auto const& shape = shapes[which];
      source random{seed_of(501, which, count)};
      reals numbers(count);
      std::uint64_t plain = 0;
      std::uint64_t to_go_by = 0;
      std::uint64_t absent = 0;
      for (std::uint64_t draw = 0; draw < independent_draws; ++draw) {
        for (auto& each : numbers) each = shape.draw(random);
        auto const found = sg::confidence_interval(numbers);
        auto const encloses = [&](auto const& interval) {
          return interval->low <= shape.median && shape.median <= interval->high;
        };
        if (encloses(found.plain)) ++plain;
        if (!found.interval) ++absent;
        else if (encloses(found.interval)) ++to_go_by;
      }
      double const covered = static_cast<double>(plain) / static_cast<double>(independent_draws);
      double const going_by = static_cast<double>(to_go_by) / static_cast<double>(independent_draws - absent);
      std::printf("  %s %.1f (%.1f)", shape.name, 100.0 * covered, 100.0 * going_by);
      CHECK(covered >= 0.94);
      CHECK(std::fabs(covered - exact) <= 0.01);
      CHECK(going_by >= 0.94);
      CHECK(static_cast<double>(absent) <= 0.08 * static_cast<double>(independent_draws));
    }
    std::printf("\n");
  }
}

TEST_CASE("coverage: where numbers follow each other the plain interval fails and the wider one holds") {
  std::printf("\ncoverage where neighbours depend on each other (AR(1)), %llu draws: plain -> to go by\n",
              static_cast<unsigned long long>(correlated_draws));
  struct row {
    double memory;
    std::size_t count;
    double least;  // held
  };
  for (auto const& each : {row{0.4, 100, 0.93}, row{0.4, 1000, 0.94}, row{0.8, 100, 0.88}, row{0.8, 300, 0.90},
                           row{0.8, 1000, 0.92}, row{0.9, 1000, 0.87}}) {
    source random{seed_of(502, static_cast<std::uint64_t>(each.memory * 10.0), each.count)};
    double const fresh = std::sqrt(1.0 - each.memory * each.memory);
    reals numbers(each.count);
    std::uint64_t plain = 0;
    std::uint64_t to_go_by = 0;
    for (std::uint64_t draw = 0; draw < correlated_draws; ++draw) {
      double state = random.normal();
      for (auto& number : numbers) {
        number = state;
        state = each.memory * state + fresh * random.normal();
      }
      auto const found = sg::confidence_interval(numbers);
      auto const encloses = [](auto const& interval) { return interval && interval->low <= 0.0 && 0.0 <= interval->high; };
      if (encloses(found.plain)) ++plain;
      if (encloses(found.interval)) ++to_go_by;
    }
    double const share = static_cast<double>(to_go_by) / static_cast<double>(correlated_draws);
    double const plainly = static_cast<double>(plain) / static_cast<double>(correlated_draws);
    std::printf("  phi = %.1f, n = %4zu: %.1f %% -> %.1f %%\n", each.memory, each.count, 100.0 * plainly, 100.0 * share);
    CHECK(share >= each.least);
    CHECK(plainly < 0.90);
  }
}
