// Without these: samples taken under a power cap would look like any others, or a reading of another second would mark them.
// Field cases: case-74.

#include <streamgauge/analyze/clock_readings.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

using namespace std::chrono_literals;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

using reasons = std::optional<std::uint64_t>;

sg::device_reading read(nanoseconds at, reasons slowed_by) {
  sg::device_reading one;
  one.at = at;
  one.slowed_by = slowed_by;
  return one;
}

/// Entered at 5 ms less, since it waited in a queue for so long.
sg::sample ran(nanoseconds from, nanoseconds until) {
  sg::sample one;
  one.entered = from - nanoseconds{5ms};
  one.queue = nanoseconds{5ms};
  one.device = until - from;
  return one;
}

// Capped at 100 ms, free but idle at 300 ms.
std::vector<sg::device_reading> const capped_first{read(100ms, 0x4), read(300ms, 0x1)};

}  // namespace

TEST_CASE("case-74 an execution is marked by the reading nearest to it, and by none that is a tenth of a second away") {
  CHECK(sg::held_back_by(ran(150ms, 160ms), capped_first) == reasons{0x4});
  CHECK(sg::held_back_by(ran(250ms, 260ms), capped_first) == reasons{0});
  CHECK(sg::held_back_by(ran(190ms, 200ms), capped_first) == reasons{0x4});
  CHECK(sg::held_back_by(ran(195ms, 205ms), capped_first) == reasons{0});  // as near to both: the later one
  CHECK(sg::held_back_by(ran(400ms, 410ms), capped_first) == reasons{0});
  CHECK_FALSE(sg::held_back_by(ran(401ms, 410ms), capped_first));
  CHECK_FALSE(sg::held_back_by(ran(20ms, 30ms), std::vector<sg::device_reading>{}));
}

TEST_CASE("readings while it ran speak together, and outweigh those beside it") {
  CHECK(sg::held_back_by(ran(90ms, 310ms), capped_first) == reasons{0x4});
  CHECK(sg::held_back_by(ran(101ms, 310ms), capped_first) == reasons{0});
  std::vector<sg::device_reading> const three{read(100ms, 0x20), read(110ms, 0x4), read(120ms, 0x8)};
  CHECK(sg::held_back_by(ran(105ms, 125ms), three) == reasons{0xc});
}

TEST_CASE("idleness and the clock that the program chose hold nothing back; a reading without reasons says nothing") {
  CHECK(sg::held_back_by(0x3) == 0);
  CHECK(sg::held_back_by(0x7) == 0x4);
  CHECK(sg::held_back_by(0x1f0) == 0x1f0);
  std::vector<sg::device_reading> const lacking{read(100ms, 0x4), read(152ms, std::nullopt)};
  CHECK(sg::held_back_by(ran(150ms, 151ms), lacking) == reasons{0x4});
}

TEST_CASE("an execution ran from when the device began; unplaced, from entering until it was seen done") {
  sg::sample one = ran(100ms, 104ms);
  CHECK(sg::stretch_of(one).begin == 100ms);
  CHECK(sg::stretch_of(one).end == 104ms);
  one.queue = sg::absence::not_asked;
  CHECK(sg::stretch_of(one).begin == 95ms);
  CHECK(sg::stretch_of(one).end == 99ms);
  one.completion = nanoseconds{12ms};
  CHECK(sg::stretch_of(one).end == 107ms);
  one.entered = (nanoseconds::max)();
  CHECK(sg::stretch_of(one).end == (nanoseconds::max)());
  CHECK(sg::distance_of((nanoseconds::min)(), sg::stretch_of(one)) == (std::numeric_limits<std::uint64_t>::max)());
}

TEST_CASE("how many were held back is counted beside those of which nothing is known; warm-up and what has no time are left out") {
  sg::series of;
  for (nanoseconds const at : {nanoseconds{120ms}, nanoseconds{130ms}, nanoseconds{290ms}, nanoseconds{900ms}})
    of.samples.push_back(ran(at, at + nanoseconds{1ms}));
  of.samples.push_back(ran(125ms, 126ms));
  of.samples.back().warmup = true;
  of.samples.push_back(ran(125ms, 126ms));
  of.samples.back().device = sg::absence::gate_timeout;
  sg::held_back_count count = sg::count_held_back(of, capped_first);
  CHECK(count.executions == 4);
  CHECK(count.held_back == 2);
  CHECK(count.not_known == 1);
  CHECK(count.reasons == 0x4);
  count += count;
  CHECK(count.executions == 8);
  CHECK(count.held_back == 4);
  CHECK(count.not_known == 2);
  // Merged runs have no origin of time in common.
  of.runs = 2;
  CHECK(sg::count_held_back(of, capped_first).held_back == 0);
  CHECK(sg::count_held_back(of, capped_first).not_known == 4);
}

TEST_CASE("the readings are those of the device that a series ran on; of several, or none that is known, of none") {
  sg::recording in;
  in.environment.devices.resize(2);
  in.environment.devices[1].ordinal = 3;
  in.streams.resize(3);
  in.streams[0].device = 0;
  in.streams[1].device = 3;
  sg::series of;
  of.samples.resize(2);
  CHECK(sg::device_of(of, in) == nullptr);
  of.samples[1].stream = 2;
  CHECK(sg::device_of(of, in) == &in.environment.devices[1]);
  of.samples[0].stream = 3;  // of a device that is not known
  CHECK(sg::device_of(of, in) == &in.environment.devices[1]);
  of.samples[0].stream = 1;
  CHECK(sg::device_of(of, in) == nullptr);
  of.samples[0].stream = of.samples[1].stream = 0;
  in.environment.devices.pop_back();
  CHECK(sg::device_of(of, in) == &in.environment.devices[0]);
}
