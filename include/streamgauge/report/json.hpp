#pragma once

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <streamgauge/time.hpp>

namespace streamgauge::report {

/// Text as a JSON string, with its quotes.
/// Why: names come from programs, so anything may stand in them. What is not valid UTF-8 becomes U+FFFD, one for each
/// byte, since no reader takes it otherwise; control characters are written as escapes.
[[nodiscard]] inline std::string json_string(std::string_view text) {
  constexpr char hex[] = "0123456789abcdef";
  // How many bytes the character at `at` takes; 0 where none begins there.
  auto const length_at = [text](std::size_t at) -> std::size_t {
    auto const byte = [text](std::size_t i) { return static_cast<unsigned char>(i < text.size() ? text[i] : '\0'); };
    auto const follows = [byte](std::size_t i, unsigned int least = 0x80, unsigned int most = 0xbf) {
      return byte(i) >= least && byte(i) <= most;
    };
    unsigned int const first = byte(at);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return follows(at + 1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {  // neither overlong nor a surrogate
      bool const second = follows(at + 1, first == 0xe0 ? 0xa0 : 0x80, first == 0xed ? 0x9f : 0xbf);
      return second && follows(at + 2) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {  // up to U+10FFFF
      bool const second = follows(at + 1, first == 0xf0 ? 0x90 : 0x80, first == 0xf4 ? 0x8f : 0xbf);
      return second && follows(at + 2) && follows(at + 3) ? 4 : 0;
    }
    return 0;
  };
  std::string written = "\"";
  for (std::size_t i = 0; i < text.size();) {
    std::size_t const length = length_at(i);
    char const each = text[i];
    if (length == 0)
      written += "\\ufffd";
    else if (each == '"' || each == '\\')
      (written += '\\') += each;
    else if (each == '\n')
      written += "\\n";
    else if (each == '\t')
      written += "\\t";
    else if (length == 1 && (static_cast<unsigned char>(each) < 0x20 || each == '\x7f'))
      (((written += "\\u00") += hex[each >> 4]) += hex[each & 15]);
    else
      written.append(text.substr(i, length));
    i += length == 0 ? 1 : length;
  }
  return written + '"';
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
  /// Units: nanoseconds, whatever unit it comes in.
  template <class Count, class Period>
  json& value(std::chrono::duration<Count, Period> time) {
    return value(std::chrono::duration<Count, std::nano>{time}.count());
  }
  template <class Value>
  json& value(std::optional<Value> const& perhaps) {
    return perhaps ? value(*perhaps) : value(std::nullopt);
  }

  template <class Value>
  json& member(std::string_view name, Value const& of) {
    return key(name).value(of);
  }

  /// The document, with a line's end.
  [[nodiscard]] std::string text() const {
    json closed = *this;
    if (closed.text_.empty()) closed.value(std::nullopt);
    while (!closed.open_.empty()) closed.end();
    return closed.text_ + '\n';
  }

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
