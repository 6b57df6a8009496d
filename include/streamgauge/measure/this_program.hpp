#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace streamgauge {

/// How a program was started, or why that is not known.
struct program_words {
  std::vector<std::string> words;  ///< the program and its arguments, raw; relative paths hold where it was started
  std::string why_not;             ///< empty, or the reason in words
};

/// A kernel's list of a process's arguments, a zero byte behind each, as words.
/// Why: a program may write over its arguments, to be seen by ps; what then stands there starts nothing.
[[nodiscard]] inline program_words words_of_arguments(std::string const& listed) {
  if (listed.empty()) return {{}, "the list of its arguments is empty"};
  if (listed.back() != '\0') return {{}, "the program has written over its arguments"};
  program_words found;
  for (std::size_t begin = 0; begin < listed.size();) {
    std::size_t const end = listed.find('\0', begin);
    found.words.push_back(listed.substr(begin, end - begin));
    begin = end + 1;
  }
  if (found.words.front().empty()) return {{}, "the program was started without a name"};
  return found;
}

/// This process's own command line, from /proc/self/cmdline.
[[nodiscard]] inline program_words this_program(char const* file = "/proc/self/cmdline") {
  std::FILE* const open = std::fopen(file, "rb");
  if (!open) return {{}, std::string{file} + " cannot be read"};
  std::string listed;
  char buffer[1024];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, open)) > 0;) listed.append(buffer, count);
  std::fclose(open);
  return words_of_arguments(listed);
}

}  // namespace streamgauge
