// The bug that would go unseen without this file: events of ours that outlive or fall short of the graph that records them,
// a graph that came another way than by one capture and one instantiation, and a harvest that breaks a capture.
#include "program.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include <streamgauge/measure/graph_replay.hpp>

#include "graph.cuh"

using sg::absence;

constexpr cudaStreamCaptureMode every_mode[] = {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                                                cudaStreamCaptureModeRelaxed};
// Neighbouring replays differ by 74 us and more, so half of it tells whose time a reading is.
constexpr std::int64_t most_above = 37'000;

// A graph of one kernel in one phase, which spins for 20 us and 2 more for each of the replay's varying number, and then
// counts the replay. Captured anew, it may spin longer.
cudaGraph_t capture_one(sg::recorder& recorder, cudaStream_t stream, replayed_clocks const& own,
                        cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal, std::uint64_t length = 20 * us) {
  sg::prepare_capture(recorder, stream);
  return captured(stream, mode, [&] {
    sg::phase inner{recorder, "inner", sg::in_graphs};  // gone before the first replay
    {
      auto scope = inner.enter(stream);
      spin_in_replay<<<1, 1, 0, stream>>>(length, 2 * us, own.on_device(), 0);
    }
    next_replay<<<1, 1, 0, stream>>>(own.on_device());
  });
}

// Whether the samples are those of these replays, in this order.
void check_replays(sg::recording const& taken, replayed_clocks& own, std::vector<std::size_t> const& replays) {
  own.read();
  auto const seen = series_of(taken, "inner");
  REQUIRE(seen.samples.size() == replays.size());
  for (std::size_t i = 0; i < replays.size(); ++i) {
    CAPTURE(i);
    auto const above = device_ns(seen.samples[i]) - own.ns(replays[i], 0, 0);
    CHECK(above >= 0);
    if (!watched()) CHECK(above < most_above);
  }
}

std::vector<std::size_t> first(std::size_t count) {
  std::vector<std::size_t> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = i;
  return numbers;
}

void launch(sg::graph_replay& replay, int times) {
  for (int i = 0; i < times; ++i) REQUIRE(replay.launch() == cudaSuccess);
}

