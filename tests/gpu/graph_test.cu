// The bug that would go unseen without this file: replays of a graph that all read as the last one, or whose times belong
// to another replay.
#include "program.hpp"

#include <streamgauge/measure/graph_replay.hpp>
#include <streamgauge/measure/span.hpp>

#include "graph.cuh"

using sg::absence;

// As outside a graph, an event pair around a kernel reads about 3 us more than the kernel's own clock (50 us read 53.2),
// and the store of that clock takes up to 2 us.
constexpr std::int64_t most_above = 8'000;

// What tells a replay from its neighbours: the part that varies differs by at least 37 steps. A reading that belongs to a
// neighbour is below this replay's own clock, or above it by at least that much.
void check_against_own(sg::series const& seen, replayed_clocks const& own, std::size_t from, std::size_t to,
                       std::int64_t strange) {
  CAPTURE(seen.phase);
  std::vector<std::int64_t> above;
  std::size_t below = 0;
  std::size_t strangers = 0;
  for (std::size_t i = 0; i < seen.samples.size(); ++i) {
    above.push_back(device_ns(seen.samples[i]) - own.ns(i, from, to));
    if (above.back() < 0) ++below;
    if (above.back() > strange) ++strangers;
  }
  CHECK(below == 0);
  std::printf("%s: %zu replays, median %lld ns above the kernels' own clocks\n", seen.phase.c_str(), above.size(),
              static_cast<long long>(median_of(above)));
  if (watched()) return;
  CHECK(strangers == 0);
  CHECK(median_of(above) <= most_above);
}

