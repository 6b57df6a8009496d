#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/quantity.hpp>
#include <streamgauge/report/html_text.hpp>
#include <streamgauge/report/html_names.hpp>
#include <streamgauge/report/svg.hpp>
#include <streamgauge/report/decades.hpp>
#include <streamgauge/report/free_places.hpp>

namespace streamgauge::report {

/// Why a phase has no point under the roofs; empty where it has one.
template <class Row>
[[nodiscard, gnu::cold]] std::string why_no_point(Row const& of) {
  if (!of.why_not.empty()) return of.why_not;
  auto const& at = of.point;
  if (!at.flops_per_second || !at.bytes_per_second)
    return at.missing.empty() ? std::string{"no rate is known"} : at.missing.front();  // what the roofs lack comes last
  bool const computes = *at.flops_per_second > 0;
  bool const moves = *at.bytes_per_second > 0;
  if (!computes && !moves) return "it has neither operations nor bytes";
  if (!computes) return "it has no operations: its intensity is 0, and an axis of powers of ten has no 0";
  if (!moves) return "it has no bytes: there is no intensity";
  if (!exponent_of(at.intensity) || !exponent_of(at.flops_per_second)) return "its numbers are beyond any picture";
  return {};
}

/// Phases under the roofs of their device: the rate over the intensity, both by powers of ten.
/// Shape: at most `most` points, those that took the longest. A name stands beside its point where there is room for it, on
/// a narrow screen fewer of them; points that lie on each other have one, and how many more they are. A template, so that only a unit that draws compiles it.
template <class Roofline = roofline>
class roofline_plot {
 public:
  /// `most`: how many points.
  roofline_plot(Roofline const& of, phase_colors<>& colors, std::size_t most) : of_{of}, colors_{colors} {
    for (auto const& row : of.rows)
      if (why_no_point(row).empty()) drawn_.push_back(&row);
    with_point_ = drawn_.size();
    auto const takes = [](roofline_row const* row) { return row->time->count() * static_cast<double>(row->count); };
    std::stable_sort(drawn_.begin(), drawn_.end(), [&](auto const* a, auto const* b) { return takes(a) > takes(b); });
    if (drawn_.size() > most) drawn_.resize(most);
    by_time_ = drawn_;
    std::sort(drawn_.begin(), drawn_.end(), [](auto const* a, auto const* b) { return a->series < b->series; });
    flops_ = exponent_of(of.roofs.flops.per_second);
    bytes_ = exponent_of(of.roofs.bytes.per_second);
    find_ranges();
  }

  /// How many have a point, drawn or not.
  [[nodiscard]] std::size_t with_point() const noexcept { return with_point_; }
  [[nodiscard]] std::vector<roofline_row const*> const& drawn() const noexcept { return drawn_; }

  /// Requires: something is drawn.
  [[nodiscard]] std::string picture() const {
    svg<> picture{width, height, "plot", "phases under the roofs of their device: rate over intensity"};
    add_frame(picture);
    add_roofs(picture);
    add_points(picture);
    // On a narrow screen letters are larger in the picture's own measure, so other places are free.
    add_labels(picture, 12, 13, across_lines::where_needed, "said hide");
    add_labels(picture, 20, 17, across_lines::never, "said narrow");
    return std::move(picture).finished();
  }

 private:
  static constexpr double width = 640;
  static constexpr double height = 396;
  static constexpr double left = 72;
  static constexpr double right = 622;
  static constexpr double top = 30;
  static constexpr double bottom = 342;
  static constexpr double together = 6;  // points that are no further apart are told as one

  [[nodiscard]] double x_at(double exponent) const {
    return left + (right - left) * (exponent - x_.low()) / (x_.high() - x_.low());
  }
  [[nodiscard]] double y_at(double exponent) const {
    return bottom - (bottom - top) * (exponent - y_.low()) / (y_.high() - y_.low());
  }
  [[nodiscard]] double x_of(roofline_row const& of) const { return x_at(*exponent_of(of.point.intensity)); }
  [[nodiscard]] double y_of(roofline_row const& of) const { return y_at(*exponent_of(of.point.flops_per_second)); }

