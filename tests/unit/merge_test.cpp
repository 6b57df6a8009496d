// Without these: ranks whose samples are counted twice, end up in each other's phases, or pass for one steady run.

#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/analyze/summary.hpp>

#include <doctest/doctest.h>

#include <string>

#include "memory.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::series made(std::string phase, std::vector<sg::condition> under, std::int64_t first, std::size_t count) {
  sg::series all;
  all.phase = std::move(phase);
  all.conditions = std::move(under);
  for (std::size_t i = 0; i < count; ++i) {
    sg::sample one;
    one.entered = nanoseconds{static_cast<std::int64_t>(1000 * i)};
    one.submit = nanoseconds{first + static_cast<std::int64_t>(i)};
    all.samples.push_back(one);
  }
  return all;
}

}  // namespace

TEST_CASE("series of one phase and the same conditions become one, the others stand beside them") {
  sg::recording one;
  one.all = {made("step", {}, 100, 3), made("gemm", {{"rows", "1"}}, 10, 2)};
  one.all[1].samples[0].parent = 0;
  one.all[0].samples[1].thread = 2;
  one.all[0].samples[1].span = 7;
  one.environment.devices = {{0, "first", {}, {}, {}, ""}};
  sg::recording other;
  other.all = {made("gemm", {{"rows", "2"}}, 20, 1), made("gemm", {{"rows", "1"}}, 30, 2), made("step", {}, 200, 2)};
  other.all[1].samples[0].parent = 2;
  other.all[2].samples[0].span = 1;
  other.all[2].lost = 4;
  other.environment.devices = {{0, "first", {}, {}, {}, ""}, {1, "second", {}, {}, {}, ""}};
  other.environment.tool = "nsys";
  other.problems = {{"step", "what happened", 0, 1}};
  sg::merge(one, other);
  REQUIRE(one.all.size() == 3);
  CHECK(one.all[0].samples.size() == 5);
  CHECK(one.all[0].samples[3].submit == nanoseconds{200});
  CHECK(one.all[0].samples[3].thread == 3);  // no thread of the other recording is one of these
  CHECK(one.all[0].samples[3].span == 8);
  CHECK(one.all[0].lost == 4);
  CHECK(one.all[0].runs == 2);
  CHECK(one.all[1].samples.size() == 4);
  CHECK(one.all[1].samples[2].parent == 0u);  // step, wherever it stood over there
  CHECK(one.all[2].conditions.at(0).value == "2");
  CHECK(one.all[2].runs == 1);
  CHECK(one.environment.devices.size() == 2);
  CHECK(one.environment.tool == "nsys");
  CHECK(one.problems.size() == 1);
}

TEST_CASE("numbers near the end of 32 bits never make two threads, spans or streams of different runs one") {
  constexpr std::uint32_t last = 4294967295;
  sg::recording one;
  one.all = {made("step", {}, 100, 2)};
  one.all[0].samples[0].thread = last;
  one.all[0].samples[0].span = last;
  one.all[0].samples[1].thread = 7;
  one.streams.resize(2);
  sg::recording other;
  other.all = {made("step", {}, 200, 2)};
  other.all[0].samples[0].span = last - 1;
  other.all[0].samples[1].thread = 5;
  other.all[0].samples[1].stream = last;  // of one stream
  other.streams.resize(1);
  sg::merge(one, other);
  auto const& samples = one.all[0].samples;
  REQUIRE(samples.size() == 4);
  CHECK(samples[0].thread == 1);
  CHECK(samples[1].thread == 0);
  CHECK(samples[2].thread == 2);
  CHECK(samples[3].thread == 3);
  CHECK(samples[0].span == 1);
  CHECK(samples[1].span == 0);
  CHECK(samples[2].span == 2);
  CHECK(samples[3].span == 0);
  CHECK(samples[3].stream == 0);  // it was none of its own recording
}

