#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include <streamgauge/time.hpp>

namespace streamgauge {

// The host clock and another clock that merely counts, in a unit that nobody tells: plain mathematics on readings of both.

/// One reading of a counter, between two of the host clock.
/// Why: the counter stood there at some moment of that window, nobody knows at which; half the window is a bound that
/// assumes nothing.
struct tick_reading {
  host_stamp before;
  std::int64_t ticks = 0;
  host_stamp after;
};

/// Where a moment of the host clock lies on the counter.
struct placed_ticks {
  std::int64_t ticks = 0;
  nanoseconds bound{0};  ///< from that moment to the one at which the counter came to `ticks`: at most so long
};

/// How far the counter's rate may lie, at any time, from its mean between two readings: in millionths of it.
/// Why: the host clock itself is slewed to keep the time, by a few millionths when all is well.
struct rate_stray {
  double per_million = 20;
};

/// Places moments of the host clock on a counter of unknown rate, from readings of both.
/// Between two readings neighbours decide, outside of them the first and the last. The bound holds as long as the rate
/// strays no further than was said: half the windows of both readings, weighted by the distance to each, which grows
/// without end outside; the stray over the distance to the nearest; one tick; one nanosecond, which stamps are cut to.
/// A reading that shows a larger stray doubles what it shows, and bounds are wider from then on.
/// Why: no rate is taken for granted, so nothing can be placed before two readings lie so far apart that their windows
/// blur the rate by a thousandth at most.
/// Shape: keeps `room` readings, always the first and the newest; when full, every other one goes, and what comes later
/// is kept twice as far apart. Ticks are 64 bits that may run over; differences count, and must stay below 2^62.
class tick_map {
 public:
  static constexpr std::size_t room = 64;

  constexpr explicit tick_map(rate_stray stray = {}) noexcept : stray_{stray.per_million * 1e-6} {}

  /// Takes a reading in. Requires: readings come in the order of time; what overlaps the one before is not taken.
  void add(tick_reading const& next) noexcept {
    if (next.after < next.before) return;
    auto const width = next.after - next.before;
    node const taken{next.before + width / 2, next.ticks, static_cast<double>(((width + nanoseconds{1}) / 2).count())};
    if (count_ != 0) {
      if (next.before <= newest_until_) return;
      auto const ahead = between(last().ticks, next.ticks);
      if (ahead < 0) backwards_ = true;
      if (ahead == 0) stood_still_ = true;
      if (ahead <= 0) return;
      widen(taken);
    }
    if (count_ >= 2 && last().at - nodes_[count_ - 2].at < spacing_) --count_;
    if (count_ == room) thin();
    nodes_[count_++] = taken;
    newest_until_ = next.after;
  }

  /// Where the moment lies, and how well that is known; absent where nothing can be placed, or where it is centuries away.
  [[nodiscard]] std::optional<placed_ticks> place(host_stamp at) const noexcept {
    if (*why_not() != '\0') return std::nullopt;
    std::size_t behind = 0;  // the first reading behind the moment
    while (behind < count_ && nodes_[behind].at <= at) ++behind;
    if (behind == 0) return place_by(nodes_[0], last(), at);
    if (behind == count_) return place_by(last(), nodes_[0], at);
    node const& left = nodes_[behind - 1];
    node const& right = nodes_[behind];
    return at - left.at <= right.at - at ? place_by(left, right, at) : place_by(right, left, at);
  }

  /// Why nothing can be placed now; empty where moments can.
  [[nodiscard]] char const* why_not() const noexcept {
    if (backwards_) return "the other clock went backwards, so it is none";
    if (count_ == 0) return "the other clock was not read yet";
    if (count_ == 1 && stood_still_) return "the other clock stands still: read again later, it showed the same";
    if (count_ == 1) return "the other clock was read once only, so its rate is not known yet: read it again later";
    if (!tells_rate()) return "the other clock was read twice too soon to tell its rate: read it again later";
    return "";
  }

  /// The mean rate over the readings; absent where nothing can be placed.
  [[nodiscard]] std::optional<double> ticks_per_second() const noexcept {
    if (*why_not() != '\0') return std::nullopt;
    return 1e9 / nanoseconds_per_tick(nodes_[0], last());
  }

  /// What bounds reckon with now: what was said, or what the readings showed.
  [[nodiscard]] rate_stray stray() const noexcept { return {stray_ * 1e6}; }

