#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <streamgauge/report/text.hpp>
#include <streamgauge/report/svg.hpp>

namespace streamgauge::report {

/// How wide a text is at most in a picture, where its letters are so high. Nothing measures fonts here, so it is a bound for
/// the wide ones.
[[nodiscard, gnu::cold]] inline double most_width_of(std::string_view text, double letter) {
  double width = 0.0;
  while (!text.empty()) {
    auto const next = front_of(text);
    width += letter * (next.valid && next.value < 0x80 ? 0.64 : 1.05);
    text.remove_prefix(next.bytes);
  }
  return width;
}

/// A part of a picture that is taken.
struct picture_box {
  double left = 0.0;
  double top = 0.0;
  double right = 0.0;
  double bottom = 0.0;
};

/// Where a text was put: what `svg::text` asks for.
struct text_place {
  double x = 0.0;
  double y = 0.0;  ///< of the line that the letters stand on
  text_anchor at = text_anchor::start;
};

/// Whether a text may stand across a line: never, or where no place off the lines is free.
enum class across_lines : std::uint8_t { never, where_needed };

/// Keeps texts of a picture off each other and off what is drawn: the first free place of some counts.
/// A template, so that only a unit that draws compiles its bodies.
template <class Box = picture_box>
class free_places {
 public:
  /// `within`: what no text may leave.
  free_places(Box const& within, across_lines across) : within_{within}, across_{across} {}

  void take(Box const& taken) { taken_.push_back(taken); }
  /// A line as a row of boxes, as narrow as texts need it.
  void take_line(double x1, double y1, double x2, double y2) {
    constexpr int parts = 64;
    for (int i = 0; i < parts; ++i) {
      double const x = x1 + (x2 - x1) * i / parts;
      double const y = y1 + (y2 - y1) * i / parts;
      double const next_x = x1 + (x2 - x1) * (i + 1) / parts;
      double const next_y = y1 + (y2 - y1) * (i + 1) / parts;
      lines_.push_back({x < next_x ? x : next_x, y < next_y ? y : next_y, x < next_x ? next_x : x, y < next_y ? next_y : y});
    }
  }

  /// The first of the places where a text of that size is free, which is then taken; absent where none is.
  [[nodiscard]] std::optional<text_place> put(std::string_view text, double letter, std::vector<text_place> const& places) {
    double const width = most_width_of(text, letter);
    text_place const* across = nullptr;
    for (text_place const& each : places) {
      Box const wanted = box_of(each, width, letter);
      if (!is_inside(wanted) || meets(taken_, wanted)) continue;
      if (!across) across = &each;
      if (meets(lines_, wanted)) continue;
      take(wanted);
      return each;
    }
    if (!across || across_ == across_lines::never) return std::nullopt;
    take(box_of(*across, width, letter));
    return *across;
  }

 private:
  [[nodiscard]] static Box box_of(text_place const& of, double width, double letter) {
    double const share = of.at == text_anchor::start ? 0.0 : of.at == text_anchor::end ? 1.0 : 0.5;
    double const left = of.x - share * width;
    return {left, of.y - 0.8 * letter, left + width, of.y + 0.25 * letter};
  }
  [[nodiscard]] bool is_inside(Box const& wanted) const {
    return wanted.left >= within_.left && wanted.right <= within_.right && wanted.top >= within_.top &&
           wanted.bottom <= within_.bottom;
  }
  [[nodiscard]] static bool meets(std::vector<Box> const& some, Box const& wanted) {
    for (Box const& each : some)
      if (wanted.left < each.right && each.left < wanted.right && wanted.top < each.bottom && each.top < wanted.bottom) return true;
    return false;
  }

  Box within_;
  across_lines across_;
  std::vector<Box> taken_;
  std::vector<Box> lines_;
};

/// Places beside a point, the best first, for letters of that height.
template <class = void>
[[nodiscard, gnu::cold]] std::vector<text_place> places_beside(double x, double y, double letter, double gap) {
  double const middle = y + 0.3 * letter;
  double const above = y - gap - 0.25 * letter;
  double const below = y + gap + 0.8 * letter;
  return {{x + gap, middle, text_anchor::start}, {x - gap, middle, text_anchor::end},  {x, above, text_anchor::middle},
          {x, below, text_anchor::middle},       {x + gap, below, text_anchor::start}, {x - gap, above, text_anchor::end},
          {x + gap, above, text_anchor::start},  {x - gap, below, text_anchor::end}};
}

}  // namespace streamgauge::report
