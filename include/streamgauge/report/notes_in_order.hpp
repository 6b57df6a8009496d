#pragma once

#include <streamgauge/report/notes.hpp>

namespace streamgauge::report {

// The order of the lines under the numbers, for text and for pages. Templates, so that only a unit that prints compiles them.

/// All that bears on how far the numbers can be trusted.
template <class Notes>
[[gnu::cold]] void add_about_numbers(Notes& to) {
  to.add_instrument();
  to.add_clocks();
  to.add_spans();
  to.add_accounts();
  to.add_trust();
  to.add_warnings();
}

/// What holds for the whole run, with and without numbers.
template <class Notes>
[[gnu::cold]] void add_about_run(Notes& to) {
  to.add_problems();
  to.add_tool();
  to.add_environment();
}

}  // namespace streamgauge::report
