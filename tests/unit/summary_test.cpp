// Would go unseen without these: a sample that is counted nowhere or twice, warm-up mixed into the steady numbers, and
// a completion that averages two ways of waiting.
#include <streamgauge/analyze/fixed_warmup.hpp>
#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/analyze/summary.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <vector>

#include "warmed.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::sample submitted(std::int64_t submit) {
  sg::sample made;
  made.submit = nanoseconds{submit};
  return made;
}

sg::sample timed(sg::observation device) {
  auto made = submitted(1);
  made.device = device;
  return made;
}

sg::sample waited(sg::observation completion, sg::wait_policy how) {
  auto made = submitted(1);
  made.completion = completion;
  made.waited = how;
  return made;
}

sg::series submits(std::initializer_list<std::int64_t> values, std::size_t warmup) {
  sg::series made;
  made.phase = "p";
  for (auto const value : values) made.samples.push_back(submitted(value));
  warm_up(made, warmup);
  return made;
}

/// So many samples at one level, a microsecond apart, behind those that are there; noise of 1 %.
void add_level(sg::series& to, std::size_t count, std::int64_t level, sg::wait_policy how) {
  for (std::size_t i = 0; i < count; ++i) {
    auto const n = to.samples.size();
    auto one = waited(nanoseconds{level + level / 100 * static_cast<std::int64_t>(n * 2654435761U % 1000) / 1000}, how);
    one.entered = nanoseconds{1000 * static_cast<std::int64_t>(n)};
    to.samples.push_back(one);
  }
}

}  // namespace

