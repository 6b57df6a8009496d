// What a recorder keeps, what it drops, what it waits for, and what it costs.

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <memory>
#include <sstream>
#include <thread>

#include "observed.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

std::vector<nanoseconds> repeated(nanoseconds time, std::size_t count) { return std::vector<nanoseconds>(count, time); }

std::size_t kept_device_times(sg::series const& of) {
  return static_cast<std::size_t>(
      std::count_if(of.samples.begin(), of.samples.end(), [](sg::sample const& each) { return each.device.known(); }));
}

std::string table_of(sg::recording const& of) {
  std::ostringstream text;
  sg::report::table(text, of);
  return text.str();
}

bool same(sg::sample const& a, sg::sample const& b) {
  return a.entered == b.entered && a.submit == b.submit && a.device == b.device && a.completion == b.completion &&
         a.parent == b.parent && a.thread == b.thread && a.records_inside == b.records_inside && a.waited == b.waited;
}

// The processor time of this process: the steady clock is the simulation's.
double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "back-to-back intervals without a read between all come back, in order (case-07)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (auto const time : {10ms, 20ms, 30ms}) {
    auto const scope = step.enter(stream);
    launch(stream, time);
  }
  CHECK(simulated::count("cuEventElapsedTime") == 0);
  CHECK(device_times(series_of(recorder.collect(), "step")) == std::vector<nanoseconds>{10ms, 20ms, 30ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a pool that fills harvests what is done: 1000 intervals with 16 pairs all come back (case-08)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 16}};
  sg::phase const step{recorder, "step"};
  std::vector<nanoseconds> expected;
  for (int i = 0; i < 1000; ++i) {
    auto const time = 1us * (1 + i % 7);
    expected.emplace_back(time);
    {
      auto const scope = step.enter(stream);
      launch(stream, time);
    }
    simulated::host_advance(10us);
  }
  CHECK(simulated::events_created() == 2 * 16 + 1);  // the pairs, and one event to sleep on
  CHECK(simulated::count("cuEventSynchronize") == 0);
  CHECK(device_times(series_of(recorder.collect(), "step")) == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "a pool that stays full costs the device side alone, and every report says so (case-08)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 16}};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 1000; ++i) {
    {
      auto const scope = step.enter(stream);
      launch(stream, 100us);
      simulated::host_advance(7us);
    }
    simulated::host_advance(3us);  // the device needs ten times as long as the host
  }
  CHECK(simulated::events_created() == 2 * 16 + 1);
  auto const recording = recorder.collect();
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == 1000);
  std::size_t const kept = kept_device_times(series);
  CHECK(kept > 16);
  CHECK(kept < 1000);
  bool any_late = false;
  for (std::size_t i = 0; i < 1000; ++i) {
    auto const& each = series.samples[i];
    CHECK(each.submit == 7us);
    if (each.device.known()) {
      CHECK(each.device == 100us);
      any_late = any_late || i >= 900;
    } else {
      CHECK(missing(each.device) == sg::absence::pool_full);
    }
  }
  CHECK(any_late);
  auto const row = sg::summarize(series);
  CHECK(row.device.samples.kept == kept);
  CHECK(row.device.samples.dropped == 1000 - kept);
  CHECK(row.device.samples.incomplete == 0);
  CHECK(row.submit.samples.kept == 1000);
  check_account(row.device.samples, 1000);
  CHECK(table_of(recording).find("every event of the pool was waiting for the device") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "an outer phase that never closes does not starve the inner ones") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 16}};
  sg::phase const whole{recorder, "whole"};
  sg::phase const step{recorder, "step"};
  auto const outer = whole.enter(stream);
  std::size_t most_reads = 0;
  for (int i = 0; i < 1000; ++i) {
    simulated::clear_log();
    {
      auto const scope = step.enter(stream);
      launch(stream, 2us);
    }
    most_reads = (std::max)(most_reads, simulated::count("cuEventElapsedTime"));
    simulated::host_advance(10us);
  }
  CHECK(most_reads == 1);  // within the outer interval at most one read for each entering
  auto const recording = recorder.collect();
  CHECK(device_times(series_of(recording, "step")) == repeated(2us, 1000));
  auto const open = sample_of(recording, "whole");
  CHECK(missing(open.submit) == sg::absence::still_open);
  CHECK(missing(open.device) == sg::absence::still_open);
}

