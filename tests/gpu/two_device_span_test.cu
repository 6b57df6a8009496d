// The bug that would go unseen without this file: device times of two devices, which share no clock, merged into one.
#include "program.hpp"

#include <streamgauge/measure/span.hpp>

#include "device.cuh"

using sg::absence;

// A few ms more than the spin: the host's gaps between a stamp, a change of the current device and a launch.
constexpr std::int64_t most_above = 4'000'000;

sg::series row_of(sg::recording const& taken, std::string_view phase, std::vector<sg::condition> const& under) {
  for (sg::series const& each : taken.all)
    if (each.phase == phase && each.conditions == under) return each;
  return {};
}

void use(int device) { sg::check(cudaSetDevice(device), "cudaSetDevice"); }

struct both_devices {
  both_devices() {
    for (int const device : {1, 0}) {
      use(device);
      warm_up();
    }
  }
};

struct on_device {
  explicit on_device(int device) { use(device); }
};

// A stream and clocks of one device, made while that device is current.
struct one_device : on_device {
  explicit one_device(int device) : on_device{device}, ordinal{device}, clocks{1} {}

  void spin_for(std::uint64_t length) const {
    use(ordinal);
    spin<<<1, 1, 0, stream>>>(length, clocks.at(0));
  }
  [[nodiscard]] kernel_clock read() const {
    use(ordinal);
    return clocks.read()[0];
  }

  int ordinal;
  test_stream stream;
  kernel_clocks clocks;
};

