// The bug that would go unseen without this file: device times that hold the host's delays, or are too short.
#include "program.hpp"

#include "device.cuh"

// A start event is stamped before its kernel begins and a stop event after it ends, by the clock that the kernel itself
// reads, so an interval is never below the kernel's own. Above it stands what the device needs to go from event to
// kernel to event.
constexpr std::int64_t most_above = 3500;
constexpr std::size_t rounds = 200;

// What a phase reads above the kernel's own time, and what two events by hand read, round by round in turn, each behind a
// kernel that keeps the device busy until all is queued. One interval a round: where fifty wait in a row, the device
// fetches their commands while it runs them, and every interval reads up to 1 us more, by hand as well.
struct readings {
  std::vector<std::int64_t> phase;
  std::vector<std::int64_t> by_hand;
};

readings above_own_time(test_stream const& stream, std::uint64_t ns) {
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 128}};
  sg::phase spinning{recorder, "spin"};
  { auto scope = spinning.enter(stream); }  // the thread's first phase makes its events
  cudaEvent_t ahead = nullptr, start = nullptr, stop = nullptr;
  sg::check(cudaEventCreateWithFlags(&ahead, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  for (cudaEvent_t* each : {&start, &stop}) sg::check(cudaEventCreate(each), "cudaEventCreate");
  stream.synchronize();

  // Whether all of a round was queued while the kernel ahead still ran; otherwise its interval holds the host's delays.
  auto const queued = [&](auto const& body) {
    spin<<<1, 1, 0, stream>>>(100 * us, nullptr);
    sg::check(cudaEventRecord(ahead, stream), "cudaEventRecord");
    body();
    bool const in_time = cudaEventQuery(ahead) == cudaErrorNotReady;
    stream.synchronize();
    return in_time;
  };

  readings above;
  std::vector<bool> in_time;
  for (std::size_t i = 0; i < rounds; ++i) {
    in_time.push_back(queued([&] {
      auto scope = spinning.enter(stream);
      spin<<<1, 1, 0, stream>>>(ns, nullptr);
    }));
    bool const by_hand_in_time = queued([&] {
      sg::check(cudaEventRecord(start, stream), "cudaEventRecord");
      spin<<<1, 1, 0, stream>>>(ns, nullptr);
      sg::check(cudaEventRecord(stop, stream), "cudaEventRecord");
    });
    float milliseconds = 0;
    sg::check(cudaEventElapsedTime(&milliseconds, start, stop), "cudaEventElapsedTime");
    if (by_hand_in_time) above.by_hand.push_back(std::llround(milliseconds * 1e6) - static_cast<std::int64_t>(ns));
  }
  for (cudaEvent_t const each : {ahead, start, stop}) sg::check(cudaEventDestroy(each), "cudaEventDestroy");

  auto const seen = series_of(recorder.collect(), "spin");
  REQUIRE(seen.samples.size() == rounds + 1);
  for (std::size_t i = 0; i < rounds; ++i)
    if (in_time[i]) above.phase.push_back(device_ns(seen.samples[i + 1]) - static_cast<std::int64_t>(ns));
  return above;
}

TEST_CASE("a spinning kernel's own clock reads what it was told, never less and at most 0.2 us more") {
  // The witness for the next case. There the kernel must not store its clock: waiting for that store to reach memory
  // lengthens the interval by up to 2 us, and none of it is the instrument's.
  warm_up();
  test_stream const stream;
  constexpr std::size_t batch = 50;
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

// The bound is 3.5 us for the median, or what two events by hand read in the same rounds, with two steps of the device's
// clock for the comparison: a phase cannot read less than the pair that it is made of, and must not read more.
TEST_CASE("a phase behind queued work reads what two events by hand read, and never less than the kernel's own clock") {
  warm_up();
  test_stream const stream;
  for (std::uint64_t const length : {5ul, 20ul, 100ul, 1000ul}) {
    CAPTURE(length);
    readings const above = above_own_time(stream, length * us);
    if ((std::min)(above.phase.size(), above.by_hand.size()) < rounds / 2 && watched()) {
      MESSAGE("under a tool the host cannot queue fast enough; nothing was compared");
      continue;
    }
    REQUIRE(above.phase.size() >= rounds / 2);
    REQUIRE(above.by_hand.size() >= rounds / 2);
    auto const [least, most] = std::minmax_element(above.phase.begin(), above.phase.end());
    auto const median = median_of(above.phase);
    auto const by_hand = median_of(above.by_hand);
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
