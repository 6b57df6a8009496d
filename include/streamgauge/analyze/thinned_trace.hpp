#pragma once

#include <cstddef>
#include <cstdint>

#include <streamgauge/analyze/plain_array.hpp>

namespace streamgauge {

/// What came in, in order, in bounded memory: everything up to `Capacity`, and then an even choice of it.
/// When it is full, one of each pair of neighbours stays and the stride doubles: from then on one of each `stride` that
/// come in is kept. Each of all that came in is kept with the same probability, one in `stride`, however long it ran.
/// Why: keeping each 1st, 3rd and 5th would show one side of whatever alternates as if it were all. Which one of a pair
/// stays is drawn at random instead, from a generator of our own with a fixed seed, so that a run can be repeated.
///
/// Shape: grows by doubling to `Capacity` values; 13 allocations for 65,536. Amortised O(1) for each that comes in.
/// Throws: only `std::bad_alloc`, and only copying does.
template <class T, std::size_t Capacity = 65536>
class thinned_trace {
  static_assert(Capacity >= 2 && Capacity % 2 == 0, "pairs are what is thinned");

 public:
  static constexpr std::size_t capacity = Capacity;

  explicit thinned_trace(std::uint64_t seed = 1) noexcept : random_{seed} {}

  /// Takes the next one, which is kept or passed over. False without memory, and then nothing has changed.
  [[nodiscard]] bool add(T const& value) noexcept {
    if (!wants_next()) {
      pass();
    } else if (!make_room()) {
      return false;
    } else {
      take(value);
    }
    return true;
  }

  /// Whether the next one is looked at. It may still be passed over, where the trace is full and thinned for it.
  [[nodiscard]] bool wants_next() const noexcept { return pick_.stride == 1 || pick_.at == seen_; }

  /// The three parts of adding, for whoever has more to do between them than one call can see.
  /// Requires: `pass` that the next one is not wanted; `take` that it is, and that there is room.
  void pass() noexcept { ++seen_; }
  [[nodiscard]] bool make_room() noexcept { return kept_.size() < kept_.room() || full() || grow(kept_.size() + 1); }
  void take(T const& value) noexcept {
    if (pick_.stride == 1 && kept_.size() < kept_.room())
      kept_.append(value);
    else
      pick(value);
    ++seen_;
  }

  /// One of each pair stays, and the stride doubles.
  /// Why: whoever joins traces by something better than their order brings them to one stride first.
  [[gnu::noinline, gnu::cold]] void thin() noexcept {
    pick_ = drawn(pick_, seen_);
    kept_.resize(thin(kept_, kept_.data(), pick_, 2));
  }

  /// Appends another trace, as if what it saw had come after what this one saw. The one with the smaller stride is
  /// thinned to the larger, and both further until they surely fit, so that again all had the same chance.
  /// False without memory, and then nothing has changed. Requires: `other` is another one.
  [[nodiscard, gnu::noinline, gnu::cold]] bool merge(thinned_trace const& other) noexcept {
    if (other.seen_ == 0) return true;
    auto stride = pick_.stride < other.pick_.stride ? other.pick_.stride : pick_.stride;
    // Traces that are whole may fill it to the end. A thinned one becomes full by adding alone, where a block ends.
    auto const limit = stride == 1 ? Capacity : Capacity - 1;
    while (at_most(stride) + other.at_most(stride) > limit) stride *= 2;
    if (!grow(at_most(stride) + other.at_most(stride))) return false;
    auto pick = drawn(pick_, seen_);
    kept_.resize(thin(kept_, kept_.data(), pick, stride / pick.stride));
    pick = drawn(other.pick_, other.seen_);
    auto const added = thin(other.kept_, kept_.data() + kept_.size(), pick, stride / pick.stride);
    kept_.resize(kept_.size() + added);
    pick.at += seen_;
    pick_ = pick;
    seen_ += other.seen_;
    return true;
  }

