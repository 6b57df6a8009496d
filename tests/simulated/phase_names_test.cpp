// Would go unseen without these: a filter for a domain that the phase is not in.

#include <streamgauge/measure/graph_replay_by_wait.hpp>
#include <streamgauge/measure/phase_names.hpp>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using simulated::fresh_machine;
using lines = std::vector<std::string>;

namespace {
struct my_domain {
  static constexpr char const* name = "my lib";
};
struct other_domain {
  static constexpr char const* name = "other";
};
}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "case-60: a phase knows its name and domain, and gives the filters of both tools") {
  sg::recorder recorder;
  sg::phase const plain{recorder, "a/b"};
  sg::phase const named{recorder, "f<int>", sg::in_domain<my_domain>};
  CHECK(plain.name() == "a/b");
  CHECK(plain.domain().empty());
  CHECK(named.domain() == "my lib");
  CHECK(named.with({{"rows", 1}}).domain() == "my lib");
  CHECK(sg::ncu_include(plain).raw == "a\\/b/");
  CHECK(sg::ncu_include(named).quoted() == "'my lib@f<int>/'");
  CHECK(sg::ncu_include(named, sg::range_style::start_end).raw == "my lib@f<int>");
  CHECK(sg::ncu_include({named, named}).raw == "my lib@f<int>/f<int>/");
  CHECK_FALSE(sg::ncu_include({plain, named}).usable());
  CHECK(sg::nsys_capture(named).raw == "f<int>@my lib");
  CHECK(sg::lint(recorder) == lines{});
  auto const all = sg::names_of(recorder);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "a/b");
  CHECK(all[1].name == "f<int>");
  CHECK(all[1].kind == sg::name_kind::registered);
}

TEST_CASE_FIXTURE(fresh_machine, "a second handle in another domain changes nothing, and the lint says so") {
  sg::recorder recorder;
  sg::phase const first{recorder, "step", sg::in_domain<my_domain>};
  sg::phase const same{recorder, "step", sg::in_domain<my_domain>};
  CHECK(sg::lint(recorder) == lines{});
  sg::phase const second{recorder, "step", sg::in_domain<other_domain>};
  sg::phase const third{recorder, "step", sg::in_domain<my_domain>};
  CHECK(second.domain() == "my lib");
  CHECK(
      sg::lint(recorder) ==
      lines{
          "\"step\" in domain \"my lib\": it was also asked for in domain \"other\"; phases of one name are one phase, "
          "and its first handle decides"});
}

TEST_CASE_FIXTURE(fresh_machine, "a recorder that is off has no range to select") {
  sg::recorder recorder{sg::mode::off};
  sg::phase const step{recorder, "step"};
  CHECK(sg::ncu_include(step).why_not == "the recorder is off");
  CHECK(sg::lint(recorder) == lines{"\"step\": no tool sees it: the recorder is off"});
}

TEST_CASE_FIXTURE(fresh_machine, "a phase inside a graph takes the filter of the phase around its launches") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const launches{recorder, "launch", sg::in_domain<my_domain>};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::phase const elsewhere{recorder, "elsewhere", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const graph{inner, stream, 1ms};
  CHECK_FALSE(sg::ncu_include(inner).usable());
  {
    sg::graph_replay replay{launches, graph.executable, graph.graph, stream};
    REQUIRE(replay.launch() == cudaSuccess);
  }
  CHECK(sg::ncu_include(inner).raw == "my lib@launch/");
  CHECK(sg::nsys_capture(inner).raw == "launch@my lib");
  CHECK_FALSE(sg::ncu_include(elsewhere).usable());
  CHECK(sg::ncu_include(launches).note.empty());
  { sg::graph_replay_by_wait replay{launches, graph.executable, stream, {elsewhere}}; }
  CHECK(sg::ncu_include(elsewhere).raw == "my lib@launch/");
}
