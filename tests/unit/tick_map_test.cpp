// Would go unseen without these: a rate that was taken for granted, a bound that the truth exceeds, and a counter that runs
// over its 64 bits.
#include <streamgauge/analyze/tick_map.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

sg::host_stamp at(std::int64_t when) { return sg::host_stamp{nanoseconds{when}}; }

/// A reading in a window of 100 ns, its middle 50 ns behind the begin.
sg::tick_reading read(std::int64_t begin, std::int64_t ticks) { return {at(begin), ticks, at(begin + 100)}; }

/// Read at 0 and at 1 ms, at a rate of `ticks` in that millisecond.
sg::tick_map two_readings(std::int64_t first, std::int64_t ticks, double stray) {
  sg::tick_map map{sg::rate_stray{stray}};
  map.add(read(0, first));
  map.add(read(1'000'000,
               static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(ticks))));
  return map;
}

void check(sg::tick_map const& map, std::int64_t when, std::int64_t ticks, std::int64_t bound) {
  auto const found = map.place(at(when));
  REQUIRE(found.has_value());
  CHECK(found->ticks == ticks);
  CHECK(found->bound.count() == bound);
}

}  // namespace

TEST_CASE("nothing is placed before two readings lie so far apart that their windows do not blur the rate") {
  sg::tick_map map;
  CHECK_FALSE(map.place(at(0)));
  CHECK(std::string{map.why_not()} == "the other clock was not read yet");
  map.add(read(0, 1000));
  CHECK_FALSE(map.place(at(50)));
  CHECK_FALSE(map.ticks_per_second());
  CHECK(std::string{map.why_not()} ==
        "the other clock was read once only, so its rate is not known yet: read it again later");
  // 51 ns of doubt at each end are more than a thousandth of 101,999 ns, and no more than that of 102,000 ns.
  sg::tick_map soon = map;
  soon.add(read(101'999, 1000 + 101'999));
  CHECK_FALSE(soon.place(at(50)));
  CHECK(std::string{soon.why_not()} == "the other clock was read twice too soon to tell its rate: read it again later");
  map.add(read(102'000, 1000 + 102'000));
  CHECK(std::string{map.why_not()}.empty());
  check(map, 50, 1000, 52);
}

