#define NVTX_DISABLE
#include "unit_everything.hpp"
#include "units.hpp"

int units::nvtx_disable() { return use_everything(); }
