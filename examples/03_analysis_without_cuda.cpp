// Numbers that came from elsewhere: a log, another tool, another machine. They go in as series; a summary and the table
// come out. Nothing here needs CUDA, neither to compile nor to run.
#include <iostream>
#include <vector>

#include <streamgauge/analyze/comparison.hpp>
#include <streamgauge/analyze/fixed_warmup.hpp>
#include <streamgauge/analyze/number_summary.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/table.hpp>

namespace sg = streamgauge;
using sg::nanoseconds;

sg::sample timed(nanoseconds submit, nanoseconds device) {
  sg::sample one;
  one.submit = submit;
  one.device = device;
  return one;
}

int main() {
  // A bare column of numbers needs no more than the statistics: where it became steady, and how far its median holds.
  std::vector<double> before{9.8, 5.1};
  std::vector<double> after{9.9, 5.3};
  for (int i = 0; i < 100; ++i) {
    before.push_back(4.0 + 0.01 * (i * 7 % 11));
    after.push_back(3.8 + 0.01 * (i * 7 % 11));
  }
  auto const column = sg::summarize(before);
  std::cout << "the column is " << sg::describe(column.steadiness) << '\n';
  std::cout << "median of its steady part: " << column.steady.median.value() << " ms, 95 % interval "
            << column.steady.confidence.interval->low << " to " << column.steady.confidence.interval->high << '\n';
  std::cout << "after against before: " << sg::report::line_of(sg::compare(before, after)) << "\n\n";

  // Executions of one phase under one set of conditions are a series. The first one here was a warm-up.
  sg::series step;
  step.phase = "step";
  step.samples = {timed(nanoseconds{210'000}, nanoseconds{2'031'000}), timed(nanoseconds{41'200}, nanoseconds{88'120}),
                  timed(nanoseconds{39'870}, nanoseconds{87'904}), timed(nanoseconds{60'120}, nanoseconds{90'016})};

  sg::set_warmup(step, {1, nanoseconds{0}});

  // What is missing says why, instead of being zero.
  step.samples[2].device = sg::absence::pool_full;

  // Executions that differ belong to series of their own. These ran inside the step, which is series 0 below.
  sg::series gemm;
  gemm.phase = "gemm";
  gemm.conditions = {{"dtype", "f32"}, {"shape", "256x1024"}};
  gemm.samples = {timed(nanoseconds{9'300}, nanoseconds{21'056}), timed(nanoseconds{9'210}, nanoseconds{21'152}),
                  timed(nanoseconds{9'440}, nanoseconds{21'024})};
  for (auto& one : gemm.samples) one.parent = 0;

  sg::recording recording;
  recording.all = {step, gemm};

  // The summary is plain values, for a program that decides something.
  auto const summary = sg::summarize(recording);
  auto const& device = summary.rows.front().what.device;
  std::cout << "device intervals kept: " << device.samples.kept << " of " << device.samples.entered << "\n";
  if (auto const median = device.values.steady.median) std::cout << "steady median: " << median->count() << " ns\n\n";

  // The table is for people.
  sg::report::table(std::cout, summary);
}
