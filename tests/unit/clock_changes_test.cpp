// Without these: a level that the clock moved would pass for slower work, or slower work for a clock that moved at the same
// time.
// Field cases: case-70, case-74.

#include <streamgauge/analyze/clock_changes.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "known_series.hpp"

using namespace std::chrono_literals;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

/// A clock from one execution on.
struct clock_from {
  std::size_t first;
  std::uint32_t sm_mhz;
  std::uint64_t slowed_by;
  std::uint32_t memory_mhz = 3201;
};

/// A run whose executions follow each other at once, with a reading every 10 ms.
struct made_run {
  sg::series of;
  std::vector<sg::device_reading> readings;
  sg::steady_state judged;

  made_run(std::vector<std::int64_t> const& times, std::vector<clock_from> const& clocks) {
    nanoseconds now{0};
    nanoseconds due{10ms};
    for (std::size_t i = 0; i < times.size(); ++i) {
      sg::sample one;
      one.entered = now;
      one.queue = nanoseconds{1000};
      one.device = nanoseconds{times[i]};
      of.samples.push_back(one);
      now += nanoseconds{1000 + times[i] + 1000};
      if (now < due) continue;
      clock_from current = clocks.front();
      for (clock_from const& each : clocks)
        if (each.first <= i) current = each;
      sg::device_reading fresh;
      fresh.at = now - nanoseconds{500};
      fresh.sm_mhz = current.sm_mhz;
      fresh.memory_mhz = current.memory_mhz;
      fresh.slowed_by = current.slowed_by;
      readings.push_back(fresh);
      due += nanoseconds{10ms};
    }
    judged = sg::detect_steady(times);
  }
  [[nodiscard]] std::vector<sg::clocked_change> changes() const { return sg::clock_changes(of, judged, readings); }
};

/// So many executions of one time, then as many of another.
std::vector<std::int64_t> step(std::size_t count, std::int64_t from, std::int64_t to) {
  std::vector<std::int64_t> times(count, from);
  times.resize(2 * count, to);
  return times;
}

std::vector<std::int64_t> recorded(std::string const& name) {
  auto times = series_in(std::string{STREAMGAUGE_TEST_DATA} + "/gpu/" + name + "_device.txt");
  REQUIRE(times.size() > 100);
  return times;
}

}  // namespace

TEST_CASE("times that a clock explains are those that moved the same way, by half to five quarters of what it would be") {
  CHECK(sg::explains(1980.0 / 1755, 1.127));
  CHECK(sg::explains(1755.0 / 1980, 1 / 1.127));
  CHECK(sg::explains(1980.0 / 1755, 1.07));        // 0.07 / 0.128: a part of the work waits for memory
  CHECK_FALSE(sg::explains(1980.0 / 1755, 1.05));  // less than half
  CHECK(sg::explains(1980.0 / 1755, 1.16));        // 1.248
  CHECK_FALSE(sg::explains(1980.0 / 1755, 1.17));  // 1.326
  CHECK_FALSE(sg::explains(1755.0 / 1980, 1.127));
  CHECK_FALSE(sg::explains(1.0, 1.02));
  CHECK(sg::explains(1980.0 / 1965, 1.012));       // one step of the clock, 0.76 %
  CHECK_FALSE(sg::explains(1980.0 / 1965, 1.013));
  CHECK_FALSE(sg::explains(1.004, 1.008));         // no step of the clock
}

TEST_CASE("case-74 a level that rises as the SM clock falls follows it, with the reasons of the later level") {
  made_run const run{step(1000, 100'000, 112'800), {{0, 1980, 0x0}, {1000, 1755, 0x4}}};
  auto const found = run.changes();
  REQUIRE(found.size() == 1);
  CHECK(found[0].role == sg::clock_role::sm);
  CHECK(found[0].follows_clock());
  CHECK(found[0].change.at == 1000);
  CHECK(found[0].change.share() == doctest::Approx(0.128));
  CHECK(found[0].before.sm_mhz == 1980.0);
  CHECK(found[0].after.sm_mhz == 1755.0);
  CHECK(found[0].before.slowed_by == 0x0U);
  CHECK(found[0].after.slowed_by == 0x4U);
  // 1000 executions of 102 us end at 102 ms: ten readings, the tenth of them in the first level.
  CHECK(found[0].before.readings == 10);
}

