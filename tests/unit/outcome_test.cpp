// The bug that would go unseen without this file: a gate that lets a slower program pass because something else was refused,
// and a name that breaks the table of a pull request.

#include <streamgauge/report/comparison_markdown.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::outcome;
using sg::verdict;

namespace {

sg::recording_comparison of(std::vector<verdict> const& verdicts) {
  sg::recording_comparison made;
  for (verdict const each : verdicts) {
    made.entries.emplace_back();
    made.entries.back().phase = "step";
    made.entries.back().what = sg::observable::device;
    made.entries.back().result.verdict = each;
  }
  return made;
}

std::string markdown(sg::recording_comparison const& what) {
  std::ostringstream out;
  sg::report::markdown(out, what);
  return out.str();
}

}  // namespace

TEST_CASE("slower counts before refused, refused before inconclusive, and nothing in common is not comparable") {
  CHECK(sg::outcome_of(of({verdict::same, verdict::faster})) == outcome::same_or_faster);
  CHECK(sg::outcome_of(of({verdict::refused, verdict::inconclusive, verdict::slower})) == outcome::slower);
  CHECK(sg::outcome_of(of({verdict::inconclusive, verdict::refused, verdict::faster})) == outcome::not_comparable);
  CHECK(sg::outcome_of(of({verdict::faster, verdict::inconclusive})) == outcome::inconclusive);
  CHECK(sg::outcome_of(of({})) == outcome::not_comparable);
  auto only_here = of({verdict::same});
  only_here.unmatched.push_back({"gone", {}, 1, 0});
  CHECK(sg::outcome_of(only_here) == outcome::same_or_faster);
  CHECK(static_cast<int>(outcome::slower) == 1);
  CHECK(static_cast<int>(outcome::inconclusive) == 2);
  CHECK(static_cast<int>(outcome::not_comparable) == 3);
}

TEST_CASE("one observable alone leaves the others out and keeps what is on one side") {
  auto all = of({verdict::same, verdict::slower});
  all.entries[1].what = sg::observable::submit;
  all.unmatched.push_back({"gone", {}, 1, 0});
  auto const device = sg::only(sg::observable::device, all);
  CHECK(device.entries.size() == 1);
  CHECK(device.unmatched.size() == 1);
  CHECK(sg::outcome_of(device) == outcome::same_or_faster);
}

TEST_CASE("a comparison as Markdown has a line for each entry and the reasons below") {
  auto all = of({verdict::slower, verdict::refused});
  auto& slower = all.entries[0].result;
  slower.ratio = 1.03;
  slower.interval = sg::bounds{1.0276, 1.0323};
  slower.basis = sg::comparison_basis::several_runs;
  slower.a.median = 100'000.0;
  slower.b.median = 103'000.0;
  all.entries[1].phase = "a|b*";
  all.entries[1].result.reason = "other devices";
  all.unmatched.push_back({"gone", {{"n", "1"}}, 1, 0});
  CHECK(markdown(all) ==
        "**slower**; threshold 1.0 %, 95 % intervals, several runs a side\n"
        "\n"
        "| phase | what | verdict | change | from | to | before | after |\n"
        "|---|---|---|--:|--:|--:|--:|--:|\n"
        "| step | device | slower | +3.0 % | +2.8 % | +3.2 % | 100 us | 103 us |\n"
        "| a\\|b\\* | device | refused |  |  |  |  |  |\n"
        "\n"
        "- a\\|b\\*, device: refused: other devices\n"
        "- gone \\[n=1\\]: only in 1 before and 0 after\n");
  CHECK(markdown(of({})) == "**not comparable**: no series has a time on both sides\n");
}

TEST_CASE("case-89 a hostile name is no markup: neither a cell, a link, a picture, an entity, a tag nor a new line") {
  CHECK(sg::report::markdown_text("![x](http://a/b) <b> &lt; a|b `c` @me #1") ==
        "\\!\\[x\\]\\(http\\://a/b\\) &lt;b\\> &amp;lt; a\\|b \\`c\\` \\@me \\#1");
  CHECK(sg::report::markdown_of(sg::report::identity_of("C:\\x", {})) == "C\\:\\\\\\\\x");  // rendered as in a table: C:\\x
  for (char const each : sg::report::markdown_text("a\nb\r\n| c |")) CHECK(each != '\n');
}