  void find_ranges() {
    if (flops_ && bytes_) {
      x_.hold(*flops_ - *bytes_ - 0.6);
      x_.hold(*flops_ - *bytes_ + 0.6);
    }
    if (flops_) y_.hold(*flops_);
    for (auto const* row : drawn_) {
      double const intensity = *exponent_of(row->point.intensity);
      x_.hold(intensity);
      y_.hold(*exponent_of(row->point.flops_per_second));
      if (bytes_) y_.hold(flops_ ? (std::min)(*flops_, *bytes_ + intensity) : *bytes_ + intensity);
    }
    x_.widen(0.4, 0.4);
    y_.widen(0.4, (std::max)(0.25, 0.12 * (y_.high() - y_.low())));
  }

  void add_frame(svg<>& picture) const {
    for (auto const& mark : x_.marks()) {
      picture.line(x_at(mark.at), top, x_at(mark.at), bottom, "grid");
      picture.text(x_at(mark.at), bottom + 21, text_anchor::middle, mark.label);
    }
    for (auto const& mark : y_.marks()) {
      picture.line(left, y_at(mark.at), right, y_at(mark.at), "grid");
      picture.text(left - 6, y_at(mark.at) + 5, text_anchor::end, mark.label);
    }
    picture.line(left, bottom, right, bottom, "axis");
    picture.text(0, top - 14, text_anchor::start, "flop/s");
    picture.text(right, bottom + 45, text_anchor::end, "flop/B");
  }

  [[nodiscard]] double exponent_at(double x) const { return x_.low() + (x - left) / (right - left) * (x_.high() - x_.low()); }

  // The roofs as they are drawn: from where, past the ridge, to the right edge.
  struct bend {
    double x = left;
    double y = bottom;
  };
  [[nodiscard]] bend begin_of_roofs() const {
    if (!bytes_) return {left, y_at(*flops_)};
    double const begin = (std::max)(x_.low(), y_.low() - *bytes_);
    return {x_at(begin), y_at(*bytes_ + begin)};
  }
  [[nodiscard]] bend end_of_slope() const {
    if (!bytes_) return {left, y_at(*flops_)};
    double const end = flops_ ? *flops_ - *bytes_ : (std::min)(x_.high(), y_.high() - *bytes_);
    return {x_at(end), y_at(*bytes_ + end)};
  }

  void add_roofs(svg<>& picture) const {
    if (!flops_ && !bytes_) return;
    bend const from = begin_of_roofs();
    bend const to = end_of_slope();
    svg_path<> below;
    below.move_to(from.x, bottom).line_to(from.x, from.y).line_to(to.x, to.y).horizontal_to(right).vertical_to(bottom).close();
    picture.path(below, "under-roof");
    if (flops_ && bytes_) picture.line(to.x, to.y, to.x, bottom, "changes");
    svg_path<> line;
    line.move_to(from.x, from.y).line_to(to.x, to.y);
    if (flops_) line.horizontal_to(right);
    picture.path(line, "roof");
  }

