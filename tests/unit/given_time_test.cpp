// Would go unseen without these: a NaN that becomes some number of nanoseconds, hours that overflow, and a fraction
// that is cut where it should be rounded.
#include <streamgauge/analyze/given_time.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <ratio>

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

using fractional_milliseconds = std::chrono::duration<double, std::milli>;
using picoseconds = std::chrono::duration<std::int64_t, std::pico>;

}  // namespace

TEST_CASE("whole units become nanoseconds exactly") {
  CHECK(sg::given_nanoseconds(4ms).time == nanoseconds{4'000'000});
  CHECK(sg::given_nanoseconds(7ns).time == nanoseconds{7});
  CHECK(sg::given_nanoseconds(0s).time == nanoseconds{0});
  CHECK(sg::given_nanoseconds(std::chrono::duration<unsigned>{3}).time == nanoseconds{3'000'000'000});
  CHECK(sg::given_nanoseconds(nanoseconds{(std::numeric_limits<std::int64_t>::max)()}).time ==
        nanoseconds{(std::numeric_limits<std::int64_t>::max)()});
}

TEST_CASE("fractions are rounded to the nearest nanosecond, halves upwards") {
  CHECK(sg::given_nanoseconds(fractional_milliseconds{3.5}).time == nanoseconds{3'500'000});
  CHECK(sg::given_nanoseconds(fractional_milliseconds{0.0000014}).time == nanoseconds{1});
  CHECK(sg::given_nanoseconds(2.5).time == nanoseconds{3});
  CHECK(sg::given_nanoseconds(2.4999).time == nanoseconds{2});
  CHECK(sg::given_nanoseconds(-0.0).time == nanoseconds{0});
  CHECK(sg::given_nanoseconds(picoseconds{1499}).time == nanoseconds{1});
  CHECK(sg::given_nanoseconds(picoseconds{1500}).time == nanoseconds{2});
}

TEST_CASE("what is no length of time says which") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  auto const why = [](auto time) {
    auto const given = sg::given_nanoseconds(time);
    CHECK_FALSE(given.time);
    return given.why_not;
  };
  CHECK(why(fractional_milliseconds{not_a_number}) == sg::rejection::not_a_number);
  CHECK(why(fractional_milliseconds{infinity}) == sg::rejection::infinite);
  CHECK(why(fractional_milliseconds{-infinity}) == sg::rejection::infinite);
  CHECK(why(fractional_milliseconds{-0.1}) == sg::rejection::negative);
  CHECK(why(-1ns) == sg::rejection::negative);
  CHECK(why(std::chrono::hours{2'562'048}) == sg::rejection::too_large);  // 2^63 ns are 2,562,047.8 h
  CHECK(sg::given_nanoseconds(std::chrono::hours{2'562'047}).time.has_value());
  CHECK(why(std::chrono::duration<std::uint64_t, std::nano>{std::uint64_t{1} << 63}) == sg::rejection::too_large);
  CHECK(why(9223372036854775808.0) == sg::rejection::too_large);
  CHECK(why(fractional_milliseconds{1e308}) == sg::rejection::infinite);
}
