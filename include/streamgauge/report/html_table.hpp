#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/report/text.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/html_text.hpp>

namespace streamgauge::report {

// Tables of the text reports as tables of a page: the same words and the same numbers.

/// The blocks of a grid as tables of at most ten columns, so that a page and a sheet of paper hold them; with the labels
/// in each. Lines that have nothing to say in a table are left out of it.
/// A template, so that only a unit that prints compiles its bodies.
template <class Grid>
class html_tables {
 public:
  /// `says`: what the tables hold, for those who hear the page.
  html_tables(Grid const& of, std::string_view says) : of_{of}, says_{html_text(says)} {
    for (std::size_t first = 0; first < of.blocks();) {
      auto last = first;
      std::size_t columns = 0;
      do columns += of.block_at(last++).columns;
      while (last < of.blocks() && columns + of.block_at(last).columns <= 10);
      add_table(first, last);
      first = last;
    }
  }

  [[nodiscard]] std::string const& text() const noexcept { return text_; }

 private:
  void add_heading(std::size_t columns, std::string_view what, std::string_view look) {
    text_.append("<th scope=\"colgroup\" class=\"").append(look).append("\" colspan=\"").append(digits(columns));
    text_.append("\">").append(html_text(what)).append("</th>");
  }

  void add_table(std::size_t first, std::size_t last) {
    text_.append("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"").append(says_);
    text_.append("\"><table><thead><tr><td></td>");
    for (auto b = first; b < last; ++b) add_heading(of_.block_at(b).columns, of_.block_at(b).title, "block");
    text_.append("</tr><tr><td></td>");
    for (auto b = first; b < last; ++b) {
      auto const& block = of_.block_at(b);
      bool const corner = !block.corner.empty();
      add_heading(block.columns - (corner ? 1 : 0), block.subtitle, "block under");
      if (corner) add_heading(1, block.corner, "under");
    }
    text_.append("</tr><tr><th scope=\"col\">phase</th>");
    add_cells(first, last, 0);
    text_.append("</tr></thead><tbody>\n");
    for (std::size_t line = 0; line < of_.lines(); ++line) {
      if (is_empty(first, last, line + 1)) continue;
      std::string_view label = of_.label(line);
      std::size_t indent = 0;
      for (; !label.empty() && label.front() == ' '; label.remove_prefix(1)) ++indent;
      bool const under = !label.empty() && label.front() == '(' && indent % 2 == 1;
      text_.append(under ? "<tr class=\"part\"><th scope=\"row\"" : "<tr><th scope=\"row\"");
      if (indent > 0) text_.append(" style=\"--in:").append(digits(indent)).append("\"");
      text_.append(">").append(html_name(label)).append("</th>");
      add_cells(first, last, line + 1);
      text_.append("</tr>\n");
    }
    text_.append("</tbody></table></div>\n");
  }

  [[nodiscard]] bool is_empty(std::size_t first, std::size_t last, std::size_t line) const {
    for (auto b = first; b < last; ++b)
      for (std::size_t c = 0; c < of_.block_at(b).columns; ++c)
        if (!of_.block_at(b).cells[line * of_.block_at(b).columns + c].empty()) return false;
    return true;
  }

  void add_cells(std::size_t first, std::size_t last, std::size_t line) {
    for (auto b = first; b < last; ++b) {
      auto const& block = of_.block_at(b);
      for (std::size_t c = 0; c < block.columns; ++c) {
        char const* const look = c == 0 ? " class=\"first\"" : "";
        text_.append(line == 0 ? "<th scope=\"col\"" : "<td").append(look).append(">");
        text_.append(html_text(block.cells[line * block.columns + c])).append(line == 0 ? "</th>" : "</td>");
      }
    }
  }

  Grid const& of_;
  std::string says_;
  std::string text_;
};

/// Lines under a table as a list of what they are about. Empty where there is none.
template <class = void>
[[nodiscard, gnu::cold]] std::string html_lines(std::vector<labelled_line> const& lines) {
  if (lines.empty()) return {};
  std::string text = "<dl>\n";
  bool open = false;
  for (auto const& each : lines) {
    if (each.verbatim) {
      text.append("<dd><pre>").append(html_text(each.text)).append("</pre></dd>\n");
      continue;
    }
    if (!each.label.empty() || !open) text.append("<dt>").append(html_text(each.label)).append("</dt>\n");
    open = true;
    bool const deeper = !each.text.empty() && each.text.front() == ' ';
    text.append(deeper ? "<dd class=\"deeper\">" : "<dd>").append(html_text(each.text)).append("</dd>\n");
  }
  return text.append("</dl>\n");
}

}  // namespace streamgauge::report
