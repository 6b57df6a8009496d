// Submits ranges after the fact, from units that compile marking in different ways.
#include <streamgauge/mark/deferred_range.hpp>

#include <chrono>
#include <string>
#include <thread>

namespace units {

#if !defined(STREAMGAUGE_DISABLE)
// The unit with NVTX_DISABLE submits a range through an object of another unit's, and makes one for others.
std::string nvtx_disable_submits(streamgauge::deferred_ranges& ranges);
streamgauge::deferred_ranges& made_by_nvtx_disable();
#endif

namespace {  // a copy for each unit: one inline function over all of them would have several bodies

inline std::string why_not_deferred() {
  namespace sg = streamgauge;
  sg::deferred_ranges ranges;
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  ranges.look();
  auto const now = sg::host_now();
  std::string const name = "in a unit";
  auto const told = ranges.submit(name, now, now);
  static_cast<void>(ranges.submit("in a unit", now, now, std::chrono::nanoseconds{1}));
  sg::tool_clock clock;
  clock.look();
  sg::deferred_ranges const unused{sg::deferred_calls_in<sg::device_domain>(), sg::rate_stray{50}};
  sg::tool_clock by_calls{sg::deferred_calls_in<sg::device_domain>()};
  by_calls.look_when_due();
  std::string const of_all = ranges.why_not();
  auto const counts = ranges.counts();
  bool const agree = told.why_not == of_all && (counts.submitted == 2) == told.submitted() &&
                     (clock.place(now).has_value() || *clock.why_not() != '\0');
  return agree ? told.why_not : "these do not agree";
}

}  // namespace

}  // namespace units
