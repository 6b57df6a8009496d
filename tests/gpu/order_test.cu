// The bug that would go unseen without this file: a reading that belongs to another execution of the phase.
#include "program.hpp"

#include "device.cuh"

using sg::absence;

// Neighbours differ by at least 74 us, so a reading that belongs to a neighbour is either below its own kernel's clock,
// or far above it.
constexpr std::uint64_t length_of(std::size_t i) { return (2 + 2 * (i * 37 % 101)) * us; }
// Queued work reads about 3 us more than its kernel; half of what tells two neighbours apart is ample.
constexpr std::int64_t most_above = 37'000;

// How many known readings are not those of their own kernels.
std::size_t strangers(std::vector<sg::sample> const& samples, std::vector<kernel_clock> const& own) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i].device.known()) continue;
    auto const above = device_ns(samples[i]) - own[i].ns();
    if (above < 0 || (above > most_above && !watched())) ++count;
  }
  return count;
}

TEST_CASE("case-07: three intervals without a read between read as three") {
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{3};
  sg::recorder recorder{sg::mode::time};
  sg::phase growing{recorder, "growing"};
  for (std::size_t i = 0; i < 3; ++i) {
    auto scope = growing.enter(stream);
    spin<<<1, 1, 0, stream>>>((i + 1) * 10 * ms, clocks.at(i));
  }
  auto const seen = series_of(recorder.collect(), "growing");
  auto const own = clocks.read();
  REQUIRE(seen.samples.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    // The next one is 10 ms longer; a tenth of that tells them apart, whatever the host was held up by.
    CHECK(device_ns(seen.samples[i]) >= own[i].ns());
    if (!watched()) CHECK(device_ns(seen.samples[i]) < own[i].ns() + 1'000'000);
  }
}

TEST_CASE("case-07: a thousand back-to-back intervals without a read come back in order") {
  warm_up();
  constexpr std::size_t count = 1000;
  test_stream const stream;
  kernel_clocks const clocks{count};
  sg::recorder recorder{sg::mode::time};
  sg::phase growing{recorder, "growing"};
  { auto scope = growing.enter(stream); }
  spin<<<1, 1, 0, stream>>>(10 * ms, nullptr);  // the host stays ahead of the device from here on
  for (std::size_t i = 0; i < count; ++i) {
    auto scope = growing.enter(stream);
    spin<<<1, 1, 0, stream>>>(length_of(i), clocks.at(i));
  }
  auto seen = series_of(recorder.collect(), "growing");
  auto const own = clocks.read();
  REQUIRE(seen.samples.size() == count + 1);
  seen.samples.erase(seen.samples.begin());
  CHECK(count_of(seen, absence::none) == count);
  CHECK(strangers(seen.samples, own) == 0);
}

TEST_CASE("case-08: a pool of 16 pairs measures throughout a thousand intervals and accounts for each") {
  warm_up();
  constexpr std::size_t count = 1000;
  test_stream const stream;
  kernel_clocks const clocks{count};
  bool waits = false;
  SUBCASE("with the device far behind") {}
  SUBCASE("with the device keeping up") { waits = true; }
  sg::recorder recorder{sg::mode::time, sg::capacity{1000, 16}};
  sg::phase growing{recorder, "growing"};
  spin<<<1, 1, 0, stream>>>(ms, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    {
      auto scope = growing.enter(stream);
      spin<<<1, 1, 0, stream>>>(length_of(i), clocks.at(i));
    }
    if (waits || i % 100 == 99) stream.synchronize();
    if (!waits && i % 100 == 99) spin<<<1, 1, 0, stream>>>(ms, nullptr);  // and it falls behind again
  }
  auto const seen = series_of(recorder.collect(), "growing");
  auto const own = clocks.read();
  auto const kept = count_of(seen, absence::none);
  REQUIRE(seen.samples.size() == count);
  CHECK(kept + count_of(seen, absence::pool_full) == count);
  for (sg::sample const& each : seen.samples) CHECK(each.submit.known());
  if (waits) {
    CHECK(kept == count);
    // Here the stream is idle at each start, so an interval may hold any pause of the host; it is never too short.
    for (std::size_t i = 0; i < count; ++i) CHECK(device_ns(seen.samples[i]) >= own[i].ns());
  } else {
    CHECK(kept > 16);
    CHECK(strangers(seen.samples, own) == 0);
    std::size_t late = 0;
    for (std::size_t i = count / 2; i < count; ++i)
      if (seen.samples[i].device.known()) ++late;
    CHECK(late > 0);
  }
}

