// Without these: an interval that reads before its stop, reads another interval's time, or lets two streams meet would
// give a number that looks like any other.

#include <streamgauge/measure/interval.hpp>

#include <optional>
#include <set>
#include <thread>
#include <type_traits>
#include <vector>

#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::absence;
using streamgauge::interval;
using streamgauge::interval_state;
using streamgauge::nanoseconds;
using streamgauge::reading;
using streamgauge::stream_ref;

// case-14: a stream is a mandatory argument; neither nothing nor a number names one.
static_assert(!std::is_default_constructible_v<interval>);
static_assert(!std::is_constructible_v<interval, int>);
static_assert(std::is_constructible_v<interval, cudaStream_t>);
static_assert(!std::is_constructible_v<stream_ref, int>);
static_assert(!std::is_default_constructible_v<stream_ref>);
static_assert(!std::is_invocable_v<decltype(&interval::start), interval&, cudaStream_t>, "the stream is given once");

static_assert(!std::is_copy_constructible_v<interval>);
static_assert(!std::is_copy_assignable_v<interval>);
static_assert(std::is_nothrow_move_constructible_v<interval>);
static_assert(std::is_nothrow_move_assignable_v<interval>);
static_assert(std::is_nothrow_destructible_v<interval>);

namespace {

std::size_t calls_of_elapsed_time() { return simulated::count("cuEventElapsedTime"); }

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "an interval around 5 ms of work reads exactly 5 ms") {
  program_stream const stream;
  interval timer{stream.get()};
  CHECK(timer.start().state == interval_state::not_stopped);
  simulated::launch(stream.get(), 5ms);
  CHECK(timer.stop().state == interval_state::pending);
  reading const read = timer.wait();
  CHECK(read.state == interval_state::done);
  CHECK(read.time == nanoseconds{5ms});
  CHECK(read.why == absence::none);
  CHECK(read.status == cudaSuccess);
  CHECK(simulated::host_now() == 1s + 5ms);
}

TEST_CASE_FIXTURE(fresh_machine, "between the start and the stop of an interval stand only the two records") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  simulated::clear_log();
  simulated::launch(stream.get(), 1ms);
  timer.stop();
  CHECK(simulated::logged_names() ==
        std::vector<std::string>{"cudaLaunchKernel", "cuCtxGetId", "cuStreamIsCapturing", "cuEventRecord"});
  CHECK(timer.wait().time == nanoseconds{1ms});
}

TEST_CASE_FIXTURE(fresh_machine, "case-01 a read while the device works is pending and leaves the last error clean") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  simulated::launch(stream.get(), 5ms);
  timer.stop();
  simulated::set_poll_step(0ns);
  for (int i = 0; i < 1000; ++i) {
    reading const read = timer.read();
    REQUIRE(read.state == interval_state::pending);
    REQUIRE_FALSE(read.time.has_value());
  }
  CHECK(pending_error() == cudaSuccess);
  CHECK_FALSE(timer.ready());
  simulated::host_advance(5ms);
  CHECK(timer.ready());
  CHECK(timer.read().time == nanoseconds{5ms});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-01 waiting waits for the stop event alone and synchronises neither stream nor device") {
  program_stream const stream;
  program_stream const other;
  interval timer{stream.get()};
  timer.start();
  simulated::launch(stream.get(), 5ms);
  timer.stop();
  simulated::launch(stream.get(), 20ms);
  simulated::launch(other.get(), 70ms);
  simulated::clear_log();
  CHECK(timer.wait().time == nanoseconds{5ms});
  CHECK(simulated::host_now() == 1s + 5ms);
  CHECK(simulated::count("cuEventSynchronize") == 1);
  CHECK(simulated::count("cuCtxSynchronize") == 0);
  CHECK(simulated::count("cudaDeviceSynchronize") == 0);
  CHECK(simulated::count("cudaStreamSynchronize") == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "case-02 every event of an interval can be timed") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  timer.stop();
  CHECK(timer.read().state == interval_state::done);
  std::set<void const*> recorded;
  for (auto const& call : simulated::log())
    if (std::string{call.name} == "cuEventRecord") recorded.insert(call.handle);
  CHECK(recorded.size() == 2);
  // CUDA refuses elapsed time for an event whose timing is disabled, so each of the two is asked with itself.
  simulated::user_scope const user;
  for (void const* const event : recorded) {
    auto const handle = static_cast<cudaEvent_t>(const_cast<void*>(event));
    float milliseconds = -1;
    CHECK(cudaEventElapsedTime(&milliseconds, handle, handle) == cudaSuccess);
    CHECK(milliseconds == 0.0F);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-03 each mistake has its own state and text, and CUDA is not asked") {
  program_stream const stream;
  interval timer{stream.get()};

  reading const read_first = timer.read();
  CHECK(read_first.state == interval_state::not_started);
  reading const stopped_first = timer.stop();
  CHECK(stopped_first.state == interval_state::not_started);
  CHECK(timer.read().state == interval_state::not_started);

  timer.start();
  reading const unstopped = timer.read();
  CHECK(unstopped.state == interval_state::not_stopped);
  CHECK(timer.wait().state == interval_state::not_stopped);
  std::size_t const records = simulated::count("cuEventRecord");
  CHECK(timer.start().state == interval_state::not_stopped);
  CHECK(simulated::count("cuEventRecord") == records);
  CHECK(calls_of_elapsed_time() == 0);
  CHECK(simulated::count("cuEventSynchronize") == 0);

  simulated::launch(stream.get(), 3ms);
  timer.stop();
  reading const pending = timer.read();
  CHECK(pending.state == interval_state::pending);
  reading const done = timer.wait();
  CHECK(done.time == nanoseconds{3ms});

  std::set<std::string> texts;
  for (reading const& each : {read_first, unstopped, pending, done, reading{interval_state::unread}}) {
    std::string const text = describe(each, "decode");
    CHECK(text.find("interval \"decode\": ") == 0);
    texts.insert(text);
  }
  CHECK(texts.size() == 5);
  CHECK(describe(done, "decode") == "interval \"decode\": 3000000 ns");
}

