// Without these, two files of one program that see NVTX differently could fail to compile, fail to link, or share
// functions of the same name and different bodies, so that ranges vanish or appear by the order of linking.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "injection.hpp"
#include "lines.hpp"
#include "unit_everything.hpp"
#include "units.hpp"

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
