// The bug that would go unseen without this file: observing that makes streams wait for each other, or a join that lets in
// what it should keep out.
#include "program.hpp"

#include <streamgauge/measure/span.hpp>

#include "device.cuh"

using sg::absence;

// The host's time from the first launch until both streams are done, the median of several: 10 ms beside 10 ms take 10,
// one after the other 20.
template <class Body>
std::int64_t until_done(test_stream const& a, test_stream const& b, Body body) {
  std::vector<std::int64_t> took;
  for (int i = 0; i < 11; ++i) {
    auto const before = sg::host_now();
    body();
    a.synchronize();
    b.synchronize();
    took.push_back((sg::host_now() - before).count());
  }
  return median_of(took);
}

void spin_ten(cudaStream_t stream) { spin<<<1, 1, 0, stream>>>(10 * ms, nullptr); }

TEST_CASE("case-14: two streams of 10 ms each overlap under an observed span as they do without one") {
  warm_up();
  unsigned int kind = cudaStreamNonBlocking;
  SUBCASE("non-blocking streams") {}
  SUBCASE("blocking streams") { kind = cudaStreamDefault; }
  test_stream const a{kind};
  test_stream const b{kind};
  sg::recorder recorder{sg::mode::time};
  sg::phase const whole{recorder, "whole"};
  sg::phase const part{recorder, "part"};
  static_cast<void>(recorder.collect());
  auto const bare = until_done(a, b, [&] {
    spin_ten(a);
    spin_ten(b);
  });
  auto const branches = until_done(a, b, [&] {
    sg::span both{whole};
    {
      auto one = both.branch(a, part);
      spin_ten(a);
    }
    {
      auto other = both.branch(b, part);
      spin_ten(b);
    }
  });
  auto const listed = until_done(a, b, [&] {
    sg::span both{whole, {a, b}};
    spin_ten(a);
    spin_ten(b);
  });
  auto const one_of_them = until_done(a, b, [&] {
    auto scope = part.enter(a);
    spin_ten(a);
    spin_ten(b);
  });
  auto const joined = until_done(a, b, [&] {
    sg::span both{whole, sg::joined, a};
    spin_ten(a);
    {
      auto other = both.branch(b, part);
      spin_ten(b);
    }
  });
  std::printf(
      "10 beside 10 ms, host us until done: bare %lld, branches %lld, listed %lld, one of them timed %lld, joined "
      "%lld\n",
      static_cast<long long>(bare / 1000), static_cast<long long>(branches / 1000),
      static_cast<long long>(listed / 1000), static_cast<long long>(one_of_them / 1000),
      static_cast<long long>(joined / 1000));
  for (auto const took : {bare, branches, listed, one_of_them, joined}) {
    CHECK(took >= 10'000'000);
    if (!watched()) CHECK(took < 15'000'000);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  auto const seen = series_of(taken, "whole");
  CHECK(count_of(seen, absence::none) == seen.samples.size());
}

TEST_CASE("case-14: timed on the legacy stream, two blocking streams run one after the other, and the report says so") {
  warm_up();
  test_stream const a{cudaStreamDefault};
  test_stream const b{cudaStreamDefault};
  sg::recorder recorder{sg::mode::time};
  sg::phase const whole{recorder, "whole"};
  sg::phase const part{recorder, "part"};
  std::int64_t took = 0;
  SUBCASE("by a branch") {
    took = until_done(a, b, [&] {
      sg::span both{whole};
      {
        auto one = both.branch(a, part);
        spin_ten(a);
      }
      {
        auto other = both.branch(cudaStreamLegacy, part);  // a record on it waits for a, and holds b back
        spin_ten(b);
      }
    });
  }
  SUBCASE("by a phase") {
    took = until_done(a, b, [&] {
      spin_ten(a);
      auto other = part.enter(cudaStreamLegacy);
      spin_ten(b);
    });
  }
  CHECK(took >= 19'000'000);
  auto const taken = recorder.collect();
  CHECK(problems_with(taken, "legacy default stream") >= 1);
  CHECK(problems_with(taken, "name the stream that the work runs on") >= 1);
}

// 3 ms wait on the side stream, none on the origin. The wall of what follows is 90 us and the two edges, as in span_test.
TEST_CASE("a backlog on a side stream is in a joined span, and not in an isolated one") {
  warm_up();
  test_stream const origin;
  test_stream const side;
  kernel_clocks const clocks{2};
  sg::recorder recorder{sg::mode::time};
  sg::phase const joined{recorder, "joined"};
  sg::phase const isolated{recorder, "isolated"};
  sg::phase const part{recorder, "part"};
  auto const body = [&](sg::span& both) {
    spin<<<1, 1, 0, origin>>>(60 * us, clocks.at(0));
    auto other = both.branch(side, part);
    spin<<<1, 1, 0, side>>>(90 * us, clocks.at(1));
  };
  for (int i = 0; i < 40; ++i) {
    spin<<<1, 1, 0, side>>>(3 * ms, nullptr);
    {
      sg::span both{joined, sg::joined, origin};
      body(both);
    }
    origin.synchronize();
    side.synchronize();
    spin<<<1, 1, 0, side>>>(3 * ms, nullptr);
    {
      sg::span both{isolated, sg::isolated, origin, {side}};
      body(both);
      // The kernel on the origin began behind the backlog too: that is what isolated means.
    }
    origin.synchronize();
    side.synchronize();
    auto const own = clocks.read();
    auto const wall =
        static_cast<std::int64_t>((std::max)(own[0].stop, own[1].stop) - (std::min)(own[0].start, own[1].start));
    CHECK(device_ns(series_of(recorder.collect(), "isolated").samples.back()) >= wall);
  }
  auto const taken = recorder.collect();
  CHECK(taken.problems.empty());
  std::vector<std::int64_t> with;
  std::vector<std::int64_t> without;
  for (sg::sample const& each : series_of(taken, "joined").samples) with.push_back(device_ns(each));
  for (sg::sample const& each : series_of(taken, "isolated").samples) without.push_back(device_ns(each));
  std::printf("90 us behind a backlog of 3 ms, median us: joined %lld, isolated %lld\n",
              static_cast<long long>(median_of(with) / 1000), static_cast<long long>(median_of(without) / 1000));
  CHECK(*std::min_element(without.begin(), without.end()) >= 90'000);
  if (watched()) return;
  // The host takes some ten us from the backlog's launch to the span.
  CHECK(median_of(with) >= 2'000'000);
  CHECK(median_of(without) <= 90'000 + 25'000);
}

int main(int argc, char** argv) { return run_program(argc, argv); }
