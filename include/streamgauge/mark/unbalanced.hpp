#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <dlfcn.h>
#include <vector>

namespace streamgauge {

/// A range that was pushed and never popped, and how often.
struct unbalanced_range {
  char const* name;  ///< null: all those whose name was not kept
  std::uint64_t count;
};

/// The text where it stands in the program or a library itself, as literals do; null where it is on the heap or a stack.
/// Why: whoever asks later may find the memory gone. The text itself is not looked at.
[[nodiscard, gnu::noinline, gnu::cold]] inline char const* lasting(char const* text) noexcept {
  Dl_info found;
  return dladdr(text, &found) != 0 ? text : nullptr;
}

/// Ranges that were left on another thread than they were opened on, by name.
/// Why: there a pop would close a range of somebody else, so there is none, and the tool shows the range open for ever. A
/// name is kept by its pointer, so only one that lives as long as the program or library: `lasting`.
/// Shape: room for sixteen names; what is beyond counts as not kept. Nothing is allocated. Threads: any.
class unbalanced_log {
 public:
  // Out of line: every range has a call of it.
  [[gnu::noinline, gnu::cold]] void note(char const* name) noexcept {
    for (entry& each : entries_) {
      char const* seen = each.name.load(std::memory_order_relaxed);
      if (name && !seen && each.name.compare_exchange_strong(seen, name, std::memory_order_relaxed)) seen = name;
      if (name && seen == name) return static_cast<void>(each.count.fetch_add(1, std::memory_order_relaxed));
    }
    nameless_.fetch_add(1, std::memory_order_relaxed);
  }

  template <class Unbalanced = unbalanced_range>
  [[nodiscard]] std::vector<Unbalanced> read() const {
    std::vector<Unbalanced> found;
    for (entry const& each : entries_)
      if (auto const count = each.count.load(std::memory_order_relaxed))
        found.push_back({each.name.load(std::memory_order_relaxed), count});
    if (auto const count = nameless_.load(std::memory_order_relaxed)) found.push_back({nullptr, count});
    return found;
  }
  [[nodiscard]] std::uint64_t count() const noexcept {
    std::uint64_t all = nameless_.load(std::memory_order_relaxed);
    for (entry const& each : entries_) all += each.count.load(std::memory_order_relaxed);
    return all;
  }

 private:
  struct entry {
    std::atomic<char const*> name{nullptr};
    std::atomic<std::uint64_t> count{0};
  };
  entry entries_[16];
  std::atomic<std::uint64_t> nameless_{0};
};

/// Those of this program or shared library.
[[gnu::visibility("hidden")]] inline unbalanced_log unbalanced_here;

/// Scoped ranges of this program or shared library that were left on another thread, and so never popped, by name.
/// Throws: only `std::bad_alloc`. Threads: any.
/// Example: `for (auto const& each : sg::unbalanced_ranges()) std::cerr << (each.name ? each.name : "a range") << '\n';`
template <class Unbalanced = unbalanced_range>
[[nodiscard]] std::vector<Unbalanced> unbalanced_ranges() {
  return unbalanced_here.read<Unbalanced>();
}

}  // namespace streamgauge
