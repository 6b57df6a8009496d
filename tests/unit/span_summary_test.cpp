// Would go unseen without these: a branch that is joined to the wrong execution, a sum over fewer branches than ran, and
// the wrong branch named as the one to speed up.
#include <streamgauge/analyze/summary.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "warmed.hpp"

namespace sg = streamgauge;
using sg::absence;
using sg::nanoseconds;

namespace {

sg::observation known(std::int64_t count) { return nanoseconds{count}; }

sg::sample whole(std::uint32_t span, sg::observation wall) {
  sg::sample made;
  made.submit = nanoseconds{1};
  made.device = wall;
  made.span = span;
  made.part = sg::span_part::whole;
  return made;
}

sg::sample branch(std::uint32_t span, sg::observation begins, sg::observation device, std::uint32_t parent = 0) {
  sg::sample made;
  made.submit = nanoseconds{1};
  made.begins = begins;
  made.device = device;
  made.parent = parent;
  made.span = span;
  made.part = sg::span_part::branch;
  return made;
}

// A span, "step", with the branches "compute" and "communicate".
sg::recording step_of_two() {
  sg::recording made;
  made.all.resize(3);
  made.all[0].phase = "step";
  made.all[1].phase = "compute";
  made.all[2].phase = "communicate";
  return made;
}

void add_execution(sg::recording& to, std::uint32_t span, std::pair<std::int64_t, std::int64_t> compute,
                   std::pair<std::int64_t, std::int64_t> communicate) {
  auto const end = (std::max)(compute.first + compute.second, communicate.first + communicate.second);
  to.all[0].samples.push_back(whole(span, known(end)));
  to.all[1].samples.push_back(branch(span, known(compute.first), known(compute.second)));
  to.all[2].samples.push_back(branch(span, known(communicate.first), known(communicate.second)));
}

sg::summary const& row_of(sg::recording_summary const& of, std::size_t index) {
  for (auto const& row : of.rows)
    if (row.index == index) return row.what;
  REQUIRE(false);
  return of.rows.front().what;
}

sg::span_summary span_of(sg::recording const& from, std::size_t index = 0) {
  auto const found = sg::summarize(from);
  auto const& row = row_of(found, index);
  REQUIRE(row.span.has_value());
  return *row.span;
}

double median(sg::stage_statistics const& of) {
  REQUIRE(of.median.has_value());
  return of.median->count();
}

}  // namespace

TEST_CASE("case-19 compute for 6 ms beside communicate for 9 ms: sum 15, union 9, overlap 6, and the wall is 9") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 6'000'000}, {0, 9'000'000});
  auto const found = sg::summarize(from);
  auto const& step = row_of(found, 0);
  CHECK(step.device.values.steady.median->count() == 9'000'000.0);
  REQUIRE(step.span.has_value());
  CHECK(median(step.span->busy_sum.steady) == 15'000'000.0);
  CHECK(median(step.span->busy_union.steady) == 9'000'000.0);
  CHECK(median(step.span->overlap.steady) == 6'000'000.0);
  CHECK(step.span->counted == 1);
  CHECK(step.span->left_out == 0);
  CHECK(step.span->most_branches == 2);
  REQUIRE(step.span->branches.size() == 2);
  CHECK(step.span->branches[0].index == 1);
  CHECK(step.span->branches[0].times == 0);
  CHECK_FALSE(step.span->branches[0].median_lead);
  CHECK(step.span->branches[1].index == 2);
  CHECK(step.span->branches[1].times == 1);
  CHECK(step.span->branches[1].median_lead->count() == 3'000'000.0);
}

TEST_CASE("what is no span has no span summary, and neither has a series without its recording") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 6}, {0, 9});
  auto const found = sg::summarize(from);
  CHECK_FALSE(row_of(found, 1).span.has_value());
  CHECK_FALSE(row_of(found, 2).span.has_value());
  CHECK_FALSE(sg::summarize(from.all[0]).span.has_value());
}

TEST_CASE("begins count from the span's own begin, and a branch that starts late ends late") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 6}, {4, 3});  // communicate is shorter, and ends at 7
  auto const found = span_of(from);
  CHECK(median(found.busy_sum.steady) == 9.0);
  CHECK(median(found.busy_union.steady) == 7.0);
  CHECK(median(found.overlap.steady) == 2.0);
  CHECK(found.branches[1].times == 1);
  CHECK(found.branches[1].median_lead->count() == 1.0);
}