TEST_CASE("work that waits for memory does not follow the SM clock: without a change there is nothing to explain, and another's is not its") {
  CHECK(made_run{std::vector<std::int64_t>(2000, 100'000), {{0, 1980, 0}, {1000, 1755, 0x4}}}.changes().empty());
  auto const by_other_cause = made_run{step(1000, 100'000, 103'000), {{0, 1980, 0}, {1000, 1755, 0x4}}}.changes();
  REQUIRE(by_other_cause.size() == 1);
  CHECK(by_other_cause[0].role == sg::clock_role::neither);
  auto const unmoved = made_run{step(1000, 100'000, 112'800), {{0, 1980, 0}}}.changes();
  REQUIRE(unmoved.size() == 1);
  CHECK(unmoved[0].role == sg::clock_role::neither);
}

TEST_CASE("work that waits for memory follows the memory's clock") {
  auto const found = made_run{step(1000, 100'000, 122'000), {{0, 1980, 0}, {1000, 1980, 0x4, 2619}}}.changes();
  REQUIRE(found.size() == 1);
  CHECK(found[0].role == sg::clock_role::memory);  // 3201 / 2619 is 1.222
  CHECK(found[0].after.memory_mhz == 2619.0);
}

TEST_CASE("without a reading in both levels nothing is known, and one between them is of neither") {
  made_run run{step(1000, 100'000, 112'800), {{0, 1980, 0x0}, {1000, 1755, 0x4}}};
  auto const role_with = [&](std::vector<sg::device_reading> readings) {
    run.readings = std::move(readings);
    auto const found = run.changes();
    REQUIRE(found.size() == 1);
    return found[0].role;
  };
  auto const all = run.readings;
  sg::device_reading const early = all.front();
  sg::device_reading late = all.back();
  CHECK(role_with({early, late}) == sg::clock_role::sm);
  CHECK(role_with({early}) == sg::clock_role::not_known);
  CHECK(role_with({late}) == sg::clock_role::not_known);
  CHECK(role_with({}) == sg::clock_role::not_known);
  sg::device_reading between = late;
  between.at = sg::stretch_of(run.of.samples[1000]).begin - nanoseconds{1};
  CHECK(role_with({early, between}) == sg::clock_role::not_known);
  // Soon after the last one is soon enough, a hundredth of a second at most.
  nanoseconds const end = sg::stretch_of(run.of.samples.back()).end;
  late.at = end + nanoseconds{10ms};
  CHECK(role_with({early, late}) == sg::clock_role::sm);
  late.at += nanoseconds{1};
  CHECK(role_with({early, late}) == sg::clock_role::not_known);
  late.at = end;
  late.sm_mhz.reset();
  CHECK(role_with({early, late}) == sg::clock_role::not_known);

  run.of.runs = 2;
  CHECK(role_with(all) == sg::clock_role::not_known);
}

TEST_CASE("a level's clock is the median of its readings, its reasons those that half of them have") {
  std::vector<sg::device_reading> readings(4);
  for (std::size_t i = 0; i < 4; ++i) {
    readings[i].at = nanoseconds{static_cast<std::int64_t>(10 * i)};
    readings[i].sm_mhz = i == 0 ? 1980U : 1755U;
    readings[i].slowed_by = i == 0 ? 0x21U : i == 1 ? 0x6U : 0x4U;
  }
  sg::level_clocks const found = sg::clocks_within({nanoseconds{0}, nanoseconds{30}}, readings);
  CHECK(found.readings == 4);
  CHECK(found.sm_mhz == 1755.0);
  CHECK(found.slowed_by == 0x4U);
  CHECK_FALSE(found.memory_mhz);
  CHECK(sg::clocks_within({nanoseconds{1}, nanoseconds{29}}, readings).readings == 2);
}

TEST_CASE("what stays within the band of one per cent is no change of level") {
  made_run run{step(1000, 100'000, 112'800), {{0, 1980, 0}}};
  auto const changes_to = [&](double median) {
    run.judged.segments = {{0, 1000, 100'000.0, true}, {1000, 2000, median, true}};
    return run.changes().size();
  };
  CHECK(changes_to(101'000.0) == 0);
  CHECK(changes_to(101'001.0) == 1);
  CHECK(changes_to(99'000.0) == 0);
  CHECK(changes_to(98'999.0) == 1);
  CHECK(changes_to(0.0) == 0);
}

TEST_CASE("a series that is not the judged one, or was not judged, has no changes") {
  made_run run{step(1000, 100'000, 112'800), {{0, 1980, 0}}};
  run.of.samples.pop_back();
  CHECK(run.changes().empty());
  run.judged = {};
  CHECK(run.changes().empty());
}

// The times are the H200's; clocks were not recorded with them, so those here are made: what a power cap would have to do.
TEST_CASE("a GEMM that met the power cap: all four changes of its level follow the clock") {
  made_run const run{recorded("gemm_bf16_4096_after_idle"),
                     {{0, 1980, 0x0}, {373, 1755, 0x4}, {1334, 1710, 0x4}, {1613, 1785, 0x4}, {2078, 1755, 0x4}}};
  auto const found = run.changes();
  REQUIRE(found.size() == 4);
  for (auto const& each : found) {
    CAPTURE(each.change.at);
    CHECK(each.role == sg::clock_role::sm);
    CHECK(each.after.slowed_by == 0x4U);
  }
  CHECK(found[0].change.at == 373);
  CHECK(found[0].change.share() == doctest::Approx(0.12675).epsilon(0.001));
  // The same times beside a clock that never moved.
  for (auto const& each : made_run{recorded("gemm_bf16_4096_after_idle"), {{0, 1980, 0x4}}}.changes())
    CHECK(each.role == sg::clock_role::neither);
}

TEST_CASE("an L2 that was emptied makes the same add take four times as long: a clock that fell then has no part in it") {
  auto const found = made_run{recorded("add_2m_l2_evicted_from_1000"), {{0, 1980, 0x0}, {1001, 1755, 0x4}}}.changes();
  REQUIRE(found.size() == 1);
  CHECK(found[0].role == sg::clock_role::neither);
}
