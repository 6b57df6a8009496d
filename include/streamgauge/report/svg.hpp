#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/html_text.hpp>

namespace streamgauge::report {

// Pictures as SVG within a page, built digit by digit, so no locale has a say in them. How they look is the page's style.

/// A coordinate with one decimal. What no picture is large enough for ends at its edge.
template <class = void>
[[nodiscard, gnu::cold]] std::string coordinate(double value) {
  if (!(value > -99'999.0)) value = -99'999.0;
  if (!(value < 99'999.0)) value = 99'999.0;
  auto const tenths = static_cast<std::int64_t>(std::floor(value * 10.0 + 0.5));
  auto const size = static_cast<std::uint64_t>(tenths < 0 ? -tenths : tenths);
  std::string text{tenths < 0 ? "-" : ""};
  text.append(digits(size / 10));
  if (size % 10 != 0) text.append(".").append(1, static_cast<char>('0' + size % 10));
  return text;
}

/// The path of a shape: "M10 20L30 40". A template, so that only a unit that draws compiles it.
template <class Text = std::string>
class svg_path {
 public:
  svg_path& move_to(double x, double y) { return add('M', x, y); }
  svg_path& line_to(double x, double y) { return add('L', x, y); }
  svg_path& horizontal_to(double x) { return add('H', x); }
  svg_path& vertical_to(double y) { return add('V', y); }
  /// A mark of no length: a round end of the line makes a point of it.
  svg_path& point(double x, double y) {
    move_to(x, y);
    data_.append("h0");
    return *this;
  }
  svg_path& close() {
    data_.push_back('z');
    return *this;
  }
  [[nodiscard]] Text const& data() const noexcept { return data_; }
  [[nodiscard]] bool empty() const noexcept { return data_.empty(); }

 private:
  svg_path& add(char what, double x) {
    data_.push_back(what);
    data_.append(coordinate(x));
    return *this;
  }
  svg_path& add(char what, double x, double y) {
    add(what, x);
    data_.push_back(' ');
    data_.append(coordinate(y));
    return *this;
  }

  Text data_;
};

/// Where a text stands against its place.
enum class text_anchor : std::uint8_t { start, middle, end };

/// One picture. Everything in it is drawn in the order of the calls. Classes are the page's own words.
/// A template, so that only a unit that draws compiles its bodies.
template <class Text = std::string>
class svg {
 public:
  /// `says`: what the picture shows, for those who cannot see it; not yet escaped for HTML. `stretched`: "none" for shapes
  /// without text that may be stretched to any width, else empty.
  svg(double width, double height, std::string_view look, std::string_view says, std::string_view stretched = {}) {
    text_.append("<svg class=\"").append(look).append("\" viewBox=\"0 0 ").append(coordinate(width)).append(" ");
    text_.append(coordinate(height)).append("\" role=\"img\" aria-label=\"").append(html_text(says)).append("\"");
    if (!stretched.empty()) text_.append(" preserveAspectRatio=\"").append(stretched).append("\"");
    text_.append(">");
  }

  /// A rectangle; `says`, where given, shows when it is pointed at.
  svg& rectangle(double x, double y, double width, double height, std::string_view look, std::string_view says = {}) {
    text_.append("<rect x=\"").append(coordinate(x)).append("\" y=\"").append(coordinate(y)).append("\" width=\"");
    text_.append(coordinate(width)).append("\" height=\"").append(coordinate(height));
    return end_of("rect", look, says);
  }
  svg& line(double x1, double y1, double x2, double y2, std::string_view look) {
    text_.append("<line x1=\"").append(coordinate(x1)).append("\" y1=\"").append(coordinate(y1)).append("\" x2=\"");
    text_.append(coordinate(x2)).append("\" y2=\"").append(coordinate(y2));
    return end_of("line", look, {});
  }
  svg& circle(double x, double y, double radius, std::string_view look, std::string_view says = {}) {
    text_.append("<circle cx=\"").append(coordinate(x)).append("\" cy=\"").append(coordinate(y)).append("\" r=\"");
    text_.append(coordinate(radius));
    return end_of("circle", look, says);
  }
  svg& path(svg_path<> const& shape, std::string_view look, std::string_view says = {}) {
    if (shape.empty()) return *this;
    text_.append("<path d=\"").append(shape.data());
    return end_of("path", look, says);
  }
  /// `what` is not yet escaped for HTML.
  svg& text(double x, double y, text_anchor at, std::string_view what, std::string_view look = {}) {
    constexpr char const* anchors[] = {"start", "middle", "end"};
    text_.append("<text x=\"").append(coordinate(x)).append("\" y=\"").append(coordinate(y)).append("\" text-anchor=\"");
    text_.append(anchors[static_cast<std::size_t>(at)]);
    if (!look.empty()) text_.append("\" class=\"").append(look);
    text_.append("\">").append(html_text(what)).append("</text>");
    return *this;
  }

  [[nodiscard]] Text finished() && { return std::move(text_.append("</svg>")); }

 private:
  svg& end_of(char const* what, std::string_view look, std::string_view says) {
    text_.append("\" class=\"").append(look);
    if (says.empty()) {
      text_.append("\"/>");
    } else {
      text_.append("\"><title>").append(html_text(says)).append("</title></").append(what).append(">");
    }
    return *this;
  }

  Text text_;
};

/// Places for marks on an axis: round numbers, at most `most` of them, and how far they are apart.
struct axis_ticks {
  std::vector<double> at;
  double step = 1.0;
};

/// Round numbers within a range: multiples of 1, 2 or 5 times a power of ten, none finer than `finest`.
/// Requires: both ends are finite.
template <class = void>
[[nodiscard, gnu::cold]] axis_ticks ticks_within(double low, double high, int most, double finest) {
  axis_ticks found;
  found.step = finest;
  double const wanted = (high - low) / static_cast<double>(most);
  if (wanted > finest) {
    double const power = std::pow(10.0, std::floor(std::log10(wanted)));
    for (double const factor : {1.0, 2.0, 5.0, 10.0}) {
      found.step = factor * power;
      if (found.step >= wanted * (1.0 - 1e-9)) break;
    }
    if (found.step < finest) found.step = finest;
  }
  double const first = std::ceil(low / found.step - 1e-9);
  for (int i = 0; i <= most; ++i) {
    double const at = (first + static_cast<double>(i)) * found.step;
    if (at > high + found.step * 1e-9) break;
    if (found.at.empty() || at > found.at.back()) found.at.push_back(at);
  }
  return found;
}

/// A time beside an axis, in the unit that the axis has, as fine as its marks are apart.
template <class = void>
[[nodiscard, gnu::cold]] std::string tick_label(double time, double step, unit in) {
  double const size = static_cast<double>(nanoseconds_in(in));
  double value = time / size;
  if (value >= 1e6) {
    int power = 0;
    for (; value >= 9.9995; value /= 10.0) ++power;
    return decimal(value, 1).append("e").append(digits(static_cast<std::uint64_t>(power)));
  }
  int decimals = 0;
  for (double apart = step / size; apart < 0.9999999 && decimals < 9; apart *= 10.0) ++decimals;
  return decimal(value < 0.0 ? 0.0 : value, decimals);
}

}  // namespace streamgauge::report