TEST_CASE("between two readings the bound is half their windows, and one nanosecond and one tick for what is cut off") {
  // 2.1 GHz: a tick is 0.476 ns. 50 + 1 + 0.476, rounded up.
  auto const map = two_readings(1000, 2'100'000, 0);
  check(map, 50, 1000, 52);
  check(map, 50 + 500'000, 1000 + 1'050'000, 52);
  check(map, 50 + 250'000, 1000 + 525'000, 52);
  check(map, 50 + 1'000'000, 1000 + 2'100'000, 52);
  CHECK(map.ticks_per_second().value() == doctest::Approx(2.1e9).epsilon(1e-12));
}

TEST_CASE("a window of an odd number of nanoseconds counts as one wider") {
  sg::tick_map map{sg::rate_stray{0}};
  map.add({at(0), 1000, at(101)});
  map.add({at(1'000'000), 1000 + 2'100'000, at(1'000'101)});
  check(map, 50, 1000, 53);  // 51 + 1 + 0.476
  check(map, 50 + 500'000, 1000 + 1'050'000, 53);
}

TEST_CASE("outside of the readings the bound grows with the distance") {
  auto const map = two_readings(1000, 2'100'000, 0);
  // At one distance of the readings beyond: twice the near window, once the far one: 3 * 51 + 0.476.
  check(map, 50 + 2'000'000, 1000 + 4'200'000, 154);
  check(map, 50 - 1'000'000, 1000 - 2'100'000, 154);
  // At ten: 11 * 51 + 10 * 51 + 0.476.
  check(map, 50 + 11'000'000, 1000 + 23'100'000, 1072);
  check(map, 50 - 10'000'000, 1000 - 21'000'000, 1072);
}

TEST_CASE("what the rate may stray is added over the distance to the nearest reading") {
  auto const map = two_readings(1000, 2'100'000, 20);
  CHECK(map.stray().per_million == doctest::Approx(20));
  check(map, 50, 1000, 52);
  check(map, 50 + 500'000, 1000 + 1'050'000, 62);     // 10 ns of 500 us
  check(map, 50 + 900'000, 1000 + 1'890'000, 54);     // 2 ns of 100 us
  check(map, 50 + 2'000'000, 1000 + 4'200'000, 174);  // 20 ns of 1 ms
}

TEST_CASE("a window of one side is weighed by the distance to the other") {
  sg::tick_map map{sg::rate_stray{0}};
  map.add({at(0), 0, at(0)});
  map.add({at(1'000'000), 1'000'000, at(1'000'800)});  // its middle at 1,000,400
  // A tick is 1.0004 ns. A quarter of the way: 0.75 * 1.0004 + 0.25 * 401.0004 + 1.0004 = 102.0008.
  check(map, 250'100, 250'000, 103);
  // Near its end: 0.25 * 1.0004 + 0.75 * 401.0004 + 1.0004 = 302.0008.
  check(map, 750'300, 750'000, 303);
}

TEST_CASE("the truth comes as near to the bound as windows let it") {
  // Both times the counter was read as the window began: the moment at which it came to 1000 was 0, not 50.
  auto const map = two_readings(1000, 2'100'000, 0);
  auto const found = map.place(at(500'000));
  REQUIRE(found.has_value());
  double const truth = static_cast<double>(found->ticks - 1000) / 2.1;
  CHECK(std::abs(truth - 500'000) > 49.5);
  CHECK(std::abs(truth - 500'000) <= static_cast<double>(found->bound.count()));
}

TEST_CASE("a slow counter places to one tick, and its bound says so") {
  // 1 tick in 1 us, windows of 100 ns: 50 + 1000, and one tick once more.
  sg::tick_map map{sg::rate_stray{0}};
  map.add(read(0, 7));
  map.add(read(2'000'000, 2007));
  CHECK(std::string{map.why_not()} == "the other clock was read twice too soon to tell its rate: read it again later");
  map.add(read(4'000'000, 4007));
  check(map, 50 + 1'000'000, 1007, 2050);
  check(map, 50 + 1'000'400, 1007, 2050);
  check(map, 50 + 1'000'600, 1008, 2050);
}

TEST_CASE("no rate is taken for granted") {
  for (std::int64_t const ticks : {1'000'000LL, 999'983LL, 2'100'000LL, 1'000LL * 1000 * 1000 * 1000, 31'250LL}) {
    CAPTURE(ticks);
    auto const map = two_readings(5, ticks, 0);
    REQUIRE(map.place(at(50 + 1'000'000)));
    CHECK(map.place(at(50 + 1'000'000))->ticks == 5 + ticks);
    CHECK(map.place(at(50 + 3'000'000))->ticks == 5 + 3 * ticks);
    CHECK(map.ticks_per_second().value() == doctest::Approx(static_cast<double>(ticks) * 1000).epsilon(1e-12));
  }
}

TEST_CASE("a counter near either end of its 64 bits, and one that runs over, is placed as any other") {
  for (std::int64_t const first : {most - 1'050'000, most - 500, most, least, least + 500, std::int64_t{-1'050'000}}) {
    CAPTURE(first);
    auto const map = two_readings(first, 2'100'000, 0);
    auto const later = [&](std::int64_t ticks) {
      return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + static_cast<std::uint64_t>(ticks));
    };
    check(map, 50 + 500'000, later(1'050'000), 52);
    check(map, 50 + 2'000'000, later(4'200'000), 154);
    check(map, 50 - 1'000'000, later(-2'100'000), 154);
  }
}

TEST_CASE("a day at 5 GHz is placed to the tick") {
  std::int64_t const day = 86'400'000'000'000;
  sg::tick_map map{sg::rate_stray{0}};
  map.add(read(0, 3));
  map.add(read(day, 3 + 5 * day));
  check(map, 50 + day / 2 + 1, 3 + 5 * (day / 2 + 1), 52);
  check(map, 50 + 10 * day, 3 + 50 * day, 970);  // 10 * 51 + 9 * 51 + 0.2
}

TEST_CASE("a moment that is centuries away is not placed") {
  auto const map = two_readings(0, 2'100'000, 20);
  CHECK_FALSE(map.place(at(least)));
  CHECK_FALSE(map.place(at(most)));
  CHECK(map.place(at(0)));
  // Readings of now: the distance itself does not fit.
  sg::tick_map late;
  late.add(read(most / 2, 0));
  late.add(read(most / 2 + 1'000'000, 2'100'000));
  CHECK_FALSE(late.place(at(least)));
  CHECK(late.place(at(most / 2)));
}

TEST_CASE("a clock that stands still or goes backwards is refused in words") {
  sg::tick_map still;
  for (int i = 0; i < 5; ++i) still.add(read(i * 1'000'000, 17));
  CHECK_FALSE(still.place(at(50)));
  CHECK(std::string{still.why_not()} == "the other clock stands still: read again later, it showed the same");
  still.add(read(5'000'000, 1'000'017));  // a slow one after all
  still.add(read(1'000'000'000, 200'000'000));
  CHECK(std::string{still.why_not()}.empty());

  auto back = two_readings(1000, 2'100'000, 0);
  back.add(read(2'000'000, 999));
  CHECK_FALSE(back.place(at(50)));
  CHECK_FALSE(back.ticks_per_second());
  CHECK(std::string{back.why_not()} == "the other clock went backwards, so it is none");
  back.add(read(3'000'000, 6'300'000));
  CHECK_FALSE(back.place(at(50)));
}

TEST_CASE("a reading that overlaps the one before, or whose window ends before it begins, is not taken") {
  auto map = two_readings(1000, 2'100'000, 0);
  map.add(read(1'000'100, 9'000'000));
  map.add({at(3'000'000), 9'000'000, at(2'999'999)});
  CHECK(map.readings() == 2);
  check(map, 50 + 500'000, 1000 + 1'050'000, 52);
  map.add(read(1'000'101, 2'101'212));
  CHECK(map.readings() == 3);
}

TEST_CASE("between several readings the two neighbours decide") {
  // The rate doubles at 1 ms.
  sg::tick_map map{sg::rate_stray{0}};
  map.add({at(0), 0, at(0)});
  map.add({at(1'000'000), 1'000'000, at(1'000'000)});
  map.add({at(2'000'000), 3'000'000, at(2'000'000)});
  CHECK(map.place(at(500'000))->ticks == 500'000);
  CHECK(map.place(at(1'000'000))->ticks == 1'000'000);
  CHECK(map.place(at(1'250'000))->ticks == 1'500'000);
  CHECK(map.place(at(1'750'000))->ticks == 2'500'000);
  CHECK(map.place(at(4'000'000))->ticks == 6'000'000);    // 3,000,000 in 2 ms, from the newest
  CHECK(map.place(at(-1'000'000))->ticks == -1'500'000);  // and from the first
}

TEST_CASE("a reading that comes late beyond the windows doubles the stray that it shows") {
  sg::tick_map map{sg::rate_stray{20}};
  map.add({at(0), 0, at(0)});
  map.add({at(1'000'000), 1'000'000, at(1'000'000)});
  map.add({at(2'000'020), 2'000'000, at(2'000'020)});
  CHECK(map.stray().per_million == doctest::Approx(20));  // 20 ns late: within what was said, and the windows
  sg::tick_map early = map;
  // Expected after 1 ms, give or take 1 + (1 + 1/2) * 1 + 1/2 * 1 = 3 ns: 997 ns are left.
  map.add({at(3'001'030), 3'000'000, at(3'001'030)});
  CHECK(map.stray().per_million == doctest::Approx(2 * 997.0 / 1.00101).epsilon(1e-5));
  early.add({at(2'999'030), 3'000'000, at(2'999'030)});
  CHECK(early.stray().per_million == doctest::Approx(2 * 997.0 / 0.99901).epsilon(1e-5));
  // And the bound is as wide as that: 1 us over half a millisecond.
  CHECK(map.place(at(2'500'525))->bound.count() > 990);
}

TEST_CASE("a million readings are kept as 64 at most, the first and the newest among them, evenly") {
  sg::tick_map map{sg::rate_stray{20}};
  std::int64_t const step = 1'000'000;
  std::int64_t const count = 1'000'000;
  for (std::int64_t i = 0; i < count; ++i) {
    map.add(read(i * step, 2'100'000 * i));
    if (map.readings() > sg::tick_map::room) FAIL("more than there is room for");
  }
  CHECK(map.readings() >= sg::tick_map::room / 2);
  check(map, 50, 0, 52);
  check(map, 50 + (count - 1) * step, (count - 1) * 2'100'000, 52);
  // Nowhere further from a reading than half of a thirty-second of all: 15.6 s at 20 millionths are 313 us.
  for (std::int64_t i = 0; i < count; i += 997) {
    auto const found = map.place(at(50 + i * step));
    REQUIRE(found.has_value());
    CHECK(found->ticks == 2'100'000 * i);
    CHECK(found->bound <= nanoseconds{640'000});
  }
}

TEST_CASE("moments in order are placed in order") {
  std::mt19937_64 random{11};
  sg::tick_map map;
  std::int64_t when = 0;
  std::int64_t ticks = 0;
  for (int i = 0; i < 200; ++i) {
    when += 100'000 + static_cast<std::int64_t>(random() % 3'000'000);
    ticks = when * 21 / 10 + static_cast<std::int64_t>(random() % 200);
    map.add(read(when, ticks));
  }
  std::optional<sg::placed_ticks> before;
  for (std::int64_t moment = -1'000'000; moment < when + 1'000'000; moment += 7'919) {
    auto const found = map.place(at(moment));
    REQUIRE(found.has_value());
    if (before) CHECK(found->ticks > before->ticks);
    before = found;
  }
}

namespace {

/// A counter whose rate strays, with the truth about it.
class true_counter {
 public:
  true_counter(std::mt19937_64& random, double per_nanosecond, double stray, std::int64_t first) : first_{first} {
    std::uniform_real_distribution<double> within{-stray, stray};
    long double count = 0;
    for (long double when = begin; when < end; when += segment) {
      counts_.push_back(count);
      count += segment * per_nanosecond * (1 + static_cast<long double>(within(random)));
    }
    counts_.push_back(count);
  }

  [[nodiscard]] std::int64_t at(long double when) const {
    auto const i = static_cast<std::size_t>((when - begin) / segment);
    long double const share = (when - begin) / segment - static_cast<long double>(i);
    return shown(static_cast<std::int64_t>(counts_[i] + share * (counts_[i + 1] - counts_[i])));
  }
  /// The moment at which it came to this number.
  [[nodiscard]] long double moment_of(std::int64_t ticks) const {
    auto const count = static_cast<long double>(
        static_cast<std::int64_t>(static_cast<std::uint64_t>(ticks) - static_cast<std::uint64_t>(first_)));
    std::size_t i = 0;
    while (i + 2 < counts_.size() && counts_[i + 1] <= count) ++i;
    return begin + segment * (static_cast<long double>(i) + (count - counts_[i]) / (counts_[i + 1] - counts_[i]));
  }

 private:
  static constexpr long double begin = -2e9L;
  static constexpr long double end = 4e9L;
  static constexpr long double segment = 13e6L;

  [[nodiscard]] std::int64_t shown(std::int64_t count) const {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(first_) + static_cast<std::uint64_t>(count));
  }

  std::int64_t first_;
  std::vector<long double> counts_;
};

}  // namespace

TEST_CASE(
    "the bound holds, whatever the rate, the windows, where in them the counter was read, and how the rate strays") {
  std::mt19937_64 random{2026};
  auto const between = [&](double low, double high) {
    return std::uniform_real_distribution<double>{low, high}(random);
  };
  std::size_t placed = 0;
  double nearest = 0;
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    double const said = std::pow(10.0, between(0, 3)) * 1e-6;
    true_counter const counter{random, std::pow(10.0, between(-4, 3)), said / 2 * 0.99,
                               static_cast<std::int64_t>(random())};
    sg::tick_map map{sg::rate_stray{said * 1e6}};
    auto const readings = 2 + random() % 150;
    double when = 0;
    for (std::uint64_t i = 0; i < readings && when < 1e9; ++i) {
      double const width = random() % 20 == 0 ? between(0, 50'000) : between(0, 400);
      double const where = when + between(0, 1) * width;
      map.add({at(static_cast<std::int64_t>(when)), counter.at(static_cast<long double>(where)),
               at(static_cast<std::int64_t>(when + width))});
      when += width + between(1, 30'000'000);
    }
    if (*map.why_not() != '\0') continue;
    for (int i = 0; i < 200; ++i) {
      auto const moment = static_cast<std::int64_t>(between(-1.5e9, 3.5e9));
      auto const found = map.place(at(moment));
      REQUIRE(found.has_value());
      auto const error = std::abs(static_cast<double>(counter.moment_of(found->ticks) - moment));
      CHECK(error <= static_cast<double>(found->bound.count()));
      nearest = std::max(nearest, error / static_cast<double>(found->bound.count()));
      ++placed;
    }
  }
  CHECK(placed > 50'000);
  CHECK(nearest > 0.5);  // it is no bound that anything would keep
}
