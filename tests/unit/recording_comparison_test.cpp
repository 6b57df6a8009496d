// Would go unseen without these: host and device taken together, samples of warm-up or under a tool in a verdict, and a
// series that is silently left out.
#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sg = streamgauge;

using sg::verdict;

static sg::sample steady_sample(std::int64_t submit, std::int64_t device) {
  sg::sample one;
  one.submit = sg::nanoseconds{submit};
  one.device = sg::nanoseconds{device};
  return one;
}

/// Sixty executions around these times, a sixtieth of a per cent apart, in an order that neighbours do not share.
static sg::series series_of(std::string phase, std::int64_t submit, std::int64_t device) {
  sg::series made;
  made.phase = std::move(phase);
  for (std::int64_t i = 0; i < 60; ++i) {
    std::int64_t const step = i * 37 % 60 - 30;
    made.samples.push_back(steady_sample(submit + step * submit / 6000, device + step * device / 6000));
  }
  return made;
}

static sg::recording recording_of(std::vector<sg::series> all, std::string device = "H200") {
  sg::recording made;
  made.all = std::move(all);
  sg::device_description described;
  described.name = std::move(device);
  made.environment.devices.push_back(described);
  return made;
}

static sg::series_comparison const* entry_of(sg::recording_comparison const& in, std::string const& phase,
                                             sg::observable what,
                                             sg::wait_policy waited = sg::wait_policy::none) {
  for (auto const& each : in.entries)
    if (each.phase == phase && each.what == what && each.waited.value_or(sg::wait_policy::none) == waited) return &each;
  return nullptr;
}

TEST_CASE("two recordings: host and device are judged apart") {
  auto const a = recording_of({series_of("gemm", 12000, 90000), series_of("copy", 8000, 40000)});
  auto const b = recording_of({series_of("copy", 8000, 40000), series_of("gemm", 12000, 99000)});
  auto const found = sg::compare(a, b);
  REQUIRE(found.entries.size() == 4);
  CHECK(found.unmatched.empty());
  CHECK(found.entries[0].phase == "gemm");
  CHECK(entry_of(found, "gemm", sg::observable::submit)->result.verdict == verdict::same);
  auto const& slower = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(slower.verdict == verdict::slower);
  CHECK(*slower.ratio == doctest::Approx(1.1).epsilon(1e-3));
  CHECK(slower.basis == sg::comparison_basis::one_run);
  CHECK(entry_of(found, "copy", sg::observable::device)->result.verdict == verdict::same);
}

TEST_CASE("case-69 executions that count as warm-up are not compared") {
  auto slow_start = series_of("gemm", 12000, 90000);
  for (std::size_t i = 0; i < 40; ++i) {
    slow_start.samples[i].warmup = true;
    slow_start.samples[i].device = sg::nanoseconds{900000};
  }
  auto const found = sg::compare(recording_of({series_of("gemm", 12000, 90000)}), recording_of({slow_start}));
  auto const& device = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(device.b.samples == 20);
  CHECK(*device.ratio == doctest::Approx(1.0).epsilon(1e-2));
}

TEST_CASE("times of the host are not compared across processors, those of the device are") {
  auto before = recording_of({series_of("gemm", 12000, 90000)});
  auto after = before;
  before.environment.cpu = "one processor";
  CHECK(entry_of(sg::compare(before, after), "gemm", sg::observable::submit)->result.verdict == sg::verdict::same);
  after.environment.cpu = "another";
  auto const found = sg::compare(before, after);
  auto const& submit = entry_of(found, "gemm", sg::observable::submit)->result;
  CHECK(submit.verdict == sg::verdict::refused);
  CHECK(submit.reason == "other processors: one processor in a, another in b");
  CHECK(entry_of(found, "gemm", sg::observable::device)->result.verdict == sg::verdict::same);
}

TEST_CASE("case-69 where all executions were warm-up the comparison says that, not that nobody asked") {
  auto all_warm = series_of("gemm", 12000, 90000);
  for (auto& each : all_warm.samples) each.warmup = true;
  auto const found = sg::compare(recording_of({series_of("gemm", 12000, 90000)}), recording_of({all_warm}));
  auto const& device = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(device.verdict == sg::verdict::refused);
  CHECK(device.reason == "no device time in b: all 60 executions were warm-up");
}

