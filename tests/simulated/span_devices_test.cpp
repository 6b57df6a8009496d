// Spans over several devices, and what resets, forks and faults leave of a span.

#include <optional>
#include <thread>
#include <vector>

#include "own_process.hpp"
#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using sg::absence;
using simulated::launch;

namespace {

/// A machine of several devices, the streams made on those that the test says.
struct fresh_devices : simulated::fresh_machine {
  fresh_devices() : fresh_machine{of(3)} {}
  static simulated::machine_options of(int devices) {
    simulated::machine_options options;
    options.devices = devices;
    return options;
  }
};

cudaStream_t stream_on(int device) {
  select_device(device);
  cudaStream_t const stream = new_stream();
  select_device(0);
  return stream;
}

int current_device() {
  simulated::user_scope const user;
  int device = -1;
  REQUIRE(cudaGetDevice(&device) == cudaSuccess);
  return device;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_devices,
                  "one span over two devices: an interval for each, none in common, and no context elsewhere") {
  select_device(2);
  cudaStream_t const second = new_stream();
  select_device(1);  // and no other one: naming a device makes its context
  cudaStream_t const first = new_stream();
  cudaStream_t const beside = new_stream();
  sg::recorder recorder;
  sg::phase const exchange{recorder, "exchange", sg::warmup{1}};
  sg::phase const part_of{recorder, "part"};
  simulated::set_poll_step(1us);
  for (auto const policy : {sg::wait_policy::spin, sg::wait_policy::block}) {
    simulated::host_advance(100ms);
    launch(beside, 15ms);
    sg::span both{exchange};
    for (auto const& [stream, work] : {std::pair{first, 10ms}, std::pair{second, 30ms}, std::pair{beside, 2ms}}) {
      auto const part = both.branch(stream, part_of);
      launch(stream, work);
    }
    both.wait(policy);
  }
  CHECK(!simulated::context_created(0));
  CHECK(current_device() == 1);
  auto const taken = recorder.collect();
  CHECK(!simulated::context_created(0));
  auto const whole = row_of(taken, "exchange", {});
  auto const on_one = row_of(taken, "exchange", {{"device", "1"}});
  auto const on_two = row_of(taken, "exchange", {{"device", "2"}});
  REQUIRE(whole.samples.size() == 2);
  CHECK(device_times(on_one) == std::vector<nanoseconds>{17ms, 17ms});
  CHECK(device_times(on_two) == std::vector<nanoseconds>{30ms, 30ms});
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(missing(whole.samples[i].device) == absence::several_devices);
    CHECK(whole.samples[i].completion == 30ms);
    CHECK(whole.samples[i].span == 0);
    CHECK(missing(on_one.samples[i].completion) == absence::not_asked);
    CHECK(on_one.samples[i].part == sg::span_part::whole);
    CHECK(on_one.samples[i].span != on_two.samples[i].span);
    CHECK(on_one.samples[i].parent == 0u);
    CHECK(on_one.samples[i].entered == whole.samples[i].entered);
    for (auto const* each : {&whole, &on_one, &on_two}) CHECK(each->samples[i].warmup == (i == 0));
  }
  auto const parts = series_of(taken, "part");
  CHECK(values(parts, &sg::sample::begins) == std::vector<nanoseconds>{0ms, 0ms, 15ms, 0ms, 0ms, 15ms});
  for (std::size_t i = 0; i < 6; ++i)
    CHECK(parts.samples[i].span == (i % 3 == 1 ? on_two : on_one).samples[i / 3].span);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_devices, "listed streams of several devices give a row for each device, without any branch") {
  cudaStream_t const first = stream_on(0);
  cudaStream_t const second = stream_on(1);
  sg::recorder recorder;
  sg::phase const exchange{recorder, "exchange"};
  {
    sg::span const both{exchange, {first, second}};
    launch(first, 1ms);
    launch(second, 2ms);
  }
  {
    sg::span const one{exchange, {second}};
    launch(second, 3ms);
  }
  auto const taken = recorder.collect();
  CHECK(sample_of(taken, "exchange", {{"device", "0"}}).device == 1ms);
  CHECK(sample_of(taken, "exchange", {{"device", "1"}}).device == 2ms);
  auto const whole = row_of(taken, "exchange", {});
  REQUIRE(whole.samples.size() == 2);
  CHECK(missing(whole.samples[0].device) == absence::several_devices);
  CHECK(whole.samples[1].device == 3ms);
  CHECK(!simulated::context_created(2));
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_devices, "a joined span refuses a branch of another device, and records nothing on it") {
  cudaStream_t const origin = stream_on(0);
  cudaStream_t const side = stream_on(1);
  sg::recorder recorder;
  sg::phase const forked{recorder, "forked"};
  sg::phase const part_of{recorder, "part"};
  for (bool const isolated : {false, true}) {
    std::optional<sg::span> whole;
    simulated::clear_log();
    if (isolated)
      whole.emplace(forked, sg::isolated, origin, std::initializer_list<sg::stream_ref>{side});
    else
      whole.emplace(forked, sg::joined, origin);
    {
      auto const part = whole->branch(side, part_of);
      launch(side, 1ms);
    }
    whole.reset();
    for (auto const& call : stamps_and_edges()) CHECK(call.stream == origin);
  }
  CHECK(current_device() == 0);
  auto const taken = recorder.collect();
  for (char const* const phase : {"forked", "part"}) {
    auto const seen = row_of(taken, phase, {});
    REQUIRE(seen.samples.size() == 2);
    for (auto const& each : seen.samples) CHECK(missing(each.device) == absence::other_device);
  }
  CHECK(taken.all.size() == 2);
  CHECK(taken.problems.empty());
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_devices, "a span that went wrong on one device has no time on the other either") {
  cudaStream_t const first = stream_on(0);
  cudaStream_t const second = stream_on(1);
  sg::recorder recorder;
  sg::phase const exchange{recorder, "exchange"};
  sg::phase const part_of{recorder, "part"};
  {
    sg::span both{exchange};
    for (auto const stream : {first, second, first}) auto const part = both.branch(stream, part_of);
  }
  auto const taken = recorder.collect();
  for (char const* const device : {"0", "1"})
    CHECK(missing(sample_of(taken, "exchange", {{"device", device}}).device) == absence::branch_twice);
  CHECK(missing(sample_of(taken, "exchange", {}).device) == absence::branch_twice);
  check_accounts(taken);
}

