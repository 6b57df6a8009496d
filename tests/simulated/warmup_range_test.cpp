// What a phase's range is called while it warms up, so that no filter for the phase's name selects it. Without this, ncu
// spends its replays on warm-up, and a profiled run selects other executions than a plain one names.
// Field cases: case-49, case-57.

#include <atomic>
#include <thread>

#include <streamgauge/measure/phase_names.hpp>
#include <streamgauge/measure/graph_replay_by_wait.hpp>
#include <streamgauge/measure/span.hpp>

#include "graph_program.hpp"
#include "ranges_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using ranges_seen::take_names;
using simulated::fresh_machine;
using simulated::launch;

using range_names = std::vector<std::string>;

namespace {

// A loop that has everything which may be entered; its names, in order.
range_names names_in(sg::mode mode, cudaStream_t stream) {
  sg::recorder recorder{mode};
  static_cast<void>(take_names());
  sg::phase const target{recorder, "target", sg::warmup{2}};
  sg::phase const inner{recorder, "inner"};
  sg::phase const plain{recorder, "plain"};
  for (int i = 0; i < 4; ++i) {
    {
      auto const scope = target.enter(stream, {{"rows", i % 2}});
      { auto const nested = inner.enter(sg::host_only); }
      auto started = inner.start(stream);
      launch(stream, 1ms);
      started.stop();
    }
    auto const outside = plain.enter(sg::host_only);
  }
  { auto const scope = target.enter(stream); }
  return take_names();
}

// What the samples of a phase are, in the order in which they were entered: w for warm-up, s for steady.
std::string stages_of(sg::recording const& taken, char const* phase) {
  std::string stages;
  for (auto const& each : taken.all)
    if (each.phase == phase)
      for (auto const& one : each.samples) stages += one.warmup ? 'w' : 's';
  return stages;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "while a phase warms up its range has another name, and then its own") {
  sg::recorder recorder;
  sg::phase const target{recorder, "target", sg::warmup{2}};
  auto const stream = new_stream();
  static_cast<void>(take_names());
  for (int i = 0; i < 4; ++i) {
    auto const scope = target.enter(stream);
    launch(stream, 1ms);
  }
  CHECK(take_names() == range_names{"warmup/target", "warmup/target", "target", "target"});
  CHECK(stages_of(recorder.collect(), "target") == "wwss");
  CHECK(sg::ncu_include(target).raw == "target/");
}

TEST_CASE_FIXTURE(fresh_machine, "a phase without a warm-up count keeps its name from the first execution on") {
  sg::recorder recorder;
  sg::phase const target{recorder, "target"};
  static_cast<void>(take_names());
  { auto const scope = target.enter(sg::host_only); }
  CHECK(take_names() == range_names{"target"});
}

TEST_CASE_FIXTURE(fresh_machine, "what is entered while an outer phase warms up counts as warm-up, and only that") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{1}};
  sg::phase const layer{recorder, "layer"};
  sg::phase const attention{recorder, "attention"};
  static_cast<void>(take_names());
  for (int i = 0; i < 2; ++i) {
    auto const outer = step.enter(sg::host_only);
    auto const middle = layer.enter(sg::host_only);
    { auto const scope = attention.enter(sg::host_only); }
    auto started = attention.start(sg::host_only);
    started.stop();
  }
  { auto const scope = layer.enter(sg::host_only); }
  CHECK(take_names() == range_names{"warmup/step", "warmup/layer", "warmup/attention", "warmup/attention", "step", "layer",
                              "attention", "attention", "layer"});
  // The samples say the same, so that the report's rows hold what the tools' ranges hold.
  auto const taken = recorder.collect();
  CHECK(stages_of(taken, "step") == "ws");
  CHECK(stages_of(taken, "layer") == "wss");
  CHECK(stages_of(taken, "attention") == "wwss");
  auto const attention_row = sg::summarize(series_of(taken, "attention")).submit.values;
  CHECK(attention_row.warmup.count == 2);
  CHECK(attention_row.steady.count == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "an inner phase that warms up leaves the name of what follows it alone") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const first{recorder, "first", sg::warmup{1}};
  sg::phase const second{recorder, "second"};
  static_cast<void>(take_names());
  {
    auto const outer = step.enter(sg::host_only);
    { auto const scope = first.enter(sg::host_only); }
    { auto const scope = second.enter(sg::host_only); }
    { auto const scope = first.enter(sg::host_only); }
  }
  CHECK(take_names() == range_names{"step", "warmup/first", "second", "first"});
}

TEST_CASE_FIXTURE(fresh_machine, "another thread is not inside what warms up on this one, and they count together") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{3}};
  sg::phase const work{recorder, "work"};
  static_cast<void>(take_names());
  {
    auto const outer = step.enter(sg::host_only);
    std::thread{[&] {
      { auto const scope = work.enter(sg::host_only); }
      { auto const scope = step.enter(sg::host_only); }
      { auto const scope = work.enter(sg::host_only); }
    }}.join();
    auto const scope = work.enter(sg::host_only);
  }
  { auto const scope = step.enter(sg::host_only); }
  { auto const scope = step.enter(sg::host_only); }
  CHECK(take_names() == range_names{"warmup/step", "work", "warmup/step", "work", "warmup/work", "warmup/step", "step"});
  auto const taken = recorder.collect();
  CHECK(stages_of(taken, "step") == "wwws");
  CHECK(stages_of(taken, "work") == "ssw");
}

