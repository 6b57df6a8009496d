#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge {

/// Counts numbers in buckets as wide as the numbers are large: 1024 an octave, and below 2048 one for each number.
/// Why: quantiles of any count of numbers from bounded memory; and histograms add, so parts of a whole merge exactly.
/// A sketch that bounds the error of the rank says nothing about the value in a long tail; this one bounds the value's.
///
/// Shape: 8 KiB for each octave in which a number was seen, 54 octaves at most. Counts have 64 bits: narrow ones that
/// widen would halve what is already small (a series lies in one to four octaves) and test every addition for the end.
/// Throws: only `std::bad_alloc`, and only copying does.
class histogram {
 public:
  static constexpr std::size_t buckets_per_octave = 1024;
  static constexpr std::size_t octave_count = 54;  ///< the first holds 0 to 1023, the last ends with the largest number

  /// Numbers that are not told apart: from `first`, so many beside each other.
  struct bucket {
    std::int64_t first;
    std::int64_t width;
    std::uint64_t count;
  };

  histogram() = default;
  histogram(histogram const& other) : histogram() {  // delegates, so that the destructor runs if memory ends
    for (std::size_t i = 0; i < octave_count; ++i)
      if (other.octaves_[i]) octaves_[i] = new octave{*other.octaves_[i]};
    count_ = other.count_;
    minimum_ = other.minimum_;
    maximum_ = other.maximum_;
  }
  histogram(histogram&& other) noexcept : histogram() { swap(other); }
  histogram& operator=(histogram other) noexcept {
    swap(other);
    return *this;
  }
  ~histogram() {
    for (auto* const each : octaves_) delete each;
  }

  /// Counts a number. False for one below zero and where a new octave found no memory; then nothing has changed.
  [[nodiscard]] bool add(std::int64_t number) noexcept {
    auto const at = place_of(number);
    auto* into = octaves_[at / buckets_per_octave];
    if (!into) {
      if (!make_octave(at / buckets_per_octave)) return false;
      into = octaves_[at / buckets_per_octave];
    }
    ++into->counts[at % buckets_per_octave];
    ++count_;
    if (number < minimum_) minimum_ = number;
    if (number > maximum_) maximum_ = number;
    return true;
  }

  /// Counts a number so many times: what was counted elsewhere and written down.
  [[nodiscard, gnu::cold]] bool add(std::int64_t number, std::uint64_t times) noexcept {
    if (times == 0) return true;
    if (!add(number)) return false;
    auto const at = place_of(number);
    octaves_[at / buckets_per_octave]->counts[at % buckets_per_octave] += times - 1;
    count_ += times - 1;
    return true;
  }

  /// Sees to it that adding these cannot fail. False without memory, and for a number below zero.
  [[nodiscard]] bool make_room(std::int64_t number) noexcept {
    auto const index = place_of(number) / buckets_per_octave;
    return octaves_[index] || make_octave(index);
  }
  [[nodiscard]] bool make_room(histogram const& other) noexcept {
    for (std::size_t i = 0; i < octave_count; ++i)
      if (other.octaves_[i] && !octaves_[i] && !make_octave(i)) return false;
    return true;
  }

  /// Adds the counts of another one: the same as if each of its numbers had been added, in any order.
  /// False without memory, and then nothing has changed.
  [[nodiscard]] bool merge(histogram const& other) noexcept {
    if (!make_room(other)) return false;
    for (std::size_t i = 0; i < octave_count; ++i) {
      if (!other.octaves_[i]) continue;
      for (std::size_t k = 0; k < buckets_per_octave; ++k) octaves_[i]->counts[k] += other.octaves_[i]->counts[k];
    }
    count_ += other.count_;
    if (other.minimum_ < minimum_) minimum_ = other.minimum_;
    if (other.maximum_ > maximum_) maximum_ = other.maximum_;
    return true;
  }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::optional<std::int64_t> minimum() const noexcept {
    return count_ > 0 ? std::optional{minimum_} : std::nullopt;
  }
  [[nodiscard]] std::optional<std::int64_t> maximum() const noexcept {
    return count_ > 0 ? std::optional{maximum_} : std::nullopt;
  }

