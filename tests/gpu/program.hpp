#pragma once

// What every program of GPU tests shares: doctest's main with exit code 77 where there is no device, and children,
// which are this same program started again with --child=NAME. A child is a fresh process: no context, nothing
// initialised.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <streamgauge/streamgauge.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/capture_guard.hpp>

namespace sg = streamgauge;

extern char** environ;

struct child {
  char const* name;
  int (*run)();
};

std::vector<child>& children();

struct add_child {
  add_child(char const* name, int (*run)()) { children().push_back({name, run}); }
};

struct outcome {
  int exit_code = -1;  // minus the signal where one ended it
  std::string output;
  std::string errors;
};

inline std::string read_back(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

inline outcome run_child(std::string const& name) {
  outcome got;
  std::FILE* const output = std::tmpfile();
  std::FILE* const errors = std::tmpfile();
  REQUIRE(output != nullptr);
  REQUIRE(errors != nullptr);
  posix_spawn_file_actions_t redirect;
  posix_spawn_file_actions_init(&redirect);
  posix_spawn_file_actions_adddup2(&redirect, fileno(output), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&redirect, fileno(errors), STDERR_FILENO);
  std::string self = "/proc/self/exe";
  std::string argument = "--child=" + name;
  char* const arguments[] = {self.data(), argument.data(), nullptr};
  pid_t id = 0;
  int status = 0;
  REQUIRE(posix_spawn(&id, "/proc/self/exe", &redirect, nullptr, arguments, environ) == 0);
  posix_spawn_file_actions_destroy(&redirect);
  REQUIRE(waitpid(id, &status, 0) == id);
  got.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  got.output = read_back(output);
  got.errors = read_back(errors);
  return got;
}

/// For use in children, which have no doctest around them: says what did not hold and ends the child.
inline void must(bool holds, char const* what, int line = __builtin_LINE()) {
  if (holds) return;
  std::printf("line %d: %s\n", line, what);
  std::fflush(stdout);
  std::_Exit(1);
}

/// Whether a tool is attached. Under one the answers are the same, the times are not.
inline bool watched() {
  return std::getenv("NVTX_INJECTION64_PATH") != nullptr || std::getenv("CUDA_INJECTION64_PATH") != nullptr;
}

inline sg::series series_of(sg::recording const& taken, std::string_view phase) {
  for (sg::series const& each : taken.all)
    if (each.phase == phase) return each;
  return {};
}

inline std::size_t count_of(sg::series const& from, sg::absence why) {
  std::size_t count = 0;
  for (sg::sample const& each : from.samples)
    if (each.device.why_absent() == why) ++count;
  return count;
}

/// The device time of a sample as a plain count; fails where there is none. Not for children, which have no doctest.
inline std::int64_t device_ns(sg::sample const& from) {
  INFO("no device time: ", sg::describe(from.device.why_absent()));
  REQUIRE(from.device.known());
  return from.device.value()->count();
}

inline std::int64_t median_of(std::vector<std::int64_t> values) {
  REQUIRE_FALSE(values.empty());
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// How often a problem with these words was noted.
inline std::uint64_t problems_with(sg::recording const& taken, std::string_view words) {
  std::uint64_t count = 0;
  for (sg::problem const& each : taken.problems)
    if (each.text.find(words) != std::string::npos) count += each.count;
  return count;
}

/// The main of every program; `main.cpp` has it. 77 where there are too few devices.
int run_program(int argc, char** argv, int devices_needed = 1);
