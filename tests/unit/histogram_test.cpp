// Would go unseen without these: a bucket too wide for the promised error, a number that falls into another bucket at
// the edge of an octave, and parts that do not add up to the whole.
#include <streamgauge/analyze/histogram.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace sg = streamgauge;

namespace {

using integers = std::vector<std::int64_t>;
constexpr auto largest = (std::numeric_limits<std::int64_t>::max)();

sg::histogram of(integers const& numbers) {
  sg::histogram made;
  for (auto const number : numbers) REQUIRE(made.add(number));
  return made;
}

std::vector<std::vector<std::uint64_t>> buckets_of(sg::histogram const& seen) {
  std::vector<std::vector<std::uint64_t>> found;
  seen.visit([&](sg::histogram::bucket const& each) {
    found.push_back({static_cast<std::uint64_t>(each.first), static_cast<std::uint64_t>(each.width), each.count});
  });
  return found;
}

// Draws numbers of every magnitude.
integers spread(std::size_t count, std::uint64_t seed) {
  integers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    numbers.push_back(static_cast<std::int64_t>((seed >> 1) >> (seed % 61)));
  }
  return numbers;
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<sg::histogram> && std::is_nothrow_move_assignable_v<sg::histogram>);

TEST_CASE("each number below 2048 has a bucket of its own, above there are 1024 to the octave") {
  CHECK(buckets_of(of({0, 1, 1023, 1024, 2047})) ==
        std::vector<std::vector<std::uint64_t>>{{0, 1, 1}, {1, 1, 1}, {1023, 1, 1}, {1024, 1, 1}, {2047, 1, 1}});
  CHECK(buckets_of(of({2048, 2049, 2050})) == std::vector<std::vector<std::uint64_t>>{{2048, 2, 2}, {2050, 2, 1}});
  CHECK(buckets_of(of({4095, 4096, 4099, 4100})) ==
        std::vector<std::vector<std::uint64_t>>{{4094, 2, 1}, {4096, 4, 2}, {4100, 4, 1}});
  std::uint64_t const top = std::uint64_t{1} << 62;
  std::uint64_t const width = std::uint64_t{1} << 52;
  CHECK(buckets_of(of({std::int64_t{1} << 62, largest})) ==
        std::vector<std::vector<std::uint64_t>>{{top, width, 1}, {top + 1023 * width, width, 1}});
}

TEST_CASE("every bucket holds what lies in it, over the whole range") {
  for (int e = 0; e < 63; ++e) {
    for (std::int64_t const from : {std::int64_t{-3}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}}) {
      auto const number = (std::int64_t{1} << e) + from;
      if (number < 0) continue;
      sg::histogram one;
      REQUIRE(one.add(number));
      one.visit([&](sg::histogram::bucket const& each) {
        REQUIRE(each.first <= number);
        REQUIRE(number - each.first < each.width);
        REQUIRE((each.width == 1 || each.first / each.width >= 1024));
      });
    }
  }
}

TEST_CASE("small numbers are exact, as are the smallest and the largest of all") {
  integers const numbers{2047, 1, 5, 9};
  CHECK(of(numbers).quantile(0.5) == 7.0);
  CHECK(of(numbers).quantile(0.25) == 4.0);
  CHECK(of({1'000'001}).quantile(0.5) == 1'000'001.0);
  auto const wide = of({1'000'003, 1'000'001, 1'000'002});  // one bucket, whose middle is 1,000,191.5
  CHECK(wide.quantile(0.0) == 1'000'001.0);
  CHECK(wide.quantile(0.5) == 1'000'003.0);
  CHECK(wide.quantile(1.0) == 1'000'003.0);
  CHECK(wide.minimum() == 1'000'001);
  CHECK(wide.maximum() == 1'000'003);
  auto const ends = of({0, 1, 1023, 1024, std::int64_t{1} << 62, largest});
  CHECK(ends.quantile(0.0) == 0.0);
  CHECK(ends.quantile(0.2) == 1.0);
  CHECK(ends.quantile(0.5) == 1023.5);
  CHECK(ends.quantile(1.0) == 9223372036854775807.0);
}

TEST_CASE("what is not at an end is the middle of its bucket") {
  // Buckets of 512 from 2^19 = 524288 on: 524288 to 524799 with the middle 524543.5.
  CHECK(of({1, 524300, 1'000'000}).quantile(0.5) == 524543.5);
  // Never below the smallest of all, nor above the largest.
  CHECK(of({524799, 524799, 524799}).quantile(0.5) == 524799.0);
  CHECK(of({524288, 524288, 524288}).quantile(0.5) == 524288.0);
}

