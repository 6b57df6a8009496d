// Tests of the simulated runtime itself: how record nodes come into a graph, what refuses them, and the driver's forms.

#include "runtime/graph_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;
using simulated::launch;

extern "C" cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t executable, cudaStream_t stream);

namespace {

/// A plain record and a wait: the edge of a fork or of a join, which no node stands for.
void edge(cudaStream_t from, cudaStream_t to) {
  auto const event = make_event(cudaEventDisableTiming);
  CHECK(cudaEventRecord(event, from) == cudaSuccess);
  CHECK(cudaStreamWaitEvent(to, event, 0) == cudaSuccess);
}

int instantiated(cudaGraph_t graph, unsigned long long flags = 0) {
  cudaGraphExec_t executable = nullptr;
  int const status = cudaGraphInstantiate(&executable, graph, flags);
  CHECK((executable == nullptr) == (status != 0));
  return status;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "branches of a graph run beside each other, and each record takes its duration") {
  simulated::set_record_duration(1us);
  auto const side = make_stream(), inner = make_stream();
  auto const start = make_event(), stop = make_event(), side_stop = make_event(), inner_stop = make_event();
  auto const graph = captured([&](cudaStream_t origin) {
    stamp(start, origin);
    edge(origin, side);
    launch(side, 5us);
    edge(side, inner);  // a fork of a fork
    launch(inner, 20us);
    stamp(inner_stop, inner);
    stamp(side_stop, side);
    launch(origin, 2us);
    edge(inner, side);
    edge(side, origin);
    stamp(stop, origin);
  });
  CHECK(types_in(graph) == std::vector<int>{7, 0, 0, 7, 7, 0, 7});
  auto const stream = make_stream();
  cudaGraphLaunch(made_of(graph), stream);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  CHECK(elapsed(start, side_stop) == 0.006f);
  CHECK(elapsed(start, inner_stop) == 0.026f);
  CHECK(elapsed(start, stop) == 0.027f);
}

TEST_CASE_FIXTURE(fresh_machine, "a record node on a side stream is unjoined work until an edge leads back from it") {
  auto const side = make_stream();
  auto const last = make_event(), joined = make_event(cudaEventDisableTiming);
  auto const fork_work = [&](cudaStream_t origin) {
    edge(origin, side);
    launch(side, 5us);
  };
  SUBCASE("the edge was taken before the record") {
    captured(
        [&](cudaStream_t origin) {
          fork_work(origin);
          CHECK(cudaEventRecord(joined, side) == cudaSuccess);
          stamp(last, side);
          CHECK(cudaStreamWaitEvent(origin, joined, 0) == cudaSuccess);
        },
        cudaErrorStreamCaptureUnjoined);
  }
  SUBCASE("the edge was taken after it") {
    auto const graph = captured([&](cudaStream_t origin) {
      fork_work(origin);
      stamp(last, side);
      edge(side, origin);
    });
    CHECK(types_in(graph) == std::vector<int>{0, 7});
  }
  SUBCASE("an external event is no edge") {
    captured(
        [&](cudaStream_t origin) {
          fork_work(origin);
          stamp(last, side);
          CHECK(cudaStreamWaitEvent(origin, last, 0) == cudaSuccess);
        },
        cudaErrorStreamCaptureUnjoined);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "an external wait is a node that waits for what its event stood for at the launch") {
  auto const other = make_stream(), stream = make_stream();
  auto const event = make_event();
  auto const graph = captured([&](cudaStream_t origin) {
    CHECK(cudaStreamWaitEvent(origin, event, cudaEventWaitExternal) == cudaSuccess);
    launch(origin, 2ms);
  });
  CHECK(types_in(graph) == std::vector<int>{6, 0});
  launch(other, 5ms);
  cudaEventRecord(event, other);
  cudaGraphLaunch(made_of(graph), stream);
  CHECK(simulated::stream_end(stream) == 1s + 7ms);
}

TEST_CASE_FIXTURE(fresh_machine, "no record in the body of a conditional node nor in a graph for the device") {
  timed_graph const timed(7ms);
  auto const kernel = captured([](cudaStream_t stream) { launch(stream, 1ms); });
  CHECK(instantiated(kernel, cudaGraphInstantiateFlagDeviceLaunch) == cudaSuccess);
  CHECK(instantiated(timed.graph, cudaGraphInstantiateFlagDeviceLaunch) == cudaErrorInvalidValue);
  CHECK(instantiated(parent_of(timed.graph), cudaGraphInstantiateFlagDeviceLaunch) == cudaErrorInvalidValue);
  cudaGraphExec_t executable = nullptr;
  CHECK(cudaGraphInstantiateWithFlags(&executable, timed.graph, cudaGraphInstantiateFlagDeviceLaunch) ==
        cudaErrorInvalidValue);
  CHECK(cudaGraphInstantiateWithFlags(&executable, timed.graph, 0) == cudaSuccess);
  CHECK(instantiated(parent_of(timed.graph)) == cudaSuccess);
  simulated::mark_conditional_body(timed.graph);
  simulated::mark_conditional_body(kernel);
  auto const parent = parent_of(timed.graph);
  CHECK(instantiated(parent) == cudaErrorInvalidValue);
  CHECK(instantiated(parent_of(parent)) == cudaErrorInvalidValue);
  CHECK(instantiated(parent_of(kernel)) == cudaSuccess);
  CHECK(types_in(parent) == std::vector<int>{13});
  cudaGraph_t body = nullptr;
  CHECK(cudaGraphChildGraphNodeGetGraph(nodes_of(parent)[0], &body) == cudaErrorInvalidValue);
}

TEST_CASE("a record node refuses an event of another device") {
  simulated::machine_options two;
  two.devices = 2;
  fresh_machine const machine(two);
  timed_graph const timed(7ms);
  auto const node = nodes_of(timed.graph)[2];
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  auto const foreign = make_event();
  CHECK(timed.swap(node, foreign) == cudaErrorInvalidResourceHandle);
  CHECK(cudaGraphEventRecordNodeSetEvent(node, foreign) == cudaErrorInvalidResourceHandle);
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  CHECK(timed.swap(node, make_event()) == cudaSuccess);
}

namespace {
struct graph_functions {
  int (*nodes)(cudaGraph_t, cudaGraphNode_t*,
               std::size_t*) = driver<int(cudaGraph_t, cudaGraphNode_t*, std::size_t*)>("cuGraphGetNodes");
  int (*type)(cudaGraphNode_t, int*) = driver<int(cudaGraphNode_t, int*)>("cuGraphNodeGetType");
  int (*event)(cudaGraphNode_t,
               cudaEvent_t*) = driver<int(cudaGraphNode_t, cudaEvent_t*)>("cuGraphEventRecordNodeGetEvent");
  int (*child)(cudaGraphNode_t,
               cudaGraph_t*) = driver<int(cudaGraphNode_t, cudaGraph_t*)>("cuGraphChildGraphNodeGetGraph");
  int (*swap)(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t) =
      driver<int(cudaGraphExec_t, cudaGraphNode_t, cudaEvent_t)>("cuGraphExecEventRecordNodeSetEvent");
  int (*launch)(cudaGraphExec_t, cudaStream_t) = driver<int(cudaGraphExec_t, cudaStream_t)>("cuGraphLaunch");
  int (*launch_per_thread)(cudaGraphExec_t,
                           cudaStream_t) = driver<int(cudaGraphExec_t, cudaStream_t)>("cuGraphLaunch",
                                                                                      cudaEnablePerThreadDefaultStream);
};
}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "the driver's forms do the same, in any capture, and leave the last error alone") {
  graph_functions const cu;
  timed_graph const timed(7ms);
  auto const outer = captured([&](cudaStream_t stream) { cudaGraphLaunch(timed.executable, stream); });
  auto const nodes = nodes_of(timed.graph);
  auto const stop = make_event();
  auto const look = [&](cudaStream_t) {
    cudaGraphNode_t first = nullptr;
    std::size_t count = 1;
    int type = -1;
    cudaEvent_t event = nullptr;
    cudaGraph_t child = nullptr;
    CHECK(cu.nodes(timed.graph, &first, &count) == 0);
    CHECK(first == nodes[0]);
    CHECK(cu.type(first, &type) == 0);
    CHECK(type == 7);
    CHECK(cu.event(first, &event) == 0);
    CHECK(event == timed.start);
    CHECK(cu.child(nodes_of(outer)[0], &child) == 0);
    CHECK(child == child_of(nodes_of(outer)[0]));
    CHECK(cu.swap(timed.executable, nodes[2], stop) == 0);
    CHECK(cu.swap(timed.executable, nodes[1], stop) == cudaErrorInvalidValue);
    CHECK(cu.child(first, &child) == cudaErrorInvalidValue);
    CHECK(cu.event(nodes[1], &event) == cudaErrorInvalidValue);
    CHECK(cu.type(nullptr, &type) == cudaErrorInvalidValue);
    CHECK(cu.nodes(nullptr, &first, &count) == cudaErrorInvalidValue);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
  };
  captured(look);
  simulated::clear_log();
  CHECK(cu.swap(timed.executable, nodes[0], timed.start) == 0);
  CHECK(cu.launch(timed.executable, nullptr) == 0);
  CHECK(cu.launch_per_thread(timed.executable, nullptr) == 0);
  CHECK(cudaGraphLaunch_ptsz(timed.executable, nullptr) == cudaSuccess);
  auto const log = simulated::log();
  REQUIRE(log.size() == 4);
  CHECK(log[0].handle == timed.start);
  CHECK(log[1].stream == cudaStreamLegacy);
  CHECK(log[2].stream == cudaStreamPerThread);
  CHECK(log[3].stream == cudaStreamPerThread);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(elapsed(timed.start, stop) == 7.0f);
  simulated::fail_nth("cuGraphLaunch", 1, cudaErrorMemoryAllocation);
  simulated::fail_nth("cudaGraphGetNodes", 1, cudaErrorMemoryAllocation);
  CHECK(cu.launch(timed.executable, nullptr) == cudaErrorMemoryAllocation);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  CHECK(cudaEventQuery(stop) == cudaSuccess);  // what failed did nothing
  std::size_t count = 0;
  CHECK(cudaGraphGetNodes(timed.graph, nullptr, &count) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE_FIXTURE(fresh_machine, "who asks about a capture learns its graph and the node that was added last") {
  using in_11 = int(cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*, cudaGraph_t*, cudaGraphNode_t const**,
                    std::size_t*);
  auto const info = driver<in_11>("cuStreamGetCaptureInfo");
  auto const event = make_event();
  cudaGraph_t asked = nullptr;
  cudaStreamCaptureStatus status{};
  auto const graph = captured([&](cudaStream_t stream) {
    launch(stream, 1ms);
    stamp(event, stream);
    unsigned long long id = 0;
    cudaGraphNode_t const* last = nullptr;
    std::size_t count = 0;
    CHECK(info(stream, &status, &id, &asked, &last, &count) == 0);
    CHECK(status == cudaStreamCaptureStatusActive);
    CHECK(id != 0);
    REQUIRE(count == 1);
    CHECK(last[0] == nodes_of(asked)[1]);
    CHECK(type_of(last[0]) == 7);
    CHECK(instantiated(asked) == cudaErrorInvalidValue);  // it is not whole yet
    cudaGraphNode_t const* same = nullptr;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &asked, &same, nullptr, &count) == cudaSuccess);
#else
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &id, &asked, &same, &count) == cudaSuccess);
#endif
    CHECK(same[0] == nodes_of(asked)[1]);
  });
  CHECK(asked == graph);
  auto const stream = make_stream();
  CHECK(info(stream, &status, nullptr, nullptr, nullptr, nullptr) == 0);
  CHECK(status == cudaStreamCaptureStatusNone);
}

TEST_CASE_FIXTURE(fresh_machine, "the look-up finds the newest signature that the version asked for allows") {
  void* found[4] = {};
  unsigned const versions[] = {10010, 11030, 12030, 13000};
  cudaDriverEntryPointQueryResult result{};
  for (int i = 0; i < 4; ++i) {
    CHECK(cudaGetDriverEntryPointByVersion("cuStreamGetCaptureInfo", &found[i], versions[i], 0, &result) ==
          cudaSuccess);
    CHECK(result == cudaDriverEntryPointSuccess);
  }
  CHECK(found[0] != found[1]);
  CHECK(found[1] != found[2]);
  CHECK(found[2] == found[3]);
  CHECK(cudaGetDriverEntryPointByVersion("cuStreamGetCaptureInfo", &found[0], 10000, 0, &result) == cudaSuccess);
  CHECK(result == cudaDriverEntryPointVersionNotSufficent);
  CHECK(found[0] == nullptr);
}
