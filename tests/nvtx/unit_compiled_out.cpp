#define STREAMGAUGE_DISABLE
#include "unit_everything.hpp"
#include "unit_deferred.hpp"
#include "units.hpp"

#include <type_traits>

#if defined(NVTX_VERSION)
#error "compiled out, marking includes nothing of NVTX"
#endif

static_assert(std::is_empty_v<streamgauge::scoped_range>);
static_assert(std::is_empty_v<streamgauge::registered_name>);
static_assert(!std::is_copy_constructible_v<streamgauge::scoped_range>);
static_assert(!std::is_copy_constructible_v<streamgauge::range>);

int units::compiled_out() { return use_everything(); }

std::string units::compiled_out_deferred() { return why_not_deferred(); }
