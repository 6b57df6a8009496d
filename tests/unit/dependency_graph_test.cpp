// Would go unseen without these: a mistake in a graph that is worked out all the same, a culprit without a name, and a
// cycle that never ends.
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/execution_order.hpp>
#include <streamgauge/analyze/named_phases.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

using fractional_milliseconds = std::chrono::duration<double, std::milli>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

std::string why_no_order(sg::dependency_graph const& of) { return sg::execution_order_of(of).reason; }

}  // namespace

TEST_CASE("nodes stand in the order in which they were added, and edges join them") {
  sg::dependency_graph graph;
  auto const copy = graph.add("copy", 4ms);
  auto const compute = graph.add("compute", fractional_milliseconds{2.5}, {copy});
  std::vector<sg::graph_node> const both{copy, compute};
  auto const update = graph.add("update", 1us, both);
  graph.set_lag(update, 3us);
  REQUIRE(graph.size() == 3);
  CHECK(graph.why_refused().empty());
  CHECK(update.index == 2);
  CHECK(graph.nodes()[1].name == "compute");
  CHECK(graph.nodes()[1].takes == nanoseconds{2'500'000});
  CHECK(graph.nodes()[2].lag == nanoseconds{3000});
  REQUIRE(graph.edges().size() == 3);
  CHECK(graph.edges()[0].before == copy);
  CHECK(graph.edges()[0].after == compute);
  CHECK(graph.edges()[2].before == compute);
  CHECK(graph.edges()[2].after == update);
}

TEST_CASE("an order has each node behind those that it comes after, whichever was added first") {
  sg::dependency_graph graph;
  auto const last = graph.add("last", 1ms);
  auto const middle = graph.add("middle", 1ms);
  auto const first = graph.add("first", 1ms);
  graph.add_edge(first, middle);
  graph.add_edge(middle, last);
  graph.add_edge(first, last);
  graph.add_edge(first, last);
  auto const found = sg::execution_order_of(graph);
  CHECK(found.reason.empty());
  CHECK(found.order == std::vector<std::size_t>{2, 1, 0});
}

TEST_CASE("a time that is none is refused with the name of whose it is, and the first mistake stays") {
  auto const why = [](auto takes) {
    sg::dependency_graph graph;
    graph.add("copy", 4ms);
    graph.add("compute", takes);
    graph.add("update", -2ms);
    CHECK(why_no_order(graph) == graph.why_refused());
    return graph.why_refused();
  };
  CHECK(why(-1ns) == "the time of \"compute\" is below zero: give a time from 0 up");
  CHECK(why(fractional_milliseconds{not_a_number}) == "the time of \"compute\" is not a number: give a time from 0 up");
  CHECK(why(fractional_milliseconds{infinity}) == "the time of \"compute\" is infinite: give a time from 0 up");
  CHECK(why(std::chrono::hours{3'000'000}) == "the time of \"compute\" is 2^63 or more: give a time from 0 up");
  sg::dependency_graph graph;
  graph.set_lag(graph.add("copy", 1ms), fractional_milliseconds{-0.5});
  CHECK(graph.why_refused() == "the lag of \"copy\" is below zero: give a time from 0 up");
}

TEST_CASE("a node that is not there is refused by number") {
  sg::dependency_graph after;
  after.add("compute", 1ms, {sg::graph_node{0}});
  CHECK(after.why_refused() ==
        "\"compute\" comes after node 0, and there are 0 before it: add a node before what comes after it");
  sg::dependency_graph edge;
  auto const copy = edge.add("copy", 1ms);
  edge.add_edge(copy, {1});
  CHECK(edge.why_refused() == "an edge names node 1, and there are 1: add a node before its edges");
  CHECK(edge.edges().empty());
  sg::dependency_graph lag;
  lag.set_lag({3}, 1ms);
  CHECK(lag.why_refused() == "a lag is for node 3, and there are 0");
}

TEST_CASE("a graph without nodes has no order, and neither have times that add up to more than a number holds") {
  CHECK(why_no_order({}) == "the graph has no nodes");
  sg::dependency_graph graph;
  auto const long_one = graph.add("long", nanoseconds{(std::numeric_limits<nanoseconds::rep>::max)() - 5});
  graph.add("short", 5ns);
  CHECK(why_no_order(graph).empty());
  graph.set_lag(long_one, 1ns);
  CHECK(why_no_order(graph) == "the times of all nodes add up to 2^63 ns or more, which is 292 years");
}

