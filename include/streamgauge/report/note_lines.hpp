#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// A line under a table before it is broken into lines of a page.
struct labelled_line {
  std::string label;  ///< empty: it goes on below the one above
  std::string text;
  bool verbatim = false;  ///< to be copied as it stands: it has no label and is broken nowhere
};

/// Lines under a table, each behind its label. What they say is the business of those who inherit from it.
/// A template, so that only a unit that prints compiles its bodies.
template <class Text = std::string>
class note_lines {
 public:
  /// The lines broken to a page of 100 columns.
  [[nodiscard]] Text text() const {
    Text all;
    for (auto const& each : lines_) {
      if (each.verbatim)
        all.append("\n").append(each.text).append("\n\n");
      else
        all.append(note(each.label, each.text));
    }
    return all;
  }
  /// The same unbroken, for a page of any width.
  [[nodiscard]] std::vector<labelled_line> const& lines() const noexcept { return lines_; }

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
    lines_.push_back({label, std::move(line_)});
    line_.clear();
  }
  [[gnu::noinline, gnu::cold]] void add(char const* label, std::string_view text) {
    lines_.push_back({label, std::string{text}});
  }
  [[gnu::noinline, gnu::cold]] void add_verbatim(std::string_view text) {
    lines_.push_back({"", std::string{text}, true});
  }

  Text line_;

 private:
  std::vector<labelled_line> lines_;
};

}  // namespace streamgauge::report
