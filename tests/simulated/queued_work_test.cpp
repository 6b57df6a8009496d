// The bugs that would go unseen without this file: launch gaps in what is said to be fed, work ahead that is over too soon
// and nobody says so, and a measurement that waits for work of its own for ever.
// Field cases: case-11, case-12, case-50, case-51.

#include <stdexcept>

#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>

#include "measured.hpp"

using namespace measured;

namespace {

/// A device that cannot wait for a value in memory, and calls that cost what they do: a launch 5 us, a memset 1 us.
struct no_gate_run : plain_run {
  no_gate_run() {
    simulated::set_cost("cudaLaunchKernel", 5us);
    simulated::set_cost("cudaMemsetAsync", 1us);
  }
  /// The choices of one measurement, which asks once for a gate and gets none.
  static sg::measure_choices within(nanoseconds time, std::size_t samples = 200) {
    simulated::fail_nth("cuStreamWaitValue32", 1, cudaErrorNotSupported);
    return measured::within(time, samples);
  }
};

void three_launches(cudaStream_t on) {
  for (int i = 0; i < 3; ++i) launch(on, 1us);
}

std::uint64_t starved(sg::measurement const& found) {
  return sg::split_latency(*found.samples()).count(sg::feeding::starved);
}
std::size_t memsets() { return simulated::count("cudaMemsetAsync"); }

}  // namespace

TEST_CASE_FIXTURE(no_gate_run, "case-11 where no gate can be had the device is kept busy ahead: three launches of 1 us take 3 us") {
  cudaStream_t const stream = new_stream();
  simulated::set_record_duration(300ns);
  auto const found = sg::measure(stream, three_launches, within(10s));
  CAPTURE(found.why_none);
  // Alone, the device waits for each launch: the first is there 5 us behind the start, the last 10 us later, takes 1 us, and
  // the stop's record 0.3 us.
  REQUIRE(found.alone());
  CHECK(found.alone()->samples[5].device.value() == 16'300ns - 300ns);
  // Behind work, nothing but the three and the stop's record.
  for (auto const& one : found.samples()->samples) CHECK(one.device.value() == 3'300ns);
  CHECK(found.median() == sg::fractional_nanoseconds{3'300ns});
  CHECK(found.feeding == sg::fed_by::queued_work);
  CHECK(found.gate == gating::not_supported);
  CHECK(found.overtaken == 0);
  CHECK(starved(found) == 0);
  CHECK(has(text_of(found), "fed by queued work: not held: the driver or the device cannot wait for a value in memory"));
  CHECK_FALSE(has(text_of(found), "before all was submitted"));
}

TEST_CASE_FIXTURE(no_gate_run, "how much is queued follows what an interval takes to submit") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure(stream, three_launches, within(10s, 32));
  REQUIRE(found.samples()->samples.size() == 32);
  // A memset of 2 MiB is the first that takes twice its call: 2,097 ns; to find it, four times nine. Each gains 1,097 ns.
  // The first interval may take 50 us to submit: 100,000 / 1,097 and one more. It took 15 us, so the next may take 32.5,
  // 23.75, 19.375 and so on; in the end 15 us and a bit, twice which is 28 memsets.
  std::size_t expected = 4 * 9;
  double submit = 50'000;
  for (int i = 0; i < 32; ++i) {
    expected += static_cast<std::size_t>(2 * submit / 1097) + 1;
    submit = (submit + 15'000) / 2;
  }
  CHECK(memsets() == expected);
}

TEST_CASE_FIXTURE(no_gate_run, "a hiccup of the host costs one interval, which is told") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    if (++calls == 50) simulated::host_advance(4ms);
    three_launches(on);
  }, within(10s));
  CHECK(found.median() == sg::fractional_nanoseconds{3us});
  CHECK(found.feeding == sg::fed_by::queued_work);
  CHECK(found.overtaken == 1);
  CHECK(starved(found) == 1);
  auto const text = text_of(found);
  CHECK(has(text, "was through the work ahead of 1"));
}

TEST_CASE_FIXTURE(no_gate_run, "what takes longer to submit than work may be queued ahead is starved, and said to be fed by nothing") {
  cudaStream_t const stream = new_stream();
  // The clocks are read in no time, which leaves their map no room: elapsed times that are rounded must not contradict each other.
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    launch(on, 1us);
    simulated::host_advance(3ms);
    launch(on, 1us);
  }, within(90ms));
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(found.overtaken == 16);
  CHECK(starved(found) == found.samples()->samples.size());
  CHECK(has(text_of(found), "fed by nothing: "));
  CHECK(has(text_of(found), "may hold the host's gaps"));
  // None of it was longer than 2 ms.
  CHECK(memsets() <= 4 * 9 + 16 * (2'000'000 / 2097));
}

