#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The nodes of a graph in an order in which they could run one by one, with what comes after each.
struct execution_order {
  std::vector<std::size_t> order;  ///< each behind all that come before it; empty for a reason
  std::vector<std::size_t> first;  ///< what comes after node n lies in `after`, from first[n] to before first[n + 1]
  std::vector<std::size_t> after;
  std::string reason;  ///< why there is no order; empty where there is one
};

/// The members of a cycle, each waited for by the next, the last by the first; of those the one that was added first
/// leads. Requires: `waiting` holds for each node how many it still waits for, and it is not zero for all.
template <class = void>
[[nodiscard]] std::vector<graph_node> cycle_among(dependency_graph const& of, std::vector<std::size_t> const& waiting) {
  auto const none = of.size();
  // What is left waits for something that is left, so walking backwards never ends, and meets itself.
  std::vector<std::size_t> before(of.size(), none);
  for (auto const& edge : of.edges())
    if (waiting[edge.before.index] > 0 && before[edge.after.index] == none)
      before[edge.after.index] = edge.before.index;
  std::size_t at = 0;
  while (waiting[at] == 0) ++at;
  std::vector<bool> seen(of.size(), false);
  for (; !seen[at]; at = before[at]) seen[at] = true;
  std::size_t least = at;
  for (auto each = before[at]; each != at; each = before[each])
    if (each < least) least = each;
  std::vector<graph_node> backwards{{least}};
  for (auto each = before[least]; each != least; each = before[each]) backwards.push_back({each});
  std::vector<graph_node> members{backwards.front()};
  for (auto i = backwards.size(); i-- > 1;) members.push_back(backwards[i]);
  return members;
}

/// A cycle in words. Of a long one the first sixteen are named.
template <class = void>
[[nodiscard]] std::string describe_cycle(dependency_graph const& of, std::vector<graph_node> const& members) {
  constexpr std::size_t most = 16;
  auto const first = of.label_of(members.front());
  if (members.size() == 1) return first + " comes after itself: take that edge out";
  std::string text = "a cycle, so none of these can be the first: " + first;
  auto const named = members.size() <= most ? members.size() : most;
  for (std::size_t i = 1; i < named; ++i) text += ", then " + of.label_of(members[i]);
  if (named < members.size()) text += ", then " + std::to_string(members.size() - named) + " more";
  return text + ", then " + first + " again: take one of these edges out";
}

/// Puts the nodes of a graph in order, or says why it cannot: a mistake in making the graph, no nodes, a cycle, or
/// times that add up to more than a number of nanoseconds holds.
/// Shape: O(n + m) for n nodes and m edges, and no recursion.
template <class = void>
[[nodiscard]] execution_order execution_order_of(dependency_graph const& of) {
  execution_order found;
  found.reason = of.why_refused();
  if (found.reason.empty() && of.size() == 0) found.reason = "the graph has no nodes";
  nanoseconds::rep sum = 0;
  for (auto const& each : of.nodes())
    if (found.reason.empty() && (__builtin_add_overflow(sum, each.takes.count(), &sum) ||
                                 __builtin_add_overflow(sum, each.lag.count(), &sum)))
      found.reason = "the times of all nodes add up to 2^63 ns or more, which is 292 years";
  if (!found.reason.empty()) return found;

  std::vector<std::size_t> waiting(of.size(), 0);
  found.first.assign(of.size() + 1, 0);
  for (auto const& edge : of.edges()) {
    ++waiting[edge.after.index];
    ++found.first[edge.before.index + 1];
  }
  for (std::size_t i = 0; i < of.size(); ++i) found.first[i + 1] += found.first[i];
  found.after.resize(of.edges().size());
  std::vector<std::size_t> next(found.first);
  for (auto const& edge : of.edges()) found.after[next[edge.before.index]++] = edge.after.index;

  found.order.reserve(of.size());
  for (std::size_t i = 0; i < of.size(); ++i)
    if (waiting[i] == 0) found.order.push_back(i);
  for (std::size_t done = 0; done < found.order.size(); ++done) {
    auto const node = found.order[done];
    for (auto i = found.first[node]; i < found.first[node + 1]; ++i)
      if (--waiting[found.after[i]] == 0) found.order.push_back(found.after[i]);
  }
  if (found.order.size() == of.size()) return found;
  found.order.clear();
  found.reason = describe_cycle(of, cycle_among(of, waiting));
  return found;
}

}  // namespace streamgauge