TEST_CASE_FIXTURE(fresh_machine, "a held stream beside a fast one costs the fast one nothing") {
  cudaStream_t const slow = new_stream();
  cudaStream_t const fast = new_stream();
  for (bool const within_outer : {false, true}) {
    sg::recorder recorder{sg::capacity{1000, 16}};
    sg::phase const whole{recorder, "whole"};
    sg::phase const held{recorder, "held"};
    sg::phase const step{recorder, "step"};
    simulated::hold(slow);
    {
      auto const first = held.enter(slow);
      launch(slow, 1ms);
    }
    std::optional<sg::started_phase> outer;
    if (within_outer) outer.emplace(whole.start(fast));
    for (int i = 0; i < 200; ++i) {
      {
        auto const scope = step.enter(fast);
        launch(fast, 2us);
      }
      simulated::host_advance(5us);
    }
    outer.reset();
    simulated::release(slow);
    auto const recording = recorder.collect();
    CHECK(device_times(series_of(recording, "step")) == repeated(2us, 200));
    CHECK(sample_of(recording, "held").device == 1ms);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "streams that finish in another order than they were entered all read right") {
  cudaStream_t const streams[] = {new_stream(), new_stream(), new_stream()};
  nanoseconds const times[] = {10ms, 1ms, 5ms};
  sg::recorder recorder{sg::capacity{1000, 64}};
  sg::phase const step{recorder, "step"};
  std::vector<nanoseconds> expected;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < 3; ++i) {
      auto const scope = step.enter(streams[i]);
      launch(streams[i], times[i]);
      expected.push_back(times[i]);
    }
  }
  CHECK(device_times(series_of(recorder.collect(), "step")) == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "more streams than a sweep remembers are all read") {
  std::vector<cudaStream_t> streams;
  for (int i = 0; i < 20; ++i) streams.push_back(new_stream());
  sg::recorder recorder{sg::capacity{1000, 128}};
  sg::phase const step{recorder, "step"};
  std::vector<nanoseconds> expected;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      auto const time = 1us * static_cast<int>(1 + (7 * i) % 20);
      auto const scope = step.enter(streams[i]);
      launch(streams[i], time);
      expected.emplace_back(time);
    }
  }
  CHECK(device_times(series_of(recorder.collect(), "step")) == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "a drain waits for the stop event alone (case-01)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    launch(stream, 5ms);
  }
  void const* stop = nullptr;
  for (auto const& call : simulated::log())
    if (std::string_view{call.name} == "cuEventRecord") stop = call.handle;
  launch(stream, 90ms);  // behind the phase: nobody waits for it
  simulated::clear_log();
  recorder.drain();
  CHECK(simulated::logged_names() ==
        names{"cuCtxGetId", "cuThreadExchangeStreamCaptureMode", "cuEventSynchronize", "cuThreadExchangeStreamCaptureMode",
              "cuCtxGetId", "cuEventElapsedTime", "cuCtxGetId"});
  for (auto const& call : simulated::log())
    if (std::string_view{call.name} == "cuEventSynchronize") CHECK(call.handle == stop);
  CHECK(simulated::host_now() == 1s + 5ms);
  simulated::clear_log();
  recorder.drain();  // nothing is left to wait for
  CHECK(simulated::count("cuEventSynchronize") == 0);
  CHECK(simulated::count("cuEventElapsedTime") == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "collecting synchronises neither a device nor a stream (case-01)") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    launch(stream, 5ms);
  }
  simulated::clear_log();
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "step").device == 5ms);
  for (char const* call : {"cuCtxSynchronize", "cuStreamSynchronize", "cudaDeviceSynchronize", "cudaStreamSynchronize",
                           "cudaEventQuery", "cuStreamQuery", "cudaStreamQuery"})
    CHECK_MESSAGE(simulated::count(call) == 0, call);
  CHECK(simulated::count("cuEventSynchronize") == 1);  // the phase's stop
  CHECK(simulated::count("cuEventQuery") == 1);        // once the floor's own last event, which is done
  simulated::clear_log();
  static_cast<void>(recorder.collect());
  CHECK(simulated::count("cuEventSynchronize") == 0);  // the floor is measured once
}

