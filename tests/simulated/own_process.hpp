#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

/// Test cases in processes of their own: for what ends a process, and for what must be the first that a process does.

/// How a process ended.
struct process_outcome {
  int exit_code = -1;  ///< -1 when a signal ended it
  int signal = 0;
  std::string output;
  std::string errors;

  /// Whether it ran exactly one test case, and that one passed.
  [[nodiscard]] bool passed() const {
    return exit_code == 0 && output.find(" 1 passed | 0 failed") != std::string::npos;
  }
};

inline std::string text_in(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int letter = std::fgetc(file); letter != EOF; letter = std::fgetc(file)) text += static_cast<char>(letter);
  std::fclose(file);
  return text;
}

/// Runs a test case of this program, marked `doctest::skip()` so that nothing else runs it, in a fresh process.
/// Requires: no comma and no asterisk in its name.
inline process_outcome in_own_process(char const* test_case) {
  std::FILE* const output = std::tmpfile();
  std::FILE* const errors = std::tmpfile();
  REQUIRE(output != nullptr);
  REQUIRE(errors != nullptr);
  std::string const filter = std::string{"--test-case="} + test_case;
  pid_t const child = fork();
  if (child == 0) {
    dup2(fileno(output), STDOUT_FILENO);
    dup2(fileno(errors), STDERR_FILENO);
    execl("/proc/self/exe", "in_own_process", "--no-skip=true", "--no-colors=true", filter.c_str(),
          static_cast<char*>(nullptr));
    _exit(99);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  process_outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
  outcome.output = text_in(output);
  outcome.errors = text_in(errors);
  return outcome;
}

/// Runs `body` in a real forked child of this process; what it returned becomes the exit code, 98 where it threw: caught
/// further out, the child would go on with its parent's tests.
template <class Body>
int in_forked_child(Body body) {
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) {
    try {
      _exit(body());
    } catch (...) {
      _exit(98);
    }
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}
