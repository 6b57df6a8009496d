// Without these, two files of one program that see NVTX differently could fail to compile, fail to link, or share
// functions of the same name and different bodies, so that ranges vanish or appear by the order of linking.
#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "injection.hpp"
#include "lines.hpp"
#include "unit_everything.hpp"
#include "unit_deferred.hpp"
#include "units.hpp"

namespace sg = streamgauge;
using injection::take_calls;

namespace {
int ranges_taken = 0;
}
// The units without ranges have a function of this declaration too. That both link shows that the linker keeps them
// apart: a call from one kind of unit to the other kind finds nothing.
void units::take(streamgauge::scoped_range const&) { ++ranges_taken; }

TEST_CASE("case-101: nvtx3.hpp and ours go together in either order") {
  static_cast<void>(take_calls());
#if __has_include(<nvtx3/nvtx3.hpp>)
  lines const expected{"T0 push :theirs", "T0 push :ours", "T0 pop :", "T0 pop :"};
#else
  lines const expected{"T0 push :ours", "T0 pop :"};  // toolkits before 12.9 have no nvtx3.hpp
#endif
  units::nvtx3_first();
  CHECK(take_calls() == expected);
  units::nvtx3_last();
  CHECK(take_calls() == expected);
}

TEST_CASE("case-101: after NVTX version 2 the file compiles, and its ranges are off") {
  static_cast<void>(take_calls());
  CHECK(units::version2_first() == 0);
  CHECK(take_calls() == lines{});
}

TEST_CASE("case-103: with NVTX_DISABLE the file compiles, its ranges are off, and no callable is called") {
  static_cast<void>(take_calls());
  CHECK(units::nvtx_disable() == 0);
  CHECK(take_calls() == lines{});
}

TEST_CASE("case-103: where NVTX is not found the file compiles, and its ranges are off") {
  static_cast<void>(take_calls());
  CHECK(units::without_header() == 0);
  CHECK(take_calls() == lines{});
}

TEST_CASE("case-103: compiled out, the same code leaves nothing behind") {
  static_cast<void>(take_calls());
  CHECK(units::compiled_out() == 0);
  CHECK(take_calls() == lines{});
}

TEST_CASE("case-103: the unit that has NVTX emits every range of the same code, beside those that emit none") {
  static_cast<void>(streamgauge::tool_attached());
  static_cast<void>(take_calls());
  ranges_taken = 0;
  CHECK(units::use_everything() - static_cast<int>(streamgauge::misplaced_pops()) == 1002);
  CHECK(ranges_taken == 1);
  CHECK(take_calls() == lines{"T0 push :a",
                              "T0 category :4 compute",
                              "T0 push :text color=ff76b900 category=4 payload=double:1.500000",
                              "T0 domain in_unit",
                              "T0 register in_unit:step",
                              "T0 category in_unit:3258481713 io",
                              "T0 push in_unit:step registered category=3258481713 payload=uint64:4",
                              "T0 push :ext",
                              "T0 push :made",
                              "T0 push : category=3",
                              "T0 pop :",
                              "T0 pop :",
                              "T0 pop :",
                              "T0 pop in_unit:",
                              "T0 pop :",
                              "T0 pop :",
                              "T0 start #0 :request",
                              "T0 start #1 in_unit:step registered",
                              "T0 end #0 :",
                              "T0 mark :epoch",
                              "T0 mark in_unit:epoch payload=int32:7",
                              "T0 mark in_unit:made",
                              "T0 register in_unit:label",
                              "T0 push in_unit:label registered color=ff123456 payload=uint64:0",
                              "T0 pop in_unit:",
                              "T0 start #2 in_unit:label registered color=ff123456 payload=uint64:1",
                              "T0 end #2 in_unit:",
                              "T0 end #1 in_unit:"});
}

#if defined(NVTX_PAYLOAD_API_FUNCTIONS_DEFERRED_V1)
TEST_CASE("case-101: units that see NVTX submit ranges after the fact, with one domain and one schema between them") {
  injection::tick_as({7, 21, 10});
  static_cast<void>(take_calls());
  static_cast<void>(sg::deferred_calls_in<sg::device_domain>().open());
  auto const before = take_calls();
  CHECK((before.empty() || before.size() == 2));  // another file may have been here
  CHECK(units::nvtx3_first_deferred().empty());
  CHECK(units::nvtx3_last_deferred().empty());
  lines const of_a_unit{"T0 register streamgauge_device:in a unit", "T0 deferred streamgauge_device:in a unit registered",
                        "T0 deferred streamgauge_device:in a unit registered"};
  lines expected = of_a_unit;
  expected.insert(expected.end(), of_a_unit.begin(), of_a_unit.end());  // each object keeps names of its own
  CHECK(take_calls() == expected);
}

TEST_CASE("case-103: ranges after the fact belong to the unit that made the object, whoever submits") {
  injection::tick_as({7, 21, 10});
  sg::deferred_ranges made_here;
  std::this_thread::sleep_for(std::chrono::milliseconds{3});
  static_cast<void>(take_calls());
  CHECK(units::nvtx_disable_submits(made_here).empty());
  CHECK(take_calls() == lines{"T0 register streamgauge_device:from a unit without NVTX",
                              "T0 deferred streamgauge_device:from a unit without NVTX registered"});
  auto const now = sg::host_now();
  CHECK(std::string{units::made_by_nvtx_disable().submit("from here", now, now).why_not} ==
        "this file was compiled without NVTX: NVTX_DISABLE is set, or there is no NVTX 3 header");
  CHECK(take_calls() == lines{});
}
#endif

TEST_CASE("case-103: a unit without NVTX, in whatever way, submits nothing after the fact and says why") {
  static_cast<void>(take_calls());
  std::string const without = "this file was compiled without NVTX: NVTX_DISABLE is set, or there is no NVTX 3 header";
  CHECK(units::nvtx_disable_deferred() == without);
  CHECK(units::without_header_deferred() == without);
  CHECK(units::version2_first_deferred() == without);
  CHECK(units::compiled_out_deferred() == "marking is compiled out by STREAMGAUGE_DISABLE");
  CHECK(take_calls() == lines{});
}
