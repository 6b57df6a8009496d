// A program that runs for days. Without these its samples would fill the memory, or what is left of them would pass for all.

#include <string>
#include <thread>
#include <vector>

#include <streamgauge/analyze/merge.hpp>

#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// 1000 to 1999 ns, each once in a thousand, well mixed.
std::chrono::nanoseconds time_of(int i) { return std::chrono::nanoseconds{1000 + i % 1000 * 617 % 1000}; }

/// Executions number `first` to before `last`.
void run(sg::phase const& step, int first, int last) {
  for (int i = first; i < last; ++i) {
    {
      auto const scope = step.enter(sg::host_only);
      simulated::host_advance(time_of(i));
    }
    simulated::host_advance(100ns);
  }
}

constexpr std::size_t most_kept = 65'536 + 18'000;

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "of a long series every sample counts, the first are kept, and of the others an even choice") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{10}};
  constexpr int count = 300'000;
  run(step, 0, count);
  auto const taken = recorder.collect();
  auto const all = series_of(taken, "step");
  CHECK(all.count() == count);
  REQUIRE(all.totals.has_value());
  CHECK(all.kept_one_in == 8);  // 283,000 of them are no longer among the newest: 4 would still be too many
  CHECK(all.samples.size() < most_kept);
  for (std::size_t i = 0; i < sg::samples_at_head; ++i) {
    CHECK(all.samples[i].submit == time_of(static_cast<int>(i)));
    CHECK(all.samples[i].warmup == (i < 10));
  }
  for (std::size_t i = 1; i < all.samples.size(); ++i) CHECK(all.samples[i - 1].entered < all.samples[i].entered);
  // One in eight of the rest: 37,372 on average, with a deviation of 181.
  auto const others = static_cast<double>(all.samples.size() - sg::samples_at_head);
  CHECK(others > 37'372 - 5 * 181);
  CHECK(others < 37'372 + 5 * 181);

  auto const what = sg::summarize(all);
  CHECK(what.kept_one_in == 8);
  CHECK(what.submit.samples.entered == count);
  CHECK(what.submit.samples.kept == count);
  CHECK(what.device.samples.not_asked == count);
  auto const& values = what.submit.values;
  CHECK(values.warmup.count == 10);
  CHECK(values.steady.count == count - 10);
  CHECK(values.steady.minimum == 1000ns);
  CHECK(values.steady.maximum == 1999ns);
  CHECK(values.steady.median->count() == doctest::Approx(1499.5).epsilon(0.0005));
  CHECK(values.steady.q95->count() == doctest::Approx(1949.1).epsilon(0.0005));
  double first_ten = 0;
  for (int i = 0; i < 10; ++i) first_ten += static_cast<double>(time_of(i).count());
  CHECK(values.steady.mean->count() == doctest::Approx((1499.5 * count - first_ten) / (count - 10)).epsilon(1e-12));
  CHECK(values.steady.sample_stddev->count() == doctest::Approx(288.675).epsilon(1e-4));
  CHECK(values.steady.one_in == 8);
  // What was kept is like the whole.
  std::vector<std::int64_t> kept;
  for (auto const& one : all.samples) kept.push_back(one.submit.value()->count());
  CHECK(*sg::mean(kept) == doctest::Approx(1499.5).epsilon(0.005));
}

TEST_CASE_FIXTURE(fresh_machine, "up to 65,536 samples of a series every one is kept") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const other{recorder, "other"};
  for (int i = 0; i < 65; ++i) {
    run(step, 1000 * i, 1000 * (i + 1));
    run(other, 0, 500);
  }
  auto const taken = recorder.collect();
  auto const all = series_of(taken, "step");
  REQUIRE(all.samples.size() == 65'000);
  CHECK(series_of(taken, "other").samples.size() == 32'500);
  for (auto const& each : taken.all) {
    CHECK(each.kept_one_in == 1);
    CHECK_FALSE(each.totals.has_value());
  }
  for (std::size_t i = 0; i < 65'000; ++i)
    CHECK(all.samples[i].submit == time_of(static_cast<int>(i)));
}

TEST_CASE_FIXTURE(fresh_machine, "a series that others crowd keeps every sample, and no totals in their place") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const other{recorder, "other"};
  run(step, 0, 65'000);
  for (int i = 0; i < 300; ++i) {
    run(other, 0, 99);
    run(step, i, i + 1);
  }
  auto const all = series_of(recorder.collect(), "step");
  CHECK(all.samples.size() == 65'300);
  CHECK(all.kept_one_in == 1);
  CHECK_FALSE(all.totals.has_value());
}

TEST_CASE_FIXTURE(fresh_machine, "each of many series takes the memory of what it holds") {
  sg::recorder recorder;
  std::vector<sg::phase> steps;
  for (int i = 0; i < 1000; ++i) steps.emplace_back(recorder, "step " + std::to_string(i));
  auto const before = simulated::allocation_count();
  for (int i = 0; i < 80; ++i)
    for (auto const& each : steps) run(each, i, i + 1);
  // Of 60 and more a thousand samples a piece of 66 is enough for each; then there are the blocks, and the lane.
  CHECK(simulated::allocation_count() - before < 2 * 1000 + 100);
  for (auto const& each : recorder.collect().all) {
    REQUIRE(each.samples.size() == 80);
    for (int i = 0; i < 80; ++i) CHECK(each.samples[static_cast<std::size_t>(i)].submit == time_of(i));
  }
}

TEST_CASE_FIXTURE(fresh_machine, "where the clock stands still a long series ends in its first samples and its totals") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 100'000; ++i) {
    auto const scope = step.enter(sg::host_only);
  }
  auto const all = series_of(recorder.collect(), "step");
  CHECK(all.count() == 100'000);
  CHECK(all.samples.size() >= sg::samples_at_head);
  CHECK(all.samples.size() < most_kept);
}

TEST_CASE_FIXTURE(fresh_machine, "collected again and again, a long series is counted on, and never twice") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (int part = 1; part <= 5; ++part) {
    run(step, 0, 40'000);
    auto const all = series_of(recorder.collect(), "step");
    CHECK(all.count() == 40'000u * static_cast<unsigned>(part));
    CHECK(sg::summarize(all).submit.values.steady.mean->count() == 1499.5);
    CHECK(all.samples.size() < most_kept);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "threads that kept unequal shares are brought to one, and all of theirs counts") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  run(step, 0, 200'000);
  std::thread{[&] { run(step, 0, 30'000); }}.join();
  auto const all = series_of(recorder.collect(), "step");
  CHECK(all.count() == 230'000);
  auto const what = sg::summarize(all);
  CHECK(what.submit.samples.kept == 230'000);
  CHECK(what.submit.values.steady.mean->count() == 1499.5);
  std::size_t of_second = 0;
  for (auto const& one : all.samples) of_second += one.thread == 1;
  double const expected = 1024.0 + (30'000.0 - 1024.0) / static_cast<double>(all.kept_one_in);
  CHECK(static_cast<double>(of_second) == doctest::Approx(expected).epsilon(0.05));
}

TEST_CASE_FIXTURE(fresh_machine, "an execution that stays open keeps its place, and nothing else from being put away") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const request{recorder, "request"};
  auto open = request.start(sg::host_only);
  run(step, 0, 150'000);
  CHECK(sg::summarize(series_of(recorder.collect(), "request")).submit.samples.incomplete == 1);
  CHECK(series_of(recorder.collect(), "step").samples.size() < most_kept);
  open.stop();
  run(step, 0, 50'000);
  auto const taken = recorder.collect();
  CHECK(sg::summarize(series_of(taken, "request")).submit.samples.kept == 1);
  CHECK(series_of(taken, "step").count() == 200'000);
  CHECK(series_of(taken, "step").samples.size() < most_kept);
}

TEST_CASE_FIXTURE(fresh_machine, "inside a phase that never ends a long series is put away as well") {
  sg::recorder recorder;
  sg::phase const whole{recorder, "whole"};
  sg::phase const step{recorder, "step"};
  auto const scope = whole.enter(sg::host_only);
  run(step, 0, 200'000);
  auto const all = series_of(recorder.collect(), "step");
  CHECK(all.count() == 200'000);
  CHECK(all.samples.size() < most_kept + 17'000);
}

TEST_CASE_FIXTURE(fresh_machine, "the spans that a long series keeps have all their branches") {
  sg::recorder recorder;
  sg::phase const both{recorder, "both"};
  sg::phase const compute{recorder, "compute"};
  auto const one = new_stream();
  auto const other = new_stream();
  constexpr std::uint64_t count = 90'000;
  for (std::uint64_t i = 0; i < count; ++i) {
    {
      sg::span whole{both};
      {
        auto const part = whole.branch(one, compute);
        launch(one, 2us);
      }
      auto const part = whole.branch(other);
      launch(other, 3us);
    }
    simulated::host_advance(10us);
  }
  auto const taken = recorder.collect();
  auto const found = sg::summarize(taken);
  std::uint64_t counted = 0;
  for (auto const& row : found.rows) {
    if (row.what.phase != "both" || !row.what.conditions.empty()) continue;
    CHECK(row.what.device.samples.kept == count);
    CHECK(row.what.device.values.steady.maximum == 3us);
    REQUIRE(row.what.span.has_value());
    counted = row.what.span->counted;
    CHECK(row.what.span->left_out == 0);
    CHECK(row.what.span->without_branch == 0);
    CHECK(row.what.span->busy_sum.steady.median->count() == 5000.0);
  }
  CHECK(counted > 20'000);
  for (auto const& each : taken.all) {
    if (each.phase != "both" || !each.conditions.empty()) continue;
    std::uint64_t linked = 0;
    for (auto const& kept : each.samples) linked += kept.span != 0;
    CHECK(counted == linked);
    CHECK(linked + sg::samples_at_head > each.samples.size());
  }
}

TEST_CASE_FIXTURE(fresh_machine, "of spans whose series are thinned unequally, none is counted without all of its branches") {
  sg::recorder recorder;
  sg::phase const both{recorder, "both"};
  sg::phase const compute{recorder, "compute"};
  sg::phase const copy{recorder, "copy"};
  cudaStream_t const streams[] = {new_stream(), new_stream(), new_stream()};
  auto const run_spans = [&](int count) {
    for (int i = 0; i < count; ++i) {
      {
        sg::span whole{both};
        for (int k = 0; k < 3; ++k) {
          auto const part = whole.branch(streams[k], k < 2 ? compute : copy);
          launch(streams[k], k < 2 ? 2us : 3us);
        }
      }
      simulated::host_advance(10us);
    }
  };
  auto const check = [](sg::recording const& taken, std::uint64_t count, std::uint64_t counted) {
    for (auto const& row : sg::summarize(taken).rows) {
      if (row.what.phase != "both") continue;
      CHECK(row.what.device.samples.kept == count);
      REQUIRE(row.what.span.has_value());
      CHECK(row.what.span->counted > counted);
      CHECK(row.what.span->without_branch == 0);
      CHECK(row.what.span->busy_sum.steady.minimum == 7us);
      CHECK(row.what.span->busy_sum.steady.maximum == 7us);
    }
  };
  run_spans(30'000);
  auto const short_one = recorder.collect();
  check(short_one, 30'000, 29'999);
  run_spans(60'000);
  auto all = recorder.collect();
  CHECK(series_of(all, "both").kept_one_in < series_of(all, "compute").kept_one_in);
  check(all, 90'000, 20'000);
  auto other_way = short_one;
  sg::merge(other_way, all);
  check(other_way, 120'000, 25'000);
  sg::merge(all, short_one);
  check(all, 120'000, 25'000);
}

TEST_CASE_FIXTURE(fresh_machine, "without memory to put samples away they stay where they are, and whatever is lost is counted") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  run(step, 0, 16'900);
  {
    simulated::no_memory_scope const none;
    run(step, 16'900, 25'000);
  }
  run(step, 25'000, 120'000);
  auto const all = series_of(recorder.collect(), "step");
  CHECK(all.lost > 0);
  CHECK(all.count() + all.lost == 120'000);
  CHECK(sg::summarize(all).submit.samples.dropped == all.lost);
  CHECK(all.samples.size() < most_kept);
}
