// Without these: a difference of two readings would pass for a reading, as 0 or below it where there is none.

#include <streamgauge/analyze/less_floor.hpp>

#include <string>

#include <doctest/doctest.h>

using streamgauge::nanoseconds;
using streamgauge::no_correction;
namespace sg = streamgauge;

namespace {

sg::device_description h200() {
  sg::device_description device;
  device.event_floor = nanoseconds{1280};
  device.kernel_floor = nanoseconds{2944};
  return device;
}

sg::sample timed(nanoseconds device) {
  sg::sample one;
  one.submit = nanoseconds{5000};
  one.device = device;
  return one;
}

sg::series three() {
  sg::series from;
  from.samples = {timed(nanoseconds{22'976}), timed(nanoseconds{22'944}), timed(nanoseconds{22'912})};
  return from;
}

}  // namespace

TEST_CASE("a time less the floor keeps what was read, the floor and its kind beside it") {
  // A kernel that ran 20 us by its own clock, queued: 22.944 us event to event.
  sg::time_less_floor const found = sg::less_floor(nanoseconds{22'944}, h200());
  CHECK(found.why_not == no_correction::none);
  REQUIRE(found.corrected.has_value());
  CHECK(found.corrected->count() == 20'000.0);
  CHECK(found.raw->count() == 22'944.0);
  REQUIRE(found.floor.has_value());
  CHECK(found.floor->time == nanoseconds{2944});
  CHECK(found.floor->kind == sg::floor_kind::empty_kernel);
}

TEST_CASE("without the floor around a kernel that of an empty phase is taken off, and says so") {
  auto device = h200();
  device.kernel_floor.reset();
  sg::time_less_floor const found = sg::less_floor(nanoseconds{22'944}, device);
  CHECK(found.corrected->count() == 21'664.0);
  CHECK(found.floor->kind == sg::floor_kind::empty_phase);
}

TEST_CASE("below the floor there is none, at the floor it is 0, and without a floor or a time there is none") {
  sg::time_less_floor found = sg::less_floor(nanoseconds{2943}, h200());
  CHECK_FALSE(found.corrected.has_value());
  CHECK(found.why_not == no_correction::below_floor);
  CHECK(found.raw->count() == 2943.0);
  CHECK(found.floor->time == nanoseconds{2944});

  found = sg::less_floor(nanoseconds{2944}, h200());
  REQUIRE(found.corrected.has_value());
  CHECK(found.corrected->count() == 0.0);

  found = sg::less_floor(nanoseconds{22'944}, {});
  CHECK_FALSE(found.corrected.has_value());
  CHECK_FALSE(found.floor.has_value());
  CHECK(found.why_not == no_correction::unknown_floor);
  CHECK(found.raw->count() == 22'944.0);

  found = sg::less_floor(std::nullopt, h200());
  CHECK_FALSE(found.corrected.has_value());
  CHECK_FALSE(found.raw.has_value());
  CHECK(found.why_not == no_correction::no_time);
}

TEST_CASE("of a series it is the steady device median, halves of a nanosecond included, and never the host's time") {
  auto from = three();
  CHECK(sg::less_floor(sg::summarize(from), h200()).corrected->count() == 20'000.0);
  CHECK(sg::less_floor(sg::summarize(from).device.values, h200()).corrected->count() == 20'000.0);
  from.samples.push_back(timed(nanoseconds{22'945}));
  CHECK(sg::less_floor(sg::summarize(from), h200()).corrected->count() == 20'000.5);
  for (auto& one : from.samples) one.device = sg::absence::not_asked;
  CHECK(sg::less_floor(sg::summarize(from), h200()).why_not == no_correction::no_time);
}

TEST_CASE("a span's wall is not corrected: no floor was measured for it") {
  sg::recording from;
  from.all = {three(), three()};
  for (std::uint32_t i = 0; i < 3; ++i) {
    from.all[0].samples[i].span = from.all[1].samples[i].span = i + 1;
    from.all[0].samples[i].part = sg::span_part::whole;
    from.all[1].samples[i].part = sg::span_part::branch;
    from.all[1].samples[i].begins = nanoseconds{0};
    from.all[1].samples[i].parent = 0;
  }
  auto const rows = sg::summarize(from).rows;
  REQUIRE(rows.size() == 2);
  sg::time_less_floor const wall = sg::less_floor(rows[0].what, h200());
  CHECK_FALSE(wall.corrected.has_value());
  CHECK(wall.why_not == no_correction::spans);
  CHECK(wall.raw->count() == 22'944.0);
  CHECK(sg::less_floor(rows[1].what, h200()).corrected->count() == 20'000.0);

  // A series of both describes neither.
  sg::series mixed = from.all[0];
  mixed.samples.push_back(from.all[1].samples[0]);
  CHECK(sg::less_floor(sg::summarize(mixed), h200()).why_not == no_correction::spans);
}

TEST_CASE("each reason is a sentence of its own") {
  CHECK(std::string{sg::describe(no_correction::none)} == "the floor was taken off");
  CHECK(std::string{sg::describe(no_correction::no_time)} == "there is no device time");
  CHECK(std::string{sg::describe(no_correction::unknown_floor)} == "no floor of the device was measured");
  CHECK(std::string{sg::describe(no_correction::below_floor)} == "the device time is less than the floor");
  CHECK(std::string{sg::describe(no_correction::spans)} == "no floor was measured for a span");
}
