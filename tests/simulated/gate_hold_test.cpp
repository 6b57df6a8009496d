// What a gate is made of: holds without phases, the words that streams wait on, the thread that watches the time limit, and
// every call of theirs that may fail. Without these: two could open one hold, a word be used while it is closed, a thread
// stay behind, or a failed call of ours hang the program.
// Field case: case-12.

#include <thread>

#include "gated.hpp"
#include "own_process.hpp"

using namespace gated;

namespace {

std::size_t threads_now() {
  std::size_t count = 0;
  std::FILE* const status = std::fopen("/proc/self/status", "r");
  REQUIRE(status != nullptr);
  char line[256];
  while (std::fgets(line, sizeof line, status))
    if (std::sscanf(line, "Threads: %zu", &count) == 1) break;
  std::fclose(status);
  return count;
}

// Where the driver did not say that a context lives, its events are left alone.
void check_no_live_event() {
  for (auto const& each : simulated::log())
    if (each.result != 0 && std::string{each.name} == "cuCtxGetId") return;
  CHECK(simulated::live_events() == 0);
}

// A page of words without any gate, and a word of it that is taken.
struct one_word : plain_run {
  cudaStream_t stream = new_stream();
  sg::gate_page* page = nullptr;
  sg::gate_word* word = nullptr;

  one_word() {
    auto const cuda = sg::driver();
    REQUIRE(cuda.api != nullptr);
    auto const* const values = sg::wait_value_functions();
    REQUIRE(values != nullptr);
    int status = 0;
    page = sg::gate_page_of(*cuda.api, *values, sg::context_of(*cuda.api, stream).key, status);
    REQUIRE(page != nullptr);
    word = page->take();
    REQUIRE(word != nullptr);
  }
  void let_go() {
    word->let_go([](void const*, sg::release_time) { return true; });
  }
};

}  // namespace

// ------------------------------------------------------------------------------------------------- holds without phases

TEST_CASE_FIXTURE(plain_run, "a hold without a phase: the stream begins when it is opened, and says what became of it") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  CHECK_FALSE(gate.last().has_value());
  launch(stream, 1us);
  auto held = gate.hold(stream);
  CHECK(held.holds());
  launch(stream, 2us);
  simulated::host_advance(50us);
  CHECK_FALSE(gate.last().has_value());
  auto const opened = simulated::host_now();
  CHECK(held.open() == gating::gated);
  CHECK_FALSE(held.holds());
  simulated::host_advance(50us);
  CHECK(simulated::stream_end(stream) == opened + 2us);
  CHECK(held.open() == gating::gated);
  CHECK(counts(gate) == "gated 1");
}

TEST_CASE_FIXTURE(plain_run, "a hold opens at the end of its scope, when an exception passes, and when another takes its place") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  { auto const held = gate.hold(stream); }
  synchronize(stream);
  CHECK_THROWS_AS(
      [&] {
        auto const held = gate.hold(stream);
        throw 1;
      }(),
      int);
  synchronize(stream);
  auto held = gate.hold(stream);
  auto moved = std::move(held);
  CHECK(moved.holds());
  auto const side = new_stream();
  moved = gate.hold(side);
  synchronize(stream);
  auto& same = moved;
  moved = std::move(same);  // it holds on
  CHECK(moved.holds());
  CHECK(moved.open() == gating::gated);
  CHECK(counts(gate) == "gated 4");
}

TEST_CASE_FIXTURE(plain_run, "a hold may be opened on another thread") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  auto held = gate.hold(stream);
  launch(stream, 1us);
  std::thread{[&] { CHECK(held.open() == gating::gated); }}.join();
  synchronize(stream);
}

TEST_CASE_FIXTURE(plain_run, "case-12 a hold that is waited for is let go within its limit, and says so") {
  auto const stream = new_stream();
  for (auto const limit : {0ms, 20ms, 200ms}) {
    sg::gate gate{limit};
    auto const began = real_now();
    auto held = gate.hold(stream);
    launch(stream, 1us);
    synchronize(stream);
    auto const took = real_now() - began;
    CHECK(took >= limit);
    CHECK(took < limit + 1s);
    CHECK(held.open() == gating::timed_out);
    CHECK(held.open() == gating::timed_out);
    CHECK(counts(gate) == "timed_out 1");
  }
}

