#pragma once

// What a report of nsys holds, read from its export to SQLite by python3.

#include <cstdint>

#include "tools.cuh"

/// A stretch of nsys's timeline.
struct exported {
  std::int64_t begin = 0;  ///< nanoseconds, from nsys's own zero
  std::int64_t end = 0;
  int kind = 0;  ///< of a range 59 for push and pop, 60 for start and end; of a kernel its blocks along x; of a copy its bytes
  std::string name;
};

struct nsys_export {
  std::vector<exported> ranges;
  std::vector<exported> kernels;  ///< without names
  std::vector<exported> copies;   ///< without names
};

/// The ranges, kernels and copies of a report, each in the order of their begins.
inline nsys_export exported_from(std::string const& report) {
  shell("nsys export --type sqlite -f true -o exported.sqlite " + report);
  std::string const text = shell(
      "python3 -c 'import sqlite3\n"
      "base = sqlite3.connect(\"exported.sqlite\")\n"
      "for each in base.execute(\"SELECT start, end, eventType, coalesce(text, value) FROM NVTX_EVENTS "
      "LEFT JOIN StringIds ON textId = id WHERE end IS NOT NULL ORDER BY start\"): print(\"R\", *each)\n"
      "for word, table, column in ((\"K\", \"CUPTI_ACTIVITY_KIND_KERNEL\", \"gridX\"), "
      "(\"C\", \"CUPTI_ACTIVITY_KIND_MEMCPY\", \"bytes\")):\n"
      "  if base.execute(\"SELECT name FROM sqlite_master WHERE name = ?\", [table]).fetchone():\n"
      "    for each in base.execute(f\"SELECT start, end, {column} FROM {table} ORDER BY start\"): print(word, *each)'");
  nsys_export found;
  for (std::size_t at = 0; at < text.size();) {
    std::string const line = text.substr(at, text.find('\n', at) - at);
    at += line.size() + 1;
    exported one;
    int used = 0;
    char what = ' ';
    if (std::sscanf(line.c_str(), "%c %ld %ld %d%n", &what, &one.begin, &one.end, &one.kind, &used) != 4) {
      std::printf("%s\n", line.c_str());
      continue;
    }
    if (static_cast<std::size_t>(used) < line.size()) one.name = line.substr(static_cast<std::size_t>(used) + 1);
    (what == 'R' ? found.ranges : what == 'K' ? found.kernels : found.copies).push_back(one);
  }
  return found;
}
