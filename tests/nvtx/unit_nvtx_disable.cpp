#define NVTX_DISABLE
#include "unit_everything.hpp"
#include "unit_deferred.hpp"
#include "units.hpp"

int units::nvtx_disable() { return use_everything(); }

std::string units::nvtx_disable_deferred() { return why_not_deferred(); }

std::string units::nvtx_disable_submits(streamgauge::deferred_ranges& ranges) {
  auto const now = streamgauge::host_now();
  return ranges.submit("from a unit without NVTX", now, now).why_not;
}

streamgauge::deferred_ranges& units::made_by_nvtx_disable() {
  static streamgauge::deferred_ranges made;
  return made;
}
