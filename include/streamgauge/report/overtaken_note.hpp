#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// What was queued ahead of an interval and did not last, as the end of a sentence; empty where all of it did.
template <class = void>
[[nodiscard, gnu::cold]] std::string overtaken_text(std::size_t intervals) {
  if (intervals == 0) return {};
  return "; the device was through the work ahead of " + digits(std::uint64_t{intervals}) +
         (intervals == 1 ? " interval" : " intervals") + " before all was submitted";
}

}  // namespace streamgauge::report
