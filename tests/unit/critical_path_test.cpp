// Would go unseen without these: a path that is not the longest, slack that moves the end once it is used, and a long
// chain that ends the program.
#include <streamgauge/analyze/critical_path.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "random_graph.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

std::string names_of(sg::dependency_graph const& graph, sg::critical_path const& path) {
  std::string text;
  for (auto const member : path.members) text += (text.empty() ? "" : " ") + graph.nodes()[member.index].name;
  return text;
}

void check(sg::node_timing const& timing, nanoseconds earliest, nanoseconds latest, nanoseconds slack,
           nanoseconds end_if_free) {
  CHECK(timing.earliest_start == earliest);
  CHECK(timing.latest_start == latest);
  CHECK(timing.slack == slack);
  CHECK(timing.end_if_free == end_if_free);
}

}  // namespace

TEST_CASE("an iteration of 12 ms: prepare 2, then compute 6 beside communicate 9, then finalize 1") {
  sg::dependency_graph graph;
  auto const prepare = graph.add("prepare", 2ms);
  auto const compute = graph.add("compute", 6ms, {prepare});
  auto const communicate = graph.add("communicate", 9ms, {prepare});
  auto const finalize = graph.add("finalize", 1ms, {compute, communicate});
  auto const path = sg::critical_path_of(graph);
  CHECK(path.reason.empty());
  CHECK(path.length == 12ms);
  CHECK(path.lags == 0ms);
  CHECK(names_of(graph, path) == "prepare communicate finalize");
  check(path.nodes[prepare.index], 0ms, 0ms, 0ms, 10ms);
  // Between the ends of prepare and of communicate compute can move by 3; it is not what the end waits for.
  check(path.nodes[compute.index], 2ms, 5ms, 3ms, 12ms);
  // However fast, compute's 6 remain: 2 + 6 + 1.
  check(path.nodes[communicate.index], 2ms, 2ms, 0ms, 9ms);
  check(path.nodes[finalize.index], 11ms, 11ms, 0ms, 11ms);
}

TEST_CASE("a chain is its own critical path, and each member wins what it takes") {
  sg::dependency_graph graph;
  auto const a = graph.add("a", 3ns);
  auto const b = graph.add("b", 4ns, {a});
  graph.add("c", 5ns, {b});
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 12ns);
  CHECK(names_of(graph, path) == "a b c");
  check(path.nodes[0], 0ns, 0ns, 0ns, 9ns);
  check(path.nodes[1], 3ns, 3ns, 0ns, 8ns);
  check(path.nodes[2], 7ns, 7ns, 0ns, 7ns);
}

TEST_CASE("nodes that wait for nothing and are waited for by none run side by side") {
  sg::dependency_graph graph;
  graph.add("a", 3ns);
  graph.add("b", 7ns);
  graph.add("c", 5ns);
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 7ns);
  CHECK(names_of(graph, path) == "b");
  check(path.nodes[0], 0ns, 4ns, 4ns, 7ns);
  check(path.nodes[1], 0ns, 0ns, 0ns, 5ns);
}

TEST_CASE("of equal paths the one of nodes that were added first is told, and no member of either moves the end") {
  sg::dependency_graph graph;
  auto const start = graph.add("start", 1ns);
  auto const left = graph.add("left", 5ns, {start});
  auto const right = graph.add("right", 5ns, {start});
  graph.add("end", 1ns, {right, left});
  auto const path = sg::critical_path_of(graph);
  CHECK(names_of(graph, path) == "start left end");
  CHECK(path.nodes[right.index].slack == 0ns);
  CHECK(path.nodes[left.index].end_if_free == 7ns);
  CHECK(path.nodes[right.index].end_if_free == 7ns);
}

TEST_CASE("a lag stands before its node, belongs to the path, and no speed takes it away") {
  sg::dependency_graph graph;
  auto const first = graph.add("first", 4ns);
  graph.set_lag(first, 2ns);
  auto const second = graph.add("second", 3ns, {first});
  graph.set_lag(second, 5ns);
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 14ns);
  CHECK(path.lags == 7ns);
  check(path.nodes[0], 2ns, 2ns, 0ns, 10ns);
  check(path.nodes[1], 11ns, 11ns, 0ns, 11ns);
}

TEST_CASE("the lag comes behind the last of those that a node waits for, not behind each") {
  sg::dependency_graph graph;
  auto const quick = graph.add("quick", 1ns);
  auto const slow = graph.add("slow", 10ns);
  auto const join = graph.add("join", 2ns, {quick, slow});
  graph.set_lag(join, 3ns);
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 15ns);
  CHECK(path.nodes[join.index].earliest_start == 13ns);
  CHECK(path.nodes[quick.index].slack == 9ns);
  CHECK(path.nodes[slow.index].end_if_free == 6ns);
}