TEST_CASE("the executable of a clone, and that of a graph which holds the captured one as a child") {
  warm_up_graphs();
  test_stream const stream;
  replayed_clocks own{1, 50};
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  test_graph const original{capture_one(recorder, stream, own)};
  cudaGraph_t other = nullptr;
  SUBCASE("a clone") { sg::check(cudaGraphClone(&other, original.graph()), "cudaGraphClone"); }
  SUBCASE("a parent") {
    cudaGraphNode_t child = nullptr;
    sg::check(cudaGraphCreate(&other, 0), "cudaGraphCreate");
    sg::check(cudaGraphAddChildGraphNode(&child, other, nullptr, 0, original.graph()), "cudaGraphAddChildGraphNode");
  }
  SUBCASE("a parent of a clone, two deep") {
    cudaGraph_t middle = nullptr;
    cudaGraphNode_t child = nullptr;
    sg::check(cudaGraphCreate(&middle, 0), "cudaGraphCreate");
    sg::check(cudaGraphAddChildGraphNode(&child, middle, nullptr, 0, original.graph()), "cudaGraphAddChildGraphNode");
    sg::check(cudaGraphCreate(&other, 0), "cudaGraphCreate");
    sg::check(cudaGraphAddChildGraphNode(&child, other, nullptr, 0, middle), "cudaGraphAddChildGraphNode");
    sg::check(cudaGraphDestroy(middle), "cudaGraphDestroy");
  }
  test_graph const made{other};
  {
    sg::graph_replay replay{step, made.executable(), made.graph(), stream};
    CHECK(replay.intervals() == 1);
    launch(replay, 50);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  check_replays(taken, own, first(50));
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("after an update of the executable graph the first source is still the one to give") {
  warm_up_graphs();
  test_stream const stream;
  replayed_clocks own{1, 60};
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  test_graph const graph{capture_one(recorder, stream, own)};
  test_graph const longer{capture_one(recorder, stream, own, cudaStreamCaptureModeGlobal, 500 * us)};
  auto const update = [&] {
    cudaGraphExecUpdateResultInfo result{};
    REQUIRE(cudaGraphExecUpdate(graph.executable(), longer.graph(), &result) == cudaSuccess);
  };
  bool made_before = true;
  SUBCASE("made before the update") {}
  SUBCASE("made after the update") { made_before = false; }
  if (!made_before) update();
  {
    sg::graph_replay replay{step, graph.executable(), graph.graph(), stream};
    launch(replay, 30);
    if (made_before) update();
    launch(replay, 30);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  check_replays(taken, own, first(60));
  auto const seen = series_of(taken, "inner");
  for (std::size_t i = made_before ? 30 : 0; i < 60; ++i) CHECK(device_ns(seen.samples[i]) >= 500'000);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a launch past graph_replay leaves no sample, spoils none, and is reported") {
  warm_up_graphs();
  test_stream const stream;
  replayed_clocks own{1, 10};
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  test_graph const graph{capture_one(recorder, stream, own)};
  std::vector<std::size_t> seen_launches;
  {
    sg::graph_replay replay{step, graph.executable(), graph.graph(), stream};
    launch(replay, 1);
    replay.wait();
    SUBCASE("between two launches") {
      graph.launch(stream);
      stream.synchronize();
      launch(replay, 1);
      seen_launches = {0, 2};
    }
    SUBCASE("after the last one") {
      launch(replay, 1);
      replay.wait();
      graph.launch(stream);
      stream.synchronize();
      seen_launches = {0, 1};
    }
  }
  auto const taken = recorder.collect();
  CHECK(problems_with(taken, "launched past graph_replay") >= 1);
  CHECK(taken.problems.size() == 1);
  check_replays(taken, own, seen_launches);
  CHECK(own.replays() == 3);
}

TEST_CASE("case-26: captures with phases inside succeed while another thread collects all the while") {
  warm_up_graphs();
  test_stream const stream;
  test_stream const other;
  constexpr int captures = 60;
  replayed_clocks own{1, 3 * captures};
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step"};
  sg::phase const pending{recorder, "pending"};
  std::atomic<bool> ends{false};
  std::atomic<int> collections{0};
  std::thread harvester{[&] {
    while (!ends) {
      static_cast<void>(recorder.collect());
      recorder.drain();
      ++collections;
    }
  }};
  struct join_at_end {
    std::atomic<bool>& ends;
    std::thread& busy;
    ~join_at_end() {
      ends = true;
      busy.join();
    }
  };
  {
    join_at_end const joined{ends, harvester};
    for (int i = 0; i < captures; ++i) {
      CAPTURE(i);
      {
        auto scope = pending.enter(other);  // something to wait for while the capture goes on
        spin<<<1, 1, 0, other>>>(500 * us, nullptr);
      }
      sg::prepare_capture(recorder, stream);
      cudaGraph_t captured_now = nullptr;
      REQUIRE(cudaStreamBeginCapture(stream, every_mode[i % 3]) == cudaSuccess);
      {
        sg::phase const inner{recorder, "inner", sg::in_graphs};
        auto scope = inner.enter(stream);
        spin_in_replay<<<1, 1, 0, stream>>>(20 * us, 2 * us, own.on_device(), 0);
        usleep(300);
      }
      next_replay<<<1, 1, 0, stream>>>(own.on_device());
      REQUIRE(cudaStreamEndCapture(stream, &captured_now) == cudaSuccess);
      test_graph const graph{captured_now};
      CHECK(graph.nodes() == 4);
      sg::graph_replay replay{step, graph.executable(), graph.graph(), stream};
      CHECK(replay.intervals() == 1);
      launch(replay, 3);
      stream.synchronize();
    }
  }
  CHECK(collections > 0);
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  check_replays(taken, own, first(3 * captures));
  auto const beside = series_of(taken, "pending");
  CHECK(count_of(beside, absence::none) == captures);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("launches succeed after the recorder has ended, by graph_replay and past it") {
  warm_up_graphs();
  test_stream const stream;
  replayed_clocks const own{1, 100};
  auto recorder = std::make_unique<sg::recorder>(sg::mode::time);
  auto const step = std::make_unique<sg::phase>(*recorder, "step");
  test_graph const graph{capture_one(*recorder, stream, own)};
  {
    auto replay = std::make_unique<sg::graph_replay>(*step, graph.executable(), graph.graph(), stream);
    launch(*replay, 5);
    SUBCASE("while the last launches are under way") {}
    SUBCASE("when all was read") { replay->wait(); }
    recorder.reset();
    launch(*replay, 5);
    graph.launch(stream);
    stream.synchronize();
    launch(*replay, 5);
  }
  for (int i = 0; i < 5; ++i) graph.launch(stream);
  stream.synchronize();
  CHECK(own.replays() == 21);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("launches past any graph_replay succeed before and after the recorder has ended, and are reported") {
  warm_up_graphs();
  test_stream const stream;
  replayed_clocks const own{1, 20};
  auto recorder = std::make_unique<sg::recorder>(sg::mode::time);
  test_graph const graph{capture_one(*recorder, stream, own)};
  graph.launch(stream);
  graph.launch(stream);
  stream.synchronize();
  auto const taken = recorder->collect();
  CHECK(problems_with(taken, "launched past graph_replay") >= 1);
  CHECK(series_of(taken, "inner").samples.empty());
  recorder.reset();
  graph.launch(stream);
  stream.synchronize();
  CHECK(own.replays() == 3);
  CHECK(cudaGetLastError() == cudaSuccess);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