TEST_CASE("one phase over two devices has an interval on each, no device time in common, and a completion of all") {
  both_devices const warm;
  one_device const zero{0};
  one_device const one{1};
  sg::recorder recorder{sg::mode::time};
  sg::phase const whole{recorder, "whole"};
  sg::phase const part{recorder, "part"};
  constexpr std::size_t rounds = 10;
  std::vector<kernel_clock> own_zero;
  std::vector<kernel_clock> own_one;
  for (std::size_t i = 0; i < rounds; ++i) {
    use(static_cast<int>(i % 2));  // whichever is current
    {
      sg::span both{whole};
      {
        auto branch = both.branch(zero.stream, part);
        zero.spin_for(10 * ms);
      }
      {
        auto branch = both.branch(one.stream, part);
        one.spin_for(30 * ms);
      }
      both.wait(sg::wait_policy::spin);
      CHECK(cudaStreamQuery(zero.stream) == cudaSuccess);
      CHECK(cudaStreamQuery(one.stream) == cudaSuccess);
    }
    own_zero.push_back(zero.read());
    own_one.push_back(one.read());
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  CHECK(cudaGetLastError() == cudaSuccess);
  auto const common = row_of(taken, "whole", {});
  auto const on_zero = row_of(taken, "whole", {{"device", "0"}});
  auto const on_one = row_of(taken, "whole", {{"device", "1"}});
  auto const branches = series_of(taken, "part");
  REQUIRE(common.samples.size() == rounds);
  REQUIRE(on_zero.samples.size() == rounds);
  REQUIRE(on_one.samples.size() == rounds);
  REQUIRE(branches.samples.size() == 2 * rounds);
  std::vector<std::int64_t> completions;
  for (std::size_t i = 0; i < rounds; ++i) {
    CHECK(common.samples[i].device.why_absent() == absence::several_devices);
    REQUIRE(common.samples[i].completion.known());
    completions.push_back(common.samples[i].completion.value()->count());
    CHECK(completions.back() >= 30'000'000);
    CHECK(device_ns(on_zero.samples[i]) >= own_zero[i].ns());
    CHECK(device_ns(on_one.samples[i]) >= own_one[i].ns());
    CHECK(device_ns(branches.samples[2 * i]) >= own_zero[i].ns());
    CHECK(device_ns(branches.samples[2 * i + 1]) >= own_one[i].ns());
    CHECK(on_zero.samples[i].span != 0);
    CHECK(on_zero.samples[i].span != on_one.samples[i].span);
    CHECK(branches.samples[2 * i].span == on_zero.samples[i].span);
    CHECK(branches.samples[2 * i + 1].span == on_one.samples[i].span);
  }
  if (watched()) return;
  std::vector<std::int64_t> zeros;
  std::vector<std::int64_t> ones;
  for (sg::sample const& each : on_zero.samples) zeros.push_back(device_ns(each));
  for (sg::sample const& each : on_one.samples) ones.push_back(device_ns(each));
  std::printf("10 ms on device 0, 30 on device 1, median us: %lld, %lld, completion %lld\n",
              static_cast<long long>(median_of(zeros) / 1000), static_cast<long long>(median_of(ones) / 1000),
              static_cast<long long>(median_of(completions) / 1000));
  CHECK(median_of(zeros) <= 10'000'000 + most_above);
  CHECK(median_of(ones) <= 30'000'000 + most_above);
  CHECK(median_of(completions) < 38'000'000);  // one after the other they would take 40
}

TEST_CASE("a copy from device to device is timed on the stream that it was queued on") {
  both_devices const warm;
  constexpr std::size_t bytes = std::size_t{64} << 20;
  use(1);
  device_values<unsigned char> const target{bytes};
  one_device const zero{0};
  device_values<unsigned char> const source{bytes};
  sg::check(cudaMemset(source.at(0), 0x5a, bytes), "cudaMemset");
  sg::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  // Without peer access the runtime goes through the host; the copy is the same, and slower.
  int peers = 0;
  sg::check(cudaDeviceCanAccessPeer(&peers, 0, 1), "cudaDeviceCanAccessPeer");
  if (peers != 0 && cudaDeviceEnablePeerAccess(1, 0) != cudaSuccess) static_cast<void>(cudaGetLastError());
  sg::recorder recorder{sg::mode::time};
  sg::phase const copy{recorder, "copy", sg::warmup{2}};
  for (int i = 0; i < 20; ++i) {
    auto scope = copy.enter(zero.stream);
    sg::check(cudaMemcpyPeerAsync(target.at(0), 1, source.at(0), 0, bytes, zero.stream), "cudaMemcpyPeerAsync");
    scope.wait(sg::wait_policy::spin);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  std::vector<std::int64_t> took;
  for (sg::sample const& each : series_of(taken, "copy").samples) {
    took.push_back(device_ns(each));
    // 64 MiB at 1 TB/s, more than any link between two devices carries: a copy that takes less was not timed.
    CHECK(took.back() >= static_cast<std::int64_t>(bytes / 1000));
    CHECK(each.completion.value()->count() + 100'000 >= took.back());
  }
  std::printf("a copy of 64 MiB from device 0 to 1, peer access %s: median %lld us\n", peers ? "yes" : "no",
              static_cast<long long>(median_of(took) / 1000));
  use(1);
  auto const arrived = target.read();
  CHECK(std::count(arrived.begin(), arrived.end(), static_cast<unsigned char>(0x5a)) == static_cast<long>(bytes));
  use(0);
}

TEST_CASE("a branch of another device than a joined span's origin is refused, and nothing else is harmed") {
  both_devices const warm;
  one_device const zero{0};
  one_device const one{1};
  sg::recorder recorder{sg::mode::time};
  sg::phase const whole{recorder, "whole"};
  sg::phase const near{recorder, "near"};
  sg::phase const far{recorder, "far"};
  {
    sg::span both{whole, sg::joined, zero.stream};
    {
      auto branch = both.branch(zero.stream, near);
      zero.spin_for(2 * ms);
    }
    {
      auto branch = both.branch(one.stream, far);
      one.spin_for(2 * ms);
    }
  }
  CHECK(cudaPeekAtLastError() == cudaSuccess);
  auto const own_zero = zero.read();
  auto const own_one = one.read();
  CHECK(own_zero.ns() >= 2'000'000);
  CHECK(own_one.ns() >= 2'000'000);
  {
    sg::span again{whole, sg::joined, zero.stream};
    auto branch = again.branch(zero.stream, near);
    zero.spin_for(3 * ms);
  }
  { auto alone = far.enter(one.stream); }
  auto const taken = recorder.collect();
  auto const seen = series_of(taken, "whole");
  REQUIRE(seen.samples.size() == 2);
  CHECK(seen.samples[0].device.why_absent() == absence::other_device);
  CHECK(device_ns(seen.samples[1]) >= 3'000'000);
  auto const here = series_of(taken, "near");
  REQUIRE(here.samples.size() == 2);
  CHECK(device_ns(here.samples[0]) >= own_zero.ns());
  auto const there = series_of(taken, "far");
  REQUIRE(there.samples.size() == 2);
  CHECK(there.samples[0].device.why_absent() == absence::other_device);
  CHECK(there.samples[0].submit.known());
  CHECK(there.samples[1].device.known());
  CHECK(taken.problems.empty());
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

int main(int argc, char** argv) { return run_program(argc, argv, 2); }
