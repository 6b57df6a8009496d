#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge::report {

// Numbers and names as text. Everything is built digit by digit in a string, so no locale has a say in it.
// The code of reports is marked cold: it runs once, so what counts is that it compiles quickly and stays small.

/// A count in decimal digits, never grouped.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string digits(std::uint64_t number) {
  char reversed[20];
  std::size_t size = 0;
  do {
    reversed[size++] = static_cast<char>('0' + number % 10);
    number /= 10;
  } while (number != 0);
  std::string text;
  while (size > 0) text.push_back(reversed[--size]);
  return text;
}

/// The units that times are shown in.
enum class unit : std::uint8_t { ns, us, ms, s };

[[nodiscard]] constexpr char const* name_of(unit in) noexcept {
  constexpr char const* names[] = {"ns", "us", "ms", "s"};
  return names[static_cast<std::size_t>(in)];
}

[[nodiscard]] constexpr std::uint64_t nanoseconds_in(unit in) noexcept {
  constexpr std::uint64_t sizes[] = {1, 1'000, 1'000'000, 1'000'000'000};
  return sizes[static_cast<std::size_t>(in)];
}

/// The largest unit in which the time is at least one, whatever its sign.
[[nodiscard]] inline unit natural_unit(fractional_nanoseconds time) noexcept {
  auto in = unit::s;
  double const length = time.count() < 0.0 ? -time.count() : time.count();
  while (in != unit::ns && length < static_cast<double>(nanoseconds_in(in)))
    in = static_cast<unit>(static_cast<std::uint8_t>(in) - 1);
  return in;
}

/// A time in a unit with four significant digits (three below one), but never finer than it was measured and never with
/// digits before the point rounded away: 5.120, 312.5, 21042, 0.0953. A dash for what is no number: files may hold any.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string in_unit(fractional_nanoseconds time, unit in) {
  if (!finite(time.count())) return "-";
  if (time.count() < 0.0) return '-' + in_unit(-time, in);
  // Half nanoseconds exist (the median of an even count), finer ones are not shown. 9.2e18 ns are 292 years.
  constexpr double most = 9.2e18;
  auto const halves = static_cast<std::uint64_t>((time.count() < most ? time.count() : most) * 2.0 + 0.5);
  auto const size = 2 * nanoseconds_in(in);
  auto whole = halves / size;
  auto const rest = halves % size;

  auto const measured = in == unit::ns ? std::size_t{rest != 0} : 3 * static_cast<std::size_t>(in);
  std::size_t decimals = 0;
  if (whole > 0) {
    auto const before = digits(whole).size();
    decimals = before < 4 ? 4 - before : 0;
  } else if (rest > 0) {
    decimals = 3;
    for (auto shifted = rest * 10; shifted < size; shifted *= 10) ++decimals;
  }
  if (decimals > measured) decimals = measured;

  std::uint64_t power = 1;
  for (std::size_t i = 0; i < decimals; ++i) power *= 10;
  auto fraction = (rest * power + size / 2) / size;
  if (fraction == power) {
    fraction = 0;
    ++whole;
    if (decimals > 0 && (whole == 10 || whole == 100 || whole == 1000)) --decimals;
  }
  auto text = digits(whole);
  if (decimals == 0) return text;
  auto const after = digits(fraction);
  text.push_back('.');
  text.append(decimals - after.size(), '0');
  return text + after;
}

/// A time with its own unit, for running text: 1.28 us.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string with_unit(fractional_nanoseconds time) {
  auto const in = natural_unit(time);
  auto text = in_unit(time, in);
  if (text == "-") return text;
  if (text.find('.') != std::string::npos) {
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
  }
  return text + ' ' + name_of(in);
}

/// One character of UTF-8 at the front of `text`.
struct code_point {
  std::uint32_t value;
  std::size_t bytes;
  bool valid;
};

[[nodiscard]] inline code_point front_of(std::string_view text) noexcept {
  auto const byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  auto const lead = byte(0);
  if (lead < 0x80) return {lead, 1, true};
  std::size_t const bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < bytes) return {lead, 1, false};
  std::uint32_t value = lead & (0xffU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0U) != 0x80U) return {lead, 1, false};
    value = (value << 6) | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  bool const surrogate = value >= 0xd800 && value <= 0xdfff;
  if (value < smallest[bytes] || value > 0x10ffff || surrogate) return {lead, 1, false};
  return {value, bytes, true};
}

