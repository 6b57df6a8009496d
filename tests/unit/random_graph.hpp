#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/analyze/dependency_graph.hpp>

/// Small random graphs, and what can be said of them by listing every path: no cleverness that could be wrong twice.
namespace random_graph {

using streamgauge::nanoseconds;
using path = std::vector<std::size_t>;

/// Up to eight nodes whose numbers say nothing of their order; short times, so that paths are often equally long. Some
/// nodes share a name.
inline streamgauge::dependency_graph drawn(std::mt19937_64& random) {
  auto const below = [&](std::uint64_t limit) { return static_cast<std::size_t>(random() % limit); };
  auto const size = 1 + below(8);
  streamgauge::dependency_graph made;
  for (std::size_t i = 0; i < size; ++i) {
    auto const node = made.add(std::string(1, static_cast<char>('a' + below(6))), nanoseconds{below(7)});
    if (below(3) == 0) made.set_lag(node, nanoseconds{below(4)});
  }
  std::vector<std::size_t> order(size);
  for (std::size_t i = 0; i < size; ++i) order[i] = i;
  for (std::size_t i = size; i-- > 1;) std::swap(order[i], order[below(i + 1)]);
  auto const density = 1 + below(5);
  for (std::size_t i = 0; i < size; ++i)
    for (std::size_t j = i + 1; j < size; ++j)
      for (std::size_t again = 0; again < 2; ++again)
        if (below(6 * (1 + 4 * again)) < density) made.add_edge({order[i]}, {order[j]});
  return made;
}

/// Every way through a graph, from a node that waits for none to one that none waits for.
inline std::vector<path> paths_of(streamgauge::dependency_graph const& of) {
  std::vector<path> found, open;
  for (std::size_t i = 0; i < of.size(); ++i) {
    bool first = true;
    for (auto const& edge : of.edges()) first = first && edge.after.index != i;
    if (first) open.push_back({i});
  }
  while (!open.empty()) {
    auto const at = open.back();
    open.pop_back();
    bool ended = true;
    for (auto const& edge : of.edges()) {
      if (edge.before.index != at.back()) continue;
      ended = false;
      auto longer = at;
      longer.push_back(edge.after.index);
      open.push_back(longer);
    }
    if (ended) found.push_back(at);
  }
  return found;
}

inline std::vector<std::int64_t> times_of(streamgauge::dependency_graph const& of) {
  std::vector<std::int64_t> takes;
  for (auto const& each : of.nodes()) takes.push_back(each.takes.count());
  return takes;
}

/// The part of a path up to before a place in it, with the lags and these times.
inline std::int64_t length_before(streamgauge::dependency_graph const& of, path const& along, std::size_t place,
                                  std::vector<std::int64_t> const& takes) {
  std::int64_t length = 0;
  for (std::size_t i = 0; i < place; ++i) length += of.nodes()[along[i]].lag.count() + takes[along[i]];
  return length;
}

/// The end of all if the nodes took these times: the longest of the paths.
inline std::int64_t end_of(streamgauge::dependency_graph const& of, std::vector<path> const& paths,
                           std::vector<std::int64_t> const& takes) {
  std::int64_t end = 0;
  for (auto const& along : paths) {
    auto const length = length_before(of, along, along.size(), takes);
    if (end < length) end = length;
  }
  return end;
}

}  // namespace random_graph
