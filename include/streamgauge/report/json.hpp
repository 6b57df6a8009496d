#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// Text as a JSON string, with its quotes.
/// Why: names come from programs, so anything may stand in them. What is not valid UTF-8 becomes U+FFFD, one for each
/// byte, since no reader takes it otherwise; control characters are written as escapes.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string written = "\"";
  while (!text.empty()) {
    code_point const next = front_of(text);
    char const each = text.front();
    if (!next.valid)
      written += "\\ufffd";
    else if (each == '"' || each == '\\')
      (written += '\\') += each;
    else if (each == '\n')
      written += "\\n";
    else if (each == '\t')
      written += "\\t";
    else if (next.value < 0x20 || next.value == 0x7f)
      (((written += "\\u00") += hex[each >> 4]) += hex[each & 15]);
    else
      written.append(text.substr(0, next.bytes));
    text.remove_prefix(next.bytes);
  }
  return written + '"';
}

/// Whether a text is UTF-8 throughout, so that `json_string` changes none of it.
[[nodiscard]] inline bool is_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    code_point const next = front_of(text);
    if (!next.valid) return false;
    text.remove_prefix(next.bytes);
  }
  return true;
}

/// A text with U+FFFD in place of each byte that is no UTF-8: what a reader gets of it.
[[nodiscard]] inline std::string as_utf8(std::string_view text) {
  std::string written;
  while (!text.empty()) {
    code_point const next = front_of(text);
    written.append(next.valid ? text.substr(0, next.bytes) : "\xef\xbf\xbd");
    text.remove_prefix(next.bytes);
  }
  return written;
}

/// The bytes of a text, two digits each.
[[nodiscard]] inline std::string in_hex(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  std::string written;
  for (char const each : text) {
    written += hex[static_cast<unsigned char>(each) >> 4];
    written += hex[static_cast<unsigned char>(each) & 15];
  }
  return written;
}
/// The text that has these bytes; absent where the digits are none of `in_hex`.
[[nodiscard]] inline std::optional<std::string> out_of_hex(std::string_view digits) {
  constexpr std::string_view hex = "0123456789abcdef";
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    auto const high = hex.find(digits[i]);
    auto const low = hex.find(digits[i + 1]);
    if (high == hex.npos || low == hex.npos) return std::nullopt;
    text += static_cast<char>(high << 4U | low);
  }
  return text;
}

/// Writes one JSON document, value by value: what every JSON report of the library is made of.
/// Why: absent is null. A number that is none (NaN, infinity) is null as well, since JSON has no word for it; nothing is
/// written as 0 that is not.
/// Shape: two blanks of indentation a level; numbers as short as they read back exactly, in no locale.
/// The text is one valid document whatever the calls were: what is open at the end is closed, a member without a key has
/// the empty one, a key without a value has null, and a key in an array, an `end` too many, and whatever comes behind the
/// document's only value are left out.
/// Example: `report::json out; out.begin_object(); out.member("samples", 30); out.end(); std::cout << out.text();`
class json {
 public:
  json& begin_object() { return begin('{'); }
  json& begin_array() { return begin('['); }
  json& end() {
    if (open_.empty()) return *this;
    finish_key();
    char const opened = open_.back().bracket;
    bool const empty = open_.back().count == 0;
    open_.pop_back();
    if (!empty) new_line();
    text_ += opened == '{' ? '}' : ']';
    return *this;
  }

  /// The key of what is written next.
  json& key(std::string_view name) {
    if (open_.empty() || open_.back().bracket == '[') return *this;
    finish_key();
    next_line();
    text_ += json_string(name);
    text_ += ": ";
    keyed_ = true;
    return *this;
  }

