// Would go unseen without these: a long run that eats the memory of the program, a sum that wraps, numbers that vanish
// without being counted, and parts that do not add up to the whole.
#include <streamgauge/analyze/collector.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace sg = streamgauge;

namespace {

using integers = std::vector<std::int64_t>;
constexpr auto largest = (std::numeric_limits<std::int64_t>::max)();

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
constexpr bool slow = true;
#elif defined(__has_feature)
constexpr bool slow = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool slow = false;
#endif

sg::collector of(integers const& numbers) {
  sg::collector made;
  for (auto const number : numbers) made.add(number);
  REQUIRE(made.rejected() == 0);
  return made;
}

// Whether these are the first of the numbers, one by one.
bool starts(sg::number_span<std::int64_t> seen, integers const& numbers) {
  return seen.size() <= numbers.size() &&
         (seen.size() == 0 || std::memcmp(seen.data(), numbers.data(), seen.size() * sizeof(std::int64_t)) == 0);
}

/// Each number below a power of two once, in an order that looks drawn.
class permutation {
 public:
  explicit permutation(int bits) : mask_{(std::uint64_t{1} << bits) - 1} {}
  std::int64_t next() {  // a full period: an odd step, and a factor that is 1 modulo 4
    state_ = (state_ * 1664525 + 1013904223) & mask_;
    return static_cast<std::int64_t>(state_);
  }

 private:
  std::uint64_t mask_;
  std::uint64_t state_ = 12345;
};

integers drawn(std::size_t count, std::uint64_t seed) {
  integers numbers;
  for (std::size_t i = 0; i < count; ++i) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    numbers.push_back(static_cast<std::int64_t>(100000 + (seed >> 48)));
  }
  return numbers;
}

// What must not depend on the order in which numbers came, or on how they were split.
void check_same_totals(sg::collector const& a, sg::collector const& b) {
  REQUIRE(a.count() == b.count());
  REQUIRE(a.minimum() == b.minimum());
  REQUIRE(a.maximum() == b.maximum());
  REQUIRE(a.sum() == b.sum());
  REQUIRE(a.mean() == b.mean());
  for (int i = 0; i <= 20; ++i) REQUIRE(a.quantile(i / 20.0) == b.quantile(i / 20.0));
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<sg::collector> && std::is_nothrow_move_assignable_v<sg::collector>);

TEST_CASE("case-77 without numbers no statistic exists") {
  sg::collector const none;
  CHECK(none.count() == 0);
  CHECK(none.exact());
  CHECK_FALSE(none.minimum());
  CHECK_FALSE(none.maximum());
  CHECK_FALSE(none.mean());
  CHECK_FALSE(none.median());
  CHECK_FALSE(none.quantile(0.0));
  CHECK(none.sum() == sg::wide_sum{});
  CHECK(none.head().size() == 0);
  CHECK(none.trace().size() == 0);
  CHECK(none.rejected() == 0);
}

TEST_CASE("case-74 where every value was refused no statistic exists, and how many were refused is known") {
  sg::collector none;
  constexpr double endless = std::numeric_limits<double>::infinity();
  CHECK(none.add(std::numeric_limits<double>::quiet_NaN()) == sg::rejection::not_a_number);
  CHECK(none.add(endless) == sg::rejection::infinite);
  CHECK(none.add(-endless) == sg::rejection::infinite);
  CHECK(none.add(-1.0) == sg::rejection::negative);
  CHECK(none.rejected() == 4);
  CHECK(none.count() == 0);
  CHECK_FALSE(none.minimum());
  CHECK_FALSE(none.maximum());
  CHECK_FALSE(none.mean());
  CHECK_FALSE(none.median());
  CHECK_FALSE(none.quantile(0.5));
}

TEST_CASE("case-78 one number is everything but a spread") {
  auto const one = of({3});
  CHECK(one.count() == 1);
  CHECK(one.minimum() == 3);
  CHECK(one.maximum() == 3);
  CHECK(one.mean() == 3.0);
  CHECK(one.median() == 3.0);
}

TEST_CASE("case-79 the median is that of the numbers, and asking reorders nothing") {
  auto const four = of({4, 1, 3, 2});
  CHECK(four.median() == 2.5);
  CHECK(four.quantile(0.25) == 1.75);
  integers const as_they_came{4, 1, 3, 2};
  for (std::size_t i = 0; i < 4; ++i) CHECK(four.trace().data()[i] == as_they_came[i]);
}

