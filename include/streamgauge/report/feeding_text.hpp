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

/// What kept the device from waiting for the host, of a measurement or of rounds; and why it was no gate, where it was none:
/// "fed by nothing: not held: a tool is attached, which may run one thing at a time".
template <class Found>
[[nodiscard, gnu::cold]] std::string feeding_text(Found const& of) {
  std::string text = std::string{"fed by "} + describe(of.feeding);
  if (of.feeding != decltype(of.feeding)::gate) text += std::string{": "} + describe(of.gate);
  return text + overtaken_text(of.overtaken);
}

}  // namespace streamgauge::report
