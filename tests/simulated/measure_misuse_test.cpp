// The bugs that would go unseen without this file: a measurement that goes on in what its callable broke, one that outlives its
// budget by far, one that empties another device's cache, and a number beside a reason why there is none.
// Field cases: case-12, case-70, case-72, case-85.

#include <cstdint>
#include <limits>
#include <sstream>
#include <thread>

#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>
#include <streamgauge/report/contest_text.hpp>

#include "measured.hpp"

using namespace measured;

namespace {

using measured::text_of;

/// Each measurement has a median or the reason why not, and each sample is accounted for.
void check_whole(sg::measurement const& found) {
  CAPTURE(found.why_none);
  CHECK(found.median().has_value() == found.why_none.empty());
  for (sg::series const& each : found.taken.all) check_account(sg::summarize(each).device.samples, each.samples.size());
}
void check_whole(sg::contest const& found) {
  CAPTURE(found.why_none);
  CHECK(found.against_first.empty() != found.why_none.empty());
  CHECK(found.fastest.has_value() == found.why_none.empty());
}

/// The text about rounds; where a line breaks is the page's business.
std::string text_of(sg::contest const& found) {
  std::ostringstream out;
  sg::report::contest_text(out, found);
  std::string text = out.str();
  for (std::size_t at = 0; (at = text.find("\n             ", at)) != std::string::npos;) text.replace(at, 14, " ");
  return text;
}

/// Two devices with L2 caches of different sizes; the stream is on the second, the first is current.
struct two_devices : plain_run {
  cudaStream_t second = nullptr;

  two_devices() : plain_run{with_two()} {
    simulated::set_device_attribute(0, l2_attribute, 1'000'000);
    simulated::set_device_attribute(1, l2_attribute, 3'000'000);
    simulated::user_scope const user;
    CHECK(cudaSetDevice(1) == cudaSuccess);
    second = new_stream();
    CHECK(cudaSetDevice(0) == cudaSuccess);
  }
  static simulated::machine_options with_two() {
    simulated::machine_options options;
    options.devices = 2;
    return options;
  }
};

}  // namespace

TEST_CASE_FIXTURE(plain_run, "what a callable broke is not gone on with: an error that stays, a reset device, a stream left in a capture") {
  struct breakage {
    absence why;
    std::function<void(cudaStream_t)> happen;
  };
  breakage const all[] = {
      {absence::earlier_work_failed, [](cudaStream_t on) { simulated::fault(on, cudaErrorIllegalAddress); }},
      {absence::context_gone, [](cudaStream_t) { static_cast<void>(cudaDeviceReset()); }},
      {absence::stream_capture,
       [](cudaStream_t on) { static_cast<void>(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed)); }}};
  for (breakage const& each : all) {
    CAPTURE(each.why);
    int calls = 0;
    int last = 60;
    auto const body = [&](cudaStream_t on) {
      if (++calls < last) launch(on, 20us);
      simulated::user_scope const user;
      if (calls == last) each.happen(on);
    };
    auto const found = sg::measure(new_stream(), body, within(10s, 5000));
    check_whole(found);
    CHECK(found.why_none == sg::broke_off_text(each.why));
    CHECK(calls < 160);
    if (each.why == absence::context_gone) CHECK(calls == last);
    REQUIRE(found.samples());
    CHECK(found.samples()->samples[0].device.value() == 20us);  // kept, but nobody's median

    simulated::reset();
    for (int const breaking : {29, 30}) {  // the first in its round, and the second
      calls = 0;
      last = breaking;
      auto const rounds = sg::measure_rounds(new_stream(), {{"one", body}, {"two", body}}, within(10s, 5000));
      check_whole(rounds);
      CAPTURE(rounds.why_none);
      CHECK(has(rounds.why_none, sg::broke_off_text(each.why).c_str()));
      bool const is_reset = each.why == absence::context_gone;  // the stream is gone for all of them
      CHECK(rounds.why_none.find(is_reset ? "it broke off" : "\"one\": ") == 0);
      if (is_reset) CHECK(calls == last);
      CHECK(calls < 160);
      simulated::reset();
    }
  }
}

