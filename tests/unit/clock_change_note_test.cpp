// Without these: a reader would have to find out for himself whether his work became slower or the device did.
// Field cases: case-74.

#include <streamgauge/report/clock_change_note.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/report/html.hpp>
#include <streamgauge/report/table.hpp>

using namespace std::chrono_literals;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

namespace {

sg::clocked_change moved(double from, double to, sg::clock_role role, double mhz_from = 1980, double mhz_to = 1755) {
  sg::clocked_change one;
  one.change = {480, from, to};
  one.role = role;
  one.before.sm_mhz = mhz_from;
  one.after.sm_mhz = mhz_to;
  one.after.slowed_by = 0x5;  // idle as well: it was read between executions
  return one;
}
// A space that does not break is a character of its own.
std::string note_of(sg::clocked_change const& of) {
  std::string text = sg::report::clock_change_note(of);
  for (char& each : text)
    if (each == '\x1f') each = ' ';
  return text;
}

}  // namespace

TEST_CASE("case-74 a change that follows the clock says from where to where and what held it back") {
  CHECK(note_of(moved(100, 112.7, sg::clock_role::sm)) ==
        "+12.7 % at interval 480: the SM clock went from 1980 to 1755 MHz (software power cap)");
  sg::clocked_change up = moved(112.7, 100, sg::clock_role::sm, 1755, 1980);
  up.after.slowed_by = 0;
  CHECK(note_of(up) == "-11.3 % at interval 480: the SM clock went from 1755 to 1980 MHz");
  sg::clocked_change memory = moved(100, 122, sg::clock_role::memory);
  memory.before.memory_mhz = 3201;
  memory.after.memory_mhz = 2619;
  CHECK(note_of(memory) ==
        "+22.0 % at interval 480: the memory clock went from 3201 to 2619 MHz (software power cap)");
}

TEST_CASE("one that does not says what the clock did, and one that is not known says so") {
  CHECK(note_of(moved(100, 103, sg::clock_role::neither)) ==
        "+3.0 % at interval 480: the SM clock went from 1980 to 1755 MHz, which does not explain it");
  CHECK(note_of(moved(100, 103, sg::clock_role::neither, 1980, 1980.4)) ==
        "+3.0 % at interval 480: the SM clock stayed at 1980 MHz, which does not explain it");
  CHECK(note_of(moved(100, 103, sg::clock_role::not_known)) ==
        "+3.0 % at interval 480: the clock was not read both before and after");
}

TEST_CASE("of many changes the largest have lines, in their order, and the others are counted") {
  std::vector<sg::clocked_change> all;
  for (double const to : {102.0, 120.0, 50.0, 103.0, 120.0, 101.5})
    all.push_back(moved(100, to, to < 110 ? sg::clock_role::sm : sg::clock_role::neither));
  auto const lines = sg::report::clock_change_lines(all, 3);
  REQUIRE(lines.size() == 4);
  CHECK(lines[0].find("the level changed by +20.0") == 0);
  CHECK(lines[1].find("the level changed by -50.0") == 0);
  CHECK(lines[2].find("the level changed by +20.0") == 0);
  CHECK(lines[3] == "and by less 3 times more, 3 of them with the clock");
  CHECK(sg::report::clock_change_lines(all, 5).back() == "and by less 1 time more, 1 of them with the clock");
  CHECK(sg::report::clock_change_lines(all, 6).size() == 6);
  // Of two as large the earlier one.
  CHECK(sg::report::clock_change_lines(all, 2) ==
        std::vector<std::string>{lines[0], lines[1], "and by less 4 times more, 3 of them with the clock"});
}

TEST_CASE("what was held back is counted, and what is not known only where something is") {
  sg::held_back_count count{480, 120, 0, 0x4};
  CHECK(sg::report::held_back_note(count) ==
        "120 of 480 intervals ran while the clocks were held back (software power cap): marked, not left out");
  count.not_known = 7;
  CHECK(sg::report::held_back_note(count) ==
        "120 of 480 intervals ran while the clocks were held back (software power cap): marked, not left out; near 7 of 480 "
        "intervals the clocks were not read");
  CHECK(sg::report::held_back_note(sg::held_back_count{480, 0, 480, 0}).empty());
  CHECK(sg::report::held_back_note(sg::held_back_count{480, 0, 0, 0}).empty());
}

TEST_CASE("case-74 table and page say of a phase whose level moved that its clock did; of another that moved on its own, nothing") {
  sg::recording from;
  from.environment.devices.resize(1);
  auto& readings = from.environment.devices[0].readings;
  for (char const* const phase : {"gemm", "stream"}) {
    from.all.emplace_back();
    from.all.back().phase = phase;
  }
  for (std::size_t i = 0; i < 200; ++i) {
    sg::sample one;
    one.entered = nanoseconds{static_cast<std::int64_t>(i) * 1'000'000};
    one.queue = nanoseconds{0};
    one.device = nanoseconds{i < 100 ? 500'000 : 563'000};
    from.all[0].samples.push_back(one);
    one.device = nanoseconds{i < 100 ? 500'000 : 510'000};
    from.all[1].samples.push_back(one);
    sg::device_reading fresh;
    fresh.at = one.entered + nanoseconds{600'000};
    fresh.sm_mhz = i < 100 ? 1980U : 1755U;
    fresh.slowed_by = i < 100 ? 0x0U : 0x20U;
    readings.push_back(fresh);
  }
  std::ostringstream table;
  sg::report::table(table, from);
  std::string const text = table.str();
  CAPTURE(text);
  CHECK(text.find("\nclocks       device 0: SM 1755 to 1980 MHz in 200 readings; held back by software thermal slowdown\n"
                  "             gemm: the level changed by +12.6 % at interval 100: the SM clock went from 1980 to 1755\n"
                  "             MHz (software thermal slowdown)\n") != std::string::npos);
  CHECK(text.find("stream: the level") == std::string::npos);
  std::ostringstream page;
  sg::report::html(page, from);
  CHECK(page.str().find("the SM clock went from 1980 to 1755 MHz (software thermal slowdown)") != std::string::npos);
  // Merged runs have no origin in common: nothing is said of their clocks.
  from.all[0].runs = from.all[1].runs = 2;
  CHECK(sg::summarize(from).rows[0].clock_changes.empty());
}
