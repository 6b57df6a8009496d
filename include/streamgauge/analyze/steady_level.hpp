#pragma once

#include <cstddef>
#include <vector>

#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/noise.hpp>
#include <streamgauge/analyze/change_points.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// The segment that was taken for the steady level, and which others are at the same one.
template <class T>
class reference_level {
 public:
  /// The last segment that has a tenth of the windows: a shorter one at the end may be an excursion.
  reference_level(windowed_series<T> const& series, std::vector<index_range> const& segments) : series_{series} {
    auto const windows = series.windows();
    std::size_t const fewest = windows < 20 ? 1 : (windows + 9) / 10;
    index_ = segments.size() - 1;
    while (index_ > 0 && segments[index_].size() < fewest) --index_;
    center_ = series.center(series.samples(segments[index_]));
    for (auto const& segment : segments) same_.push_back(matches(series.samples(segment)) ? 1 : 0);
  }

  [[nodiscard]] std::size_t index() const noexcept { return index_; }
  [[nodiscard]] double mean() const noexcept { return center_.mean; }
  [[nodiscard]] bool same(std::size_t segment) const noexcept { return same_[segment] != 0; }

  /// Whether a range of samples is at its level.
  [[nodiscard]] bool matches(index_range samples) const noexcept { return series_.alike(center_, samples); }

 private:
  windowed_series<T> const& series_;
  std::size_t index_ = 0;
  level_center center_;
  std::vector<char> same_;
};

/// The windows that belong together, back from the reference, and how many of them are off its level.
struct flat_tail {
  std::size_t start = 0;    ///< the first window
  std::size_t off = 0;      ///< windows at another level
  std::size_t off_end = 0;  ///< those behind the reference
};

/// Excursions are passed over while they make up at most 8 per cent of the tail.
template <class T>
[[nodiscard]] flat_tail tail_of(windowed_series<T> const& series, std::vector<index_range> const& segments,
                                reference_level<T> const& reference) {
  auto const few = [](std::size_t part, std::size_t of) { return 100 * part <= 8 * of; };
  auto const windows = series.windows();
  flat_tail tail;
  for (std::size_t i = reference.index() + 1; i < segments.size(); ++i)
    if (!reference.same(i)) tail.off_end += segments[i].size();
  tail.off = tail.off_end;
  tail.start = segments[reference.index()].begin;
  std::size_t pending = 0;
  for (std::size_t i = reference.index(); i > 0 && few(tail.off + pending, windows); --i) {
    auto const& segment = segments[i - 1];
    if (!reference.same(i - 1)) {
      pending += segment.size();
    } else if (few(tail.off + pending, windows - segment.begin)) {
      tail.start = segment.begin;
      tail.off += pending;
      pending = 0;
    }
  }
  return tail;
}

/// Whether one straight line over the run, by more than two bands, fits better than its levels with a flat tail.
/// Why: a drift under noise is cut into few steps, and the last of them may be long enough to look steady.
template <class T>
[[nodiscard]] bool drifts(windowed_series<T> const& series, std::vector<index_range> const& segments,
                          std::size_t start) {
  auto const& means = series.means();
  auto const windows = means.size();
  if (start == 0 || windows < 12) return false;
  auto const count = static_cast<double>(windows);
  double const middle = (count - 1.0) / 2.0;
  double mean = 0.0;
  for (double const each : means) mean += each / count;
  double slope = 0.0;
  for (std::size_t k = 0; k < windows; ++k) slope += (static_cast<double>(k) - middle) * (means[k] - mean);
  slope /= count * (count * count - 1.0) / 12.0;
  double around_line = 0.0;
  double around_levels = 0.0;
  std::size_t segment = 0;
  double const settled = series.mean({series.edge(start), series.size()});
  for (std::size_t k = 0; k < windows; ++k) {
    if (k == segments[segment].end) ++segment;
    double const off_line = means[k] - mean - slope * (static_cast<double>(k) - middle);
    double const off_level = means[k] - (k < start ? series.mean(series.samples(segments[segment])) : settled);
    around_line += off_line * off_line;
    around_levels += off_level * off_level;
  }
  double const rise = slope * count;
  double const limit = 2.0 * steady_band * (1.0 + settled);
  return around_line < around_levels && (rise > limit || rise < -limit);
}

/// Whether slow waves move the tail by more than two and a half bands, and more surely than noise does: their energy is
/// above 18 variances for the first and three more for each next, up to six. Excursions are left out.
template <class T>
[[nodiscard]] bool wanders(windowed_series<T> const& series, levels const& found, reference_level<T> const& reference,
                           std::size_t from) {
  std::vector<double> tail;
  for (std::size_t i = 0; i < found.segments.size(); ++i)
    for (std::size_t k = found.segments[i].begin; k < found.segments[i].end; ++k)
      if (series.edge(k) >= from) tail.push_back(reference.same(i) ? series.means()[k] : reference.mean());
  if (tail.size() < 12) return false;
  slow_waves<> waves{tail};
  double energy = 0.0;
  for (std::size_t wave = 1; wave <= 6 && 6 * wave <= tail.size(); ++wave) {
    energy += waves.take();
    if (energy > (15.0 + 3.0 * static_cast<double>(wave)) * found.variance &&
        waves.height() > 2.5 * steady_band * (1.0 + reference.mean()))
      return true;
  }
  return false;
}

}  // namespace streamgauge
