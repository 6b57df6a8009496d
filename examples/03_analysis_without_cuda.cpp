// Numbers that came from elsewhere: a log, another tool, another machine. They go in as series; a summary and the table
// come out. Nothing here needs CUDA, neither to compile nor to run.
#include <iostream>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/summary.hpp>
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
  // A bare column of numbers needs no more than the statistics.
  std::vector<double> const milliseconds{4.1, 3.9, 4.0, 4.3};
  std::cout << "median of the column: " << sg::median(milliseconds).value() << " ms\n";
  std::cout << "largest: " << sg::maximum(milliseconds).value() << " ms\n\n";

  // Executions of one phase under one set of conditions are a series. The first one here was a warm-up.
  sg::series step;
  step.phase = "step";
  step.warmup = 1;
  step.samples = {timed(nanoseconds{210'000}, nanoseconds{2'031'000}), timed(nanoseconds{41'200}, nanoseconds{88'120}),
                  timed(nanoseconds{39'870}, nanoseconds{87'904}), timed(nanoseconds{60'120}, nanoseconds{90'016})};

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