TEST_CASE("times of zero are times: the path holds them, and all may be zero") {
  sg::dependency_graph graph;
  auto const a = graph.add("a", 0ns);
  auto const b = graph.add("b", 0ns, {a});
  graph.add("c", 0ns, {b});
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 0ns);
  CHECK(path.nodes[2].end_if_free == 0ns);
  CHECK(names_of(graph, path) == "a b c");
}

TEST_CASE("a graph that cannot be put in order has no critical path, with the reason") {
  sg::dependency_graph graph;
  CHECK(sg::critical_path_of(graph).reason == "the graph has no nodes");
  CHECK_FALSE(sg::critical_path_of(graph).length);
  graph.add("copy", -1ns);
  CHECK(sg::critical_path_of(graph).reason == "the time of \"copy\" is below zero: give a time from 0 up");
  CHECK(sg::critical_path_of(graph).nodes.empty());
}

TEST_CASE("random graphs agree with a list of all their paths") {
  std::mt19937_64 random{411};
  std::size_t wrong = 0;
  for (int round = 0; round < 3000; ++round) {
    auto const graph = random_graph::drawn(random);
    auto const paths = random_graph::paths_of(graph);
    auto const takes = random_graph::times_of(graph);
    auto const end = random_graph::end_of(graph, paths, takes);
    auto const found = sg::critical_path_of(graph);
    if (!found.length || found.nodes.size() != graph.size()) {
      ++wrong;
      continue;
    }
    wrong += found.length->count() != end;
    bool right_path = false;
    for (auto const& along : paths) {
      std::int64_t lags = 0;
      bool same = along.size() == found.members.size();
      for (std::size_t i = 0; same && i < along.size(); ++i) {
        same = along[i] == found.members[i].index;
        lags += graph.nodes()[along[i]].lag.count();
      }
      right_path = right_path || (same && lags == found.lags.count() &&
                                  random_graph::length_before(graph, along, along.size(), takes) == end);
    }
    wrong += !right_path;
    for (std::size_t node = 0; node < graph.size(); ++node) {
      std::int64_t earliest = 0, through = 0;
      for (auto const& along : paths)
        for (std::size_t i = 0; i < along.size(); ++i) {
          if (along[i] != node) continue;
          auto const start = random_graph::length_before(graph, along, i, takes) + graph.nodes()[node].lag.count();
          auto const whole = random_graph::length_before(graph, along, along.size(), takes);
          if (earliest < start) earliest = start;
          if (through < whole) through = whole;
        }
      auto const& timing = found.nodes[node];
      wrong += timing.earliest_start.count() != earliest;
      wrong += timing.slack.count() != end - through;
      wrong += timing.latest_start != timing.earliest_start + timing.slack;
      // All of the slack moves nothing, one more moves the end by one; without the node the end is what it says.
      auto other = takes;
      other[node] = takes[node] + timing.slack.count();
      wrong += random_graph::end_of(graph, paths, other) != end;
      ++other[node];
      wrong += random_graph::end_of(graph, paths, other) != end + 1;
      other[node] = 0;
      wrong += timing.end_if_free.count() != random_graph::end_of(graph, paths, other);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a chain of 10,000 nodes needs no deep stack") {
  sg::dependency_graph graph;
  auto last = graph.add("0", 3ns);
  for (int i = 1; i < 10'000; ++i) last = graph.add(std::to_string(i), 3ns, {last});
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == 30'000ns);
  CHECK(path.members.size() == 10'000);
  CHECK(path.nodes[5000].earliest_start == 15'000ns);
  CHECK(path.nodes[5000].end_if_free == 29'997ns);
}

TEST_CASE("100,000 nodes with 300,000 edges are worked out at once, not one node after the other") {
  // Each waits for the three before it, so the chain of all is the longest path. Without node i the longest path is
  // that of all the others, since an edge leads past it.
  sg::dependency_graph graph;
  std::vector<sg::graph_node> before;
  constexpr std::int64_t count = 100'000;
  for (std::int64_t i = 0; i < count; ++i) {
    auto const node = graph.add("step", nanoseconds{1 + i % 2}, before);
    before.push_back(node);
    if (before.size() > 3) before.erase(before.begin());
  }
  auto const path = sg::critical_path_of(graph);
  CHECK(path.length == nanoseconds{count + count / 2});
  CHECK(path.members.size() == std::size_t{count});
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < path.nodes.size(); ++i)
    wrong += path.nodes[i].slack != 0ns || path.nodes[i].end_if_free != *path.length - nanoseconds{1 + i % 2};
  CHECK(wrong == 0);
}
