#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <streamgauge/mark/domain.hpp>

namespace streamgauge {

/// A colour that a name always has, in every run, process and library: red, green and blue, a byte each.
/// Why: one range keeps its colour over all timelines that are laid side by side. Twenty-four hues of one brightness are
/// chosen from, so that the text on them stays readable; two names may share one.
[[nodiscard]] constexpr std::uint32_t hue_of(std::string_view name) noexcept {
  // FNV-1a, then mixed: its low bits alone are alike for names that differ in the last letter.
  std::uint32_t hash = 2166136261U;
  for (char const each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
  hash ^= hash >> 15U;
  hash *= 0x2c1b3c6dU;
  hash ^= hash >> 12U;
  // A walk around the colour circle: each sixth has a full, an empty and a rising or falling part.
  constexpr std::uint32_t low = 0x50, high = 0xd0;
  std::uint32_t const hue = hash % 24U;
  std::uint32_t const rising = low + (high - low) * (hue % 4U) / 4U;
  std::uint32_t const falling = high + low - rising;
  std::uint32_t const parts[6][3] = {{high, rising, low},  {falling, high, low}, {low, high, rising},
                                     {low, falling, high}, {rising, low, high},  {high, low, falling}};
  auto const& part = parts[hue / 4U];
  return part[0] << 16U | part[1] << 8U | part[2];
}

/// The same as an opaque colour: alpha, red, green and blue.
[[nodiscard]] constexpr std::uint32_t opaque_hue_of(std::string_view name) noexcept {
  return 0xff000000U | hue_of(name);
}

/// The same as a colour for a range or mark.
/// Example: `sg::scoped_range range{"load", sg::color_of("load")};`
template <class Color = color>
[[nodiscard]] constexpr Color color_of(std::string_view name) noexcept {
  return Color{opaque_hue_of(name)};
}

}  // namespace streamgauge
