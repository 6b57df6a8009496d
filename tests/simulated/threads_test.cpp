// Many threads, one recorder. Also built with the thread sanitizer.

#include <atomic>
#include <sstream>
#include <thread>

#include "observed.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

constexpr std::size_t thread_count = 8;
constexpr std::size_t per_thread = 10'000;

// Runs one action on each of eight threads at a time.
template <class Action>
void on_eight_threads(Action action) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([&action, i] { action(i); });
  for (auto& each : threads) each.join();
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "eight threads of 10000 samples each, while another collects: every one arrives (case-41)") {
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < thread_count; ++i) streams.push_back(new_stream());
  sg::recorder recorder{sg::capacity{1000, 256}};
  sg::phase const step{recorder, "step"};
  sg::phase const part{recorder, "part"};
  std::atomic<bool> running{true};
  std::size_t collected = 0;
  std::size_t fewer_than_before = 0;
  std::thread collector{[&] {
    std::size_t before = 0;
    while (running.load()) {
      auto const recording = recorder.collect();
      std::size_t const now = recording.all.at(0).samples.size();
      fewer_than_before += now < before ? 1u : 0u;
      before = now;
      ++collected;
      simulated::clear_log();
      std::this_thread::yield();
    }
  }};
  on_eight_threads([&](std::size_t i) {
    for (std::size_t k = 0; k < per_thread; ++k) {
      {
        auto const scope = step.enter(streams[i]);
        launch(streams[i], 1us);
        if (k % 10 == 0) auto const inner = part.enter(sg::host_only, {{"thread", i}});
      }
      simulated::host_advance(2us);
    }
  });
  running = false;
  collector.join();
  CHECK(collected > 0);
  CHECK(fewer_than_before == 0);
  auto const recording = recorder.collect();
  CHECK(recording.problems.empty());
  auto const series = series_of(recording, "step");
  REQUIRE(series.samples.size() == thread_count * per_thread);
  std::size_t of_thread[thread_count] = {};
  std::size_t wrong = 0;
  std::size_t dropped = 0;
  for (auto const& each : series.samples) {
    if (each.thread < thread_count) ++of_thread[each.thread];
    if (each.device.known()) {
      // Others move the common clock, so an idle stream may wait for the launch; it is never less than the work.
      wrong += *each.device.value() < 1us ? 1u : 0u;
    } else {
      wrong += each.device.why_absent() == sg::absence::pool_full ? 0u : 1u;
      ++dropped;
    }
    wrong += each.submit.known() && !each.parent ? 0u : 1u;
  }
  CHECK(wrong == 0);
  for (std::size_t const count : of_thread) CHECK(count == per_thread);
  auto const row = sg::summarize(series);
  CHECK(row.device.samples.dropped == dropped);
  check_account(row.device.samples, thread_count * per_thread);
  std::size_t parts = 0;
  for (auto const& each : recording.all) {
    if (each.phase != "part") continue;
    parts += each.samples.size();
    for (auto const& one : each.samples) wrong += one.parent == 0u ? 0u : 1u;
  }
  CHECK(parts == thread_count * per_thread / 10);
  CHECK(wrong == 0);
  std::ostringstream report;
  sg::report::table(report, recording);
  CHECK(report.str().find("submit: 88000 entered, all kept") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "with nothing but its own work in the clock, the sum over eight threads is exact (case-41)") {
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < thread_count; ++i) streams.push_back(new_stream());
  // All is queued behind a gate, so that no other thread's clock is in an interval.
  for (auto const stream : streams) simulated::hold(stream);
  sg::recorder recorder{sg::capacity{1000, 2000}};
  sg::phase const step{recorder, "step"};
  sg::phase const ready{recorder, "ready"};
  std::atomic<std::size_t> here{0};
  on_eight_threads([&](std::size_t i) {
    { auto const first = ready.enter(sg::host_only); }
    ++here;  // a thread that came after another had gone would take over its lane, and with it the pool that is in use
    while (here.load() < thread_count) std::this_thread::yield();
    for (int k = 1; k <= 1000; ++k) {
      auto const scope = step.enter(streams[i]);
      launch(streams[i], 1us * k);
    }
  });
  for (auto const stream : streams) simulated::release(stream);
  auto const series = series_of(recorder.collect(), "step");
  REQUIRE(series.samples.size() == 8000);
  nanoseconds sum{0};
  for (auto const time : device_times(series)) sum += time;
  CHECK(sum == 8 * 500'500us);
}

