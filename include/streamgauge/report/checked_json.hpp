#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// How much a reader takes, so that a hostile document cannot take the memory of the program.
struct read_limits {
  std::size_t bytes = std::size_t{1} << 30U;  ///< of the document; read, it takes some four times as many
  std::size_t depth = 32;                     ///< of objects and lists in each other; a recording has eleven
};

/// A document as nlohmann's values, or why it is none.
struct checked_json {
  nlohmann::json root;
  std::string why_not;  ///< empty, or the place and what is wrong there
};

/// Builds a document out of what nlohmann's parser sees of it.
/// Why: the parser's own builder takes the last of two members of one name, any depth, and stops at a zero byte.
class checked_builder {
 public:
  using json = nlohmann::json;
  checked_builder(json& root, std::size_t most_depth) : root_{root}, most_depth_{most_depth} {}

  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }

  bool null() { return put(nullptr); }
  bool boolean(json::boolean_t value) { return put(value); }
  bool number_integer(json::number_integer_t value) { return put(value); }
  bool number_unsigned(json::number_unsigned_t value) { return put(value); }
  bool number_float(json::number_float_t value, json::string_t const&) { return put(value); }
  bool string(json::string_t& value) { return put(std::move(value)); }
  bool binary(json::binary_t&) { return refuse("no JSON has this"); }
  bool start_object(std::size_t) { return begin(json::object()); }
  bool start_array(std::size_t) { return begin(json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(json::string_t& name) {
    bool const is_new = open_.back()->find(name) == open_.back()->end();
    keys_.back() = std::move(name);
    return is_new || refuse("this member stands there twice");
  }
  bool parse_error(std::size_t, std::string const&, json::exception const& error) {
    if (why_not_.empty()) why_not_ = "no JSON: " + escaped(error.what());
    return false;
  }

 private:
  template <class Value>
  json& place(Value&& value) {
    if (open_.empty()) return root_ = std::forward<Value>(value);
    json& into = *open_.back();
    if (into.is_object()) return into[keys_.back()] = std::forward<Value>(value);
    into.push_back(std::forward<Value>(value));
    return into.back();
  }
  template <class Value>
  bool put(Value&& value) {
    place(std::forward<Value>(value));
    return true;
  }
  bool begin(json&& empty) {
    if (open_.size() == most_depth_) return refuse("nested deeper than " + digits(most_depth_) + " levels");
    open_.push_back(&place(std::move(empty)));
    keys_.emplace_back();
    return true;
  }
  bool end() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }
  bool refuse(std::string const& what) {
    for (std::size_t i = 0; i < open_.size(); ++i) {
      bool const holds_next = i + 1 < open_.size();  // as its last value
      why_not_ += '/' + (open_[i]->is_object() ? escaped(keys_[i]) : digits(open_[i]->size() - (holds_next ? 1 : 0)));
    }
    if (why_not_.empty()) why_not_ = "/";
    why_not_ += ": " + what;
    return false;
  }

  json& root_;
  std::size_t most_depth_;
  std::vector<json*> open_;
  std::vector<std::string> keys_;  // of each that is open, the member that is written
  std::string why_not_;
};

/// Parses a document strictly. It never throws for what the document holds.
/// Throws: only `std::bad_alloc`.
[[nodiscard]] inline checked_json parse_checked(std::string_view text, read_limits limits = {}) {
  checked_json found;
  if (text.size() > limits.bytes) {
    found.why_not = "the document has " + digits(text.size()) + " bytes, and no more than " + digits(limits.bytes) +
                    " are read (read_limits::bytes)";
    return found;
  }
  // nlohmann's parser takes it for the end.
  if (auto const zero = text.find('\0'); zero != std::string_view::npos) {
    found.why_not = "no JSON: a zero byte at byte " + digits(zero);
    return found;
  }
  checked_builder builder{found.root, limits.depth};
  bool const parsed = nlohmann::json::sax_parse(text, &builder);
  found.why_not = builder.why_not();
  if (!parsed && found.why_not.empty()) found.why_not = "no JSON";
  return found;
}

}  // namespace streamgauge::report
