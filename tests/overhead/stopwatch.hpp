#pragma once

// Measures short pieces of code against each other. Contenders take turns, so that a machine that grows slower for a
// while slows all of them; noise only ever adds, so the least of many rounds is what a piece costs.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>
#include <vector>

/// What one contender took for each repetition, over all rounds, in nanoseconds.
class timings {
 public:
  void add(double ns) { rounds_.push_back(ns); }
  [[nodiscard]] double at(std::size_t round) const { return rounds_[round]; }
  [[nodiscard]] std::size_t rounds() const { return rounds_.size(); }
  [[nodiscard]] double least() const { return quantile(0.0); }
  [[nodiscard]] double median() const { return quantile(0.5); }
  [[nodiscard]] double quantile(double p) const {
    std::vector<double> sorted = rounds_;
    std::sort(sorted.begin(), sorted.end());
    return sorted[static_cast<std::size_t>(p * static_cast<double>(sorted.size() - 1) + 0.5)];
  }

 private:
  std::vector<double> rounds_;
};

/// Contenders by name. A block runs a piece `repetitions` times; what it returns is its time in all.
class race {
 public:
  explicit race(double repetitions) : repetitions_{repetitions} {}

  void add(std::string name, std::function<std::chrono::nanoseconds()> block) {
    entries_.push_back({std::move(name), std::move(block), {}});
  }
  void run(std::size_t rounds) {
    for (entry& each : entries_) each.block();  // first use is not what is compared
    for (std::size_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < entries_.size(); ++i) {
        entry& each = entries_[(i + round) % entries_.size()];
        each.times.add(static_cast<double>(each.block().count()) / repetitions_);
      }
    }
  }
  [[nodiscard]] timings const& of(std::string const& name) const {
    for (entry const& each : entries_)
      if (each.name == name) return each.times;
    std::printf("no contender is called %s\n", name.c_str());
    std::exit(1);
  }
  /// One contender minus another, round by round: what both have in common cancels.
  [[nodiscard]] timings difference(std::string const& a, std::string const& b) const {
    timings between;
    for (std::size_t i = 0; i < of(a).rounds(); ++i) between.add(of(a).at(i) - of(b).at(i));
    return between;
  }
  void print(char const* title) const {
    std::printf("%-66s %9s %9s %9s %9s\n", title, "least", "p10", "median", "p90");
    for (entry const& each : entries_) {
      std::printf("  %-64s %9.2f %9.2f %9.2f %9.2f\n", each.name.c_str(), each.times.least(), each.times.quantile(0.1),
                  each.times.median(), each.times.quantile(0.9));
    }
  }

 private:
  struct entry {
    std::string name;
    std::function<std::chrono::nanoseconds()> block;
    timings times;
  };
  double repetitions_;
  std::vector<entry> entries_;
};

/// Runs a piece so often, one in each turn of a loop, as ranges and phases stand in a program; says how long it took.
template <class Piece>
[[nodiscard, gnu::noinline]] std::chrono::nanoseconds timed(long repetitions, Piece piece) {
  auto const before = std::chrono::steady_clock::now();
  for (long i = 0; i < repetitions; ++i) piece();
  return std::chrono::steady_clock::now() - before;
}

/// The bounds of a program, each printed with what was found.
class bounds {
 public:
  void at_most(double found, double bound, char const* unit, std::string const& what) {
    bool const holds = found <= bound;
    std::printf("%s  %-62s %9.2f %s, at most %.2f\n", holds ? "held  " : "BROKEN", what.c_str(), found, unit, bound);
    if (!holds) ++broken_;
  }
  [[nodiscard]] int exit_code() const { return broken_ == 0 ? 0 : 1; }

 private:
  int broken_ = 0;
};

/// Whether a tool is attached: then everything costs what the tool makes it cost.
inline bool watched() {
  return std::getenv("NVTX_INJECTION64_PATH") != nullptr || std::getenv("CUDA_INJECTION64_PATH") != nullptr;
}

#if defined(__OPTIMIZE__)
constexpr bool optimised = true;
#else
constexpr bool optimised = false;
#endif

/// Prints why costs cannot be judged in this build or under this tool; 77 is "skipped".
inline int cannot_judge() {
  if (!optimised)
    std::printf("skipped: compiled without optimisation, where costs mean nothing\n");
  else if (watched())
    std::printf("skipped: a tool is attached, and adds its own cost\n");
  else
    return 0;
  return 77;
}
