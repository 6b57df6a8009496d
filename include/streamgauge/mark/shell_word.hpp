#pragma once

#include <string>
#include <string_view>

namespace streamgauge {

/// Text as one word of a POSIX shell: as it is where nothing in it is special, in single quotes otherwise.
/// Why: within single quotes a shell changes nothing, so the program gets the text byte for byte, line breaks included.
/// Requires: no zero byte, which no argument can hold.
[[nodiscard]] inline std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./:=@%+,";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string{text};
  std::string word = "'";
  for (char const each : text) {
    if (each == '\'')
      word += "'\\''";
    else
      word += each;
  }
  return word + "'";
}

}  // namespace streamgauge
