#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <streamgauge/report/text.hpp>
#include <streamgauge/mark/shell_word.hpp>

namespace streamgauge {

/// One command, with the question that it answers. Plain values.
struct tool_command {
  std::string question;              ///< one line
  std::vector<std::string> words;    ///< raw, as a program would be started with them
  std::vector<std::string> notes{};  ///< what to know before it is run

  /// The command for a POSIX shell, in lines of about 100 columns.
  /// Shape: words, quoted where need be; a line that goes on ends with a backslash.
  [[nodiscard]] std::string shell() const {
    constexpr std::size_t page = 96;
    std::string text;
    std::size_t column = 0;
    auto const add = [&](std::string const& word) {
      if (column > 0 && column + 1 + word.size() > page) {
        text += " \\\n    ";
        column = 4;
      } else if (column > 0) {
        text += ' ';
        ++column;
      }
      text += word;
      column += word.size();
    };
    for (std::size_t i = 0; i < words.size(); ++i) {
      // An option and its value stay on one line.
      bool const with_value = i + 1 < words.size() && words[i].substr(0, 1) == "-" &&
                              words[i].find('=') == std::string::npos && words[i + 1].substr(0, 1) != "-";
      add(with_value ? shell_word(words[i]) + ' ' + shell_word(words[i + 1]) : shell_word(words[i]));
      if (with_value) ++i;
    }
    return text;
  }
};

/// A line of a shell script that says something, broken at spaces; what the program called things is shown safely.
/// Shape: every line begins with `# `.
[[nodiscard]] inline std::string shell_comment(std::string_view text) {
  constexpr std::size_t page = 100;
  std::string shown;
  std::size_t column = page;
  std::string const safe = report::escaped(text);
  for (std::string_view rest = safe; !rest.empty();) {
    auto const end = rest.find(' ');
    auto const word = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    auto const width = report::width_of(word);
    if (column + 1 + width > page) {
      shown += shown.empty() ? "# " : "\n#   ";
      column = 4;
    } else {
      shown += ' ';
      ++column;
    }
    shown += word;
    column += width;
  }
  return shown + '\n';
}

}  // namespace streamgauge
