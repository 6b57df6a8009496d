#pragma once

#include <doctest/doctest.h>

#include "simulated.hpp"

namespace simulated {

/// A fresh machine for one test case: `TEST_CASE_FIXTURE(simulated::fresh_machine, "...")`, or a local variable.
/// At its end nothing may have happened that would crash or hang on a real machine.
class fresh_machine {
 public:
  fresh_machine() { reset(); }
  explicit fresh_machine(machine_options const& options) { reset(options); }
  ~fresh_machine() {
    for (auto const& misuse : fatal_misuses()) FAIL_CHECK("fatal misuse: " << misuse);
    clear_fatal_misuses();
  }
  fresh_machine(fresh_machine const&) = delete;
  fresh_machine& operator=(fresh_machine const&) = delete;
};

}  // namespace simulated
