#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/histogram.hpp>
#include <streamgauge/analyze/observable_totals.hpp>
#include <streamgauge/analyze/windows.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/run_values.hpp>

namespace streamgauge::report {

/// How many steady values lie in each of some equally wide parts of a picture's range.
/// Why: parts are whole steps of the clock wide, else a coarse one makes a comb of any distribution.
/// A template, so that only a unit that draws compiles its bodies.
template <class Values = run_values<>>
class counted_parts {
 public:
  /// `totals`: of a series that did not keep every sample; null otherwise.
  counted_parts(Values const& of, number_totals const* totals) : low_{of.low()} {
    constexpr std::size_t enough = 2048;
    double const range = of.high() - of.low();
    double const tick = of.values().empty() ? 0.0 : tick_of(of.values().data(), (std::min)(of.values().size(), enough));
    double step = tick > 0.0 && tick < range ? tick : 1.0;
    double bucket = 1.0;  // what the totals do not tell apart
    if (totals)
      totals->values.visit([&](histogram::bucket const& each) {
        if (static_cast<double>(each.first) < of.high()) bucket = (std::max)(bucket, static_cast<double>(each.width));
      });
    step = bucket * std::ceil(step / bucket);
    std::size_t const most = of.what().steady.count < 200 ? 16 : of.what().steady.count < 2000 ? 28 : 40;
    width_ = step * std::ceil(range / static_cast<double>(most) / step);
    if (!(width_ > 0.0)) width_ = 1.0;
    low_ = std::floor(low_ / width_) * width_;
    counts_.resize((std::max)(std::size_t{1}, static_cast<std::size_t>(std::ceil((of.high() - low_) / width_))));
    if (totals) {
      totals->values.visit([&](histogram::bucket const& each) {
        count(static_cast<double>(each.first) + static_cast<double>(each.width - 1) / 2.0, each.count);
      });
      return;
    }
    auto const is_warmup = [&](std::size_t i) {
      if (of.settling() && i < of.settling()->end) return true;
      for (auto const& stretch : of.warmup())
        if (i >= stretch.begin && i < stretch.end) return true;
      return false;
    };
    for (std::size_t i = 0; i < of.values().size(); ++i)
      if (!is_warmup(i)) count(static_cast<double>(of.values()[i]), 1);
  }

  [[nodiscard]] std::vector<std::uint64_t> const& counts() const noexcept { return counts_; }
  [[nodiscard]] double begin_of(std::size_t part) const noexcept { return low_ + width_ * static_cast<double>(part); }
  [[nodiscard]] double width() const noexcept { return width_; }
  [[nodiscard]] std::uint64_t above() const noexcept { return above_; }
  [[nodiscard]] std::uint64_t below() const noexcept { return below_; }
  [[nodiscard]] std::uint64_t most() const noexcept { return *std::max_element(counts_.begin(), counts_.end()); }

 private:
  void count(double value, std::uint64_t times) {
    double const part = std::floor((value - low_) / width_);
    if (part < 0.0)
      below_ += times;
    else if (part >= static_cast<double>(counts_.size()))
      above_ += times;
    else
      counts_[static_cast<std::size_t>(part)] += times;
  }

  double low_;
  double width_ = 1.0;
  std::vector<std::uint64_t> counts_;
  std::uint64_t above_ = 0;
  std::uint64_t below_ = 0;
};

/// A histogram of the steady values, with the median and the 95 % interval around it.
template <class Values, class Parts>
[[nodiscard, gnu::cold]] std::string histogram_plot(Values const& of, Parts const& parts) {
  constexpr double width = 330;
  constexpr double left = 12;
  constexpr double right = 318;
  constexpr double top = 20;
  constexpr double bottom = 178;
  svg<> picture{width, 210, "plot small", "how many steady values there are of each time"};
  double const from = parts.begin_of(0);
  double const to = parts.begin_of(parts.counts().size());
  auto const x_of = [&](double time) {
    return left + (right - left) * ((std::min)((std::max)(time, from), to) - from) / (to - from);
  };
  auto const& steady = of.what().steady;
  if (steady.confidence) {
    double const low = x_of(static_cast<double>(steady.confidence->low.count()));
    double const high = x_of(static_cast<double>(steady.confidence->high.count()));
    picture.rectangle(low, top, (std::max)(1.5, high - low), bottom - top, "interval", "95 % interval of the median");
  }
  double const most = static_cast<double>((std::max)(parts.most(), std::uint64_t{1}));
  svg_path<> bars;
  for (std::size_t i = 0; i < parts.counts().size(); ++i) {
    if (parts.counts()[i] == 0) continue;
    double const share = static_cast<double>(parts.counts()[i]) / most;
    double const gap = (x_of(parts.begin_of(1)) - left) > 3.0 ? 0.5 : 0.0;
    // What is there at all is seen: one pixel at least.
    double const y = bottom - (std::max)(1.0, share * (bottom - top - 6));
    bars.move_to(x_of(parts.begin_of(i)) + gap, bottom).vertical_to(y).horizontal_to(x_of(parts.begin_of(i + 1)) - gap);
    bars.vertical_to(bottom).close();
  }
  picture.path(bars, "bars");
  auto const in = natural_unit(fractional_nanoseconds{of.high()});
  auto const ticks = ticks_within(from, to, 4, 1.0);
  for (double const at : ticks.at) {
    picture.line(x_of(at), bottom, x_of(at), bottom + 4, "axis");
    picture.text(x_of(at), bottom + 18, text_anchor::middle, tick_label(at, ticks.step, in));
  }
  picture.line(left, bottom, right, bottom, "axis");
  if (steady.median) {
    double const x = x_of(steady.median->count());
    picture.line(x, top - 4, x, bottom, "level");
    bool const on_the_right = x > (left + right) / 2;
    picture.text(on_the_right ? x - 5 : x + 5, top - 6, on_the_right ? text_anchor::end : text_anchor::start,
                 "median " + with_unit(*steady.median), "said");
  }
  return std::move(picture).finished();
}

}  // namespace streamgauge::report