/// How many columns a text takes: its code points.
[[nodiscard]] inline std::size_t width_of(std::string_view text) noexcept {
  std::size_t width = 0;
  for (; !text.empty(); text.remove_prefix(front_of(text).bytes)) ++width;
  return width;
}

/// A text from outside, safe to print: control characters, marks that turn the direction of writing, and bytes that are
/// not UTF-8 show as escapes. Why: a name must neither break the table nor move the terminal's cursor.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string escaped(std::string_view text) {
  constexpr char const* hex = "0123456789abcdef";
  std::string shown;
  while (!text.empty()) {
    auto const next = front_of(text);
    auto const value = next.value;
    bool const turns = value == 0x200e || value == 0x200f || (value >= 0x2028 && value <= 0x202e) ||
                       (value >= 0x2066 && value <= 0x2069) || value == 0xfeff;
    if (value == '\n' || value == '\t' || value == '\r' || value == '\\') {
      shown.push_back('\\');
      shown.push_back(value == '\n' ? 'n' : value == '\t' ? 't' : value == '\r' ? 'r' : '\\');
    } else if (!next.valid || value < 0x20 || value == 0x7f) {
      shown.append("\\x");
      shown.push_back(hex[value >> 4]);
      shown.push_back(hex[value & 0xfU]);
    } else if ((value >= 0x80 && value < 0xa0) || turns) {
      shown.append("\\u");
      for (int shift = 12; shift >= 0; shift -= 4) shown.push_back(hex[(value >> shift) & 0xfU]);
    } else {
      shown.append(text.data(), next.bytes);
    }
    text.remove_prefix(next.bytes);
  }
  return shown;
}

/// The identity of a series in one line: `gemm [dtype=f32 shape=256x1024]`.
/// Parts that hold a space or one of the signs used here are put in quotes, so that two identities never look the same.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string identity_of(std::string_view phase,
                                                                       std::vector<condition> const& conditions) {
  auto const quoted_if = [](std::string shown, bool ambiguous) {
    if (!ambiguous && !shown.empty()) return shown;
    for (auto at = shown.find('"'); at != std::string::npos; at = shown.find('"', at + 2)) shown.insert(at, 1, '\\');
    return '"' + shown + '"';
  };
  auto const part = [&](std::string_view text) {
    return quoted_if(escaped(text), text.find_first_of(" =[]\"") != std::string_view::npos);
  };
  auto text = quoted_if(escaped(phase), phase.find(" [") != std::string_view::npos);
  if (conditions.empty()) return text;
  text += " [";
  for (auto const& one : conditions) {
    if (text.back() != '[') text += ' ';
    text += part(one.key);
    text += '=';
    text += part(one.value);
  }
  return text + ']';
}

/// A space that `note` does not break at. No name holds this character: `escaped` shows it as text.
inline constexpr char const* unbreakable_space = "\x1f";

/// A name whose spaces `note` does not break at.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string unbroken(std::string name) {
  for (auto& character : name)
    if (character == ' ') character = *unbreakable_space;
  return name;
}

/// A text behind its label, broken at spaces, but for one before "%", so that lines stay within 100 columns. Lines that
/// follow are indented, and a little further if the text itself begins with spaces. A single word that is longer stays
/// whole.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string note(std::string_view label, std::string_view text) {
  constexpr std::size_t label_column = 13;
  constexpr std::size_t page = 100;
  std::string shown{label};
  shown.append(label.size() < label_column ? label_column - label.size() : 1, ' ');
  std::size_t column = shown.size();
  std::size_t indent = label_column;
  while (!text.empty() && text.front() == ' ') {
    shown.push_back(' ');
    ++column;
    indent = label_column + 4;
    text.remove_prefix(1);
  }
  for (bool starts_line = true; !text.empty(); starts_line = false) {
    auto end = text.find(' ');
    while (end < text.size() - 1 && text[end + 1] == '%') end = text.find(' ', end + 1);
    auto const word = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    auto const width = width_of(word);
    if (!starts_line && column + 1 + width > page) {
      shown.push_back('\n');
      shown.append(indent, ' ');
      column = indent + width;
    } else {
      if (!starts_line) shown.push_back(' ');
      column += width + (starts_line ? 0 : 1);
    }
    for (auto const character : word) shown.push_back(character == *unbreakable_space ? ' ' : character);
  }
  shown.push_back('\n');
  return shown;
}

}  // namespace streamgauge::report