TEST_CASE_FIXTURE(
    fresh_devices,
    "a default stream means the current device's: changing the device within a branch costs its time alone") {
  make_context();
  select_device(1);
  make_context();
  select_device(0);
  sg::recorder recorder;
  sg::phase const exchange{recorder, "exchange"};
  sg::phase const part_of{recorder, "part"};
  {
    sg::span both{exchange};
    {
      auto const part = both.branch(cudaStreamPerThread, part_of);
      select_device(1);
    }
    auto const part = both.branch(cudaStreamPerThread, part_of);
  }
  CHECK(current_device() == 1);
  auto const taken = recorder.collect();
  auto const parts = series_of(taken, "part");
  REQUIRE(parts.samples.size() == 2);
  CHECK(!parts.samples[0].device.known());
  CHECK(parts.samples[1].device.known());
  CHECK(!sample_of(taken, "exchange", {{"device", "0"}}).device.known());
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_devices,
                  "conditions of the program's own named branch and device stay, and no two rows become one") {
  cudaStream_t const first = stream_on(0);
  cudaStream_t const second = stream_on(1);
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  for (auto const& [name, work] : {std::pair{"left", 1ms}, std::pair{"right", 4ms}}) {
    auto const named = step.with({{"branch", name}, {"device", name}});
    sg::span both{named};
    for (auto const stream : {first, second}) {
      auto const part = both.branch(stream);
      launch(stream, work);
    }
  }
  auto const taken = recorder.collect();
  for (auto const& [name, work] : {std::pair{"left", 1ms}, std::pair{"right", 4ms}}) {
    std::vector<sg::condition> const own{{"branch", name}, {"device", name}};
    CHECK(missing(sample_of(taken, "step", own).device) == absence::several_devices);
    for (char const* const key : {"span branch", "span device"}) {
      for (int i = 0; i < 2; ++i) {
        auto under = own;
        under.push_back({key, std::to_string(key == std::string{"span branch"} ? i + 1 : i)});
        CHECK(sample_of(taken, "step", under).device == work);
      }
    }
  }
  check_accounts(taken);
}