TEST_CASE("p50 is the median of the numbers for every count") {
  auto const numbers = drawn(3000, 5);
  sg::collector seen;
  for (std::size_t count = 1; count <= numbers.size(); ++count) {
    REQUIRE(seen.add(numbers[count - 1]) == sg::rejection::none);
    auto const right = sg::median(sg::number_span<std::int64_t>{numbers.data(), count});
    REQUIRE(seen.median() == right);
    REQUIRE(seen.quantile(0.5) == right);
  }
}

TEST_CASE("everything is exact up to 65,536 numbers, and bounded from the next one on") {
  auto const numbers = drawn(65536, 6);
  auto seen = of(numbers);
  CHECK(seen.exact());
  CHECK(seen.stride() == 1);
  CHECK(seen.median() == sg::median(numbers));
  REQUIRE(seen.trace().size() == 65536);
  CHECK(starts(seen.trace(), numbers));
  REQUIRE(seen.add(7) == sg::rejection::none);
  CHECK_FALSE(seen.exact());
  CHECK(seen.stride() == 2);
  CHECK(seen.count() == 65537);
  CHECK(seen.minimum() == 7);
  CHECK(seen.quantile(0.0) == 7.0);
  // The smallest of the others is the second of all: the histogram has what came before it was made.
  CHECK(*seen.quantile(1.0 / 65536) == doctest::Approx(*sg::quantile(numbers, 0.0)).epsilon(1.0 / 2048));
  CHECK(*seen.median() == doctest::Approx(*sg::median(numbers)).epsilon(1.0 / 2048));
}

TEST_CASE("the first 1024 stay, each of them") {
  auto const numbers = drawn(200'000, 8);
  sg::collector seen;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    seen.add(numbers[i]);
    if (i == 9) CHECK(seen.head().size() == 10);
    if (i == 2000) CHECK(seen.head().size() == 1024);
  }
  REQUIRE(seen.head().size() == 1024);
  CHECK(starts(seen.head(), numbers));
}

TEST_CASE("a billion numbers: the totals exact, the quantiles within 0.1 %") {
  // Each of 0 to 2^bits - 1 once, so every quantile and the sum are known.
  constexpr int bits = slow ? 20 : 30;
  constexpr auto count = std::uint64_t{1} << bits;
  sg::collector seen;
  permutation numbers{bits};
  for (std::uint64_t i = 0; i < count; ++i) seen.add(numbers.next());
  CHECK(seen.count() == count);
  CHECK(seen.rejected() == 0);
  CHECK(seen.minimum() == 0);
  CHECK(seen.maximum() == static_cast<std::int64_t>(count - 1));
  CHECK(seen.sum() == sg::wide_sum{0, count / 2 * (count - 1)});
  CHECK(seen.mean() == static_cast<double>(count - 1) / 2);
  for (int i = 0; i <= 1000; ++i) {
    double const right = static_cast<double>(count - 1) * i / 1000.0;
    REQUIRE(*seen.quantile(i / 1000.0) >= right * 0.999);
    REQUIRE(*seen.quantile(i / 1000.0) <= right * 1.001);
  }
  CHECK(seen.stride() == count / 65536);
  CHECK(seen.trace().size() == 65536);
}

TEST_CASE("memory stays below 1 MiB, in at most 80 allocations, whatever comes") {
  auto const before = memory::seen();
  sg::collector seen;
  for (std::int64_t i = 0; i < 65536; ++i) seen.add(i);
  auto const exact = memory::seen();
  CHECK(exact.bytes - before.bytes == 512 * 1024);
  CHECK(exact.allocations - before.allocations == 13);
  for (int e = 0; e < 63; ++e) seen.add(std::int64_t{1} << e);
  for (std::int64_t i = 0; i < 1'000'000; ++i) seen.add(i * i);
  auto const after = memory::seen();
  CHECK(after.bytes - before.bytes == (512 + 8 + 54 * 8) * 1024);
  CHECK(after.peak - before.bytes + sizeof seen <= 1024 * 1024);
  CHECK(after.allocations - before.allocations == 13 + 1 + 54);
  CHECK(sizeof seen < 1024);
}

TEST_CASE("a sum beyond 64 bits is exact") {
  sg::collector seen;
  for (int i = 0; i < 4; ++i) seen.add(largest);
  CHECK(seen.sum() == sg::wide_sum{1, std::numeric_limits<std::uint64_t>::max() - 3});
  CHECK(seen.mean() == 9223372036854775807.0);
  seen.add(4);
  CHECK(seen.sum() == sg::wide_sum{2, 0});
  auto other = of({largest, largest, largest});
  REQUIRE(other.merge(seen) == sg::merge_outcome::done);
  CHECK(other.sum() == sg::wide_sum{3, (std::uint64_t{1} << 63) - 3});
}

