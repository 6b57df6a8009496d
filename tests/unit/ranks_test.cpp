// The bug that would go unseen without this file: a slow rank behind a median over all ranks.

#include <streamgauge/analyze/ranks.hpp>
#include <streamgauge/report/rank_table.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::recording rank(std::vector<std::int64_t> const& device, std::int64_t warm = 0) {
  sg::recording made;
  made.all.resize(1);
  made.all[0].phase = "step";
  if (warm > 0) {
    sg::sample one;
    one.warmup = true;
    one.device = nanoseconds{warm};
    made.all[0].samples.push_back(one);
  }
  for (std::int64_t const each : device) {
    sg::sample one;
    one.device = nanoseconds{each};
    made.all[0].samples.push_back(one);
  }
  return made;
}

}  // namespace

TEST_CASE("the slowest rank and the spread are told, warm-up left out") {
  auto const found = sg::by_rank(std::vector<sg::recording>{rank({100, 110, 120}, 9999), rank({160, 165, 170}), rank({111, 109})});
  REQUIRE(found.size() == 1);
  CHECK(found[0].what == sg::observable::device);
  REQUIRE(found[0].ranks.size() == 3);
  CHECK(found[0].ranks[0].median == sg::fractional_nanoseconds{110});
  CHECK(found[0].ranks[0].executions == 3);
  CHECK(found[0].ranks[2].median == sg::fractional_nanoseconds{110});
  CHECK(found[0].slowest == 1);
  CHECK(found[0].fastest == 0);
  CHECK(found[0].spread.value() == doctest::Approx(0.5));
}

TEST_CASE("a rank without the series has no median, and one alone has no spread") {
  std::vector<sg::recording> ranks{rank({100}), sg::recording{}};
  auto found = sg::by_rank(ranks);
  REQUIRE(found.size() == 1);
  CHECK_FALSE(found[0].ranks[1].median);
  CHECK_FALSE(found[0].slowest);
  CHECK_FALSE(found[0].spread);

  ranks[1] = rank({0});
  found = sg::by_rank(ranks);
  CHECK(found[0].slowest == 0);
  CHECK_FALSE(found[0].spread);  // nothing is any share longer than no time
  CHECK(sg::by_rank(std::vector<sg::recording>{}).empty());
}

TEST_CASE("series under other conditions and other observables have lines of their own") {
  auto one = rank({100});
  auto other = rank({200});
  other.all[0].conditions = {{"n", "2"}};
  other.all[0].samples[0].submit = nanoseconds{7};
  auto const found = sg::by_rank(std::vector<sg::recording>{one, other});
  REQUIRE(found.size() == 3);
  CHECK(found[0].conditions.empty());
  CHECK(found[1].what == sg::observable::submit);
  CHECK(found[2].conditions.size() == 1);
}

TEST_CASE("the table names the slowest and every rank's median") {
  std::ostringstream out;
  sg::report::rank_table(out, sg::by_rank(std::vector<sg::recording>{rank({100'000}), rank({150'000})}), {"a.json", "b.json"});
  CHECK(out.str() ==
        "       over the ranks, medians\n"
        "       without warm-up\n"
        "phase    what  ranks  fastest  slowest  spread\n"
        "-----  ---------------------------------------\n"
        "step   device      2   100 us   150 us  50.0 %\n"
        "\n"
        "device       step: a.json 100 us, b.json 150 us; the slowest is b.json\n");
  std::ostringstream none;
  sg::report::rank_table(none, {});
  CHECK(none.str() == "no rank has a time\n");
}
