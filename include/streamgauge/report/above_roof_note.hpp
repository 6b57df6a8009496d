#pragma once

#include <string>

#include <streamgauge/analyze/roofline.hpp>

namespace streamgauge::report {

/// What is said of a rate above its roof, as the end of a sentence; empty where none is.
/// Why: the declaration may be wrong. But roofs of the device's attributes know no tensor cores, and the memory's no cache.
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string above_roof_note(roofline_point const& at, device_roofs const& roofs) {
  if (!at.above_flops && !at.above_bytes) return {};
  std::string text = "; that is more than the device can do: the declared work is wrong, or the time";
  if (at.above_flops && roofs.flops.origin == roof_origin::attributes)
    text += ", or it ran on tensor cores, which have a roof of their own";
  if (at.above_bytes) text += ", or bytes came from a cache";
  return text;
}

}  // namespace streamgauge::report
