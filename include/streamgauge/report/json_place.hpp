#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nlohmann/json.hpp>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// Where in a document somebody reads, and the first thing that was wrong there. From then on nothing more is read.
class json_place {
 public:
  using json = nlohmann::json;

  /// The place as RFC 6901 has it, empty for the whole document.
  [[nodiscard]] std::string const& path() const noexcept { return path_; }
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }

  template <class Step>
  void below(std::string_view step, Step take) {
    if (failed()) return;
    auto const above = path_.size();
    (path_ += '/') += step;
    take();
    path_.resize(above);
  }
  /// The same for a place in a list, of which only a mistake is worth a text.
  template <class Step>
  void below_index(std::size_t index, Step take) {
    bool const before = failed();
    take();
    if (!before && failed()) {
      auto const at = why_not_.find(": ");
      why_not_.insert(at, '/' + digits(index));
    }
  }
  [[nodiscard]] bool failed() const noexcept { return !why_not_.empty(); }
  void fail(std::string const& what, std::string const& below_path = {}) {
    if (failed()) return;
    std::string const place = path_ + below_path;
    why_not_ = (place.empty() ? "/" : place) + ": " + what;
  }
  /// Fails where there is a reason to.
  void fail_if(std::string const& why) {
    if (!why.empty()) fail(why);
  }
  // A value as it stands in a message.
  [[nodiscard]] static std::string found(json const& node) {
    if (node.is_string()) {
      auto const text = node.get<std::string>();
      return "and \"" + escaped(text.substr(0, 40)) + (text.size() > 40 ? "...\"" : "\"") + " found";
    }
    if (node.is_number() || node.is_boolean() || node.is_null()) return "and " + node.dump() + " found";
    return std::string{"and an "} + node.type_name() + " found";
  }

  template <class Value>
  [[nodiscard]] Value whole(json const& node) {
    if (node.is_number_unsigned()) {
      auto const number = node.get<std::uint64_t>();
      if (number <= static_cast<std::uint64_t>((std::numeric_limits<Value>::max)())) return static_cast<Value>(number);
    } else if (node.is_number_integer()) {
      auto const number = node.get<std::int64_t>();
      if (std::is_signed_v<Value> ? number >= static_cast<std::int64_t>((std::numeric_limits<Value>::min)()) : number >= 0)
        return static_cast<Value>(number);
    }
    fail("a whole number from " + std::to_string((std::numeric_limits<Value>::min)()) + " to " +
         std::to_string((std::numeric_limits<Value>::max)()) + " was expected, " + found(node));
    return {};
  }
  /// A number that JSON has no word for, by its name.
  [[nodiscard]] double not_finite(json const& name) {
    if (name == "nan") return std::numeric_limits<double>::quiet_NaN();
    if (name == "inf") return std::numeric_limits<double>::infinity();
    if (name == "-inf") return -std::numeric_limits<double>::infinity();
    fail("nan, inf or -inf was expected in not_finite");
    return 0.0;
  }
  [[nodiscard]] bool is_list(json const& node) {
    if (failed() || node.is_array()) return !failed();
    fail("a list was expected, " + found(node));
    return false;
  }

  [[nodiscard]] bool has_exactly(json const& node, std::vector<std::string_view> const& keys) {
    if (!node.is_object()) {
      fail("an object was expected, " + found(node));
      return false;
    }
    for (auto const key : keys)
      if (node.find(std::string{key}) == node.end()) fail("\"" + std::string{key} + "\" is missing");
    for (auto const& [key, unused] : node.items()) {
      bool known = node.size() == keys.size();
      for (std::size_t i = 0; i < keys.size() && !known; ++i) known = keys[i] == key;
      if (!known) fail("\"" + escaped(key) + "\" is unknown here");
    }
    return !failed();
  }

 private:
  std::string path_;
  std::string why_not_;
};

}  // namespace streamgauge::report