TEST_CASE_FIXTURE(fresh_devices, "case-37 branches that were read before a reset place nothing by their dead events") {
  for (auto const policy : {sg::wait_policy::none, sg::wait_policy::spin, sg::wait_policy::block}) {
    for (bool const read_before : {false, true}) {
      CAPTURE(static_cast<int>(policy));
      CAPTURE(read_before);
      simulated::fresh_machine const machine;
      program_stream left;
      program_stream right;
      sg::recorder recorder;
      sg::phase const overlap{recorder, "overlap"};
      sg::phase const part_of{recorder, "part"};
      {
        sg::span both{overlap};
        for (cudaStream_t const stream : {left.get(), right.get()}) {
          auto const part = both.branch(stream, part_of);
          launch(stream, 2ms);
        }
        if (read_before) static_cast<void>(recorder.collect());
        reset_device();
        make_context();  // at the same address: only the id is new
        left.forget();
        right.forget();
        if (policy != sg::wait_policy::none) both.wait(policy);
      }
      auto const taken = recorder.collect();
      auto const whole = sample_of(taken, "overlap", {});
      CHECK(missing(whole.device) == absence::context_gone);
      if (policy != sg::wait_policy::none) CHECK(missing(whole.completion) == absence::context_gone);
      for (auto const& each : row_of(taken, "part", {}).samples) CHECK(!each.begins.known());
      check_accounts(taken);
    }
  }
}

TEST_CASE_FIXTURE(fresh_devices, "two lives of one device are no two devices: the span has no time, and no row twice") {
  program_stream before;
  sg::recorder recorder;
  sg::phase const overlap{recorder, "overlap"};
  sg::phase const part_of{recorder, "part"};
  {
    sg::span both{overlap};
    {
      auto const part = both.branch(before, part_of);
      launch(before.get(), 1ms);
    }
    static_cast<void>(recorder.collect());
    reset_device();
    before.forget();
    program_stream const after;
    auto const part = both.branch(after, part_of);
    launch(after.get(), 2ms);
  }
  auto const taken = recorder.collect();
  CHECK(missing(sample_of(taken, "overlap", {}).device) == absence::context_gone);
  CHECK(row_of(taken, "overlap", {{"device", "0"}}).samples.empty());
  check_accounts(taken);
}

TEST_CASE_FIXTURE(
    fresh_devices,
    "a device that is reset within a span, after it, or between two takes what was not read, and no more") {
  for (int when = 0; when < 5; ++when) {
    CAPTURE(when);
    simulated::reset();
    program_stream gone;
    program_stream gone_too;
    sg::recorder recorder{sg::capacity{1000, 8}};
    sg::phase const overlap{recorder, "overlap"};
    auto const lose = [&] {
      reset_device();
      gone.forget();
      gone_too.forget();
    };
    {
      std::optional<sg::span> whole;
      when == 3 ? whole.emplace(overlap, sg::joined, gone)
                : whole.emplace(overlap, std::initializer_list<sg::stream_ref>{gone_too});
      {
        auto const part = whole->branch(gone_too);
        launch(gone_too.get(), 1ms);
        if (when == 0) lose();
      }
      if (when == 1 || when >= 3) lose();
      if (when >= 3) {
        program_stream const fresh;
        auto const part = whole->branch(fresh);
      }
    }
    if (when == 2) lose();
    program_stream const next;
    {
      sg::span one{overlap};
      auto const part = one.branch(next);
      launch(next.get(), 2ms);
    }
    auto const taken = recorder.collect();
    auto const all = row_of(taken, "overlap", {});
    REQUIRE(all.samples.size() == 2);
    CHECK(missing(all.samples[0].device) == absence::context_gone);
    CHECK(all.samples[1].device == 2ms);
    check_accounts(taken);
  }
}

