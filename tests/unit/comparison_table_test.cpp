// Without these: a verdict whose reason nobody sees, or one run that passes for several.

#include <streamgauge/report/comparison_table.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::recording run(std::int64_t level, std::size_t count = 60, std::string const& phase = "work") {
  constexpr std::int64_t pattern[] = {-2, 1, 0, 2, -1};
  sg::recording made;
  made.all.push_back({});
  made.all[0].phase = phase;
  for (std::size_t i = 0; i < count; ++i) {
    sg::sample one;
    one.entered = nanoseconds{static_cast<std::int64_t>(i) * 1'000'000};
    one.device = nanoseconds{level + pattern[i % 5] * level / 1000};
    made.all[0].samples.push_back(one);
  }
  return made;
}

std::string text_of(sg::recording_comparison const& of) {
  std::ostringstream out;
  sg::report::table(out, of);
  return out.str();
}

}  // namespace

// The logarithms of the medians differ by 0.02950 with deviations of 0.00158 and 0.00153, five runs a side: a standard error
// of 0.00098, which Student's t of eight degrees of freedom takes 2.306 times.
TEST_CASE("a hostile condition cannot break the line of a comparison") {
  sg::comparison of;
  of.reason = "n is 1\x1b[2J\n2 in a and 3 in b";
  auto const line = sg::report::line_of(of);
  for (char const each : line) CHECK(each >= ' ');
}

TEST_CASE("the verdicts of several runs are a table, and what is settled needs no line below") {
  std::vector<sg::recording> a, b;
  for (std::int64_t i = 0; i < 5; ++i) {
    a.push_back(run(100'000 + 100 * i));
    b.push_back(run(103'000 + 100 * i));
  }
  CHECK(text_of(sg::compare_runs(a, b)) ==
        "       b against a, median\n"
        "       95 % interval, threshold 1.0 %\n"
        "phase    what  verdict   ratio    from      to\n"
        "-----  ---------------------------------------\n"
        "work   device   slower  1.0299  1.0276  1.0323\n"
        "\n");
  auto const back = text_of(sg::compare_runs(b, a));
  CHECK(back.find("work   device   faster  0.9709  0.9687  0.9731\n") != std::string::npos);
  CHECK(text_of(sg::compare_runs(a, a)).find("work   device     same  1.0000") != std::string::npos);
}

TEST_CASE("what is not settled says why, one run says that it is one, and what has no other side is listed") {
  auto other = run(103'000);
  other.all.push_back(run(5000, 10, "only here").all[0]);
  auto const text = text_of(sg::compare(run(100'000, 5), other));
  CHECK(text.find("inconclusive work: device: ") != std::string::npos);
  CHECK(text.find("the median of side a has no interval: fewer than 6 numbers\n") != std::string::npos);
  CHECK(text.find("unmatched    only here: in 0 of a and 1 of b\n") != std::string::npos);
  CHECK(text.find("one run      within one run only") != std::string::npos);
  CHECK(text_of({}) == "nothing to compare: no series has a time on both sides\n");
}

TEST_CASE("a comparison in one line has the verdict first, then what it went by") {
  CHECK(sg::report::line_of(sg::compare(std::vector<std::int64_t>{1, 2}, std::vector<std::int64_t>{1, 2})) .find("inconclusive") == 0);
  std::vector<sg::recording> a, b;
  for (std::int64_t i = 0; i < 5; ++i) {
    a.push_back(run(100'000 + 100 * i));
    b.push_back(run(103'000 + 100 * i));
  }
  CHECK(sg::report::line_of(sg::compare_runs(a, b).entries.at(0).result) ==
        "slower: +3.0 % (+2.8 % to +3.2 %), threshold 1.0 %, several runs a side; all of the interval is above the threshold");
}
