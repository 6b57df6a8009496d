// What it costs to keep a number in bounded memory. No device is needed, so it is judged everywhere: the least of many
// rounds also holds on a machine that others use.

#include <cstddef>
#include <cstdint>
#include <vector>

#include <streamgauge/analyze/collector.hpp>
#include <streamgauge/analyze/number_summary.hpp>

#include "stopwatch.hpp"

namespace sg = streamgauge;

namespace {

constexpr std::size_t block = 65536;
constexpr std::size_t blocks = 16;
constexpr std::size_t rounds = 100;

// Keeps what was done to a collector, though nobody reads it.
template <class Kept>
void keep(Kept const& kept) {
  asm volatile("" ::"r"(&kept) : "memory");
}

template <class Number>
std::chrono::nanoseconds filled(sg::collector& into, std::vector<Number> const& numbers) {
  auto const before = std::chrono::steady_clock::now();
  for (auto const number : numbers) into.add(number);
  keep(into);
  return std::chrono::steady_clock::now() - before;
}

}  // namespace

int main() {
  if (int const skipped = cannot_judge()) return skipped;
  // Durations around 0.1 ms, as a kernel has them, one in sixteen far out; and some of every magnitude.
  std::vector<std::int64_t> usual;
  std::vector<std::int64_t> wide;
  std::uint64_t drawn = 1;
  for (std::size_t i = 0; i < block; ++i) {
    drawn = drawn * 6364136223846793005U + 1442695040888963407U;
    auto const number = static_cast<std::int64_t>(drawn >> 34);
    usual.push_back(drawn >> 60 == 0 ? number : 100'000 + number % 8192);
    wide.push_back(number >> (drawn >> 59));
  }
  std::vector<double> const reals(usual.begin(), usual.end());

  sg::collector of_usual;
  sg::collector of_wide;
  sg::collector of_reals;
  for (std::size_t i = 0; i < blocks; ++i) {
    filled(of_usual, usual);
    filled(of_wide, wide);
    filled(of_reals, reals);
  }
  race adding{block};
  adding.add("std::vector, from nothing", [&] {
    auto const before = std::chrono::steady_clock::now();
    std::vector<std::int64_t> kept;
    for (auto const number : usual) kept.push_back(number);
    keep(kept);
    return std::chrono::steady_clock::now() - before;
  });
  adding.add("collector, from nothing", [&] {
    auto const before = std::chrono::steady_clock::now();
    sg::collector fresh;
    filled(fresh, usual);
    return std::chrono::steady_clock::now() - before;
  });
  adding.add("collector, from nothing to a million, for each", [&] {
    auto const before = std::chrono::steady_clock::now();
    sg::collector fresh;
    for (std::size_t i = 0; i < blocks; ++i) filled(fresh, usual);
    return (std::chrono::steady_clock::now() - before) / static_cast<int>(blocks);
  });
  adding.add("collector, thinned before", [&] { return filled(of_usual, usual); });
  adding.add("collector, thinned before, every magnitude", [&] { return filled(of_wide, wide); });
  adding.add("collector, thinned before, doubles", [&] { return filled(of_reals, reals); });
  adding.run(rounds);
  adding.print("keeping a number, ns each");

  bounds held;
  auto const within = [&](char const* name, double limit) { held.at_most(adding.of(name).least(), limit, "ns", name); };
  // 5 ns, or what a vector takes for each number from nothing on, where the machine is slower than that.
  double const vector = adding.of("std::vector, from nothing").least();
  double const limit = vector > 5.0 ? vector : 5.0;
  within("collector, from nothing to a million, for each", limit);
  within("collector, thinned before", limit);
  within("collector, thinned before, every magnitude", limit);
  // Up to 65,536 numbers most of the time is the system's, which hands out pages that nobody had: as for a vector.
  held.at_most(adding.difference("collector, from nothing", "std::vector, from nothing").median(), 5.0, "ns",
               "collector, from nothing, beyond a vector");

  // The whole of a summary: steady state, quantiles, intervals, spread, outliers, drift.
  std::vector<std::int64_t> million;
  for (std::size_t i = 0; i < 1'000'000; ++i) million.push_back(100'000 + usual[i % block] % 3000);
  race summarising{1};
  summarising.add("a million numbers", [&] {
    auto const before = std::chrono::steady_clock::now();
    auto const found = sg::summarize(million);
    keep(found);
    return std::chrono::steady_clock::now() - before;
  });
  summarising.run(5);
  held.at_most(summarising.of("a million numbers").least() / 1e6, 250.0, "ms", "summarising a million numbers");
  return held.exit_code();
}
