#pragma once

#include <cstddef>

namespace simulated::inside {

/// Allocations of this thread in its life belong to the simulation and do not count.
class uncounted_allocations {
 public:
  uncounted_allocations();
  ~uncounted_allocations();
  uncounted_allocations(uncounted_allocations const&) = delete;
  uncounted_allocations& operator=(uncounted_allocations const&) = delete;
};

}  // namespace simulated::inside