TEST_CASE("the ends of the range are taken as they are, thinned or not") {
  integers const ends{0, 1, 1023, 1024, std::int64_t{1} << 62, largest};
  auto seen = of(ends);
  CHECK(seen.median() == 1023.5);
  for (int i = 0; i < 70000; ++i) seen.add(5000);
  CHECK_FALSE(seen.exact());
  CHECK(seen.quantile(0.0) == 0.0);
  CHECK(seen.quantile(1.0 / 70005) == 1.0);
  CHECK(seen.quantile(1.0) == 9223372036854775807.0);
  CHECK(*seen.median() == doctest::Approx(5000).epsilon(1.0 / 2048));
  CHECK(seen.sum() == sg::wide_sum{0, (std::uint64_t{3} << 62) - 1 + 2048 + 70000 * std::uint64_t{5000}});
}

TEST_CASE("what is no measurement is rejected and counted by its reason") {
  using limits = std::numeric_limits<double>;
  sg::collector seen;
  CHECK(seen.add(limits::quiet_NaN()) == sg::rejection::not_a_number);
  CHECK(seen.add(-limits::quiet_NaN()) == sg::rejection::not_a_number);
  CHECK(seen.add(limits::infinity()) == sg::rejection::infinite);
  CHECK(seen.add(-limits::infinity()) == sg::rejection::infinite);
  CHECK(seen.add(std::numeric_limits<float>::infinity()) == sg::rejection::infinite);
  CHECK(seen.add(-1) == sg::rejection::negative);
  CHECK(seen.add(-1e-300) == sg::rejection::negative);
  CHECK(seen.add((std::numeric_limits<std::int64_t>::min)()) == sg::rejection::negative);
  CHECK(seen.add(9223372036854775808.0) == sg::rejection::too_large);
  CHECK(seen.add(static_cast<std::uint64_t>(largest) + 1) == sg::rejection::too_large);
  CHECK(seen.count() == 0);
  CHECK_FALSE(seen.maximum());
  CHECK(seen.rejected(sg::rejection::not_a_number) == 2);
  CHECK(seen.rejected(sg::rejection::infinite) == 3);
  CHECK(seen.rejected(sg::rejection::negative) == 3);
  CHECK(seen.rejected(sg::rejection::too_large) == 2);
  CHECK(seen.rejected(sg::rejection::no_memory) == 0);
  CHECK(seen.rejected() == 10);
  CHECK(std::string{sg::describe(sg::rejection::not_a_number)} == "not a number");
}

TEST_CASE("reals are rounded to the nearest whole, and zero of either sign is a number") {
  auto const taken = [](auto number) {
    sg::collector seen;
    REQUIRE(seen.add(number) == sg::rejection::none);
    return *seen.minimum();
  };
  CHECK(taken(0.0) == 0);
  CHECK(taken(-0.0) == 0);
  CHECK(taken(0.49999999999999994) == 0);
  CHECK(taken(0.5) == 1);
  CHECK(taken(1.4999) == 1);
  CHECK(taken(2.5) == 3);
  CHECK(taken(1e15 + 0.25) == 1'000'000'000'000'000);
  CHECK(taken(9223372036854774784.0) == 9223372036854774784);
  CHECK(taken(2.5F) == 3);
  CHECK(taken(7U) == 7);
  CHECK(taken(short{9}) == 9);
  CHECK(taken(static_cast<std::uint64_t>(largest)) == largest);
}

TEST_CASE("any split of numbers merges to the whole") {
  auto const numbers = drawn(150'000, 11);
  auto const whole = of(numbers);
  for (std::size_t const parts : {2U, 3U, 7U, 100U}) {
    sg::collector merged;
    for (std::size_t part = 0; part < parts; ++part) {
      // Parts grow, so that some are exact and some are not.
      auto const from = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() * part * part / (parts * parts));
      auto const to =
          numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() * (part + 1) * (part + 1) / (parts * parts));
      REQUIRE(merged.merge(of({from, to})) == sg::merge_outcome::done);
    }
    check_same_totals(merged, whole);
    CHECK(merged.trace().size() <= 65536);
    REQUIRE(merged.head().size() == 1024);
    CHECK(starts(merged.head(), numbers));
  }
}