TEST_CASE("a way of waiting of which no sample was kept is still one, with all of its completions") {
  sg::series of;
  add_level(of, 5000, 10'000, sg::wait_policy::spin);
  while (sg::stays_at(4, of.samples.back())) of.samples.pop_back();
  of.samples.back().waited = sg::wait_policy::block;
  add_level(of, 5000, 10'000, sg::wait_policy::spin);
  sg::thin_to(4, of);
  auto const found = sg::summarize(of);
  CHECK(found.completion.mixed_policies);
  CHECK(found.completion.by(sg::wait_policy::block).steady.count == 1);
  CHECK(found.completion.by(sg::wait_policy::block).steady.median.has_value());
  auto const spun = found.completion.by(sg::wait_policy::spin).steady.count;
  CHECK(spun + 1 == found.completion.samples.kept);
}

TEST_CASE("a way of waiting among many others is judged by its own count where it became steady late") {
  sg::series of;
  for (int i = 0; i < 4000; ++i) {
    add_level(of, 49, 50'000, sg::wait_policy::spin);
    add_level(of, 1, i < 1000 ? 20'000 : 10'000, sg::wait_policy::block);
  }
  sg::thin_to(4, of);
  auto const found = sg::summarize(of).completion.by(sg::wait_policy::block);
  REQUIRE(found.is_steady());
  CHECK(*found.steadiness.start > 150);
  CHECK(found.steady.of_kept_alone);
  CHECK(found.steady.maximum < nanoseconds{10'200});
  CHECK(found.before_steady == *found.steadiness.start);
}

TEST_CASE("what has no totals is of what was kept, and never of another observable") {
  sg::series of;
  add_level(of, 6000, 10'000, sg::wait_policy::spin);
  for (auto& one : of.samples) one.begins = nanoseconds{7};
  of.samples[3].waited = sg::wait_policy::block;
  sg::thin_to(2, of);
  auto const begins = sg::distribution_of(of, &sg::sample::begins);
  CHECK(begins.steady.maximum == nanoseconds{7});
  CHECK(begins.steady.count == of.samples.size());
  CHECK(begins.steady.of_kept_alone);
  CHECK(sg::distribution_of(of, &sg::sample::submit, sg::waited_by::block).steady.count == 1);
  CHECK(sg::distribution_of(of, &sg::sample::completion).steady.count == of.samples.size());
}

TEST_CASE("warm-up that is told after it was counted has no statistics of its own") {
  sg::series of;
  add_level(of, 6000, 10'000, sg::wait_policy::spin);
  sg::thin_to(2, of);
  sg::set_warmup(of, {10, {}});
  auto const values = sg::summarize(of).submit.values;
  CHECK(values.warmup.count == 0);
  CHECK_FALSE(values.warmup.median.has_value());
  CHECK(values.steady.count == 6000);
}

TEST_CASE("case-50 samples that were taken while somebody watched are counted") {
  auto from = submits({5, 6, 7}, 1);
  CHECK(sg::summarize(from).watched == 0);
  from.samples[0].watched = from.samples[2].watched = true;
  CHECK(sg::summarize(from).watched == 2);
}

TEST_CASE("case-69 warm-up is kept apart and beside the steady samples") {
  auto const found = sg::summarize(submits({57, 2, 2, 2}, 1));
  auto const& values = found.submit.values;
  CHECK(values.steady.count == 3);
  CHECK(values.steady.minimum == nanoseconds{2});
  CHECK(values.steady.median->count() == 2.0);
  CHECK(values.steady.maximum == nanoseconds{2});
  CHECK(values.warmup.count == 1);
  CHECK(values.warmup.maximum == nanoseconds{57});
  CHECK(values.first.value() == nanoseconds{57});
  CHECK_FALSE(values.first_sample_outlier);
}

TEST_CASE("case-69 without warm-up a first sample that dominates is reported, not dropped") {
  auto const found = sg::summarize(submits({57, 2, 2, 2}, 0));
  CHECK(found.submit.values.steady.count == 4);
  CHECK(found.submit.values.steady.median->count() == 2.0);
  CHECK(found.submit.values.steady.maximum == nanoseconds{57});
  CHECK(found.submit.values.first_sample_outlier);
}

TEST_CASE("case-69 the first sample stands out from five deviations above the mean of the rest on") {
  // The rest has mean 10 and deviation 1, so the limit is 15.
  CHECK_FALSE(sg::summarize(submits({15, 9, 10, 11}, 0)).submit.values.first_sample_outlier);
  CHECK(sg::summarize(submits({16, 9, 10, 11}, 0)).submit.values.first_sample_outlier);
  // A rest that does not vary: 1.5 times its mean.
  CHECK_FALSE(sg::summarize(submits({3, 2, 2, 2}, 0)).submit.values.first_sample_outlier);
  CHECK(sg::summarize(submits({4, 2, 2, 2}, 0)).submit.values.first_sample_outlier);
  // A late sample is not the first, and a single other one decides nothing.
  CHECK_FALSE(sg::summarize(submits({2, 57, 2, 2}, 0)).submit.values.first_sample_outlier);
  CHECK_FALSE(sg::summarize(submits({57, 2}, 0)).submit.values.first_sample_outlier);
}

TEST_CASE("a first sample without a value says why and is no outlier") {
  sg::series from;
  from.samples = {timed(sg::absence::pool_full), timed(nanoseconds{2}), timed(nanoseconds{90}), timed(nanoseconds{2})};
  auto const found = sg::summarize(from);
  CHECK(found.device.values.first.why_absent() == sg::absence::pool_full);
  CHECK_FALSE(found.device.values.first_sample_outlier);
}

TEST_CASE("more warm-up than samples leaves no steady sample") {
  auto const found = sg::summarize(submits({5, 7}, 10));
  CHECK(found.submit.values.warmup.count == 2);
  CHECK(found.submit.values.warmup.median->count() == 6.0);
  CHECK(found.submit.values.steady.count == 0);
  CHECK_FALSE(found.submit.values.steady.median);
}

TEST_CASE("case-77 a series without samples has counts of zero and no statistic") {
  auto const found = sg::summarize(sg::series{});
  for (auto const* stage : {&found.submit.values.steady, &found.submit.values.warmup, &found.device.values.steady}) {
    CHECK(stage->count == 0);
    CHECK_FALSE(stage->median);
    CHECK_FALSE(stage->minimum);
    CHECK_FALSE(stage->maximum);
    CHECK_FALSE(stage->q25);
    CHECK_FALSE(stage->q75);
    CHECK_FALSE(stage->mean);
    CHECK_FALSE(stage->sample_stddev);
  }
  CHECK(found.submit.samples.entered == 0);
  CHECK_FALSE(found.near_resolution);
}

TEST_CASE("case-78 one sample has every statistic but a spread, and so one hundred equal ones a spread of zero") {
  auto const one = sg::summarize(submits({3}, 0)).submit.values.steady;
  CHECK(one.count == 1);
  CHECK(one.minimum == nanoseconds{3});
  CHECK(one.maximum == nanoseconds{3});
  CHECK(one.median->count() == 3.0);
  CHECK(one.mean->count() == 3.0);
  CHECK(one.q25->count() == 3.0);
  CHECK_FALSE(one.sample_stddev);
  sg::series many;
  for (int i = 0; i < 100; ++i) many.samples.push_back(submitted(3));
  auto const hundred = sg::summarize(many).submit.values.steady;
  CHECK(hundred.count == 100);
  CHECK(hundred.sample_stddev->count() == 0.0);
}

TEST_CASE("case-82 the spread in a summary is that of a sample") {
  auto const found = sg::summarize(submits({1, 2, 3, 4}, 0)).submit.values.steady;
  CHECK(found.sample_stddev->count() == doctest::Approx(1.2909944487).epsilon(1e-10));
  CHECK(found.q25->count() == 1.75);
  CHECK(found.q75->count() == 3.25);
  CHECK(found.mean->count() == 2.5);
}

TEST_CASE("case-79 a summary leaves the samples in their order") {
  auto const from = submits({9, 1, 5, 5}, 0);
  CHECK(sg::summarize(from).submit.values.steady.median->count() == 5.0);
  CHECK(from.samples[0].submit.value() == nanoseconds{9});
  CHECK(from.samples[1].submit.value() == nanoseconds{1});
}

TEST_CASE("case-84 every observable says whose clock it was read from") {
  sg::summary const found;
  CHECK(found.submit.clock == sg::clock_domain::host);
  CHECK(found.device.clock == sg::clock_domain::device);
  CHECK(found.completion.clock == sg::clock_domain::host);
}

TEST_CASE("case-85 one interval over fifty iterations is one sample, without a spread") {
  sg::series from;
  from.conditions = {{"iterations", "50"}};
  from.samples = {timed(nanoseconds{100'000'000})};
  auto const found = sg::summarize(from).device.values.steady;
  CHECK(found.count == 1);
  CHECK(found.median->count() == 100'000'000.0);
  CHECK_FALSE(found.sample_stddev);
}

TEST_CASE("case-09 a device median under 1000 ns is near the resolution") {
  sg::series from;
  from.samples = {timed(nanoseconds{999}), timed(nanoseconds{999})};
  CHECK(sg::summarize(from).near_resolution);
  from.samples = {timed(nanoseconds{1000}), timed(nanoseconds{1000})};
  CHECK_FALSE(sg::summarize(from).near_resolution);
}

TEST_CASE("a device median under three times the floor is near it, above it is not") {
  sg::recording from;
  from.all.resize(2);
  from.all[0].samples = {timed(nanoseconds{3839})};
  from.all[1].samples = {timed(nanoseconds{3840})};
  CHECK_FALSE(sg::summarize(from).rows[0].what.near_floor);
  sg::device_description device;
  device.event_floor = nanoseconds{1280};
  from.environment.devices = {device};
  auto const found = sg::summarize(from);
  CHECK(found.rows[0].what.near_floor);
  CHECK_FALSE(found.rows[1].what.near_floor);

  // Around a kernel it is what applies, where it is known.
  from.environment.devices[0].kernel_floor = nanoseconds{2900};
  from.all[0].samples = {timed(nanoseconds{8699})};
  from.all[1].samples = {timed(nanoseconds{8700})};
  auto const around = sg::summarize(from);
  CHECK(around.rows[0].what.near_floor);
  CHECK_FALSE(around.rows[1].what.near_floor);
}

TEST_CASE("for every observable entered = kept + dropped + incomplete, and each reason is counted") {
  sg::series from;
  for (int i = 0; i <= static_cast<int>(sg::absence::negative); ++i) {
    auto const why = static_cast<sg::absence>(i);
    for (int times = 0; times <= i; ++times)
      from.samples.push_back(timed(why == sg::absence::none ? sg::observation{nanoseconds{5}} : sg::observation{why}));
  }
  auto const& samples = sg::summarize(from).device.samples;
  std::uint64_t reasons = 0;
  for (int i = 0; i <= static_cast<int>(sg::absence::negative); ++i) {
    CHECK(samples.count(static_cast<sg::absence>(i)) == static_cast<std::uint64_t>(i) + 1);
    reasons += samples.count(static_cast<sg::absence>(i));
  }
  CHECK(reasons == from.samples.size());
  CHECK(samples.kept == 1);
  CHECK(samples.not_asked == 2 + 3);
  CHECK(samples.incomplete == 4 + 5);
  CHECK(samples.entered == samples.kept + samples.dropped + samples.incomplete);
  CHECK(samples.entered + samples.not_asked == from.samples.size());
}

TEST_CASE("samples that the host could not keep count as dropped, for device time too where it was asked for") {
  auto host_only = submits({5, 5}, 0);
  host_only.lost = 3;
  auto const host = sg::summarize(host_only);
  CHECK(host.submit.samples.entered == 5);
  CHECK(host.submit.samples.dropped == 3);
  CHECK(host.submit.samples.count(sg::absence::no_memory) == 3);
  CHECK(host.device.samples.entered == 0);

  sg::series with_device;
  with_device.samples = {timed(nanoseconds{5})};
  with_device.lost = 3;
  auto const device = sg::summarize(with_device);
  CHECK(device.device.samples.entered == 4);
  CHECK(device.device.samples.dropped == 3);
  CHECK(device.completion.samples.entered == 0);
}

TEST_CASE("completion by spin and by block stay apart, and the account is over both") {
  sg::series from;
  from.samples = {waited(nanoseconds{10}, sg::wait_policy::spin), waited(nanoseconds{70}, sg::wait_policy::block),
                  waited(nanoseconds{12}, sg::wait_policy::spin),
                  waited(sg::absence::call_failed, sg::wait_policy::block), submitted(1)};
  auto const found = sg::summarize(from).completion;
  CHECK(found.mixed_policies);
  CHECK(found.by(sg::wait_policy::spin).steady.count == 2);
  CHECK(found.by(sg::wait_policy::spin).steady.median->count() == 11.0);
  CHECK(found.by(sg::wait_policy::block).steady.count == 1);
  CHECK(found.by(sg::wait_policy::block).first.value() == nanoseconds{70});
  CHECK(found.by(sg::wait_policy::none).steady.count == 0);
  CHECK(found.samples.entered == 4);
  CHECK(found.samples.kept == 3);
  CHECK(found.samples.dropped == 1);
  CHECK(found.samples.not_asked == 1);
}

TEST_CASE("one way of waiting is not mixed") {
  sg::series from;
  from.samples = {waited(nanoseconds{10}, sg::wait_policy::block), submitted(1)};
  CHECK_FALSE(sg::summarize(from).completion.mixed_policies);
}

TEST_CASE("the records inside are those of samples whose device time is known") {
  sg::series from;
  from.samples = {timed(nanoseconds{5}), timed(nanoseconds{5}), timed(sg::absence::pool_full)};
  from.samples[0].records_inside = 4;
  from.samples[1].records_inside = 2;
  from.samples[2].records_inside = 8;
  auto const found = sg::summarize(from);
  CHECK(found.fewest_records_inside == 2);
  CHECK(found.most_records_inside == 4);
}

TEST_CASE("a recording's summary keeps what is needed to read it") {
  sg::recording from;
  from.recorded = sg::mode::mark;
  from.why_not_measured = "mark (STREAMGAUGE=mark)";
  from.environment.library_version = "0.1.0";
  from.problems = {{"step", "something", 400, 2}};
  auto const found = sg::summarize(from);
  CHECK(found.recorded == sg::mode::mark);
  CHECK(found.why_not_measured == "mark (STREAMGAUGE=mark)");
  CHECK(found.environment.library_version == "0.1.0");
  REQUIRE(found.problems.size() == 1);
  CHECK(found.problems[0].status == 400);
}

TEST_CASE("durations can be summarised without a series") {
  std::vector<nanoseconds> const durations{nanoseconds{4}, nanoseconds{1}, nanoseconds{3}, nanoseconds{2}};
  auto const found = sg::summarize(durations);
  CHECK(found.count == 4);
  CHECK(found.median->count() == 2.5);
  CHECK(found.minimum == nanoseconds{1});
  CHECK(found.maximum == nanoseconds{4});
}

TEST_CASE("a handle that was entered only under further conditions has no row of its own") {
  sg::recording taken;
  taken.all.resize(4);
  taken.all[0].phase = "load";
  taken.all[1].phase = "load";
  taken.all[1].conditions = {{"n", "2"}};
  taken.all[1].samples.resize(1);
  taken.all[1].samples[0].submit = std::chrono::nanoseconds{5};
  taken.all[2].phase = "never";
  taken.all[3].phase = "lost";
  taken.all[3].lost = 2;
  sg::recording_summary const seen = sg::summarize(taken);
  REQUIRE(seen.rows.size() == 3);
  CHECK(seen.rows[0].index == 1);
  CHECK(seen.rows[1].index == 2);  // never entered under any conditions: its row says so
  CHECK(seen.rows[2].index == 3);
  CHECK(seen.rows[2].what.submit.samples.dropped == 2);
}

TEST_CASE("what the host could not keep of a series that was asked for device time alone counts as lost device time") {
  sg::series from;
  from.samples = {timed(nanoseconds{5})};
  from.samples[0].submit = sg::absence::not_asked;
  from.lost = 3;
  auto const found = sg::summarize(from);
  CHECK(found.submit.samples.entered == 0);
  CHECK(found.submit.samples.seen() == 1);
  CHECK(found.device.samples.entered == 4);
  CHECK(found.device.samples.dropped == 3);
  // Where nothing was kept, nothing says what was asked for.
  from.samples.clear();
  CHECK(sg::summarize(from).submit.samples.dropped == 3);
}

namespace {

// A level with a small pattern on it, so that no two neighbours are equal: -2, +1, 0, +2, -1 for each thousand.
void append_level(std::vector<std::int64_t>& to, std::size_t count, std::int64_t level) {
  constexpr std::int64_t pattern[] = {-2, 1, 0, 2, -1};
  for (std::size_t i = 0; i < count; ++i) to.push_back(level + pattern[to.size() % 5] * level / 1000);
}
sg::series submits_of(std::vector<std::int64_t> const& values, std::size_t warmup = 0) {
  sg::series made;
  for (auto const value : values) made.samples.push_back(submitted(value));
  warm_up(made, warmup);
  return made;
}

}  // namespace

TEST_CASE("case-70 what comes before a series became steady counts as warm-up, beside the fixed count") {
  std::vector<std::int64_t> values;
  append_level(values, 6, 200'000);
  append_level(values, 94, 100'000);
  auto const found = sg::summarize(submits_of(values)).submit.values;
  CHECK(found.is_steady());
  CHECK(found.steadiness.start == 6u);
  CHECK(found.before_steady == 6);
  CHECK(found.warmup.count == 6);
  CHECK(found.steady.count == 94);
  CHECK(found.steady.maximum == nanoseconds{100'200});
  // With a fixed count of two, four more were found.
  auto const fixed = sg::summarize(submits_of(values, 2)).submit.values;
  CHECK(fixed.steadiness.start == 4u);
  CHECK(fixed.before_steady == 4);
  CHECK(fixed.warmup.count == 6);
  CHECK(fixed.steady.count == 94);
}

TEST_CASE("case-70 a series that is not steady keeps everything in its statistics, and says what moved") {
  std::vector<std::int64_t> values;
  append_level(values, 60, 100'000);
  append_level(values, 40, 110'000);
  auto const found = sg::summarize(submits_of(values, 5)).submit.values;
  CHECK_FALSE(found.is_steady());
  CHECK(found.steadiness.verdict == sg::steadiness::no);
  REQUIRE(found.steadiness.change.has_value());
  CHECK(found.steadiness.change->at == 55);  // counted behind the fixed warm-up
  CHECK(found.steadiness.change->from == doctest::Approx(100'000).epsilon(0.001));
  CHECK(found.steadiness.change->to == doctest::Approx(110'000).epsilon(0.001));
  CHECK(found.warmup.count == 5);
  CHECK(found.steady.count == 95);
  CHECK(found.before_steady == 0);
}

TEST_CASE("the statistics of a stage have the median's interval, spread and outliers, worked out by hand") {
  // 1 to 20 with one far off: the interval of the median of 21 lies between ranks 6 and 16.
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= 20; ++i) values.push_back(i * 8 % 21);  // 1 to 20, mixed
  values.push_back(500);
  auto const found = sg::statistics_of(values);
  CHECK(found.count == 21);
  CHECK(found.median->count() == 11.0);
  REQUIRE(found.plain_confidence.has_value());
  CHECK(found.worst == nanoseconds{500});
  CHECK(found.worst_index == 20u);
  CHECK(found.beyond_3_iqr.above == 1);
  CHECK(found.beyond_3_iqr.below == 0);
  CHECK(found.iqr->count() == found.q75->count() - found.q25->count());
  CHECK(found.mad.has_value());
  CHECK(found.one_in == 1);
  auto const few = sg::statistics_of({3, 1, 2});
  CHECK_FALSE(few.confidence.has_value());
  CHECK(few.why_no_confidence == sg::no_confidence::too_few);
  CHECK_FALSE(few.drift.has_value());
}

TEST_CASE("plain ranges of numbers are summarised without any other part: whole, warm-up and steady") {
  std::vector<std::int64_t> values;
  append_level(values, 6, 200'000);
  append_level(values, 94, 100'000);
  auto const found = sg::summarize(values);
  CHECK(found.steadiness.verdict == sg::steadiness::yes);
  CHECK(found.all.count == 100);
  CHECK(found.warmup.count == 6);
  CHECK(found.steady.count == 94);
  CHECK(found.steady.median == 100'000.0);
  CHECK(found.all.maximum == 200'400);
  std::vector<double> const reals(values.begin(), values.end());
  CHECK(sg::summarize(reals).steady.median == 100'000.0);
  // The same members for any count.
  for (std::size_t count : {0u, 1u, 2u}) {
    auto const few = sg::summarize(std::vector<double>(count, 3.0));
    CHECK(few.all.count == count);
    CHECK(few.all.median.has_value() == (count > 0));
    CHECK(few.all.sample_stddev.has_value() == (count > 1));
    CHECK(few.steady.count == 0);
    CHECK(few.steadiness.verdict == sg::steadiness::unknown);
  }
  auto const none = sg::summarize(std::vector<double>{1.0, std::numeric_limits<double>::quiet_NaN()});
  CHECK(none.steadiness.reason == sg::steady_reason::not_a_duration);
  CHECK_FALSE(none.all.median.has_value());
  CHECK_FALSE(none.all.mean.has_value());
}

TEST_CASE("case-70 a fixed warm-up is a count, a time, or both, and then whichever is later") {
  sg::series from;
  for (std::int64_t i = 0; i < 10; ++i) {
    from.samples.push_back(submitted(100 + i));
    from.samples.back().entered = nanoseconds{5000 + 1000 * i};
  }
  auto const marked = [&](sg::fixed_warmup chosen) {
    auto of = from;
    sg::set_warmup(of, chosen);
    auto const values = sg::summarize(of).submit.values;
    CHECK(values.warmup.count + values.steady.count == 10);
    return values.warmup.count - values.before_steady;
  };
  CHECK(marked({}) == 0);
  CHECK(marked({3, nanoseconds{0}}) == 3);
  CHECK(marked({0, nanoseconds{3000}}) == 3);  // the one that begins right then is not
  CHECK(marked({0, nanoseconds{3001}}) == 4);
  CHECK(marked({2, nanoseconds{5000}}) == 5);
  CHECK(marked({7, nanoseconds{5000}}) == 7);
  CHECK(marked({100, nanoseconds{0}}) == 10);
  sg::series none;
  sg::set_warmup(none, {5, nanoseconds{5}});
  CHECK(sg::summarize(none).submit.values.warmup.count == 0);
}
