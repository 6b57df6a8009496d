#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

// Text as a browser takes it. Whatever comes from outside passes through here last, so no name can become markup.

/// Whether a character may not stand in a document as itself: controls, marks that turn the direction of writing, and code
/// points that are no characters.
[[nodiscard]] constexpr bool must_be_escaped(code_point one) noexcept {
  auto const value = one.value;
  bool const turns = value == 0x61c || value == 0x200e || value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
                     (value >= 0x2066 && value <= 0x2069) || value == 0xfeff;
  bool const none = (value >= 0xfdd0 && value <= 0xfdef) || (value & 0xfffeU) == 0xfffe;
  return !one.valid || value < 0x20 || (value >= 0x7f && value < 0xa0) || turns || none;
}

/// Text between tags, or in a quoted attribute. What may not stand there shows as an escape, so nothing is lost.
/// Shape: an unbreakable space of `note` becomes one of HTML; a backslash stays as it is, so text that `escaped` has seen
/// does not change.
template <class = void>
[[nodiscard, gnu::noinline, gnu::cold]] std::string html_text(std::string_view text) {
  constexpr char const* hex = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    auto const next = front_of(text);
    if (next.valid && next.value == '&') {
      shown.append("&amp;");
    } else if (next.valid && next.value == '<') {
      shown.append("&lt;");
    } else if (next.valid && next.value == '>') {
      shown.append("&gt;");
    } else if (next.valid && next.value == '"') {
      shown.append("&quot;");
    } else if (next.valid && next.value == '\'') {
      shown.append("&#39;");
    } else if (next.valid && text.front() == *unbreakable_space) {
      shown.append("&#160;");
    } else if (must_be_escaped(next)) {
      bool const byte = !next.valid || next.value < 0x80;
      bool const wide = next.value > 0xffff;
      shown.append(byte ? "\\x" : wide ? "\\U" : "\\u");
      for (int shift = byte ? 4 : wide ? 28 : 12; shift >= 0; shift -= 4) shown.push_back(hex[(next.value >> shift) & 0xfU]);
    } else {
      shown.append(text.data(), next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

/// A name, kept from turning the direction of what stands beside it.
template <class = void>
[[nodiscard, gnu::cold]] std::string html_name(std::string_view identity) {
  return std::string{"<bdi>"}.append(html_text(identity)).append("</bdi>");
}

/// The first characters of a name that is too long for where it stands. Its full text has to stand elsewhere.
template <class = void>
[[nodiscard, gnu::cold]] std::string shortened(std::string_view name, std::size_t most) {
  if (width_of(name) <= most) return std::string{name};
  std::string shown;
  for (std::size_t i = 1; i < most; ++i) {
    auto const next = front_of(name);
    shown.append(name.data(), next.bytes);
    name.remove_prefix(next.bytes);
  }
  return shown.append("\xe2\x80\xa6");
}

}  // namespace streamgauge::report
