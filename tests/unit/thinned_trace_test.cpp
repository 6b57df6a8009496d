// Would go unseen without these: a choice that favours some of what came in, above all at the seams between strides and
// of merged traces, one that follows a cycle of the program, and an order that is lost.
#include <streamgauge/analyze/thinned_trace.hpp>
#include <streamgauge/sample.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace sg = streamgauge;

namespace {

using small_trace = sg::thinned_trace<std::int64_t, 8>;
using trace = sg::thinned_trace<std::int64_t>;

template <class Trace>
void feed(Trace& into, std::int64_t from, std::int64_t to) {
  bool all_taken = true;
  for (auto number = from; number < to; ++number) all_taken = into.add(number) && all_taken;
  REQUIRE(all_taken);
}

template <class Trace>
bool in_order(Trace const& seen) {
  for (std::size_t i = 1; i < seen.size(); ++i)
    if (seen.data()[i] <= seen.data()[i - 1]) return false;
  return true;
}

// How often each of so many was kept over many seeds, against one in each stride, which is the same whatever the seed.
// Five deviations of a binomial count are allowed, as some thousands of counts are looked at.
template <class Make>
void check_even(std::int64_t count, Make make) {
  constexpr int seeds = 4000;
  std::vector<int> kept(static_cast<std::size_t>(count));
  std::uint64_t stride = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    small_trace const seen = make(static_cast<std::uint64_t>(seed) * 1000003);
    if (stride == 0) stride = seen.stride();
    REQUIRE(seen.stride() == stride);
    REQUIRE(seen.seen() == static_cast<std::uint64_t>(count));
    REQUIRE(in_order(seen));
    for (std::size_t i = 0; i < seen.size(); ++i) ++kept[static_cast<std::size_t>(seen.data()[i])];
  }
  double const chance = 1.0 / static_cast<double>(stride);
  double const variance = seeds * chance * (1 - chance);
  for (auto const each : kept) {
    double const off = each - seeds * chance;
    REQUIRE(off * off <= 25 * variance);
  }
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<trace> && std::is_nothrow_move_assignable_v<trace>);

TEST_CASE("up to its capacity a trace keeps everything in order") {
  small_trace seen;
  for (std::int64_t number = 0; number < 8; ++number) {
    CHECK(seen.size() == static_cast<std::size_t>(number));
    CHECK_FALSE(seen.full());
    REQUIRE(seen.add(number));
  }
  CHECK(seen.full());
  CHECK(seen.stride() == 1);
  CHECK(seen.seen() == 8);
  for (std::size_t i = 0; i < 8; ++i) CHECK(seen.data()[i] == static_cast<std::int64_t>(i));
}

TEST_CASE("the one that does not fit thins the trace: one of each pair stays") {
  small_trace seen;
  feed(seen, 0, 10);
  CHECK(seen.stride() == 2);
  CHECK(seen.seen() == 10);
  REQUIRE(seen.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) CHECK(seen.data()[i] / 2 == static_cast<std::int64_t>(i));
}

TEST_CASE("of each stride exactly one is there, however long it runs") {
  trace seen;
  std::int64_t fed = 0;
  for (std::int64_t const until : {65537, 131072, 131073, 300000, 1000000}) {
    feed(seen, fed, until);
    fed = until;
    auto const stride = static_cast<std::int64_t>(seen.stride());
    REQUIRE(seen.size() >= static_cast<std::size_t>(until / stride));
    REQUIRE(seen.size() <= static_cast<std::size_t>((until + stride - 1) / stride));
    std::size_t right = 0;
    while (right < seen.size() && seen.data()[right] / stride == static_cast<std::int64_t>(right)) ++right;
    REQUIRE(right == seen.size());
  }
  CHECK(seen.stride() == 16);
}

TEST_CASE("each has the same chance to be kept, wherever it came in") {
  for (std::int64_t const count : {9, 10, 16, 17, 31, 33, 60, 128, 131})
    check_even(count, [count](std::uint64_t seed) {
      small_trace seen{seed};
      feed(seen, 0, count);
      return seen;
    });
}

TEST_CASE("each has the same chance after thinning at any moment, and what comes then as well") {
  for (std::int64_t const before : {0, 1, 2, 7, 8, 9, 13, 16})
    check_even(before + 12, [before](std::uint64_t seed) {
      small_trace seen{seed};
      feed(seen, 0, before);
      seen.thin();
      seen.thin();
      feed(seen, before, before + 12);
      return seen;
    });
}

TEST_CASE("each of merged traces has the same chance") {
  for (std::int64_t const first : {1, 5, 8, 9, 30, 67})
    for (std::int64_t const second : {1, 5, 8, 9, 30, 67})
      check_even(first + second, [first, second](std::uint64_t seed) {
        small_trace a{seed};
        small_trace b{seed + 7};
        feed(a, 0, first);
        feed(b, first, first + second);
        REQUIRE(a.merge(b));
        REQUIRE(a.size() <= 8);
        return a;
      });
}

TEST_CASE("what comes after a merge has the same chance as what came before") {
  // Traces that ended with a block: how many are kept then does not depend on the seed, so neither does the stride.
  for (std::int64_t const first : {3, 16, 32})
    for (std::int64_t const second : {16, 32, 64})
      for (std::int64_t const more : {1, 5, 40})
        check_even(first + second + more, [first, second, more](std::uint64_t seed) {
          small_trace a{seed};
          small_trace b{seed + 7};
          feed(a, 0, first);
          feed(b, first, first + second);
          REQUIRE(a.merge(b));
          feed(a, first + second, first + second + more);
          return a;
        });
}