TEST_CASE_FIXTURE(no_gate_run, "a graph and cold caches are fed in the same way, and the flush comes first") {
  simulated::set_device_attribute(0, 38, 50'000'000);  // cudaDevAttrL2CacheSize
  simulated::set_cost("cudaGraphLaunch", 8us);
  cudaStream_t const stream = new_stream();
  for (auto const how : {sg::launched_by::stream, sg::launched_by::graph}) {
    auto chosen = within(10s);
    chosen.how = how;
    chosen.cache = sg::cache_state::cold;
    auto const found = sg::measure(stream, three_launches, chosen);
    CHECK(found.median() == sg::fractional_nanoseconds{3us});
    CHECK(found.feeding == sg::fed_by::queued_work);
    CHECK(found.cold_over_warm.value() == doctest::Approx(1.0));
  }
}

TEST_CASE_FIXTURE(no_gate_run, "rounds are fed in the same way, each callable for itself") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure_pair(stream, three_launches, [](cudaStream_t on) { three_launches(on), launch(on, 1us); }, within(10s));
  CHECK(found.feeding == sg::fed_by::queued_work);
  REQUIRE(found.against_first.size() == 1);
  CHECK(found.against_first[0].ratio.value() == doctest::Approx(4.0 / 3.0));
}

TEST_CASE_FIXTURE(no_gate_run, "first launches, which wait for the device, use nothing up that later rounds need") {
  cudaStream_t const stream = new_stream();
  std::vector<sg::contender> all;
  std::vector<int> calls(8);
  for (std::size_t i = 0; i < 8; ++i)
    all.push_back({std::to_string(i), [&calls, i](cudaStream_t on) {
                     if (++calls[i] == 1) simulated::first_launch(on, 1us);
                     three_launches(on);
                   }});
  auto const found = sg::measure_rounds(stream, all, within(10s, 40));
  CHECK(found.feeding == sg::fed_by::queued_work);
  for (auto const& each : found.taken.all) {
    REQUIRE(each.samples.size() > 10);
    for (std::size_t i = 3; i < each.samples.size(); ++i) CHECK(each.samples[i].device.value() == 3us);
  }
}

TEST_CASE_FIXTURE(plain_run, "case-12 what synchronises is tried behind a gate, then behind work, and ends up with nothing ahead") {
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    launch(on, 20us);
    synchronize(on);
  }, within(10s, 100));
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(found.gate == gating::timed_out);
  CHECK(found.overtaken == 16);
}

TEST_CASE_FIXTURE(plain_run, "the legacy stream is not held, and fed by queued work") {
  simulated::set_cost("cudaLaunchKernel", 5us);
  make_context();
  auto const found = sg::measure(sg::legacy_stream(), three_launches, within(10s));
  CHECK(found.median() == sg::fractional_nanoseconds{3us});
  CHECK(found.feeding == sg::fed_by::queued_work);
  CHECK(found.gate == gating::legacy_stream);
}

