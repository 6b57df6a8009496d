#pragma once

#include <cstdint>
#include <string>

#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// How many executions of a phase were starved, and what those that were not took: "53 of 55 starved; ...". Empty where none
/// was. A template, so that only a unit that prints compiles it.
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string feeding_note(latency_split const& of) {
  std::string text;
  if (of.count(feeding::starved) == 0) return text;
  text.append(digits(of.count(feeding::starved))).append(" of ").append(digits(of.executions)).append(" starved");
  if (std::uint64_t const unknown = of.count(feeding::unknown); unknown > 0)
    text.append(", ").append(digits(unknown)).append(" not known");
  text.append("; device median of all ").append(unbroken(with_unit(*of.device)));
  if (of.clean_device)
    text.append(", of the ").append(digits(of.count(feeding::clean))).append(" clean ones ").append(
        unbroken(with_unit(*of.clean_device)));
  return text;
}

}  // namespace streamgauge::report