TEST_CASE_FIXTURE(fresh_machine, "collecting again is cumulative, and what was there stays equal") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const run = [&](nanoseconds time) {
    auto const scope = step.enter(stream);
    launch(stream, time);
  };
  run(1ms);
  run(2ms);
  auto const first = series_of(recorder.collect(), "step");
  auto const again = series_of(recorder.collect(), "step");
  run(3ms);
  auto const later = series_of(recorder.collect(), "step");
  REQUIRE(first.samples.size() == 2);
  REQUIRE(again.samples.size() == 2);
  REQUIRE(later.samples.size() == 3);
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(same(first.samples[i], again.samples[i]));
    CHECK(same(first.samples[i], later.samples[i]));
  }
  CHECK(device_times(later) == std::vector<nanoseconds>{1ms, 2ms, 3ms});
}

TEST_CASE_FIXTURE(fresh_machine, "every observable accounts for every sample: entered = kept + dropped + incomplete") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 2}};
  sg::phase const step{recorder, "step"};
  { auto const kept = step.enter(stream); }
  {
    auto scope = step.enter(stream);
    launch(stream, 1ms);
    scope.wait(sg::wait_policy::spin);
  }
  { auto const no_stream = step.enter(sg::host_only); }
  try {
    auto const thrown = step.enter(stream);
    throw 1;
  } catch (int) {
  }
  simulated::hold(stream);
  launch(stream, 1ms);
  { auto const waits = step.enter(stream); }
  auto const open = step.enter(stream);
  {
    auto scope = step.enter(stream);  // both pairs are taken: dropped, and so is its completion
    scope.wait(sg::wait_policy::spin);
  }
  simulated::release(stream);
  auto const row = sg::summarize(series_of(recorder.collect(), "step"));
  check_account(row.submit.samples, 7);
  check_account(row.device.samples, 7);
  check_account(row.completion.samples, 7);
  CHECK(row.submit.samples.kept == 5);
  CHECK(row.submit.samples.incomplete == 2);
  CHECK(row.device.samples.entered == 6);
  CHECK(row.device.samples.kept == 3);
  CHECK(row.device.samples.dropped == 1);
  CHECK(row.device.samples.incomplete == 2);
  CHECK(row.device.samples.not_asked == 1);
  CHECK(row.completion.samples.entered == 2);
  CHECK(row.completion.samples.kept == 1);
  CHECK(row.completion.samples.count(sg::absence::pool_full) == 1);
}

// -------------------------------------------------------------------------------------------------------------- memory

TEST_CASE_FIXTURE(fresh_machine, "within the capacity nothing is allocated after a thread's first phase") {
  cudaStream_t const stream = new_stream();
  for (std::size_t const samples : {std::size_t{1000}, std::size_t{3000}}) {
    sg::recorder recorder{sg::capacity{samples, 64}};
    sg::phase const step{recorder, "step"};
    sg::phase const part{recorder, "part"};
    { auto const first = step.enter(stream); }
    auto const allocated = simulated::allocation_count();
    for (std::size_t i = 1; i + 1 < samples; i += 2) {
      auto const outer = step.enter(stream);
      auto inner = part.enter(stream);
      launch(stream, 1us);
      if (i % 3 == 0) inner.wait(sg::wait_policy::block);
    }
    CHECK(simulated::allocation_count() == allocated);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "beyond the capacity one block is allocated for each thousand samples, never between a start and its stop") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 64}};
  sg::phase const step{recorder, "step"};
  { auto const first = step.enter(stream); }
  auto const allocated = simulated::allocation_count();
  std::size_t inside = 0;
  for (int i = 0; i < 4'998; ++i) {
    auto const scope = step.enter(stream);
    auto const after_start = simulated::allocation_count();
    launch(stream, 1us);
    { auto const nested = step.enter(sg::host_only); }
    inside += simulated::allocation_count() - after_start;
    simulated::host_advance(2us);
  }
  CHECK(inside == 0);
  auto const blocks = simulated::allocation_count() - allocated;
  CHECK(blocks >= 8);  // a lane has room for one block more than its capacity, so that it can ask for the next in time
  CHECK(blocks <= 9);
  auto const series = series_of(recorder.collect(), "step");
  CHECK(series.samples.size() == 9'997);
  for (auto const& each : series.samples) CHECK(missing(each.device) != sg::absence::pool_full);
}

