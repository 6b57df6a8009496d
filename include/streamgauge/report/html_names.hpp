#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/html_text.hpp>

namespace streamgauge::report {

/// One colour for each phase, by its name, the same in every picture of a page.
/// Shape: eight, in the order in which the names were first seen; a page always has the name beside the colour.
/// A template, so that only a unit that draws compiles its bodies.
template <class Name = std::string>
class phase_colors {
 public:
  /// "c3": the class of the colour.
  [[nodiscard]] std::string of(Name const& phase) {
    auto const at = seen_.emplace(phase, seen_.size()).first->second;
    return std::string{"c"}.append(digits(at % 8));
  }

 private:
  std::map<Name, std::size_t> seen_;
};

/// A patch of a phase's colour, and the phase's name.
template <class = void>
[[nodiscard, gnu::cold]] std::string chip_and_name(std::string_view color, std::string_view identity) {
  return std::string{"<span class=\"who\"><span class=\"chip "}.append(color).append("\"></span>").append(html_name(identity))
      .append("</span>");
}

/// A verdict in a word with a sign, so that no colour is needed to read it.
template <class = void>
[[nodiscard, gnu::cold]] std::string badge(std::string_view look, std::string_view sign, std::string_view word) {
  return std::string{"<span class=\"badge "}.append(look).append("\" data-sign=\"").append(sign).append("\">")
      .append(html_text(word)).append("</span>");
}

/// What an observable's steadiness is, as a badge.
template <class = void>
[[nodiscard, gnu::cold]] std::string steady_badge(distribution const& of) {
  if (of.steady.count == 0) return badge("open", "\xe2\x80\x93", "no value");
  switch (of.steadiness.verdict) {
    case steadiness::yes: return badge("good", "\xe2\x9c\x93", "steady");
    case steadiness::no: return badge("bad", "\xe2\x9c\x97", "not steady");
    case steadiness::unknown: break;
  }
  return badge("open", "?", "not known");
}

/// All time that the values of an observable add up to, warm-up included. Units: nanoseconds.
template <class = void>
[[nodiscard, gnu::cold]] double total_of(distribution const& of) noexcept {
  double total = 0.0;
  for (auto const* stage : {&of.warmup, &of.steady})
    if (stage->mean) total += stage->mean->count() * static_cast<double>(stage->count);
  return total;
}

/// The observable that says most of a phase: its device time, else the host's.
template <class = void>
[[nodiscard, gnu::cold]] observable_summary const& chief_of(summary const& of) noexcept {
  return of.device.values.steady.count + of.device.values.warmup.count > 0 ? of.device : of.submit;
}

}  // namespace streamgauge::report
