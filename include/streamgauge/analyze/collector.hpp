#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/plain_array.hpp>
#include <streamgauge/analyze/histogram.hpp>
#include <streamgauge/analyze/thinned_trace.hpp>
#include <streamgauge/analyze/wide_sum.hpp>

namespace streamgauge {

/// What numbers are numbers of. Numbers of different units are never merged.
enum class measure_unit : std::uint8_t { nanosecond, byte, count };

/// Why a number was not taken.
enum class rejection : std::uint8_t {
  none,          ///< it was taken
  not_a_number,  ///< NaN
  infinite,      ///< of either sign
  negative,      ///< below zero, which no duration and no size is
  too_large,     ///< 2^63 or more: 292 years in nanoseconds
  no_memory,     ///< the host had no memory to keep it
};

/// The reason in words that finish the sentence "not taken: ...".
[[nodiscard]] constexpr char const* describe(rejection why) noexcept {
  switch (why) {
    case rejection::none: return "nothing was wrong with it";
    case rejection::not_a_number: return "not a number";
    case rejection::infinite: return "infinite";
    case rejection::negative: return "below zero";
    case rejection::too_large: return "2^63 or more";
    case rejection::no_memory: return "the host had no memory left";
  }
  return "unknown";
}

/// What became of a merge. If it was not done, nothing has changed.
enum class merge_outcome : std::uint8_t { done, other_unit, no_memory };

/// The outcome in words that finish the sentence "not merged: ...".
[[nodiscard]] constexpr char const* describe(merge_outcome outcome) noexcept {
  switch (outcome) {
    case merge_outcome::done: return "nothing, it was merged";
    case merge_outcome::other_unit: return "numbers of different units have no statistics in common";
    case merge_outcome::no_memory: return "the host had no memory left";
  }
  return "unknown";
}

/// Keeps numbers in bounded memory, however many there are: exactly up to 65,536, and then the first 1024 of them, a
/// thinned trace in order, and a histogram of all. Count, smallest, largest and sum are exact always.
/// Why: a program that runs for a week is measured like one that runs for a second, and neither pays in memory.
///
/// Adding and merging never throw: a number for which there is no memory is rejected and counted, everything taken
/// before stays, and count + rejected is always how many were offered.
/// Units: whole numbers of `unit()`, none below zero.
/// Shape: at most 1 MiB (trace 512 KiB, histogram 432 KiB at the very most, head 8 KiB), in at most 68 allocations.
/// Throws: only `std::bad_alloc`, and only copying does.
class collector {
 public:
  static constexpr std::size_t head_size = 1024;
  using trace_type = thinned_trace<std::int64_t>;

  explicit collector(measure_unit unit = measure_unit::nanosecond) noexcept : unit_{unit} {}

  /// Takes a number, or says why not. Fractions are rounded to the nearest whole, halves upwards.
  template <class Number>
  rejection add(Number number) noexcept {
    static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>, "a collector takes plain numbers");
    static_assert(std::is_floating_point_v<Number> || sizeof(Number) <= 8, "integers have 64 bits at most");
    if constexpr (std::is_floating_point_v<Number>) {
      return add_real(static_cast<double>(number));
    } else {
      if constexpr (std::is_unsigned_v<Number> && sizeof(Number) == 8)
        if (number > static_cast<Number>(INT64_MAX)) return refuse(rejection::too_large);
      return add_whole(static_cast<std::int64_t>(number));
    }
  }

  /// Adds what another one holds. Count, rejections, smallest, largest, sum and histogram add exactly, in any order.
  /// The traces are brought to one stride and joined, the other's behind this one's; whoever knows when each number
  /// came keeps it with the number in a `thinned_trace`, and does better. Requires: `other` is another one.
  [[nodiscard, gnu::noinline, gnu::cold]] merge_outcome merge(collector const& other) noexcept {
    if (unit_ != other.unit_) return merge_outcome::other_unit;
    bool const was_bounded = bounded_;
    bool const bounded = bounded_ || other.bounded_ || trace_.size() + other.trace_.size() > trace_type::capacity;
    // First what may lack memory, and the trace last of that.
    if ((bounded && !(start_histogram() && make_room(other))) || !trace_.merge(other.trace_)) {
      bounded_ = was_bounded;
      return merge_outcome::no_memory;
    }
    if (bounded_) add_to_histogram(other);
    if (other.minimum_ < minimum_) minimum_ = other.minimum_;
    if (other.maximum_ > maximum_) maximum_ = other.maximum_;
    sum_.add(other.sum_);
    for (std::size_t i = 0; i < rejection_count; ++i) rejected_[i] += other.rejected_[i];
    return merge_outcome::done;
  }

  [[nodiscard]] measure_unit unit() const noexcept { return unit_; }
  [[nodiscard]] std::uint64_t count() const noexcept { return trace_.seen(); }
  [[nodiscard]] std::optional<std::int64_t> minimum() const noexcept {
    if (count() == 0) return std::nullopt;
    return bounded_ ? histogram_.minimum() : minimum_;
  }
  [[nodiscard]] std::optional<std::int64_t> maximum() const noexcept {
    if (count() == 0) return std::nullopt;
    return bounded_ ? histogram_.maximum() : maximum_;
  }
  [[nodiscard]] wide_sum sum() const noexcept { return sum_; }
  [[nodiscard]] std::optional<double> mean() const noexcept {
    if (count() == 0) return std::nullopt;
    return static_cast<double>(sum_.rounded() / static_cast<long double>(count()));
  }