TEST_CASE("warm-up and steady stay apart by the span's own sample, and only steady ones say who was last") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 500}, {0, 100});
  add_execution(from, 2, {0, 6}, {0, 9});
  add_execution(from, 3, {0, 8}, {0, 10});
  warm_up(from.all[0], 1);
  warm_up(from.all[1], 3);  // a branch's own warm-up has no say
  auto const found = span_of(from);
  CHECK(found.counted == 3);
  CHECK(found.busy_sum.warmup.count == 1);
  CHECK(median(found.busy_sum.warmup) == 600.0);
  CHECK(median(found.overlap.warmup) == 100.0);
  CHECK(found.busy_sum.steady.count == 2);
  CHECK(median(found.busy_sum.steady) == 16.5);
  CHECK(median(found.busy_union.steady) == 9.5);
  CHECK(median(found.overlap.steady) == 7.0);
  CHECK(found.branches[0].times == 0);
  CHECK(found.branches[1].times == 2);
  CHECK(found.branches[1].median_lead->count() == 2.5);
}

TEST_CASE("different branches end last: each with its count and its own lead") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 6}, {0, 9});
  add_execution(from, 2, {0, 30}, {0, 10});
  add_execution(from, 3, {0, 5}, {0, 6});
  auto const found = span_of(from);
  CHECK(found.branches[0].times == 1);
  CHECK(found.branches[0].median_lead->count() == 20.0);
  CHECK(found.branches[1].times == 2);
  CHECK(found.branches[1].median_lead->count() == 2.0);
}

TEST_CASE("of branches that end together the earlier series counts, by nothing, whichever began first") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 9}, {0, 9});
  add_execution(from, 2, {5, 4}, {0, 9});
  add_execution(from, 3, {0, 9}, {5, 4});
  auto const found = span_of(from);
  CHECK(found.branches[0].times == 3);
  CHECK(found.branches[0].median_lead->count() == 0.0);
  CHECK(found.branches[1].times == 0);
  CHECK(found.busy_union.steady.minimum == nanoseconds{9});
  CHECK(found.overlap.steady.minimum == nanoseconds{4});
}

TEST_CASE("the lead is to the next-latest end, wherever that branch stands") {
  // The ends of three branches in the order of their begins: each order of 50, 42 and 20.
  std::int64_t ends[] = {20, 42, 50};
  do {
    auto from = step_of_two();
    from.all.resize(4);
    from.all[3].phase = "copy";
    add_execution(from, 1, {0, ends[0]}, {1, ends[1] - 1});
    from.all[3].samples.push_back(branch(1, known(2), known(ends[2] - 2)));
    auto const found = span_of(from);
    CHECK(found.most_branches == 3);
    REQUIRE(found.branches.size() == 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(found.branches[i].times == (ends[i] == 50 ? 1 : 0));
      if (ends[i] == 50) CHECK(found.branches[i].median_lead->count() == 8.0);
    }
  } while (std::next_permutation(ends, ends + 3));
}

TEST_CASE("one branch ends last by nothing that could be said") {
  auto from = step_of_two();
  from.all[0].samples = {whole(1, known(6))};
  from.all[1].samples = {branch(1, known(0), known(6))};
  auto const found = span_of(from);
  CHECK(found.most_branches == 1);
  REQUIRE(found.branches.size() == 1);
  CHECK(found.branches[0].times == 1);
  CHECK_FALSE(found.branches[0].median_lead);
  CHECK(median(found.overlap.steady) == 0.0);
}

TEST_CASE("an execution in which an interval is missing is left out and counted as left out") {
  auto from = step_of_two();
  for (std::uint32_t span = 1; span <= 5; ++span) add_execution(from, span, {0, 6}, {0, 9});
  from.all[1].samples[0].device = absence::pool_full;
  from.all[2].samples[1].begins = absence::still_open;
  from.all[0].samples[2].device = absence::branch_open;
  auto const found = span_of(from);
  CHECK(found.counted == 2);
  CHECK(found.left_out == 3);
  CHECK(found.without_branch == 0);
  CHECK(found.busy_sum.steady.count == 2);
  CHECK(median(found.busy_sum.steady) == 15.0);
  CHECK(found.branches[1].times == 2);
}

TEST_CASE("streams that are only listed count for the wall alone") {
  auto from = step_of_two();
  from.all[0].samples = {whole(1, known(6)), whole(2, known(12))};
  from.all[1].samples = {branch(2, known(3), known(5))};
  auto const found = span_of(from);
  CHECK(found.counted == 1);
  CHECK(found.without_branch == 1);
  CHECK(median(found.busy_sum.steady) == 5.0);
  from.all[1].samples.clear();
  auto const listed = span_of(from);
  CHECK(listed.without_branch == 2);
  CHECK_FALSE(listed.busy_sum.steady.median);
  CHECK(listed.branches.empty());
}