TEST_CASE_FIXTURE(fresh_machine, "of threads that race exactly as many are warm-up as the count says") {
  constexpr std::size_t count = 1'000'000;
  sg::recorder recorder{sg::mode::mark};
  sg::phase const step{recorder, "step", sg::warmup{count}};
  std::atomic<std::size_t> warm{0};
  std::atomic<int> there{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&] {
      for (++there; there < 2;) std::this_thread::yield();
      std::size_t mine = 0;
      for (std::size_t k = 0; k < count; ++k) mine += sg::begins_in(step.node()) == sg::stage::counted ? 1U : 0U;
      warm += mine;
    });
  for (auto& each : threads) each.join();
  CHECK(warm == count);
}

TEST_CASE_FIXTURE(fresh_machine, "each set of conditions warms up apart, as its samples are counted") {
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm", sg::warmup{1}};
  static_cast<void>(take_names());
  for (int i = 0; i < 4; ++i) auto const scope = gemm.enter(sg::host_only, {{"rows", i % 2}});
  CHECK(take_names() == range_names{"warmup/gemm", "warmup/gemm", "gemm", "gemm"});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a recorder that only marks gives every execution the name that one with times gives it") {
  auto const stream = new_stream();
  auto const timed = names_in(sg::mode::time, stream);
  CHECK(timed == range_names{"warmup/target", "warmup/inner", "warmup/inner", "plain", "warmup/target", "warmup/inner",
                       "warmup/inner", "plain", "warmup/target", "warmup/inner", "warmup/inner", "plain",
                       "warmup/target", "warmup/inner", "warmup/inner", "plain", "warmup/target"});
  CHECK(names_in(sg::mode::mark, stream) == timed);
  CHECK(names_in(sg::mode::off, stream).empty());
}

TEST_CASE_FIXTURE(fresh_machine, "the name of warm-up is registered once, and only where it is used") {
  sg::recorder recorder;
  sg::phase const target{recorder, "target", sg::warmup{2}};
  sg::phase const plain{recorder, "plain"};
  { auto const scope = plain.enter(sg::host_only); }
  ranges_seen::so_far.forget();
  { auto const scope = plain.enter(sg::host_only); }
  CHECK(ranges_seen::so_far.registrations == 0);
  for (int i = 0; i < 5; ++i) auto const scope = target.enter(sg::host_only);
  CHECK(ranges_seen::so_far.registrations == 2);
  CHECK(ranges_seen::so_far.pushes == 6);
  CHECK(ranges_seen::so_far.pops == 6);
}

TEST_CASE_FIXTURE(fresh_machine, "the branches of a span that warms up count as warm-up, on whatever thread") {
  sg::recorder recorder;
  sg::phase const both{recorder, "both", sg::warmup{1}};
  sg::phase const compute{recorder, "compute"};
  sg::phase const inner{recorder, "inner"};
  auto const one = new_stream();
  auto const other = new_stream();
  static_cast<void>(take_names());
  for (int i = 0; i < 2; ++i) {
    sg::span whole{both};
    std::thread{[&] {
      { auto const part = whole.branch(one, compute); }
      auto const part = whole.branch(other);
      auto const scope = inner.enter(sg::host_only);
    }}.join();
  }
  CHECK(take_names() ==
        range_names{"warmup/both", "warmup/compute", "warmup/both", "warmup/inner", "both", "compute", "both", "inner"});
  auto const taken = recorder.collect();
  CHECK(stages_of(taken, "both") == "wsws");  // the span, and its numbered branch
  CHECK(stages_of(taken, "compute") == "ws");
  CHECK(stages_of(taken, "inner") == "ws");
}

TEST_CASE_FIXTURE(fresh_machine, "an exception that leaves a warming phase ends its warm-up with it") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{1}};
  sg::phase const work{recorder, "work"};
  static_cast<void>(take_names());
  try {
    auto const scope = step.enter(sg::host_only);
    throw 1;
  } catch (int) {
  }
  { auto const scope = work.enter(sg::host_only); }
  { auto const scope = step.enter(sg::host_only); }
  CHECK(take_names() == range_names{"warmup/step", "work", "step"});
}