TEST_CASE("two streams in one phase each keep their own readings") {
  warm_up();
  constexpr std::size_t count = 400;
  test_stream const a;
  test_stream const b;
  kernel_clocks const clocks{count};
  sg::recorder recorder{sg::mode::time};
  sg::phase both{recorder, "both"};
  spin<<<1, 1, 0, a>>>(5 * ms, nullptr);
  spin<<<1, 1, 0, b>>>(5 * ms, nullptr);
  for (std::size_t i = 0; i < count; ++i) {
    cudaStream_t const stream = i % 2 == 0 ? a : b;
    auto scope = both.enter(stream);
    spin<<<1, 1, 0, stream>>>(length_of(i), clocks.at(i));
  }
  auto const seen = series_of(recorder.collect(), "both");
  auto const own = clocks.read();
  REQUIRE(seen.samples.size() == count);
  CHECK(count_of(seen, absence::none) == count);
  CHECK(strangers(seen.samples, own) == 0);
}

TEST_CASE("an outer phase spans the kernels of the inner ones and counts their records") {
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{3};
  sg::recorder recorder{sg::mode::time};
  sg::phase outer{recorder, "outer"};
  sg::phase inner{recorder, "inner"};
  spin<<<1, 1, 0, stream>>>(ms, nullptr);
  {
    auto all = outer.enter(stream);
    for (std::size_t i = 0; i < 3; ++i) {
      auto one = inner.enter(stream);
      spin<<<1, 1, 0, stream>>>(length_of(i), clocks.at(i));
    }
  }
  auto const taken = recorder.collect();
  auto const own = clocks.read();
  auto const out = series_of(taken, "outer");
  auto const in = series_of(taken, "inner");
  REQUIRE(out.samples.size() == 1);
  REQUIRE(in.samples.size() == 3);
  CHECK(strangers(in.samples, own) == 0);
  CHECK(device_ns(out.samples[0]) >= static_cast<std::int64_t>(own[2].stop - own[0].start));
  CHECK(out.samples[0].records_inside == 6);
  std::int64_t sum = 0;
  for (sg::sample const& each : in.samples) {
    CHECK(each.records_inside == 0);
    REQUIRE(each.parent.has_value());
    CHECK(taken.all[*each.parent].phase == "outer");
    sum += device_ns(each);
  }
  CHECK_FALSE(out.samples[0].parent.has_value());
  CHECK(device_ns(out.samples[0]) >= sum);
}

TEST_CASE("a wait observes the completion: not before the device is done, not after the host saw it return") {
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{1};
  sg::wait_policy policy = sg::wait_policy::spin;
  bool started = false;
  SUBCASE("spinning") {}
  SUBCASE("blocking") { policy = sg::wait_policy::block; }
  SUBCASE("blocking, started") {
    policy = sg::wait_policy::block;
    started = true;
  }
  sg::recorder recorder{sg::mode::time};
  sg::phase waited{recorder, "waited"};
  for (int i = 0; i < 20; ++i) {
    auto const before = sg::host_now();
    if (started) {
      auto open = waited.start(stream);
      spin<<<1, 1, 0, stream>>>(2 * ms, clocks.at(0));
      open.wait(policy);
    } else {
      auto scope = waited.enter(stream);
      spin<<<1, 1, 0, stream>>>(2 * ms, clocks.at(0));
      scope.wait(policy);
    }
    auto const around = (sg::host_now() - before).count();
    CHECK(cudaStreamQuery(stream) == cudaSuccess);
    auto const own = clocks.read()[0].ns();
    auto const one = series_of(recorder.collect(), "waited").samples.back();
    CHECK(one.waited == policy);
    REQUIRE(one.completion.known());
    auto const completion = one.completion.value()->count();
    CHECK(device_ns(one) >= own);
    // Both events lie between the two host stamps. The clocks differ by some 4 parts in a million: 1 in 10,000 is
    // ample.
    CHECK(completion + completion / 10'000 >= device_ns(one));
    CHECK(completion <= around);
    CHECK(one.submit.value()->count() <= completion);
  }
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE("an interval alone tells its states apart and reads its own kernel") {
  warm_up();
  test_stream const stream;
  kernel_clocks const clocks{1};
  sg::interval timer{stream};
  CHECK(timer.read().state == sg::interval_state::not_started);
  CHECK_FALSE(timer.ready());
  CHECK(timer.stop().state == sg::interval_state::not_started);
  timer.start();
  CHECK(timer.read().state == sg::interval_state::not_stopped);
  spin<<<1, 1, 0, stream>>>(20 * ms, clocks.at(0));
  timer.stop();
  CHECK(timer.read().state == sg::interval_state::pending);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  auto const got = timer.wait();
  REQUIRE(got.state == sg::interval_state::done);
  CHECK(got.time->count() >= clocks.read()[0].ns());
}

int main(int argc, char** argv) { return run_program(argc, argv); }
