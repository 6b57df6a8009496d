// The bug that would go unseen without this file: a device time that stands on the host's clock where it never was. The
// witness is the host itself: a kernel that waits for a word of the host's cannot end before that was written, and ends
// soon after.
#include "program.hpp"

#include <memory>
#include <sstream>

#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/measure/timeline.hpp>

#include "device.cuh"

namespace {

__global__ void wait_for_word(int const volatile* word, int value) {
  while (*word != value) __nanosleep(200);  // a bus that is asked without pause would make anchors late
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

TEST_CASE("a map starts within milliseconds") {
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
}

// What anchors cost the thread that makes them, and the same by hand: a record on an idle stream, looked at for ten
// microseconds at most. First with the device idle, then beside forty busy streams.
int beside_forty() {
  warm_up();
  test_stream const stream;
  test_stream const other;
  test_event const first{cudaEventDefault};
  test_event const last{cudaEventDefault};
  sg::timeline_recorder recorder;
  sg::phase step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  first.record(other);
  other.synchronize();
  sg::clock_map* const map = recorder.core().clocks.maps->first();
  sg::driver_answer const cuda = sg::driver();
  must(map != nullptr && cuda.api != nullptr, "a map");
  auto const timed = [](auto body) {
    auto const from = sg::host_now();
    body(from);
    return static_cast<long long>((sg::host_now() - from).count());
  };
  auto const print_costs = [&](char const* of) {
    std::string own = std::string{"own "} + of, by_hand = std::string{"hand "} + of;
    for (int i = 0; i < 100; ++i) {
      own += " " + std::to_string(timed([&](sg::host_stamp) { map->anchor(*cuda.api); }));
      dawdle(std::chrono::microseconds{250});
      by_hand += " " + std::to_string(timed([&](sg::host_stamp from) {
        last.record(other);
        float apart = 0;
        auto const until = from + std::chrono::microseconds{10};
        while (cudaEventElapsedTime(&apart, first, last) != cudaSuccess && sg::host_now() < until) {
        }
      }));
      dawdle(std::chrono::microseconds{250});
    }
    std::printf("%s\n%s\n", own.c_str(), by_hand.c_str());
  };
  print_costs("idle");
  std::vector<std::unique_ptr<test_stream>> busy;
  for (int i = 0; i < 40; ++i) {
    busy.push_back(std::make_unique<test_stream>());
    for (int k = 0; k < 10; ++k) spin<<<1, 1, 0, *busy.back()>>>(20 * ms, nullptr);
  }
  print_costs("busy");
  for (auto const& each : busy) each->synchronize();
  return 0;
}
add_child const as_beside_forty{"beside_forty", beside_forty};

TEST_CASE("anchors hold nobody up, also beside forty busy streams and on one connection to the device") {
  for (char const* connections : {"8", "1"}) {
    CAPTURE(connections);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", connections, 1);
    auto const got = run_child("beside_forty");
    unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
    INFO(got.output << got.errors);
    REQUIRE(got.exit_code == 0);
    auto const costs = [&](std::string const& of) {
      auto const at = got.output.find(of);
      REQUIRE(at != std::string::npos);
      std::istringstream line{got.output.substr(at + of.size(), got.output.find('\n', at) - at - of.size())};
      std::vector<std::int64_t> found;
      for (std::int64_t each = 0; line >> each;) found.push_back(each);
      REQUIRE(found.size() == 100);
      print_spread((of + ", " + connections + " connections").c_str(), found);
      return found;
    };
    // A two-thousandth of its period, 100 ms.
    CHECK(at_share(costs("own idle"), 0.5) <= 50'000);
    costs("hand idle");
    // Of the tenth that is left out the machine's own interruptions are some, and the driver's: the same by hand has them.
    CHECK(at_share(costs("own busy"), 0.9) <= 20'000);
    costs("hand busy");
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
