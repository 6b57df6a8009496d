#pragma once

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/collector.hpp>
#include <streamgauge/analyze/given_time.hpp>

namespace streamgauge {

/// A node of a dependency graph: where it stands among those that were added, counted from 0.
struct graph_node {
  std::size_t index = 0;

  [[nodiscard]] friend constexpr bool operator==(graph_node a, graph_node b) noexcept { return a.index == b.index; }
  [[nodiscard]] friend constexpr bool operator!=(graph_node a, graph_node b) noexcept { return !(a == b); }
};

/// `before` must have ended when `after` begins.
struct dependency {
  graph_node before;
  graph_node after;
};

/// One execution of a phase, as a graph holds it.
struct timed_node {
  std::string name;
  nanoseconds takes{0};
  nanoseconds lag{0};  ///< its begin comes that much behind the end of the last before it, or behind the beginning
};

/// Which executions of phases wait for which others, and how long each takes.
///
/// Nothing here throws or stops at a mistake: the first one is kept, and what is worked out from the graph is refused
/// with it as the reason.
/// Throws: only `std::bad_alloc`.
/// Example: `auto copy = graph.add("copy", 4ms); auto compute = graph.add("compute", 3ms, {copy});`
class dependency_graph {
 public:
  /// An execution that takes so long, and that begins when all of `after` have ended. Several may have one name: they
  /// are executions of one phase.
  template <class Rep, class Period>
  graph_node add(std::string name, std::chrono::duration<Rep, Period> takes,
                 std::initializer_list<graph_node> after = {}) {
    return add(std::move(name), given_nanoseconds(takes), after.begin(), after.size());
  }
  template <class Rep, class Period>
  graph_node add(std::string name, std::chrono::duration<Rep, Period> takes, std::vector<graph_node> const& after) {
    return add(std::move(name), given_nanoseconds(takes), after.data(), after.size());
  }

  /// One more edge, between nodes that are there.
  void add_edge(graph_node before, graph_node after) {
    for (auto const each : {before, after}) {
      if (each.index < nodes_.size()) continue;
      refuse("an edge names node " + std::to_string(each.index) + ", and there are " + std::to_string(nodes_.size()) +
             ": add a node before its edges");
      return;
    }
    edges_.push_back({before, after});
  }

  /// A fixed time before a node begins, whatever gets faster: behind the end of the last of those that it waits for, or
  /// behind the beginning where it waits for none.
  template <class Rep, class Period>
  void set_lag(graph_node of, std::chrono::duration<Rep, Period> lag) {
    auto const given = given_nanoseconds(lag);
    if (of.index >= nodes_.size()) {
      refuse("a lag is for node " + std::to_string(of.index) + ", and there are " + std::to_string(nodes_.size()));
    } else if (!given.time) {
      refuse("the lag of " + label_of(of) + " is " + describe(given.why_not) + ": give a time from 0 up");
    } else {
      nodes_[of.index].lag = *given.time;
    }
  }

  /// From now on nothing is worked out from this graph, for this reason. The first reason stays.
  void refuse(std::string reason) {
    if (why_refused_.empty()) why_refused_ = std::move(reason);
  }

  /// The first mistake; empty where none was made. Whether there is a cycle is seen when an order is looked for.
  [[nodiscard]] std::string const& why_refused() const noexcept { return why_refused_; }

  [[nodiscard]] std::vector<timed_node> const& nodes() const noexcept { return nodes_; }
  [[nodiscard]] std::vector<dependency> const& edges() const noexcept { return edges_; }
  [[nodiscard]] std::size_t size() const noexcept { return nodes_.size(); }

  /// A node in a sentence: its name in quotes, with its number where another one has the same name.
  /// Requires: it is there.
  [[nodiscard]] std::string label_of(graph_node of) const {
    auto const& name = nodes_[of.index].name;
    std::size_t same = 0;
    for (auto const& each : nodes_)
      if (each.name == name) ++same;
    auto label = '"' + name + '"';
    if (same > 1) label += " (node " + std::to_string(of.index) + ')';
    return label;
  }

 private:
  graph_node add(std::string name, given_time takes, graph_node const* after, std::size_t count) {
    graph_node const made{nodes_.size()};
    if (!takes.time)
      refuse("the time of \"" + name + "\" is " + describe(takes.why_not) + ": give a time from 0 up");
    for (std::size_t i = 0; i < count; ++i) {
      if (after[i].index < made.index) edges_.push_back({after[i], made});
      else
        refuse('"' + name + "\" comes after node " + std::to_string(after[i].index) + ", and there are " +
               std::to_string(made.index) + " before it: add a node before what comes after it");
    }
    nodes_.push_back({std::move(name), takes.time.value_or(nanoseconds{0}), nanoseconds{0}});
    return made;
  }

  std::vector<timed_node> nodes_;
  std::vector<dependency> edges_;
  std::string why_refused_;
};

}  // namespace streamgauge
