#pragma once

// What a program that uses graphs does by itself.

#include <streamgauge/measure/graph_replay.hpp>
#include <streamgauge/measure/span.hpp>

#include "observed.hpp"
#include "program.hpp"

namespace graph_program {

namespace sg = streamgauge;
using simulated::launch;

constexpr cudaStreamCaptureMode every_mode[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                cudaStreamCaptureModeRelaxed};

inline void begin_capture(cudaStream_t stream, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, mode) == cudaSuccess);
}

/// The graph; the capture must have lived.
inline cudaGraph_t end_capture(cudaStream_t stream) {
  simulated::user_scope const user;
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  return graph;
}

/// What `body` puts into the stream, as a graph.
template <class Body>
cudaGraph_t captured(cudaStream_t stream, Body body, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  begin_capture(stream, mode);
  body();
  return end_capture(stream);
}

inline cudaGraphExec_t made_of(cudaGraph_t graph) {
  simulated::user_scope const user;
  cudaGraphExec_t executable = nullptr;
  REQUIRE(cudaGraphInstantiate(&executable, graph, 0) == cudaSuccess);
  return executable;
}

/// A launch by hand, past whoever tells replays apart.
inline void launch_by_hand(cudaGraphExec_t executable, cudaStream_t stream) {
  simulated::user_scope const user;
  REQUIRE(cudaGraphLaunch(executable, stream) == cudaSuccess);
}

/// The executable does the work of another graph from now on.
inline void update(cudaGraphExec_t executable, cudaGraph_t with) {
  simulated::user_scope const user;
  cudaGraphExecUpdateResultInfo result{};
  REQUIRE(cudaGraphExecUpdate(executable, with, &result) == cudaSuccess);
}

/// The kinds of a graph's nodes, by CUDA's numbers: 0 a kernel, 4 a child graph, 7 a record.
inline std::vector<int> kinds_in(cudaGraph_t graph) {
  simulated::user_scope const user;
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  std::vector<cudaGraphNode_t> nodes(count);
  REQUIRE(cudaGraphGetNodes(graph, nodes.data(), &count) == cudaSuccess);
  std::vector<int> kinds;
  for (auto const node : nodes) {
    cudaGraphNodeType type{};
    REQUIRE(cudaGraphNodeGetType(node, &type) == cudaSuccess);
    kinds.push_back(type);
  }
  return kinds;
}

/// An edge of the program's own, from what one stream has to what another one gets next.
inline void edge(cudaStream_t from, cudaStream_t to) {
  simulated::user_scope const user;
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreateWithFlags(&event, cudaEventDisableTiming) == cudaSuccess);
  REQUIRE(cudaEventRecord(event, from) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(to, event, 0) == cudaSuccess);
  REQUIRE(cudaEventDestroy(event) == cudaSuccess);
}

/// A phase around one kernel, as a graph with its executable.
struct timed_graph {
  cudaGraph_t graph;
  cudaGraphExec_t executable;

  timed_graph(sg::phase const& inner, cudaStream_t stream, std::chrono::nanoseconds work)
      : graph{captured(stream,
                       [&] {
                         auto const scope = inner.enter(stream);
                         launch(stream, work);
                       })},
        executable{made_of(graph)} {}
};

/// A recorder with a phase for launches and one inside, ready for a capture.
struct replay_program {
  cudaStream_t stream = observed::new_stream();
  sg::recorder recorder;
  sg::phase launches{recorder, "launch"};
  sg::phase inner{recorder, "inner", sg::in_graphs};

  explicit replay_program(std::size_t intervals = 16) : recorder{sg::mode::time, {1000, intervals}} {
    sg::prepare_capture(recorder, stream);
  }
  [[nodiscard]] timed_graph graph_of(std::chrono::nanoseconds work) const { return {inner, stream, work}; }
};

/// How often a kind of problem was noted, by words of its text.
inline std::size_t problems_about(sg::recording const& of, std::string const& words) {
  std::size_t found = 0;
  for (auto const& each : of.problems)
    if (each.text.find(words) != std::string::npos) ++found;
  return found;
}
/// For the message of a failed check.
inline std::string text_of(sg::recording const& of) {
  std::string text;
  for (auto const& each : of.problems) text += each.phase + ": " + each.text + "; ";
  return text;
}
inline void check_no_problems(sg::recording const& of) { CHECK_MESSAGE(of.problems.empty(), text_of(of)); }
inline std::size_t unseen(sg::recording const& of) { return problems_about(of, "launched past"); }

/// The samples of a phase over all its series.
inline std::vector<sg::sample> samples_of(sg::recording const& of, std::string const& phase) {
  std::vector<sg::sample> all;
  for (auto const& each : of.all)
    if (each.phase == phase) all.insert(all.end(), each.samples.begin(), each.samples.end());
  return all;
}

/// Whatever was entered is kept, dropped or incomplete, and nothing was lost.
inline void check_accounts(sg::recording const& of) {
  for (auto const& each : of.all) {
    CHECK(each.lost == 0);
    auto const summary = sg::summarize(each);
    observed::check_account(summary.device.samples, each.samples.size());
  }
}

}  // namespace graph_program
