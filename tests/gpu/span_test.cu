// The bug that would go unseen without this file: a span that reads more than its branches need, that misplaces them, or
// that changes when the program's own work runs.
#include "program.hpp"

#include <streamgauge/measure/span.hpp>

#include "device.cuh"

using sg::absence;

constexpr std::size_t rounds = 200;

// An event pair around one kernel reads about 3 us more than the kernel's own clock, and waiting for the store of that
// clock to reach memory up to 2 us (spin_test); another stream's commands beside it may cost the rest. A branch by itself
// is such a pair.
constexpr std::int64_t most_above_branch = 8'000;
// The wall has an edge from stream to stream at its begin and, joined, another at its end, some 2 to 4 us each. Captured,
// with both edges, 50 beside 200 us read 206.4 us. A span that ran its branches one after the other would read 60 us more.
constexpr std::int64_t most_above_wall = 18'000;
// Each branch's start event lies a few us before its kernel's start; only the difference of the two counts here.
constexpr std::int64_t most_apart = 6'000;

struct timed_round {
  kernel_clock first;  // of the kernel in the branch that was entered first
  kernel_clock second;
  sg::sample whole;
  sg::sample first_branch;
  sg::sample second_branch;
};

// Whether the device was still busy ahead when the host had queued all of a round; otherwise the round holds the host's
// delays. Under a tool few rounds may be left, and then the times are not compared.
struct measured {
  std::vector<timed_round> all;
  std::vector<bool> in_time;

  [[nodiscard]] bool enough() const {
    auto const count = static_cast<std::size_t>(std::count(in_time.begin(), in_time.end(), true));
    if (count < rounds / 2 && watched()) {
      MESSAGE("under a tool the host cannot queue fast enough; upper bounds were not checked");
      return false;
    }
    REQUIRE(count >= rounds / 2);
    return !watched();
  }
  template <class Value>
  [[nodiscard]] std::int64_t median(Value value) const {
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (in_time[i]) values.push_back(value(all[i]));
    return median_of(values);
  }
};

// `queue(span phase, first, second, clock of the first, clock of the second)` queues one round behind `busy` us on the
// first stream and leaves the join of both to the caller: here both streams are waited for.
template <class Queue>
measured measure(test_stream const& a, test_stream const& b, std::uint64_t busy_a, std::uint64_t busy_b, Queue queue) {
  kernel_clocks const clocks{2 * rounds};
  sg::recorder recorder{sg::mode::time};
  sg::phase const whole{recorder, "whole"};
  sg::phase const first{recorder, "first"};
  sg::phase const second{recorder, "second"};
  test_event const ahead;
  measured seen;
  {
    // A thread's first phases make their events.
    sg::span warm{whole, sg::joined, a};
    { auto part = warm.branch(a, first); }
    { auto part = warm.branch(b, second); }
  }
  a.synchronize();
  for (std::size_t i = 0; i < rounds; ++i) {
    spin<<<1, 1, 0, a>>>(busy_a * us, nullptr);
    if (busy_a < busy_b || busy_b == 0) ahead.record(a);
    if (busy_b > 0) spin<<<1, 1, 0, b>>>(busy_b * us, nullptr);
    if (busy_b > 0 && busy_b <= busy_a) ahead.record(b);
    queue(whole, first, second, clocks.at(2 * i), clocks.at(2 * i + 1));
    seen.in_time.push_back(cudaEventQuery(ahead) == cudaErrorNotReady);
    a.synchronize();
    b.synchronize();
  }
  CHECK(cudaGetLastError() == cudaSuccess);
  auto const taken = recorder.collect();
  auto const own = clocks.read();
  CHECK(taken.problems.empty());
  REQUIRE(series_of(taken, "whole").samples.size() == rounds + 1);
  for (std::size_t i = 0; i < rounds; ++i) {
    seen.all.push_back({own[2 * i], own[2 * i + 1], series_of(taken, "whole").samples.at(i + 1),
                        series_of(taken, "first").samples.at(i + 1), series_of(taken, "second").samples.at(i + 1)});
  }
  return seen;
}

std::int64_t begin_ns(sg::sample const& from) {
  INFO("not placed: ", sg::describe(from.begins.why_absent()));
  REQUIRE(from.begins.known());
  return from.begins.value()->count();
}

// How much of the device's time the kernels of a round took together, by their own clocks.
std::int64_t own_wall(timed_round const& one) {
  auto const begin = (std::min)(one.first.start, one.second.start);
  return static_cast<std::int64_t>((std::max)(one.first.stop, one.second.stop) - begin);
}

std::int64_t own_difference(timed_round const& one) {
  return static_cast<std::int64_t>(one.second.start) - static_cast<std::int64_t>(one.first.start);
}

