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
  CHECK(text_of(of).find("vectorised   80 us, 20.00 TB/s, 406.8 % of the memory's roof; that is more than the device can do:\n"
                         "             the declared work is wrong, or the time, or bytes came from a cache, faster") != std::string::npos);
  of = two_in_rounds();
  of.work = sg::work{}.flops(1e10).reads(60e6).writes(20e6);
  CHECK(text_of(of).find("plain        100 us, 100.0 Tflop/s, 149.5 % of the arithmetic's roof; that is more than the device\n"
                         "             can do: the declared work is wrong, or the time, or it ran on tensor cores, which have\n"
                         "             a roof of their own\n") == 0);
  sg::device_roofs given = sg::roofs_of(of.taken.environment);
  given.flops = sg::given_roof(989e12, "the data sheet");
  std::ostringstream out;
  sg::report::contest_text(out, of, given);
  CHECK(out.str().find("plain        100 us, 800.0 GB/s, 16.3 % of the memory's roof\n") == 0);
  CHECK(out.str().find("arithmetic   989.0 Tflop/s, given: the data sheet\n") != std::string::npos);
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

TEST_CASE("rounds as text: what the instrument reads is held against the shortest, and so is the step of a kernel's end") {
  sg::contest of = two_in_rounds();
  of.taken.environment.devices[0].kernel_floor = 2'848ns;
  auto const instrument = [&](double least) {
    of.against_first[0].b.median = least;
    std::string const text = text_of(of);
    auto const from = text.find("instrument ");
    return text.substr(from, text.find("\nended") - from);
  };
  CHECK(instrument(80'000.0) == "instrument   a phase around an empty kernel reads 2.848 us");
  CHECK(instrument(44'001.0) == "instrument   a phase around an empty kernel reads 2.848 us");
  CHECK(instrument(44'000.0) ==
        "instrument   a phase around an empty kernel reads 2.848 us; an H200 sees a kernel end in steps of up\n"
        "             to 220 ns, 0.50 % of an interval, which repeating does not show: several iterations\n"
        "             share it");
  CHECK(instrument(8'544.0).find("220 ns, 2.6 % of an interval") != std::string::npos);
  CHECK(instrument(8'543.0) ==
        "instrument   a phase around an empty kernel reads 2.848 us, so a third of this or more is the\n"
        "             instrument: measure several iterations as one");
  CHECK(instrument(2'848.0) ==
        "instrument   a phase around an empty kernel reads 2.848 us, which is no less than what was measured:\n"
        "             there is next to no work on this stream; is it on another one?");
  of.against_first.clear();  // no median, nothing to hold it against
  CHECK(text_of(of).find("instrument") == std::string::npos);
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

namespace {

std::string text_of(sg::measurement const& of) {
  std::ostringstream out;
  sg::report::measurement_text(out, of);
  return out.str();
}
sg::measure_choices called(char const* name) {
  sg::measure_choices chosen;
  chosen.name = name;
  chosen.clocks_from = nullptr;
  return chosen;
}

}  // namespace

TEST_CASE_FIXTURE(plain_run, "a measurement as text: both sides, rates, the instrument, and why it ended") {
  cudaStream_t const stream = new_stream();
  auto chosen = called("work");
  chosen.work = sg::work{}.flops(1e6).reads(60e6).writes(20e6).declared();
  auto const body = [](cudaStream_t on) {
    simulated::host_advance(3us);
    launch(on, 20us);
  };
  std::string const text = text_of(sg::measure(stream, body, chosen));
  CHECK(text.substr(0, text.find("ended ")) ==
        "work\n"
        "device       20 us, give or take 0.00 % (95 % interval of the median); 32 of 32 intervals are steady\n"
        "rates        50.00 Gflop/s, 4.000 TB/s; work as it was declared\n"
        "host         23 us until a spinning wait saw it done, 3 us until it was submitted; 32 executions,\n"
        "             one at a time\n"
        "instrument   fed by a gate; a phase around an empty kernel reads 0 ns; an H200 sees a kernel end in\n"
        "             steps of up to 220 ns, 1.1 % of an interval, which repeating does not show: several\n"
        "             iterations share it\n");
  CHECK(text.find("ended        steady, and the median is known as closely as was asked for, after 1.5") != std::string::npos);
}

TEST_CASE_FIXTURE(plain_run, "a measurement as text: the host waits as it was told, and that is said") {
  cudaStream_t const stream = new_stream();
  auto chosen = called("work");
  for (auto const& [policy, word] : {std::pair{sg::wait_policy::block, "blocking"}, std::pair{sg::wait_policy::none, "spinning"}}) {
    chosen.wait = policy;
    auto const found = sg::measure(stream, [](cudaStream_t on) { launch(on, 20us); }, chosen);
    REQUIRE(found.alone() != nullptr);
    for (sg::sample const& one : found.alone()->samples)
      CHECK(one.waited == (policy == sg::wait_policy::block ? sg::wait_policy::block : sg::wait_policy::spin));
    CHECK(text_of(found).find(std::string{" until a "} + word + " wait saw it done") != std::string::npos);
  }
}

TEST_CASE_FIXTURE(plain_run, "a measurement as text: of several executions in an interval the time and the rates are those of one") {
  cudaStream_t const stream = new_stream();
  auto chosen = called("work");
  chosen.work = sg::work{}.flops(1e6).reads(60e6).writes(20e6).declared();
  chosen.iterations = 4;
  chosen.how = sg::launched_by::graph;
  std::string const text = text_of(sg::measure(stream, [](cudaStream_t on) { launch(on, 1us); }, chosen));
  CHECK(text.find("device       1 us, give or take 0.00 % (95 % interval of the median), one of 4 in each interval; 32\n"
                  "             of 32 intervals are steady\n"
                  "rates        1.000 Tflop/s, 80.00 TB/s; work as it was declared\n") != std::string::npos);
}

TEST_CASE_FIXTURE(plain_run, "a measurement as text: without a median there is the reason alone, and no name reaches the terminal as it is") {
  cudaStream_t const stream = new_stream();
  auto chosen = called("nothing\x1b[2J");
  chosen.until.time = 0s;
  CHECK(text_of(sg::measure(stream, [] {}, chosen)) == "nothing\\x1b[2J\nno median    the budget allows no execution\n");
}
