#pragma once

#include <cstddef>

/// What this thread has allocated through the global operator new, which tests/unit/memory.cpp stands in for.
namespace memory {

struct amount {
  std::size_t allocations = 0;  ///< so far, in all
  std::size_t bytes = 0;        ///< held now
  std::size_t peak = 0;         ///< most bytes held at once
};
[[nodiscard]] amount seen();

/// While it lives, so many allocations of this thread that must not throw succeed, and then none does.
class ends_after {
 public:
  explicit ends_after(std::size_t allocations);
  ends_after(ends_after const&) = delete;
  ends_after& operator=(ends_after const&) = delete;
  ~ends_after();
};

}  // namespace memory
