#pragma once

#include <cstdio>
#include <string>

/// What /bin/sh prints for a command, byte for byte.
inline std::string printed_by_shell(std::string const& command) {
  std::string printed;
  std::FILE* const pipe = popen(command.c_str(), "r");
  if (!pipe) return "no shell";
  char buffer[4096];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) printed.append(buffer, count);
  if (pclose(pipe) != 0) printed += "\nthe shell failed";
  return printed;
}

/// The words that a program would get from the shell, each with a zero byte behind it.
inline std::string words_from_shell(std::string const& words) {
  return printed_by_shell("/usr/bin/printf '%s\\0' " + words);
}
