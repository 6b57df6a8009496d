#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/execution_order.hpp>
#include <streamgauge/analyze/avoiding_paths.hpp>

namespace streamgauge {

/// When a node can run, counted from the beginning, and how much depends on it.
struct node_timing {
  nanoseconds earliest_start{0};
  nanoseconds latest_start{0};  ///< a later one moves the end
  nanoseconds slack{0};         ///< how much longer it alone could take without moving the end
  nanoseconds end_if_free{0};   ///< when all ends if this node took no time: no speed of it gives an earlier end
};

/// The longest path through a graph: what has to become shorter so that the whole does.
struct critical_path {
  std::optional<nanoseconds> length;  ///< from the beginning to the end of all; absent for a reason
  nanoseconds lags{0};                ///< how much of it are lags, in which none of the members runs
  std::vector<graph_node> members;    ///< in order; of several equal paths the one of nodes that were added first
  std::vector<node_timing> nodes;     ///< of each node of the graph, members or not; 0 slack without being a member is
                                      ///< another path that is as long
  std::string reason;                 ///< why there is none; empty where there is one
};

/// The critical path of a graph, and the room that each of its nodes has. Exact: whole nanoseconds are added up.
/// Shape: O((n + m) log m), and no recursion, so that a chain may be long.
/// Example: `auto path = critical_path_of(graph); path.nodes[compute.index].slack`
template <class = void>
[[nodiscard]] critical_path critical_path_of(dependency_graph const& of) {
  critical_path found;
  auto const in = execution_order_of(of);
  found.reason = in.reason;
  if (!in.reason.empty()) return found;
  auto const lengths = path_lengths_of(of, in);
  auto const avoiding = avoiding_paths_of(of, in, lengths);
  auto const& ends = lengths.until_end;
  nanoseconds length{0};
  for (auto const end : ends)
    if (length < end) length = end;
  for (std::size_t i = 0; i < of.size(); ++i) {
    auto const takes = of.nodes()[i].takes;
    auto const through = ends[i] + lengths.behind[i];
    auto const without = through - takes;
    found.nodes.push_back({ends[i] - takes, length - lengths.behind[i] - takes, length - through,
                           avoiding[i] < without ? without : avoiding[i]});
  }

  // Of those that a node waits for, the one that ended last; of equal ends the one that was added first.
  auto const none = of.size();
  std::vector<std::size_t> awaited(of.size(), none);
  for (auto const& each : of.edges()) {
    auto& last = awaited[each.after.index];
    auto const next = each.before.index;
    if (last == none || ends[last] < ends[next] || (ends[last] == ends[next] && next < last)) last = next;
  }
  std::size_t last = 0;
  while (ends[last] != length || in.first[last] != in.first[last + 1]) ++last;
  std::vector<graph_node> backwards;
  for (auto node = last; node != none; node = awaited[node]) {
    backwards.push_back({node});
    found.lags += of.nodes()[node].lag;
  }
  found.members.assign(backwards.rbegin(), backwards.rend());
  found.length = length;
  return found;
}

}  // namespace streamgauge