TEST_CASE_FIXTURE(no_gate_run, "case-50 case-51 under a tool nothing is queued ahead") {
  setenv("NVTX_INJECTION64_PATH", "/a/tool", 1);
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure(stream, three_launches, within(10s));
  unsetenv("NVTX_INJECTION64_PATH");
  CHECK(found.watched);
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(memsets() == 0);
  CHECK(simulated::count("cudaHostAlloc") == 0);
}

TEST_CASE_FIXTURE(no_gate_run, "where a memset is over before the next is enqueued, nothing is queued") {
  simulated::set_cost("cudaMemsetAsync", 3us);  // 4 MiB take 4.2 us
  cudaStream_t const stream = new_stream();
  auto const found = sg::measure(stream, three_launches, within(10s));
  CHECK(found.feeding == sg::fed_by::nothing);
  CHECK(found.median() == sg::fractional_nanoseconds{16us});
  CHECK(memsets() == 5 * 9);
  CHECK(starved(found) == found.samples()->samples.size());
}

TEST_CASE_FIXTURE(no_gate_run, "whatever fails of the work ahead, the measurement goes on without, and the last error is the program's") {
  cudaStream_t const stream = new_stream();
  for (char const* const call : {"cudaHostAlloc", "cudaMemsetAsync"})
    for (std::size_t const nth : {1u, 20u, 60u}) {
      if (nth > 1 && std::string{call} == "cudaHostAlloc") continue;
      CAPTURE(call);
      CAPTURE(nth);
      auto const chosen = within(10s);
      simulated::fail_nth(call, nth, cudaErrorMemoryAllocation);
      auto const found = sg::measure(stream, three_launches, chosen);
      CHECK(found.feeding == sg::fed_by::nothing);
      CHECK(found.median() == sg::fractional_nanoseconds{16us});
      CHECK(pending_error() == cudaSuccess);
    }
  CHECK(simulated::injected_failures() == 4 + 4);
  // What was asked for was given back.
  CHECK(simulated::count("cudaHostAlloc") == simulated::count("cudaFreeHost") + 1);
  CHECK(simulated::events_created() == simulated::events_destroyed() + simulated::live_events());
}

TEST_CASE_FIXTURE(no_gate_run, "what the callable throws comes out, and nothing stays behind") {
  cudaStream_t const stream = new_stream();
  for (int last : {36, 37, 40, 50}) {
    int calls = 0;
    CHECK_THROWS_WITH_AS(void(sg::measure(stream, [&](cudaStream_t on) {
                           if (++calls == last) throw std::runtime_error{"mine"};
                           three_launches(on);
                         }, within(10s))),
                         "mine", std::runtime_error);
    CHECK(simulated::count("cudaHostAlloc") == simulated::count("cudaFreeHost"));
  }
  CHECK(simulated::count("cudaHostAlloc") == 4);
}

TEST_CASE_FIXTURE(no_gate_run, "case-11 gates that fail on the way are over, and nobody says that one fed what none held") {
  cudaStream_t const stream = new_stream();
  // One to try, one alone and its part, two and theirs: the seventh is to hold four.
  simulated::fail_nth("cuStreamWaitValue32", 7, cudaErrorUnknown);
  auto const found = sg::measure(stream, three_launches, measured::within(10s));
  CHECK(simulated::injected_failures() == 1);
  CHECK(found.feeding == sg::fed_by::queued_work);
  CHECK(found.gate == gating::call_failed);
  CHECK(found.median() == sg::fractional_nanoseconds{3us});
  CHECK(waits() == 7);
  CHECK(starved(found) == 4);
}

TEST_CASE_FIXTURE(no_gate_run, "a callable that leaves its stream in a capture later gets no work of ours into it") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  std::size_t before = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    three_launches(on);
    if (++calls != 45) return;
    before = memsets();
    simulated::user_scope const user;
    static_cast<void>(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed));
  }, within(10s, 60));
  CHECK(memsets() == before);
  CHECK(found.feeding == sg::fed_by::nothing);
  REQUIRE(found.samples()->samples.size() > 20);
  CHECK(missing(found.samples()->samples.back().device) == absence::stream_capture);
}