TEST_CASE_FIXTURE(plain_run, "the limit is 50 ms unless told") {
  auto const stream = new_stream();
  sg::gate gate;
  auto const began = real_now();
  auto held = gate.hold(stream);
  synchronize(stream);
  CHECK(real_now() - began >= 50ms);
  CHECK(real_now() - began < 1050ms);
  CHECK(held.open() == gating::timed_out);
}

TEST_CASE_FIXTURE(plain_run, "a limit below zero is over at once, and one without end holds") {
  auto const stream = new_stream();
  sg::gate gone{-1s};
  auto held = gone.hold(stream);
  synchronize(stream);
  CHECK(held.open() == gating::timed_out);
  sg::gate endless{(sg::nanoseconds::max)()};
  auto holds = endless.hold(stream);
  really_sleep(5ms);
  CHECK(holds.open() == gating::gated);
}

TEST_CASE_FIXTURE(plain_run, "a short limit is kept beside a long one, closed before or after it") {
  auto const slow_stream = new_stream();
  auto const stream = new_stream();
  sg::gate slow{60s};
  sg::gate quick{20ms};
  auto const began = real_now();
  {
    auto long_hold = slow.hold(slow_stream);
    really_sleep(5ms);  // the watch has gone to sleep for a minute
    auto short_hold = quick.hold(stream);
    synchronize(stream);
    CHECK(short_hold.open() == gating::timed_out);
    auto again = quick.hold(stream);
    synchronize(stream);
    CHECK(again.open() == gating::timed_out);
    CHECK(long_hold.open() == gating::gated);
  }
  CHECK(real_now() - began < 2s);
}

TEST_CASE_FIXTURE(plain_run, "a second hold of a stream holds nothing by itself, whoever opens first") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  auto outer = gate.hold(stream);
  auto inner = gate.hold(stream);
  CHECK(waits() == 1);
  CHECK_FALSE(inner.holds());
  SUBCASE("the inner one") {
    CHECK(inner.open() == gating::already_held);
    launch(stream, 1us);
    simulated::host_advance(1ms);
    auto const opened = simulated::host_now();
    CHECK(outer.open() == gating::gated);
    CHECK(simulated::stream_end(stream) == opened + 1us);
  }
  SUBCASE("the outer one") {
    CHECK(outer.open() == gating::gated);
    auto next = gate.hold(stream);  // the same word again
    CHECK(inner.open() == gating::already_held);
    CHECK(next.open() == gating::gated);
  }
}

TEST_CASE_FIXTURE(plain_run, "a hold inside one that was let go is let go too, also once its word holds something else") {
  auto const stream = new_stream();
  sg::gate gate{200ms};
  sg::gate next_gate{60s};
  auto outer = gate.hold(stream);
  auto inner = gate.hold(stream);
  synchronize(stream);
  CHECK(outer.open() == gating::timed_out);
  auto next = next_gate.hold(stream);
  CHECK(next.open() == gating::gated);
  CHECK(inner.open() == gating::timed_out);
}

TEST_CASE_FIXTURE(plain_run, "a per-thread stream is another one on each thread") {
  make_context();
  sg::gate gate{60s};
  auto mine = gate.hold(cudaStreamPerThread);
  std::thread{[&] {
    make_context();
    auto theirs = gate.hold(cudaStreamPerThread);
    CHECK(theirs.holds());
    CHECK(theirs.open() == gating::gated);
    synchronize(cudaStreamPerThread);
  }}.join();
  auto again = gate.hold(cudaStreamPerThread);
  CHECK_FALSE(again.holds());
  CHECK(mine.open() == gating::gated);
}

TEST_CASE_FIXTURE(plain_run, "64 streams of a device can be held at once, and the next one is left alone") {
  sg::gate gate{60s};
  std::vector<sg::held> all;
  for (int i = 0; i < 64; ++i) all.push_back(gate.hold(new_stream()));
  auto const stream = new_stream();
  auto one_more = gate.hold(stream);
  CHECK_FALSE(one_more.holds());
  CHECK(one_more.open() == gating::no_room);
  synchronize(stream);
  all.pop_back();
  auto now = gate.hold(stream);
  CHECK(now.holds());
  all.clear();
  now.open();
  CHECK(counts(gate) == "gated 65, no_room 1");
}

// ------------------------------------------------------------------------------------------------------------- the words

