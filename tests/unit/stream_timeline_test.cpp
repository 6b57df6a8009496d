// Would go unseen without these: streams of two devices taken for one because they have the same number, busy times
// added up as if they were elapsed time, and a device that waits for another counted as busy.
#include <streamgauge/analyze/stream_timeline.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;
using namespace std::chrono_literals;

namespace {

sg::placed_stretch ran(int device, std::uint64_t stream, std::int64_t begin, std::int64_t end,
                       std::string name = "kernel") {
  return {std::move(name), device, stream, nanoseconds{begin}, nanoseconds{end}};
}

void check(sg::busy_times const& found, std::int64_t sum, std::int64_t busy_union, std::int64_t overlap) {
  CHECK(found.sum.count() == sum);
  CHECK(found.busy_union.count() == busy_union);
  CHECK(found.overlap.count() == overlap);
}

}  // namespace

TEST_CASE("case-19 by stream nothing overlaps, by device the sum is more than the time that passed") {
  // Device 0: stream 7 runs 0 to 6 and 10 to 12, stream 9 runs 4 to 9. Device 1 runs on a stream of the same number.
  std::vector<sg::placed_stretch> const stretches{ran(1, 7, 20, 25), ran(0, 9, 4, 9), ran(0, 7, 10, 12),
                                                  ran(0, 7, 0, 6), ran(1, 7, 30, 31)};
  auto const found = sg::timeline_of(stretches);
  CHECK(found.reason.empty());
  REQUIRE(found.streams.size() == 3);
  CHECK(found.streams[0].device == 0);
  CHECK(found.streams[0].stream == 7);
  CHECK(found.streams[0].stretches == 2);
  check(found.streams[0].busy, 8, 8, 0);
  CHECK(found.streams[1].stream == 9);
  check(found.streams[1].busy, 5, 5, 0);
  CHECK(found.streams[2].device == 1);
  check(found.streams[2].busy, 6, 6, 0);
  REQUIRE(found.devices.size() == 2);
  CHECK(found.devices[0].device == 0);
  CHECK(found.devices[0].streams == 2);
  CHECK(found.devices[0].stretches == 3);
  check(found.devices[0].busy, 13, 11, 2);
  REQUIRE(found.devices[0].idle.gaps.size() == 1);
  CHECK(found.devices[0].idle.gaps[0].begin == 9ns);
  CHECK(found.devices[0].idle.total == 1ns);
  // Of its own first begin to its own last end: what device 0 did before is no gap here.
  CHECK(found.devices[1].streams == 1);
  CHECK(found.devices[1].idle.total == 5ns);
  CHECK(found.devices[1].idle.within->begin == 20ns);
}

TEST_CASE("in a window every device is looked at for the same time, and only what lies in it counts") {
  std::vector<sg::placed_stretch> const stretches{ran(0, 1, 0, 6), ran(0, 2, 4, 9), ran(1, 1, 20, 25)};
  auto const found = sg::timeline_of(stretches, {5ns, 15ns});
  REQUIRE(found.devices.size() == 2);
  check(found.devices[0].busy, 5, 4, 1);
  CHECK(found.devices[0].idle.total == 6ns);
  CHECK(found.devices[1].streams == 1);
  CHECK(found.devices[1].stretches == 0);
  check(found.devices[1].busy, 0, 0, 0);
  CHECK(found.devices[1].idle.total == 10ns);
  CHECK(sg::timeline_of(stretches, {5ns, 5ns}).devices[0].idle.why_absent == sg::no_idle_times::empty_window);
}

TEST_CASE("stretches on one stream that run at once show as an overlap of the stream") {
  auto const found = sg::timeline_of({ran(0, 1, 0, 10), ran(0, 1, 2, 5)});
  check(found.streams.at(0).busy, 13, 10, 3);
}

TEST_CASE("a device that ran nothing of any length has no idle times") {
  auto const found = sg::timeline_of({ran(0, 1, 3, 3)});
  CHECK(found.devices.at(0).stretches == 0);
  CHECK(found.devices.at(0).idle.why_absent == sg::no_idle_times::nothing_ran);
}

TEST_CASE("what cannot be placed is refused with its name") {
  constexpr auto least = (std::numeric_limits<std::int64_t>::min)();
  constexpr auto most = (std::numeric_limits<std::int64_t>::max)();
  CHECK(sg::timeline_of(std::vector<sg::placed_stretch>{}).reason == "there are no stretches");
  CHECK(sg::timeline_of({ran(0, 1, 0, 4), ran(0, 1, 9, 7, "copy")}).reason ==
        "\"copy\", stretch 1 of the list, ends before it begins");
  CHECK(sg::timeline_of({ran(0, 1, least, least + 1), ran(0, 1, 0, 1, "copy")}).reason ==
        "\"copy\", stretch 1 of the list, lies 292 years or more from another one: are all of one clock?");
  CHECK(sg::timeline_of({ran(0, 1, 0, most), ran(0, 2, 0, 1, "copy")}).reason ==
        "\"copy\", stretch 1 of the list, makes the times add up to 292 years or more");
  CHECK(sg::timeline_of({ran(0, 1, 0, most)}).reason.empty());
}
