// Without these: a what-if that passes for a promise, and a path longer than what was measured without a word about it.
#include <streamgauge/report/stream_graph_table.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

template <class... Argument>
std::string text_of(Argument const&... of) {
  std::ostringstream out;
  sg::report::table(out, of...);
  return out.str();
}

bool holds(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a graph of stretches shows its critical path, what was measured, and what lags may hide") {
  std::vector<sg::placed_stretch> const stretches{{"prepare", 0, 1, 100ms, 102ms},
                                                  {"compute", 0, 1, 102ms, 108ms},
                                                  {"communicate", 0, 2, 102ms, 111ms},
                                                  {"finalize", 0, 1, 112ms, 113ms}};
  auto const graph = sg::stream_graph_of(stretches, {{{0}, {2}}, {{2}, {3}}});
  auto const text = text_of(graph);
  CHECK(text.find(text_of(graph.graph)) == 0);
  CHECK(holds(text, "path         prepare, communicate, finalize: 13 ms, 1 ms of it in lags, where none of them ran\n"));
  CHECK(text.substr(text_of(graph.graph).size()) ==
        "measured     13 ms from the first begin to the last end\n"
        "lags         kept as measured, whatever gets faster: that the host had not submitted yet, or that a\n"
        "             stream waited for another and no edge says so, looks the same\n");
  CHECK(holds(text_of(graph, 4.0), "if 4 times as fast"));
}

TEST_CASE("stretches that contradict their order are told of, the worst by name") {
  std::vector<sg::placed_stretch> stretches{{"a", 0, 1, 0ns, 10ns}, {"b [x", 0, 1, 8ns, 12ns}};
  CHECK(holds(text_of(sg::stream_graph_of(stretches)),
              "early        1 stretch began before one that it comes after had ended: \"b [x\", 2 ns before the end\n"
              "             of a; the lag then counts as 0, and the path is 2 ns longer than what was measured\n"));
  stretches.push_back({"c", 0, 1, 9ns, 30ns});
  CHECK(holds(text_of(sg::stream_graph_of(stretches)),
              "early        2 times a stretch began before one that it comes after had ended, most of all c, 3 ns\n"
              "             before the end of \"b [x\"; the lag then counts as 0, and the path is 5 ns longer than\n"
              "             what was measured\n"));
  // On a path that is not the longest it changes no length.
  stretches.push_back({"long", 0, 2, 0ns, 90ns});
  CHECK(holds(text_of(sg::stream_graph_of(stretches)), "\"b [x\"; the lag then counts as 0\n"));
}

TEST_CASE("stretches that make no graph are one line with the reason") {
  CHECK(text_of(sg::stream_graph_of({})) == "no critical path: there are no stretches\n");
}
