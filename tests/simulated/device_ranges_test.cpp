// Without these: a tool's timeline on which the device ran phases where it did not, twice, or never.

#include <streamgauge/measure/device_ranges.hpp>
#include <streamgauge/measure/timeline.hpp>

#include <string>
#include <vector>

#include "graph_program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

/// A tool that takes ranges after the fact, with a counter that runs at 2.1 GHz.
struct told_range {
  std::string name;
  std::int64_t begin;
  std::int64_t end;
};
std::vector<told_range> told;
std::vector<std::string> names_made_known;
bool wanted = true;

std::int64_t ticks_at(nanoseconds host) { return host.count() / 10 * 21; }

sg::deferred_calls const tool{
    []() noexcept -> char const* { return ""; },
    []() noexcept { return wanted; },
    []() noexcept { return ticks_at(simulated::host_now()); },
    [](char const* text) noexcept -> void* {
      names_made_known.emplace_back(text);
      return reinterpret_cast<void*>(names_made_known.size());
    },
    [](void* name, std::int64_t begin, std::int64_t end) noexcept {
      told.push_back({names_made_known.at(reinterpret_cast<std::size_t>(name) - 1), begin, end});
    },
};

struct with_tool : fresh_machine {
  with_tool() {
    told.clear();
    names_made_known.clear();
    wanted = true;
    simulated::set_cost("cuEventRecord", 1us);
    simulated::set_cost("cudaLaunchKernel", 3us);
    simulated::set_cost("cuEventElapsedTime", 100ns);
    simulated::set_cost("steady_clock::now", 20ns);
  }
};

/// Whether a tick stands for a moment, give or take some nanoseconds.
bool is_near(std::int64_t ticks, nanoseconds host, nanoseconds bound) {
  std::int64_t const off = ticks - ticks_at(host);
  return (off < 0 ? -off : off) <= bound.count() * 21 / 10 + 2;
}

}  // namespace

TEST_CASE_FIXTURE(with_tool, "every execution is told once, as the device ran it, in the tool's own clock") {
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step", sg::warmup{1}};
  sg::device_ranges shown{recorder, tool};
  std::vector<nanoseconds> began;
  std::vector<nanoseconds> ended;
  auto const run = [&](int times) {
    for (int i = 0; i < times; ++i) {
      auto const scope = step.enter(stream);
      began.push_back(simulated::stream_end(stream));
      launch(stream, 2ms);
      ended.push_back(simulated::stream_end(stream));
      simulated::host_advance(5ms);
    }
  };
  run(3);
  CHECK(shown.submit() == 3);
  CHECK(shown.submit() == 0);
  run(2);
  CHECK(shown.submit() == 2);
  REQUIRE(told.size() == 5);
  auto const samples = series_of(recorder.collect(), "step").samples;
  for (std::size_t i = 0; i < 5; ++i) {
    CAPTURE(i);
    CHECK(told[i].name == (i == 0 ? "warmup/step" : "step"));
    // The bound of the sample, and a microsecond for the tool's clock.
    CHECK(is_near(told[i].begin, began[i], samples[i].bound + 1us));
    // The stop event follows the work, once the host has come to it: 5 ms later.
    CHECK(is_near(told[i].end, began[i] + *samples[i].device.value(), samples[i].bound + 1us));
  }
  CHECK(names_made_known == std::vector<std::string>{"warmup/step", "step"});
  CHECK(shown.counts().submitted == 5);
  CHECK(std::string{shown.why_not()}.empty());
}

TEST_CASE_FIXTURE(with_tool, "replays of a graph and spans with their branches are told as they ran") {
  cudaStream_t const stream = new_stream();
  cudaStream_t const beside = new_stream();
  sg::timeline_recorder recorder{{1000, 16}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::phase const both{recorder, "both"};
  sg::phase const part{recorder, "part"};
  sg::device_ranges shown{recorder, tool};
  sg::prepare_capture(recorder, stream);
  graph_program::timed_graph const graph{inner, stream, 2ms};
  {
    sg::graph_replay replay{launches, graph.executable, graph.graph, stream};
    for (int i = 0; i < 3; ++i) REQUIRE(replay.launch() == cudaSuccess);
  }
  {
    sg::span span{both};
    auto const branch = span.branch(beside, part);
    launch(beside, 1ms);
  }
  CHECK(shown.submit() == 3 + 2);  // a launch itself has no device time
  std::size_t inners = 0;
  for (told_range const& each : told) {
    CHECK(each.begin <= each.end);
    if (each.name != "inner") continue;
    ++inners;
    // Events about 2 ms of work.
    CHECK(each.end - each.begin >= 2'000'000 * 21 / 10);
    CHECK(each.end - each.begin < 2'100'000 * 21 / 10);
  }
  CHECK(inners == 3);
}

TEST_CASE_FIXTURE(with_tool, "a phase that a graph holds several times is told as often in each replay") {
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder{{1000, 64}};
  sg::phase const launches{recorder, "launch"};
  sg::phase const layer{recorder, "layer", sg::in_graphs};
  sg::device_ranges shown{recorder, tool};
  sg::prepare_capture(recorder, stream);
  cudaGraph_t const graph = graph_program::captured(stream, [&] {
    for (int i = 0; i < 4; ++i) {
      auto const scope = layer.enter(stream);
      launch(stream, 1ms);
    }
  });
  cudaGraphExec_t const executable = graph_program::made_of(graph);
  sg::graph_replay replay{launches, executable, graph, stream};
  REQUIRE(replay.launch() == cudaSuccess);
  REQUIRE(replay.launch() == cudaSuccess);
  CHECK(shown.submit() == 8);  // all four of a replay were entered at one moment: that of the launch
  CHECK(shown.submit() == 0);
  REQUIRE(replay.launch() == cudaSuccess);
  CHECK(shown.submit() == 4);
  for (std::size_t i = 1; i < told.size(); ++i) CHECK(told[i].begin - told[i - 1].begin > 2'090'000);  // 1 ms, as placed
}

TEST_CASE_FIXTURE(with_tool, "what is still open comes with a later call, and nothing before it is told twice") {
  cudaStream_t const stream = new_stream();
  sg::timeline_recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::device_ranges shown{recorder, tool};
  { auto const scope = step.enter(stream); }
  simulated::host_advance(3ms);
  auto open = step.start(stream);
  { auto const scope = step.enter(stream); }
  CHECK(shown.submit() == 1);
  open.stop();
  CHECK(shown.submit() == 2);
  CHECK(shown.submit() == 0);
  CHECK(told.size() == 3);
}

TEST_CASE_FIXTURE(with_tool, "without a place, or where the tool does not want them, nothing is told and the reason is there") {
  cudaStream_t const stream = new_stream();
  sg::recorder plain{sg::mode::time};
  sg::phase const step{plain, "step"};
  sg::device_ranges none{plain, tool};
  { auto const scope = step.enter(stream); }
  CHECK(none.submit() == 0);
  wanted = false;
  sg::timeline_recorder recorder;
  sg::phase const unwanted{recorder, "unwanted"};
  sg::device_ranges shown{recorder, tool};
  { auto const scope = unwanted.enter(stream); }
  simulated::host_advance(3ms);
  CHECK(shown.submit() == 0);
  CHECK_FALSE(std::string{shown.why_not()}.empty());
  CHECK(told.empty());
}