TEST_CASE_FIXTURE(fresh_machine, "a thousand short threads take turns in one lane") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 8}};
  sg::phase const step{recorder, "step"};
  for (int i = 0; i < 1000; ++i) {
    std::thread{[&] {
      auto scope = step.enter(stream);
      launch(stream, 1us);
      scope.wait(sg::wait_policy::spin);
    }}.join();
  }
  CHECK(simulated::events_created() == 2 * 8 + 1);  // one lane, one pool
  auto const series = series_of(recorder.collect(), "step");
  REQUIRE(series.samples.size() == 1000);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(series.samples[i].device == 1us);
    CHECK(series.samples[i].thread == i);
    CHECK(!series.samples[i].parent);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a lane serves the next thread while the last one's intervals still wait for the device") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 64}};
  sg::phase const step{recorder, "step"};
  std::vector<nanoseconds> expected;
  for (int i = 0; i < 50; ++i) {
    expected.emplace_back(1ms * (1 + i % 5));
    std::thread{[&] {
      auto const scope = step.enter(stream);
      launch(stream, expected.back());
    }}.join();
  }
  CHECK(simulated::events_created() == 2 * 64 + 1);
  CHECK(device_times(series_of(recorder.collect(), "step")) == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "a lane whose thread left a started phase open is not given on before that has ended") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder{sg::capacity{1000, 8}};
  sg::phase const request{recorder, "request"};
  sg::phase const step{recorder, "step"};
  std::optional<sg::started_phase> open;
  std::thread{[&] { open.emplace(request.start(stream)); }}.join();
  launch(stream, 1ms);
  auto const enter_elsewhere = [&] {
    std::thread{[&] {
      auto const scope = step.enter(stream);
      launch(stream, 2ms);
    }}.join();
  };
  enter_elsewhere();
  CHECK(simulated::events_created() == 2 * (2 * 8 + 1));
  open.reset();
  enter_elsewhere();
  enter_elsewhere();
  CHECK(simulated::events_created() == 2 * (2 * 8 + 1));
  auto const recording = recorder.collect();
  auto const waited = sample_of(recording, "request");
  CHECK(waited.device == 3ms);
  CHECK(waited.records_inside == 0);  // what another thread nests counts there
  CHECK(device_times(series_of(recording, "step")) == std::vector<nanoseconds>{2ms, 2ms, 2ms});
}

TEST_CASE_FIXTURE(fresh_machine, "samples of several threads come in the order in which they were entered") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  std::atomic<int> turn{0};
  on_eight_threads([&](std::size_t i) {
    for (int round = 0; round < 20; ++round) {
      while (turn.load() != round * 8 + static_cast<int>(i)) std::this_thread::yield();
      {
        auto const scope = step.enter(stream);
        launch(stream, 1us * (turn.load() + 1));
      }
      simulated::host_advance(1ms);
      ++turn;
    }
  });
  auto const times = device_times(series_of(recorder.collect(), "step"));
  REQUIRE(times.size() == 160);
  for (int i = 0; i < 160; ++i) CHECK(times[static_cast<std::size_t>(i)] == 1us * (i + 1));
}

TEST_CASE_FIXTURE(fresh_machine, "threads make phases and conditions at the same time, and each is made once") {
  sg::recorder recorder;
  on_eight_threads([&](std::size_t) {
    for (int k = 0; k < 20; ++k) {
      sg::phase const mine{recorder, "phase " + std::to_string(k), sg::conditions{{"k", k}}};
      for (int rows = 0; rows < 5; ++rows) auto const scope = mine.enter(sg::host_only, {{"rows", rows}});
    }
  });
  auto const recording = recorder.collect();
  CHECK(recording.all.size() == 20 * 6);
  for (auto const& each : recording.all) CHECK(each.samples.size() == (each.conditions.size() == 2 ? 8 : 0));
}

TEST_CASE_FIXTURE(fresh_machine, "recorders come and go on many threads at once") {
  on_eight_threads([](std::size_t) {
    for (int i = 0; i < 30; ++i) {
      sg::recorder mine{sg::capacity{100, 4}};
      sg::recorder other{sg::capacity{100, 4}};
      sg::phase const in_mine{mine, "step"};
      sg::phase const in_other{other, "step"};
      auto const outer = in_mine.enter(sg::host_only);
      auto const inner = in_other.enter(sg::host_only);
      if (mine.collect().all.at(0).samples.size() != 1) std::abort();
    }
  });
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "started phases that pass from thread to thread while another collects all arrive") {
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < thread_count; ++i) streams.push_back(new_stream());
  sg::recorder recorder{sg::capacity{0, 64}};
  sg::phase const request{recorder, "request"};
  std::atomic<bool> running{true};
  std::thread collector{[&] {
    while (running.load()) static_cast<void>(recorder.collect());
  }};
  on_eight_threads([&](std::size_t i) {
    for (int k = 0; k < 50; ++k) {
      auto open = request.start(streams[i]);
      launch(streams[i], 1us);
      std::thread{[moved = std::move(open), k]() mutable {
        if (k % 2 == 0) moved.stop();
        else moved.wait(sg::wait_policy::spin);
      }}.join();
      simulated::host_advance(1us);
    }
  });
  running = false;
  collector.join();
  auto const row = sg::summarize(series_of(recorder.collect(), "request"));
  CHECK(row.submit.samples.kept == 400);
  CHECK(row.device.samples.kept == 400);
  CHECK(row.completion.samples.kept == 200);
}
