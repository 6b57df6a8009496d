// The bug that would go unseen without this file: lines under a measurement that say something else than it found.

#include <sstream>

#include <streamgauge/measure/benchmark.hpp>
#include <streamgauge/measure/rounds.hpp>
#include <streamgauge/report/measurement_text.hpp>
#include <streamgauge/report/contest_text.hpp>

#include "gated.hpp"

using namespace gated;

namespace {

// 100 us and 80 us, 5 and 4 of which are what the memory needs at least: 1 TB/s of 20.
sg::contest two_in_rounds() {
  sg::contest made;
  made.names = {"plain", "vectorised"};
  made.work = sg::work{}.flops(1e6).reads(60e6).writes(20e6).declared();
  sg::comparison against;
  against.a.median = 100'000.0;
  against.b.median = 80'000.0;
  against.ratio = 0.8;
  against.interval = sg::bounds{0.79, 0.81};
  against.verdict = sg::verdict::faster;
  against.reason = "all of the interval is below the threshold";
  made.against_first = {against};
  made.fastest = 1;
  made.rounds = 32;
  made.ended = sg::stop_cause::narrow;
  made.feeding = sg::fed_by::gate;
  made.took = 7'064us;
  sg::device_description device;
  device.compute_capability = 90;
  device.multiprocessors = 132;
  device.most_sm_mhz = 1980;
  device.most_memory_mhz = 3201;
  device.memory_bus_bits = 6144;
  made.taken.environment.devices = {device};
  return made;
}

std::string text_of(sg::contest const& of) {
  std::ostringstream out;
  sg::report::contest_text(out, of);
  return out.str();
}

}  // namespace

TEST_CASE("rounds as text: each callable's median, its rate under the lower roof, what it is against the first, how it ended") {
  CHECK(text_of(two_in_rounds()) ==
        "plain        100 us, 800.0 GB/s, 16.3 % of the memory's roof\n"
        "vectorised   80 us, 1.000 TB/s, 20.3 % of the memory's roof, faster: -20.0 % (-21.0 % to -19.0 %),\n"
        "             threshold 1.0 %, within one run only; all of the interval is below the threshold; the\n"
        "             least median\n"
        "arithmetic   66.91 Tflop/s, from the device's attributes: FP32 without tensor cores\n"
        "memory       4.917 TB/s, from the device's attributes: twice the memory's clock times the width of\n"
        "             its bus\n"
        "ended        every ratio is known as closely as was asked for, after 32 rounds and 7.064 ms; fed by\n"
        "             a gate; within this process: the next one may differ by more\n");
}

TEST_CASE("rounds as text: two executions in an interval have twice the rate; more than a roof is called wrong; no work, no rate") {
  sg::contest of = two_in_rounds();
  of.iterations = 2;
  CHECK(text_of(of).find("plain        100 us, 1.600 TB/s, 32.5 % of the memory's roof\n") == 0);
  of.iterations = 20;
  CHECK(text_of(of).find("vectorised   80 us, 20.00 TB/s, 406.8 % of the memory's roof (more than the device can do: the") != std::string::npos);
  of = two_in_rounds();
  of.work = {};
  CHECK(text_of(of).find("plain        100 us\nvectorised   80 us, faster") == 0);
  CHECK(text_of(of).find("roof") == std::string::npos);
  of = two_in_rounds();
  of.taken.environment.devices.clear();
  of.taken.environment.why_no_device = "no driver";
  CHECK(text_of(of).find("plain        100 us, 800.0 GB/s\n") == 0);
  CHECK(text_of(of).find("memory       no roof: no device is described: no driver\n") != std::string::npos);
}

TEST_CASE("rounds as text: without a verdict there is the reason, and a tool's presence is said") {
  sg::contest of;
  of.names = {"a\x1b", "b"};
  of.why_none = "a tool is attached: what is measured under it is no result";
  of.watched = true;
  CHECK(text_of(of) ==
        "no result    a tool is attached: what is measured under it holds the tool\n"
        "no verdict   a tool is attached: what is measured under it is no result\n"
        "a\\x1b        -\n"
        "b            -\n");
}