TEST_CASE("a cycle is named from the member that was added first, each behind the one that it waits for") {
  sg::dependency_graph graph;
  auto const head = graph.add("head", 1ms);
  auto const a = graph.add("a", 1ms, {head});
  auto const tail = graph.add("tail", 1ms);
  auto const c = graph.add("c", 1ms);
  auto const b = graph.add("b", 1ms);
  graph.add_edge(a, b);
  graph.add_edge(b, c);
  graph.add_edge(c, a);
  graph.add_edge(c, tail);
  CHECK(why_no_order(graph) ==
        "a cycle, so none of these can be the first: \"a\", then \"b\", then \"c\", then \"a\" again: take one of "
        "these edges out");
  CHECK(sg::execution_order_of(graph).order.empty());
}

TEST_CASE("what only waits for a cycle is no member of it, even if it was added first") {
  sg::dependency_graph graph;
  auto const tail = graph.add("tail", 1ms);
  auto const a = graph.add("a", 1ms);
  auto const b = graph.add("b", 1ms, {a});
  graph.add_edge(b, a);
  graph.add_edge(b, tail);
  CHECK(why_no_order(graph).find("be the first: \"a\", then \"b\", then \"a\" again") != std::string::npos);
}

TEST_CASE("a node after itself is said so") {
  sg::dependency_graph graph;
  graph.add("copy", 1ms);
  auto const compute = graph.add("compute", 1ms);
  graph.add_edge(compute, compute);
  CHECK(why_no_order(graph) == "\"compute\" comes after itself: take that edge out");
}

TEST_CASE("members of one name are told apart by number, and of a long cycle the first are named") {
  sg::dependency_graph graph;
  auto first = graph.add("gemm", 1ms);
  auto const second = graph.add("gemm", 1ms, {first});
  graph.add_edge(second, first);
  CHECK(why_no_order(graph).find("\"gemm\" (node 0), then \"gemm\" (node 1), then \"gemm\" (node 0) again") !=
        std::string::npos);

  sg::dependency_graph ring;
  first = ring.add("0", 1ms);
  auto last = first;
  for (int i = 1; i < 10'000; ++i) last = ring.add(std::to_string(i), 1ms, {last});
  ring.add_edge(last, first);
  auto const text = why_no_order(ring);
  CHECK(text.find("\"14\", then \"15\", then 9984 more, then \"0\" again") != std::string::npos);
  CHECK(text.size() < 400);
}

TEST_CASE("named phases may stand in any order of the list") {
  auto const graph = sg::graph_of({{"update", 1ms, {"compute", "copy"}},
                                   {"compute", fractional_milliseconds{2.5}, {"copy"}, 2us},
                                   {"copy", 4ms}});
  CHECK(graph.why_refused().empty());
  CHECK(sg::execution_order_of(graph).order == std::vector<std::size_t>{2, 1, 0});
  CHECK(graph.nodes()[1].takes == nanoseconds{2'500'000});
  CHECK(graph.nodes()[1].lag == nanoseconds{2000});
}

TEST_CASE("named phases that cannot be a graph name the culprit") {
  CHECK(sg::graph_of({{"copy", 1ms}, {"compute", 1ms, {"cpoy"}}}).why_refused() ==
        "\"compute\" comes after \"cpoy\", and no phase is called that");
  CHECK(sg::graph_of({{"copy", 1ms}, {"compute", 1ms, {"cop"}}}).why_refused() ==
        "\"compute\" comes after \"cop\", and no phase is called that");
  CHECK(sg::graph_of({{"copy", 1ms}, {"compute", 1ms}, {"copy", 2ms}}).why_refused() ==
        "two phases are called \"copy\", numbers 0 and 2 of the list: give each a name of its own");
  CHECK(sg::graph_of({{"copy", 1ms}, {"compute", fractional_milliseconds{not_a_number}}}).why_refused() ==
        "the time of \"compute\" is not a number: give a time from 0 up");
  CHECK(sg::graph_of({{"copy", 1ms, {}, fractional_milliseconds{infinity}}}).why_refused() ==
        "the lag of \"copy\" is infinite: give a time from 0 up");
  CHECK(sg::graph_of({{"copy", -1ms}}).why_refused() == "the time of \"copy\" is below zero: give a time from 0 up");
  CHECK(sg::graph_of({{"a", 1ms, {"c"}}, {"b", 1ms, {"a"}}, {"c", 1ms, {"b"}}, {"d", 1ms, {"a"}}}).why_refused() ==
        "a cycle, so none of these can be the first: \"a\", then \"b\", then \"c\", then \"a\" again: take one of "
        "these edges out");
  CHECK(sg::graph_of({{"a", 1ms, {"a"}}}).why_refused() == "\"a\" comes after itself: take that edge out");
  CHECK(sg::graph_of({}).why_refused() == "the graph has no nodes");
}
