#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <streamgauge/analyze/ranks.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>

namespace streamgauge::report {

/// Ranks side by side as a table: for each observable of each series the slowest rank, the fastest, and the spread; then,
/// below, every rank's median.
/// `names`: what each rank is called, a file's name for one; by number where there are none.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
template <class Ostream>
[[gnu::cold]] void rank_table(Ostream& out, std::vector<series_by_rank> const& of, std::vector<std::string> const& names = {}) {
  auto const name_of = [&](std::size_t rank) {
    return rank < names.size() ? escaped(names[rank]) : "rank " + digits(std::uint64_t{rank});
  };
  grid<> lines;
  auto& cells = lines.next_block();
  cells.title = "over the ranks, medians";
  cells.subtitle = "without warm-up";
  cells.columns = 5;
  for (char const* heading : {"what", "ranks", "fastest", "slowest", "spread"}) cells.cells.emplace_back(heading);
  std::string below;
  for (series_by_rank const& each : of) {
    std::string const identity = identity_of(each.phase, each.conditions);
    std::size_t with_median = 0;
    std::string medians;
    for (std::size_t rank = 0; rank < each.ranks.size(); ++rank) {
      auto const& median = each.ranks[rank].median;
      if (!medians.empty()) medians += ", ";
      medians += unbroken(name_of(rank) + " " + (median ? with_unit(*median) : std::string{"-"}));
      if (median) ++with_median;
    }
    lines.add_line(identity, "");
    cells.cells.emplace_back(describe(each.what));
    cells.cells.push_back(digits(std::uint64_t{with_median}));
    cells.cells.push_back(each.fastest ? with_unit(*each.ranks[*each.fastest].median) : "-");
    cells.cells.push_back(each.slowest ? with_unit(*each.ranks[*each.slowest].median) : "-");
    cells.cells.push_back(each.spread ? percent(*each.spread) : "-");
    below += note(describe(each.what), unbroken(identity) + ": " + medians +
                                           (each.slowest ? "; the slowest is " + unbroken(name_of(*each.slowest)) : ""));
  }
  std::string text;
  if (of.empty()) {
    text = "no rank has a time\n";
  } else {
    lines.measure(cells);
    text = lines.text() + "\n" + below;
  }
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
