#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

// Fresh series with a known answer: random class, length, noise, size of the change and width of the clock's tick. The
// transforms are our own, because the distributions of <random> differ from one standard library to the next.

namespace steady_draws {

/// The first ten are drawn for the score, the last four are what a GPU's clock and a slow leak look like.
enum class shape {
  flat,
  head,
  step,
  two_steps,
  exponential,
  late,
  drift,
  excursion,
  short_cycle,
  long_cycle,
  random_walk,
  early_clock_step,
  late_clock_step,
  slow_growth
};
inline constexpr int scored_shapes = 10;
inline constexpr int shape_count = 14;
inline constexpr char const* shape_names[shape_count] = {"flat",
                                                         "head",
                                                         "step",
                                                         "two_steps",
                                                         "exponential",
                                                         "late",
                                                         "drift",
                                                         "excursion",
                                                         "short_cycle",
                                                         "long_cycle",
                                                         "random_walk",
                                                         "early_clock_step",
                                                         "late_clock_step",
                                                         "slow_growth"};

enum class noise { gauss, skew, heavy, autoregressive, bimodal, spikes };
inline constexpr int noise_count = 6;
inline constexpr char const* noise_names[noise_count] = {"gauss", "skew", "heavy", "ar", "bimodal", "spikes"};

/// One series and what is true of it.
struct draw {
  std::vector<std::int64_t> values;
  shape of = shape::flat;
  noise under = noise::gauss;
  bool never = false;     ///< it never is steady; otherwise the start lies between the two below
  double earliest = 0.0;  ///< inclusive
  double latest = 0.0;    ///< inclusive
};

class source {
 public:
  explicit source(std::uint64_t seed) : engine_{seed} {}

  double uniform() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in the logarithm.
  double spread(double low, double high) { return std::exp(uniform(std::log(low), std::log(high))); }
  int below(int count) { return static_cast<int>(uniform() * count); }
  double exponential() { return -std::log(1.0 - uniform()); }

  /// Box and Muller, both halves used.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double const radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
    double const angle = 6.283185307179586 * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

