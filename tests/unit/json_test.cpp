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
  auto const written = [](auto number) {
    std::string const text = json{}.value(number).text();
    CHECK(text.back() == '\n');
    return text.substr(0, text.size() - 1);
  };
  CHECK(written(0.1) == "0.1");
  CHECK(written(1e300) == "1e+300");
  CHECK(written(std::numeric_limits<std::uint64_t>::max()) == "18446744073709551615");
  CHECK(written(std::numeric_limits<std::int64_t>::min()) == "-9223372036854775808");
  CHECK(written(std::numeric_limits<double>::quiet_NaN()) == "null");
  CHECK(written(-std::numeric_limits<double>::infinity()) == "null");
  CHECK(written(sg::nanoseconds{1500}) == "1500");
  CHECK(written(sg::fractional_nanoseconds{0.5}) == "0.5");
  CHECK(written(std::chrono::microseconds{2}) == "2000");
  CHECK(written(std::chrono::duration<double, std::milli>{0.5}) == "5e+05");
  CHECK(written('c') == "\"c\"");
  CHECK(written(static_cast<char const*>(nullptr)) == "null");
  CHECK(written(std::optional<int>{7}) == "7");
  CHECK(written(false) == "false");
  CHECK(written(static_cast<char const*>(nullptr)) == "null");  // an environment variable that is not set
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

TEST_CASE("whatever the calls were, the text is one valid document") {
  // Without blanks and lines, to be read here.
  auto const packed = [](json const& out) {
    std::string text;
    for (char const each : out.text())
      if (each != ' ' && each != '\n') text += each;
    return text;
  };
  CHECK(packed(json{}) == "null");
  json open;
  open.begin_object().key("a").begin_array().value(1);
  CHECK(packed(open) == "{\"a\":[1]}");
  open.value(2);  // asking for the text in between changes nothing
  CHECK(packed(open) == "{\"a\":[1,2]}");
  CHECK(packed(json{}.end().end().begin_object().end().end()) == "{}");
  CHECK(packed(json{}.begin_array().member("e", 1).value(2).end()) == "[1,2]");
  CHECK(packed(json{}.begin_object().value(1).member("b", 2).value("c").end()) == "{\"\":1,\"b\":2,\"\":\"c\"}");
  CHECK(packed(json{}.begin_object().key("a").key("b").value(1).key("c").end()) == "{\"a\":null,\"b\":1,\"c\":null}");
  CHECK(packed(json{}.key("a").value(1).value(2)) == "1");
  CHECK(packed(json{}.value(1).begin_object().member("a", 2).end().value(3)) == "1");
}