  [[nodiscard]] std::size_t readings() const noexcept { return count_; }

 private:
  struct node {
    host_stamp at{};  // the middle of the window
    std::int64_t ticks = 0;
    double half = 0;  // nanoseconds to the window's ends
  };
  static constexpr double blur = 1e-3;
  static constexpr long double too_far = 4611686018427387904.0L;  // 2^62

  // Forward is positive, also where the counter ran over in between.
  static std::int64_t between(std::int64_t from, std::int64_t to) noexcept {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(from));
  }
  static double nanoseconds_per_tick(node const& a, node const& b) noexcept {
    return static_cast<double>((b.at - a.at).count()) / static_cast<double>(between(a.ticks, b.ticks));
  }
  static double size_of(std::int64_t number) noexcept {
    return number < 0 ? -static_cast<double>(number) : static_cast<double>(number);
  }
  // A stamp is cut to a whole nanosecond, and a counter to a whole tick.
  static double half_of(node const& each, double tick) noexcept { return each.half + (tick < 1 ? 1 : tick); }

  [[nodiscard]] node const& last() const noexcept { return nodes_[count_ - 1]; }

  [[nodiscard]] bool tells_rate() const noexcept {
    if (count_ < 2) return false;
    double const tick = nanoseconds_per_tick(nodes_[0], last());
    return half_of(nodes_[0], tick) + half_of(last(), tick) <=
           blur * static_cast<double>((last().at - nodes_[0].at).count());
  }

  [[nodiscard]] std::optional<placed_ticks> place_by(node const& nearest, node const& other,
                                                     host_stamp at) const noexcept {
    std::int64_t distance = 0;
    if (__builtin_sub_overflow(at.time_since_epoch().count(), nearest.at.time_since_epoch().count(), &distance))
      return std::nullopt;
    std::int64_t const apart = (other.at - nearest.at).count();
    long double const ahead = static_cast<long double>(distance) *
                              static_cast<long double>(between(nearest.ticks, other.ticks)) /
                              static_cast<long double>(apart);
    if (ahead >= too_far || ahead <= -too_far) return std::nullopt;
    auto const whole = static_cast<std::int64_t>(ahead < 0 ? ahead - 0.5L : ahead + 0.5L);

    double const tick = nanoseconds_per_tick(nearest, other);
    double const away = size_of(distance);
    double const weight = away / size_of(apart);
    bool const inside = (distance < 0) == (apart < 0);
    double const bound = (inside ? 1 - weight : 1 + weight) * half_of(nearest, tick) + weight * half_of(other, tick) +
                         stray_ * away + tick;
    if (bound >= static_cast<double>(too_far)) return std::nullopt;
    auto const cut = static_cast<std::int64_t>(bound);
    return placed_ticks{
        static_cast<std::int64_t>(static_cast<std::uint64_t>(nearest.ticks) + static_cast<std::uint64_t>(whole)),
        nanoseconds{static_cast<double>(cut) < bound ? cut + 1 : cut}};
  }

  // The line through the first reading and the newest one says when the counter should come to `next`. What it is late or
  // early beyond the windows is stray; doubled, since the rate may have changed half-way.
  void widen(node const& next) noexcept {
    if (!tells_rate()) return;
    double const tick = nanoseconds_per_tick(nodes_[0], last());
    double const took = static_cast<double>((next.at - last().at).count());
    double const expected = tick * static_cast<double>(between(last().ticks, next.ticks));
    double const weight = expected / static_cast<double>((last().at - nodes_[0].at).count());
    double const windows =
        half_of(next, tick) + (1 + weight) * half_of(last(), tick) + weight * half_of(nodes_[0], tick);
    double const beyond = (took < expected ? expected - took : took - expected) - windows;
    if (beyond > stray_ * took) stray_ = 2 * beyond / took;
  }

  void thin() noexcept {
    for (std::size_t i = 1; i < room / 2; ++i) nodes_[i] = nodes_[2 * i];
    count_ = room / 2;
    spacing_ = (last().at - nodes_[0].at) / static_cast<std::int64_t>(room / 2);
  }

  node nodes_[room];
  std::size_t count_ = 0;
  host_stamp newest_until_{};
  nanoseconds spacing_{0};
  double stray_;
  bool backwards_ = false;
  bool stood_still_ = false;
};

}  // namespace streamgauge