 private:
  std::mt19937_64 engine_;
  double spare_ = 0.0;
  bool has_spare_ = false;
};

/// Independent streams for neighbouring numbers: the finaliser of splitmix64, one round for each.
inline std::uint64_t seed_of(std::uint64_t set, std::uint64_t shape, std::uint64_t number) {
  std::uint64_t state = 0;
  for (std::uint64_t const part : {set, shape, number}) {
    state += part + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    state ^= state >> 31;
  }
  return state;
}

/// Factors around 1, of relative size `size`.
inline std::vector<double> factors(source& random, std::size_t count, noise kind, double size) {
  std::vector<double> found(count);
  double state = 0.0;
  for (std::size_t i = 0; i < count; ++i) {
    switch (kind) {
      case noise::gauss: found[i] = std::exp(size * random.normal()); break;
      case noise::skew: found[i] = 1.0 - size + size * random.exponential() + 0.1 * size * random.normal(); break;
      case noise::heavy: found[i] = 1.0 + size * (std::pow(1.0 - random.uniform(), -1.0 / 1.5) - 1.0); break;
      case noise::autoregressive:
        state = i == 0 ? random.normal() : 0.8 * state + 0.6 * random.normal();
        found[i] = std::exp(size * state);
        break;
      case noise::bimodal:
        found[i] = (random.uniform() < 0.3 ? 1.0 + 8.0 * size : 1.0) * std::exp(0.5 * size * random.normal());
        break;
      case noise::spikes:
        found[i] = std::exp(size * random.normal());
        if (random.uniform() < 0.03) found[i] *= 1.0 + 9.0 * random.uniform();
        break;
    }
  }
  return found;
}

/// How long a scored shape may be.
struct lengths {
  double shortest;
  double longest;
};

/// The draw of this number in a set. The same numbers always give the same series.
inline draw make(std::uint64_t set, shape of, std::uint64_t number, lengths within = {60.0, 5000.0}) {
  source random{seed_of(set, static_cast<std::uint64_t>(of), number)};
  auto const larger = [](double a, double b) { return a < b ? b : a; };
  auto const size = static_cast<std::size_t>(of == shape::slow_growth  ? random.spread(1500.0, 5000.0)
                                             : of < shape::random_walk ? random.spread(within.shortest, within.longest)
                                                                       : random.spread(200.0, 5000.0));
  auto const n = static_cast<double>(size);
  draw found;
  found.of = of;
  found.under = static_cast<noise>(random.below(noise_count));
  double const spread = of == shape::slow_growth  ? random.spread(0.03, 0.06)
                        : of > shape::random_walk ? random.spread(0.001, 0.005)
                                                  : random.spread(0.002, 0.02);
  double const change = larger(0.03, 6.0 * spread) * std::exp(random.uniform(0.0, 1.5));
  std::vector<double> base(size, 1.0);
  auto const part = [n](double share) { return static_cast<std::size_t>(share * n); };
  auto const set_range = [&base](std::size_t first, std::size_t last, double level) {
    for (std::size_t i = first; i < last && i < base.size(); ++i) base[i] = level;
  };
  auto const starts_at = [&found, n, larger](std::size_t start) {
    found.earliest = static_cast<double>(start) - larger(2.0, 0.01 * n);
    found.latest = static_cast<double>(start) + larger(3.0, 0.05 * n);
  };
  constexpr double turn = 6.283185307179586;
  switch (of) {
    case shape::flat: found.latest = larger(3.0, 0.05 * n); break;
    case shape::head: {
      auto const slow = static_cast<std::size_t>(1 + random.below(4));
      for (std::size_t i = 0; i < slow; ++i) base[i] = 1.0 + random.spread(0.8, 50.0);
      found.earliest = static_cast<double>(slow) - 1.0;
      found.latest = static_cast<double>(slow) + larger(3.0, 0.05 * n);
      break;
    }
    case shape::step: {
      auto const at = part(random.uniform(0.05, 0.4));
      set_range(0, at, 1.0 + change * (random.below(4) == 3 ? -0.6 : 1.0));
      starts_at(at);
      break;
    }
    case shape::two_steps: {
      auto const second = part(random.uniform(0.15, 0.4));
      auto const first = static_cast<std::size_t>(static_cast<double>(second) * random.uniform(0.2, 0.7));
      set_range(0, second, 1.0 + change);
      set_range(0, first, 1.0 + change * random.uniform(1.8, 4.0));
      starts_at(second);
      break;
    }
    case shape::exponential: {
      double const tau = random.uniform(0.01, 0.08) * n;
      for (std::size_t i = 0; i < size; ++i)
        base[i] = 1.0 + larger(change, 0.1) * std::exp(-static_cast<double>(i) / tau);
      auto const falls_below = [&base](double limit) {
        std::size_t i = 0;
        while (i < base.size() && base[i] - 1.0 >= limit) ++i;
        return static_cast<double>(i < base.size() ? i : 0);
      };
      found.earliest = falls_below(larger(0.025, 1.5 * spread));
      found.latest = falls_below(0.01) + larger(5.0, 0.08 * n);
      break;
    }
    case shape::late:
      set_range(part(random.uniform(0.58, 0.92)), size, 1.0 + change);
      found.never = true;
      break;
    case shape::drift: {
      double const sign = random.below(2) == 0 ? 1.0 : -1.0;
      double const rise = sign * larger(0.05, 4.0 * spread) * std::exp(random.uniform(0.0, 1.0));
      for (std::size_t i = 0; i < size; ++i) base[i] = 1.0 + rise * static_cast<double>(i) / n;
      found.never = true;
      break;
    }
    case shape::excursion: {
      auto const at = part(random.uniform(0.35, 0.6));
      set_range(at, at + part(random.uniform(0.15, 0.3)), 1.0 + change);
      found.never = true;
      break;
    }
    case shape::short_cycle: {
      double const period = random.uniform(8.0, larger(9.0, n / 25.0));
      double const phase = random.uniform(0.0, 6.0);
      for (std::size_t i = 0; i < size; ++i)
        base[i] = 1.0 + 0.04 * std::sin(turn * static_cast<double>(i) / period + phase);
      found.latest = larger(3.0, 0.08 * n);
      break;
    }
    case shape::long_cycle: {
      double const period = random.uniform(0.4, 0.8) * n;
      double const phase = random.uniform(0.0, 6.0);
      for (std::size_t i = 0; i < size; ++i)
        base[i] = 1.0 + larger(0.05, 5.0 * spread) * std::sin(turn * static_cast<double>(i) / period + phase);
      found.never = true;
      break;
    }
    case shape::random_walk: {
      // Drawn until the second half alone wanders by five per cent or by five times the noise.
      double const sway = 2.0 * larger(0.05, 5.0 * spread) / std::sqrt(n);
      for (double range = 0.0; range < larger(0.05, 5.0 * spread);) {
        double level = 1.0;
        double low = 1e9;
        double high = 0.0;
        for (std::size_t i = 0; i < size; ++i) {
          level *= std::exp(sway * random.normal());
          base[i] = level;
          if (i < size / 2) continue;
          low = level < low ? level : low;
          high = larger(level, high);
        }
        range = (high - low) / low;
      }
      found.never = true;
      break;
    }
    case shape::early_clock_step: {
      auto const at = part(random.uniform(0.05, 0.4));
      set_range(0, at, 1.0 + random.uniform(0.015, 0.025) * (random.below(2) == 0 ? 1.0 : -1.0));
      starts_at(at);
      break;
    }
    case shape::late_clock_step:
      set_range(part(random.uniform(0.58, 0.85)), size,
                1.0 + random.uniform(0.015, 0.025) * (random.below(2) == 0 ? 1.0 : -1.0));
      found.never = true;
      break;
    case shape::slow_growth: {
      double const growth = random.uniform(0.04, 0.08);
      for (std::size_t i = 0; i < size; ++i) base[i] = 1.0 + growth * static_cast<double>(i) / n;
      found.never = true;
      break;
    }
  }
  auto const noisy = factors(random, size, found.under, spread);
  constexpr double units[] = {1e4, 1e5, 1e6};
  double const unit = units[random.below(3)];
  found.values.reserve(size);
  for (std::size_t i = 0; i < size; ++i)
    found.values.push_back(static_cast<std::int64_t>(std::floor(unit * base[i] * noisy[i] + 0.5)));
  if (random.uniform() < 0.25 && of < shape::random_walk) {
    std::int64_t const tick = random.below(2) == 0 ? 32 : 512;
    for (auto& value : found.values) {
      value = (value + tick / 2) / tick;
      value = (value < 1 ? 1 : value) * tick;
    }
  }
  return found;
}

}  // namespace steady_draws
