#pragma once

#include <streamgauge/streamgauge.hpp>

// What each of the two translation units does with a null stream. Both are in one program, and what a null stream means
// is another thing in each.

struct unit {
  cudaStream_t (*resolved)(cudaStream_t stream);
  void (*enter_and_leave)(streamgauge::phase const& phase, cudaStream_t stream);
  void (*enter_a_null_pointer)(streamgauge::phase const& phase);
  streamgauge::started_phase (*start)(streamgauge::phase const& phase, cudaStream_t stream);
  bool (*throws)();
};

unit legacy_unit();
unit per_thread_unit();
