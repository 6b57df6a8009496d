// Would go unseen without these: a graph that does not play back what was measured, a lag that a faster phase takes
// with it, and stretches whose times contradict their order.
#include <streamgauge/analyze/stream_graph.hpp>
#include <streamgauge/analyze/critical_path.hpp>
#include <streamgauge/analyze/what_if.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

sg::placed_stretch ran(std::string name, int device, std::uint64_t stream, nanoseconds begin, nanoseconds end) {
  return {std::move(name), device, stream, begin, end};
}

/// The iteration of 12 ms on two streams, from 100 ms on: prepare 2, then compute 6 on stream 1 beside communicate 9 on
/// stream 2, then finalize 1 on stream 1.
std::vector<sg::placed_stretch> iteration() {
  return {ran("communicate", 0, 2, 102ms, 111ms), ran("prepare", 0, 1, 100ms, 102ms),
          ran("compute", 0, 1, 102ms, 108ms), ran("finalize", 0, 1, 111ms, 112ms)};
}

}  // namespace

TEST_CASE("with the waits of the program as edges the iteration of 12 ms is 12 or 9 again") {
  auto const found = sg::stream_graph_of(iteration(), {{{1}, {0}}, {{0}, {3}}});
  CHECK(found.graph.why_refused().empty());
  CHECK(found.early.empty());
  CHECK(found.begin == 100ms);
  CHECK(found.measured == 12ms);
  CHECK(sg::critical_path_of(found.graph).length == 12ms);
  CHECK(sg::end_if_faster(found.graph, "compute", 2.0).end == 12ms);
  CHECK(sg::end_if_faster(found.graph, "communicate", 2.0).end == 9ms);
}

