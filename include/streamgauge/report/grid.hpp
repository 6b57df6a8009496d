#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// Labelled lines beside blocks of columns, laid out as text. It knows nothing of what the cells mean.
/// Blocks that do not fit into the page beside the others go below them, with the labels once more. A label that is too
/// long for its column gets a line of its own and is never cut.
/// A template, so that only a unit that prints compiles its bodies.
template <class Cell = std::string>
class grid {
 public:
  static constexpr std::size_t most_columns = 5;
  static constexpr std::size_t most_blocks = 7;

  /// Columns that belong together, under one title.
  struct block {
    std::string title;
    std::string subtitle;
    std::string_view corner;         ///< stands in the subtitle's line above the last column
    std::vector<Cell> cells;  ///< line by line, the headings first; plain ASCII
    std::size_t columns = 0;
    std::size_t widths[most_columns] = {};
    std::size_t width = 0;
  };

  /// Adds a line. `instead` labels its cells where the label itself stands on the line above.
  [[gnu::cold]] void add_line(std::string const& label, std::string const& instead) {
    labels_.push_back(label);
    instead_.push_back(instead);
  }

  /// The next block, to be filled; `measure` follows.
  [[nodiscard]] block& next_block() { return blocks_[count_++]; }

  /// Finds the widths of a block that is filled.
  [[gnu::cold]] void measure(block& of) {
    for (std::size_t c = 0; c < of.columns; ++c) of.widths[c] = 3;
    for (std::size_t i = 0; i < of.cells.size(); ++i) {
      auto& width = of.widths[i % of.columns];
      if (width < of.cells[i].size()) width = of.cells[i].size();
    }
    of.width = inner_gap * (of.columns - 1);
    for (std::size_t c = 0; c < of.columns; ++c) of.width += of.widths[c];
    auto needed = of.subtitle.size() + (of.corner.empty() ? 0 : inner_gap + of.corner.size());
    if (needed < of.title.size()) needed = of.title.size();
    if (needed > of.width) {
      of.widths[0] += needed - of.width;
      of.width = needed;
    }
  }

  /// How many lines and blocks there are, and what they hold, for whoever lays them out otherwise.
  [[nodiscard]] std::size_t lines() const noexcept { return labels_.size(); }
  [[nodiscard]] Cell const& label(std::size_t line) const { return labels_[line]; }
  [[nodiscard]] std::size_t blocks() const noexcept { return count_; }
  [[nodiscard]] block const& block_at(std::size_t place) const { return blocks_[place]; }
  [[nodiscard]] block& block_at(std::size_t place) { return blocks_[place]; }

  [[nodiscard]] std::string text() {
    shown_.clear();
    auto const labels = label_width();
    for (std::size_t first = 0; first < count_;) {
      auto last = first;
      auto width = labels;
      do width += outer_gap + blocks_[last++].width;
      while (last < count_ && width + outer_gap + blocks_[last].width <= page);
      if (first > 0) shown_.push_back('\n');
      add_band(first, last, labels);
      first = last;
    }
    return shown_;
  }

 private:
  static constexpr std::size_t page = 100;
  static constexpr std::size_t outer_gap = 2;
  static constexpr std::size_t inner_gap = 2;
  static constexpr std::size_t modest_label = 34;
  static constexpr std::size_t shortest_label = 20;
  static constexpr std::string_view heading = "phase";

  // As wide as the labels if that leaves room for all blocks; otherwise what the first two blocks leave, since those
  // are read side by side, or a modest column.
  [[nodiscard]] std::size_t label_width() const {
    auto widest = heading.size();
    for (auto const& label : labels_) {
      auto const width = width_of(label);
      if (width > widest) widest = width;
    }
    std::size_t all = 0;
    std::size_t first_two = 0;
    for (std::size_t b = 0; b < count_; ++b) {
      all += outer_gap + blocks_[b].width;
      if (b == 1) first_two = all;
    }
    if (widest + all <= page) return widest;
    auto const room = first_two > 0 && first_two + shortest_label <= page ? page - first_two : modest_label;
    return widest < room ? widest : room;
  }

  [[gnu::noinline, gnu::cold]] void pad(std::string_view text, std::size_t width) {
    shown_.append(text);
    auto const used = width_of(text);
    shown_.append(used < width ? width - used : 0, ' ');
  }

  [[gnu::noinline, gnu::cold]] void end_line() {
    while (shown_.back() == ' ') shown_.pop_back();
    shown_.push_back('\n');
  }

  // The blocks from `first` to before `last`, beside each other.
  [[gnu::cold]] void add_band(std::size_t first, std::size_t last, std::size_t labels) {
    pad("", labels);
    for (auto b = first; b < last; ++b) {
      pad("", outer_gap);
      pad(blocks_[b].title, blocks_[b].width);
    }
    end_line();
    pad("", labels);
    for (auto b = first; b < last; ++b) {
      pad("", outer_gap);
      pad(blocks_[b].subtitle, blocks_[b].width - blocks_[b].corner.size());
      pad(blocks_[b].corner, 0);
    }
    end_line();
    pad(heading, labels);
    add_cells(first, last, 0);
    shown_.append(labels, '-');
    for (auto b = first; b < last; ++b) {
      pad("", outer_gap);
      shown_.append(blocks_[b].width, '-');
    }
    end_line();
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      // A line that has nothing to say in a band is left out there.
      if (is_empty(first, last, i + 1)) continue;
      bool const fits = width_of(labels_[i]) <= labels;
      if (!fits) pad(labels_[i], 0);
      if (!fits) end_line();
      std::string_view const beside = fits ? labels_[i] : instead_[i];
      pad(width_of(beside) <= labels ? beside : "", labels);
      add_cells(first, last, i + 1);
    }
  }

  [[nodiscard]] bool is_empty(std::size_t first, std::size_t last, std::size_t line) const {
    for (auto b = first; b < last; ++b)
      for (std::size_t c = 0; c < blocks_[b].columns; ++c)
        if (!blocks_[b].cells[line * blocks_[b].columns + c].empty()) return false;
    return true;
  }

  [[gnu::noinline, gnu::cold]] void add_cells(std::size_t first, std::size_t last, std::size_t line) {
    for (auto b = first; b < last; ++b) {
      auto const& from = blocks_[b];
      for (std::size_t c = 0; c < from.columns; ++c) {
        auto const& cell = from.cells[line * from.columns + c];
        shown_.append((c == 0 ? outer_gap : inner_gap) + from.widths[c] - cell.size(), ' ');
        shown_.append(cell);
      }
    }
    end_line();
  }

  std::vector<Cell> labels_;
  std::vector<Cell> instead_;
  block blocks_[most_blocks];
  std::size_t count_ = 0;
  std::string shown_;
};

}  // namespace streamgauge::report
