#pragma once

// What the tools print, read back: numbers out of text, and nothing of CUDA.

#include <set>
#include <string>
#include <string_view>
#include <vector>

/// Numbers that were found, or are expected, in any order; each kernel of a test has a number of blocks of its own.
using numbers = std::multiset<unsigned int>;

inline std::string in_words(numbers const& of) {
  std::string text;
  for (unsigned int const each : of) text += std::to_string(each) + ' ';
  return text;
}

/// How often a word stands in a text.
inline std::size_t times_in(std::string_view text, std::string_view word) {
  std::size_t count = 0;
  for (auto at = text.find(word); at != std::string_view::npos; at = text.find(word, at + word.size())) ++count;
  return count;
}

/// The fields of a line with commas between, without the line's end. A comma inside quotes parts nothing.
inline std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields{{}};
  bool quoted = false;
  for (char const each : line) {
    if (each == '"') quoted = !quoted;
    if (each == ',' && !quoted)
      fields.emplace_back();
    else if (each != '"' && each != '\r')
      fields.back() += each;
  }
  return fields;
}

/// The blocks of each kernel of `nsys stats --format csv --report cuda_gpu_trace`: column GrdX, empty for copies and fills.
/// Why: other lines stand around the table, and versions differ in its columns, so the head says where to look.
inline numbers blocks_in_trace(std::string_view csv) {
  numbers found;
  std::size_t column = 0;
  bool inside = false;
  while (!csv.empty()) {
    auto const end = csv.find('\n');
    std::vector<std::string> const fields = fields_of(csv.substr(0, end));
    csv.remove_prefix(end == std::string_view::npos ? csv.size() : end + 1);
    for (std::size_t i = 0; i < fields.size() && !inside; ++i) {
      inside = fields[i] == "GrdX";
      column = i;
    }
    if (!inside || column >= fields.size()) continue;
    std::string const& blocks = fields[column];
    if (!blocks.empty() && blocks.find_first_not_of("0123456789") == std::string::npos)
      found.insert(static_cast<unsigned int>(std::stoul(blocks)));
  }
  return found;
}

/// The blocks of each kernel that ncu profiled, from lines such as "  marked() (7, 1, 1)x(1, 1, 1), Context 1".
inline numbers blocks_in_details(std::string const& text) {
  numbers found;
  for (auto at = text.find(")x("); at != std::string::npos; at = text.find(")x(", at + 1))
    found.insert(static_cast<unsigned int>(std::stoul(text.substr(text.rfind('(', at) + 1))));
  return found;
}

/// The values of a metric in ncu's tables, the last word of each line that names it; "7 8" where two results have it.
inline std::string values_of(std::string const& metric, std::string const& text) {
  std::string found;
  for (auto at = text.find(metric); at != std::string::npos; at = text.find(metric, at + 1)) {
    std::string line = text.substr(at, text.find('\n', at) - at);
    line.erase(line.find_last_not_of(" \r") + 1);
    found += (found.empty() ? "" : " ") + line.substr(line.rfind(' ') + 1);
  }
  return found;
}