TEST_CASE_FIXTURE(plain_run, "on a stream that is being captured already nothing is called, and the capture is as it was") {
  cudaStream_t const stream = new_stream();
  simulated::user_scope const user;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  int calls = 0;
  auto const body = [&](cudaStream_t on) { ++calls, launch(on, 20us); };
  CHECK(sg::measure(stream, body, within(1s)).why_none == sg::describe(absence::stream_capture));
  CHECK(sg::measure_pair(stream, body, body, within(1s)).why_none == sg::describe(absence::stream_capture));
  CHECK(calls == 0);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  std::size_t nodes = 1;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 0);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
}

TEST_CASE_FIXTURE(plain_run, "a measurement within a measurement is one while nothing is held, and says why it is none behind a gate") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  int inner_calls = 0;
  std::vector<sg::measurement> inner;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    ++calls;
    if (calls == 20 || calls == 50)  // alone; then behind a gate
      inner.push_back(sg::measure(on, [&](cudaStream_t deeper) { ++inner_calls, launch(deeper, 30us); }, within(1s, 40)));
    if (calls == 20) CHECK(inner_calls > 32);
    if (calls == 20) inner_calls = 0;
    launch(on, 20us);
  }, within(10s));
  check_whole(found);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  REQUIRE(inner.size() == 2);
  CHECK(inner[0].median() == sg::fractional_nanoseconds{30us});
  CHECK(has(inner[1].why_none, "the stream is held by a gate further out"));
  CHECK(inner_calls == 0);
  CHECK(found.samples()->samples[0].device.value() == 20us);
}

TEST_CASE_FIXTURE(plain_run, "a budget that ends before the first interval says what to do") {
  cudaStream_t const stream = new_stream();
  auto const remedy = "allow more in choices.until.time";
  // A spinning wait costs the simulation a step for each look, so all of it is short.
  for (nanoseconds const takes : {nanoseconds{600ms}, nanoseconds{9ms}}) {
    auto const found = sg::measure(stream, taking(takes), within(10ms));
    check_whole(found);
    CHECK(has(found.why_none, remedy));
    CHECK_FALSE(has(found.why_none, "no execution"));  // they had times, one by one
  }
  CHECK(has(sg::measure(stream, taking(1us), within(1ns)).why_none, remedy));
  auto const rounds = sg::measure_pair(stream, taking(1us), taking(1us), within(1ns));
  check_whole(rounds);
  CHECK(has(rounds.why_none, remedy));
}

TEST_CASE_FIXTURE(plain_run, "rounds of what takes a minute end with the first, and a warm-up does not outlive the budget") {
  cudaStream_t const stream = new_stream();
  auto const began = simulated::host_now();
  check_whole(sg::measure_pair(stream, taking(60s), taking(60s), within(1s)));
  CHECK(simulated::host_now() - began < 121s);
  auto chosen = within(1s);
  chosen.warmup = 60'000;
  auto const before = simulated::host_now();
  check_whole(sg::measure_pair(stream, taking(10ms), taking(10ms), chosen));
  CHECK(simulated::host_now() - before < 1100ms);
}

TEST_CASE_FIXTURE(plain_run, "an interval of more executions than the budget has time for is not begun") {
  cudaStream_t const stream = new_stream();
  for (auto const how : {sg::launched_by::stream, sg::launched_by::graph})
    for (std::size_t const iterations : {std::size_t{501}, std::size_t{2'000'000}, static_cast<std::size_t>(-1)}) {
      auto chosen = within(10ms);
      chosen.how = how;
      chosen.iterations = iterations;
      int calls = 0;
      auto const found = sg::measure(stream, [&](cudaStream_t on) { ++calls, launch(on, 20us); }, chosen);
      CHECK(found.why_none == "an interval of " + std::to_string(iterations) +
                                  " executions takes longer than all of the time for it: fewer in choices.iterations, or more in "
                                  "choices.until.time");
      CHECK(calls < 40);
    }
  auto chosen = within(10ms);
  chosen.iterations = 100;
  CHECK(sg::measure(stream, [](cudaStream_t on) { launch(on, 20us); }, chosen).median());
}

