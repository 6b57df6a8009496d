// Would go unseen without these: names over each other, over a point, or over the edge of a picture.
#include <streamgauge/report/free_places.hpp>

#include <doctest/doctest.h>

#include <string>

namespace report = streamgauge::report;
using report::across_lines;
using report::text_anchor;

namespace {

// Letters of 10: "abcde" is at most 32 wide, from 8 above its line to 2.5 below.
constexpr double letter = 10;

report::free_places<> page(across_lines across = across_lines::never) { return {{0, 0, 100, 100}, across}; }

}  // namespace

TEST_CASE("the width of a text is bounded by its characters, not by its bytes") {
  CHECK(report::most_width_of("abcde", letter) == doctest::Approx(32.0));
  CHECK(report::most_width_of("\xe4\xbd\xa0\xe5\xa5\xbd", letter) == doctest::Approx(21.0));
  CHECK(report::most_width_of("\xff", letter) == doctest::Approx(10.5));
  CHECK(report::most_width_of("", letter) == 0.0);
}

TEST_CASE("a text stays inside, by where it is anchored") {
  auto places = page();
  CHECK_FALSE(places.put("abcde", letter, {{70, 50, text_anchor::start}}));
  CHECK_FALSE(places.put("abcde", letter, {{30, 50, text_anchor::end}}));
  CHECK_FALSE(places.put("abcde", letter, {{15, 50, text_anchor::middle}}));
  CHECK_FALSE(places.put("abcde", letter, {{50, 7, text_anchor::start}}));
  CHECK_FALSE(places.put("abcde", letter, {{50, 98, text_anchor::start}}));
  auto const found = places.put("abcde", letter, {{70, 50, text_anchor::start}, {68, 50, text_anchor::start}});
  REQUIRE(found);
  CHECK(found->x == 68.0);
}

TEST_CASE("a text takes its place, and what is taken is left free by the next") {
  auto places = page();
  places.take({40, 40, 60, 60});
  auto const beside = report::places_beside(50, 50, letter, 12);
  auto const first = places.put("abcde", letter, beside);
  REQUIRE(first);
  CHECK(first->x == 62.0);
  CHECK(first->y == 53.0);
  CHECK(first->at == text_anchor::start);
  auto const second = places.put("abcde", letter, beside);
  REQUIRE(second);
  CHECK(second->x == 38.0);
  CHECK(second->at == text_anchor::end);
}

TEST_CASE("a text stands across a line only where that is allowed and no place beside the line is free") {
  for (auto const across : {across_lines::never, across_lines::where_needed}) {
    auto places = page(across);
    places.take_line(0, 0, 100, 100);
    auto const beside = places.put("abcde", letter, {{40, 50, text_anchor::start}, {60, 20, text_anchor::start}});
    REQUIRE(beside);
    CHECK(beside->x == 60.0);
    auto const over = places.put("abcde", letter, {{40, 50, text_anchor::start}});
    CHECK(over.has_value() == (across == across_lines::where_needed));
  }
}