TEST_CASE("a recording takes itself in as one more run of the same") {
  sg::recording one;
  one.all = {made("step", {}, 100, 3)};
  one.all[0].samples[1].span = 2;
  one.environment.devices = {{0, "first", {}, {}, {}, ""}};
  one.problems = {{"step", "what happened", 0, 1}, {"step", "something else", 0, 1}, {"step", "and a third", 0, 1}};
  sg::merge(one, one);
  CHECK(one.all[0].samples.size() == 6);
  CHECK(one.all[0].samples[4].span == 4);
  CHECK(one.all[0].runs == 2);
  CHECK(one.environment.devices.size() == 1);
  REQUIRE(one.problems.size() == 6);
  CHECK(one.problems[5].text == "and a third");
}

TEST_CASE("devices are told apart by UUID, and the readings of one stand behind each other; the rest is the first one's") {
  auto const device = [](int ordinal, char const* uuid, std::vector<std::uint32_t> const& clocks) {
    sg::device_description made;
    made.ordinal = ordinal;
    made.name = "NVIDIA H200";
    made.uuid = uuid;
    for (std::uint32_t const mhz : clocks) {
      made.readings.emplace_back();
      made.readings.back().sm_mhz = mhz;
    }
    return made;
  };
  auto const environment = [](char const* host, std::vector<sg::device_description> const& devices,
                              std::vector<sg::condition> const& given) {
    sg::recording made;
    made.environment.library_version = "0.1.0";
    made.environment.host = host;
    made.environment.cpu = std::string{"cpu of "} + host;
    made.environment.compiler = "GCC 12";
    made.environment.time = "2026-11-30T16:02:11Z";
    made.environment.command = std::vector<std::string>{host};
    made.environment.devices = devices;
    made.environment.given = given;
    return made;
  };
  sg::recording all;
  // Each rank calls its own device 0.
  auto one = environment("one", {device(0, "GPU-a", {1980, 1755})}, {{"rank", "0"}, {"commit", "3f2a91c"}});
  auto other = environment("other", {device(0, "GPU-b", {1410})}, {{"rank", "1"}, {"nodes", "2"}});
  auto again = environment("one", {device(0, "GPU-a", {1200}), device(1, "GPU-c", {})}, {});
  again.environment.devices[1].why_no_readings = "refused";
  sg::merge(all, one);
  sg::merge(all, other);
  sg::merge(all, again);
  auto const& found = all.environment;
  CHECK(found.host == "one");
  CHECK(found.cpu == "cpu of one");
  CHECK(found.compiler == "GCC 12");
  CHECK(found.time == "2026-11-30T16:02:11Z");
  CHECK(found.command == std::vector<std::string>{"one"});
  CHECK(found.given == std::vector<sg::condition>{{"rank", "0"}, {"commit", "3f2a91c"}, {"nodes", "2"}});
  REQUIRE(found.devices.size() == 3);
  REQUIRE(found.devices[0].readings.size() == 3);
  CHECK(found.devices[0].readings[2].sm_mhz == 1200U);
  CHECK(found.devices[1].uuid == "GPU-b");
  CHECK(found.devices[1].readings.size() == 1);
  CHECK(found.devices[2].why_no_readings == "refused");
  // A run that could be read says more than one that could not.
  auto const read_later = environment("one", {device(1, "GPU-c", {1980})}, {});
  sg::merge(all, read_later);
  CHECK(found.devices[2].why_no_readings.empty());
  CHECK(found.devices[2].readings.size() == 1);
  sg::merge(all, all);
  CHECK(found.devices.size() == 3);
  CHECK(found.devices[0].readings.size() == 6);
}

TEST_CASE("no steady state is looked for over the seam between runs") {
  sg::recording one;
  one.all = {made("step", {}, 1000, 40)};
  CHECK(sg::summarize(one.all[0]).submit.values.steadiness.reason != sg::steady_reason::several_runs);
  sg::recording other = one;
  sg::merge(one, other);
  auto const values = sg::summarize(one.all[0]).submit.values;
  CHECK(values.steadiness.verdict == sg::steadiness::unknown);
  CHECK(values.steadiness.reason == sg::steady_reason::several_runs);
  CHECK(values.steady.count == 80);
  // What was never entered adds no run.
  sg::recording empty;
  empty.all = {made("step", {}, 0, 0)};
  sg::merge(one, empty);
  CHECK(one.all[0].runs == 2);
  sg::merge(empty, other);
  CHECK(empty.all[0].runs == 1);
}

