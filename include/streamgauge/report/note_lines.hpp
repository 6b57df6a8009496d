#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// Lines under a table, each behind its label. What they say is the business of those who inherit from it.
/// A template, so that only a unit that prints compiles its bodies.
template <class Text = std::string>
class note_lines {
 public:
  [[nodiscard]] Text const& text() const noexcept { return text_; }

 protected:
  // A line is said piece by piece, then ended.
  [[gnu::noinline, gnu::cold]] void say(std::string_view piece) { line_.append(piece); }
  [[gnu::noinline, gnu::cold]] void say_name(summary const& of) { say(unbroken(identity_of(of.phase, of.conditions))); }
  [[gnu::noinline, gnu::cold]] void say_time(fractional_nanoseconds time) { say(unbroken(with_unit(time))); }
  [[gnu::noinline, gnu::cold]] void say_signed(int number) {
    if (number < 0) say("-");
    auto const wide = static_cast<std::int64_t>(number);
    say(digits(static_cast<std::uint64_t>(wide < 0 ? -wide : wide)));
  }
  [[gnu::noinline, gnu::cold]] void end(char const* label) {
    text_.append(note(label, line_));
    line_.clear();
  }

  Text line_;
  Text text_;
};

}  // namespace streamgauge::report