TEST_CASE("without them a wait for another stream looks like a lag, and what it waited for as if it had slack") {
  auto const found = sg::stream_graph_of(iteration());
  auto const path = sg::critical_path_of(found.graph);
  CHECK(path.length == 12ms);
  // finalize stands 3 ms behind compute on its stream, and communicate keeps its distance from the first begin.
  CHECK(found.graph.nodes()[3].lag == 3ms);
  CHECK(found.graph.nodes()[0].lag == 2ms);
  CHECK(path.nodes[0].slack == 1ms);
  CHECK(sg::end_if_faster(found.graph, "communicate", 2.0).end == 12ms);
  CHECK(sg::end_if_faster(found.graph, "compute", 2.0).end == 11'000us);  // communicate ends at 11
}

TEST_CASE("the lag behind the last of those that a stretch waits for is kept, and never negative") {
  // join waits for a on its own stream, which ended at 4, and for b on the other, which ended at 9; it begins at 11.
  std::vector<sg::placed_stretch> const stretches{ran("a", 0, 1, 0ns, 4ns), ran("b", 0, 2, 0ns, 9ns),
                                                  ran("join", 0, 1, 11ns, 13ns)};
  auto const found = sg::stream_graph_of(stretches, {{{1}, {2}}});
  CHECK(found.graph.nodes()[2].lag == 2ns);
  CHECK(sg::end_if_free(found.graph, "b").end == 8ns);  // a 4, the lag 2, join 2
  CHECK(sg::end_if_free(found.graph, "a").end == 13ns);
}

TEST_CASE("a stretch that begins before what it comes after has ended is told of, and its lag counts as zero") {
  std::vector<sg::placed_stretch> const stretches{ran("a", 0, 1, 0ns, 10ns), ran("b", 0, 1, 8ns, 12ns),
                                                  ran("c", 0, 2, 3ns, 5ns)};
  auto const found = sg::stream_graph_of(stretches, {{{1}, {2}}});
  REQUIRE(found.early.size() == 2);
  CHECK(found.early[0].before == sg::graph_node{0});
  CHECK(found.early[0].after == sg::graph_node{1});
  CHECK(found.early[0].by == 2ns);
  CHECK(found.early[1].after == sg::graph_node{2});
  CHECK(found.early[1].by == 9ns);
  for (auto const& each : found.graph.nodes()) CHECK(each.lag == 0ns);
  CHECK(found.measured == 12ns);
  CHECK(sg::critical_path_of(found.graph).length == 16ns);
}

TEST_CASE("streams of one number on two devices are two streams, and the order of the list does not matter") {
  std::vector<sg::placed_stretch> const stretches{ran("late", 0, 1, 5ns, 6ns), ran("other", 1, 1, 0ns, 9ns),
                                                  ran("early", 0, 1, 0ns, 4ns)};
  auto const found = sg::stream_graph_of(stretches);
  REQUIRE(found.graph.edges().size() == 1);
  CHECK(found.graph.edges()[0].before == sg::graph_node{2});
  CHECK(found.graph.edges()[0].after == sg::graph_node{0});
}

TEST_CASE("an empty stretch stands before one that begins where it lies") {
  auto const found = sg::stream_graph_of({ran("kernel", 0, 1, 5ns, 9ns), ran("marker", 0, 1, 5ns, 5ns)});
  CHECK(found.early.empty());
  CHECK(found.graph.edges().at(0).before == sg::graph_node{1});
}

TEST_CASE("what cannot be a graph is refused with the culprit") {
  CHECK(sg::stream_graph_of({}).graph.why_refused() == "there are no stretches");
  CHECK(sg::stream_graph_of({ran("copy", 0, 1, 4ns, 2ns)}).graph.why_refused() ==
        "\"copy\", stretch 0 of the list, ends before it begins");
  CHECK(sg::stream_graph_of(iteration(), {{{0}, {4}}}).graph.why_refused() ==
        "an edge names node 4, and there are 4: add a node before its edges");
  auto const ring = sg::stream_graph_of(iteration(), {{{3}, {1}}});
  CHECK(sg::critical_path_of(ring.graph).reason ==
        "a cycle, so none of these can be the first: \"prepare\", then \"compute\", then \"finalize\", then "
        "\"prepare\" again: take one of these edges out");
}

TEST_CASE("random timelines are played back: every begin and the end are where they were measured") {
  std::mt19937_64 random{413};
  std::size_t wrong = 0;
  for (int round = 0; round < 1000; ++round) {
    auto const below = [&](std::uint64_t limit) { return static_cast<std::int64_t>(random() % limit); };
    std::vector<sg::placed_stretch> stretches;
    std::int64_t until[4] = {below(5), below(5), below(5), below(5)};
    auto const count = 1 + below(20);
    for (std::int64_t i = 0; i < count; ++i) {
      auto const lane = static_cast<std::size_t>(below(4));
      auto const begin = until[lane] + (below(2) == 0 ? 0 : below(6));
      until[lane] = begin + below(6);
      stretches.push_back(ran("kernel", static_cast<int>(lane / 2), lane % 2, nanoseconds{begin - 7},
                              nanoseconds{until[lane] - 7}));
    }
    // Further edges that the times allow: from what had ended, and began or was listed before.
    std::vector<sg::dependency> further;
    for (int edge = 0; edge < 10; ++edge) {
      auto const a = static_cast<std::size_t>(below(static_cast<std::uint64_t>(count)));
      auto const b = static_cast<std::size_t>(below(static_cast<std::uint64_t>(count)));
      if (stretches[a].end <= stretches[b].begin && stretches[a].begin < stretches[b].begin)
        further.push_back({{a}, {b}});
    }
    auto const found = sg::stream_graph_of(stretches, further);
    auto const path = sg::critical_path_of(found.graph);
    wrong += !found.early.empty() || path.length != found.measured;
    for (std::size_t i = 0; path.length && i < stretches.size(); ++i)
      wrong += path.nodes[i].earliest_start != stretches[i].begin - found.begin;
    // A lag is kept whatever gets faster: nothing begins later than before.
    auto const freed = sg::end_if_free(found.graph, "kernel").end;
    nanoseconds lags{0};
    for (auto const& each : found.graph.nodes())
      if (lags < each.lag) lags = each.lag;
    wrong += !freed || *freed > found.measured || *freed < lags;
  }
  CHECK(wrong == 0);
}