TEST_CASE("a quantile is within 1/2048 of that of the numbers, of every magnitude") {
  for (std::size_t const count : {1U, 2U, 3U, 10U, 1001U, 20000U}) {
    auto const numbers = spread(count, count);
    auto const seen = of(numbers);
    for (int i = 0; i <= 100; ++i) {
      auto const found = *seen.quantile(i / 100.0);
      auto const right = *sg::quantile(numbers, i / 100.0);
      REQUIRE(found <= right * (1 + 1.0 / 2048));
      REQUIRE(found >= right * (1 - 1.0 / 2048));
    }
  }
}

TEST_CASE("without numbers, and outside 0 to 1, there is no quantile") {
  CHECK_FALSE(sg::histogram{}.quantile(0.5));
  CHECK_FALSE(sg::histogram{}.minimum());
  CHECK_FALSE(sg::histogram{}.maximum());
  CHECK_FALSE(of({1}).quantile(-0.1));
  CHECK_FALSE(of({1}).quantile(1.1));
  CHECK_FALSE(of({1}).quantile(std::numeric_limits<double>::quiet_NaN()));
}

TEST_CASE("a number below zero is not counted") {
  sg::histogram seen;
  CHECK_FALSE(seen.add(-1));
  CHECK_FALSE(seen.add((std::numeric_limits<std::int64_t>::min)()));
  CHECK_FALSE(seen.make_room(-1));
  CHECK(seen.count() == 0);
}

TEST_CASE("parts merge to the whole in whatever order") {
  auto const numbers = spread(3000, 7);
  auto const whole = of(numbers);
  for (std::size_t const split : {0U, 1U, 1500U, 2999U, 3000U}) {
    auto const at = numbers.begin() + static_cast<std::ptrdiff_t>(split);
    auto first = of({numbers.begin(), at});
    auto second = of({at, numbers.end()});
    auto const second_alone = second;
    REQUIRE(second.merge(first));
    REQUIRE(first.merge(second_alone));
    for (auto const& both : {first, second}) {
      REQUIRE(both.count() == 3000);
      REQUIRE(buckets_of(both) == buckets_of(whole));
      REQUIRE(both.minimum() == whole.minimum());
      REQUIRE(both.maximum() == whole.maximum());
      REQUIRE(both.quantile(0.37) == whole.quantile(0.37));
    }
  }
}

TEST_CASE("one allocation of 8 KiB for each octave that was seen, and no other") {
  auto const before = memory::seen();
  sg::histogram seen;
  for (std::int64_t number = 0; number < 4096; ++number) REQUIRE(seen.add(number));
  auto const three = memory::seen();
  CHECK(three.allocations - before.allocations == 3);
  CHECK(three.bytes - before.bytes == 3 * 8192);
  for (int e = 0; e < 63; ++e) REQUIRE(seen.add(std::int64_t{1} << e));
  auto const all = memory::seen();
  CHECK(all.allocations - before.allocations == 54);
  CHECK(all.bytes - before.bytes == 54 * 8192);
  for (std::int64_t number = 1; number < largest / 3; number *= 3) REQUIRE(seen.add(number));
  CHECK(memory::seen().allocations == all.allocations);
}

TEST_CASE("without memory a number, or another histogram, is refused and nothing changes") {
  auto seen = of({1, 2000});
  auto const before = buckets_of(seen);
  auto const other = of({5, 5000, 50000});
  {
    memory::ends_after const none{0};
    CHECK_FALSE(seen.add(1'000'000));
    CHECK(seen.add(2000));
  }
  for (std::size_t some = 0; some < 2; ++some) {
    auto attempt = of({1, 2000});
    memory::ends_after const few{some};
    CHECK_FALSE(attempt.merge(other));
    CHECK(buckets_of(attempt) == before);
    CHECK(attempt.count() == 2);
  }
  CHECK(seen.count() == 3);
  CHECK(seen.quantile(1.0) == 2000.0);
  CHECK(seen.merge(other));
  CHECK(seen.count() == 6);
}

TEST_CASE("a copy is independent, a move takes everything along") {
  auto const original = of({1, 3000});
  auto copy = original;
  REQUIRE(copy.add(9000));
  CHECK(original.count() == 2);
  CHECK(buckets_of(copy).size() == 3);
  auto const moved = std::move(copy);
  CHECK(moved.count() == 3);
  CHECK(buckets_of(moved).size() == 3);
}

TEST_CASE("a number counted so many times is as if it had come so often") {
  sg::histogram once;
  REQUIRE(once.add(5, 3));
  REQUIRE(once.add(70'001, 1));
  REQUIRE(once.add(2, 0));  // never came
  auto const each = of({5, 5, 70'001, 5});
  CHECK(once.count() == 4);
  CHECK(once.minimum() == 5);
  CHECK(once.maximum() == 70'001);
  CHECK(buckets_of(once) == buckets_of(each));
  CHECK_FALSE(once.add(-1, 2));
  CHECK(once.count() == 4);
}