TEST_CASE("a thinned series and a whole one are brought to one stride, and everything counts") {
  sg::recording whole;
  whole.all = {made("step", {}, 1000, 5000)};
  sg::recording thinned;
  thinned.all = {made("step", {}, 1000, 9000)};
  sg::thin_to(4, thinned.all[0]);
  CHECK(thinned.all[0].count() == 9000);
  CHECK(thinned.all[0].samples.size() > sg::samples_at_head);
  CHECK(thinned.all[0].samples.size() < 4000);
  auto other_way = thinned;
  sg::merge(other_way, whole);
  sg::merge(whole, thinned);
  for (auto const* each : {&whole, &other_way}) {
    auto const& all = each->all[0];
    CHECK(all.count() == 14'000);
    CHECK(all.kept_one_in == 4);
    auto const values = sg::summarize(all).submit.values;
    CHECK(values.steady.count == 14'000);
    CHECK(values.steady.minimum == nanoseconds{1000});
    CHECK(values.steady.maximum == nanoseconds{9999});
    double const mean = (5000.0 * (1000 + 2499.5) + 9000.0 * (1000 + 4499.5)) / 14'000.0;
    CHECK(values.steady.mean->count() == doctest::Approx(mean).epsilon(1e-12));
  }
  CHECK(whole.all[0].samples.size() == other_way.all[0].samples.size());
}

TEST_CASE("totals for which there is no memory are not merged in part") {
  auto const add = [](sg::series_totals& to, std::int64_t time) {
    sg::sample one;
    one.submit = one.device = one.completion = nanoseconds{time};
    REQUIRE(to.add(one));
  };
  sg::series_totals other;
  add(other, 1'000'000);
  for (std::size_t allowed = 0; allowed <= 3; ++allowed) {
    sg::series_totals totals;
    add(totals, 1000);
    {
      memory::ends_after const end{allowed};
      CHECK(totals.merge(other) == (allowed == 3));
    }
    CHECK(totals.count == (allowed == 3 ? 2 : 1));
    for (auto const* each : {&totals.submit, &totals.device, &totals.completion[0]})
      CHECK(each->count() == totals.count);
  }
}

TEST_CASE("merging parts in any order gives the same count, extremes, mean and quantiles") {
  sg::recording a, b, c;
  a.all = {made("step", {}, 100, 2000)};
  b.all = {made("step", {}, 50, 3000)};
  c.all = {made("step", {}, 4000, 1500)};
  for (auto* each : {&a, &b, &c}) sg::thin_to(2, each->all[0]);
  auto first = a;
  sg::merge(first, b);
  sg::merge(first, c);
  auto second = c;
  sg::merge(second, a);
  sg::merge(second, b);
  auto const one = sg::summarize(first.all[0]).submit.values.steady;
  auto const other = sg::summarize(second.all[0]).submit.values.steady;
  CHECK(one.count == 6500);
  CHECK(other.count == 6500);
  CHECK(one.minimum == other.minimum);
  CHECK(one.maximum == other.maximum);
  CHECK(one.mean == other.mean);
  CHECK(one.median == other.median);
  CHECK(one.q95 == other.q95);
  CHECK(one.sample_stddev->count() == doctest::Approx(other.sample_stddev->count()).epsilon(1e-12));
}

TEST_CASE("runs without a phase in common are several runs all the same: no clock is common to them") {
  sg::recording one;
  one.all.resize(1);
  one.all[0].phase = "prefill";
  one.all[0].samples.resize(1);
  sg::recording other = one;
  other.all[0].phase = "decode";
  other.all[0].work = sg::declared_work{1e9, 2e6, std::nullopt};

  sg::recording all;
  sg::merge(all, one);
  CHECK(all.runs == 1);
  sg::merge(all, other);
  CHECK(all.runs == 2);
  CHECK(all.all[0].runs == 1);
  CHECK(all.all[1].runs == 1);
  REQUIRE(all.all[1].work);
  CHECK(all.all[1].work->flops == 1e9);
  sg::merge(all, sg::recording{});
  CHECK(all.runs == 2);
  sg::merge(all, all);
  CHECK(all.runs == 4);
}
