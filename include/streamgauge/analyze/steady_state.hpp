#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <vector>

#include <streamgauge/analyze/statistics.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/change_points.hpp>
#include <streamgauge/analyze/warmup_end.hpp>
#include <streamgauge/analyze/steady_level.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Whether at least the last half of a series is one level within a band of one per cent. `no` is about this run, not
/// about the device; `unknown` means that this run cannot tell.
enum class steadiness : std::uint8_t { yes, no, unknown };

/// Why the verdict is what it is.
enum class steady_reason : std::uint8_t {
  one_level,           ///< yes: from the start on nothing moves it out of the band
  too_few,             ///< unknown: fewer than `fewest_for_steady` samples
  not_a_duration,      ///< unknown: a sample is NaN, infinite or negative
  zero_level,          ///< unknown: the median of the last half is 0, and shares of it do not exist
  too_noisy,           ///< unknown: a shift of 15 per cent might not have been seen
  level_shift_at_end,  ///< no: the last samples are at another level, and there are too many of them for an excursion
  drift,               ///< no: one straight line fits the run better than levels do
  wander,              ///< no: the rest has no steps, but moves slowly by more than the noise explains
  several_runs,        ///< unknown: the samples are those of several runs, one behind the other
  short_steady_part,   ///< no: a flat part was found, but it is less than half of the run
};

/// Without this many samples no level can be told from its noise.
inline constexpr std::size_t fewest_for_steady = 8;

/// A stretch of a series at one level.
struct level_segment {
  std::size_t begin = 0;      ///< the first sample
  std::size_t end = 0;        ///< one behind the last
  double median = 0.0;        ///< of its samples, in their unit
  bool steady_level = false;  ///< within the band of the level that was taken for the steady one
};

/// A move of the level: from one median to another.
struct level_change {
  std::size_t at = 0;  ///< the first sample of what is compared with the level before
  double from = 0.0;
  double to = 0.0;
  /// 0.02 is two per cent up. Absent where there is nothing to take a share of.
  [[nodiscard]] std::optional<double> share() const noexcept {
    if (!(from > 0.0)) return std::nullopt;
    double const part = (to - from) / from;
    return finite(part) ? std::optional{part} : std::nullopt;
  }
};

/// Where warm-up ended, or why that cannot be said.
struct steady_state {
  steadiness verdict = steadiness::unknown;
  steady_reason reason = steady_reason::too_few;
  std::size_t samples = 0;
  std::optional<std::size_t> start;  ///< the first steady sample; only with `yes`
  /// A shift between two halves that about nine in ten such runs would show, as a share of the level: 12 standard
  /// errors of the mean under the noise that was found, but at least one and a half bands.
  std::optional<double> smallest_visible_shift;
  /// The share of the steady part, or of what looked like it, that was at another level for a while.
  std::optional<double> excursions;
  std::optional<std::size_t> flat_from;  ///< with `short_steady_part`: from where it looked flat
  std::optional<std::size_t> offender;   ///< with `not_a_duration`: the first such sample
  std::optional<level_change> change;    ///< with every `no`: what moved
  std::vector<level_segment> segments;   ///< of a series that was judged: all of it, in order
};

/// The segments of a judged series, with the boundary of its tail moved to where the tail begins to the sample.
template <class T>
[[nodiscard]] std::vector<level_segment> segments_of(windowed_series<T> const& series, levels const& found,
                                                     reference_level<T> const& reference, std::size_t window,
                                                     std::size_t sample) {
  auto const size = series.size();
  auto const edge = series.edge(window);
  auto const low = sample < edge ? sample : edge;
  auto const high = sample < edge ? edge : sample;
  bool const same_boundary = window > 0 && high - low <= 2 * series.per_window();
  std::vector<std::size_t> cuts{0};
  for (auto const& segment : found.segments) {
    auto const cut = series.edge(segment.end);
    if (cuts.back() < sample && sample <= cut) cuts.push_back(sample);
    if (cut != size && same_boundary && low <= cut && cut <= high) continue;
    if (cut != cuts.back()) cuts.push_back(cut);
  }
  // A window across a step is a level of its own until the step is placed to the sample: what is left of it on either
  // side joins its neighbour.
  auto const joins = [&](index_range part, index_range neighbour) {
    return part.size() <= 2 * series.per_window() && series.alike(series.center(neighbour), part);
  };
  std::vector<level_segment> segments;
  for (std::size_t i = 1; i < cuts.size(); ++i) {
    index_range samples{cuts[i - 1], cuts[i]};
    if (samples.end == sample && i > 1 && joins(samples, {cuts[i - 2], samples.begin})) {
      samples.begin = cuts[i - 2];
      segments.pop_back();
    }
    if (samples.begin == sample && i + 1 < cuts.size() && joins(samples, {samples.end, cuts[i + 1]})) {
      cuts[i] = samples.begin;
      continue;
    }
    segments.push_back({samples.begin, samples.end, series.median_of(samples), reference.matches(samples)});
  }
  return segments;
}

