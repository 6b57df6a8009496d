// Without these: a reader of the table would not see that the device ran at lower clocks than it may reach, or why.
// Field cases: case-74 (actual and nominal clock are two figures).

#include <streamgauge/report/clock_note.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include <streamgauge/report/table.hpp>

using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

sg::device_reading read(std::optional<std::uint32_t> mhz, std::optional<std::uint64_t> slowed_by = std::nullopt) {
  sg::device_reading one;
  one.sm_mhz = mhz;
  one.slowed_by = slowed_by;
  return one;
}

sg::device_description device_with(std::vector<sg::device_reading> readings) {
  sg::device_description device;
  device.name = "NVIDIA H200";
  device.uuid = "GPU-1";
  device.most_sm_mhz = 1980;
  device.readings = std::move(readings);
  return device;
}

}  // namespace

TEST_CASE("case-74 the lowest and the highest clock stand beside the one that may be reached, with all that held them back") {
  CHECK(sg::report::clock_note(device_with({read(1755, 0x4), read(1410, 0x24), read(1980, 0x0)})) ==
        "SM 1410 to 1980 MHz in 3 readings, it may reach 1980; held back by software power cap, software thermal "
        "slowdown");
  CHECK(sg::report::clock_note(device_with({read(1980, 0x0)})) ==
        "SM 1980 MHz in one reading, it may reach 1980; held back by nothing");
}

TEST_CASE("what was not read is not said: reasons, some of the clocks, the one that may be reached") {
  CHECK(sg::report::clock_note(device_with({read(1755), read(std::nullopt), read(1755)})) ==
        "SM 1755 MHz in 2 readings, it may reach 1980");
  sg::device_description device = device_with({read(345, 0x1)});
  device.most_sm_mhz.reset();
  CHECK(sg::report::clock_note(device) == "SM 345 MHz in one reading; held back by idle");
  CHECK(sg::report::clock_note(device_with({read(std::nullopt, 0x8)})) ==
        "the SM clock was not read; held back by hardware slowdown");
}

TEST_CASE("of a part of a device the clocks are the whole's, and the line says so") {
  sg::device_description device = device_with({read(1755, 0x0)});
  device.uuid = "MIG-1";
  CHECK(sg::report::clock_note(device) ==
        "SM 1755 MHz in one reading, it may reach 1980; held back by nothing; of the whole device that it is a part of");
}

TEST_CASE("the table has a line for each device that was read or could not be, and none where nobody asked") {
  sg::recording from;
  from.all.resize(1);
  from.all[0].phase = "step";
  from.all[0].samples.resize(1);
  from.all[0].samples[0].submit = nanoseconds{5000};
  sg::device_description quiet = device_with({});
  from.environment.devices = {quiet};
  auto const text_of = [&from] {
    std::ostringstream out;
    sg::report::table(out, from);
    return out.str();
  };
  CHECK(text_of().find("clocks") == std::string::npos);
  sg::device_description refused = quiet;
  refused.ordinal = 1;
  refused.why_no_readings = "libnvidia-ml.so.1: no\nsuch file";
  from.environment.devices = {quiet, device_with({read(1755, 0x4)}), refused};
  CHECK(text_of().find("\nclocks       device 0: SM 1755 MHz in one reading, it may reach 1980; held back by software power\n"
                       "             cap\n"
                       "             device 1: clocks were not read: libnvidia-ml.so.1: no\\nsuch file\n") !=
        std::string::npos);
}

TEST_CASE("a device's number is shown as it stands, also one that no device has") {
  sg::environment of;
  of.devices = {device_with({read(1980)}), device_with({read(1980)})};
  of.devices[0].ordinal = 7;
  of.devices[1].ordinal = -2;
  auto const lines = sg::report::clock_lines(of);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].compare(0, 10, "device 7: ") == 0);
  CHECK(lines[1].compare(0, 11, "device -2: ") == 0);
}
