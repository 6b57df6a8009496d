#pragma once

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

/// A series of tests/data with the place where it becomes steady.
struct known_series {
  std::string name;
  std::string truth;  ///< the first steady sample, `never` or `unknown`
  double tolerance = 0.0;
  std::string note;
  std::vector<std::int64_t> values;
};

inline std::vector<std::int64_t> series_in(std::string const& path) {
  std::ifstream file{path};
  std::vector<std::int64_t> values;
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line[0] != '#') values.push_back(std::strtoll(line.c_str(), nullptr, 10));
  return values;
}

/// The rows of a table of tests/data without its head, each as its fields.
inline std::vector<std::vector<std::string>> rows_in(std::string const& path) {
  std::ifstream file{std::string{STREAMGAUGE_TEST_DATA} + "/" + path};
  std::vector<std::vector<std::string>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> fields{""};
    for (char const letter : line) {
      if (letter == ',')
        fields.emplace_back();
      else
        fields.back() += letter;
    }
    rows.push_back(std::move(fields));
  }
  return rows;
}

/// All series of a folder of tests/data, by its index.csv.
inline std::vector<known_series> known_series_in(std::string const& folder) {
  auto const root = std::string{STREAMGAUGE_TEST_DATA} + "/" + folder + "/";
  std::vector<known_series> found;
  for (auto const& fields : rows_in(folder + "/index.csv")) {
    if (fields.size() < 5) continue;
    found.push_back(
        {fields[0], fields[2], std::strtod(fields[3].c_str(), nullptr), fields.back(), series_in(root + fields[0])});
  }
  return found;
}