TEST_CASE("completion is compared for each way of waiting, and never across them") {
  auto const waited = [](sg::wait_policy first, sg::wait_policy second) {
    auto made = series_of("gemm", 12000, 90000);
    auto other = made.samples;
    for (auto& each : made.samples) {
      each.waited = first;
      each.completion = sg::nanoseconds{each.device.value()->count() + 10000};
    }
    for (auto& each : other) {
      each.waited = second;
      each.completion = sg::nanoseconds{each.device.value()->count() + 30000};
      made.samples.push_back(each);
    }
    return recording_of({made});
  };
  using sg::wait_policy;
  auto const both = sg::compare(waited(wait_policy::spin, wait_policy::block), waited(wait_policy::spin, wait_policy::block));
  REQUIRE(both.entries.size() == 4);
  CHECK(entry_of(both, "gemm", sg::observable::completion, wait_policy::spin)->result.verdict == verdict::same);
  CHECK(entry_of(both, "gemm", sg::observable::completion, wait_policy::block)->result.a.median == doctest::Approx(120000).epsilon(0.01));
  auto const apart = sg::compare(waited(wait_policy::spin, wait_policy::spin), waited(wait_policy::block, wait_policy::block));
  auto const* spin = entry_of(apart, "gemm", sg::observable::completion, wait_policy::spin);
  REQUIRE(spin);
  CHECK(spin->result.verdict == verdict::refused);
  CHECK(spin->result.reason == "no completion time in b that was observed by a spin");
  auto const* block = entry_of(apart, "gemm", sg::observable::completion, wait_policy::block);
  REQUIRE(block);
  CHECK(block->result.reason == "no completion time in a that was observed by a block");
  CHECK_FALSE(block->result.ratio);
}

TEST_CASE("case-50 a recording under a tool is not compared with one that was not") {
  auto watched = series_of("gemm", 12000, 90000);
  for (auto& each : watched.samples) each.watched = true;
  auto const plain = recording_of({series_of("gemm", 12000, 90000)});
  auto const found = sg::compare(plain, recording_of({watched}));
  REQUIRE(found.entries.size() == 2);
  for (auto const& each : found.entries) {
    CHECK(each.result.verdict == verdict::refused);
    CHECK(each.result.reason == "the samples of b were taken under a tool, those of the other side were not");
    CHECK_FALSE(each.result.ratio);
  }
  watched.samples[7].watched = false;
  CHECK(sg::compare(recording_of({watched}), plain).entries[0].result.reason ==
        "some samples of a were taken under a tool, some were not");
}

TEST_CASE("other devices and other cache states are refused") {
  auto const a = recording_of({series_of("gemm", 12000, 90000)});
  auto const b = recording_of({series_of("gemm", 12000, 90000)}, "A100");
  CHECK(sg::compare(a, b).entries[0].result.verdict == verdict::refused);
  CHECK(sg::compare(a, b).entries[0].result.reason == "other devices: H200 in a, A100 in b");
  auto cold = series_of("gemm", 12000, 90000);
  cold.conditions = {{"cache", "cold"}};
  auto warm = cold;
  warm.conditions[0].value = "warm";
  auto const found = sg::compare(recording_of({cold}), recording_of({warm}));
  REQUIRE(found.entries.size() == 2);
  CHECK(found.entries[1].result.reason == "other cache states: cold in a, warm in b");
}

TEST_CASE("runs that were merged are not compared as if they were one") {
  // One rank of four is slower in a: over the seams that looks like warm-up, and a like b.
  auto a = recording_of({series_of("gemm", 12000, 99000)});
  auto b = recording_of({series_of("gemm", 12000, 90000)});
  for (int rank = 1; rank < 4; ++rank)
    for (auto* each : {&a, &b}) sg::merge(*each, recording_of({series_of("gemm", 12000, 90000)}));
  auto const found = sg::compare(a, b);
  auto const& device = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(device.verdict == verdict::refused);
  CHECK(device.reason.find("merged") != std::string::npos);
  for (auto const& runs : {sg::compare_runs({a, a, a}, {b, b, b}), sg::compare_pairs({a, a, a}, {b, b, b})})
    CHECK(entry_of(runs, "gemm", sg::observable::device)->result.verdict == verdict::refused);
}

TEST_CASE("samples under a tool that a long series did not keep are in its totals") {
  auto const long_series = [](bool watched) {
    sg::series made;
    made.phase = "gemm";
    for (std::int64_t i = 0; i < 6000; ++i) {
      made.samples.push_back(steady_sample(12000 + i * 37 % 60, 90000 + i * 37 % 60));
      made.samples.back().entered = sg::nanoseconds{1000 * i};
    }
    std::size_t at = 3000;
    while (sg::stays_at(4, made.samples[at])) ++at;
    made.samples[at].watched = watched;
    sg::thin_to(4, made);
    return recording_of({made});
  };
  auto const verdict_of = [](sg::recording const& a, sg::recording const& b) {
    return entry_of(sg::compare(a, b), "gemm", sg::observable::device)->result.verdict;
  };
  CHECK(verdict_of(long_series(false), long_series(false)) == verdict::same);
  CHECK(verdict_of(long_series(true), long_series(false)) == verdict::refused);
}

