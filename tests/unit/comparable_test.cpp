// Would go unseen without these: a ratio of things that differ in more than the program's code.
#include <streamgauge/analyze/comparable.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace sg = streamgauge;

TEST_CASE("case-84 host and device numbers, and other units, are not compared") {
  sg::comparable host;
  sg::comparable device;
  device.clock = sg::clock_domain::device;
  CHECK_FALSE(sg::why_not_comparable(host, host));
  auto const why = sg::why_not_comparable(host, device);
  REQUIRE(why);
  CHECK(*why == "other clocks: the host's in a, the device's in b");
  device.unit = "bytes";
  CHECK(*sg::why_not_comparable(host, device) == "other units: ns in a, bytes in b");
}

TEST_CASE("what differs between the sides is said in words") {
  sg::comparable a;
  a.phase = "gemm";
  a.conditions = {{"n", "1024"}, {"dtype", "half"}};
  a.devices = {"H200"};
  a.waited = sg::wait_policy::spin;
  a.cache = "warm";
  auto b = a;
  std::swap(b.conditions[0], b.conditions[1]);
  CHECK_FALSE(sg::why_not_comparable(a, b));
  auto const after = [&](auto const& change) {
    auto changed = b;
    change(changed);
    return sg::why_not_comparable(a, changed).value_or("");
  };
  CHECK(after([](auto& of) { of.phase = "copy"; }) == "other phases: gemm in a, copy in b");
  CHECK(after([](auto& of) { of.conditions[1].value = "2048"; }) == "other conditions: n is 1024 in a and 2048 in b");
  CHECK(after([](auto& of) { of.conditions.pop_back(); }) == "other conditions: n is 1024 in a and not there in b");
  CHECK(after([](auto& of) { of.conditions.push_back({"m", "1"}); }) == "other conditions: m is not there in a and 1 in b");
  CHECK(after([](auto& of) { of.devices = {"A100"}; }) == "other devices: H200 in a, A100 in b");
  CHECK(after([](auto& of) { of.devices.clear(); }) == "other devices: H200 in a, none known in b");
  CHECK(after([](auto& of) { of.waited = sg::wait_policy::block; }) == "other ways of waiting: a spin in a, a block in b");
  CHECK(after([](auto& of) { of.cache = "cold"; }) == "other cache states: warm in a, cold in b");
  CHECK(after([](auto& of) { of.cache.clear(); }) == "other cache states: warm in a, not stated in b");
}

TEST_CASE("case-50 samples under a tool are not compared with others, nor mixed with them") {
  sg::comparable free;
  sg::comparable watched;
  watched.watched = sg::watched_samples::all;
  sg::comparable mixed;
  mixed.watched = sg::watched_samples::some;
  CHECK(*sg::why_not_comparable(free, watched) ==
        "the samples of b were taken under a tool, those of the other side were not");
  CHECK(*sg::why_not_comparable(watched, free) ==
        "the samples of a were taken under a tool, those of the other side were not");
  CHECK(*sg::why_not_comparable(mixed, mixed) == "some samples of a were taken under a tool, some were not");
  CHECK(*sg::why_not_comparable(free, mixed) == "some samples of b were taken under a tool, some were not");
  CHECK_FALSE(sg::why_not_comparable(watched, watched));
}
