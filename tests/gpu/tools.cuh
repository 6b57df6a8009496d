#pragma once

// The real tools, started on this very program through a shell, as a user would.

#include "program.hpp"

#include <streamgauge/mark/shell_word.hpp>

#include "tool_output.hpp"

__global__ void marked() {}
constexpr unsigned int outside = 1000;

/// What a command printed; it is run by a shell in a folder of its own.
inline std::string shell(std::string const& command) {
  static std::string const folder = [] {
    char name[] = "/tmp/streamgauge_tools_XXXXXX";
    return std::string{mkdtemp(name)};
  }();
  std::FILE* const pipe = popen(("cd " + folder + " && " + command + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}
/// Whether a shell finds the program.
inline bool has(char const* program) {
  return std::system((std::string{"command -v "} + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Where this program lies.
inline std::string own_path() {
  char path[4096];
  auto const length = readlink("/proc/self/exe", path, sizeof path);
  REQUIRE(length > 0);
  return {path, static_cast<std::size_t>(length)};
}
/// This program, as a word of a shell.
inline std::string self() { return sg::shell_word(own_path()); }

/// As `run_program`, where the tool is there and none is attached: tools do not nest.
inline int run_with_tool(char const* tool, int argc, char** argv) {
  bool const is_child = argc > 1 && std::string_view{argv[1]}.substr(0, 8) == "--child=";
  if (!is_child && watched()) return std::printf("skipped: a tool is attached, and tools do not nest\n"), 77;
  if (!is_child && !has(tool)) return std::printf("skipped: %s is not here\n", tool), 77;
  return run_program(argc, argv);
}
