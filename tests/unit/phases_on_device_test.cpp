// The bug that would go unseen without this file: device time that is counted twice because phases nest, or as another
// stream's.

#include <streamgauge/analyze/phases_on_device.hpp>

#include <doctest/doctest.h>

#include <string>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

constexpr std::int64_t us = 1000;

sg::sample placed(std::uint32_t stream, std::int64_t begin, std::int64_t end, std::int64_t bound = 0) {
  sg::sample one;
  one.entered = nanoseconds{(begin - 2) * us};
  one.queue = nanoseconds{2 * us};
  one.device = nanoseconds{(end - begin) * us};
  one.bound = nanoseconds{bound * us};
  one.stream = stream;
  return one;
}

// Two streams of device 0, one of device 1.
sg::recording three_streams() {
  sg::recording of;
  of.streams = {{0, 0x70, sg::stream_kind::made}, {0, 0x10, sg::stream_kind::made}, {1, 0x70, sg::stream_kind::made}};
  of.clocks.resize(2);
  of.clocks[0].device = 0;
  of.clocks[1].device = 1;
  of.all.resize(2);
  of.all[0].phase = "outer";
  of.all[1].phase = "inner";
  return of;
}

}  // namespace

TEST_CASE("what lies in another stretch of its stream is left out, and the same on another stream is not") {
  auto of = three_streams();
  of.all[0].samples = {placed(1, 0, 100), placed(1, 100, 150)};
  of.all[1].samples = {placed(1, 10, 20), placed(1, 110, 150), placed(2, 30, 60), placed(3, 0, 10)};
  auto const found = sg::stretches_of(of);
  REQUIRE(found.size() == 4);
  CHECK(found[0].name == "outer");
  CHECK(found[0].device == 0);
  CHECK(found[0].stream == 1);
  CHECK(found[0].begin == nanoseconds{0});
  CHECK(found[0].end == nanoseconds{100 * us});
  CHECK(found[1].begin == nanoseconds{100 * us});
  CHECK(found[2].name == "inner");
  CHECK(found[2].stream == 2);
  CHECK(found[3].device == 1);

  auto const times = sg::timeline_of(found);
  REQUIRE(times.devices.size() == 2);
  CHECK(times.devices[0].streams == 2);
  CHECK(times.devices[0].busy.busy_union == nanoseconds{150 * us});
  CHECK(times.devices[0].busy.overlap == nanoseconds{30 * us});
  CHECK(times.devices[1].busy.busy_union == nanoseconds{10 * us});
}

TEST_CASE("two that follow each other may overlap by their bounds, and are cut; what ends within another is nested") {
  auto of = three_streams();
  of.all[0].samples = {placed(1, 0, 100, 3), placed(1, 96, 150, 3)};
  auto found = sg::stretches_of(of);
  REQUIRE(found.size() == 2);
  CHECK(found[1].begin == nanoseconds{100 * us});
  CHECK(found[1].end == nanoseconds{150 * us});

  of.all[0].samples[1] = placed(1, 50, 106, 3);
  CHECK(sg::stretches_of(of).size() == 1);

  of.all[0].samples[1] = placed(1, 96, 99, 3);
  CHECK(sg::stretches_of(of).size() == 1);
}

TEST_CASE("started phases that overlap without nesting lose none of the device's time") {
  auto of = three_streams();
  of.all[0].samples = {placed(1, 0, 100, 3)};
  of.all[1].samples = {placed(1, 50, 300, 3)};
  auto const found = sg::stretches_of(of);
  REQUIRE(found.size() == 2);
  CHECK(found[1].begin == nanoseconds{100 * us});
  CHECK(found[1].end == nanoseconds{300 * us});
  CHECK(sg::timeline_of(found).devices.at(0).busy.busy_union == nanoseconds{300 * us});
}

TEST_CASE("phases of ten seconds one behind the other: their ends drift, and none is taken for nested") {
  auto of = three_streams();
  // The device's clock gains 4 us a second: each seems to end 40 us after the next one begins.
  constexpr std::int64_t second = 1'000'000;
  for (int i = 0; i < 4; ++i) of.all[0].samples.push_back(placed(1, i * 10 * second, (i + 1) * 10 * second + 40, 3));
  auto const found = sg::stretches_of(of);
  REQUIRE(found.size() == 4);
  CHECK(sg::timeline_of(found).devices.at(0).busy.sum == nanoseconds{(40 * second + 40) * us});
}

TEST_CASE("a long series that kept a choice of its samples leaves no device idle between them") {
  auto of = three_streams();
  of.all[0].samples = {placed(1, 0, 100), placed(1, 500, 600)};
  of.all[1].samples = {placed(1, 10, 20), placed(1, 510, 530)};
  of.all[1].kept_one_in = 8;  // all of them are inside what was kept whole
  CHECK(sg::stretches_of(of).size() == 2);
  CHECK(std::string{sg::why_no_stretches(of)}.empty());
  of.all[1].samples.push_back(placed(1, 700, 710));
  CHECK(sg::stretches_of(of).empty());
  CHECK(std::string{sg::why_no_stretches(of)}.find("not every execution was kept") != std::string::npos);
  of.all[1].samples.back().part = sg::span_part::whole;  // and so were its branches
  CHECK(sg::stretches_of(of).empty());
  of.runs = 2;
  CHECK(std::string{sg::why_no_stretches(of)}.find("merged") != std::string::npos);
}

TEST_CASE("what has no stream or no place, a span as a whole and a merged recording give no stretch") {
  auto of = three_streams();
  of.all[0].samples = {placed(0, 0, 100), placed(4, 0, 100), placed(1, 0, 100), placed(1, 200, 300), placed(1, 400, 500)};
  of.all[0].samples[3].part = sg::span_part::whole;
  of.all[0].samples[4].queue = sg::absence::no_clock;
  REQUIRE(sg::stretches_of(of).size() == 1);
  CHECK(sg::stretches_of(of)[0].begin == nanoseconds{0});
  of.all[0].runs = 2;
  CHECK(sg::stretches_of(of).empty());
  of.all[0].runs = 1;
  CHECK(sg::stretches_of(of).size() == 1);
  of.runs = 2;  // no phase is in both
  CHECK(sg::stretches_of(of).empty());
}

TEST_CASE("a sample's device is its stream's, or the only one that there is") {
  auto of = three_streams();
  CHECK(sg::device_of(of, placed(3, 0, 1)) == 1);
  CHECK_FALSE(sg::device_of(of, placed(0, 0, 1)));
  of.clocks.resize(1);
  of.clocks[0].device = 5;
  CHECK(sg::device_of(of, placed(0, 0, 1)) == 5);
}

TEST_CASE("two devices of which CUDA did not say the number are not one device") {
  auto of = three_streams();
  of.streams[0].device = of.streams[2].device = -1;
  of.all[0].samples = {placed(1, 0, 100), placed(3, 0, 100), placed(2, 0, 100)};
  CHECK_FALSE(sg::device_of(of, of.all[0].samples[0]));
  auto const found = sg::stretches_of(of);
  REQUIRE(found.size() == 1);
  CHECK(found[0].device == 0);
  CHECK(sg::count_without_stretch(of) == 2);
  of.clocks.resize(1);  // where there is one alone, all is its own
  of.clocks[0].device = -1;
  of.streams[1].device = -1;
  CHECK(sg::stretches_of(of).size() == 3);
}
