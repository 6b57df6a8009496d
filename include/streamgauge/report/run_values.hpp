#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/analyze/steady_state.hpp>
#include <streamgauge/analyze/distribution.hpp>
#include <streamgauge/analyze/number_summary.hpp>

namespace streamgauge::report {

// What the pictures of one observable are drawn from.

/// A level of a run, by places among all its values.
struct drawn_level {
  index_range at;
  double median = 0.0;
  std::optional<double> change;  ///< against the one before: 0.02 is two per cent up
};

/// The values of one observable of a series in the order in which they were taken, and what of them is warm-up.
/// Why: a distribution counts its places behind the fixed warm-up; a picture shows that as well.
/// A template, so that only a unit that draws compiles its bodies.
template <class Series = series>
class run_values {
 public:
  run_values(Series const& from, observation sample::*which, waited_by policy, distribution const& what) : what_{what} {
    values_.reserve(from.samples.size());
    std::vector<std::size_t> behind;  // of each value behind the fixed warm-up its place among all
    behind.reserve(from.samples.size());
    for (auto const& one : from.samples) {
      if (!takes(policy, one.waited)) continue;
      auto const value = (one.*which).value();
      if (!value) continue;
      auto const at = values_.size();
      if (!one.warmup) {
        behind.push_back(at);
      } else if (!warmup_.empty() && warmup_.back().end == at) {
        ++warmup_.back().end;
      } else {
        warmup_.push_back({at, at + 1});
      }
      values_.push_back(value->count());
    }
    auto const place = [&](std::size_t index) { return index < behind.size() ? behind[index] : values_.size(); };
    auto const& state = what.steadiness;
    if (auto const start = state.start.value_or(0); start > 0 && !behind.empty())
      settling_ = index_range{behind.front(), place(start)};
    for (auto const& each : state.segments) {
      if (each.begin >= each.end || each.end > behind.size()) continue;
      drawn_level level{{place(each.begin), place(each.end - 1) + 1}, each.median, std::nullopt};
      if (!levels_.empty()) level.change = level_change{0, levels_.back().median, each.median}.share();
      levels_.push_back(level);
    }
    choose_range();
  }

  [[nodiscard]] std::vector<std::int64_t> const& values() const noexcept { return values_; }
  /// What a fixed count put into warm-up: more than one stretch where runs were merged.
  [[nodiscard]] std::vector<index_range> const& warmup() const noexcept { return warmup_; }
  /// What came before the series became steady, beyond that.
  [[nodiscard]] std::optional<index_range> settling() const noexcept { return settling_; }
  [[nodiscard]] std::vector<drawn_level> const& levels() const noexcept { return levels_; }
  [[nodiscard]] distribution const& what() const noexcept { return what_; }

  /// Between which times a picture of it is drawn. What lies beyond shows at its edge.
  /// Why: a first call is often a hundred times as long as the others, and would make a line of all that is to be seen.
  [[nodiscard]] double low() const noexcept { return low_; }
  [[nodiscard]] double high() const noexcept { return high_; }
  [[nodiscard]] std::uint64_t above() const noexcept { return above_; }
  [[nodiscard]] std::uint64_t below() const noexcept { return below_; }

 private:
  void choose_range() {
    auto const ends = extremes_of(values_.data(), values_.size());
    if (!ends) return;
    low_ = static_cast<double>(ends->minimum);
    high_ = static_cast<double>(ends->maximum);
    auto const& steady = what_.steady;
    if (steady.median && steady.q25 && steady.q75) {
      double const middle = steady.median->count();
      double spread = steady.q75->count() - steady.q25->count();
      if (spread < 0.002 * middle) spread = 0.002 * middle;
      if (spread < 1.0) spread = 1.0;
      // From the lowest to the highest of those that are not far out.
      double const lowest = steady.q25->count() - 4.0 * spread;
      double const highest = steady.q75->count() + 4.0 * spread;
      low_ = high_ = middle;
      for (auto const each : values_) {
        auto const value = static_cast<double>(each);
        if (value >= lowest && value < low_) low_ = value;
        if (value <= highest && value > high_) high_ = value;
      }
      for (auto const& level : levels_) {
        // A single one far out makes a level too.
        if (level.at.size() < 3 || 50 * level.at.size() < values_.size()) continue;
        low_ = (std::min)(low_, level.median);
        high_ = (std::max)(high_, level.median);
      }
    }
    double room = 0.05 * (high_ - low_);
    if (!(room > 0.0)) room = (std::max)(1.0, 0.01 * high_);
    low_ = (std::max)(0.0, low_ - room);
    high_ += room;
    for (auto const value : values_) {
      if (static_cast<double>(value) > high_) ++above_;
      if (static_cast<double>(value) < low_) ++below_;
    }
  }

  distribution const& what_;
  std::vector<std::int64_t> values_;
  std::vector<index_range> warmup_;
  std::optional<index_range> settling_;
  std::vector<drawn_level> levels_;
  double low_ = 0.0;
  double high_ = 1.0;
  std::uint64_t above_ = 0;
  std::uint64_t below_ = 0;
};

}  // namespace streamgauge::report
