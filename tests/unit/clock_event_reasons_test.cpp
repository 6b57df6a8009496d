// Without these: what held a device's clocks back would be named wrongly, or a reason that is newer than the list would be
// lost.

#include <streamgauge/analyze/clock_event_reasons.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>

namespace sg = streamgauge;

TEST_CASE("each of NVML's bits has its word, and no bit is nothing") {
  CHECK(sg::describe_clock_event_reasons(0x0) == "nothing");
  CHECK(sg::describe_clock_event_reasons(0x1) == "idle");
  CHECK(sg::describe_clock_event_reasons(0x2) == "applications clocks setting");
  CHECK(sg::describe_clock_event_reasons(0x4) == "software power cap");
  CHECK(sg::describe_clock_event_reasons(0x8) == "hardware slowdown");
  CHECK(sg::describe_clock_event_reasons(0x10) == "sync boost");
  CHECK(sg::describe_clock_event_reasons(0x20) == "software thermal slowdown");
  CHECK(sg::describe_clock_event_reasons(0x40) == "hardware thermal slowdown");
  CHECK(sg::describe_clock_event_reasons(0x80) == "hardware power brake slowdown");
  CHECK(sg::describe_clock_event_reasons(0x100) == "display clock setting");
}

TEST_CASE("several are named in the order of their bits, and what has no word is a number behind them") {
  CHECK(sg::describe_clock_event_reasons(0x24) == "software power cap, software thermal slowdown");
  CHECK(sg::describe_clock_event_reasons(0x200) == "0x200");
  CHECK(sg::describe_clock_event_reasons(0x1201) == "idle, 0x1200");
  CHECK(sg::describe_clock_event_reasons(~std::uint64_t{0x1ff}) == "0xfffffffffffffe00");
}