TEST_CASE_FIXTURE(plain_run, "rounds under a tool do not warm up for longer than the budget") {
  setenv("NVTX_INJECTION64_PATH", "/a/tool", 1);
  cudaStream_t const stream = new_stream();
  auto chosen = within(100ms);
  chosen.warmup = 60'000;
  chosen.under_tool = 0;
  int calls = 0;
  auto const body = [&](cudaStream_t on) { ++calls, launch(on, 10ms), synchronize(on); };
  auto const found = sg::measure_pair(stream, body, body, chosen);
  unsetenv("NVTX_INJECTION64_PATH");
  CHECK(found.watched);
  CHECK(calls >= 10);
  CHECK(calls <= 12);
}

TEST_CASE_FIXTURE(plain_run, "long work is not queued so far ahead that the budget is overrun") {
  cudaStream_t const stream = new_stream();
  auto const began = simulated::host_now();
  auto chosen = within(6s);
  chosen.warmup = 1;
  auto const found = sg::measure(stream, taking(300ms), chosen);
  check_whole(found);
  CHECK(found.median() == sg::fractional_nanoseconds{300ms});
  CHECK(simulated::host_now() - began < 6400ms);
  // Long to submit, where no gate is to be had.
  simulated::fail_nth("cuStreamWaitValue32", 1, cudaErrorNotSupported);
  auto const before = simulated::host_now();
  check_whole(sg::measure(stream, taking(300ms), chosen));
  CHECK(simulated::host_now() - before < 6400ms);
}

TEST_CASE_FIXTURE(plain_run, "what does not fit into the budget is not measured with warm caches too, and that is said") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  chosen.warmup = 1;
  auto const began = simulated::host_now();
  auto const found = sg::measure(stream, taking(700ms), chosen);
  check_whole(found);
  CHECK(simulated::host_now() - began < 11s);
  CHECK(found.median() == sg::fractional_nanoseconds{700ms});
  CHECK_FALSE(found.cold_over_warm);
  CHECK(has(text_of(found), "caches: cold; not compared: no time was left for the same work with warm ones\n"));
}

TEST_CASE_FIXTURE(plain_run, "a failure while warm caches are compared does not cost the median") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  chosen.how = sg::launched_by::graph;
  simulated::fail_nth("cudaGraphInstantiate", 2, cudaErrorMemoryAllocation);
  auto const found = sg::measure(stream, taking(20us), chosen);
  check_whole(found);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  CHECK_FALSE(found.cold_over_warm);
  CHECK(has(found.why_not_compared, "cudaGraphInstantiate"));
  // 32 launches were measured by then.
  REQUIRE(found.samples()->samples.size() == 32);
  simulated::fail_nth("cuGraphLaunch", 33, cudaErrorMemoryAllocation);
  auto const later = sg::measure(stream, taking(20us), chosen);
  check_whole(later);
  CHECK(simulated::injected_failures() == 2);
  CHECK(later.median() == sg::fractional_nanoseconds{20us});
}

TEST_CASE_FIXTURE(two_devices, "the L2 that is overwritten is that of the stream's device, whichever is current") {
  auto chosen = within(10s);
  chosen.cache = sg::cache_state::cold;
  auto const found = sg::measure(second, taking(20us), chosen);
  check_whole(found);
  CHECK(found.median() == sg::fractional_nanoseconds{20us});
  sg::cold_cache const of_second{second};
  CHECK(of_second.bytes() == 3'000'000);
  CHECK(of_second.why_not() == "");
  int current = -1;
  simulated::user_scope const user;
  CHECK(cudaGetDevice(&current) == cudaSuccess);
  CHECK(current == 0);
}

TEST_CASE_FIXTURE(plain_run, "a buffer whose device was reset is not freed again") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  {
    sg::cold_cache const cold{stream};
    REQUIRE(cold.why_not() == "");
    simulated::user_scope const user;
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    simulated::clear_log();
  }
  CHECK(simulated::count("cudaFree") == 0);
}

