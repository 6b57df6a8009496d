#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge {

/// Numbers that were seen, each once and in order, so that each has a place among them.
/// Why: threads and spans are numbered from 0, but a file may hold any number. What is made as large as the largest one takes
/// all memory for a single sample.
/// A template, so that only a unit that calls it compiles its bodies.
template <class Number = std::uint32_t>
class number_places {
 public:
  explicit number_places(std::vector<Number> seen) : all_{std::move(seen)} {
    put_in_order(all_, [](Number a, Number b) { return a < b; });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); ++i)
      if (i == 0 || all_[i] != all_[i - 1]) all_[kept++] = all_[i];
    all_.resize(kept);
  }

  [[nodiscard]] std::size_t size() const noexcept { return all_.size(); }
  /// The number at a place.
  [[nodiscard]] Number operator[](std::size_t place) const noexcept { return all_[place]; }
  /// The place of a number. Requires: it was seen.
  [[nodiscard]] std::size_t of(Number number) const {
    return partition_index(all_.size(), [&](std::size_t i) { return all_[i] < number; });
  }

 private:
  std::vector<Number> all_;
};

}  // namespace streamgauge
