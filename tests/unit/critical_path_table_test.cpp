// Without these: a critical path whose numbers stand under the wrong heading, and a name that breaks the table.
#include <streamgauge/report/critical_path_table.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <sstream>
#include <string>

namespace sg = streamgauge;
using namespace std::chrono_literals;

namespace {

template <class... Argument>
std::string text_of(Argument const&... of) {
  std::ostringstream out;
  sg::report::table(out, of...);
  return out.str();
}

sg::dependency_graph iteration() {
  sg::dependency_graph graph;
  auto const prepare = graph.add("prepare", 2ms);
  auto const compute = graph.add("compute", 6ms, {prepare});
  auto const communicate = graph.add("communicate", 9ms, {prepare});
  graph.add("finalize", 1ms, {compute, communicate});
  return graph;
}

bool holds(std::string const& text, char const* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("the critical path of an iteration of 12 ms as a table") {
  CHECK(text_of(iteration()) ==
        "             as it is                              if 2 times as fast  if it took no time\n"
        "             on the critical path; times, ms       of the whole, ms    of the whole, ms\n"
        "phase        path  takes  earliest  latest  slack          end    won          end    won\n"
        "-----------  ------------------------------------  ------------------  ------------------\n"
        "prepare       yes  2.000         0       0      0        11.00  1.000        10.00  2.000\n"
        "compute         -  6.000     2.000   5.000  3.000        12.00      0        12.00      0\n"
        "communicate   yes  9.000     2.000   2.000      0        9.000  3.000        9.000  3.000\n"
        "finalize      yes  1.000     11.00   11.00      0        11.50  0.500        11.00  1.000\n"
        "\n"
        "path         prepare, communicate, finalize: 12 ms\n"
        "speed up     communicate: 2 times as fast it wins 3 ms (25.0 %), which is the most that it can win\n"
        "earliest     when it can begin; latest: when it has to, so that the end does not move\n"
        "slack        how much longer it alone could take without moving the end\n"
        "won          how much earlier all ends; every other phase and all lags stay as they are\n");
}

TEST_CASE("the factor is in the title, what is lost is below zero, and nothing is to be sped up by going slower") {
  auto const text = text_of(iteration(), 0.5);
  CHECK(holds(text, "if 0.5 times as fast"));
  CHECK(holds(text, "communicate   yes  9.000     2.000   2.000      0         21.00  -9.000        9.000  3.000\n"));
  CHECK_FALSE(holds(text, "speed up"));
  CHECK(holds(text_of(iteration(), 1.25), "communicate: 1.25 times as fast it wins 1.8 ms (15.0 %), and however fast no "
                                          "more than\n             3 ms (25.0 %)\n"));
  auto const slowest = text_of(iteration(), 1e-300);
  CHECK(holds(slowest, "if less than 0.0001 times as fast"));
  CHECK(holds(slowest, "no end       \"prepare\" would take so long that all times add up to 292 years or more\n"));
}

TEST_CASE("a phase of several executions has one line, and its part in the path is counted") {
  sg::dependency_graph graph;
  auto const first = graph.add("gemm", 4ms);
  auto const second = graph.add("gemm", 4ms, {first});
  auto const copy = graph.add("copy", 3ms, {first});
  graph.set_lag(graph.add("copy", 3ms, {second, copy}), 1ms);
  auto const text = text_of(graph);
  CHECK(holds(text, "gemm   2 of 2  8.000         -       -      0        9.000  3.000        7.000  5.000\n"));
  CHECK(holds(text, "copy   1 of 2  6.000         -       -      0        10.50  1.500        9.000  3.000\n"));
  CHECK(holds(text, "path         gemm (2 in a row), copy: 12 ms, 1 ms of it in lags, where none of them ran\n"));
  CHECK(holds(text, "of           a phase of several executions"));
}

TEST_CASE("of a long path the first members are named and the others counted") {
  sg::dependency_graph graph;
  auto last = graph.add("even", 1us);
  for (int i = 1; i < 100; ++i) last = graph.add(i % 2 == 0 ? "even" : "odd", 1us, {last});
  auto const text = text_of(graph);
  CHECK(holds(text, "odd, and 80 more: 100 us\n"));
}

TEST_CASE("where no single phase wins the table says what to look at") {
  sg::dependency_graph graph;
  graph.add("left", 5ns);
  graph.add("right", 5ns);
  CHECK(holds(text_of(graph), "speed up     no single phase gives an earlier end: where another path is as long (slack 0, "
                              "not on\n             this one) both have to become shorter\n"));
}

TEST_CASE("a hostile name breaks neither the table nor the reason") {
  sg::dependency_graph graph;
  graph.add("a\x1b[2J\nb [c", 5ns);
  auto const text = text_of(graph);
  CHECK(holds(text, "\n\"a\\x1b[2J\\nb [c\"   yes      5  "));
  CHECK(holds(text, "path         \"a\\x1b[2J\\nb [c\": 5 ns\n"));
  for (char const each : text) CHECK((each >= ' ' || each == '\n'));
  graph.add("x\ny", -1ns);
  CHECK(text_of(graph) == "no critical path: the time of \"x\\ny\" is below zero: give a time from 0 up\n");
}

TEST_CASE("a graph without a critical path is one line with the reason") {
  CHECK(text_of(sg::dependency_graph{}) == "no critical path: the graph has no nodes\n");
  CHECK(text_of(iteration(), -1.0) == "no critical path: the factor is not a number above 0 (2 is twice as fast)\n");
}

TEST_CASE("what the stream was set to neither matters nor changes") {
  std::ostringstream out;
  out.width(40);
  out.fill('*');
  out << std::hex << std::showbase;
  sg::report::table(out, iteration());
  CHECK(out.str() == text_of(iteration()));
  CHECK(out.width() == 40);
}