TEST_CASE_FIXTURE(one_word, "exactly one of the two opens a hold, and what was let go is never opened") {
  for (int i = 0; i < 5; ++i) {
    auto const name = word->close(stream, this, 1);
    CHECK(word->state(name) == sg::word_state::closed);
    if (i % 2 == 0) {
      CHECK(word->open(name) == sg::word_state::opened);
      let_go();
      CHECK(word->state(name) == sg::word_state::opened);
    } else {
      let_go();
      CHECK(word->state(name) == sg::word_state::let_go);
      CHECK(word->open(name) == sg::word_state::let_go);
      CHECK(word->state(name) == sg::word_state::let_go);
    }
  }
  word->give_back();
}

TEST_CASE_FIXTURE(one_word, "the number that a stream waits for is above all before it, also around the end of the numbers") {
  CHECK(sg::gate_word::opened({0, 0}) == 2);
  CHECK(sg::gate_word::opened({2, 0}) == 4);
  CHECK(sg::gate_word::opened({5, 0}) == 6);  // 5: the hold for 4 was let go
  CHECK(sg::gate_word::opened({0xffff'fffeU, 0}) == 0);
  CHECK(sg::gate_word::opened({0xffff'ffffU, 0}) == 0);
  word->give_back();
}

TEST_CASE_FIXTURE(one_word, "who looked while it was still closed learns that it was let go, also when it was closed and opened again since") {
  auto const name = word->close(stream, this, 1);
  std::optional<sg::hold_name> seen;
  word->let_go([&](void const*, sg::release_time) {
    seen = word->holds(stream);
    return true;
  });
  REQUIRE(seen.has_value());
  CHECK(word->open(name) == sg::word_state::let_go);
  auto const next = word->close(stream, this, sg::never_released - 1);
  CHECK(word->open(next) == sg::word_state::opened);
  CHECK(word->state(*seen) == sg::word_state::let_go);
  word->give_back();
}

TEST_CASE_FIXTURE(one_word, "a word is used again before the device has come to the wait, and still holds what it should") {
  word->give_back();
  auto const side = new_stream();
  sg::gate gate{60s};
  simulated::hold(stream);  // the device comes to nothing here
  auto first = gate.hold(stream);
  launch(stream, 1us);
  CHECK(first.open() == gating::gated);
  auto second = gate.hold(side);
  auto third = gate.hold(stream);
  launch(side, 1us);
  CHECK(second.open() == gating::gated);
  simulated::release(stream);
  simulated::host_advance(1ms);
  {
    simulated::user_scope const user;
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  }
  CHECK(third.open() == gating::gated);
  synchronize(stream);
  synchronize(side);
}

// ------------------------------------------------------------------------------------------------------------- the watch

TEST_CASE_FIXTURE(plain_run, "the watch's thread is there from the first hold to the end of the last gate") {
  auto const stream = new_stream();
  auto const before = threads_now();
  for (int round = 0; round < 3; ++round) {
    std::optional<sg::gate> first{std::in_place, 60s};
    std::optional<sg::gate> second{std::in_place, 60s};
    sg::gate const unused;
    CHECK(threads_now() == before);
    static_cast<void>(first->hold(cudaStreamLegacy));
    CHECK(threads_now() == before);
    static_cast<void>(first->hold(stream));
    CHECK(threads_now() == before + 1);
    static_cast<void>(second->hold(stream));
    CHECK(threads_now() == before + 1);
    first.reset();
    CHECK(threads_now() == before + 1);
    auto held = second->hold(stream);
    CHECK(held.open() == gating::gated);
    second.reset();
    CHECK(threads_now() == before);
  }
}

TEST_CASE_FIXTURE(plain_run, "short holds wake the watch once each limit, and it sleeps for ever when nothing comes") {
  auto const stream = new_stream();
  auto const wakes_at = [] { return sg::the_gate_watch.wakes_at.load(); };
  sg::gate gate{1s};
  auto const before = sg::watch_now();
  static_cast<void>(gate.hold(stream));
  while (wakes_at() == sg::never_released) really_sleep(100us);
  auto const first = wakes_at();
  CHECK(first >= before + 1'000'000'000);
  for (int i = 0; i < 10; ++i) {
    static_cast<void>(gate.hold(stream));
    really_sleep(2ms);
    bool const still_sleeps = wakes_at() == first;
    CHECK((still_sleeps || sg::watch_now() >= first));
  }
  while (wakes_at() != sg::never_released) really_sleep(1ms);
  CHECK(sg::watch_now() >= first);
}

TEST_CASE_FIXTURE(plain_run, "gates that come and go on many threads start and end the watch in good order") {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([stream = new_stream()] {
      for (int k = 0; k < 100; ++k) {
        sg::gate gate{k % 2 == 0 ? 60s : 0s};
        auto held = gate.hold(stream);
        launch(stream, 1us);
        if (k % 2 != 0) synchronize(stream);
        CHECK(held.open() == (k % 2 == 0 ? gating::gated : gating::timed_out));
      }
    });
  for (auto& each : threads) each.join();
}

TEST_CASE_FIXTURE(plain_run, "two threads that hold with a new gate at the same time: it joins the watch once") {
  auto const before = threads_now();
  auto const mine = new_stream();
  auto const theirs = new_stream();
  static_cast<void>(sg::gate{60s}.hold(mine));  // the memory is there
  for (int k = 0; k < 200; ++k) {
    sg::gate gate{60s};
    std::atomic<int> ready{0};
    auto const together = [&] {
      ++ready;
      while (ready < 2) {
      }
    };
    std::thread other{[&] {
      together();
      static_cast<void>(gate.hold(theirs));
    }};
    together();
    static_cast<void>(gate.hold(mine));
    other.join();
  }
  CHECK(threads_now() == before);
}

TEST_CASE_FIXTURE(plain_run, "a gate that ends before what it holds lets it go") {
  auto const stream = new_stream();
  std::optional<sg::gate> gate{std::in_place, 60s};
  sg::gate other{60s};
  auto const side = new_stream();
  auto unharmed = other.hold(side);
  alignas(sg::held) static unsigned char place[sizeof(sg::held)];
  new (place) sg::held{gate->hold(stream)};  // never destroyed, as where a program leaves by exit
  launch(stream, 1us);
  gate.reset();
  synchronize(stream);
  CHECK(unharmed.open() == gating::gated);
}

// -------------------------------------------------------------------------------------------------------- what may fail

TEST_CASE_FIXTURE(plain_run, "a device that cannot wait for a value: asked once, and everything goes on without") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  simulated::fail_nth("cuStreamWaitValue32", 1, cudaErrorNotSupported);
  leave_an_error_pending();
  for (int i = 0; i < 3; ++i) {
    auto const scope = step.enter(stream, gate);
    launch(stream, 1us);
    synchronize(stream);
  }
  CHECK(pending_error() == cudaErrorInvalidValue);
  CHECK(waits() == 1);
  CHECK(counts(gate) == "not_supported 3");
  auto const taken = recorder.collect();
  CHECK(device_times(series_of(taken, "step")) == std::vector<nanoseconds>{1us, 1us, 1us});
  CHECK(taken.problems.empty());
}

TEST_CASE_FIXTURE(one_word, "a wait that CUDA refuses leaves its word open and free, with a name of its own") {
  auto const first = word->close(stream, this, sg::never_released - 1);
  CHECK(word->open(first) == sg::word_state::opened);
  word->give_back();
  sg::gate gate{60s};
  for (int i = 0; i < 100; ++i) {
    simulated::fail_nth("cuStreamWaitValue32", 1, cudaErrorInvalidValue);
    CHECK(gate.hold(stream).open() == gating::call_failed);
  }
  REQUIRE(word->take());
  auto const next = word->close(stream, this, sg::never_released - 1);
  CHECK(next.before == first.before + 2 * 101);
  CHECK(word->open(next) == sg::word_state::opened);
  word->give_back();
  CHECK(gate.hold(stream).open() == gating::gated);
  CHECK(counts(gate) == "gated 1, call_failed 100");
}

TEST_CASE_FIXTURE(plain_run, "without memory nothing is held") {
  auto const stream = new_stream();
  sg::gate gate{60s};
  {
    simulated::no_memory_scope const none;
    auto held = gate.hold(stream);
    CHECK(held.open() == gating::no_room);
  }
  CHECK(waits() == 0);
  CHECK(simulated::count("cuMemHostRegister") == 0);
  synchronize(stream);
}

TEST_CASE_FIXTURE(plain_run, "each call of a gate's that fails: the phase is measured without, and no error is left behind") {
  char const* const calls[] = {"cuStreamWaitValue32", "cuMemHostRegister",      "cuMemHostGetDevicePointer",
                               "cuCtxPushCurrent",    "cuCtxPopCurrent",        "cuThreadExchangeStreamCaptureMode",
                               "cuStreamIsCapturing", "cuStreamGetCtx",         "cuCtxGetId",
                               "cuEventRecord",       "cuEventElapsedTime",     "cuEventCreate"};
  std::size_t failed = 0;
  for (char const* const call : calls)
    for (int const status : {1, 2, 201, 709, 719, 801, 900, 906})
      for (std::size_t n = 1; n <= 12; ++n) {
        CAPTURE(call);
        CAPTURE(status);
        CAPTURE(n);
        simulated::reset();
        auto const stream = new_stream();
        {
          sg::recorder recorder{sg::capacity{100, 4}};
          sg::phase const step{recorder, "step"};
          sg::gate gate{60s};
          leave_an_error_pending();
          simulated::fail_nth(call, n, status);
          for (int i = 0; i < 3; ++i) {
            auto scope = step.enter(stream, gate);
            launch(stream, 1us);
            if (i == 1) scope.wait(sg::wait_policy::block);
          }
          auto held = gate.hold(stream);
          held.open();
          simulated::clear_injections();
          synchronize(stream);
          CHECK(pending_error() == cudaErrorInvalidValue);
          auto const series = series_of(recorder.collect(), "step");
          check_account(sg::summarize(series).device.samples, 3);
          for (auto const& each : series.samples) {
            CHECK((each.device == 1us || sg::fate_of(missing(each.device)) == sg::fate::dropped));
            CHECK(missing(each.device) != absence::gate_timeout);
          }
          std::uint64_t seen = 0;
          for (std::size_t i = 0; i < sg::gating_count; ++i) seen += gate.count(static_cast<gating>(i));
          CHECK(seen == 4);
          CHECK(gate.count(gating::timed_out) == 0);
          failed += simulated::injected_failures();
        }
        check_no_live_event();
        for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK(misuse);
        simulated::clear_fatal_misuses();
      }
  CHECK(failed > 300);
}

TEST_CASE_FIXTURE(plain_run, "any call at all that fails, one after the other, hangs nothing and loses nothing") {
  for (int const status : {1, 201, 801})
    for (std::size_t n = 1;; ++n) {
      CAPTURE(status);
      CAPTURE(n);
      simulated::reset();
      auto const stream = new_stream();
      auto const side = new_stream();
      {
        sg::recorder recorder{sg::capacity{100, 4}};
        sg::phase const outer{recorder, "outer"};
        sg::phase const inner{recorder, "inner"};
        sg::gate gate{60s};
        simulated::fail_nth_call(n, status);
        for (int i = 0; i < 2; ++i) {
          auto const around = outer.enter(stream, gate);
          launch(stream, 1us);
          {
            auto scope = inner.enter(side, gate);
            launch(side, 2us);
            scope.wait(sg::wait_policy::spin);
          }
          auto const scope = inner.enter(stream, gate);
        }
        simulated::clear_injections();
        synchronize(stream);
        synchronize(side);
        auto const taken = recorder.collect();
        check_account(sg::summarize(series_of(taken, "outer")).device.samples, 2);
        check_account(sg::summarize(series_of(taken, "inner")).device.samples, 4);
        CHECK(gate.count(gating::timed_out) == 0);
      }
      if (simulated::injected_failures() == 0) break;
      check_no_live_event();
      for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK(misuse);
      simulated::clear_fatal_misuses();
    }
}

// ------------------------------------------------------------------------------------------------ in processes of their own

TEST_CASE("scenario: a driver without the functions of a gate" * doctest::skip()) {
  for (char const* const each : {"cuStreamWaitValue32", "cuMemHostRegister", "cuMemHostGetDevicePointer"}) {
    simulated::machine_options options;
    options.hidden_entry_points = {each};
    plain_run const machine{options};
    auto const stream = new_stream();
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    sg::gate gate{60s};
    leave_an_error_pending();
    for (int i = 0; i < 2; ++i) {
      auto const scope = step.enter(stream, gate);
      launch(stream, 1us);
      synchronize(stream);
    }
    auto held = gate.hold(stream);
    CHECK(held.open() == gating::not_supported);
    CHECK(pending_error() == cudaErrorInvalidValue);
    CHECK(counts(gate) == "not_supported 3");
    CHECK(device_times(series_of(recorder.collect(), "step")) == std::vector<nanoseconds>{1us, 1us});
  }
}

TEST_CASE("scenario: each look-up of a gate's fails" * doctest::skip()) {
  for (std::size_t n = 1; n <= 3; ++n) {
    plain_run const machine;
    auto const stream = new_stream();
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    { auto const scope = step.enter(stream); }
    sg::gate gate{60s};
    for (char const* const each : {"cudaGetDriverEntryPointByVersion", "cudaGetDriverEntryPoint"})
      simulated::fail_nth(each, n, cudaErrorUnknown);
    { auto const scope = step.enter(stream, gate); }
    CHECK(simulated::injected_failures() == 1);
    CHECK(counts(gate) == "not_supported 1");
    CHECK(pending_error() == cudaSuccess);
  }
}

TEST_CASE("scenario: no driver" * doctest::skip()) {
  simulated::machine_options options;
  options.driver_state = simulated::driver::missing;
  plain_run const machine{options};
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::gate gate{60s};
  auto const stream = reinterpret_cast<cudaStream_t>(std::uintptr_t{0x40});
  { auto const scope = step.enter(stream, gate); }
  auto held = gate.hold(stream);
  CHECK(held.open() == gating::no_cuda);
  CHECK(counts(gate) == "no_cuda 2");
  CHECK(missing(sample_of(recorder.collect(), "step").device) == absence::no_driver);
}

namespace {

// Constructed before the gates below, so destroyed after them.
struct last_look {
  bool watches = false;
  ~last_look() {
    if (!watches) return;
    bool const well = simulated::fatal_misuses().empty() && simulated::stream_end(stream) > 0ns && simulated::fatal_misuses().empty();
    if (!well) {
      std::fprintf(stderr, "at exit: a stream is held\n");
      _exit(3);
    }
  }
  cudaStream_t stream = nullptr;
} at_exit;
sg::recorder static_recorder;
sg::gate static_gate{60s};

void begin_scenario() {
  plain_run::no_tool();
  alarm(60);
  at_exit.stream = new_stream();
  at_exit.watches = true;
}

}  // namespace

TEST_CASE("scenario: a program leaves by exit from inside a gated phase" * doctest::skip()) {
  begin_scenario();
  sg::phase const step{static_recorder, "step"};
  auto const scope = step.enter(at_exit.stream, static_gate);
  launch(at_exit.stream, 1us);
  std::puts("test cases: 1 | 1 passed | 0 failed");  // doctest does not come to say it
  std::exit(0);
}

TEST_CASE("scenario: a program leaves by exit with a gate that nobody ends" * doctest::skip()) {
  begin_scenario();
  sg::gate gate{5ms};
  auto const held = gate.hold(at_exit.stream);
  launch(at_exit.stream, 1us);
  really_sleep(50ms);
  std::puts("test cases: 1 | 1 passed | 0 failed");
  std::exit(0);
}

TEST_CASE("scenario: a program returns from main with a static gate that was used" * doctest::skip()) {
  begin_scenario();
  sg::phase const step{static_recorder, "step"};
  for (int i = 0; i < 2; ++i) {
    auto const scope = step.enter(at_exit.stream, static_gate);
    launch(at_exit.stream, 1us);
  }
  CHECK(counts(static_gate) == "gated 2");
}

TEST_CASE("scenario: a program only declares a gate" * doctest::skip()) {
  CHECK(simulated::count_all() == 0);
  CHECK(ranges_seen::so_far.all() == 0);
}

TEST_CASE("gates in processes of their own: without the driver's functions, without a driver, on the way out (case-36)") {
  for (char const* const scenario :
       {"scenario: a driver without the functions of a gate", "scenario: each look-up of a gate's fails",
        "scenario: no driver", "scenario: a program leaves by exit from inside a gated phase",
        "scenario: a program leaves by exit with a gate that nobody ends",
        "scenario: a program returns from main with a static gate that was used", "scenario: a program only declares a gate"}) {
    CAPTURE(scenario);
    auto const outcome = in_own_process(scenario);
    CHECK_MESSAGE(outcome.passed(), outcome.output);
    CHECK(outcome.signal == 0);
    CHECK(outcome.errors == "");
  }
}