  /// How many were offered and not taken, for one reason or for all.
  [[nodiscard]] std::uint64_t rejected(rejection why) const noexcept {
    return rejected_[static_cast<std::size_t>(why)];
  }
  [[nodiscard]] std::uint64_t rejected() const noexcept {
    std::uint64_t all = 0;
    for (auto const each : rejected_) all += each;
    return all;
  }

  /// Whether every number is still there, so that every statistic of them is exact.
  [[nodiscard]] bool exact() const noexcept { return trace_.stride() == 1; }

  /// The quantile of type 7: exact while every number is there, then within 1/2048 of that, relative (`histogram`).
  [[nodiscard, gnu::noinline, gnu::cold]] std::optional<double> quantile(double p) const noexcept {
    return exact() ? streamgauge::quantile(trace(), p) : histogram_.quantile(p);
  }
  [[nodiscard]] std::optional<double> median() const noexcept { return quantile(0.5); }

  /// The first numbers, 1024 at most, each of them and in order.
  [[nodiscard]] number_span<std::int64_t> head() const noexcept {
    if (!exact()) return {head_.data(), head_.size()};
    return {trace_.data(), trace_.size() < head_size ? trace_.size() : head_size};
  }

  /// All numbers in order, or one of each `stride()`, drawn evenly.
  [[nodiscard]] number_span<std::int64_t> trace() const noexcept { return {trace_.data(), trace_.size()}; }
  [[nodiscard]] std::uint64_t stride() const noexcept { return trace_.stride(); }

 private:
  static constexpr std::size_t rejection_count = static_cast<std::size_t>(rejection::no_memory) + 1;

  rejection add_whole(std::int64_t number) noexcept {
    if (number < 0) return refuse(rejection::negative);
    bool const wanted = trace_.wants_next();
    if (wanted && !make_ready()) return refuse(rejection::no_memory);
    if (bounded_) {
      if (!histogram_.add(number)) return refuse(rejection::no_memory);
    } else {
      if (number < minimum_) minimum_ = number;
      if (number > maximum_) maximum_ = number;
    }
    sum_.add(static_cast<std::uint64_t>(number));
    if (wanted)
      trace_.take(number);
    else
      trace_.pass();
    return rejection::none;
  }

  rejection add_real(double number) noexcept {
    // By the bits: below those of 2^63 lies every number that is taken but -0.0, also under -ffast-math.
    if (bits_of(number) >= bits_of(9223372036854775808.0)) return add_rare(number);
    auto const whole = static_cast<std::int64_t>(number);
    return add_whole(whole + (number - static_cast<double>(whole) >= 0.5 ? 1 : 0));
  }

  [[gnu::noinline, gnu::cold]] rejection add_rare(double number) noexcept {
    auto const bits = bits_of(number);
    if (!finite(number)) return refuse((bits << 12) != 0 ? rejection::not_a_number : rejection::infinite);
    if (bits << 1 == 0) return add_whole(0);
    return refuse(bits >> 63 != 0 ? rejection::negative : rejection::too_large);
  }

  static std::uint64_t bits_of(double number) noexcept {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
  }

  [[gnu::noinline, gnu::cold]] rejection refuse(rejection why) noexcept {
    ++rejected_[static_cast<std::size_t>(why)];
    return why;
  }

  [[nodiscard]] bool make_ready() noexcept { return trace_.full() ? start_histogram() : trace_.make_room(); }

  /// Before any number is thinned away: from then on the histogram holds all. False without memory.
  [[nodiscard, gnu::noinline, gnu::cold]] bool start_histogram() noexcept {
    if (bounded_) return true;
    if (!head_.reserve(head_size)) return false;
    // What an earlier try has counted stays counted, so that a program without memory does not start over each time.
    while (histogram_.count() < trace_.size())
      if (!histogram_.add(trace_.data()[histogram_.count()])) return false;
    head_.resize(0);
    extend_head(*this);
    bounded_ = true;
    return true;
  }

  void extend_head(collector const& by) noexcept {
    auto const more = by.head();
    auto const room = head_size - head_.size();
    head_.append(more.data(), more.size() < room ? more.size() : room);
  }

  [[nodiscard]] bool make_room(collector const& other) noexcept {
    if (other.bounded_) return histogram_.make_room(other.histogram_);
    for (std::size_t i = 0; i < other.trace_.size(); ++i)
      if (!histogram_.make_room(other.trace_.data()[i])) return false;
    return true;
  }

  /// Requires: room for them.
  void add_to_histogram(collector const& other) noexcept {
    extend_head(other);
    if (other.bounded_) {
      static_cast<void>(histogram_.merge(other.histogram_));
      return;
    }
    for (std::size_t i = 0; i < other.trace_.size(); ++i) static_cast<void>(histogram_.add(other.trace_.data()[i]));
  }

  trace_type trace_;
  plain_array<std::int64_t> head_;
  histogram histogram_;
  wide_sum sum_;
  std::int64_t minimum_ = INT64_MAX;  // both until the histogram knows them
  std::int64_t maximum_ = 0;
  std::uint64_t rejected_[rejection_count] = {};
  measure_unit unit_;
  bool bounded_ = false;  // the histogram holds every number
};

}  // namespace streamgauge
