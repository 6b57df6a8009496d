#pragma once

#include <cstddef>
#include <string>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/unmeasured_note.hpp>
#include <streamgauge/report/notes.hpp>
#include <streamgauge/report/notes_in_order.hpp>
#include <streamgauge/report/number_table.hpp>

namespace streamgauge::report {

/// Writes a summary as a table for people, with the lines that say how far to trust it.
/// Shape: one block of columns for each observable, at most 100 columns wide for names of ordinary length.
/// The stream's locale, flags, width and precision neither matter nor change.
/// Why: any `std::ostream`; a template, so that a unit which prints nothing does not pay for compiling `<ostream>`.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, recording_summary const& of) {
  std::string text;
  notes under{of};
  bool entered = false;
  for (auto const& row : of.rows) entered = entered || row.what.submit.samples.seen() > 0;
  if (std::string const why = unmeasured_note(of); !why.empty())
    text.append("not measured: ").append(why).push_back('\n');
  else if (of.rows.empty())
    text.append("nothing measured: no phase was made\n");
  if (entered || (of.recorded == mode::time && !of.rows.empty())) {
    text.append(number_table{of}.text());
    text.push_back('\n');
    under.add_legend();
    add_about_numbers(under);
  }
  add_about_run(under);
  text.append(under.text());
  // Unformatted, so that nothing the caller set for the stream has a say.
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

/// Summarises a recording and writes it as a table.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, recording const& of) {
  table(out, summarize(of));
}

}  // namespace streamgauge::report
