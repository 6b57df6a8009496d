#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/given_time.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/execution_order.hpp>
#include <streamgauge/analyze/avoiding_paths.hpp>
#include <streamgauge/analyze/critical_path.hpp>

namespace streamgauge {

// What would become of the end if a phase took another time. Dependencies and lags stay as they are, and so does every
// other phase: that two which run at once share a device, so that one gains where the other yields, no graph says.
// Functions are templates, so that only a unit that calls them compiles their bodies.

/// When all would have ended, or why that cannot be said.
struct what_if {
  std::optional<nanoseconds> end;
  std::string reason;  ///< empty where there is an end
};

/// Why nothing can be so many times as fast; empty where it can.
[[nodiscard]] inline char const* why_no_speed(double times_as_fast) noexcept {
  return finite(times_as_fast) && times_as_fast > 0.0 ? "" : "the factor is not a number above 0 (2 is twice as fast)";
}

/// A time at another speed, rounded to the nearest nanosecond; absent where it is longer than a number holds.
[[nodiscard]] inline std::optional<nanoseconds> at_speed(nanoseconds takes, double times_as_fast) noexcept {
  if (times_as_fast == 1.0) return takes;
  return given_nanoseconds(static_cast<double>(takes.count()) / times_as_fast).time;
}

/// Tries other times for some nodes of one graph.
/// Shape: O(1) for one node and O(n + m) for several, behind one critical path.
template <class = void>
class speed_trial {
 public:
  /// Requires: the graph outlives it.
  explicit speed_trial(dependency_graph const& of) : of_{of}, in_{execution_order_of(of)}, path_{critical_path_of(of)} {
    for (auto const& each : of.nodes())
      if (path_.length) sum_ += each.takes.count() + each.lag.count();
  }

  [[nodiscard]] critical_path const& path() const noexcept { return path_; }

  /// The end if these nodes were so many times as fast. Requires: they are in the graph, none of them twice.
  [[nodiscard]] what_if faster(std::vector<std::size_t> const& nodes, double times_as_fast) const {
    if (!path_.length) return {std::nullopt, path_.reason};
    if (*why_no_speed(times_as_fast) != '\0') return {std::nullopt, why_no_speed(times_as_fast)};
    std::vector<nanoseconds> takes;
    auto sum = sum_;
    for (auto const node : nodes) {
      auto const before = of_.nodes()[node].takes;
      auto const now = at_speed(before, times_as_fast);
      if (!now || __builtin_add_overflow(sum - before.count(), now->count(), &sum))
        return {std::nullopt, of_.label_of({node}) + " would take so long that all times add up to 292 years or more"};
      takes.push_back(*now);
    }
    return with(nodes, takes);
  }

  /// The end if these nodes took no time: what no speed of theirs can better. Requires: they are in the graph.
  [[nodiscard]] what_if free(std::vector<std::size_t> const& nodes) const {
    if (!path_.length) return {std::nullopt, path_.reason};
    return with(nodes, std::vector<nanoseconds>(nodes.size(), nanoseconds{0}));
  }

 private:
  [[nodiscard]] what_if with(std::vector<std::size_t> const& nodes, std::vector<nanoseconds> const& takes) const {
    if (nodes.size() == 1) {
      auto const& timing = path_.nodes[nodes.front()];
      auto const through = *path_.length - timing.slack - of_.nodes()[nodes.front()].takes + takes.front();
      return {timing.end_if_free < through ? through : timing.end_if_free, {}};
    }
    std::vector<nanoseconds> all;
    for (auto const& each : of_.nodes()) all.push_back(each.takes);
    for (std::size_t i = 0; i < nodes.size(); ++i) all[nodes[i]] = takes[i];
    nanoseconds end{0};
    for (auto const each : earliest_ends(of_, in_, [&](std::size_t node) { return all[node]; }))
      if (end < each) end = each;
    return {end, {}};
  }

  dependency_graph const& of_;
  execution_order in_;
  critical_path path_;
  nanoseconds::rep sum_ = 0;  // of all times and lags
};

/// The nodes of one name, in the order in which they were added.
template <class = void>
[[nodiscard]] std::vector<std::size_t> nodes_of(dependency_graph const& of, std::string_view phase) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < of.size(); ++i)
    if (of.nodes()[i].name == phase) found.push_back(i);
  return found;
}

/// Why a phase has no what-if in a graph: nothing in it has that name.
template <class = void>
[[nodiscard]] what_if no_such_phase(std::string_view phase) {
  return {std::nullopt, std::string{"no node of the graph is called \""}.append(phase) + '"'};
}
template <class = void>
[[nodiscard]] what_if no_such_node(dependency_graph const& of, graph_node node) {
  return {std::nullopt,
          "there is no node " + std::to_string(node.index) + " in a graph of " + std::to_string(of.size())};
}

/// The end if one node were so many times as fast: 2 halves its time, 0.5 doubles it.
template <class = void>
[[nodiscard]] what_if end_if_faster(dependency_graph const& of, graph_node node, double times_as_fast) {
  if (node.index >= of.size()) return no_such_node(of, node);
  return speed_trial<>{of}.faster({node.index}, times_as_fast);
}

/// The end if a phase were so many times as fast, each time that it runs.
template <class = void>
[[nodiscard]] what_if end_if_faster(dependency_graph const& of, std::string_view phase, double times_as_fast) {
  auto const nodes = nodes_of(of, phase);
  return nodes.empty() ? no_such_phase(phase) : speed_trial<>{of}.faster(nodes, times_as_fast);
}

/// The end if one node took no time: the limit of being ever faster.
template <class = void>
[[nodiscard]] what_if end_if_free(dependency_graph const& of, graph_node node) {
  return node.index < of.size() ? speed_trial<>{of}.free({node.index}) : no_such_node(of, node);
}

/// The end if a phase took no time, each time that it runs.
template <class = void>
[[nodiscard]] what_if end_if_free(dependency_graph const& of, std::string_view phase) {
  auto const nodes = nodes_of(of, phase);
  return nodes.empty() ? no_such_phase(phase) : speed_trial<>{of}.free(nodes);
}

}  // namespace streamgauge
