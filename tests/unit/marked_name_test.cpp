// Would go unseen without these: a filter for a range that is gone when its kernels run, and one that finds half of them.
#include <streamgauge/mark/marked_name.hpp>

#include <doctest/doctest.h>

namespace sg = streamgauge;
using sg::marked_name;
using lines = std::vector<std::string>;

namespace {
marked_name in_graph(char const* name) {
  marked_name made{name};
  made.in_graphs = true;
  return made;
}
marked_name text(char const* name) { return {name, "", sg::name_kind::text}; }
}  // namespace

TEST_CASE("a marked name gives the filters of its name and domain") {
  marked_name const step{"x@y", "lib"};
  CHECK(sg::ncu_include(step).raw == "lib@x\\@y/");
  CHECK(sg::ncu_include(step, sg::range_style::start_end).raw == "lib@x\\@y");
  CHECK(sg::nsys_capture(step).raw == "x\\@y@lib");
  CHECK(sg::ncu_include(step).note.empty());
}

TEST_CASE("a phase inside a graph is selected by the range around the launch, and it says why") {
  auto inner = in_graph("decode");
  CHECK(sg::ncu_include(inner).why_not ==
        "\"decode\" is declared for graphs, and a range that is open during the capture selects nothing of what the "
        "graph "
        "runs later; it is not known which range is around the launch: give the phase of its graph_replay");
  CHECK_FALSE(sg::nsys_capture(inner).usable());
  inner.launched_by.push_back({"launch", "lib"});
  CHECK(sg::ncu_include(inner).raw == "lib@launch/");
  CHECK(sg::nsys_capture(inner).raw == "launch@lib");
  CHECK(sg::ncu_include(inner).note ==
        "\"decode\" is declared for graphs, and a range that is open during the capture selects nothing of what the "
        "graph "
        "runs later; this is the range around the launch, \"launch\"");
}

TEST_CASE("nested names stand in one filter when they share a domain") {
  CHECK(sg::ncu_include_nested({{"outer", "lib"}, {"a,b", "lib"}}).raw == "lib@outer/a\\,b/");
  CHECK(sg::ncu_include_nested({{"outer"}, {"inner"}}).raw == "outer/inner/");
  auto const apart = sg::ncu_include_nested({{"outer", "lib"}, {"inner"}});
  CHECK(apart.raw.empty());
  CHECK(apart.why_not == "\"inner\" is in another domain than \"outer\"; ncu sees each domain's ranges apart");
  CHECK(sg::ncu_include_nested({{"outer"}, {"a\\b"}}).raw.empty());
  CHECK_FALSE(sg::ncu_include_nested({{"outer"}, {"a\\b"}}).usable());
  CHECK_FALSE(sg::ncu_include_nested({{"outer"}, in_graph("decode")}).usable());
  CHECK_FALSE(sg::ncu_include_nested({}).usable());
}

TEST_CASE("case-57: the lint names what tools will not find, and why") {
  CHECK(sg::lint({{"step"}, {"load", "lib"}}) == lines{});
  CHECK(sg::lint({{"a\\b"}}) ==
        lines{"\"a\\b\": ncu cannot select it: a backslash was not matched by ncu when it was tried"});
  CHECK(sg::lint({{"x;1", "lib"}}) ==
        lines{"\"x;1\" in domain \"lib\": ncu cannot select it: a semicolon was not matched by ncu when it was tried"});
  CHECK(sg::lint({{"a,b"}}) ==
        lines{"\"a,b\": nsys cannot start a capture on it: a comma was not matched by nsys when it was tried"});
  CHECK(sg::lint({text("step")}) == lines{"\"step\": its name is not registered: to start a capture on it nsys needs "
                                          "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0"});
}

TEST_CASE("case-49: the lint finds a phase that is called as another one's warm-up is") {
  CHECK(sg::lint({{"warmup/step"}, {"step"}}) ==
        lines{"\"warmup/step\": so the range of \"step\" is called while that phase warms up; a filter selects both"});
  CHECK(sg::lint({{"step"}, {"warmup/step"}}).size() == 1);
  CHECK(sg::lint({{"warmup/step"}, {"step", "lib"}, {"warmup/"}, {"warmup/load"}}) == lines{});
}

TEST_CASE("the lint finds one name in two domains, and domains that a later handle asked for in vain") {
  CHECK(
      sg::lint({{"step"}, {"step", "lib"}}) ==
      lines{
          "\"step\" in domain \"lib\": there is one of that name in the default domain too; a filter finds one of the "
          "two"});
  CHECK(sg::lint({{"step", "lib"}, {"step", "lib"}}) == lines{});
  marked_name asked{"step", "lib"};
  asked.refused.push_back("other");
  CHECK(sg::lint({asked}) == lines{"\"step\" in domain \"lib\": it was also asked for in domain \"other\"; phases of "
                                   "one name are one phase, and "
                                   "its first handle decides"});
}

TEST_CASE("the lint says which phases make no range, and which only a launch can select") {
  marked_name silent{"step"};
  silent.why_unmarked = "the recorder is off";
  CHECK(sg::lint({silent}) == lines{"\"step\": no tool sees it: the recorder is off"});
  CHECK(sg::ncu_include(silent).why_not == "the recorder is off");
  CHECK(sg::lint({in_graph("decode")}).size() == 1);
  auto known = in_graph("decode");
  known.launched_by.push_back({"launch"});
  CHECK(sg::lint({known}) == lines{});
}
