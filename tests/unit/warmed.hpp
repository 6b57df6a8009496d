// A series whose first samples are warm-up, as a recorder leaves it.
#pragma once

#include <cstddef>

#include <streamgauge/sample.hpp>

inline void warm_up(streamgauge::series& made, std::size_t count) {
  made.warmup = count;
  for (std::size_t i = 0; i < made.samples.size(); ++i) made.samples[i].warmup = i < count;
}
