#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/noise.hpp>
#include <streamgauge/analyze/change_points.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Warm-up as a curve that decays into the level, clamped as the series is.
struct decay_fit {
  double at = 0.0;       ///< where it has come within one band of the level, in samples
  double squares = 0.0;  ///< sum of squares around it
};

/// The decay that fits the first samples of a series best: from the side of `beginning` into the level `settled`.
/// Why: steps fitted to a decay end where its rest drowns in the noise, which is before it is gone. The whole curve
/// says when it is.
/// Shape: at most 128 groups of samples, ten time constants, one end for each group.
template <class T>
[[nodiscard]] decay_fit decay_into(windowed_series<T> const& series, std::size_t samples, double beginning,
                                   double settled) {
  std::size_t const group = (samples + 127) / 128;
  auto const groups = samples / group;
  double const sign = beginning > settled ? 1.0 : -1.0;
  double const limit = series.limit() - sign * settled;
  double const band = steady_band * (1.0 + settled);
  auto const width = static_cast<double>(group);
  std::vector<double> off(groups, 0.0);
  std::vector<double> squares_from(groups + 1, 0.0);
  double within = 0.0;  // what grouping leaves out of the sum of squares
  for (std::size_t k = 0; k < groups; ++k) {
    index_range const range{k * group, (k + 1) * group};
    off[k] = sign * (series.mean(range) - settled);
    for (std::size_t i = range.begin; i < range.end; ++i) {
      double const rest = sign * (series.deviation(i) - settled) - off[k];
      within += rest * rest;
    }
  }
  for (std::size_t k = groups; k > 0; --k) squares_from[k - 1] = squares_from[k] + off[k - 1] * off[k - 1];
  decay_fit best{0.0, -1.0};
  for (double constant = 0.7; constant < static_cast<double>(groups) / 2.5; constant *= 1.6) {
    double const fall = __builtin_exp(-1.0 / constant);
    for (std::size_t end = 0; end < groups; ++end) {
      double height = band * __builtin_exp(static_cast<double>(end) / constant);
      double squares = 0.0;
      std::size_t k = 0;
      for (; k < groups && height > 0.01 * band; ++k) {
        double const rest = off[k] - (height < limit ? height : limit);
        squares += rest * rest;
        height *= fall;
      }
      squares += squares_from[k];
      if (best.squares >= 0.0 && !(squares < best.squares)) continue;
      best = {(static_cast<double>(end) + 0.5) * width, squares};
    }
  }
  if (best.squares >= 0.0) best.squares = width * best.squares + within;
  return best;
}

/// The first sample of the part that begins with window `start`.
///
/// The boundary between two levels is placed where both together fit best. Then the head is trimmed: the prefix that
/// lies off by a band and most surely so, as long as there is one of 4.5 standard errors; a launch or three that are
/// slow make no level of their own. If warm-up was found so, and a decay fits it better than the steps do, the end of
/// the decay counts. Last, samples that lie as far off as the clamp reaches are skipped.
template <class T>
[[nodiscard]] std::size_t warmup_end(windowed_series<T> const& series, levels const& found, std::size_t start) {
  auto const size = series.size();
  auto const windows = series.windows();
  auto const per_window = series.per_window();
  auto const edge_within = [&](std::size_t window) { return series.edge(window < windows ? window : windows); };
  std::size_t settled_from = edge_within(start > 0 ? start + 1 : 2);
  std::size_t const latest = start > 0 ? size - 1 : size / 4;
  if (settled_from > latest) settled_from = latest;
  double const settled = series.mean({settled_from, size});
  double const band = steady_band * (1.0 + settled);

  std::vector<std::size_t> cuts{0};  // where a level of the warm-up begins
  std::size_t begin = series.edge(start);
  if (start > 0) {
    for (auto const& segment : found.segments)
      if (segment.end < start) cuts.push_back(series.edge(segment.end));
    index_range const around{series.edge(start < 2 ? 0 : start - 2), edge_within(start + 2)};
    double sum = 0.0;
    double most = 0.0;
    for (std::size_t i = around.begin; i < around.end; ++i) {
      // Against one settled level everywhere, a split after this sample gains the square of the sum over its count.
      sum += series.deviation(i) - settled;
      double const gain = sum * sum / static_cast<double>(i - around.begin + 1);
      if (i > around.begin && !(gain > most)) continue;
      most = gain;
      begin = i + 1;
    }
    while (cuts.back() >= begin) cuts.pop_back();
    cuts.push_back(begin);
  }

  std::vector<double> recent;
  constexpr std::size_t enough = 65536;
  std::size_t const recent_from = size < 16 ? 0 : size - size / 2 > enough ? size - enough : size / 2;
  for (std::size_t i = recent_from; i < size; ++i) recent.push_back(series.deviation(i));
  double variance = noise_variance(recent.data(), recent.size());
  double const as_windows = static_cast<double>(per_window) * found.variance;
  if (as_windows > variance) variance = as_windows;
  for (int round = 0; round < 8 && begin + 4 < size; ++round) {
    std::size_t most = 4 * per_window > size / 8 ? 4 * per_window : size / 8;
    if (most > size - begin - 4) most = size - begin - 4;
    double sum = 0.0;
    double surest = 4.5 * 4.5 * variance;
    std::size_t trimmed = 0;
    for (std::size_t count = 1; count <= most; ++count) {
      sum += series.deviation(begin + count - 1) - settled;
      auto const length = static_cast<double>(count);
      double const off = sum < 0.0 ? -sum : sum;
      if (off < band * length || sum * sum / length <= surest) continue;
      surest = sum * sum / length;
      trimmed = count;
    }
    if (trimmed == 0) break;
    begin += trimmed;
    cuts.push_back(begin);
  }

  if (begin > 0 && begin < size / 2) {
    std::size_t span = begin + begin / 2 + 3 * per_window;
    if (span < 12) span = 12;
    if (span > size) span = size;
    span -= span % ((span + 127) / 128);
    double const tail = series.mean({begin + (size - begin) / 4, size});
    auto const decay = decay_into(series, span, series.mean({0, cuts[1]}), tail);
    double squares = 0.0;
    for (std::size_t cut = 0; cut < cuts.size(); ++cut) {
      bool const last = cut + 1 == cuts.size();
      index_range const range{cuts[cut], last ? span : cuts[cut + 1]};
      double const center = last ? tail : series.mean(range);
      for (std::size_t i = range.begin; i < range.end; ++i)
        squares += (series.deviation(i) - center) * (series.deviation(i) - center);
    }
    if (decay.squares >= 0.0 && decay.squares < squares) {
      begin = static_cast<std::size_t>(decay.at + 0.5);
      if (begin + 4 > size) begin = size - 4;
    }
  }
  while (begin + 4 < size && begin < size / 2 && series.far_off(begin)) ++begin;
  return begin;
}

}  // namespace streamgauge
