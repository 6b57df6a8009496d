#pragma once

#include <cstddef>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>

namespace streamgauge {

/// How much of the beginning of a series is warm-up: so many samples, so much time, or both; then whichever is later.
struct fixed_warmup {
  std::size_t samples = 0;
  nanoseconds time{0};  ///< from where the first sample was entered
};

/// Marks the beginning of a recorded series as warm-up, beside what its phase was told.
/// Why: a count that the phase is given also names its ranges, so tools see the same; time would name other executions in
/// every run, so it is only ever applied to what was recorded.
/// Shape: a series that did not keep every sample counts in its totals as before; a time within its first 1,024 is exact.
/// Example: `sg::set_warmup(taken.all[0], {10, 100ms});`
template <class Series>
void set_warmup(Series& of, fixed_warmup chosen) noexcept {
  for (std::size_t i = 0; i < of.samples.size(); ++i) {
    auto& one = of.samples[i];
    if (i < chosen.samples || one.entered - of.samples.front().entered < chosen.time) one.warmup = true;
  }
}

}  // namespace streamgauge
