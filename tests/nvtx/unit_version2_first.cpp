// What a unit has seen after NVTX version 2's header; version 3's then stops the compiler with an error.
#define NVTX_VERSION 2
#include "unit_everything.hpp"
#include "unit_deferred.hpp"
#include "units.hpp"

int units::version2_first() { return use_everything(); }

std::string units::version2_first_deferred() { return why_not_deferred(); }
