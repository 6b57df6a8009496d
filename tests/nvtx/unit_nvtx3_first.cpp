#if __has_include(<nvtx3/nvtx3.hpp>)
#include <nvtx3/nvtx3.hpp>
#endif

#include <streamgauge/mark/range.hpp>

#include "unit_deferred.hpp"
#include "units.hpp"

void units::nvtx3_first() {
#if __has_include(<nvtx3/nvtx3.hpp>)
  nvtx3::scoped_range outer{"theirs"};
#endif
  streamgauge::scoped_range inner{"ours"};
}

std::string units::nvtx3_first_deferred() { return why_not_deferred(); }
