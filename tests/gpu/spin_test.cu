// The bug that would go unseen without this file: device times that hold the host's delays, or are too short.
#include "program.hpp"

#include <algorithm>
#include <optional>

#include "device.cuh"

// A start event is stamped before its kernel begins and a stop event after it ends, by the clock that the kernel itself
// reads, so an interval is never below the kernel's own. Above it stands what the device needs to go from event to
// kernel to event.
constexpr std::int64_t most_above = 3500;
constexpr std::size_t batch = 50;
constexpr std::size_t batches = 4;

// What each interval of a batch reads above the kernel's own time: first a phase's, then that of two events by hand, in
// turn. Nothing when the host was too slow to queue them all while earlier work kept the device busy, since then the
// intervals hold the host's gaps.
struct readings {
  std::vector<std::int64_t> phase;
  std::vector<std::int64_t> by_hand;

  static std::int64_t median(std::vector<std::int64_t> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
  }
};

std::optional<readings> above_own_time(test_stream const& stream, std::uint64_t ns) {
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 128}};
  sg::phase spinning{recorder, "spin"};
  { auto scope = spinning.enter(stream); }  // the thread's first phase makes its events
  cudaEvent_t events[2 * batch] = {};
  for (cudaEvent_t& each : events) sg::check(cudaEventCreate(&each), "cudaEventCreate");
  stream.synchronize();

  cudaEvent_t ahead = nullptr;
  sg::check(cudaEventCreateWithFlags(&ahead, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  spin<<<1, 1, 0, stream>>>(2 * ms, nullptr);
  sg::check(cudaEventRecord(ahead, stream), "cudaEventRecord");
  for (std::size_t i = 0; i < batch; ++i) {
    {
      auto scope = spinning.enter(stream);
      spin<<<1, 1, 0, stream>>>(ns, nullptr);
    }
    sg::check(cudaEventRecord(events[2 * i], stream), "cudaEventRecord");
    spin<<<1, 1, 0, stream>>>(ns, nullptr);
    sg::check(cudaEventRecord(events[2 * i + 1], stream), "cudaEventRecord");
  }
  bool const all_queued = cudaEventQuery(ahead) == cudaErrorNotReady;
  stream.synchronize();

  auto const seen = series_of(recorder.collect(), "spin");
  REQUIRE(seen.samples.size() == batch + 1);
  readings above;
  for (std::size_t i = 0; i < batch; ++i) {
    float milliseconds = 0;
    sg::check(cudaEventElapsedTime(&milliseconds, events[2 * i], events[2 * i + 1]), "cudaEventElapsedTime");
    above.phase.push_back(device_ns(seen.samples[i + 1]) - static_cast<std::int64_t>(ns));
    above.by_hand.push_back(std::llround(milliseconds * 1e6) - static_cast<std::int64_t>(ns));
  }
  for (cudaEvent_t const each : events) sg::check(cudaEventDestroy(each), "cudaEventDestroy");
  sg::check(cudaEventDestroy(ahead), "cudaEventDestroy");
  if (!all_queued) return std::nullopt;
  return above;
}

TEST_CASE("a spinning kernel's own clock reads what it was told, never less and at most 0.2 us more") {
  // The witness for the next case. There the kernel must not store its clock: waiting for that store to reach memory
  // lengthens the interval by up to 2 us, and none of it is the instrument's.
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{batch};
  for (std::uint64_t const length : {5ul, 20ul, 100ul, 1000ul}) {
    CAPTURE(length);
    for (std::size_t i = 0; i < batch; ++i) spin<<<1, 1, 0, stream>>>(length * us, clocks.at(i));
    stream.synchronize();
    for (auto const& own : clocks.read()) {
      CHECK(own.ns() >= static_cast<std::int64_t>(length * us));
      if (!watched()) CHECK(own.ns() <= static_cast<std::int64_t>(length * us) + 200);
    }
  }
}

// An event pair around one kernel reads some microseconds more than the kernel itself: 2.5 to 3.5 us at the median on an
// H200, single ones up to 6. That is the pair's own and a phase cannot read less; it must not read more. So the bound is
// 3.5 us, or what two events by hand read in the same batch, with two steps of the device's clock for the comparison.
TEST_CASE("a phase behind queued work reads what two events by hand read, and never less than the kernel's own clock") {
  warm_up();
  test_stream const stream;
  for (std::uint64_t const length : {5ul, 20ul, 100ul, 1000ul}) {
    CAPTURE(length);
    readings above;
    for (int tries = 0; tries < 40 && above.phase.size() < batch * batches; ++tries) {
      if (auto const more = above_own_time(stream, length * us)) {
        above.phase.insert(above.phase.end(), more->phase.begin(), more->phase.end());
        above.by_hand.insert(above.by_hand.end(), more->by_hand.begin(), more->by_hand.end());
      }
    }
    if (above.phase.size() < batch * batches && watched()) {
      MESSAGE("under a tool the host cannot queue fast enough; nothing was compared");
      continue;
    }
    REQUIRE(above.phase.size() == batch * batches);
    auto const [least, most] = std::minmax_element(above.phase.begin(), above.phase.end());
    auto const median = readings::median(above.phase);
    auto const by_hand = readings::median(above.by_hand);
    std::printf("spin %4d us, %zu samples, ns above the kernel's own clock: min %lld, median %lld, max %lld; by hand: "
                "median %lld, max %lld\n",
                static_cast<int>(length), above.phase.size(), static_cast<long long>(*least),
                static_cast<long long>(median), static_cast<long long>(*most), static_cast<long long>(by_hand),
                static_cast<long long>(*std::max_element(above.by_hand.begin(), above.by_hand.end())));
    CHECK(*least >= 0);
    if (!watched()) CHECK(median <= (std::max)(most_above, by_hand + 64));
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
