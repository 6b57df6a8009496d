// Would go unseen without these: a clock that can jump, or a unit that loses half nanoseconds or whole ones.
#include <streamgauge/time.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>

namespace sg = streamgauge;

static_assert(std::is_same_v<sg::nanoseconds::rep, std::int64_t>, "whole nanoseconds in 64 bits");
static_assert(sg::host_clock::is_steady);
static_assert(std::is_convertible_v<sg::nanoseconds, sg::fractional_nanoseconds>, "widening is implicit");
static_assert(!std::is_convertible_v<sg::fractional_nanoseconds, sg::nanoseconds>, "cutting halves off is not");
static_assert(!std::is_convertible_v<std::int64_t, sg::nanoseconds>, "a bare number is no time");

TEST_CASE("a fractional time holds half a nanosecond") {
  sg::fractional_nanoseconds const half = sg::fractional_nanoseconds{sg::nanoseconds{5}} / 2;
  CHECK(half.count() == 2.5);
}

TEST_CASE("the host clock never runs backwards") {
  auto before = sg::host_now();
  for (int i = 0; i < 1000; ++i) {
    auto const now = sg::host_now();
    REQUIRE(now >= before);
    before = now;
  }
}

TEST_CASE("case-09 a million intervals of one microsecond add up exactly") {
  sg::nanoseconds total{0};
  for (int i = 0; i < 1'000'000; ++i) total += sg::nanoseconds{1000};
  CHECK(total == std::chrono::seconds{1});
}