// What holds in each round, whatever the host was held up by: nothing is below the kernels' own clocks.
void check_each(measured const& seen) {
  for (timed_round const& one : seen.all) {
    CHECK(device_ns(one.whole) >= own_wall(one));
    CHECK(device_ns(one.first_branch) >= one.first.ns());
    CHECK(device_ns(one.second_branch) >= one.second.ns());
    CHECK(one.whole.part == sg::span_part::whole);
    CHECK(one.first_branch.part == sg::span_part::branch);
    CHECK(one.whole.span != 0);
    CHECK(one.first_branch.span == one.whole.span);
    CHECK(one.second_branch.span == one.whole.span);
    CHECK((std::min)(begin_ns(one.first_branch), begin_ns(one.second_branch)) >= 0);
    CHECK(begin_ns(one.first_branch) + device_ns(one.first_branch) <= device_ns(one.whole) + 64);
    CHECK(begin_ns(one.second_branch) + device_ns(one.second_branch) <= device_ns(one.whole) + 64);
  }
}

// Prints the medians above the kernels' own clocks, and how far the begins are off.
void print_above(char const* title, measured const& seen) {
  std::printf(
      "%s, median ns above the kernels' own clocks: wall %lld, first branch %lld, second %lld; the begins differ "
      "from the kernels' by %lld; wall %lld\n",
      title, static_cast<long long>(seen.median([](auto const& one) { return device_ns(one.whole) - own_wall(one); })),
      static_cast<long long>(seen.median([](auto const& one) { return device_ns(one.first_branch) - one.first.ns(); })),
      static_cast<long long>(
          seen.median([](auto const& one) { return device_ns(one.second_branch) - one.second.ns(); })),
      static_cast<long long>(seen.median([](auto const& one) {
        return begin_ns(one.second_branch) - begin_ns(one.first_branch) - own_difference(one);
      })),
      static_cast<long long>(seen.median([](auto const& one) { return device_ns(one.whole); })));
}

void check_placed(measured const& seen) {
  CHECK(seen.median([](auto const& one) {
    return std::abs(begin_ns(one.second_branch) - begin_ns(one.first_branch) - own_difference(one));
  }) <= most_apart);
}

void check_60_beside_90(measured const& seen) {
  check_each(seen);
  for (timed_round const& one : seen.all) {
    CHECK(device_ns(one.whole) >= 90'000);
    CHECK(device_ns(one.first_branch) >= 60'000);
    CHECK(device_ns(one.second_branch) >= 90'000);
  }
  if (!seen.enough()) return;
  CHECK(seen.median([](auto const& one) { return device_ns(one.whole); }) <= 90'000 + most_above_wall);
  CHECK(seen.median([](auto const& one) { return device_ns(one.first_branch); }) <= 60'000 + most_above_branch);
  CHECK(seen.median([](auto const& one) { return device_ns(one.second_branch); }) <= 90'000 + most_above_branch);
  check_placed(seen);
}

TEST_CASE(
    "case-17: 60 beside 90 us, forked and joined by a span: the wall is the longer one, the branches are their "
    "kernels") {
  warm_up();
  test_stream const origin;
  test_stream const side;
  auto const seen = measure(origin, side, 300, 0, [&](auto& whole, auto& first, auto& second, auto* one, auto* other) {
    sg::span both{whole, sg::joined, origin};
    {
      auto part = both.branch(origin, first);
      spin<<<1, 1, 0, origin>>>(60 * us, one);
    }
    {
      auto part = both.branch(side, second);
      spin<<<1, 1, 0, side>>>(90 * us, other);
    }
  });
  print_above("60 beside 90 us, joined", seen);
  check_60_beside_90(seen);
}

TEST_CASE("the same observed only, forked and joined by the program's own events") {
  warm_up();
  test_stream const origin;
  test_stream const side;
  test_event const fork;
  test_event const join;
  auto const seen = measure(origin, side, 300, 0, [&](auto& whole, auto& first, auto& second, auto* one, auto* other) {
    fork.record(origin);
    {
      sg::span both{whole};
      {
        auto part = both.branch(origin, first);
        spin<<<1, 1, 0, origin>>>(60 * us, one);
      }
      fork.hold(side);
      {
        auto part = both.branch(side, second);
        spin<<<1, 1, 0, side>>>(90 * us, other);
      }
    }
    join.record(side);
    join.hold(origin);
  });
  print_above("60 beside 90 us, observed", seen);
  check_60_beside_90(seen);
}

TEST_CASE("a branch that begins before the one that was entered first is placed before it") {
  warm_up();
  test_stream const late;
  test_stream const early;
  // The branch that is entered first waits behind 600 us, the other one behind 200.
  auto const seen = measure(late, early, 600, 200, [&](auto& whole, auto& first, auto& second, auto* one, auto* other) {
    sg::span both{whole};
    {
      auto part = both.branch(late, first);
      spin<<<1, 1, 0, late>>>(60 * us, one);
    }
    {
      auto part = both.branch(early, second);
      spin<<<1, 1, 0, early>>>(60 * us, other);
    }
  });
  print_above("the second branch begins first", seen);
  check_each(seen);
  if (!seen.enough()) return;
  check_placed(seen);
  for (std::size_t i = 0; i < rounds; ++i) {
    if (!seen.in_time[i]) continue;
    CHECK(begin_ns(seen.all[i].second_branch) == 0);
    // 400 us by the program; the host needs a few of them between the two launches ahead.
    CHECK(begin_ns(seen.all[i].first_branch) >= 300'000);
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
