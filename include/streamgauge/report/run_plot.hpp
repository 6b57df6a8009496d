#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/run_values.hpp>

namespace streamgauge::report {

/// A share with its sign: "+4.2 %". A template, so that only a unit that draws compiles it.
template <class = void>
[[nodiscard, gnu::cold]] std::string signed_percent(double share) {
  return std::string{share < 0.0 ? "-" : "+"}.append(percent(share));
}

/// A run in the order of time: every value where they fit, else the least, the median and the most of each column; with
/// warm-up shaded, levels as steps and their changes marked.
/// Shape: at most some 280 columns, however long the run was. A template, so that only a unit that draws compiles it.
template <class Values = run_values<>>
class run_plot {
 public:
  explicit run_plot(Values const& of)
      : of_{of},
        size_{of.values().size()},
        in_{natural_unit(fractional_nanoseconds{of.high()})},
        picture_{width, height, "plot", "times of the run in its order"} {
    add_frame();
    shade_warmup();
    if (size_ <= most_points)
      add_points();
    else
      add_columns();
    add_beyond();
    add_levels();
    add_first();
  }

  [[nodiscard]] std::string finished() && { return std::move(picture_).finished(); }

 private:
  static constexpr double width = 640;
  static constexpr double height = 210;
  static constexpr double left = 66;
  static constexpr double right = 632;
  static constexpr double top = 20;
  static constexpr double bottom = 178;
  static constexpr std::size_t most_points = 566;
  static constexpr std::size_t columns = 283;

  [[nodiscard]] double x_of(double index) const noexcept {
    return left + (right - left) * index / static_cast<double>(size_);
  }
  [[nodiscard]] double x_at(std::size_t index) const noexcept { return x_of(static_cast<double>(index) + 0.5); }
  [[nodiscard]] double y_of(double time) const noexcept {
    double const bounded = (std::min)((std::max)(time, of_.low()), of_.high());
    return bottom - (bottom - top) * (bounded - of_.low()) / (of_.high() - of_.low());
  }
  [[nodiscard]] double y_at(std::size_t index) const noexcept { return y_of(static_cast<double>(of_.values()[index])); }

  void add_frame() {
    auto const ticks = ticks_within(of_.low(), of_.high(), 5, 1.0);
    for (double const at : ticks.at) {
      picture_.line(left, y_of(at), right, y_of(at), "grid");
      picture_.text(left - 6, y_of(at) + 4, text_anchor::end, tick_label(at, ticks.step, in_));
    }
    picture_.text(left - 6, top - 7, text_anchor::end, name_of(in_), "quiet");
    double const last = size_ > 0 ? static_cast<double>(size_ - 1) : 0.0;
    for (double const at : ticks_within(0.0, last, 5, 1.0).at)
      picture_.text(x_of(at + 0.5), bottom + 18, text_anchor::middle, digits(static_cast<std::uint64_t>(at)));
    picture_.line(left, bottom, right, bottom, "axis");
  }

  void shade(index_range range, char const* says) {
    double const from = x_of(static_cast<double>(range.begin));
    picture_.rectangle(from, top, (std::max)(1.0, x_of(static_cast<double>(range.end)) - from), bottom - top, "warm", says);
  }
  void shade_warmup() {
    for (auto const& range : of_.warmup()) shade(range, "warm-up by its fixed count");
    if (of_.settling()) shade(*of_.settling(), "before it became steady");
  }

  void add_points() {
    svg_path<> points;
    for (std::size_t i = 0; i < size_; ++i) points.point(x_at(i), y_at(i));
    picture_.path(points, size_ < 60 ? "dots few" : "dots");
  }

  // An area from the least to the most of each column, and a line through the medians.
  void add_columns() {
    struct column {
      std::int64_t least;
      std::int64_t median;
      std::int64_t most;
    };
    std::vector<column> all;
    std::vector<std::int64_t> some;
    auto const begin_of = [&](std::size_t i) { return i * size_ / columns; };
    for (std::size_t i = 0; i < columns; ++i) {
      some.assign(of_.values().data() + begin_of(i), of_.values().data() + begin_of(i + 1));
      auto const middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
      std::nth_element(some.begin(), middle, some.end());
      all.push_back({*std::min_element(some.begin(), middle + 1), *middle, *std::max_element(middle, some.end())});
    }
    svg_path<> area;
    svg_path<> line;
    auto const x = [](std::size_t i) { return left + 1.0 + 2.0 * static_cast<double>(i); };
    for (std::size_t i = 0; i < columns; ++i) {
      double const y = y_of(static_cast<double>(all[i].most));
      i == 0 ? area.move_to(x(i), y) : area.line_to(x(i), y);
    }
    for (std::size_t i = columns; i-- > 0;) area.line_to(x(i), y_of(static_cast<double>(all[i].least)));
    for (std::size_t i = 0; i < columns; ++i) {
      double const y = y_of(static_cast<double>(all[i].median));
      i == 0 ? line.move_to(x(i), y) : line.line_to(x(i), y);
    }
    picture_.path(area.close(), "range");
    picture_.path(line, "middle");
  }

  // What lies beyond the picture: a small triangle at its edge, one for each few columns.
  void add_beyond() {
    if (of_.above() + of_.below() == 0) return;
    svg_path<> marks;
    double last_above = 0.0;
    double last_below = 0.0;
    for (std::size_t i = 0; i < size_; ++i) {
      auto const value = static_cast<double>(of_.values()[i]);
      double const x = x_at(i);
      if (value > of_.high() && x >= last_above + 4.0) {
        marks.move_to(x - 4, top + 5).line_to(x, top - 3).line_to(x + 4, top + 5).close();
        last_above = x;
      }
      if (value < of_.low() && x >= last_below + 4.0) {
        marks.move_to(x - 4, bottom - 5).line_to(x, bottom + 3).line_to(x + 4, bottom - 5).close();
        last_below = x;
      }
    }
    picture_.path(marks, "beyond");
  }

  void add_levels() {
    svg_path<> steps;
    svg_path<> changes;
    double free_from = 0.0;
    std::size_t before = 0;  // how long the level before was: a single value far out is no change of level
    for (auto const& level : of_.levels()) {
      bool const from_level = before >= 3;
      before = level.at.size();
      double const from = x_of(static_cast<double>(level.at.begin));
      double const to = x_of(static_cast<double>(level.at.end));
      steps.move_to(from, y_of(level.median)).horizontal_to(to);
      if (!from_level || !level.change || std::fabs(*level.change) < 0.005) continue;
      changes.move_to(from, top).vertical_to(bottom);
      if (from < free_from) continue;
      bool const near_end = from > right - 80;
      picture_.text(near_end ? from - 4 : from + 4, bottom - 6, near_end ? text_anchor::end : text_anchor::start,
                    signed_percent(*level.change), "change");
      free_from = from + 90;
    }
    auto const& median = of_.what().steady.median;
    if (of_.levels().empty() && median) steps.move_to(left, y_of(median->count())).horizontal_to(right);
    picture_.path(changes, "changes");
    picture_.path(steps, of_.levels().empty() ? "level whole" : "level");
  }

  void add_first() {
    if (size_ == 0) return;
    auto const first = of_.values().front();
    std::string const says = "first " + with_unit(fractional_nanoseconds{static_cast<double>(first)});
    picture_.circle(x_at(0), y_at(0), 5, "first", says);
    picture_.text((std::min)(x_at(0) + 9, right - 90), top - 8, text_anchor::start, says, "said");
  }

  Values const& of_;
  std::size_t size_;
  unit in_;
  svg<> picture_;
};

}  // namespace streamgauge::report
