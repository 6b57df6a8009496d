// Would go unseen without these: time that is counted twice or not at all where stretches touch, nest or repeat, and a
// sum that passes for elapsed time.
#include <streamgauge/analyze/timeline.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::stretch from_to(std::int64_t begin, std::int64_t end) { return {nanoseconds{begin}, nanoseconds{end}}; }

struct answer {
  std::int64_t sum, busy_union, overlap;
};

void check(std::vector<sg::stretch> const& stretches, answer expected) {
  auto const found = sg::busy_times_of(stretches);
  CHECK(found.sum.count() == expected.sum);
  CHECK(found.busy_union.count() == expected.busy_union);
  CHECK(found.overlap.count() == expected.overlap);
}

}  // namespace

TEST_CASE("case-19 compute for 6 beside communicate for 9: sum 15, union 9, overlap 6") {
  check({from_to(0, 6), from_to(0, 9)}, {15, 9, 6});
}

TEST_CASE("case-19 two that run at the same time for 10: sum 20, union 10") {
  check({from_to(0, 10), from_to(0, 10)}, {20, 10, 10});
}

TEST_CASE("no stretch is no time, one stretch is its length") {
  check({}, {0, 0, 0});
  check({from_to(3, 8)}, {5, 5, 0});
}

TEST_CASE("a sum that no number of nanoseconds holds is the largest one, union and overlap are what they are") {
  constexpr std::int64_t years = std::int64_t{1} << 58;
  std::vector<sg::stretch> const many(33, from_to(-years / 2, years / 2));
  check(many, {9223372036854775807, years, years});
}

TEST_CASE("a gap is in no answer") { check({from_to(0, 2), from_to(5, 9)}, {6, 6, 0}); }

TEST_CASE("stretches that touch do not overlap") { check({from_to(0, 5), from_to(5, 9)}, {9, 9, 0}); }

TEST_CASE("stretches that overlap in part") { check({from_to(0, 6), from_to(4, 10)}, {12, 10, 2}); }

TEST_CASE("one within another, and two apart within it") {
  check({from_to(0, 10), from_to(2, 5)}, {13, 10, 3});
  check({from_to(0, 10), from_to(2, 4), from_to(7, 8)}, {13, 10, 3});
}

TEST_CASE("where three run at once the overlap counts once") {
  // 0 to 10, 2 to 8 and 4 to 6: two or more from 2 to 8.
  check({from_to(0, 10), from_to(2, 8), from_to(4, 6)}, {18, 10, 6});
  // A staircase: two or more from 2 to 12.
  check({from_to(0, 8), from_to(2, 10), from_to(4, 12), from_to(6, 14)}, {32, 14, 10});
  // The longest comes last, after two that had overlapped: from 2 to 4, and from 5 to 6.
  check({from_to(0, 4), from_to(2, 6), from_to(5, 20)}, {23, 20, 3});
}

TEST_CASE("an empty stretch adds nothing, wherever it lies") {
  check({from_to(4, 4)}, {0, 0, 0});
  check({from_to(0, 10), from_to(4, 4), from_to(12, 12), from_to(13, 14)}, {11, 11, 0});
  check({from_to(0, 0), from_to(0, 3), from_to(3, 3)}, {3, 3, 0});
}

TEST_CASE("a stretch that ends before it begins counts as empty") {
  check({from_to(0, 10), from_to(8, 2)}, {10, 10, 0});
  check({from_to(8, 2), from_to(8, 9)}, {1, 1, 0});
}

TEST_CASE("the order does not matter, and the input keeps it") {
  std::vector<sg::stretch> const stretches{from_to(5, 20), from_to(0, 4), from_to(2, 6)};
  check(stretches, {23, 20, 3});
  CHECK(stretches[0].begin == nanoseconds{5});
  CHECK(stretches[1].begin == nanoseconds{0});
}

TEST_CASE("begins below zero and far from it are plain numbers") {
  check({from_to(-9, -3), from_to(-5, 1)}, {12, 10, 2});
  constexpr std::int64_t century = 3'155'760'000'000'000'000;
  check({from_to(century - 6, century), from_to(century - 2, century + 1)}, {9, 7, 2});
}

TEST_CASE("an array serves like a vector") {
  sg::stretch const stretches[] = {from_to(0, 6), from_to(0, 9)};
  CHECK(sg::busy_times_of(stretches).overlap == nanoseconds{6});
}

TEST_CASE("every grid of small stretches agrees with counting each nanosecond") {
  // Three stretches within 0 to 5, all of them: what is counted tick by tick needs no cleverness.
  std::vector<sg::stretch> all;
  for (std::int64_t begin = 0; begin <= 4; ++begin)
    for (std::int64_t end = begin; end <= 5; ++end) all.push_back(from_to(begin, end));
  std::size_t wrong = 0;
  for (auto const& a : all)
    for (auto const& b : all)
      for (auto const& c : all) {
        answer by_tick{0, 0, 0};
        for (std::int64_t tick = 0; tick < 5; ++tick) {
          int running = 0;
          for (auto const* each : {&a, &b, &c}) running += each->begin.count() <= tick && tick < each->end.count();
          by_tick.sum += running;
          by_tick.busy_union += running >= 1;
          by_tick.overlap += running >= 2;
        }
        auto const found = sg::busy_times_of(std::vector<sg::stretch>{a, b, c});
        wrong += found.sum.count() != by_tick.sum || found.busy_union.count() != by_tick.busy_union ||
                 found.overlap.count() != by_tick.overlap;
      }
  CHECK(wrong == 0);
}

TEST_CASE("sorting keeps what is equal in its order, for every length") {
  for (std::size_t size = 0; size < 70; ++size) {
    std::vector<std::pair<std::size_t, std::size_t>> items;
    for (std::size_t i = 0; i < size; ++i) items.emplace_back(i * 37 % 11, i);
    sg::put_in_order(items, [](auto const& a, auto const& b) { return a.first < b.first; });
    REQUIRE(items.size() == size);
    std::size_t out_of_order = 0;
    for (std::size_t i = 1; i < size; ++i) out_of_order += !(items[i - 1] < items[i]);
    CHECK(out_of_order == 0);
  }
}