TEST_CASE_FIXTURE(plain_run, "numbers of any size end, or say why they cannot begin") {
  cudaStream_t const stream = new_stream();
  auto chosen = within(10ms);
  chosen.warmup = SIZE_MAX;
  auto const endless = sg::measure(stream, taking(20us), chosen);
  check_whole(endless);
  CHECK(has(endless.why_none, "before the first interval"));
  CHECK(endless.alone()->samples.size() > 400);  // 10 ms of 20 us each
  auto const rounds = sg::measure_pair(stream, taking(20us), taking(20us), chosen);
  check_whole(rounds);
  CHECK(has(rounds.why_none, "choices.warmup leaves no round"));

  chosen.warmup = 3;
  chosen.until.time = (nanoseconds::max)();
  check_whole(sg::measure(stream, taking(20us), chosen));
  check_whole(sg::measure_pair(stream, taking(20us), taking(20us), chosen));
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  chosen.cache = sg::cache_state::cold;
  auto const cold = sg::measure(stream, taking(20us), chosen);
  check_whole(cold);
  CHECK(cold.why_not_compared == "");
  CHECK(cold.cold_over_warm.value() == 1.0);
  chosen.cache = sg::cache_state::warm;
  chosen.until.time = (nanoseconds::min)();
  CHECK(sg::measure(stream, taking(20us), chosen).why_none == "the budget allows no execution");

  for (std::size_t const executions : {std::size_t{1}, std::size_t{6}, SIZE_MAX - 4, SIZE_MAX}) {
    CAPTURE(executions);
    // 2^64 - 1 is a multiple of 3 and 5; 2^64 - 5 of neither: after 15 intervals, and no fewer, their sets come round.
    std::size_t const turn = executions == SIZE_MAX ? 1 : executions == 6 ? 5 : 15;
    CHECK(sg::set_rotation{15}.intervals_in_a_turn(executions) == turn);
  }
  CHECK(sg::set_rotation{SIZE_MAX}.intervals_in_a_turn(2) == SIZE_MAX);
}

TEST_CASE_FIXTURE(plain_run, "widths that nothing can reach end at the budget") {
  cudaStream_t const stream = new_stream();
  for (double const width : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(width);
    auto chosen = within(10s, 100);
    chosen.until.width = width;
    int calls = 0;
    auto const body = [&](cudaStream_t on) { launch(on, 20us + 1us * (++calls * 7 % 5)); };
    auto const found = sg::measure(stream, body, chosen);
    check_whole(found);
    CHECK(found.stopped.cause == sg::stop_cause::samples_spent);
    auto const rounds = sg::measure_pair(stream, body, body, chosen);
    check_whole(rounds);
    CHECK(rounds.ended == sg::stop_cause::samples_spent);
  }
}

TEST_CASE_FIXTURE(plain_run, "what is measured in rounds under its own conditions says so, and graphs are refused") {
  simulated::set_device_attribute(0, l2_attribute, 50'000'000);
  cudaStream_t const stream = new_stream();
  auto chosen = within(10s, 40);
  chosen.iterations = 4;
  chosen.cache = sg::cache_state::cold;
  auto const found = sg::measure_pair(stream, taking(20us), taking(20us), chosen);
  check_whole(found);
  for (auto const& each : found.taken.all) {
    REQUIRE(each.conditions.size() == 2);
    CHECK(each.conditions[0] == sg::condition{"cache", "cold"});
    CHECK(each.conditions[1] == sg::condition{"iterations", "4"});
  }
  chosen.how = sg::launched_by::graph;
  int calls = 0;
  auto const counting = [&](cudaStream_t) { ++calls; };
  CHECK(has(sg::measure_pair(stream, counting, counting, chosen).why_none, "callables in rounds are not captured"));
  CHECK(calls == 0);
}

TEST_CASE_FIXTURE(plain_run, "the legacy stream has no graph, and the remedy is to name another") {
  static_cast<void>(new_stream());  // makes the context
  auto chosen = within(10s);
  chosen.how = sg::launched_by::graph;
  auto const found = sg::measure(cudaStreamLegacy, taking(20us), chosen);
  check_whole(found);
  CHECK(found.why_none == "the legacy stream cannot be captured into a graph: name the one that the work is to run on");
}

