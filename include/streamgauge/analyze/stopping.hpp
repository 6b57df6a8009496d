#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/confidence.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/steady_state.hpp>

namespace streamgauge {

/// When a measurement may stop.
struct stopping_rule {
  double width = 0.005;                 ///< asked for: half the median's confidence interval, in shares of the median
  nanoseconds time{5'000'000'000};      ///< no longer than this
  std::size_t samples = 65'536;         ///< no more than these: as many as a series keeps exactly
};

/// Why a measurement may stop.
enum class stop_cause : std::uint8_t {
  none,           ///< it may not yet
  narrow,         ///< steady, and the interval is as narrow as was asked for
  within_tick,    ///< steady, and the interval is within one step of the clock: more samples show no more
  time_spent,     ///< the budget of time is spent, and neither of the above
  samples_spent,  ///< the budget of samples is spent, and neither of the above
};

[[nodiscard]] constexpr char const* describe(stop_cause cause) noexcept {
  switch (cause) {
    case stop_cause::none: return "not tight enough yet";
    case stop_cause::narrow: return "steady, and the median is known as closely as was asked for";
    case stop_cause::within_tick: return "steady, and the median is known to one step of the clock";
    case stop_cause::time_spent: return "the time for it is spent; the median is not known as closely as was asked for";
    case stop_cause::samples_spent:
      return "the samples for it are spent; the median is not known as closely as was asked for";
  }
  return "unknown";
}

/// What was known when the rule looked last.
struct stopping_state {
  stop_cause cause = stop_cause::none;
  std::size_t taken = 0;                         ///< samples offered, refused ones included
  std::size_t refused = 0;                       ///< those that are NaN, infinite or negative: no durations
  std::size_t checks = 0;                        ///< how often the samples were looked at
  std::size_t steady_samples = 0;                ///< at the last check; 0 where it was not steady
  steadiness steady = steadiness::unknown;       ///< at the last check
  std::optional<double> half_width;              ///< at the last check, in shares of the median

  [[nodiscard]] constexpr bool stopped() const noexcept { return cause != stop_cause::none; }
};

/// Decides when an adaptive measurement has enough: offer it each sample with the time that has passed since the first
/// one began, until it says why to stop.
/// Why: looks at 32 samples, then whenever there are a quarter more. Looking at every one would cost O(n^2 log n), and
/// would stop at the first interval that is narrow by chance.
/// Shape: all checks together O(n log n); keeps the samples, eight bytes each.
template <class = void>
class stopping {
 public:
  explicit stopping(stopping_rule rule = {}) : rule_{rule} {}

  /// One more sample. Always ends at a budget, whatever the samples are: refused ones count for it, too.
  stop_cause add(double sample, nanoseconds elapsed) {
    if (state_.stopped()) return state_.cause;
    ++state_.taken;
    if (finite(sample) && sample >= 0.0) samples_.push_back(sample);
    else ++state_.refused;
    bool const no_time = elapsed >= rule_.time;
    bool const no_samples = state_.taken >= rule_.samples;
    if (samples_.size() >= next_check_ || no_time || no_samples) {
      check();
      while (next_check_ <= samples_.size()) next_check_ += next_check_ / 4;
    }
    if (state_.stopped()) return state_.cause;
    if (no_time) state_.cause = stop_cause::time_spent;
    else if (no_samples) state_.cause = stop_cause::samples_spent;
    return state_.cause;
  }
  stop_cause add(nanoseconds sample, nanoseconds elapsed) { return add(static_cast<double>(sample.count()), elapsed); }

  [[nodiscard]] stopping_state const& state() const noexcept { return state_; }
  [[nodiscard]] stopping_rule const& rule() const noexcept { return rule_; }

 private:
  static constexpr std::size_t first_check = 32;

  void check() {
    ++state_.checks;
    state_.steady_samples = 0;
    state_.half_width.reset();
    auto const found = detect_steady(samples_);
    state_.steady = found.verdict;
    if (found.verdict != steadiness::yes) return;
    std::size_t const start = found.start.value_or(0);
    number_span<double> const part{samples_.data() + start, samples_.size() - start};
    state_.steady_samples = part.size();
    auto const around = confidence_interval(part).interval;
    auto const middle = median(part);
    if (!around || !middle) return;
    double const half = (around->high - around->low) / 2.0;
    if (*middle > 0.0 && finite(half / *middle)) state_.half_width = half / *middle;
    if (part.size() < first_check) return;
    if (state_.half_width && *state_.half_width <= rule_.width) state_.cause = stop_cause::narrow;
    double const tick = tick_of(part.data(), part.size());
    bool const is_clock = tick <= *middle / 2.0;  // a larger step is one of the program's, between two levels
    if (!state_.stopped() && is_clock && half <= tick / 2.0) state_.cause = stop_cause::within_tick;
  }

  stopping_rule rule_;
  stopping_state state_;
  std::vector<double> samples_;
  std::size_t next_check_ = first_check;
};

}  // namespace streamgauge
