#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/execution_order.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The longest ways through a graph to each node and from each, both in the order of `dependency_graph::nodes`.
struct path_lengths {
  std::vector<nanoseconds> until_end;  ///< the longest path that ends with a node, that node and all lags included
  std::vector<nanoseconds> behind;     ///< the longest one from its end on; 0 where nothing comes after it
};

/// When each node ends at the earliest if node i takes `takes(i)`.
/// Shape: O(n + m), and no recursion. Requires: the order is the graph's, and the times are such as it allows.
template <class Takes>
[[nodiscard]] std::vector<nanoseconds> earliest_ends(dependency_graph const& of, execution_order const& in,
                                                     Takes takes) {
  std::vector<nanoseconds> ends(of.size(), nanoseconds{0});
  for (auto const node : in.order) {
    auto& end = ends[node];  // until here the latest end of those that it waits for
    end += of.nodes()[node].lag + takes(node);
    for (auto i = in.first[node]; i < in.first[node + 1]; ++i)
      if (ends[in.after[i]] < end) ends[in.after[i]] = end;
  }
  return ends;
}

/// Shape: O(n + m), and no recursion. Requires: the order is the graph's.
template <class = void>
[[nodiscard]] path_lengths path_lengths_of(dependency_graph const& of, execution_order const& in) {
  path_lengths found{earliest_ends(of, in, [&](std::size_t node) { return of.nodes()[node].takes; }),
                     std::vector<nanoseconds>(of.size(), nanoseconds{0})};
  for (auto place = in.order.size(); place-- > 0;) {
    auto& behind = found.behind[in.order[place]];
    for (auto i = in.first[in.order[place]]; i < in.first[in.order[place] + 1]; ++i) {
      auto const& next = of.nodes()[in.after[i]];
      auto const length = next.lag + next.takes + found.behind[in.after[i]];
      if (behind < length) behind = length;
    }
  }
  return found;
}

/// For each node the longest path that does not lead through it; 0 where every path does.
///
/// Why: it is what a node can never shorten, however fast it becomes. In an execution order a path avoids a node
/// exactly where one of its edges leads from a place before the node to a place behind it, so the answer for a place is
/// the longest path over an edge that reaches across. From the longest one on, each settles the places still open.
/// Shape: O((n + m) log m), where working it out for each node anew would take O(n (n + m)).
template <class = void>
[[nodiscard]] std::vector<nanoseconds> avoiding_paths_of(dependency_graph const& of, execution_order const& in,
                                                         path_lengths const& lengths) {
  struct reach {
    nanoseconds longest;  // of the paths over an edge
    std::size_t from;     // places, counted from 1
    std::size_t to;
  };
  auto const size = of.size();
  std::vector<std::size_t> place(size);
  for (std::size_t i = 0; i < size; ++i) place[in.order[i]] = i + 1;
  std::vector<reach> edges;
  edges.reserve(of.edges().size());
  std::vector<bool> is_first(size, true);
  for (auto const& each : of.edges()) {
    auto const before = each.before.index;
    auto const after = each.after.index;
    is_first[after] = false;
    auto const& node = of.nodes()[after];
    edges.push_back({lengths.until_end[before] + node.lag + node.takes + lengths.behind[after], place[before],
                     place[after]});
  }
  for (std::size_t i = 0; i < size; ++i) {
    auto const& node = of.nodes()[i];
    if (is_first[i]) edges.push_back({node.lag + node.takes + lengths.behind[i], 0, place[i]});
    if (in.first[i] == in.first[i + 1]) edges.push_back({lengths.until_end[i], place[i], size + 1});
  }
  put_in_order(edges, [](reach const& a, reach const& b) { return b.longest < a.longest; });

  std::vector<std::size_t> unsettled(size + 2);  // the next place from here on that may still be open
  for (std::size_t i = 0; i < unsettled.size(); ++i) unsettled[i] = i;
  auto const next_open = [&](std::size_t from) {
    while (unsettled[from] != from) from = unsettled[from] = unsettled[unsettled[from]];
    return from;
  };
  std::vector<nanoseconds> found(size, nanoseconds{0});
  for (auto const& each : edges)
    for (auto at = next_open(each.from + 1); at < each.to; at = next_open(at)) {
      found[in.order[at - 1]] = each.longest;
      unsettled[at] = at + 1;
    }
  return found;
}

}  // namespace streamgauge