  json& value(std::string_view text) { return raw(json_string(text)); }
  json& value(char const* text) { return text ? value(std::string_view{text}) : value(std::nullopt); }
  json& value(char letter) { return value(std::string_view{&letter, 1}); }
  json& value(std::nullopt_t) { return raw("null"); }
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  json& value(Number number) {
    if constexpr (std::is_same_v<Number, bool>) {
      return raw(number ? "true" : "false");
    } else {
      if constexpr (std::is_floating_point_v<Number>)
        if (!std::isfinite(number)) return raw("null");
      char digits[64];
      auto const written = std::to_chars(digits, digits + sizeof digits, number);
      return raw({digits, static_cast<std::size_t>(written.ptr - digits)});
    }
  }
  /// A number that reads back as a real one, with a point or an exponent, though it is whole.
  /// Why: readers tell 5 and 5.0 apart, and lose the sign of -0.
  json& real(double number) {
    char digits[64];
    auto const written = std::to_chars(digits, digits + sizeof digits - 2, number);
    std::string_view const shown{digits, static_cast<std::size_t>(written.ptr - digits)};
    if (!std::isfinite(number) || shown.find_first_of(".e") != std::string_view::npos) return value(number);
    *written.ptr = '.';
    written.ptr[1] = '0';
    return raw({digits, shown.size() + 2});
  }
  /// Units: nanoseconds, whatever unit it comes in.
  template <class Count, class Period>
  json& value(std::chrono::duration<Count, Period> time) {
    return value(std::chrono::duration<Count, std::nano>{time}.count());
  }
  template <class Value>
  json& value(std::optional<Value> const& perhaps) {
    return perhaps ? value(*perhaps) : value(std::nullopt);
  }

  /// A list on one line. `put` writes the text of each behind the place that it is given, which has room for 64 bytes, and
  /// answers where that text ends.
  /// Why: lists of millions are written so in a fraction of the time.
  template <class List, class Put>
  json& line(List const& list, Put put) {
    if (!next()) return *this;
    char buffer[4096];
    char* at = buffer;
    *at++ = '[';
    for (auto const& each : list) {
      if (at > buffer + sizeof buffer - 66) {
        text_.append(buffer, static_cast<std::size_t>(at - buffer));
        at = buffer;
      }
      at = put(each, at);
      *at++ = ',';
    }
    if (at > buffer && at[-1] == ',') --at;
    *at++ = ']';
    text_.append(buffer, static_cast<std::size_t>(at - buffer));
    return *this;
  }

  template <class Value>
  json& member(std::string_view name, Value const& of) {
    return key(name).value(of);
  }

  /// The document, with a line's end. Of one that is not needed any more nothing is copied.
  [[nodiscard]] std::string text() const& { return json{*this}.closed(); }
  [[nodiscard]] std::string text() && { return std::move(closed()); }

  /// Room for so many bytes in all, where it is known that the document becomes long.
  void reserve(std::size_t bytes) { text_.reserve(bytes); }

 private:
  struct level {
    char bracket;
    std::size_t count;
  };

  json& begin(char bracket) {
    if (!next()) return *this;
    text_ += bracket;
    open_.push_back({bracket, 0});
    return *this;
  }
  std::string& closed() {
    if (text_.empty()) value(std::nullopt);
    while (!open_.empty()) end();
    return text_ += '\n';
  }
  json& raw(std::string_view text) {
    if (next()) text_ += text;
    return *this;
  }
  // Before a value: its place, or that there is none.
  bool next() {
    if (open_.empty() && !text_.empty()) return false;
    if (!open_.empty() && open_.back().bracket == '{' && !keyed_) key({});
    if (!open_.empty() && !keyed_) next_line();
    keyed_ = false;
    return true;
  }
  void next_line() {
    if (open_.back().count++ > 0) text_ += ',';
    new_line();
  }
  void finish_key() {
    if (keyed_) text_ += "null";
    keyed_ = false;
  }
  void new_line() { text_.append("\n").append(2 * open_.size(), ' '); }

  std::string text_;
  std::vector<level> open_;
  bool keyed_ = false;  // the value of a key stands on its line
};

}  // namespace streamgauge::report
