// Would go unseen without these: a gap of no length between stretches that touch, time that a longer stretch had
// covered counted as idle, and nothing measured passing for nothing idle.
#include <streamgauge/analyze/idle_gaps.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::stretch from_to(std::int64_t begin, std::int64_t end) { return {nanoseconds{begin}, nanoseconds{end}}; }

std::string text_of(sg::stretch const& one) {
  return std::to_string(one.begin.count()) + "-" + std::to_string(one.end.count());
}

/// "2-5 9-10, 4 in all, longest 2-5", or why not.
std::string text_of(sg::idle_times const& found) {
  if (!found.total) return sg::describe(found.why_absent);
  std::string text;
  for (auto const& gap : found.gaps) text += text_of(gap) + ' ';
  if (!text.empty()) text.back() = ',';
  text += (text.empty() ? "" : " ") + std::to_string(found.total->count()) + " in all";
  return found.longest ? text + ", longest " + text_of(*found.longest) : text;
}

using stretches = std::vector<sg::stretch>;

}  // namespace

TEST_CASE("a gap lies between the end of all before it and the next begin") {
  CHECK(text_of(sg::idle_times_of(stretches{from_to(0, 2), from_to(5, 9), from_to(10, 12)})) ==
        "2-5 9-10, 4 in all, longest 2-5");
}

TEST_CASE("stretches that touch, overlap or lie within another leave no gap") {
  CHECK(text_of(sg::idle_times_of(stretches{from_to(0, 5), from_to(5, 9)})) == "0 in all");
  CHECK(text_of(sg::idle_times_of(stretches{from_to(0, 6), from_to(4, 9)})) == "0 in all");
  // The longest ends last although two began after it: idle only from 10 on.
  CHECK(text_of(sg::idle_times_of(stretches{from_to(0, 10), from_to(1, 2), from_to(4, 5), from_to(13, 14)})) ==
        "10-13, 3 in all, longest 10-13");
}

TEST_CASE("of gaps of equal length the first is the longest") {
  CHECK(text_of(sg::idle_times_of(stretches{from_to(0, 1), from_to(3, 4), from_to(6, 7)})) ==
        "1-3 4-6, 4 in all, longest 1-3");
}

TEST_CASE("the order does not matter, the input keeps it, and an array serves") {
  sg::stretch const some[] = {from_to(10, 12), from_to(0, 2), from_to(5, 9)};
  CHECK(text_of(sg::idle_times_of(some)) == "2-5 9-10, 4 in all, longest 2-5");
  CHECK(some[0].begin == nanoseconds{10});
}

TEST_CASE("without a window nothing before the first and behind the last is idle, with one it is") {
  stretches const one{from_to(3, 8)};
  CHECK(text_of(sg::idle_times_of(one)) == "0 in all");
  CHECK(text_of(sg::idle_times_of(one, from_to(0, 10))) == "0-3 8-10, 5 in all, longest 0-3");
  CHECK(sg::idle_times_of(one).within->begin == nanoseconds{3});
  CHECK(sg::idle_times_of(one).within->end == nanoseconds{8});
}

TEST_CASE("of what reaches over the ends of a window only the part within counts") {
  stretches const some{from_to(-5, 2), from_to(4, 20), from_to(30, 40)};
  CHECK(text_of(sg::idle_times_of(some, from_to(0, 10))) == "2-4, 2 in all, longest 2-4");
  CHECK(text_of(sg::idle_times_of(some, from_to(5, 10))) == "0 in all");
  CHECK(text_of(sg::idle_times_of(some, from_to(20, 30))) == "20-30, 10 in all, longest 20-30");
}

TEST_CASE("where nothing ran there are no gaps to speak of, unless a window says where to look") {
  CHECK(text_of(sg::idle_times_of(stretches{})) ==
        "nothing ran, so there is nothing between (give a window to look in)");
  CHECK(sg::idle_times_of(stretches{}).why_absent == sg::no_idle_times::nothing_ran);
  CHECK_FALSE(sg::idle_times_of(stretches{}).within);
  CHECK(text_of(sg::idle_times_of(stretches{}, from_to(2, 6))) == "2-6, 4 in all, longest 2-6");
}

TEST_CASE("an empty stretch, or one that ends before it begins, is no time that ran") {
  CHECK(sg::idle_times_of(stretches{from_to(4, 4), from_to(9, 7)}).why_absent == sg::no_idle_times::nothing_ran);
  // Neither does it split a gap, nor does it move the first begin or the last end.
  stretches const some{from_to(-3, -3), from_to(0, 2), from_to(3, 3), from_to(6, 7), from_to(9, 9)};
  CHECK(text_of(sg::idle_times_of(some)) == "2-6, 4 in all, longest 2-6");
}

TEST_CASE("a window without length is refused, and so is one longer than a number of nanoseconds") {
  CHECK(sg::idle_times_of(stretches{from_to(0, 2)}, from_to(5, 5)).why_absent == sg::no_idle_times::empty_window);
  CHECK(sg::idle_times_of(stretches{from_to(0, 2)}, from_to(5, 1)).why_absent == sg::no_idle_times::empty_window);
  constexpr auto least = (std::numeric_limits<std::int64_t>::min)();
  constexpr auto most = (std::numeric_limits<std::int64_t>::max)();
  CHECK(sg::idle_times_of(stretches{from_to(least, least + 1), from_to(most - 1, most)}).why_absent ==
        sg::no_idle_times::too_long);
  CHECK(sg::idle_times_of(stretches{from_to(-1, most)}).why_absent == sg::no_idle_times::too_long);
  // One nanosecond shorter is a number again.
  CHECK(sg::idle_times_of(stretches{from_to(0, 1), from_to(most - 1, most)}).total == nanoseconds{most - 2});
}

TEST_CASE("every grid of small stretches agrees with looking at each nanosecond, and busy and idle add up") {
  stretches all;
  for (std::int64_t begin = 0; begin <= 5; ++begin)
    for (std::int64_t end = begin; end <= 6; ++end) all.push_back(from_to(begin, end));
  auto const window = from_to(1, 6);
  std::size_t wrong = 0;
  for (auto const& a : all)
    for (auto const& b : all)
      for (auto const& c : all) {
        stretches const some{a, b, c};
        stretches expected;
        std::int64_t total = 0;
        bool was_idle = false;
        for (std::int64_t tick = 1; tick < 6; ++tick) {
          bool idle = true;
          for (auto const& each : some) idle = idle && !(each.begin.count() <= tick && tick < each.end.count());
          total += idle ? 1 : 0;
          if (idle && was_idle) expected.back().end = nanoseconds{tick + 1};
          if (idle && !was_idle) expected.push_back(from_to(tick, tick + 1));
          was_idle = idle;
        }
        auto const found = sg::idle_times_of(some, window);
        std::string gaps, expected_gaps;
        for (auto const& each : found.gaps) gaps += text_of(each) + ' ';
        for (auto const& each : expected) expected_gaps += text_of(each) + ' ';
        stretches clipped;
        for (auto const& each : some) clipped.push_back(sg::part_within(each, window));
        wrong += gaps != expected_gaps || found.total != nanoseconds{total} ||
                 *found.total + sg::busy_times_of(clipped).busy_union != nanoseconds{5};
      }
  CHECK(wrong == 0);
}