/// The sixths of a range whose medians are farthest apart, in their order: what a slow change amounts to.
template <class T>
[[nodiscard]] level_change slow_change(windowed_series<T> const& series, index_range samples) noexcept {
  auto const sixth = samples.size() / 6;
  level_change lowest;
  level_change highest;
  for (std::size_t part = 0; part < 6; ++part) {
    auto const begin = samples.begin + part * sixth;
    double const median = series.median_of({begin, part == 5 ? samples.end : begin + sixth});
    if (part == 0 || median < lowest.to) lowest = {begin, 0.0, median};
    if (part == 0 || median > highest.to) highest = {begin, 0.0, median};
  }
  return lowest.at < highest.at ? level_change{highest.at, lowest.to, highest.to}
                                : level_change{lowest.at, highest.to, lowest.to};
}

/// The verdict on a series that has enough durations.
template <class T>
[[nodiscard]] steady_state judge(windowed_series<T> const& series) {
  auto const size = series.size();
  steady_state state;
  state.samples = size;
  auto const found = levels_of(series);
  auto const visible = 12.0 * __builtin_sqrt(found.variance / static_cast<double>(series.windows()));
  state.smallest_visible_shift = visible > 1.5 * steady_band ? visible : 1.5 * steady_band;
  state.reason = steady_reason::too_noisy;
  if (visible > 0.15) return state;

  state.verdict = steadiness::no;
  reference_level<T> const reference{series, found.segments};
  auto const tail = tail_of(series, found.segments, reference);
  auto start = series.edge(tail.start);
  bool const shifted = 100 * tail.off_end > 8 * (series.windows() - tail.start);
  bool const drifting = !shifted && drifts(series, found.segments, tail.start);
  if (!shifted && !drifting) start = warmup_end(series, found, tail.start);
  state.segments = segments_of(series, found, reference, tail.start, start);
  std::size_t off = 0;
  for (auto const& segment : state.segments)
    if (segment.begin >= start && !segment.steady_level) off += segment.end - segment.begin;
  state.excursions = static_cast<double>(off) / static_cast<double>(size - start);

  if (shifted) {
    auto last = reference.index() + 1;
    while (reference.same(last)) ++last;
    auto const before = series.samples(found.segments[last - 1]);
    state.reason = steady_reason::level_shift_at_end;
    state.change = level_change{before.end, series.median_of(before), series.median_of({before.end, size})};
  } else if (drifting) {
    state.reason = steady_reason::drift;
    state.change = slow_change(series, {0, size});
  } else if (2 * (size - start) < size) {
    std::size_t before = 0;
    while (state.segments[before].end < start) ++before;
    state.reason = steady_reason::short_steady_part;
    state.flat_from = start;
    state.change = level_change{start, state.segments[before].median, series.median_of({start, size})};
  } else if (wanders(series, found, reference, start)) {
    state.reason = steady_reason::wander;
    state.change = slow_change(series, {start, size});
  } else {
    state.verdict = steadiness::yes;
    state.reason = steady_reason::one_level;
    state.start = start;
  }
  return state;
}

/// Where warm-up ended in a series of durations in the order they were taken, or that it never did.
///
/// The last half sets the level; windows of samples are cut into levels (exact optimal partitioning under a noise that
/// may have a memory); the last level that is long enough, and everything before it that is within one per cent, is the
/// steady part; its first sample is then found to the sample. It has to be at least half of the run. Nothing is dropped
/// or changed: the answer only says where to begin.
/// Units: those of the numbers; shares are of the level of the last half.
/// Shape: O(n log n).
template <class T>
[[nodiscard]] steady_state detect_steady(T const* first, std::size_t size) {
  steady_state state;
  state.samples = size;
  for (std::size_t i = 0; i < size; ++i) {
    static_assert(std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>,
                  "detect_steady takes std::int64_t or double: convert other numbers first");
    if (finite(first[i]) && !(first[i] < T{0})) continue;
    state.reason = steady_reason::not_a_duration;
    state.offender = i;
    return state;
  }
  if (size < fewest_for_steady) return state;
  auto const level = *median(number_span<T>{first + size / 2, size - size / 2});
  if (level > 0.0) return judge(windowed_series<T>{first, size, level});
  if (extremes_of(first, size)->maximum > T{0}) {
    state.reason = steady_reason::zero_level;
    return state;
  }
  state.verdict = steadiness::yes;
  state.reason = steady_reason::one_level;
  state.start = 0;
  state.excursions = 0.0;
  state.segments.push_back({0, size, 0.0, true});
  return state;
}

/// The same for a vector, an array, anything with `data()` and `size()`.
template <class Numbers>
[[nodiscard]] steady_state detect_steady(Numbers const& numbers) {
  return detect_steady(std::data(numbers), std::size(numbers));
}

}  // namespace streamgauge