TEST_CASE("case-24: 50 kernels with three phases inside, a thousand unsynchronised replays, each with its own times") {
  warm_up_graphs();
  constexpr int kernels = 50;
  constexpr int long_one = 20;
  constexpr std::size_t replays = 1000;
  test_stream const stream;
  replayed_clocks own{kernels, replays};
  sg::recorder recorder{sg::mode::time, sg::capacity{5000, 4096}};
  sg::phase const step{recorder, "step"};
  sg::phase const all{recorder, "all", sg::in_graphs};
  sg::phase const ten{recorder, "ten", sg::in_graphs};
  sg::phase const spinning{recorder, "spin of 50 us", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  test_graph const graph{captured(stream, cudaStreamCaptureModeGlobal, [&] {
    auto const clocks = own.on_device();
    auto whole = all.enter(stream);
    {
      auto first = ten.enter(stream);
      for (int i = 0; i < 10; ++i) spin_in_replay<<<1, 1, 0, stream>>>(2 * us, i == 0 ? us : 0, clocks, i);
    }
    for (int i = 10; i < long_one; ++i) spin_in_replay<<<1, 1, 0, stream>>>(2 * us, 0, clocks, i);
    {
      auto one = spinning.enter(stream);
      spin_in_replay<<<1, 1, 0, stream>>>(50 * us, us, clocks, long_one);
    }
    for (int i = long_one + 1; i < kernels; ++i) spin_in_replay<<<1, 1, 0, stream>>>(2 * us, 0, clocks, i);
  })};
  CHECK(graph.nodes() == kernels + 6);  // the kernels, and two records for each phase
  {
    sg::graph_replay replay{step, graph.executable(), graph.graph(), stream};
    CHECK(replay.intervals() == 3);
    for (std::size_t i = 0; i < replays; ++i) {
      REQUIRE(replay.launch() == cudaSuccess);
      next_replay<<<1, 1, 0, stream>>>(own.on_device());
    }
    replay.wait();
  }
  auto const taken = recorder.collect();
  own.read();
  CHECK(own.replays() == replays);
  CHECK(taken.problems.empty());
  CHECK(cudaGetLastError() == cudaSuccess);
  auto const launches = series_of(taken, "step");
  CHECK(launches.samples.size() == replays);
  CHECK(count_of(launches, absence::not_asked) == replays);
  for (char const* const name : {"all", "ten", "spin of 50 us"}) {
    CAPTURE(name);
    auto const seen = series_of(taken, name);
    REQUIRE(seen.samples.size() == replays);
    REQUIRE(count_of(seen, absence::none) == replays);
  }
  auto const whole = series_of(taken, "all");
  auto const first = series_of(taken, "ten");
  auto const middle = series_of(taken, "spin of 50 us");
  check_against_own(whole, own, 0, kernels - 1, 37'000);
  check_against_own(first, own, 0, 9, 30'000);
  check_against_own(middle, own, long_one, long_one, 30'000);
  for (std::size_t i = 0; i < replays; ++i) {
    auto const more = static_cast<std::int64_t>(varying(static_cast<int>(i)) * us);
    CHECK(device_ns(whole.samples[i]) >= 49 * 2'000 + 50'000 + 2 * more);
    CHECK(device_ns(first.samples[i]) >= 10 * 2'000 + more);
    CHECK(device_ns(middle.samples[i]) >= 50'000 + more);
  }
  CHECK(whole.samples[0].records_inside == 4);
  REQUIRE(first.samples[0].parent.has_value());
  CHECK(taken.all[*first.samples[0].parent].phase == "all");
  REQUIRE(whole.samples[0].parent.has_value());
  CHECK(taken.all[*whole.samples[0].parent].phase == "step");
}

// 200 us is the longer branch. The edges inside a graph and two event pairs read 206.4 us when they were measured; a span
// whose branches ran one after the other would read 250.
TEST_CASE("case-23: 50 beside 200 us, forked and joined by a span inside a graph") {
  warm_up_graphs();
  test_stream const stream;
  test_stream const side;
  constexpr std::size_t replays = 200;
  for (auto const mode :
       {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed}) {
    CAPTURE(mode);
    sg::recorder recorder{sg::mode::time, sg::capacity{1000, 2048}};
    sg::phase const step{recorder, "step"};
    sg::phase const whole{recorder, "whole", sg::in_graphs};
    sg::phase const brief{recorder, "50 us", sg::in_graphs};
    sg::phase const longer{recorder, "200 us", sg::in_graphs};
    sg::prepare_capture(recorder, stream);
    test_graph const graph{captured(stream, mode, [&] {
      sg::span both{whole, sg::joined, stream};
      {
        auto part = both.branch(stream, brief);
        spin<<<1, 1, 0, stream>>>(50 * us, nullptr);
      }
      {
        auto part = both.branch(side, longer);
        spin<<<1, 1, 0, side>>>(200 * us, nullptr);
      }
    })};
    CHECK(graph.nodes() == 2 + 6);  // the edges are no nodes
    sg::graph_replay replay{step, graph.executable(), graph.graph(), stream};
    CHECK(replay.intervals() == 3);
    for (std::size_t i = 0; i < replays; ++i) REQUIRE(replay.launch() == cudaSuccess);
    auto const taken = recorder.collect();
    CHECK(taken.problems.empty());
    for (auto const& expected : {std::pair{"whole", 200'000}, {"50 us", 50'000}, {"200 us", 200'000}}) {
      auto const least = expected.second;
      auto const seen = series_of(taken, expected.first);
      CAPTURE(seen.phase);
      REQUIRE(seen.samples.size() == replays);
      std::vector<std::int64_t> times;
      for (sg::sample const& each : seen.samples) times.push_back(device_ns(each));
      std::printf("%s in a graph: median %lld ns\n", expected.first, static_cast<long long>(median_of(times)));
      CHECK(*std::min_element(times.begin(), times.end()) >= least);
      if (!watched()) CHECK(median_of(times) <= least + (seen.phase == "whole" ? 14'000 : most_above));
    }
    auto const spans = series_of(taken, "whole");
    auto const branches = series_of(taken, "200 us");
    for (std::size_t i = 0; i < replays; ++i) {
      sg::sample const& one = spans.samples[i];
      sg::sample const& branch = branches.samples[i];
      CHECK(one.part == sg::span_part::whole);
      CHECK(branch.span == one.span);
      REQUIRE(branch.begins.known());
      CHECK(branch.begins.value()->count() + device_ns(branch) <= device_ns(one) + 64);
    }
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
