#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <new>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/plain_array.hpp>
#include <streamgauge/measure/sample_store.hpp>

namespace streamgauge {

/// The older samples of one series in one lane: all of them up to 65,536, then the first ones and an even choice of the
/// others, with what all of them amount to.
/// Shape: pieces that double in size, so growing moves nothing; 4.3 MiB of samples at most.
class sample_shelf {
 public:
  static constexpr std::size_t capacity = 65536;

  explicit sample_shelf(std::uint32_t of) noexcept : series{of} {}
  sample_shelf(sample_shelf const&) = delete;
  sample_shelf& operator=(sample_shelf const&) = delete;
  ~sample_shelf() {
    for (stored_sample* const each : pieces_) delete[] each;
    delete totals_;
  }

  std::uint32_t const series;
  sample_shelf* next = nullptr;

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::uint64_t stride() const noexcept { return stride_; }
  /// Null: it holds every sample, also where totals were begun and the block had no memory after all.
  [[nodiscard]] series_totals const* totals() const noexcept { return stride_ > 1 ? totals_ : nullptr; }
  [[nodiscard]] stored_sample const& operator[](std::size_t at) const noexcept { return *place_of(at); }

  /// A block comes: nothing of it has been announced.
  void begin() noexcept { announced_ = 0; }
  /// Sees to it that `take` cannot fail for this one, with those that were announced before. False without memory.
  /// Why: room for a whole block in each of many series would be a thousand times what they hold.
  [[nodiscard]] bool announce(stored_sample const& one) noexcept {
    std::size_t const needed = size_ + ++announced_;
    for (std::size_t piece = 0; piece < piece_count && begin_of(piece) < needed; ++piece) {
      if (!pieces_[piece]) pieces_[piece] = new (std::nothrow) stored_sample[first_piece << piece];
      if (!pieces_[piece]) return false;
    }
    if (needed > capacity && !totals_ && !begin_totals()) return false;
    return !totals_ || totals_->make_room(one);
  }
  /// Requires: it was announced.
  void take(stored_sample const& one) noexcept {
    if (totals_) static_cast<void>(totals_->add(one));
    if (size_ < samples_at_head || stays_at(stride_, one)) *place_of(size_++) = one;
  }
  /// Thins until it fits again. Requires: room was made for whatever was taken.
  void thin() noexcept {
    while (size_ > capacity) {
      stride_ *= 2;
      std::size_t kept = samples_at_head;
      for (std::size_t i = samples_at_head; i < size_; ++i)
        if (stays_at(stride_, *place_of(i))) *place_of(kept++) = *place_of(i);
      size_ = kept;
    }
  }

 private:
  // Ten pieces of 66, 132, 264, ...: 67,518 in all, room for a block beyond the capacity.
  static constexpr std::size_t first_piece = 66;
  static constexpr std::size_t piece_count = 10;

  [[nodiscard]] static constexpr std::size_t begin_of(std::size_t piece) noexcept {
    return first_piece * ((std::size_t{1} << piece) - 1);
  }
  [[nodiscard]] stored_sample* place_of(std::size_t at) const noexcept {
    auto const piece = static_cast<std::size_t>(63 - __builtin_clzll(at / first_piece + 1));
    return pieces_[piece] + (at - begin_of(piece));
  }

  // What is there so far is all that came.
  [[nodiscard]] bool begin_totals() noexcept {
    totals_ = new (std::nothrow) series_totals;
    bool whole = totals_ != nullptr;
    for (std::size_t i = 0; i < size_ && whole; ++i) whole = totals_->add(*place_of(i));
    if (!whole) delete std::exchange(totals_, nullptr);
    return whole;
  }

  stored_sample* pieces_[piece_count] = {};
  std::size_t size_ = 0;
  std::size_t announced_ = 0;
  std::uint64_t stride_ = 1;
  series_totals* totals_ = nullptr;
};

/// The older samples of a lane, by series.
/// Why: however long a program runs, its memory stays bounded, and no statistic is of a part that looks like the whole.
/// Threads: as its lane.
class sample_archive {
 public:
  sample_archive() = default;
  sample_archive(sample_archive const&) = delete;
  sample_archive& operator=(sample_archive const&) = delete;
  ~sample_archive() {
    while (sample_shelf* const gone = first_) {
      first_ = gone->next;
      delete gone;
    }
  }

  [[nodiscard]] sample_shelf const* first() const noexcept { return first_; }

  /// Takes a block of finished samples in. False without memory, and then nothing has changed.
  [[nodiscard, gnu::noinline, gnu::cold]] bool take(sample_store::block const& from) noexcept {
    for (sample_shelf* each = first_; each; each = each->next) each->begin();
    for (std::size_t i = 0; i < from.used; ++i) {
      if (from.entries[i].series == stored_sample::no_series) continue;
      sample_shelf* const shelf = shelf_of(from.entries[i].series);
      if (!shelf || !shelf->announce(from.entries[i])) return false;
    }
    for (std::size_t i = 0; i < from.used; ++i) {
      stored_sample const& one = from.entries[i];
      if (one.series != stored_sample::no_series) by_series_.data()[one.series]->take(one);
    }
    for (sample_shelf* each = first_; each; each = each->next) each->thin();
    return true;
  }

 private:
  // Made at the first asking; null without memory. By number, since a program may have thousands of series.
  [[nodiscard]] sample_shelf* shelf_of(std::uint32_t series) noexcept {
    if (by_series_.size() <= series) {
      if (by_series_.room() <= series && !by_series_.reserve(2 * (std::size_t{series} + 1))) return nullptr;
      while (by_series_.size() <= series) by_series_.append(nullptr);
    }
    sample_shelf*& found = by_series_.data()[series];
    if (found) return found;
    found = new (std::nothrow) sample_shelf{series};
    if (found) found->next = std::exchange(first_, found);
    return found;
  }

  sample_shelf* first_ = nullptr;
  plain_array<sample_shelf*> by_series_;
};

}  // namespace streamgauge

#endif
