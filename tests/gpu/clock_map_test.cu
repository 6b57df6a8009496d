// The bug that would go unseen without this file: a device time that stands on the host's clock where it never was. The
// witness is the host itself: a kernel that waits for a word of the host's cannot end before that was written, and ends
// soon after.
#include "program.hpp"

#include <memory>

#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/measure/timeline.hpp>

#include "device.cuh"

namespace {

__global__ void wait_for_word(int const volatile* word, int value) {
  while (*word != value) {
  }
}

/// A word that the device sees at once.
class shared_word {
 public:
  shared_word() { REQUIRE(cudaHostAlloc(reinterpret_cast<void**>(&word_), sizeof(int), cudaHostAllocMapped) == cudaSuccess); }
  ~shared_word() { cudaFreeHost(word_); }
  shared_word(shared_word const&) = delete;
  shared_word& operator=(shared_word const&) = delete;

  [[nodiscard]] int volatile* get() const { return word_; }
  void set(int value) { *get() = value; }

 private:
  int* word_ = nullptr;
};

void dawdle(std::chrono::nanoseconds time) {
  auto const until = sg::host_now() + time;
  while (sg::host_now() < until) {
  }
}

double milliseconds(std::chrono::nanoseconds time) { return static_cast<double>(time.count()) / 1e6; }

std::int64_t at_share(std::vector<std::int64_t> values, double share) {
  REQUIRE_FALSE(values.empty());
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_spread(char const* what, std::vector<std::int64_t> const& values) {
  std::printf("%-58s least %6lld  median %6lld  p95 %6lld  p99 %6lld  most %6lld ns\n", what,
              static_cast<long long>(at_share(values, 0)), static_cast<long long>(at_share(values, 0.5)),
              static_cast<long long>(at_share(values, 0.95)), static_cast<long long>(at_share(values, 0.99)),
              static_cast<long long>(at_share(values, 1)));
}

}  // namespace

TEST_CASE("a kernel that the host lets go ends, as placed, no earlier than that and soon after") {
  warm_up();
  test_stream const stream;
  shared_word word;
  word.set(0);
  auto const origin = sg::host_now();
  sg::timeline_recorder recorder;
  std::int64_t const after_origin = (sg::host_now() - origin).count();
  sg::phase step{recorder, "step"};
  std::vector<sg::host_stamp> released;
  wait_for_word<<<1, 1, 0, stream>>>(word.get(), 0);
  stream.synchronize();
  // Two seconds and a half, so that the clocks drift apart by more than the bound.
  for (int i = 1; i <= 500; ++i) {
    {
      auto const scope = step.enter(stream);
      wait_for_word<<<1, 1, 0, stream>>>(word.get(), i);
    }
    dawdle(std::chrono::microseconds{100 + 7 * (i % 50)});
    released.push_back(sg::host_now());
    word.set(i);
    stream.synchronize();
    dawdle(std::chrono::milliseconds{5});
  }
  auto const taken = recorder.collect();
  auto const seen = series_of(taken, "step");
  REQUIRE(seen.samples.size() == 500);
  REQUIRE(taken.clocks.size() == 1);
  std::vector<std::int64_t> late;
  std::vector<std::int64_t> bounds;
  std::size_t early = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    sg::sample const& one = seen.samples[i];
    REQUIRE(one.queue.known());
    auto const end = one.entered + *sg::device_end(one);
    std::int64_t const past = (end - (released[i] - origin)).count();
    late.push_back(past);
    bounds.push_back(one.bound.count());
    if (past + one.bound.count() + after_origin < 0) ++early;
  }
  print_spread("end as placed, behind the host's word", late);
  print_spread("bound", bounds);
  std::printf("drift %.3f us a second, give or take %.3f, %llu anchors, %llu thrown away\n", taken.clocks[0].drift.value_or(0) * 1e6,
              taken.clocks[0].drift_bound.value_or(0) * 1e6,
              static_cast<unsigned long long>(taken.clocks[0].anchors),
              static_cast<unsigned long long>(taken.clocks[0].thrown_away));
  CHECK(early == 0);
  // The kernel polls across the bus: a microsecond or two; the stop event's own two, and the map's error.
  CHECK(at_share(late, 0.95) < 15'000);
  CHECK(at_share(bounds, 0.95) <= 4'000);
}

TEST_CASE("case-11 ten launches on an idle stream starve it, behind a millisecond of work they do not") {
  warm_up();
  test_stream const stream;
  sg::timeline_recorder recorder;
  sg::phase alone{recorder, "alone"};
  sg::phase queued{recorder, "queued"};
  for (int i = 0; i < 300; ++i) {
    {
      auto const scope = alone.enter(stream);
      for (int k = 0; k < 10; ++k) spin<<<1, 1, 0, stream>>>(1 * us, nullptr);
    }
    stream.synchronize();
    spin<<<1, 1, 0, stream>>>(1 * ms, nullptr);
    {
      auto const scope = queued.enter(stream);
      for (int k = 0; k < 10; ++k) spin<<<1, 1, 0, stream>>>(1 * us, nullptr);
    }
    stream.synchronize();
  }
  auto const taken = recorder.collect();
  auto const starved = sg::split_latency(series_of(taken, "alone"));
  auto const clean = sg::split_latency(series_of(taken, "queued"));
  for (auto const* each : {&starved, &clean})
    std::printf("%s: %llu starved, %llu clean, %llu not known; submit %.1f queue %.1f device %.1f us, bound %.2f us\n",
                each == &starved ? "alone " : "queued", static_cast<unsigned long long>(each->count(sg::feeding::starved)),
                static_cast<unsigned long long>(each->count(sg::feeding::clean)),
                static_cast<unsigned long long>(each->count(sg::feeding::unknown)), each->submit->count() / 1e3,
                each->queue->count() / 1e3, each->device->count() / 1e3, each->bound->count() / 1e3);
  if (watched()) return;
  CHECK(starved.count(sg::feeding::clean) <= 3);
  CHECK(starved.count(sg::feeding::starved) >= 200);
  CHECK(clean.count(sg::feeding::starved) <= 3);
  CHECK(clean.count(sg::feeding::clean) >= 290);
}

TEST_CASE("a map starts within milliseconds, and anchors hold nobody up, also beside forty busy streams") {
  warm_up();
  test_stream const stream;
  sg::timeline_recorder recorder;
  sg::phase step{recorder, "step"};
  auto const before = sg::host_now();
  { auto const scope = step.enter(stream); }
  std::printf("the first phase, events and map made in it: %.2f ms\n", milliseconds(sg::host_now() - before));
  sg::clock_map* const map = recorder.core().clocks.maps->first();
  REQUIRE(map != nullptr);
  sg::driver_answer const cuda = sg::driver();
  REQUIRE(cuda.api != nullptr);
  auto const start = sg::host_now();
  sg::clock_map another{map->context(), 0, 200, start};
  CHECK(another.start(*cuda.api) == cudaSuccess);
  double const started = milliseconds(sg::host_now() - start);
  std::printf("a map of its own: %.3f ms\n", started);
  CHECK(started < 5);
  another.close(*cuda.api);
  auto const timed_anchors = [&](char const* what) {
    std::vector<std::int64_t> costs;
    for (int i = 0; i < 100; ++i) {
      auto const from = sg::host_now();
      map->anchor(*cuda.api);
      costs.push_back((sg::host_now() - from).count());
      dawdle(std::chrono::microseconds{500});
    }
    print_spread(what, costs);
    return costs;
  };
  stream.synchronize();
  auto const idle = timed_anchors("an anchor, device idle");
  // A twenty-thousandth of its period, 100 ms.
  CHECK(at_share(idle, 0.9) <= 50'000);
  std::vector<std::unique_ptr<test_stream>> busy;
  for (int i = 0; i < 40; ++i) {
    busy.push_back(std::make_unique<test_stream>());
    for (int k = 0; k < 10; ++k) spin<<<1, 1, 0, *busy.back()>>>(20 * ms, nullptr);
  }
  auto const beside = timed_anchors("an anchor, beside 40 busy streams");
  // Of the tenth that is left out the machine's own interruptions are some.
  CHECK(at_share(beside, 0.9) <= 20'000);
  for (auto const& each : busy) each->synchronize();
}

int main(int argc, char** argv) { return run_program(argc, argv); }