TEST_CASE_FIXTURE(plain_run, "work on another stream that is not waited for looks like none, and the text asks") {
  simulated::set_record_duration(700ns);
  cudaStream_t const stream = new_stream();
  cudaStream_t const other = new_stream();
  auto const elsewhere = sg::measure(stream, [&](cudaStream_t) { launch(other, 20us); }, within(10s));
  check_whole(elsewhere);
  CAPTURE(text_of(elsewhere));
  CHECK(elsewhere.median() == sg::fractional_nanoseconds{700ns});
  CHECK(has(text_of(elsewhere), ", which is no less than what was measured: there is next to no work on this stream; is it on another one?"));
  auto const here = sg::measure(stream, taking(1us), within(10s));
  CHECK_FALSE(has(text_of(here), "is it on another one?"));
  CHECK(has(text_of(here), "measure several iterations as one"));
}

TEST_CASE_FIXTURE(plain_run, "why rounds were fed by nothing stands in their text") {
  cudaStream_t const stream = new_stream();
  auto const waiting = [](cudaStream_t on) {
    launch(on, 100us);
    synchronize(on);
  };
  auto const found = sg::measure_pair(stream, waiting, waiting, within(10s, 60));
  std::string const text = text_of(found);
  CAPTURE(text);
  CHECK(has(text, "fed by nothing: the stream was let go by the time limit before everything was queued"));
}

TEST_CASE_FIXTURE(plain_run, "a driver without the functions that read graphs gives a reason at once") {
  sg::the_graph_api.found.store(false);  // as in a process that has not looked them up yet
  simulated::hide_entry_point("cuGraphExecEventRecordNodeSetEvent");
  int calls = 0;
  auto chosen = within(10s, 5000);
  chosen.how = sg::launched_by::graph;
  auto const found = sg::measure(new_stream(), [&](cudaStream_t on) { ++calls, launch(on, 20us); }, chosen);
  check_whole(found);
  CHECK(has(found.why_none, "the graph's interval cannot be read: "));
  CHECK(simulated::count("cuGraphLaunch") == 0);
}

TEST_CASE_FIXTURE(plain_run, "without memory for samples there is the reason after one call, and no loop without an end") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const counting = [&](cudaStream_t on) { ++calls, launch(on, 20us); };
  auto const chosen = within((nanoseconds::max)(), 40);
  {
    simulated::no_memory_scope const none;
    CHECK(sg::measure(stream, counting, chosen).why_none == sg::describe(absence::no_memory));
    CHECK(calls == 1);
    CHECK(sg::measure_pair(stream, counting, counting, chosen).why_none == sg::describe(absence::no_memory));
    CHECK(calls == 3);
  }
  // Gone before the first interval, once executions one by one have had theirs.
  auto few = chosen;
  few.warmup = 1;
  std::optional<simulated::no_memory_scope> later;
  calls = 0;
  auto const found = sg::measure(stream, [&](cudaStream_t on) {
    if (++calls == 33) later.emplace();
    launch(on, 20us);
  }, few);
  later.reset();
  check_whole(found);
  CHECK(calls < 33 + 41);
}

TEST_CASE_FIXTURE(two_devices, "two threads measure on two devices at once, and neither's time is in the other's") {
  cudaStream_t const first = new_stream();
  sg::measurement found[2];
  auto const measure_on = [&](int device, cudaStream_t stream) {
    simulated::user_scope const user;
    CHECK(cudaSetDevice(device) == cudaSuccess);
    found[device] = sg::measure(stream, taking(device == 0 ? 20us : 30us), within(10s));
  };
  std::thread other{measure_on, 1, second};
  measure_on(0, first);
  other.join();
  for (auto const& each : found) check_whole(each);
  CHECK(found[0].median() == sg::fractional_nanoseconds{20us});
  CHECK(found[1].median() == sg::fractional_nanoseconds{30us});
}

TEST_CASE_FIXTURE(plain_run, "of rounds whose clock drifts nobody says that they are steady") {
  cudaStream_t const stream = new_stream();
  int calls = 0;
  auto const falling = [&](cudaStream_t on) { launch(on, 2ms - ++calls / 2 * 5us); };
  auto const found = sg::measure_pair(stream, falling, falling, within(10s));
  check_whole(found);
  CHECK(found.ended == sg::stop_cause::narrow);
  CHECK(has(text_of(found), "every ratio is known as closely as was asked for, after "));
  CHECK_FALSE(has(text_of(found), "steady"));
  auto const spent = sg::measure_pair(stream, taking(40ms), taking(41ms), within(1s));
  CHECK(has(text_of(spent), "the time for it is spent; not every ratio is known"));
}