TEST_CASE_FIXTURE(fresh_machine, "of a phase inside a graph the replays are counted, and not the capture") {
  graph_program::replay_program its;
  sg::phase const warming{its.recorder, "warming", sg::in_graphs, sg::warmup{2}};
  sg::phase const both{its.recorder, "both", sg::in_graphs, sg::warmup{1}};
  auto const graph = graph_program::captured(its.stream, [&] {
    {
      auto const scope = warming.enter(its.stream);
      launch(its.stream, 1ms);
    }
    sg::span whole{both};
    auto const part = whole.branch(its.stream);
    launch(its.stream, 1ms);
  });
  sg::graph_replay replay{its.launches, graph_program::made_of(graph), graph, its.stream};
  for (int i = 0; i < 4; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const taken = its.recorder.collect();
  CHECK(stages_of(taken, "warming") == "wwss");
  CHECK(stages_of(taken, "both") == "wssswsss");  // the span, and its numbered branch
  CHECK(stages_of(taken, "launch") == "ssss");
}

TEST_CASE_FIXTURE(fresh_machine, "inside a graph what lies in warm-up is warm-up in its replays as well") {
  graph_program::replay_program its;
  sg::phase const outer{its.recorder, "outer", sg::in_graphs, sg::warmup{3}};
  sg::phase const inside{its.recorder, "inside", sg::in_graphs};
  sg::phase const both{its.recorder, "both", sg::in_graphs};
  sg::phase const compute{its.recorder, "compute", sg::in_graphs};
  sg::phase const deepest{its.recorder, "deepest", sg::in_graphs};
  auto const graph = graph_program::captured(its.stream, [&] {
    for (int i = 0; i < 2; ++i) {
      auto const scope = outer.enter(its.stream);
      { auto const one = inside.enter(its.stream); }
      sg::span whole{both};
      auto const part = whole.branch(its.stream, compute);
      auto const one = deepest.enter(its.stream);
      launch(its.stream, 1ms);
    }
    auto const outside = inside.enter(its.stream);
  });
  sg::graph_replay replay{its.launches, graph_program::made_of(graph), graph, its.stream};
  for (int i = 0; i < 2; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const taken = its.recorder.collect();
  CHECK(stages_of(taken, "outer") == "wwws");
  CHECK(stages_of(taken, "inside") == "wwswss");
  CHECK(stages_of(taken, "both") == "wwws");
  CHECK(stages_of(taken, "compute") == "wwws");
  CHECK(stages_of(taken, "deepest") == "wwws");
}

TEST_CASE_FIXTURE(fresh_machine, "and so are the branches of a span that warms up") {
  graph_program::replay_program its;
  sg::phase const both{its.recorder, "both", sg::in_graphs, sg::warmup{1}};
  sg::phase const compute{its.recorder, "compute", sg::in_graphs};
  sg::phase const inside{its.recorder, "inside", sg::in_graphs};
  auto const graph = graph_program::captured(its.stream, [&] {
    sg::span whole{both};
    { auto const part = whole.branch(its.stream, compute); }
    auto const one = inside.enter(its.stream);
    launch(its.stream, 1ms);
  });
  sg::graph_replay replay{its.launches, graph_program::made_of(graph), graph, its.stream};
  for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const taken = its.recorder.collect();
  CHECK(stages_of(taken, "both") == "wss");
  CHECK(stages_of(taken, "compute") == "wss");
  CHECK(stages_of(taken, "inside") == "wss");
}

TEST_CASE_FIXTURE(fresh_machine, "and what is replayed by wait") {
  graph_program::replay_program its;
  sg::phase const outer{its.recorder, "outer", sg::in_graphs, sg::warmup{2}};
  sg::phase const inside{its.recorder, "inside", sg::in_graphs};
  auto const graph = graph_program::captured(its.stream, [&] {
    auto const scope = outer.enter(its.stream);
    auto const one = inside.enter(its.stream);
    launch(its.stream, 1ms);
  });
  sg::graph_replay_by_wait replay{its.launches, graph_program::made_of(graph), its.stream, {inside, outer}};
  for (int i = 0; i < 3; ++i) {
    REQUIRE(replay.launch() == cudaSuccess);
    replay.wait();
  }
  auto const taken = its.recorder.collect();
  CHECK(stages_of(taken, "outer") == "wws");
  CHECK(stages_of(taken, "inside") == "wws");
}

TEST_CASE_FIXTURE(fresh_machine, "replays whose launch warms up are warm-up in every phase inside the graph") {
  graph_program::replay_program its;
  sg::phase const launches{its.recorder, "warming launch", sg::warmup{2}};
  auto const step = its.graph_of(3ms);
  sg::graph_replay replay{launches, step.executable, step.graph, its.stream};
  for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  auto const taken = its.recorder.collect();
  CHECK(stages_of(taken, "warming launch") == "wws");
  CHECK(stages_of(taken, "inner") == "wws");
}

TEST_CASE_FIXTURE(fresh_machine, "a range has the colour of its phase and the number of the execution in its series") {
  sg::recorder recorder;
  sg::phase const load{recorder, "load", sg::warmup{1}};
  sg::phase const step{recorder, "step"};
  static_cast<void>(take_names());
  for (int i = 0; i < 2; ++i) auto const scope = load.enter(sg::host_only);
  { auto const other = load.enter(sg::host_only, {{"rows", 1}}); }
  auto started = load.start(sg::host_only);
  started.stop();
  { auto const scope = step.enter(sg::host_only); }
  // The hues are those that `names_test` fixes for these names.
  CHECK(ranges_seen::take_looks() == range_names{"ffd050d0 0", "ffd050d0 1", "ffd050d0 0", "ffd050d0 2", "ffb0d050 0"});
}
