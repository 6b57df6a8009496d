// A shared library that submits ranges after the fact, to be loaded and unloaded: NVTX lives in it a second time.
#include <streamgauge/mark/deferred_range.hpp>

#include "deferred_submit.hpp"

// Outside the unnamed namespace on purpose: what belongs to a domain of external linkage must not keep the library
// loaded.
struct in_plugin {
  static constexpr char const* name = "in_plugin";
};

extern "C" [[gnu::visibility("default")]] void plugin_run() {
  sg::deferred_ranges ranges{sg::deferred_calls_in<in_plugin>()};
  submit_one(ranges, "plug-in", "of the plug-in");
}
