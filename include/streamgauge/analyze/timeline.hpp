#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/time.hpp>

namespace streamgauge {

// What stretches of time amount to, taken together: textbook answers on plain numbers, free of CUDA.

/// From `begin` to before `end`. One that ends where or before it begins is empty: no time ran in it.
struct stretch {
  nanoseconds begin{0};
  nanoseconds end{0};
};

/// Three answers that are easily taken for one another.
struct busy_times {
  nanoseconds sum{0};         ///< the lengths added up: where two ran at once, that time counts twice; 2^63 - 1 ns at most
  nanoseconds busy_union{0};  ///< time in which at least one ran
  nanoseconds overlap{0};     ///< time in which at least two ran, counted once however many
};

/// Adds up stretches that come in the order of their begins.
/// Why: what begins later can only meet the two latest ends so far, so one look at each stretch is enough.
class timeline_sweep {
 public:
  /// Requires: no earlier begin than that of the one before.
  constexpr void add(stretch const& next) noexcept {
    nanoseconds::rep sum = 0;
    bool const too_long = __builtin_add_overflow(found_.sum.count(), between(next.begin, next.end).count(), &sum);
    found_.sum = too_long ? (nanoseconds::max)() : nanoseconds{sum};
    found_.busy_union += between(later(next.begin, one_until_), next.end);
    found_.overlap += between(later(next.begin, two_until_), earlier(next.end, one_until_));
    two_until_ = later(two_until_, earlier(next.end, one_until_));
    one_until_ = later(one_until_, next.end);
  }

  [[nodiscard]] constexpr busy_times found() const noexcept { return found_; }

 private:
  static constexpr nanoseconds earlier(nanoseconds a, nanoseconds b) noexcept { return b < a ? b : a; }
  static constexpr nanoseconds later(nanoseconds a, nanoseconds b) noexcept { return a < b ? b : a; }
  static constexpr nanoseconds between(nanoseconds from, nanoseconds to) noexcept {
    return from < to ? to - from : nanoseconds{0};
  }

  busy_times found_;
  nanoseconds one_until_ = (nanoseconds::min)();  // at least one runs until here, of what began so far
  nanoseconds two_until_ = (nanoseconds::min)();  // at least two
};

/// Sorts; what is equal stays in its order. O(n log n), and nearly O(n) for what is a few sorted runs in a row.
/// Why: the door would have to open <algorithm> for the standard's.
template <class Item, class Before>
[[gnu::noinline, gnu::cold]] void put_in_order(std::vector<Item>& items, Before before) {
  auto const size = items.size();
  std::vector<Item> merged;
  for (std::size_t width = 1; width < size; width *= 2) {
    for (std::size_t first = 0; first + width < size; first += 2 * width) {
      auto const middle = first + width;
      if (!before(items[middle], items[middle - 1])) continue;
      auto const last = size - middle < width ? size : middle + width;
      merged.assign(items.data() + first, items.data() + middle);
      auto to = first;
      auto right = middle;
      for (std::size_t left = 0; left < width;) {
        bool const from_right = right < last && before(items[right], merged[left]);
        items[to++] = from_right ? items[right++] : merged[left++];
      }
    }
  }
}

/// The first index for which `holds` does not, of as many: `size` where it holds for all. O(log n).
/// Requires: it holds for none behind that one, as "comes before" does in what is in order.
template <class Holds>
[[nodiscard]] std::size_t partition_index(std::size_t size, Holds holds) {
  std::size_t low = 0;
  for (std::size_t high = size; low < high;) {
    std::size_t const middle = low + (high - low) / 2;
    if (holds(middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// What stretches amount to: a vector, an array, anything with `data()` and `size()`, in any order.
/// Shape: O(n log n); the input is copied, never reordered.
template <class Stretches>
[[nodiscard]] busy_times busy_times_of(Stretches const& stretches) {
  auto const* const first = std::data(stretches);
  std::vector<stretch> sorted(first, first + std::size(stretches));
  put_in_order(sorted, [](stretch const& a, stretch const& b) { return a.begin < b.begin; });
  timeline_sweep sweep;
  for (auto const& each : sorted) sweep.add(each);
  return sweep.found();
}

}  // namespace streamgauge
