// Would go unseen without these: digits that say more or less than was measured, and a name that breaks the page.
#include <streamgauge/report/text.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace report = streamgauge::report;
using report::unit;
using streamgauge::fractional_nanoseconds;

namespace {

std::string shown(double time, unit in) { return report::in_unit(fractional_nanoseconds{time}, in); }
std::string alone(double time) { return report::with_unit(fractional_nanoseconds{time}); }

}  // namespace

TEST_CASE("counts are plain digits, never grouped") {
  CHECK(report::digits(0) == "0");
  CHECK(report::digits(1234567) == "1234567");
  CHECK(report::digits((std::numeric_limits<std::uint64_t>::max)()) == "18446744073709551615");
}

TEST_CASE("a time has four significant digits, three below one") {
  CHECK(shown(5120, unit::us) == "5.120");
  CHECK(shown(51234, unit::us) == "51.23");
  CHECK(shown(512345, unit::us) == "512.3");
  CHECK(shown(512, unit::us) == "0.512");
  CHECK(shown(95'312, unit::ms) == "0.0953");
  CHECK(shown(953, unit::ms) == "0.000953");
}

TEST_CASE("digits before the point are never rounded away") {
  CHECK(shown(5'123'456, unit::us) == "5123");
  CHECK(shown(51'234'567, unit::us) == "51235");
  CHECK(shown(3e18, unit::ns) == "3000000000000000000");
}

TEST_CASE("a time is never shown finer than it was measured") {
  CHECK(shown(95, unit::ns) == "95");
  CHECK(shown(95.5, unit::ns) == "95.5");
  CHECK(shown(0, unit::us) == "0");
  CHECK(shown(1, unit::us) == "0.001");
  CHECK(shown(95, unit::us) == "0.095");
}

TEST_CASE("rounding carries into the next digit") {
  CHECK(shown(9'999.6, unit::us) == "10.00");
  CHECK(shown(99'996, unit::us) == "100.0");
  CHECK(shown(999'960, unit::us) == "1000");
  CHECK(shown(999'999.5, unit::us) == "1000");
  CHECK(shown(999'960, unit::ms) == "1.000");
}

TEST_CASE("times near the end of 64 bits are shown without overflow") {
  CHECK(shown(9.3e18, unit::s) == "9200000000");
  CHECK(shown(9.2e18, unit::s) == "9200000000");
}

TEST_CASE("what no time can be is shown as it is, or as a dash: a file may hold it") {
  CHECK(shown(-5120, unit::us) == "-5.120");
  CHECK(shown(-1e300, unit::s) == "-9200000000");
  CHECK(alone(-2'500'000) == "-2.5 ms");
  CHECK(alone(std::numeric_limits<double>::quiet_NaN()) == "-");
  CHECK(alone(std::numeric_limits<double>::infinity()) == "-");
  CHECK(alone(-std::numeric_limits<double>::infinity()) == "-");
}

TEST_CASE("in running text a time chooses its unit and drops zeros at the end") {
  CHECK(alone(27) == "27 ns");
  CHECK(alone(1280) == "1.28 us");
  CHECK(alone(1000) == "1 us");
  CHECK(alone(530.5) == "530.5 ns");
  CHECK(alone(2'500'000) == "2.5 ms");
  CHECK(alone(61'000'000'000) == "61 s");
  CHECK(alone(0) == "0 ns");
}

TEST_CASE("the width of a text is its code points") {
  CHECK(report::width_of("") == 0);
  CHECK(report::width_of("abc") == 3);
  CHECK(report::width_of("größe") == 5);
  CHECK(report::width_of("層\xf0\x9f\x98\x80") == 2);
}

TEST_CASE("control characters, marks that turn the text and broken UTF-8 show as escapes") {
  CHECK(report::escaped("a\nb\tc\rd") == "a\\nb\\tc\\rd");
  CHECK(report::escaped("\x1b[2J") == "\\x1b[2J");
  CHECK(report::escaped(std::string(1, '\0')) == "\\x00");
  CHECK(report::escaped("\x7f") == "\\x7f");
  CHECK(report::escaped("\xc2\x9b") == "\\u009b");
  CHECK(report::escaped("\xe2\x80\xae") == "\\u202e");
  CHECK(report::escaped("\xff") == "\\xff");
  CHECK(report::escaped("\xe2\x80") == "\\xe2\\x80");
  CHECK(report::escaped("\xc0\xaf") == "\\xc0\\xaf");
  CHECK(report::escaped("\xe0\x80\x8a") == "\\xe0\\x80\\x8a");
  CHECK(report::escaped("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(report::escaped("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
  CHECK(report::escaped("größe 層 \xf0\x9f\x98\x80") == "größe 層 \xf0\x9f\x98\x80");
}

TEST_CASE("a backslash is doubled, so that two names never look the same") {
  CHECK(report::escaped("a\\n") == "a\\\\n");
  CHECK(report::escaped("a\n") == "a\\n");
}

TEST_CASE("an identity is the phase with its conditions") {
  CHECK(report::identity_of("gemm", {}) == "gemm");
  CHECK(report::identity_of("gemm", {{"dtype", "f32"}, {"shape", "256x1024"}}) == "gemm [dtype=f32 shape=256x1024]");
  CHECK(report::identity_of("", {}) == "\"\"");
}

TEST_CASE("parts of an identity that could be misread are quoted") {
  CHECK(report::identity_of("p", {{"k", "a b=c"}}) == "p [k=\"a b=c\"]");
  CHECK(report::identity_of("p", {{"k", ""}}) == "p [k=\"\"]");
  CHECK(report::identity_of("p", {{"k", "say \"x\""}}) == "p [k=\"say \\\"x\\\"\"]");
  CHECK(report::identity_of("p [k=v]", {}) == "\"p [k=v]\"");
  CHECK(report::identity_of("layer[0] of two", {}) == "layer[0] of two");
}

TEST_CASE("a note breaks at spaces within 100 columns and keeps what must not break") {
  auto const line = report::note("label", std::string(80, 'a') + " bcdef ghi");
  CHECK(line == "label        " + std::string(80, 'a') + " bcdef\n             ghi\n");
  CHECK(report::note("label", std::string(80, 'a') + " bcdefg") ==
        "label        " + std::string(80, 'a') + " bcdefg\n");
  CHECK(report::note("label", std::string(80, 'a') + " bcdefgh") ==
        "label        " + std::string(80, 'a') + "\n             bcdefgh\n");
  auto const kept = report::note("label", std::string(80, 'a') + ' ' + report::unbroken("bcdef ghi"));
  CHECK(kept == "label        " + std::string(80, 'a') + "\n             bcdef ghi\n");
  CHECK(report::note("", "  x") == "               x\n");
}
