#pragma once

#include <string>

#include <streamgauge/sample.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// Why nothing was measured: empty where it was. `of`: a recording, or its summary.
template <class Of>
[[nodiscard, gnu::noinline, gnu::cold]] std::string unmeasured_note(Of const& of) {
  if (of.recorded == mode::time) return {};
  if (!of.why_not_measured.empty()) return escaped(of.why_not_measured);
  return of.recorded == mode::off ? "off" : "mark, which names ranges for tools only";
}

/// Why no device time has a place on the host's clock, of a recording in which none has.
template <class Recording>
[[nodiscard, gnu::noinline, gnu::cold]] std::string unplaced_note(Recording const& of) {
  if (std::string const why = unmeasured_note(of); !why.empty()) return "not measured: " + why;
  if (!of.why_not_placed.empty()) return escaped(of.why_not_placed);
  if (!of.environment.why_no_device.empty()) return escaped(of.environment.why_no_device);
  return of.clocks.empty() ? "the recorder was no sg::timeline_recorder" : "no device time was placed";
}

}  // namespace streamgauge::report
