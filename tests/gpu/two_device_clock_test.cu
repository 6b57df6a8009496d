// The bug that would go unseen without this file: two devices whose times stand on one axis and lie about which came first.
// The witness is the order that the streams themselves keep: work of one device that waits for work of the other.
// Field cases: case-97.
#include "program.hpp"

#include <algorithm>

#include <streamgauge/measure/timeline.hpp>

#include "device.cuh"

namespace {

constexpr std::size_t bytes = std::size_t{16} << 20;
constexpr std::size_t rounds = 200;

struct stretch {
  std::int64_t begin, end, bound;
};

std::vector<stretch> placed(sg::recording const& taken, char const* phase) {
  std::vector<stretch> found;
  for (sg::sample const& one : series_of(taken, phase).samples) {
    REQUIRE(one.queue.known());
    std::int64_t const begin = (one.entered + *one.queue.value()).count();
    found.push_back({begin, begin + device_ns(one), one.bound.count()});
  }
  return found;
}

// How long after `first` ended `second` began, on the one axis; and how often that is less than nothing by more than both
// bounds allow.
std::size_t print_gaps(char const* what, std::vector<stretch> const& first, std::vector<stretch> const& second,
                       std::int64_t& median) {
  std::vector<std::int64_t> gaps;
  std::vector<std::int64_t> bounds;
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < first.size(); ++i) {
    gaps.push_back(second[i].begin - first[i].end);
    bounds.push_back(first[i].bound + second[i].bound);
    if (gaps.back() + bounds.back() < 0) ++wrong;
  }
  std::sort(gaps.begin(), gaps.end());
  median = gaps[gaps.size() / 2];
  std::printf("%s: least %lld, median %lld, most %lld ns; both bounds together %lld; %zu of %zu contradict the order\n", what,
              static_cast<long long>(gaps.front()), static_cast<long long>(median), static_cast<long long>(gaps.back()),
              static_cast<long long>(median_of(bounds)), wrong, gaps.size());
  return wrong;
}

}  // namespace

TEST_CASE("case-97: a copy between devices lies between the kernel that it waits for and the one that waits for it, on the other device") {
  REQUIRE(cudaSetDevice(1) == cudaSuccess);
  warm_up();
  test_stream const on_one;
  device_values<char> const from{bytes};
  test_event const filled, empty_again;
  REQUIRE(cudaSetDevice(0) == cudaSuccess);
  warm_up();
  test_stream const on_zero;
  device_values<char> const to{bytes};
  test_event const copied;
  sg::timeline_recorder recorder{sg::mode::time};
  sg::phase fill{recorder, "fill"};
  sg::phase copy{recorder, "copy"};
  sg::phase use{recorder, "use"};
  for (std::size_t i = 0; i < rounds; ++i) {
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    {
      auto const scope = fill.enter(on_one);
      spin<<<1, 1, 0, on_one>>>(100 * us, nullptr);
    }
    filled.record(on_one);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    filled.hold(on_zero);
    {
      auto const scope = copy.enter(on_zero);
      sg::check(cudaMemcpyPeerAsync(to.at(0), 0, from.at(0), 1, bytes, on_zero), "cudaMemcpyPeerAsync");
    }
    copied.record(on_zero);
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    copied.hold(on_one);
    {
      auto const scope = use.enter(on_one);
      spin<<<1, 1, 0, on_one>>>(100 * us, nullptr);
    }
    on_one.synchronize();
  }
  auto const taken = recorder.collect();
  REQUIRE(taken.clocks.size() == 2);
  for (sg::placed_clock const& each : taken.clocks)
    std::printf("device %d: drift %.3f us a second, give or take %.3f, %llu anchors\n", each.device,
                each.drift.value_or(0) * 1e6, each.drift_bound.value_or(0) * 1e6, static_cast<unsigned long long>(each.anchors));
  auto const filling = placed(taken, "fill");
  auto const copying = placed(taken, "copy");
  auto const using_it = placed(taken, "use");
  REQUIRE(filling.size() == rounds);
  REQUIRE(copying.size() == rounds);
  REQUIRE(using_it.size() == rounds);
  std::int64_t median = 0;
  CHECK(print_gaps("copy on device 0 behind device 1's kernel", filling, copying, median) == 0);
  // A dependency across devices costs some microseconds; the bounds of both come to that.
  CHECK(median < 50'000);
  CHECK(print_gaps("device 1's kernel behind the copy on device 0", copying, using_it, median) == 0);
  CHECK(median < 50'000);
}

int main(int argc, char** argv) { return run_program(argc, argv, 2); }
