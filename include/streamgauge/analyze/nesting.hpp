#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/sample.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// How often a series was entered inside another one, or on its own.
struct place {
  std::optional<std::size_t> parent;  ///< index of the series around it; absent: on its own
  std::uint64_t times = 0;
};

/// Where the samples of a series were entered, in the order of first sight. A parent that the recording does not hold
/// counts as none.
template <class Series>
[[nodiscard]] std::vector<place> places_of(Series const& of, std::size_t series_count) {
  std::vector<place> found;
  for (auto const& one : of.samples) {
    place at;
    if (one.parent && *one.parent < series_count) at.parent = *one.parent;
    std::size_t i = 0;
    while (i < found.size() && found[i].parent != at.parent) ++i;
    if (i == found.size()) found.push_back(at);
    ++found[i].times;
  }
  return found;
}

/// The series of a recording as a tree, in display order.
struct nesting {
  std::vector<std::size_t> order;  ///< indices in `recording::all`
  std::vector<std::size_t> depth;  ///< of each place in `order`; 0: a root
};

/// The one series to show another under, given where that was entered: present where all of those are series of one phase,
/// and then the last of them, behind which the rows of that phase end.
template <class Series>
[[nodiscard]] std::optional<std::size_t> parent_of(std::vector<Series> const& all, std::vector<place> const& places) {
  std::optional<std::size_t> last;
  for (auto const& at : places) {
    if (!at.parent || (last && all[*at.parent].phase != all[*last].phase)) return std::nullopt;
    if (!last || *last < *at.parent) last = at.parent;
  }
  return last;
}

/// Puts each series under the one phase that all its samples were entered in; the others are roots.
/// Series of one phase under different conditions stand together where they have the same parent.
/// Why: nesting is what one thread did (`sample::parent`). A region that a worker opened for itself is a root, whatever
/// was open on the thread that started the worker.
template <class Series>
[[nodiscard]] nesting nest(std::vector<Series> const& all) {
  auto const count = all.size();
  auto const root = count;  // stands for the parent that a root does not have
  std::vector<std::size_t> parent(count, root);
  for (std::size_t i = 0; i < count; ++i) parent[i] = parent_of(all, places_of(all[i], count)).value_or(root);

  // Samples that were lost can leave a ring of series that all claim a parent. One of them becomes a root.
  std::vector<std::size_t> walked_by(count, count);
  for (std::size_t start = 0; start < count; ++start) {
    for (auto at = start; at != root && walked_by[at] == count; at = parent[at]) {
      walked_by[at] = start;
      if (parent[at] != root && walked_by[parent[at]] == start) parent[at] = root;
    }
  }

  // Children as linked lists, first to last; roots hang under `root`.
  std::vector<std::size_t> first_child(count + 1, count);
  std::vector<std::size_t> next_sibling(count, count);
  for (std::size_t i = count; i-- > 0;) {
    next_sibling[i] = first_child[parent[i]];
    first_child[parent[i]] = i;
  }
  // The same phase moves up behind its first series.
  for (std::size_t above = 0; above <= count; ++above) {
    for (auto i = first_child[above]; i != count; i = next_sibling[i]) {
      auto last = i;
      for (auto before = i; next_sibling[before] != count;) {
        auto const next = next_sibling[before];
        if (all[next].phase != all[i].phase) {
          before = next;
        } else if (before == last) {
          before = last = next;
        } else {
          next_sibling[before] = next_sibling[next];
          next_sibling[next] = next_sibling[last];
          next_sibling[last] = next;
          last = next;
        }
      }
      i = last;
    }
  }

  nesting found;
  found.order.reserve(count);
  found.depth.reserve(count);
  std::size_t depth = 0;
  for (auto at = first_child[root]; at != count;) {
    found.order.push_back(at);
    found.depth.push_back(depth);
    if (first_child[at] != count) {
      at = first_child[at];
      ++depth;
      continue;
    }
    while (next_sibling[at] == count && parent[at] != root) {
      at = parent[at];
      --depth;
    }
    at = next_sibling[at];
  }
  return found;
}

}  // namespace streamgauge
