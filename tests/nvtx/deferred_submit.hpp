#pragma once

#include <chrono>
#include <cstdio>
#include <thread>

#include <streamgauge/mark/deferred_range.hpp>

namespace sg = streamgauge;

namespace {

// Says what became of one range.
inline void submit_one(sg::deferred_ranges& ranges, char const* who, char const* name) {
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  auto const now = sg::host_now();
  auto const told = ranges.submit(name, now - std::chrono::milliseconds{1}, now);
  std::printf("%s: %s\n", who, told.submitted() ? "submitted" : told.why_not);
  std::fflush(stdout);
}

}  // namespace
