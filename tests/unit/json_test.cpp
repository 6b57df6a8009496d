// Without these: a report that a reader refuses, or that says 0 where nothing is known.

#include <streamgauge/report/json.hpp>

#include <doctest/doctest.h>

#include <limits>

namespace sg = streamgauge;
using sg::report::json;
using sg::report::json_string;

TEST_CASE("a document is written as people read it") {
  json out;
  out.begin_object();
  out.member("mode", "spin").member("samples", 30).member("exact", true);
  out.key("times").begin_array().value(1.5).value(-2).end();
  out.key("nothing").begin_array().end();
  out.key("inside").begin_object().member("median", std::optional<double>{}).end();
  out.end();
  CHECK(out.text() ==
        "{\n"
        "  \"mode\": \"spin\",\n"
        "  \"samples\": 30,\n"
        "  \"exact\": true,\n"
        "  \"times\": [\n"
        "    1.5,\n"
        "    -2\n"
        "  ],\n"
        "  \"nothing\": [],\n"
        "  \"inside\": {\n"
        "    \"median\": null\n"
        "  }\n"
        "}\n");
}

TEST_CASE("numbers read back as they were, and what is none is null") {
  auto const written = [](auto number) { return json{}.value(number).text(); };
  CHECK(written(0.1) == "0.1");
  CHECK(written(1e300) == "1e+300");
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
  CHECK(written(sg::nanoseconds{1500}) == "1500");
  CHECK(written(sg::fractional_nanoseconds{0.5}) == "0.5");
  CHECK(written(std::optional<int>{7}) == "7");
  CHECK(written(false) == "false");
}

TEST_CASE("any name is a string that every reader takes") {
  CHECK(json_string("") == "\"\"");
  CHECK(json_string("a\"b\\c") == "\"a\\\"b\\\\c\"");
  CHECK(json_string("a\nb\tc") == "\"a\\nb\\tc\"");
  CHECK(json_string(std::string_view{"a\0b\x1f\x7f", 5}) == "\"a\\u0000b\\u001f\\u007f\"");
  CHECK(json_string("gr\xc3\xbc\xc3\x9f"
                    "e \xe6\x97\xa5 \xf0\x9f\x98\x80") ==
        "\"gr\xc3\xbc\xc3\x9f"
        "e \xe6\x97\xa5 \xf0\x9f\x98\x80\"");
  // A byte alone, a character cut short, one written too long, a surrogate, one beyond the last.
  CHECK(json_string("\xff") == "\"\\ufffd\"");
  CHECK(json_string("\xe6\x97") == "\"\\ufffd\\ufffd\"");
  CHECK(json_string("\xc0\xaf") == "\"\\ufffd\\ufffd\"");
  CHECK(json_string("\xed\xa0\x80") == "\"\\ufffd\\ufffd\\ufffd\"");
  CHECK(json_string("\xf4\x90\x80\x80") == "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
}