TEST_CASE_FIXTURE(fresh_machine, "a recorder with no capacity at all still keeps what the host sees") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{0, 0}};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 3; ++i) {
    auto const scope = step.enter(stream);
    simulated::host_advance(2us);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(values(series, &sg::sample::submit) == repeated(2us, 3));
  for (auto const& each : series.samples) CHECK(missing(each.device) == sg::absence::pool_full);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && !defined(__clang__)
TEST_CASE_FIXTURE(fresh_machine, "a pool that there is no memory for costs the device side, with that reason") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, std::size_t{1} << 50}};
  sg::phase const step{recorder, "step"};
  {
    auto const scope = step.enter(stream);
    simulated::host_advance(2us);
  }
  auto const recording = recorder.collect();
  CHECK(sample_of(recording, "step").submit == 2us);
  CHECK(missing(sample_of(recording, "step").device) == sg::absence::no_memory);
  CHECK(recording.problems.empty());
  CHECK(simulated::live_events() == 0);
}
#endif

TEST_CASE_FIXTURE(fresh_machine, "a million samples of one phase are no problem") {
  static_assert(sizeof(sg::stored_sample) <= 64);
  static_assert(sizeof(sg::sample_store::block) <= 64 * sg::sample_store::block_size + 64);
  constexpr std::size_t count = 1'000'000;
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const first = step.enter(stream); }
  auto const allocated = simulated::allocation_count();
  double const began = processor_seconds();
  for (std::size_t i = 1; i < count; ++i) {
    {
      auto const scope = step.enter(stream);
      launch(stream, 1us);
    }
    simulated::host_advance(1us);
    if (i % 1000 == 0) simulated::clear_log();
  }
  double const ran = processor_seconds();
  auto const blocks = simulated::allocation_count() - allocated;
  CHECK(blocks <= 80);  // blocks for the newest, ten pieces for the older ones, a histogram's octave
  auto const recording = recorder.collect();
  double const collected = processor_seconds();
  auto const& series = recording.all.at(0);
  CHECK(series.count() == count);
  CHECK(series.samples.size() < 90'000);
  std::size_t right = 0;
  for (auto const& each : series.samples) right += each.device == 1us ? 1u : 0u;
  CHECK(right == series.samples.size() - 1);  // the first one was empty
  auto const device = sg::summarize(series).device;
  CHECK(device.samples.kept == count);
  CHECK(device.values.steady.count == count);
  CHECK(device.values.steady.median == sg::fractional_nanoseconds{1000});
  CHECK(collected - ran < 5.0);
  MESSAGE("a million phases on the simulated runtime: " << ran - began << " s, collecting: " << collected - ran << " s");
}

// ------------------------------------------------------------------------------------------------- several, one by one

TEST_CASE_FIXTURE(fresh_machine, "several recorders on one thread keep apart") {
  cudaStream_t const stream = new_stream();
  sg::recorder one;
  sg::recorder two;
  sg::phase const in_one{one, "step"};
  sg::phase const in_two{two, "step"};
  for (int i = 0; i < 5; ++i) {
    auto const outer = in_one.enter(stream);
    launch(stream, 1ms);
    auto const inner = in_two.enter(stream);
    launch(stream, 2ms);
  }
  CHECK(device_times(series_of(one.collect(), "step")) == repeated(3ms, 5));
  auto const second = series_of(two.collect(), "step");
  CHECK(device_times(second) == repeated(2ms, 5));
  for (auto const& each : second.samples) CHECK(!each.parent);  // a parent is a phase of the same recording
}

TEST_CASE_FIXTURE(fresh_machine, "three hundred recorders one after another leave nothing behind") {
  cudaStream_t const stream = new_stream();
  std::size_t in_use = 0;
  for (int i = 0; i < 300; ++i) {
    sg::recorder recorder{sg::capacity{1000, 8}};
    sg::phase const step{recorder, "step"};
    {
      auto const scope = step.enter(stream);
      launch(stream, 1us);
    }
    if (i % 3 == 0) CHECK(sample_of(recorder.collect(), "step").device == 1us);
    simulated::clear_log();
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    if (i == 50) in_use = mallinfo2().uordblks;
#endif
  }
  CHECK(simulated::live_events() == 0);
  CHECK(simulated::events_created() == simulated::events_destroyed());
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
  // One lane alone holds 64 kB of samples: 250 of them would be 16 MB.
  CHECK(mallinfo2().uordblks < in_use + 1'000'000);
#endif
}

