#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <streamgauge/analyze/verdict.hpp>

#include "steady_draws.hpp"

/// Runs whose levels differ from each other by `effect`, of samples that differ by `noise`, both as shares.
inline std::vector<double> run_at(steady_draws::source& random, double level, double effect, std::size_t count = 60, double noise = 0.005) {
  double const own = level * std::exp(effect * random.normal());
  std::vector<double> numbers;
  for (std::size_t i = 0; i < count; ++i) numbers.push_back(own * std::exp(noise * random.normal()));
  return numbers;
}

/// A verdict as it is from the other side.
inline streamgauge::verdict mirrored(streamgauge::verdict what) {
  using streamgauge::verdict;
  return what == verdict::faster ? verdict::slower : what == verdict::slower ? verdict::faster : what;
}

// As many draws as fit into the time that a test may take: all of them where the compiler optimises.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
inline constexpr std::uint64_t draws = 1000;
#else
inline constexpr std::uint64_t draws = 300;
#endif