TEST_CASE("exact parts merge to an exact whole, in order") {
  auto const numbers = drawn(65536, 12);
  auto first = of({numbers.begin(), numbers.begin() + 40000});
  auto const second = of({numbers.begin() + 40000, numbers.end()});
  REQUIRE(first.merge(second) == sg::merge_outcome::done);
  CHECK(first.exact());
  REQUIRE(first.trace().size() == 65536);
  CHECK(starts(first.trace(), numbers));
  REQUIRE(first.merge(of({1})) == sg::merge_outcome::done);
  CHECK_FALSE(first.exact());
  CHECK(first.quantile(0.0) == 1.0);
}

TEST_CASE("neither the order of merging nor that of the numbers shows in the totals") {
  auto const numbers = drawn(100'000, 13);
  auto const a = of({numbers.begin(), numbers.begin() + 70000});
  auto const b = of({numbers.begin() + 70000, numbers.end()});
  auto ab = a;
  auto ba = b;
  REQUIRE(ab.merge(b) == sg::merge_outcome::done);
  REQUIRE(ba.merge(a) == sg::merge_outcome::done);
  check_same_totals(ab, ba);
  check_same_totals(ab, of({numbers.rbegin(), numbers.rend()}));
}

TEST_CASE("a small collector takes in one that was thinned, and adds on") {
  auto const numbers = drawn(300'000, 14);
  auto small = of({numbers.begin(), numbers.begin() + 5});
  REQUIRE(small.merge(of({numbers.begin() + 5, numbers.begin() + 250'000})) == sg::merge_outcome::done);
  for (std::size_t i = 250'000; i < numbers.size(); ++i) small.add(numbers[i]);
  check_same_totals(small, of(numbers));
  REQUIRE(small.head().size() == 1024);
  CHECK(starts(small.head(), numbers));
}

TEST_CASE("a thinned collector takes in a small one") {
  auto const numbers = drawn(100'000, 15);
  auto large = of({numbers.begin(), numbers.begin() + 99'000});
  REQUIRE(large.merge(of({numbers.begin() + 99'000, numbers.end()})) == sg::merge_outcome::done);
  check_same_totals(large, of(numbers));
}

TEST_CASE("merging adds the rejections") {
  sg::collector a;
  sg::collector b;
  a.add(-1);
  b.add(-1);
  b.add(std::numeric_limits<double>::quiet_NaN());
  REQUIRE(a.merge(b) == sg::merge_outcome::done);
  CHECK(a.rejected(sg::rejection::negative) == 2);
  CHECK(a.rejected(sg::rejection::not_a_number) == 1);
  CHECK(a.count() == 0);
}

TEST_CASE("case-84 numbers of different units are not merged") {
  sg::collector times;
  sg::collector sizes{sg::measure_unit::byte};
  times.add(1);
  sizes.add(2);
  CHECK(times.unit() == sg::measure_unit::nanosecond);
  CHECK(times.merge(sizes) == sg::merge_outcome::other_unit);
  CHECK(times.count() == 1);
  CHECK(times.maximum() == 1);
  CHECK(std::string{sg::describe(sg::merge_outcome::other_unit)} ==
        "numbers of different units have no statistics in common");
}

TEST_CASE("numbers that are scaled scale every answer") {
  auto const numbers = drawn(100'000, 16);
  for (std::size_t const count : {1001U, 100'000U}) {
    sg::collector plain;
    sg::collector scaled;
    for (std::size_t i = 0; i < count; ++i) {
      plain.add(numbers[i]);
      scaled.add(64 * numbers[i]);
    }
    CHECK(*scaled.mean() == doctest::Approx(64 * *plain.mean()).epsilon(1e-15));
    CHECK(scaled.minimum() == 64 * *plain.minimum());
    for (int i = 0; i <= 20; ++i)
      CHECK(*scaled.quantile(i / 20.0) == doctest::Approx(64 * *plain.quantile(i / 20.0)).epsilon(1e-5));
    std::size_t right = 0;
    while (right < plain.trace().size() && scaled.trace().data()[right] == 64 * plain.trace().data()[right]) ++right;
    CHECK(right == plain.trace().size());
  }
}

TEST_CASE("a step in the numbers stands where it was, in share of the trace") {
  sg::collector seen;
  for (int i = 0; i < 1'000'000; ++i) seen.add(i < 200'000 ? 100 : 103);
  std::size_t at = 0;
  while (seen.trace().data()[at] == 100) ++at;
  double const share = static_cast<double>(at) / static_cast<double>(seen.trace().size());
  CHECK(share > 0.1999);
  CHECK(share < 0.2001);
}

TEST_CASE("without memory a number is rejected and counted, what was taken stays, and with memory it goes on") {
  // However many allocations succeed, all that were offered are in the books, and those taken have right statistics.
  integers numbers;
  for (std::int64_t i = 0; i < 66000; ++i) numbers.push_back(i < 65000 ? i % 3000 : 1'000'000 + i);
  for (std::size_t some = 0; some < 22; ++some) {
    sg::collector seen;
    integers taken;
    taken.reserve(numbers.size());
    {
      memory::ends_after const few{some};
      for (auto const number : numbers)
        if (seen.add(number) == sg::rejection::none) taken.push_back(number);
    }
    REQUIRE(seen.count() == taken.size());
    REQUIRE(seen.count() + seen.rejected(sg::rejection::no_memory) == numbers.size());
    REQUIRE((some > 17 || seen.rejected() > 0));
    REQUIRE(seen.head().size() == (taken.size() < 1024 ? taken.size() : 1024));
    REQUIRE(starts(seen.head(), taken));
    for (int i = 0; i <= 10; ++i) {
      auto const found = seen.quantile(i / 10.0);
      auto const right = sg::quantile(taken, i / 10.0);
      REQUIRE(found.has_value() == right.has_value());
      if (found) REQUIRE(*found == doctest::Approx(*right).epsilon(1.0 / 2048));
    }
    auto const before = seen.count();
    for (auto const number : numbers) seen.add(number);
    REQUIRE(seen.count() == before + numbers.size());
  }
}

TEST_CASE("a merge without memory changes nothing, and can be tried again") {
  auto const numbers = drawn(140'000, 17);
  integers const small{numbers.begin(), numbers.begin() + 30};
  integers const exact{numbers.begin(), numbers.begin() + 60'000};
  integers const far{std::int64_t{1} << 40, 5'000'000};
  for (auto const& mine : {small, exact, numbers}) {
    for (auto const& theirs : {far, exact, numbers}) {
      auto const other = of(theirs);
      auto whole = mine;
      whole.insert(whole.end(), theirs.begin(), theirs.end());
      bool done = false;
      for (std::size_t some = 0; !done; ++some) {
        REQUIRE(some < 20);
        auto seen = of(mine);
        {
          memory::ends_after const few{some};
          done = seen.merge(other) == sg::merge_outcome::done;
        }
        if (!done) {
          check_same_totals(seen, of(mine));
          REQUIRE(seen.head().size() == (mine.size() < 1024 ? mine.size() : 1024));
          auto on = seen;  // it may also go on as if nothing had been tried
          for (auto const number : numbers) on.add(number);
          auto as_if = mine;
          as_if.insert(as_if.end(), numbers.begin(), numbers.end());
          check_same_totals(on, of(as_if));
          REQUIRE(on.head().size() == 1024);
          REQUIRE(starts(on.head(), as_if));
          REQUIRE(seen.merge(other) == sg::merge_outcome::done);
        }
        check_same_totals(seen, of(whole));
        REQUIRE(seen.head().size() == (whole.size() < 1024 ? whole.size() : 1024));
        REQUIRE(starts(seen.head(), whole));
      }
    }
  }
}

TEST_CASE("a copy is independent, a move takes everything along") {
  auto const original = of(drawn(70'000, 18));
  auto copy = original;
  check_same_totals(copy, original);
  copy.add(1);
  CHECK(original.count() == 70'000);
  CHECK(original.quantile(0.0) != 1.0);
  auto const moved = std::move(copy);
  CHECK(moved.count() == 70'001);
  CHECK(moved.quantile(0.0) == 1.0);
  CHECK(moved.head().size() == 1024);
}

TEST_CASE("adding a number takes a few nanoseconds") {
  // tests/overhead holds the limit; this one only sees a cost that grows with what was taken.
  auto const numbers = drawn(50'000, 19);
  sg::collector seen;
  auto const before = std::chrono::steady_clock::now();
  constexpr int rounds = slow ? 4 : 40;
  for (int round = 0; round < rounds; ++round)
    for (auto const number : numbers) seen.add(number);
  std::chrono::duration<double, std::nano> const taken = std::chrono::steady_clock::now() - before;
  double const each = taken.count() / static_cast<double>(seen.count());
  MESSAGE("ns for each of ", seen.count(), " numbers: ", each);
  CHECK(each < (slow ? 2000 : 200));
}