TEST_CASE_FIXTURE(fresh_machine, "a phase and a started execution may outlive their recorder") {
  cudaStream_t const stream = new_stream();
  auto recorder = std::make_unique<sg::recorder>();
  sg::phase const step{*recorder, "step"};
  auto open = step.start(stream);
  auto host = step.start(sg::host_only);
  launch(stream, 1ms);
  recorder.reset();
  CHECK(simulated::live_events() == 2);  // those of the execution that is open
  simulated::clear_log();
  open.stop();
  CHECK(simulated::live_events() == 0);
  host.stop();
  CHECK(simulated::count("cuEventRecord") == 0);
  {
    auto scope = step.enter(stream);
    scope.wait(sg::wait_policy::block);
  }
  auto late = step.start(stream);
  late.wait(sg::wait_policy::spin);
  sg::phase const other = step.with({{"rows", 3}});
  { auto const scope = other.enter(stream, {{"columns", 4}}); }
  CHECK(simulated::count("cuEventRecord") == 0);
  CHECK(simulated::count("cuEventCreate") == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "two phases of one name are one phase, whose first handle decides") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const one{recorder, "step", sg::warmup{2}};
  sg::phase const two{recorder, "step", sg::warmup{9}};
  sg::phase copy = one;
  copy = two;
  for (auto const* each : {&one, &two, static_cast<sg::phase const*>(&copy)}) {
    auto const scope = each->enter(stream);
    launch(stream, 1ms);
  }
  auto const series = series_of(recorder.collect(), "step");
  CHECK(device_times(series) == repeated(1ms, 3));
  CHECK(series.warmup == 2);
}

TEST_CASE_FIXTURE(fresh_machine, "the recording lists phases as they were made, entered or not") {
  sg::recorder recorder;
  sg::phase const b{recorder, "b"};
  sg::phase const a{recorder, "a"};
  sg::phase const never{recorder, "never"};
  { auto const scope = a.enter(sg::host_only); }
  auto const recording = recorder.collect();
  REQUIRE(recording.all.size() == 3);
  CHECK(recording.all[0].phase == "b");
  CHECK(recording.all[1].phase == "a");
  CHECK(recording.all[2].phase == "never");
  CHECK(recording.all[0].samples.empty());
  CHECK(recording.recorded == sg::mode::time);
  CHECK(recording.why_not_measured.empty());
}

TEST_CASE_FIXTURE(fresh_machine, "the floor beside the numbers is what an empty pair reads on that device") {
  cudaStream_t const stream = new_stream();
  simulated::set_record_duration(1300ns);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(stream); }
  auto const recording = recorder.collect();
  REQUIRE(recording.environment.devices.size() == 1);
  auto const& device = recording.environment.devices[0];
  CHECK(device.name == "Simulated device 0");
  REQUIRE(device.event_floor);
  CHECK(*device.event_floor == 1300ns);
  CHECK(sample_of(recording, "step").device == 1300ns);
  CHECK(simulated::live_streams() == 1);
  simulated::clear_log();
  CHECK(*recorder.collect().environment.devices.at(0).event_floor == 1300ns);
  CHECK(simulated::count("cuEventCreate") == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "a phase on the legacy stream says once that its records are barriers") {
  {
    simulated::user_scope const user;
    REQUIRE(cudaFree(nullptr) == cudaSuccess);
  }
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 3; ++i) {
    auto const scope = step.enter(cudaStream_t{nullptr});
    launch(nullptr, 1ms);
  }
  auto const recording = recorder.collect();
  CHECK(device_times(series_of(recording, "step")) == repeated(1ms, 3));
  REQUIRE(recording.problems.size() == 1);
  CHECK(recording.problems[0].phase == "step");
  CHECK(recording.problems[0].count == 1);
  CHECK(recording.problems[0].text.find("name the stream") != std::string::npos);
}