  /// The quantile of type 7, as `quantile` of the numbers themselves would be but for the width of the buckets: within
  /// 1/2048 of it, relative, and exact where the numbers around it are below 2048, or the smallest or largest of all.
  /// Absent without numbers, and for `p` outside 0 to 1.
  [[nodiscard, gnu::cold]] std::optional<double> quantile(double p) const noexcept {
    if (count_ == 0 || !finite(p) || p < 0.0 || p > 1.0) return std::nullopt;
    double const position = static_cast<double>(count_ - 1) * p;
    auto const below = static_cast<std::uint64_t>(position);
    auto const rank = below < count_ ? below : count_ - 1;
    auto const low = at_rank(rank);
    auto const high = at_rank(rank + 1 < count_ ? rank + 1 : rank);
    auto const share = static_cast<long double>(position) - static_cast<long double>(below);
    return static_cast<double>(low + (high - low) * share);
  }

  /// Calls with each bucket that is not empty, from the smallest numbers on.
  template <class Visit>
  void visit(Visit see) const {
    for (std::size_t i = 0; i < octave_count; ++i) {
      if (!octaves_[i]) continue;
      for (std::size_t k = 0; k < buckets_per_octave; ++k)
        if (octaves_[i]->counts[k] > 0) see(bucket_at(i, k));
    }
  }

 private:
  struct octave {
    std::uint64_t counts[buckets_per_octave];
  };

  /// Octave and bucket in one number. Below 2048 nothing is shifted out; above, the eleven leading bits are left.
  static std::size_t place_of(std::int64_t number) noexcept {
    auto const bits = static_cast<std::uint64_t>(number);
    auto const shift = static_cast<std::size_t>(53 - __builtin_clzll(bits | buckets_per_octave));
    return shift * buckets_per_octave + static_cast<std::size_t>(bits >> shift);
  }

  [[nodiscard]] bucket bucket_at(std::size_t index, std::size_t k) const noexcept {
    auto const shift = index > 0 ? index - 1 : 0;
    auto const first = (index > 0 ? buckets_per_octave + k : k) << shift;
    return {static_cast<std::int64_t>(first), std::int64_t{1} << shift, octaves_[index]->counts[k]};
  }

  /// The number at a rank of the sorted order, from the middle of its bucket.
  [[nodiscard]] long double at_rank(std::uint64_t rank) const noexcept {
    if (rank == 0) return static_cast<long double>(minimum_);
    auto const largest = static_cast<long double>(maximum_);
    if (rank == count_ - 1) return largest;
    for (std::size_t i = 0; i < octave_count; ++i) {
      if (!octaves_[i]) continue;
      for (std::size_t k = 0; k < buckets_per_octave; ++k) {
        auto const found = bucket_at(i, k);
        if (rank >= found.count) {
          rank -= found.count;
          continue;
        }
        auto const middle = static_cast<long double>(found.first) + static_cast<long double>(found.width - 1) / 2;
        if (middle < static_cast<long double>(minimum_)) return static_cast<long double>(minimum_);
        return middle < largest ? middle : largest;
      }
    }
    return largest;
  }

  [[nodiscard, gnu::noinline, gnu::cold]] bool make_octave(std::size_t index) noexcept {
    if (index >= octave_count) return false;
    octaves_[index] = new (std::nothrow) octave{};
    return octaves_[index] != nullptr;
  }

  void swap(histogram& other) noexcept {
    std::swap(octaves_, other.octaves_);
    std::swap(count_, other.count_);
    std::swap(minimum_, other.minimum_);
    std::swap(maximum_, other.maximum_);
  }

  octave* octaves_[octave_count + 1] = {};  // the last one stays null: numbers below zero fall there
  std::uint64_t count_ = 0;
  std::int64_t minimum_ = INT64_MAX;  // seen by nobody while there is no number
  std::int64_t maximum_ = 0;
};

}  // namespace streamgauge