  [[nodiscard]] T const* data() const noexcept { return kept_.data(); }
  [[nodiscard]] std::size_t size() const noexcept { return kept_.size(); }
  [[nodiscard]] std::uint64_t stride() const noexcept { return pick_.stride; }  ///< how many each kept one stands for
  [[nodiscard]] std::uint64_t seen() const noexcept { return seen_; }           ///< how many came in
  [[nodiscard]] bool full() const noexcept { return kept_.size() == Capacity; }

 private:
  /// Each `stride` that come in are a block, of which one is kept, the same for each. This says where the next one is.
  struct next_pick {
    std::uint64_t stride = 1;
    std::uint64_t offset = 0;  // its place in its block
    std::uint64_t at = 0;      // how many will have come in before it; not kept up while everything is kept
    bool drawn = true;         // false: `at` is where its block begins
  };

  [[nodiscard]] next_pick drawn(next_pick pick, std::uint64_t seen) noexcept {
    if (pick.stride == 1) return {1, 0, seen, true};
    if (pick.drawn) return pick;
    auto const offset = below(pick.stride);
    return {pick.stride, offset, pick.at + offset, true};
  }

  /// How many stay, or one less, when this is thinned to a stride. A block of which some came in counts, kept or not.
  [[nodiscard]] std::size_t at_most(std::uint64_t stride) const noexcept {
    bool const begun = pick_.stride > 1 && pick_.at - pick_.offset < seen_;
    auto const group = stride / pick_.stride;
    return static_cast<std::size_t>((kept_.size() + (begun ? 1 : 0) + group - 1) / group);
  }

  [[nodiscard, gnu::noinline, gnu::cold]] bool grow(std::size_t size) noexcept {
    std::size_t room = kept_.room() > 0 ? kept_.room() : 16;
    while (room < size) room *= 2;
    return kept_.reserve(room < Capacity ? room : Capacity);
  }

  [[gnu::noinline]] void pick(T value) noexcept {
    if (full()) {
      thin();
      if (!wants_next()) return;
    }
    kept_.append(value);
    pick_ = {pick_.stride, 0, pick_.at + pick_.stride - pick_.offset, false};
    // A full trace is thinned where a block begins: if the draw had a say in when, the last ones had another chance.
    if (!full()) pick_ = drawn(pick_, seen_);
  }

  /// One of each group stays, in place or somewhere else; how many do. The blocks behind the last whole group make one
  /// with the block of the next pick and those to come: the choice falls on one that was kept, or on what comes.
  std::size_t thin(plain_array<T> const& from, T* to, next_pick& pick, std::uint64_t group) noexcept {
    auto const whole = static_cast<std::size_t>(from.size() / group);
    for (std::size_t i = 0; i < whole; ++i) to[i] = from.data()[i * group + below(group)];
    auto const begun = from.size() % group;
    auto const chosen = below(group);
    auto const here = begun * pick.stride + pick.offset;  // in the last group
    auto there = here;
    auto stay = whole;
    if (chosen < begun) {
      to[stay++] = from.data()[whole * group + chosen];
      there = group * pick.stride + below(group * pick.stride);
    } else if (chosen > begun) {
      there = chosen * pick.stride + below(pick.stride);
    }
    pick.stride *= group;
    pick.at += there - here;
    pick.offset = there % pick.stride;
    return stay;
  }

  /// Any number below a power of two, all alike.
  std::uint64_t below(std::uint64_t power_of_two) noexcept { return draw() & (power_of_two - 1); }

  /// Source: splitmix64 (Steele, Lea and Flood 2014); every bit of it is good, and a seed may be any number.
  std::uint64_t draw() noexcept {
    random_ += 0x9e3779b97f4a7c15U;
    auto mixed = (random_ ^ (random_ >> 30)) * 0xbf58476d1ce4e5b9U;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
    return mixed ^ (mixed >> 31);
  }

  plain_array<T> kept_;
  next_pick pick_;
  std::uint64_t seen_ = 0;
  std::uint64_t random_;
};

}  // namespace streamgauge