TEST_CASE_FIXTURE(fresh_devices,
                  "a child that is forked within a span ends it on the host alone, and the parent's is whole") {
  program_stream const main;
  program_stream const side;
  for (bool const joined : {false, true}) {
    wait_for(main.get());
    wait_for(side.get());
    sg::recorder recorder{sg::mode::time, sg::capacity{1000, 8}};
    sg::phase const overlap{recorder, "overlap"};
    std::optional<sg::span> whole;
    joined ? whole.emplace(overlap, sg::joined, main) : whole.emplace(overlap);
    {
      auto const part = whole->branch(side);
      launch(side.get(), 2ms);
    }
    CHECK(in_forked_child([&] {
            simulated::clear_log();
            { auto const part = whole->branch(main); }
            whole->wait(sg::wait_policy::block);
            whole.reset();
            auto const taken = recorder.collect();
            for (auto const& each : taken.all)
              for (auto const& sample : each.samples)
                if (!(missing(sample.device) == absence::forked) || !sample.submit.known()) return 1;
            if (simulated::count("cuEventDestroy") + simulated::count("cuEventElapsedTime") > 0) return 2;
            return simulated::fatal_misuses().empty() ? 0 : 3;
          }) == 0);
    whole.reset();
    CHECK(sample_of(recorder.collect(), "overlap", {}).device == 2ms);
  }
}

TEST_CASE_FIXTURE(fresh_devices, "a recorder that ends before its spans were read lets every event go") {
  program_stream const main;
  program_stream const side;
  for (int i = 0; i < 3; ++i) {
    sg::recorder recorder{sg::capacity{1000, 8}};
    sg::phase const overlap{recorder, "overlap"};
    std::optional<sg::span> whole;
    i == 0 ? whole.emplace(overlap) : whole.emplace(overlap, sg::joined, main);
    {
      auto const part = whole->branch(side);
      launch(side.get(), 5ms);
    }
    whole.reset();
    if (i == 2) static_cast<void>(recorder.collect());
  }
  CHECK(simulated::live_events() == 0);
}

// A branch's own sample stood in the archive's way as if it were finished while rows were added for its devices.
TEST_CASE_FIXTURE(fresh_devices, "a branch that makes a span's second device known keeps its sample in a long run") {
  for (int place = 998; place <= 1001; ++place) {
    CAPTURE(place);
    sg::recorder recorder;
    sg::phase const outer{recorder, "outer"};
    sg::phase const both{recorder, "both"};
    sg::phase const part{recorder, "part"};
    sg::phase const held{recorder, "held"};
    sg::phase const step{recorder, "step"};
    auto const first = stream_on(0);
    auto const second = stream_on(1);
    auto const around = outer.enter(sg::host_only);
    std::size_t entered = 1;
    auto const step_until = [&](std::size_t count) {
      for (; entered < count; ++entered) {
        auto const scope = step.enter(sg::host_only);
        simulated::host_advance(5ns);
      }
    };
    // One sample in each block of 1000 stays open, so that all but the last one keep their place.
    std::vector<sg::started_phase> open;
    for (std::size_t block = 1; block <= 32; ++block) {
      open.push_back(held.start(sg::host_only));
      ++entered;
      step_until(1000 * block - (block == 32 ? 2 : 0));
    }
    {
      sg::span whole{both};
      {
        auto const one = whole.branch(first, part);
        launch(first, 2us);
      }
      entered += 2;
      step_until(32'000 + static_cast<std::size_t>(place) - 1);
      auto const other = whole.branch(second, part);
      launch(second, 3us);
      ++entered;
      step_until(entered + 2500);
    }
    auto const taken = recorder.collect();
    CHECK(device_times(series_of(taken, "part")) == std::vector<nanoseconds>{2us, 12'500ns});  // until the host had left it
    std::size_t count = 0;
    for (auto const& each : taken.all) count += each.samples.size();
    CHECK(count == entered + 2);  // and one for each device
    bool all_right = true;
    for (auto const& one : series_of(taken, "step").samples) all_right = all_right && one.submit == 5ns;
    CHECK(all_right);
  }
}
