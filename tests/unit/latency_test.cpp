// Would go unseen without these: an interval full of the host's gaps that passes for the device's work, a verdict that the
// bound does not carry, and parts of one time that come from different executions.
#include <streamgauge/analyze/latency.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include <streamgauge/report/latency_table.hpp>
#include <streamgauge/report/table.hpp>

namespace sg = streamgauge;
using sg::absence;
using sg::feeding;
using sg::nanoseconds;

namespace {

/// One execution: all times in nanoseconds, from entering.
sg::sample taken(std::int64_t submit, std::int64_t queue, std::int64_t device, std::int64_t bound) {
  sg::sample one;
  one.submit = nanoseconds{submit};
  one.queue = nanoseconds{queue};
  one.device = nanoseconds{device};
  one.bound = nanoseconds{bound};
  return one;
}
sg::sample waited(sg::sample one, std::int64_t completion) {
  one.completion = nanoseconds{completion};
  one.waited = sg::wait_policy::spin;
  return one;
}

// Whether a text holds a part, wherever its lines were broken.
bool has(std::string text, std::string const& part) {
  for (auto at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at)) {
    auto const word = text.find_first_not_of(' ', at + 1);
    text.replace(at, word - at, " ");
  }
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("case-11 what began before all was submitted is starved, what began after is clean, and the bound decides") {
  // Submitted within 10 us; the device began at 4, 9, 11 and 20 us, give or take 2.
  CHECK(sg::feeding_of(taken(10'000, 4'000, 5'000, 2'000)) == feeding::starved);
  CHECK(sg::feeding_of(taken(10'000, 9'000, 5'000, 2'000)) == feeding::unknown);
  CHECK(sg::feeding_of(taken(10'000, 11'000, 5'000, 2'000)) == feeding::unknown);
  CHECK(sg::feeding_of(taken(10'000, 20'000, 5'000, 2'000)) == feeding::clean);
  // At the edges: no doubt is left when the whole bound lies on one side.
  CHECK(sg::feeding_of(taken(10'000, 12'000, 5'000, 2'000)) == feeding::clean);
  CHECK(sg::feeding_of(taken(10'000, 11'999, 5'000, 2'000)) == feeding::unknown);
  CHECK(sg::feeding_of(taken(10'000, 7'999, 5'000, 2'000)) == feeding::starved);
  CHECK(sg::feeding_of(taken(10'000, 8'000, 5'000, 2'000)) == feeding::unknown);
}

TEST_CASE("without a place or a submission nothing is known of the feeding") {
  sg::sample none = taken(10'000, 4'000, 5'000, 0);
  none.queue = absence::no_clock;
  CHECK(sg::feeding_of(none) == feeding::unknown);
  none = taken(10'000, 4'000, 5'000, 0);
  none.submit = absence::body_threw;
  CHECK(sg::feeding_of(none) == feeding::unknown);
  CHECK_FALSE(sg::device_end(sg::sample{}));
}

TEST_CASE("case-12 the host waited 34 us for a kernel of 5: the split says where the rest went") {
  sg::series from;
  for (int i = 0; i < 3; ++i) from.samples.push_back(waited(taken(7'000, 12'000, 5'000, 2'500), 34'000));
  auto const split = sg::split_latency(from);
  CHECK(split.executions == 3);
  CHECK(split.placed == 3);
  CHECK(split.waited == 3);
  CHECK(split.submit->count() == 7'000);
  CHECK(split.queue->count() == 12'000);
  CHECK(split.device->count() == 5'000);
  CHECK(split.end->count() == 17'000);
  CHECK(split.notice->count() == 17'000);
  CHECK(split.completion->count() == 34'000);
  CHECK(split.bound->count() == 2'500);
  CHECK(split.count(feeding::clean) == 3);
}

TEST_CASE("warm-up and what has no device time are left out, and what is not placed is counted apart") {
  sg::series from;
  from.samples = {taken(9, 9, 9, 0), taken(10, 20, 30, 1), taken(10, 20, 50, 3), taken(10, 20, 40, 2)};
  from.samples[0].warmup = true;
  from.samples[3].queue = absence::no_clock;
  sg::sample lost;
  lost.device = absence::pool_full;
  lost.submit = nanoseconds{1'000'000};
  from.samples.push_back(lost);
  auto const split = sg::split_latency(from);
  CHECK(split.executions == 3);
  CHECK(split.placed == 2);
  CHECK(split.device->count() == 40);
  CHECK(split.queue->count() == 20);
  CHECK(split.end->count() == 60);
  CHECK(split.submit->count() == 10);
  CHECK(split.widest_bound == nanoseconds{3});
  CHECK_FALSE(split.completion);
  CHECK_FALSE(split.notice);
}

TEST_CASE("nothing measured has no split, and every part of it is absent") {
  auto const split = sg::split_latency(sg::series{});
  CHECK(split.executions == 0);
  for (auto const& part : {split.submit, split.queue, split.device, split.end, split.completion, split.notice, split.bound,
                           split.clean_device})
    CHECK_FALSE(part);
}

TEST_CASE("an end that seems later than what saw it was noticed at once, not before it happened") {
  sg::series from;
  from.samples = {waited(taken(1, 100, 50, 30), 140)};
  CHECK(sg::split_latency(from).notice->count() == 0);
}

TEST_CASE("the device median of clean executions stands beside that of all") {
  sg::series from;
  for (int i = 0; i < 6; ++i) from.samples.push_back(taken(10'000, 2'000, 15'000, 1'000));
  for (int i = 0; i < 4; ++i) from.samples.push_back(taken(10'000, 900'000, 8'000, 1'000));
  from.samples.push_back(taken(10'000, 10'500, 9'000, 1'000));
  auto const split = sg::split_latency(from);
  CHECK(split.count(feeding::starved) == 6);
  CHECK(split.count(feeding::clean) == 4);
  CHECK(split.count(feeding::unknown) == 1);
  CHECK(split.device->count() == 15'000);
  CHECK(split.clean_device->count() == 8'000);

  sg::recording whole;
  from.phase = "step";
  whole.all = {from};
  std::ostringstream text;
  sg::report::table(text, whole);
  CHECK(has(text.str(), "step: 6 of 11 starved, 1 not known; device median of all 15 us, of the 4 clean ones 8 us"));
}

TEST_CASE("the table of latencies shows each part with its unit, the bound, and the clock that it rests on") {
  sg::recording whole;
  whole.all.resize(1);
  whole.all[0].phase = "step";
  for (int i = 0; i < 3; ++i) whole.all[0].samples.push_back(waited(taken(7'000, 12'000, 5'000, 2'500), 34'000));
  sg::placed_clock clock;
  clock.device = 0;
  clock.anchors = 40;
  clock.thrown_away = 2;
  clock.drift = -3.5e-6;
  clock.drift_bound = 0.4e-6;
  whole.clocks = {clock};
  std::ostringstream text;
  sg::report::latency_table(text, whole);
  CAPTURE(text.str());
  CHECK(has(text.str(), "7 us"));
  CHECK(has(text.str(), "12 us"));
  CHECK(has(text.str(), "17 us"));
  CHECK(has(text.str(), "34 us"));
  CHECK(has(text.str(), "2.5 us"));
  CHECK(has(text.str(), "2.5 us        0    3"));
  CHECK(has(text.str(), "device 0: 40 anchors, 2 of them too late to count; the host's clock loses 3.5 us a second, give or take 400 ns"));
}

TEST_CASE("the table tells what each device ran and how to go on where the device is the limit") {
  sg::recording whole;
  whole.clocks.resize(1);
  whole.clocks[0].device = 3;
  whole.streams = {{3, 0x70, sg::stream_kind::made}, {3, 0x80, sg::stream_kind::made}};
  whole.all.resize(1);
  whole.all[0].phase = "step";
  // Each right behind the one before it; the fifth on another stream, beside the fourth.
  for (int i = 0; i < 5; ++i) {
    sg::sample one;
    one.entered = nanoseconds{1000 * i};
    one.submit = nanoseconds{500};
    one.queue = nanoseconds{1'000'000 + 99'000 * i};
    one.device = nanoseconds{100'000};
    one.bound = nanoseconds{2000};
    one.stream = i < 4 ? 1 : 2;
    whole.all[0].samples.push_back(one);
  }
  whole.all[0].samples[4].queue = *whole.all[0].samples[3].queue.value() + nanoseconds{50'000 - 1000};
  std::ostringstream text;
  sg::report::latency_table(text, whole, {"ncu --set basic PROGRAM"});
  CAPTURE(text.str());
  CHECK(has(text.str(), "device 3: ran phases for 450 us of 450 us, on 2 streams, two or more at once for 50 us; none for 0 ns\n"));
  CHECK(has(text.str(), "next: profile its kernels with\n\nncu --set basic PROGRAM\n\n"));
  std::ostringstream without;
  sg::report::latency_table(without, whole);
  CHECK(has(without.str(), "sg::profile_plan prints the ncu command"));
}

TEST_CASE("a table of latencies without a clock says that nothing was placed") {
  sg::recording whole;
  std::ostringstream none;
  sg::report::latency_table(none, whole);
  CHECK(none.str() == "no device time to place\n");
  whole.environment.why_no_device = "no driver";
  std::ostringstream without;
  sg::report::latency_table(without, whole);
  CHECK(without.str() == "no device time to place: no driver\n");
  whole.all.resize(1);
  whole.all[0].samples = {taken(1, 2, 3, 0)};
  whole.all[0].samples[0].queue = absence::not_asked;
  std::ostringstream text;
  sg::report::latency_table(text, whole);
  CHECK(text.str() == "nothing placed: the recorder was no sg::timeline_recorder\n");
}

TEST_CASE("the timeline under the table says how many executions it does not hold, and why there is none") {
  sg::recording of;
  of.clocks.resize(1);
  of.clocks[0].device = 0;
  of.streams.resize(1);
  of.streams[0].device = 0;
  of.all.resize(1);
  of.all[0].phase = "step";
  for (int i = 0; i < 4; ++i) {
    of.all[0].samples.push_back(taken(10'000, 20'000, 50'000, 2'000));
    of.all[0].samples.back().entered = nanoseconds{i * 100'000};
    of.all[0].samples.back().stream = 1;
  }
  auto const text_of = [&of] {
    std::ostringstream text;
    sg::report::latency_table(text, of);
    return text.str();
  };
  CHECK(has(text_of(), "ran phases for 200 us of 350 us"));
  CHECK_FALSE(has(text_of(), "count as idle"));
  of.all[0].samples[1].device = absence::pool_full;
  of.all[0].samples[2].queue = absence::no_clock;
  CHECK(has(text_of(), "ran phases for 100 us of 350 us"));
  CHECK(has(text_of(), "executions that were not placed, and count as idle here: 2"));
  of.all[0].kept_one_in = 2;
  CHECK_FALSE(has(text_of(), "ran phases"));
  CHECK(has(text_of(), "none: not every execution was kept"));
}

TEST_CASE("a phase of which nothing was placed says why, also before one of which all was, and where nothing was at all") {
  sg::recording of;
  of.clocks.resize(1);
  of.all.resize(2);
  of.all[0].phase = "far";
  of.all[1].phase = "near";
  of.all[0].samples = {taken(10'000, 20'000, 50'000, 2'000)};
  of.all[0].samples[0].queue = absence::no_clock;
  of.all[1].samples = {taken(10'000, 20'000, 50'000, 2'000)};
  auto const text_of = [&of] {
    std::ostringstream text;
    sg::report::latency_table(text, of);
    return text.str();
  };
  std::string const why = std::string{"far: 1 of 1 not placed: "} + sg::describe(absence::no_clock);
  CHECK(has(text_of(), why));
  of.all.resize(1);
  CHECK(has(text_of(), why));
  CHECK_FALSE(has(text_of(), "timeline_recorder"));
}