TEST_CASE("traces that fit are joined whole, this one first") {
  small_trace a;
  small_trace b;
  feed(a, 0, 3);
  feed(b, 10, 14);
  REQUIRE(a.merge(b));
  CHECK(a.stride() == 1);
  CHECK(a.seen() == 7);
  REQUIRE(a.size() == 7);
  std::int64_t const joined[] = {0, 1, 2, 10, 11, 12, 13};
  for (std::size_t i = 0; i < 7; ++i) CHECK(a.data()[i] == joined[i]);
  CHECK(b.size() == 4);
}

TEST_CASE("a trace of a large stride takes in a full one of stride 1, and the other way round") {
  trace sparse;
  trace dense;
  feed(sparse, 0, 1'000'000);  // 62,500 of 16
  feed(dense, 1'000'000, 1'040'000);
  CHECK(sparse.stride() == 16);
  auto both = sparse;
  REQUIRE(both.merge(dense));
  CHECK(both.stride() == 16);
  CHECK(both.size() == 62'500 + 2'500);
  CHECK(in_order(both));
  REQUIRE(dense.merge(sparse));
  CHECK(dense.stride() == 16);
  CHECK(dense.size() == 2'500 + 62'500);
  CHECK(dense.seen() == 1'040'000);
}

TEST_CASE("merging an empty trace changes nothing, merging into one takes all over") {
  trace seen;
  feed(seen, 0, 200'000);
  auto const size = seen.size();
  auto alone = seen;
  REQUIRE(seen.merge(trace{}));
  CHECK(seen.size() == size);
  feed(seen, 200'000, 300'000);
  feed(alone, 200'000, 300'000);
  REQUIRE(seen.size() == alone.size());
  CHECK(std::memcmp(seen.data(), alone.data(), seen.size() * sizeof(std::int64_t)) == 0);
  trace taken;
  REQUIRE(taken.merge(seen));
  CHECK(taken.stride() == seen.stride());
  REQUIRE(taken.size() == seen.size());
  CHECK(std::memcmp(taken.data(), seen.data(), seen.size() * sizeof(std::int64_t)) == 0);
}

TEST_CASE("a cycle of the program does not show as one of its phases") {
  // 0 and 1 in turn: keeping each second one would see only one of them.
  trace seen;
  for (int i = 0; i < 1'000'000; ++i) static_cast<void>(seen.add(i % 2));
  REQUIRE(seen.seen() == 1'000'000);
  std::size_t ones = 0;
  for (std::size_t i = 0; i < seen.size(); ++i) ones += static_cast<std::size_t>(seen.data()[i]);
  double const share = static_cast<double>(ones) / static_cast<double>(seen.size());
  CHECK(share > 0.49);
  CHECK(share < 0.51);
}

TEST_CASE("a step at a fifth of what came in stands at a fifth of the trace") {
  trace seen;
  for (int i = 0; i < 2'000'000; ++i) static_cast<void>(seen.add(i < 400'000 ? 100 : 200));
  REQUIRE(seen.seen() == 2'000'000);
  std::size_t at = 0;
  while (seen.data()[at] == 100) ++at;
  double const share = static_cast<double>(at) / static_cast<double>(seen.size());
  CHECK(share > 0.1999);
  CHECK(share < 0.2001);
}

TEST_CASE("whole samples can be kept") {
  sg::thinned_trace<sg::sample, 64> seen;
  for (int i = 0; i < 1000; ++i) {
    sg::sample one;
    one.entered = sg::nanoseconds{i};
    one.device = sg::nanoseconds{2 * i};
    REQUIRE(seen.add(one));
  }
  CHECK(seen.stride() == 16);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    auto const& each = seen.data()[i];
    REQUIRE(each.entered.count() / 16 == static_cast<std::int64_t>(i));
    REQUIRE(each.device == sg::observation{2 * each.entered});
  }
}

TEST_CASE("memory grows by doubling, in 13 allocations to the whole, and never after") {
  auto const before = memory::seen();
  trace seen;
  CHECK(memory::seen().allocations == before.allocations);
  feed(seen, 0, 1'000'000);
  auto const after = memory::seen();
  CHECK(after.allocations - before.allocations == 13);
  CHECK(after.bytes - before.bytes == 512 * 1024);
}

TEST_CASE("without memory one is refused, what was there stays, and with memory it goes on") {
  trace seen;
  {
    memory::ends_after const none{0};
    CHECK_FALSE(seen.add(0));
    CHECK_FALSE(seen.make_room());
  }
  {
    memory::ends_after const one{1};
    feed(seen, 0, 16);
    CHECK_FALSE(seen.add(16));
    CHECK(seen.seen() == 16);
    trace other;
    CHECK_FALSE(other.add(1));
  }
  trace other;
  feed(other, 16, 100);
  {
    memory::ends_after const none{0};
    CHECK_FALSE(seen.merge(other));
    CHECK(seen.size() == 16);
    CHECK(seen.seen() == 16);
  }
  REQUIRE(seen.merge(other));
  for (std::size_t i = 0; i < 100; ++i) REQUIRE(seen.data()[i] == static_cast<std::int64_t>(i));
}

TEST_CASE("a copy is independent") {
  trace original;
  feed(original, 0, 20);
  auto copy = original;
  feed(copy, 20, 100);
  CHECK(original.size() == 20);
  CHECK(copy.size() == 100);
  original = std::move(copy);
  CHECK(original.size() == 100);
  CHECK(original.data()[99] == 99);
}