TEST_CASE_FIXTURE(fresh_machine, "case-04 a fresh interval and one that was only started are not ready") {
  program_stream const stream;
  interval timer{stream.get()};
  CHECK_FALSE(timer.ready());
  timer.start();
  CHECK_FALSE(timer.ready());
  timer.stop();
  CHECK(timer.ready());  // nothing was queued between, so the device is through at once
}

TEST_CASE_FIXTURE(fresh_machine, "case-07 a second start before the first time was read is refused, pending or done") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  simulated::launch(stream.get(), 10ms);
  timer.stop();

  std::size_t const records = simulated::count("cuEventRecord");
  CHECK(timer.start().state == interval_state::pending);
  wait_for(stream.get());
  CHECK(timer.start().state == interval_state::unread);
  CHECK(timer.start().state == interval_state::unread);
  CHECK(timer.ready());  // asking whether it is there is not reading it
  CHECK(timer.start().state == interval_state::unread);
  CHECK(simulated::count("cuEventRecord") == records);

  CHECK(timer.read().time == nanoseconds{10ms});
  CHECK(timer.read().time == nanoseconds{10ms});  // it may be read again
  CHECK(timer.start().state == interval_state::not_stopped);
  simulated::launch(stream.get(), 20ms);
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{20ms});
}

TEST_CASE_FIXTURE(fresh_machine, "case-07 three intervals back to back without a read between read 10, 20 and 30 ms") {
  program_stream const stream;
  std::vector<interval> timers;
  for (int i = 0; i < 3; ++i) timers.emplace_back(stream.get());
  for (int i = 0; i < 3; ++i) {
    timers[static_cast<std::size_t>(i)].start();
    simulated::launch(stream.get(), (i + 1) * 10ms);
    timers[static_cast<std::size_t>(i)].stop();
  }
  CHECK(timers[2].wait().time == nanoseconds{30ms});
  CHECK(timers[0].wait().time == nanoseconds{10ms});
  CHECK(timers[1].wait().time == nanoseconds{20ms});
}

TEST_CASE_FIXTURE(fresh_machine, "case-09 a million intervals of 1000 ns add up to one second exactly") {
  program_stream const stream;
  interval timer{stream.get()};
  nanoseconds total{0};
  for (int i = 0; i < 1'000'000; ++i) {
    timer.start();
    simulated::launch(stream.get(), 1000ns);
    timer.stop();
    simulated::host_advance(1000ns);
    total += timer.read().time.value();
    if (i % 100'000 == 0) simulated::clear_log();
  }
  CHECK(total == nanoseconds{1s});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-09 the whole nanoseconds of a reading survive CUDA's float milliseconds up to 16 ms") {
  // A float has 24 bits: below 16.777216 ms a whole number of nanoseconds is never half a step away from its neighbour.
  program_stream const stream;
  interval timer{stream.get()};
  for (nanoseconds const duration :
       {nanoseconds{1}, nanoseconds{32}, nanoseconds{1'005'024}, nanoseconds{7'654'321}, nanoseconds{8'388'607}}) {
    timer.start();
    simulated::launch(stream.get(), duration);
    timer.stop();
    CHECK(timer.wait().time == duration);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "case-09 an hour is read to the step of CUDA's float") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  simulated::launch(stream.get(), 1h + 100us);  // 3600000.1 ms; a float steps by 0.25 ms there
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{1h});
}

TEST_CASE_FIXTURE(fresh_machine, "case-14 work on a non-blocking stream is timed on that stream") {
  program_stream const stream{cudaStreamNonBlocking};
  interval right{stream.get()};
  interval wrong{cudaStream_t{nullptr}};
  wrong.start();
  right.start();
  simulated::launch(stream.get(), 50ms);
  right.stop();
  wrong.stop();
  CHECK(right.wait().time == nanoseconds{50ms});
  CHECK(wrong.wait().time ==
        nanoseconds{0});  // what the null stream sees of it: the reason why the stream is mandatory
}

