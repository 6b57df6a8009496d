// Tests of the simulated runtime itself: graphs and their record nodes, by what was measured on a real machine.

#include "runtime/graph_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;

TEST_CASE_FIXTURE(fresh_machine, "a graph lists its nodes by kind, and a record node tells its event") {
  timed_graph const timed(7ms);
  CHECK(types_in(timed.graph) == std::vector<int>{7, 0, 7});
  auto const nodes = nodes_of(timed.graph);
  cudaEvent_t event = nullptr;
  CHECK(cudaGraphEventRecordNodeGetEvent(nodes[2], &event) == cudaSuccess);
  CHECK(event == timed.stop);
  CHECK(cudaGraphEventRecordNodeGetEvent(nodes[1], &event) == cudaErrorInvalidValue);
  CHECK(cudaGetLastError() == cudaErrorInvalidValue);
  std::vector<cudaGraphNode_t> more(5, nodes[0]);
  std::size_t count = 5;
  CHECK(cudaGraphGetNodes(timed.graph, more.data(), &count) == cudaSuccess);
  CHECK(count == 3);
  CHECK(more == std::vector<cudaGraphNode_t>{nodes[0], nodes[1], nodes[2], nullptr, nullptr});
  count = 1;
  CHECK(cudaGraphGetNodes(timed.graph, more.data(), &count) == cudaSuccess);
  CHECK(count == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "later launches record a swapped event, those in their stream keep their own") {
  auto const stream = make_stream();
  timed_graph const timed(7ms);
  auto const nodes = nodes_of(timed.graph);
  auto const start2 = make_event(), stop2 = make_event();
  cudaGraphLaunch(timed.executable, stream);
  CHECK(timed.swap(nodes[0], start2) == cudaSuccess);
  CHECK(timed.swap(nodes[2], stop2) == cudaSuccess);
  CHECK(elapsed_status(start2, stop2) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(stop2) == cudaSuccess);
  cudaGraphLaunch(timed.executable, stream);
  CHECK(elapsed_status(start2, stop2) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(timed.stop) == cudaSuccess);
  CHECK(elapsed(timed.start, timed.stop) == 7.0f);
  CHECK(elapsed_status(start2, stop2) == cudaErrorNotReady);
  CHECK(cudaEventSynchronize(stop2) == cudaSuccess);
  CHECK(elapsed(timed.start, stop2) == 14.0f);
  cudaEvent_t event = nullptr;  // of the graph itself, which a swap does not touch
  CHECK(cudaGraphEventRecordNodeGetEvent(nodes[2], &event) == cudaSuccess);
  CHECK(event == timed.stop);
  CHECK(cudaGraphEventRecordNodeSetEvent(nodes[2], stop2) == cudaSuccess);
  CHECK(cudaGraphEventRecordNodeGetEvent(nodes[2], &event) == cudaSuccess);
  CHECK(event == stop2);
  CHECK(timed.swap(nodes[1], stop2) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(fresh_machine, "a swap needs the very graph that the executable came from, and it alive") {
  timed_graph timed(7ms);
  auto const node = nodes_of(timed.graph)[2];
  cudaGraph_t clone = nullptr;
  REQUIRE(cudaGraphClone(&clone, timed.graph) == cudaSuccess);
  cudaGraphNode_t found = nullptr;
  CHECK(cudaGraphNodeFindInClone(&found, node, clone) == cudaSuccess);
  CHECK(found == nodes_of(clone)[2]);
  CHECK(found != node);
  CHECK(cudaGraphNodeFindInClone(&found, node, timed.graph) == cudaErrorInvalidValue);
  auto const event = make_event();
  CHECK(timed.swap(node, event) == cudaSuccess);
  CHECK(timed.swap(found, event) == cudaErrorInvalidValue);
  auto const of_clone = made_of(clone);
  CHECK(cudaGraphExecEventRecordNodeSetEvent(of_clone, node, event) == cudaErrorInvalidValue);
  CHECK(cudaGraphExecEventRecordNodeSetEvent(of_clone, found, event) == cudaSuccess);
  CHECK(cudaGraphDestroy(timed.graph) == cudaSuccess);
  CHECK(timed.swap(node, event) == cudaErrorInvalidValue);
  CHECK(cudaGraphExecEventRecordNodeSetEvent(of_clone, found, event) == cudaSuccess);
  CHECK(cudaGraphLaunch(timed.executable, make_stream()) == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "an update brings another graph's work and events under the first graph's nodes") {
  auto const stream = make_stream();
  timed_graph const first(7ms), second(3ms);
  auto const swapped = make_event();
  CHECK(first.swap(nodes_of(first.graph)[2], swapped) == cudaSuccess);
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(first.executable, second.graph, &result) == cudaSuccess);
  CHECK(result.result == cudaGraphExecUpdateSuccess);
  cudaGraphLaunch(first.executable, stream);
  CHECK(cudaEventSynchronize(second.stop) == cudaSuccess);
  CHECK(elapsed(second.start, second.stop) == 3.0f);
  CHECK(elapsed_status(second.start, swapped) == cudaErrorInvalidResourceHandle);
  CHECK(first.swap(nodes_of(second.graph)[2], swapped) == cudaErrorInvalidValue);
  CHECK(first.swap(nodes_of(first.graph)[2], swapped) == cudaSuccess);
  CHECK(cudaGraphDestroy(second.graph) == cudaSuccess);
  CHECK(first.swap(nodes_of(first.graph)[2], swapped) == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "an update is refused, and changes nothing, where the nodes differ") {
  timed_graph const timed(7ms);
  auto const kernel = captured([](cudaStream_t stream) { launch(stream, 1ms); });
  auto const kernels = captured([](cudaStream_t stream) {
    for (int i = 0; i < 3; ++i) launch(stream, 1ms);
  });
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(timed.executable, kernel, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(cudaGraphExecUpdate(timed.executable, kernels, &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorNodeTypeChanged);
  CHECK(result.errorNode == nodes_of(kernels)[0]);
  auto const stream = make_stream();
  cudaGraphLaunch(timed.executable, stream);
  CHECK(simulated::stream_end(stream) == simulated::host_now() + 7ms);
}

TEST_CASE_FIXTURE(fresh_machine, "a child graph node holds a copy, with nodes of its own") {
  timed_graph const timed(7ms);
  cudaGraph_t parent = nullptr;
  REQUIRE(cudaGraphCreate(&parent, 0) == cudaSuccess);
  cudaGraphNode_t a = nullptr, b = nullptr;
  CHECK(cudaGraphAddChildGraphNode(&a, parent, nullptr, 0, timed.graph) == cudaSuccess);
  CHECK(cudaGraphAddChildGraphNode(&b, parent, &a, 1, timed.graph) == cudaSuccess);
  auto const foreign = nodes_of(timed.graph)[0];
  CHECK(cudaGraphAddChildGraphNode(&b, parent, &foreign, 1, timed.graph) == cudaErrorInvalidValue);
  CHECK(types_in(parent) == std::vector<int>{4, 4});
  CHECK(types_in(child_of(a)) == std::vector<int>{7, 0, 7});
  CHECK(nodes_of(child_of(a)) != nodes_of(child_of(b)));
  cudaGraphNode_t inner = nullptr;
  CHECK(cudaGraphNodeFindInClone(&inner, nodes_of(timed.graph)[2], child_of(b)) == cudaSuccess);
  CHECK(inner == nodes_of(child_of(b))[2]);
  auto const executable = made_of(parent);
  auto const stop = make_event();
  CHECK(cudaGraphExecEventRecordNodeSetEvent(executable, nodes_of(timed.graph)[2], stop) == cudaErrorInvalidValue);
  CHECK(cudaGraphExecEventRecordNodeSetEvent(executable, inner, stop) == cudaSuccess);
  auto const stream = make_stream();
  cudaGraphLaunch(executable, stream);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(elapsed(timed.stop, stop) == 7.0f);  // the second child ran behind the first
  auto const child = child_of(a);
  CHECK(cudaGraphDestroy(child) == cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(parent) == cudaSuccess);
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(child, nullptr, &count) == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(fresh_machine, "a clone and an update reach into child graph nodes") {
  timed_graph const first(7ms), second(3ms);
  auto const parent = parent_of(first.graph);
  cudaGraph_t clone = nullptr;
  REQUIRE(cudaGraphClone(&clone, parent) == cudaSuccess);
  auto const inside = child_of(nodes_of(parent)[0]), inside_clone = child_of(nodes_of(clone)[0]);
  CHECK(inside != inside_clone);
  CHECK(nodes_of(inside)[2] != nodes_of(inside_clone)[2]);
  auto const executable = made_of(parent);
  auto const swapped = make_event();
  auto const swap = [&](cudaGraph_t child) -> int {
    return cudaGraphExecEventRecordNodeSetEvent(executable, nodes_of(child)[2], swapped);
  };
  CHECK(swap(inside_clone) == cudaErrorInvalidValue);
  auto const shorter = captured([](cudaStream_t stream) { launch(stream, 1ms); });
  cudaGraphExecUpdateResultInfo result{};
  CHECK(cudaGraphExecUpdate(executable, parent_of(shorter), &result) == cudaErrorGraphExecUpdateFailure);
  CHECK(result.result == cudaGraphExecUpdateErrorTopologyChanged);
  auto const other = parent_of(second.graph);
  CHECK(cudaGraphExecUpdate(executable, other, &result) == cudaSuccess);
  CHECK(swap(child_of(nodes_of(other)[0])) == cudaErrorInvalidValue);
  CHECK(swap(inside) == cudaSuccess);
  auto const stream = make_stream();
  cudaGraphLaunch(executable, stream);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(elapsed(second.start, swapped) == 3.0f);
}

TEST_CASE_FIXTURE(fresh_machine, "a launch into a capture becomes a child graph node") {
  timed_graph const timed(7ms);
  auto const graph = captured([&](cudaStream_t stream) {
    launch(stream, 1ms);
    CHECK(cudaGraphLaunch(timed.executable, stream) == cudaSuccess);
    launch(stream, 2ms);
  });
  CHECK(types_in(graph) == std::vector<int>{0, 4, 0});
  CHECK(types_in(child_of(nodes_of(graph)[1])) == std::vector<int>{7, 0, 7});
  auto const stream = make_stream();
  cudaGraphLaunch(made_of(graph), stream);
  CHECK(simulated::stream_end(stream) == 1s + 10ms);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(elapsed(timed.start, timed.stop) == 7.0f);
}

TEST_CASE_FIXTURE(fresh_machine, "a launch starts when the same executable's earlier launch has ended, on any stream") {
  auto const a = make_stream(), b = make_stream();
  timed_graph const timed(7ms), other(7ms);
  cudaGraphLaunch(timed.executable, a);
  cudaGraphLaunch(timed.executable, b);
  CHECK(simulated::stream_end(a) == 1s + 7ms);
  CHECK(simulated::stream_end(b) == 1s + 14ms);
  cudaGraphLaunch(other.executable, a);
  CHECK(simulated::stream_end(a) == 1s + 14ms);
}

TEST_CASE_FIXTURE(fresh_machine, "an event of a pending replay is not ready, never what it was before") {
  auto const stream = make_stream();
  timed_graph const timed(7ms);
  CHECK(elapsed_status(timed.start, timed.stop) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(timed.stop) == cudaSuccess);
  // Outside a capture an external record is a plain one.
  stamp(timed.start, stream);
  launch(stream, 2ms);
  stamp(timed.stop, stream);
  cudaStreamSynchronize(stream);
  CHECK(elapsed(timed.start, timed.stop) == 2.0f);
  cudaGraphLaunch(timed.executable, stream);
  CHECK(cudaEventQuery(timed.stop) == cudaErrorNotReady);
  CHECK(elapsed_status(timed.start, timed.stop) == cudaErrorNotReady);
  cudaStreamSynchronize(stream);
  CHECK(elapsed(timed.start, timed.stop) == 7.0f);
}

TEST_CASE_FIXTURE(fresh_machine, "launching a graph that records an event which was destroyed is fatal") {
  auto const stream = make_stream();
  timed_graph const timed(7ms);
  CHECK(cudaGraphLaunch(timed.executable, stream) == cudaSuccess);
  CHECK(cudaEventDestroy(timed.start) == cudaSuccess);
  CHECK(simulated::fatal_misuses().empty());  // the launch is under way already
  CHECK(cudaGraphLaunch(timed.executable, stream) == cudaSuccess);
  CHECK(simulated::fatal_misuses().size() == 1);
  simulated::clear_fatal_misuses();
  CHECK(simulated::stream_end(stream) == 1s + 14ms);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}