  // Texts off the points, the lines and each other; what finds no place is in the legend and the table.
  void add_labels(svg<>& picture, double letter, double gap, across_lines across, char const* look) const {
    free_places<> places{{left + 2, top - 22, right, bottom - 2}, across};
    auto const add = [&](std::string_view what, std::vector<text_place> const& wanted) {
      if (auto const at = places.put(what, letter, wanted)) picture.text(at->x, at->y, at->at, what, look);
    };
    double const reach = gap - 4;
    for (auto const* row : drawn_) places.take({x_of(*row) - reach, y_of(*row) - reach, x_of(*row) + reach, y_of(*row) + reach});
    if (flops_ || bytes_) {
      bend const from = begin_of_roofs();
      bend const to = end_of_slope();
      places.take_line(from.x, from.y, to.x, to.y);
      if (flops_) places.take_line(to.x, to.y, right, to.y);
      if (flops_ && bytes_) places.take_line(to.x, to.y, to.x, bottom);
      if (flops_) add(with_prefix(*of_.roofs.flops.per_second, "flop/s"), places_at_level(to, letter));
      if (bytes_) add(with_prefix(*of_.roofs.bytes.per_second, "B/s"), places_at_slope(from, to, letter));
      if (flops_ && bytes_)
        add("ridge " + four_digits(*of_.roofs.flops.per_second / *of_.roofs.bytes.per_second) + " flop/B",
            places_at_ridge(to, letter));
    }
    std::vector<roofline_row const*> told;
    for (auto const* row : by_time_) {
      auto const is_near = [&](auto const* other) {
        return std::fabs(x_of(*other) - x_of(*row)) <= together && std::fabs(y_of(*other) - y_of(*row)) <= together;
      };
      if (std::any_of(told.begin(), told.end(), is_near)) continue;
      told.push_back(row);
      auto const all = static_cast<std::size_t>(std::count_if(by_time_.begin(), by_time_.end(), is_near));
      auto name = shortened(identity_of(row->phase, row->conditions), 24);
      if (all > 1) name += " +" + digits(all - 1);
      add(name, places_beside(x_of(*row), y_of(*row), letter, gap));
    }
  }

  [[nodiscard]] static std::vector<text_place> places_at_level(bend const& to, double letter) {
    double const above = to.y - 8;
    double const below = to.y + 8 + 0.85 * letter;
    return {{right, above, text_anchor::end},
            {to.x, above, text_anchor::start},
            {right, below, text_anchor::end},
            {(to.x + right) / 2, below, text_anchor::middle}};
  }
  [[nodiscard]] std::vector<text_place> places_at_slope(bend const& from, bend const& to, double letter) const {
    std::vector<text_place> found;
    for (double const share : {0.5, 0.65, 0.8, 0.35, 0.2}) {
      double const x = from.x + share * (to.x - from.x);
      double const y = y_at(*bytes_ + exponent_at(x));
      found.push_back({x - 0.6 * letter - 4, y, text_anchor::end});
      found.push_back({x + 0.6 * letter + 4, y + 0.85 * letter, text_anchor::start});
    }
    return found;
  }
  [[nodiscard]] static std::vector<text_place> places_at_ridge(bend const& to, double letter) {
    std::vector<text_place> found;
    for (double const y : {bottom - 10, bottom - 20 - letter, bottom - 30 - 2 * letter}) {
      found.push_back({to.x + 7, y, text_anchor::start});
      found.push_back({to.x - 7, y, text_anchor::end});
    }
    return found;
  }

  void add_points(svg<>& picture) const {
    for (auto const* row : drawn_) {
      auto const& at = row->point;
      std::string says = shortened(identity_of(row->phase, row->conditions), 60) + ": " + four_digits(*at.intensity) +
                         " flop/B, " + with_prefix(*at.flops_per_second, "flop/s");
      if (at.share) says += ", " + in_percent(*at.share) + (at.limit == limiting_roof::memory ? " of memory" : " of arithmetic");
      picture.circle(x_of(*row), y_of(*row), 6, "spot " + colors_.of(row->phase), says);
      if (at.above_flops || at.above_bytes) picture.circle(x_of(*row), y_of(*row), 9, "first ring");
    }
  }

  Roofline const& of_;
  phase_colors<>& colors_;
  std::vector<roofline_row const*> drawn_;
  std::vector<roofline_row const*> by_time_;  // the same, that which took the longest first
  std::size_t with_point_ = 0;
  std::optional<double> flops_;  // exponents of the roofs
  std::optional<double> bytes_;
  decades<> x_;
  decades<> y_;
};

}  // namespace streamgauge::report