TEST_CASE("branches find their span by its number, in whatever order they were kept") {
  auto from = step_of_two();
  for (std::uint32_t span : {40U, 7U, 4'000'000'000U, 12U}) {
    auto const length = static_cast<std::int64_t>(span % 100);
    add_execution(from, span, {0, length + 1}, {0, 2 * length + 3});
  }
  std::swap(from.all[1].samples[0], from.all[1].samples[3]);
  std::swap(from.all[2].samples[1], from.all[2].samples[2]);
  auto const found = span_of(from);
  CHECK(found.counted == 4);
  // Sums of 124, 25, 4 and 40; the leads are one less than the half of what remains: 42, 9, 2 and 14.
  CHECK(found.busy_sum.steady.minimum == nanoseconds{4});
  CHECK(median(found.busy_sum.steady) == 32.5);
  CHECK(found.busy_sum.steady.maximum == nanoseconds{124});
  CHECK(found.branches[1].times == 4);
  CHECK(found.branches[1].median_lead->count() == 11.5);
}

TEST_CASE("two spans that share a branch phase are told apart") {
  auto from = step_of_two();
  from.all.resize(5);
  from.all[3].phase = "other";
  from.all[4].phase = "copy";
  add_execution(from, 1, {0, 6}, {0, 9});
  from.all[3].samples = {whole(2, known(31))};
  from.all[4].samples = {branch(2, known(0), known(20), 3)};
  from.all[1].samples.push_back(branch(2, known(1), known(30), 3));
  auto const found = sg::summarize(from);
  auto const& step = *row_of(found, 0).span;
  auto const& other = *row_of(found, 3).span;
  CHECK(median(step.busy_sum.steady) == 15.0);
  CHECK(median(other.busy_sum.steady) == 50.0);
  REQUIRE(step.branches.size() == 2);
  CHECK(step.branches[0].index == 1);
  CHECK(step.branches[0].times == 0);
  CHECK(step.branches[1].index == 2);
  CHECK(step.branches[1].times == 1);
  REQUIRE(other.branches.size() == 2);
  CHECK(other.branches[0].index == 1);
  CHECK(other.branches[0].times == 1);
  CHECK(other.branches[0].median_lead->count() == 11.0);
  CHECK(other.branches[1].index == 4);
  CHECK(other.branches[1].times == 0);
  CHECK_FALSE(other.branches[1].median_lead);
}

TEST_CASE("of a span over several devices each device's row has its own branches, and the span itself has no sum") {
  sg::recording from;
  from.all.resize(4);
  for (auto& each : from.all) each.phase = "step";
  from.all[0].samples = {whole(0, absence::several_devices)};
  from.all[1].conditions = {{"device", "0"}};
  from.all[1].samples = {whole(1, known(6))};
  from.all[2].conditions = {{"device", "1"}};
  from.all[2].samples = {whole(2, known(9))};
  for (std::size_t i : {1U, 2U}) {
    from.all[i].samples[0].submit = absence::not_asked;
    from.all[i].samples[0].parent = 0;
  }
  from.all[3].conditions = {{"branch", "1"}};
  from.all[3].samples = {branch(1, known(0), known(6)), branch(2, known(2), known(7))};
  auto const found = sg::summarize(from);
  CHECK_FALSE(row_of(found, 0).span.has_value());
  CHECK(median(row_of(found, 1).span->busy_sum.steady) == 6.0);
  CHECK(median(row_of(found, 2).span->busy_sum.steady) == 7.0);
}

TEST_CASE("a branch without its span, and one of the number 0, belong to none") {
  auto from = step_of_two();
  add_execution(from, 1, {0, 6}, {0, 9});
  from.all[1].samples.push_back(branch(0, known(0), known(50)));
  from.all[1].samples.push_back(branch(9, known(0), known(50)));
  from.all[0].samples.push_back(whole(0, known(50)));
  auto const found = span_of(from);
  CHECK(found.counted == 1);
  CHECK(found.without_branch == 0);
  CHECK(median(found.busy_sum.steady) == 15.0);
}

TEST_CASE("a hundred thousand executions of eight branches take moments") {
  sg::recording from;
  from.all.resize(9);
  from.all[0].phase = "step";
  for (std::uint32_t span = 1; span <= 100'000; ++span) from.all[0].samples.push_back(whole(span, known(80)));
  for (std::uint32_t i = 1; i <= 8; ++i) {
    from.all[i].phase = "branch " + std::to_string(i);
    // Against the order of the executions, which is the worse case.
    for (std::uint32_t span = 100'000; span > 0; --span)
      from.all[i].samples.push_back(branch(span, known(10 * (i - 1)), known(10)));
  }
  auto const before = std::chrono::steady_clock::now();
  auto const found = span_of(from);
  // 0.2 s optimised; a join that looks at every pair would take an hour.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds{30});
  CHECK(found.counted == 100'000);
  CHECK(median(found.busy_sum.steady) == 80.0);
  CHECK(median(found.overlap.steady) == 0.0);
  REQUIRE(found.branches.size() == 8);
  CHECK(found.branches[7].times == 100'000);
  CHECK(found.branches[7].median_lead->count() == 10.0);
}
