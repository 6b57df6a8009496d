#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/critical_path.hpp>
#include <streamgauge/analyze/phase_outlook.hpp>
#include <streamgauge/analyze/stream_graph.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/critical_path_table.hpp>

namespace streamgauge::report {

/// What a graph out of placed stretches leaves open, under its critical path.
/// A template, so that only a unit that prints compiles its bodies.
template <class Graph>
class stream_graph_notes : public note_lines<> {
 public:
  [[gnu::cold]] stream_graph_notes(Graph const& of, critical_path const& path) {
    say_time(of.measured);
    say(" from the first begin to the last end");
    end("measured");
    add_early(of, path);
    add("lags", "kept as measured, whatever gets faster: that the host had not submitted yet, or that a "
                "stream waited for another and no edge says so, looks the same");
  }

 private:
  [[gnu::cold]] void add_early(Graph const& of, critical_path const& path) {
    if (of.early.empty()) return;
    auto const* most = &of.early.front();
    for (auto const& each : of.early)
      if (most->by < each.by) most = &each;
    say(digits(of.early.size()));
    say(of.early.size() == 1 ? " stretch began before one that it comes after had ended: "
                             : " times a stretch began before one that it comes after had ended, most of all ");
    say_name_of(of, most->after);
    say(", ");
    say_time(most->by);
    say(" before the end of ");
    say_name_of(of, most->before);
    say("; the lag then counts as 0");
    if (path.length && of.measured < *path.length) {
      say(", and the path is ");
      say_time(*path.length - of.measured);
      say(" longer than what was measured");
    }
    end("early");
  }

  [[gnu::cold]] void say_name_of(Graph const& of, graph_node node) {
    say(unbroken(identity_of(of.graph.nodes()[node.index].name, {})));
  }
};

/// Writes the critical path of placed stretches as a table, with what such a graph leaves open.
template <class Ostream>
[[gnu::cold]] void table(Ostream& out, stream_graph const& of, double times_as_fast = 2.0) {
  auto const found = what_ifs_of(of.graph, times_as_fast);
  table(out, found);
  if (!found.reason.empty()) return;
  std::string const text = stream_graph_notes<stream_graph>{of, found.path}.text();
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
