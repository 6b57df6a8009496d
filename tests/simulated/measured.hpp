#pragma once

// What the tests of measurements ask again and again.

#include <functional>
#include <string>

#include <streamgauge/measure/measurement.hpp>
#include <streamgauge/report/measurement_text.hpp>

#include "gated.hpp"

namespace measured {

using namespace gated;

constexpr int l2_attribute = 38;  // cudaDevAttrL2CacheSize

/// Choices that end after so long, or so many samples or rounds.
inline sg::measure_choices within(nanoseconds time, std::size_t samples = 200) {
  sg::measure_choices chosen;
  chosen.until.time = time;
  chosen.until.samples = samples;
  return chosen;
}

/// A callable whose work takes so long.
inline std::function<void(cudaStream_t)> taking(nanoseconds time) {
  return [time](cudaStream_t on) { launch(on, time); };
}

/// The lines about a measurement, unbroken.
inline std::string text_of(sg::measurement const& found) {
  std::string text;
  sg::report::measurement_lines<sg::measurement> const of{found};
  for (auto const& each : of.lines()) text += each.label + ": " + each.text + '\n';
  return text;
}
inline bool has(std::string const& text, char const* what) { return text.find(what) != std::string::npos; }

}  // namespace measured
