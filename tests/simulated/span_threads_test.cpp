// Spans and their branches on many threads. Also built with the thread sanitizer.

#include <atomic>
#include <optional>
#include <thread>

#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

constexpr std::size_t thread_count = 4;

template <class Action>
void on_four_threads(Action action) {
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back([&action, i] { action(i); });
  for (auto& each : threads) each.join();
}

/// Collects again and again on a thread of its own.
class collector {
 public:
  explicit collector(sg::recorder& from)
      : thread_{[this, &from] {
          while (running_.load()) {
            static_cast<void>(from.collect());
            simulated::clear_log();
            std::this_thread::yield();
          }
        }} {}
  ~collector() {
    running_ = false;
    thread_.join();
  }

 private:
  std::atomic<bool> running_{true};
  std::thread thread_;
};

/// All work is queued behind gates, so that no other thread's clock is in an interval.
struct gated {
  std::vector<cudaStream_t> streams;
  explicit gated(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) streams.push_back(new_stream());
    for (auto const each : streams) simulated::hold(each);
  }
  void release() const {
    for (auto const each : streams) simulated::release(each);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "four threads with spans of their own while another collects: every sample arrives, once") {
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i < 2 * thread_count; ++i) streams.push_back(new_stream());
  sg::recorder recorder{sg::capacity{1000, 64}};
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const part_of{recorder, "part"};
  {
    collector const collecting{recorder};
    on_four_threads([&](std::size_t i) {
      for (int k = 0; k < 500; ++k) {
        std::optional<sg::span> whole;
        k % 2 == 0 ? whole.emplace(overlap) : whole.emplace(overlap, sg::joined, streams[2 * i]);
        for (std::size_t const side : {std::size_t{0}, std::size_t{1}}) {
          auto const part = whole->branch(streams[2 * i + side], part_of);
          launch(streams[2 * i + side], 1us);
        }
        simulated::host_advance(2us);
        if (k % 50 == 0) whole->wait(sg::wait_policy::block);
      }
    });
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  REQUIRE(series_of(taken, "overlap").samples.size() == thread_count * 500);
  REQUIRE(series_of(taken, "part").samples.size() == thread_count * 1000);
  for (auto const& each : taken.all)
    for (auto const& sample : each.samples)
      CHECK((sample.device.known() ? *sample.device.value() >= 1us : missing(sample.device) == sg::absence::pool_full));
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine, "spans of four threads behind gates read exactly their own work") {
  gated const on{2 * thread_count};
  sg::recorder recorder{sg::capacity{1000, 512}};
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const ready{recorder, "ready"};
  std::atomic<std::size_t> here{0};
  on_four_threads([&](std::size_t i) {
    { auto const first = ready.enter(sg::host_only); }
    ++here;  // a thread that came after another had gone would take over its lane
    while (here.load() < thread_count) std::this_thread::yield();
    for (int k = 1; k <= 100; ++k) {
      sg::span both{overlap, sg::joined, on.streams[2 * i]};
      {
        auto const part = both.branch(on.streams[2 * i]);
        launch(on.streams[2 * i], 1us * k);
      }
      auto const part = both.branch(on.streams[2 * i + 1]);
      launch(on.streams[2 * i + 1], 2us * k);
    }
  });
  on.release();
  nanoseconds sum{0};
  for (auto const time : device_times(row_of(recorder.collect(), "overlap", {}))) sum += time;
  CHECK(sum == 4 * 10'100us);
}

TEST_CASE_FIXTURE(fresh_machine, "one span with the branches of four threads, while another collects") {
  for (bool const joined : {false, true}) {
    for (int turn = 0; turn < 50; ++turn) {
      std::vector<cudaStream_t> on;
      for (std::size_t i = 0; i <= thread_count; ++i) on.push_back(new_stream());
      sg::recorder recorder{sg::capacity{1000, 16}};
      sg::phase const overlap{recorder, "overlap"};
      sg::phase const part_of{recorder, "part"};
      {
        std::optional<sg::span> whole;
        joined ? whole.emplace(overlap, sg::joined, on[thread_count]) : whole.emplace(overlap);
        collector const collecting{recorder};
        on_four_threads([&](std::size_t i) {
          auto const part = turn % 2 == 0 ? whole->branch(on[i], part_of) : whole->branch(on[i]);
          launch(on[i], 1us * (i + 1));
        });
      }
      auto const taken = recorder.collect();
      nanoseconds latest{0};
      std::size_t branches = 0;
      for (auto const& each : taken.all) {
        for (auto const& sample : each.samples) {
          if (sample.part != sg::span_part::branch) continue;
          REQUIRE(sample.begins.known());
          REQUIRE(sample.device.known());
          latest = (std::max)(latest, *sample.begins.value() + *sample.device.value());
          ++branches;
        }
      }
      CHECK(branches == thread_count);
      // Of a joined span the origin's own interval counts too.
      auto const wall = sample_of(taken, "overlap", {}).device;
      REQUIRE(wall.known());
      CHECK((joined ? *wall.value() >= latest : *wall.value() == latest));
      check_accounts(taken);
    }
  }
}

TEST_CASE_FIXTURE(fresh_machine, "branches that end while their span ends are joined or refused, never half of each") {
  for (int turn = 0; turn < 200; ++turn) {
    cudaStream_t const origin = new_stream();
    std::vector<cudaStream_t> const sides{new_stream(), new_stream()};
    sg::recorder recorder{sg::capacity{1000, 8}};
    sg::phase const overlap{recorder, "overlap"};
    sg::phase const part_of{recorder, "part"};
    std::atomic<std::size_t> entered{0};
    std::vector<std::thread> others;
    {
      std::optional<sg::span> whole;
      turn % 2 == 0 ? whole.emplace(overlap) : whole.emplace(overlap, sg::joined, origin);
      for (auto const side : sides) {
        others.emplace_back([&whole, &entered, &part_of, side] {
          auto const part = whole->branch(side, part_of);
          ++entered;
        });
      }
      while (entered.load() < sides.size()) std::this_thread::yield();
    }
    for (auto& each : others) each.join();
    auto const taken = recorder.collect();
    auto const whole = sample_of(taken, "overlap");
    CHECK((whole.device == 0ns || missing(whole.device) == sg::absence::branch_open));
    auto const parts = series_of(taken, "part");
    REQUIRE(parts.samples.size() == 2);
    for (auto const& each : parts.samples) {
      CHECK(each.device == 0ns);
      CHECK(each.begins.known() == whole.device.known());
    }
    check_accounts(taken);
  }
}

TEST_CASE("threads that enter the first branches of a span on two devices at once lose no row") {
  simulated::machine_options options;
  options.devices = 2;
  fresh_machine const machine{options};
  std::vector<cudaStream_t> on;
  for (int const device : {0, 1}) {
    select_device(device);
    on.push_back(new_stream());
  }
  sg::recorder recorder{sg::capacity{1000, 8}};
  sg::phase const exchange{recorder, "exchange"};
  // Both are ready to begin before either has begun.
  sg::span_execution both;
  both.begin(exchange.node(), sg::span_kind::observed, sg::stage::steady);
  for (auto const stream : on) both.expect(stream);
  for (auto const stream : on) both.list(stream);
  both.end(sg::wait_policy::none);
  auto const taken = recorder.collect();
  CHECK(missing(sample_of(taken, "exchange", {}).device) == sg::absence::several_devices);
  CHECK(sample_of(taken, "exchange", {{"device", "0"}}).device == 0us);
  CHECK(sample_of(taken, "exchange", {{"device", "1"}}).device == 0us);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "branches that are entered while their span is waited for are in it, refused or too late") {
  std::vector<cudaStream_t> streams;
  for (std::size_t i = 0; i <= thread_count; ++i) streams.push_back(new_stream());
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const part_of{recorder, "part"};
  for (int k = 0; k < 50; ++k) {
    std::optional<sg::span> whole;
    k % 2 == 0 ? whole.emplace(overlap) : whole.emplace(overlap, sg::joined, streams[thread_count]);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < thread_count; ++i)
      threads.emplace_back([&whole, &part_of, stream = streams[i]] {
        auto const part = whole->branch(stream, part_of);
        launch(stream, 1us);
      });
    whole->wait(sg::wait_policy::spin);
    for (auto& each : threads) each.join();
  }
  auto const taken = recorder.collect();
  CHECK(row_of(taken, "overlap", {}).samples.size() == 50);
  check_accounts(taken);
}