TEST_CASE_FIXTURE(fresh_machine, "case-11 the interval on an idle stream contains the host's launch gap") {
  program_stream const stream;
  interval timer{stream.get()};
  timer.start();
  simulated::host_advance(10us);
  simulated::launch(stream.get(), 2us);
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{12us});

  simulated::launch(stream.get(), 1ms);
  timer.start();
  simulated::host_advance(10us);
  simulated::launch(stream.get(), 2us);
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{2us});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-16 a per-thread default stream that is ended on another thread is refused with its reason") {
  make_context();
  interval timer{cudaStreamPerThread};
  timer.start();
  simulated::launch(cudaStreamPerThread, 4ms);
  reading stopped;
  std::thread{[&] { stopped = timer.stop(); }}.join();
  CHECK(stopped.state == interval_state::failed);
  CHECK(stopped.why == absence::other_thread_stream);
  CHECK(timer.read().why == absence::other_thread_stream);
  CHECK(describe(timer.read(), "x").find(describe(absence::other_thread_stream)) != std::string::npos);
  // The next one, on one thread, is good.
  timer.start();
  simulated::launch(cudaStreamPerThread, 4ms);
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{4ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a failed interval keeps saying why until it is started again") {
  program_stream const stream;
  interval timer{stream.get()};
  simulated::fail_nth("cuEventRecord", 1, cudaErrorUnknown);
  reading const failed = timer.start();
  CHECK(failed.state == interval_state::failed);
  for (reading const& each : {failed, timer.stop(), timer.read(), timer.wait()}) {
    CHECK(each.state == interval_state::failed);
    CHECK(each.why == absence::call_failed);
    CHECK(each.status == cudaErrorUnknown);
    CHECK_FALSE(each.time.has_value());
  }
  CHECK(describe(timer.read(), "x") ==
        "interval \"x\": no device time: a CUDA call of the recorder failed (cudaErrorUnknown)");
  CHECK(calls_of_elapsed_time() == 0);
  CHECK(timer.start().state == interval_state::not_stopped);
  simulated::launch(stream.get(), 1ms);
  timer.stop();
  CHECK(timer.wait().time == nanoseconds{1ms});
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-31 moved, moved onto a live one, moved onto itself and destroyed, no null event reaches CUDA") {
  program_stream const stream;
  simulated::clear_log();
  {
    interval first{stream.get()};
    first.start();
    simulated::launch(stream.get(), 6ms);
    first.stop();
    interval second{std::move(first)};
    interval third{stream.get()};
    third = std::move(second);
    interval& same = third;
    third = std::move(same);
    CHECK(third.wait().time == nanoseconds{6ms});
    std::optional<interval> fourth{std::move(third)};
    interval fifth{std::move(*fourth)};
    fourth.reset();
    CHECK(fifth.read().time == nanoseconds{6ms});
    // What was moved from refuses quietly.
    CHECK_FALSE(first.read().state == interval_state::done);
    CHECK(first.start().state == interval_state::failed);
    CHECK(first.stop().state == interval_state::failed);
  }
  CHECK(simulated::events_created() == 4);
  CHECK(simulated::events_destroyed() == 4);
  for (auto const& call : simulated::log())
    if (std::string{call.name} == "cuEventDestroy") CHECK(call.handle != nullptr);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "an interval whose second event cannot be made leaves none behind") {
  program_stream const stream;
  simulated::fail_nth("cuEventCreate", 2, cudaErrorMemoryAllocation);
  try {
    interval const timer{stream.get()};
    FAIL("made without its second event");
  } catch (streamgauge::cuda_error const& error) {
    CHECK(error.status() == cudaErrorMemoryAllocation);
    CHECK(std::string{error.what()} == "making an event: out of memory (cudaErrorMemoryAllocation, 2)");
  }
  CHECK(simulated::events_created() == 1);
  CHECK(simulated::events_destroyed() == 1);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "case-37 a device reset between start and stop fails the interval and a new one works") {
  program_stream stream;
  {
    interval timer{stream.get()};
    interval recorded{stream.get()};
    recorded.start();
    recorded.stop();
    timer.start();
    reset_device();
    stream.forget();
    CHECK(timer.stop().why == absence::context_gone);
    CHECK(recorded.read().why == absence::context_gone);
    CHECK(recorded.wait().state == interval_state::failed);

    // The context comes back at the same address in another life; the old events are still not touched.
    program_stream const next;
    CHECK(timer.read().why == absence::context_gone);
    CHECK(timer.start().why == absence::context_gone);
    interval fresh{next.get()};
    fresh.start();
    simulated::launch(next.get(), 2ms);
    fresh.stop();
    CHECK(fresh.wait().time == nanoseconds{2ms});
    CHECK(simulated::live_events() == 2);
  }
  CHECK(simulated::live_events() == 0);
  CHECK(pending_error() == cudaSuccess);
}
