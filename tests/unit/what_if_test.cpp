// Would go unseen without these: a speed-up that promises what another path takes back, and a phase that runs often of
// which only one execution gets faster.
#include <streamgauge/analyze/what_if.hpp>
#include <streamgauge/analyze/phase_outlook.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "random_graph.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

/// prepare 2, then compute 6 beside communicate 9, then finalize 1.
sg::dependency_graph iteration() {
  sg::dependency_graph graph;
  auto const prepare = graph.add("prepare", 2ms);
  auto const compute = graph.add("compute", 6ms, {prepare});
  auto const communicate = graph.add("communicate", 9ms, {prepare});
  graph.add("finalize", 1ms, {compute, communicate});
  return graph;
}

/// Two layers, each a gemm and then a copy beside the next gemm: gemm 4, gemm 4 beside copy 3, copy 3.
sg::dependency_graph layers() {
  sg::dependency_graph graph;
  auto const first = graph.add("gemm", 4ms);
  auto const second = graph.add("gemm", 4ms, {first});
  auto const copy = graph.add("copy", 3ms, {first});
  graph.add("copy", 3ms, {second, copy});
  return graph;
}

}  // namespace

TEST_CASE("of an iteration of 12 ms twice as fast compute leaves 12, twice as fast communicate leaves 9") {
  auto const graph = iteration();
  CHECK(sg::end_if_faster(graph, "compute", 2.0).end == 12ms);
  // 2, then the longer of 6 and 4.5, then 1.
  CHECK(sg::end_if_faster(graph, "communicate", 2.0).end == 9ms);
  CHECK(sg::end_if_faster(graph, sg::graph_node{2}, 2.0).end == 9ms);
  CHECK(sg::end_if_faster(graph, "communicate", 1.5).end == 9ms);
  CHECK(sg::end_if_faster(graph, "communicate", 1.25).end == 10'200us);
  CHECK(sg::end_if_faster(graph, "prepare", 2.0).end == 11ms);
  CHECK(sg::end_if_faster(graph, "communicate", 1.0).end == 12ms);
}

TEST_CASE("slower is a factor below one: first it uses up the slack") {
  auto const graph = iteration();
  CHECK(sg::end_if_faster(graph, "compute", 6.0 / 9.0).end == 12ms);
  CHECK(sg::end_if_faster(graph, "compute", 0.5).end == 15ms);
}

TEST_CASE("the most that a phase can win is what is left without it") {
  auto const graph = iteration();
  CHECK(sg::end_if_free(graph, "compute").end == 12ms);
  CHECK(sg::end_if_free(graph, "communicate").end == 9ms);
  CHECK(sg::end_if_free(graph, sg::graph_node{0}).end == 10ms);
  CHECK(sg::end_if_faster(graph, "communicate", 1e300).end == 9ms);
}

TEST_CASE("a phase that runs often is faster each time, a node only once") {
  auto const graph = layers();
  REQUIRE(sg::critical_path_of(graph).length == 11ms);
  CHECK(sg::end_if_faster(graph, "gemm", 2.0).end == 8ms);  // 2, copy 3 beside gemm 2, copy 3
  CHECK(sg::end_if_faster(graph, sg::graph_node{0}, 2.0).end == 9ms);
  CHECK(sg::end_if_faster(graph, "copy", 2.0).end == 9'500us);
  CHECK(sg::end_if_free(graph, "gemm").end == 6ms);
  CHECK(sg::end_if_free(graph, "copy").end == 8ms);
}

TEST_CASE("lags stay, whatever gets faster") {
  sg::dependency_graph graph;
  auto const a = graph.add("a", 4ns);
  graph.set_lag(graph.add("b", 4ns, {a}), 10ns);
  CHECK(sg::end_if_faster(graph, "a", 2.0).end == 16ns);
  CHECK(sg::end_if_free(graph, "b").end == 14ns);
}

TEST_CASE("a new time is rounded to the nearest nanosecond, and at the same speed it is the old one exactly") {
  sg::dependency_graph graph;
  graph.add("a", 5ns);
  CHECK(sg::end_if_faster(graph, "a", 2.0).end == 3ns);
  CHECK(sg::end_if_faster(graph, "a", 3.0).end == 2ns);
  sg::dependency_graph century;
  century.add("a", nanoseconds{(std::int64_t{1} << 61) + 1});
  CHECK(sg::end_if_faster(century, "a", 1.0).end == nanoseconds{(std::int64_t{1} << 61) + 1});
}

TEST_CASE("a factor that is none, a time that no number holds, and a name that is not there say so") {
  auto const graph = iteration();
  for (double const factor : {0.0, -2.0, not_a_number, infinity, -infinity}) {
    auto const found = sg::end_if_faster(graph, "compute", factor);
    CHECK_FALSE(found.end);
    CHECK(found.reason == "the factor is not a number above 0 (2 is twice as fast)");
    CHECK(sg::what_ifs_of(graph, factor).reason == found.reason);
  }
  CHECK(sg::end_if_faster(graph, "compute", 1e-300).reason ==
        "\"compute\" would take so long that all times add up to 292 years or more");
  // 2^63 ns are 1,537,228,672,809 times 6 ms; the others take 12 ms, twice as much.
  CHECK(sg::end_if_faster(graph, "compute", 1.0 / 1'537'228'672'806).end.has_value());
  CHECK_FALSE(sg::end_if_faster(graph, "compute", 1.0 / 1'537'228'672'808).end);
  CHECK(sg::end_if_faster(graph, "cmopute", 2.0).reason == "no node of the graph is called \"cmopute\"");
  CHECK(sg::end_if_free(graph, "").reason == "no node of the graph is called \"\"");
  CHECK(sg::end_if_faster(graph, sg::graph_node{4}, 2.0).reason == "there is no node 4 in a graph of 4");
  CHECK(sg::end_if_free(graph, sg::graph_node{4}).reason == "there is no node 4 in a graph of 4");
  sg::dependency_graph wrong;
  wrong.add("a", -1ns);
  CHECK(sg::end_if_faster(wrong, "a", 2.0).reason == wrong.why_refused());
  CHECK(sg::end_if_free(wrong, "a").reason == wrong.why_refused());
  CHECK(sg::what_ifs_of(wrong).reason == wrong.why_refused());
}

TEST_CASE("the outlook has a row for each phase, and says which one wins most") {
  auto const found = sg::what_ifs_of(iteration(), 2.0);
  CHECK(found.reason.empty());
  CHECK(found.path.length == 12ms);
  CHECK(found.members == std::vector<std::size_t>{0, 2, 3});
  REQUIRE(found.phases.size() == 4);
  auto const& compute = found.phases[1];
  CHECK(compute.name == "compute");
  CHECK(compute.nodes == 1);
  CHECK(compute.on_path == 0);
  CHECK(compute.takes == 6ms);
  CHECK(compute.earliest_start == 2ms);
  CHECK(compute.latest_start == 5ms);
  CHECK(compute.slack == 3ms);
  CHECK(compute.if_faster.end == 12ms);
  CHECK(compute.if_free.end == 12ms);
  CHECK(found.phases[2].on_path == 1);
  CHECK(found.phases[2].if_faster.end == 9ms);
  CHECK(found.phases[3].if_faster.end == 11'500us);
  CHECK(found.most_won == 2);
}

TEST_CASE("a phase of several nodes is one row: times added up, the least slack, no start of its own") {
  auto const found = sg::what_ifs_of(layers(), 2.0);
  REQUIRE(found.phases.size() == 2);
  auto const& gemm = found.phases[0];
  auto const& copy = found.phases[1];
  CHECK(gemm.nodes == 2);
  CHECK(gemm.on_path == 2);
  CHECK(gemm.takes == 8ms);
  CHECK(gemm.slack == 0ms);
  CHECK_FALSE(gemm.earliest_start);
  CHECK_FALSE(gemm.latest_start);
  CHECK(copy.on_path == 1);
  CHECK(copy.slack == 0ms);
  CHECK(found.members == std::vector<std::size_t>{0, 0, 1});
  CHECK(found.most_won == 0);
  CHECK(gemm.if_faster.end == 8ms);
  CHECK(copy.if_free.end == 8ms);
}

TEST_CASE("where two paths are equally long no phase of either wins, and none is named") {
  sg::dependency_graph graph;
  graph.add("left", 5ns);
  graph.add("right", 5ns);
  CHECK_FALSE(sg::what_ifs_of(graph).most_won);
  // Slower is not won either.
  CHECK_FALSE(sg::what_ifs_of(iteration(), 0.5).most_won);
}

TEST_CASE("random graphs agree with a list of all their paths, node by node and phase by phase") {
  std::mt19937_64 random{412};
  std::size_t wrong = 0;
  for (int round = 0; round < 2000; ++round) {
    auto const graph = random_graph::drawn(random);
    auto const paths = random_graph::paths_of(graph);
    auto const takes = random_graph::times_of(graph);
    double const factor = round % 4 == 0 ? 0.5 : static_cast<double>(1 + random() % 5);
    auto const changed = [&](std::int64_t time) {
      return factor < 1.0 ? 2 * time : static_cast<std::int64_t>(static_cast<double>(time) / factor + 0.5);
    };
    for (std::size_t node = 0; node < graph.size(); ++node) {
      auto other = takes;
      other[node] = changed(takes[node]);
      wrong += sg::end_if_faster(graph, sg::graph_node{node}, factor).end !=
               nanoseconds{random_graph::end_of(graph, paths, other)};
    }
    auto const found = sg::what_ifs_of(graph, factor);
    std::size_t nodes = 0;
    auto least = random_graph::end_of(graph, paths, takes);
    auto const end = least;
    for (auto const& phase : found.phases) {
      auto faster = takes;
      auto free = takes;
      for (std::size_t node = 0; node < graph.size(); ++node) {
        if (graph.nodes()[node].name != phase.name) continue;
        faster[node] = changed(takes[node]);
        free[node] = 0;
        ++nodes;
      }
      auto const expected = random_graph::end_of(graph, paths, faster);
      if (expected < least) least = expected;
      wrong += phase.if_faster.end != nanoseconds{expected};
      wrong += phase.if_free.end != nanoseconds{random_graph::end_of(graph, paths, free)};
      wrong += sg::end_if_faster(graph, phase.name, factor).end != phase.if_faster.end;
      wrong += sg::end_if_free(graph, phase.name).end != phase.if_free.end;
    }
    wrong += nodes != graph.size();
    wrong += found.most_won.has_value() != (least < end);
    if (found.most_won) wrong += found.phases[*found.most_won].if_faster.end != nanoseconds{least};
  }
  CHECK(wrong == 0);
}

TEST_CASE("20,000 phases are looked at without working each out anew") {
  sg::dependency_graph graph;
  auto last = graph.add("0", 2ns);
  for (int i = 1; i < 20'000; ++i) last = graph.add(std::to_string(i), 2ns, {last});
  auto const found = sg::what_ifs_of(graph, 2.0);
  REQUIRE(found.phases.size() == 20'000);
  std::size_t wrong = 0;
  for (auto const& phase : found.phases) wrong += phase.if_faster.end != 39'999ns || phase.if_free.end != 39'998ns;
  CHECK(wrong == 0);
}
