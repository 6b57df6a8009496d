// Without these: a kernel would be held against the floor of nothing at all, or a device's times against another's.

#include <streamgauge/analyze/floor.hpp>

#include <string>

#include <doctest/doctest.h>

using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

sg::device_description device_with(std::optional<nanoseconds> empty_phase, std::optional<nanoseconds> empty_kernel) {
  sg::device_description device;
  device.event_floor = empty_phase;
  device.kernel_floor = empty_kernel;
  return device;
}

}  // namespace

TEST_CASE("the floor of a device is that around a kernel where it is known, else that of an empty phase, else none") {
  auto const both = sg::floor_of(device_with(nanoseconds{1280}, nanoseconds{2900}));
  REQUIRE(both.has_value());
  CHECK(both->time == nanoseconds{2900});
  CHECK(both->kind == sg::floor_kind::empty_kernel);
  auto const one = sg::floor_of(device_with(nanoseconds{1280}, std::nullopt));
  REQUIRE(one.has_value());
  CHECK(one->time == nanoseconds{1280});
  CHECK(one->kind == sg::floor_kind::empty_phase);
  CHECK_FALSE(sg::floor_of(device_with(std::nullopt, std::nullopt)).has_value());
  CHECK(std::string{sg::describe(both->kind)} == "a phase around an empty kernel");
  CHECK(std::string{sg::describe(one->kind)} == "an empty phase");
}

TEST_CASE("of several devices the largest floor counts, with its kind; without a device there is none") {
  sg::environment from;
  CHECK_FALSE(sg::floor_of(from).has_value());
  from.devices = {device_with(nanoseconds{1280}, std::nullopt), device_with(nanoseconds{1500}, nanoseconds{2900}),
                  device_with(std::nullopt, std::nullopt), device_with(nanoseconds{1300}, nanoseconds{2700})};
  REQUIRE(sg::floor_of(from).has_value());
  CHECK(sg::floor_of(from)->time == nanoseconds{2900});
  CHECK(sg::floor_of(from)->kind == sg::floor_kind::empty_kernel);
  from.devices[0].event_floor = nanoseconds{4000};
  CHECK(sg::floor_of(from)->time == nanoseconds{4000});
  CHECK(sg::floor_of(from)->kind == sg::floor_kind::empty_phase);
}