TEST_CASE("the same phase under other conditions is refused, a series on one side only is listed") {
  auto small = series_of("gemm", 12000, 90000);
  small.conditions = {{"n", "1024"}};
  auto large = series_of("gemm", 12000, 700000);
  large.conditions = {{"n", "2048"}};
  auto const a = recording_of({small, series_of("only here", 1000, 2000)});
  auto const b = recording_of({large, series_of("only there", 1000, 2000), sg::series{"never entered", {}, 0, {}, 0}});
  auto const found = sg::compare(a, b);
  REQUIRE(found.entries.size() == 2);
  CHECK(found.entries[0].result.verdict == verdict::refused);
  CHECK(found.entries[0].result.reason == "other conditions: n is 1024 in a and 2048 in b");
  REQUIRE(found.unmatched.size() == 2);
  CHECK(found.unmatched[0].phase == "only here");
  CHECK(found.unmatched[0].in_a == 1);
  CHECK(found.unmatched[0].in_b == 0);
  CHECK(found.unmatched[1].phase == "only there");
  CHECK(found.unmatched[1].in_b == 1);
  // Both sizes on both sides: each with its own, whatever the order of keys.
  auto const both = sg::compare(recording_of({small, large}), recording_of({large, small}));
  CHECK(both.entries.size() == 4);
  for (auto const& each : both.entries) CHECK(each.result.verdict == verdict::same);
}

TEST_CASE("an observable that one side lacks is refused with the reason why it is absent") {
  auto captured = series_of("gemm", 12000, 90000);
  for (auto& each : captured.samples) each.device = sg::absence::stream_capture;
  auto const found = sg::compare(recording_of({series_of("gemm", 12000, 90000)}), recording_of({captured}));
  CHECK(entry_of(found, "gemm", sg::observable::submit)->result.verdict == verdict::same);
  auto const& device = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(device.verdict == verdict::refused);
  CHECK(device.reason == "no device time in b: the stream was being captured into a graph");
}

TEST_CASE("a series that holds spans and branches of spans is refused") {
  auto mixed = series_of("join", 12000, 90000);
  mixed.samples[0].part = sg::span_part::whole;
  mixed.samples[1].part = sg::span_part::branch;
  auto const found = sg::compare(recording_of({mixed}), recording_of({mixed}));
  CHECK(found.entries[0].result.verdict == verdict::refused);
  CHECK(found.entries[0].result.reason == "the series holds spans and branches of spans");
}

TEST_CASE("several recordings a side are several runs, and a series must be in all of them") {
  std::vector<sg::recording> a;
  std::vector<sg::recording> b;
  for (std::int64_t run = 0; run < 5; ++run) {
    a.push_back(recording_of({series_of("gemm", 12000, 90000 + 90 * run), series_of("sometimes", 1000, 2000)}));
    b.push_back(recording_of({series_of("gemm", 12000, 99000 + 90 * run)}));
  }
  b[0].all.push_back(series_of("sometimes", 1000, 2000));
  auto const found = sg::compare_runs(a, b);
  auto const& device = entry_of(found, "gemm", sg::observable::device)->result;
  CHECK(device.verdict == verdict::slower);
  CHECK(device.basis == sg::comparison_basis::several_runs);
  CHECK(device.a.runs == 5);
  CHECK(entry_of(found, "gemm", sg::observable::submit)->result.verdict == verdict::same);
  REQUIRE(found.unmatched.size() == 1);
  CHECK(found.unmatched[0].phase == "sometimes");
  CHECK(found.unmatched[0].in_a == 5);
  CHECK(found.unmatched[0].in_b == 1);
  CHECK(entry_of(sg::compare_pairs(a, b), "gemm", sg::observable::device)->result.basis ==
        sg::comparison_basis::paired_runs);
  for (auto& each : a[2].all[0].samples) each.watched = true;
  CHECK(sg::compare_runs(a, b).entries[0].result.reason ==
        "the runs of side a differ: the samples of another were taken under a tool, those of the other side were not");
  CHECK(sg::compare_runs({}, b).entries.empty());
  CHECK(sg::compare_runs({}, b).unmatched.size() == 2);
}
