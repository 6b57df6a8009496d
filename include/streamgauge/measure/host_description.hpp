#pragma once

#include <cstdio>
#include <ctime>
#include <string>

#include <unistd.h>

#include <streamgauge/sample.hpp>

namespace streamgauge {

/// A processor's name as the kernel lists it: the first `model name`; empty where there is none, as on most ARM machines.
/// Why: the head of the list alone is read, since each processor that the kernel lists costs it time.
template <class Text = std::string>
[[nodiscard]] Text processor_name(char const* file = "/proc/cpuinfo") {
  std::FILE* const open = std::fopen(file, "rb");
  if (!open) return {};
  char head[2048];
  Text const listed(head, std::fread(head, 1, sizeof head, open));
  std::fclose(open);
  auto const key = listed.find("model name");
  auto const begin = key == Text::npos ? key : listed.find(':', key);
  auto const end = begin == Text::npos ? begin : listed.find('\n', begin);
  if (end == Text::npos || end < begin + 2) return {};
  return listed.substr(begin + 2, end - begin - 2);
}

/// What is known of the machine and the hour without a CUDA call. What cannot be read is absent, with its reason.
/// Why: a wall clock, since this time is for people and calendars; no duration is made of it.
template <class Environment>
void describe_host(Environment& into) {
  char name[256] = {};
  if (gethostname(name, sizeof name - 1) == 0) into.host = name;
  if (into.host.empty()) note_not_read(into.not_read, "host", "gethostname gives no name");
  into.cpu = processor_name();
  if (into.cpu.empty()) note_not_read(into.not_read, "cpu", "/proc/cpuinfo names no model");
  std::time_t const now = std::time(nullptr);
  std::tm parts{};
  char written[32];
  if (gmtime_r(&now, &parts) && std::strftime(written, sizeof written, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
    into.time = written;
  else
    note_not_read(into.not_read, "time", "the system's time cannot be written as a date");
}

}  // namespace streamgauge
