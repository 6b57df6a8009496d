#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>

namespace streamgauge {

/// A stretch that began before one had ended that it is said to come after. No graph can play that back.
struct early_begin {
  graph_node before;
  graph_node after;
  nanoseconds by{0};  ///< how long both ran at once
};

/// Placed stretches as a dependency graph: node i is stretch i of the list. Without early begins each node's earliest
/// start is when it began, and the length of the critical path is `measured`.
struct stream_graph {
  dependency_graph graph;          ///< says in `why_refused()` what was wrong with the stretches
  nanoseconds begin{0};            ///< the first begin, from which the graph counts
  nanoseconds measured{0};         ///< from there to the last end
  std::vector<early_begin> early;  ///< their lags count as 0, so the graph takes longer than was measured
};

/// The graph in which each stretch comes after the one before it on its stream, and after those that further edges name
/// by their places in the list.
///
/// What was measured beyond that stays as it was: between the last end of what a stretch waits for and its begin lies a
/// fixed lag, never below zero, whatever gets faster. A stretch that waits for nothing keeps its distance from the
/// first begin of all.
/// Why: a lag has causes that no list of stretches shows, so a what-if is what the order allows, not a promise.
/// - The host: where it had not submitted yet, the next launch comes no earlier because the device is done earlier. A
///   lag that the host made would then grow; here it stays.
/// - A wait for an event of another stream that no edge tells of looks like a lag, and what was waited for looks as if
///   it had slack. Give the edges that the program made.
/// - Stretches that run at once share the device: a faster one may leave more of it to another, or less.
/// - Stretches of one stream that lie inside each other have no order: give the outer ones or the inner ones.
/// Shape: O(n log n + m) for n stretches and m further edges.
template <class = void>
[[nodiscard]] stream_graph stream_graph_of(std::vector<placed_stretch> const& stretches,
                                           std::vector<dependency> const& further = {}) {
  stream_graph found;
  auto const why_not = why_not_placed(stretches);
  found.graph.refuse(why_not);
  if (!why_not.empty()) return found;
  found.begin = stretches.front().begin;
  auto last_end = stretches.front().end;
  for (auto const& each : stretches) {
    found.graph.add(each.name, each.end - each.begin);
    if (each.begin < found.begin) found.begin = each.begin;
    if (last_end < each.end) last_end = each.end;
  }
  found.measured = last_end - found.begin;

  auto const order = in_stream_order(stretches);
  for (std::size_t i = 1; i < order.size(); ++i) {
    auto const& before = stretches[order[i - 1]];
    auto const& after = stretches[order[i]];
    if (before.device == after.device && before.stream == after.stream)
      found.graph.add_edge({order[i - 1]}, {order[i]});
  }
  for (auto const& each : further) found.graph.add_edge(each.before, each.after);

  std::vector<nanoseconds> free_from(stretches.size(), found.begin);  // the last end of what a stretch waits for
  for (auto const& edge : found.graph.edges()) {
    auto const end = stretches[edge.before.index].end;
    auto const begin = stretches[edge.after.index].begin;
    if (free_from[edge.after.index] < end) free_from[edge.after.index] = end;
    if (begin < end) found.early.push_back({edge.before, edge.after, end - begin});
  }
  for (std::size_t i = 0; i < stretches.size(); ++i)
    if (free_from[i] < stretches[i].begin) found.graph.set_lag({i}, stretches[i].begin - free_from[i]);
  return found;
}

}  // namespace streamgauge
