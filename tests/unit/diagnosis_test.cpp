// Would go unseen without these: a verdict that the numbers do not carry, advice for the wrong ill, and a phase that is
// called slow where the device only waited for it.
#include <streamgauge/analyze/diagnosis.hpp>

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/report/latency_table.hpp>

#include "memory.hpp"

namespace sg = streamgauge;
using sg::limited_by;
using sg::nanoseconds;
using sg::work_kind;

namespace {

constexpr std::int64_t us = 1000;

/// A recording of one device whose clock is placed to 2 us; times in microseconds.
class machine {
 public:
  machine() {
  
    of.clocks.resize(1);
    of.environment.devices.resize(1);
    of.environment.devices[0].event_floor = nanoseconds{1300};
  }

  std::size_t phase(char const* name, work_kind kind = work_kind::undeclared) {
    of.all.push_back({});
    of.all.back().phase = name;
    of.all.back().kind = kind;
    return of.all.size() - 1;
  }
  sg::sample& run(std::size_t phase, std::int64_t entered, std::int64_t submit, std::int64_t queue, std::int64_t device) {
    sg::sample one;
    one.entered = nanoseconds{entered * us};
    one.submit = nanoseconds{submit * us};
    one.queue = nanoseconds{queue * us};
    one.device = nanoseconds{device * us};
    one.bound = nanoseconds{2 * us};
    of.all[phase].samples.push_back(one);
    return of.all[phase].samples.back();
  }

  /// The verdicts on one phase.
  [[nodiscard]] std::vector<limited_by> on(std::size_t phase) const {
    std::vector<limited_by> found;
    for (sg::finding const& each : sg::diagnose(of))
      if (each.series == phase) found.push_back(each.what);
    return found;
  }
  [[nodiscard]] bool says(limited_by what) const {
    for (sg::finding const& each : sg::diagnose(of))
      if (each.what == what) return true;
    return false;
  }

  sg::recording of;
};

using verdicts = std::vector<limited_by>;

}  // namespace

TEST_CASE("launches of short work one by one: the device waits for the host, and the evidence says how long") {
  machine m;
  auto const step = m.phase("step", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(step, 100 * i, 40, 5, 42);
  CHECK(m.on(step) == verdicts{limited_by::launches});
  sg::finding const found = sg::diagnose(m.of).at(0);
  REQUIRE(found.evidence.size() == 5);
  CHECK(found.evidence[0].count == 20);
  CHECK(found.evidence[1].count == 20);
  CHECK(found.evidence[2].time == nanoseconds{40 * us});
  CHECK(found.evidence[3].time == nanoseconds{5 * us});
  CHECK(found.evidence[4].time == nanoseconds{42 * us});
}

TEST_CASE("one long kernel on an idle device is starved for a moment, and not bound by its launch") {
  machine m;
  auto const step = m.phase("step", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(step, 20'000 * i, 12, 4, 10'000);
  CHECK(m.on(step) == verdicts{limited_by::not_known});
  CHECK(sg::diagnose(m.of).at(0).evidence.at(0).count == 20);
  CHECK(std::string{sg::diagnose(m.of).at(0).missing}.find("a tenth") != std::string::npos);
}

TEST_CASE("where executions that had everything before them took as long, launches are not the limit") {
  machine m;
  auto const step = m.phase("step", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(step, 1000 * i, 40, i % 4 == 0 ? 400 : 5, 42);
  CHECK(m.on(step) == verdicts{limited_by::not_known});
  for (std::size_t i = 0; i < 20; i += 4) m.of.all[step].samples[i].device = nanoseconds{20 * us};
  CHECK(m.on(step) == verdicts{limited_by::launches});
}

TEST_CASE("the same times of a phase that declares no kind are not decided, of a transfer they are the host's own copy") {
  machine m;
  auto const unknown = m.phase("unknown");
  auto const copy = m.phase("copy", work_kind::transfer);
  for (int i = 0; i < 20; ++i) {
    m.run(unknown, 10'000 * i, 900, 5, 950);
    m.run(copy, 10'000 * i + 5000, 900, 5, 950);
  }
  CHECK(m.on(unknown) == verdicts{limited_by::not_known});
  CHECK(m.on(copy) == verdicts{limited_by::host_copy});
  CHECK(std::string{sg::diagnose(m.of).at(0).missing}.find("kind is not declared") != std::string::npos);
}

TEST_CASE("case-11 what the bound could make is no evidence: neither starved nor waiting") {
  machine m;
  auto const step = m.phase("step", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(step, 1000 * i, 10, 11, 100);  // began a microsecond after submission, give or take 2
  CHECK(m.on(step) == verdicts{limited_by::not_known});
}

TEST_CASE("a device that has always the next one before it is the limit; one that stands behind others waits") {
  machine m;
  auto const busy = m.phase("busy");
  // Entered every 10 us, each runs 100: the queue grows, and each begins when the one before ends.
  for (int i = 0; i < 20; ++i) m.run(busy, 10 * i, 5, 50 + 90 * i, 100);
  CHECK(m.on(busy) == verdicts{limited_by::device});

  machine other;
  auto const late = other.phase("late");
  for (int i = 0; i < 20; ++i) other.run(late, 2000 * i, 5, 1000, 100);
  CHECK(other.on(late) == verdicts{limited_by::earlier_work});
}

TEST_CASE("case-09 a device time of under three floors is near it, whatever else is found") {
  machine m;
  auto const tiny = m.phase("tiny", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(tiny, 1000 * i, 12, 4, 3);
  CHECK(m.on(tiny) == verdicts{limited_by::floor, limited_by::launches});
}

TEST_CASE("case-09 the floor of one device is none of another's") {
  machine m;
  m.of.clocks.resize(2);
  m.of.streams.resize(2);
  m.of.streams[0].device = 0;
  m.of.streams[1].device = 1;
  m.of.environment.devices.resize(2);
  m.of.environment.devices[1].ordinal = 1;
  m.of.environment.devices[1].event_floor = nanoseconds{20 * us};  // a slow one
  auto const fast = m.phase("fast");
  auto const slow = m.phase("slow");
  for (int i = 0; i < 20; ++i) {
    m.run(fast, 1000 * i, 5, 6, 50).stream = 1;
    m.run(slow, 1000 * i, 5, 6, 50).stream = 2;
  }
  CHECK(m.on(fast) == verdicts{limited_by::not_known});
  CHECK(m.on(slow) == verdicts{limited_by::floor});
}

TEST_CASE("case-12 a wait that wakes long after the device was done is named, one that is prompt is not") {
  machine m;
  auto const slow = m.phase("slow");
  auto const prompt = m.phase("prompt");
  for (int i = 0; i < 20; ++i) {
    m.run(slow, 10'000 * i, 5, 20, 50).completion = nanoseconds{150 * us};
    m.run(prompt, 10'000 * i + 5000, 5, 20, 50).completion = nanoseconds{74 * us};
  }
  CHECK(m.on(slow).back() == limited_by::late_notice);
  for (limited_by const each : m.on(prompt)) CHECK(each != limited_by::late_notice);
}

TEST_CASE("the evidence of a late notice is of the executions that were waited for, and says how many those are") {
  machine m;
  auto const step = m.phase("step");
  // Nine in ten stand in a long queue; the tenth begins at once, and is noticed 80 us late.
  for (int i = 0; i < 20; ++i) m.run(step, 10'000 * i, 5, i % 10 == 9 ? 20 : 5000, 50);
  for (std::size_t i = 9; i < 20; i += 10) m.of.all[step].samples[i].completion = nanoseconds{150 * us};
  auto const found = sg::diagnose(m.of);
  std::size_t at = 0;
  while (at < found.size() && found[at].what != limited_by::late_notice) ++at;
  REQUIRE(at < found.size());
  CHECK(found[at].evidence.at(0).time == nanoseconds{80 * us});
  CHECK(found[at].evidence.at(3).count == 2);
  CHECK(found[at].evidence.at(4).count == 20);
}

TEST_CASE("communication is judged by the compute that is declared, and not at all without") {
  machine m;
  auto const reduce = m.phase("reduce", work_kind::communication);
  for (int i = 0; i < 10; ++i) m.run(reduce, 1000 * i, 5, 100, 400);
  CHECK(m.on(reduce).back() == limited_by::not_known);

  auto const backward = m.phase("backward", work_kind::compute);
  for (int i = 0; i < 10; ++i) m.run(backward, 1000 * i, 5, 400, 400);  // 100 of 400 us run beside it
  CHECK(m.on(reduce).back() == limited_by::exposed);

  machine hidden;
  auto const gather = hidden.phase("gather", work_kind::communication);
  auto const forward = hidden.phase("forward", work_kind::compute);
  for (int i = 0; i < 10; ++i) {
    hidden.run(gather, 1000 * i, 5, 100, 400);
    hidden.run(forward, 1000 * i, 5, 150, 600);
  }
  for (limited_by const each : hidden.on(gather)) CHECK(each != limited_by::exposed);
}

TEST_CASE("a device that idles while the host is in no phase waits for its input; in a phase of the host's it does not") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 10; ++i) m.run(step, 1000 * i, 5, 10, 300);
  auto const found = sg::idle_outside(m.of);
  REQUIRE(found.size() == 1);
  auto const* const idle = &found[0];
  // From the first begin, 10 us, to the last end, 9,310: nine gaps of 700.
  CHECK(idle->within == nanoseconds{9300 * us});
  CHECK(idle->idle == nanoseconds{9 * 700 * us});
  CHECK(idle->gaps == 9);
  CHECK(idle->longest == nanoseconds{700 * us});
  // Of each gap the host was 5 us in the next one's submission.
  CHECK(idle->outside == nanoseconds{9 * 695 * us});
  CHECK(m.says(limited_by::input));

  auto const load = m.phase("load");
  for (int i = 0; i < 10; ++i) {
    sg::sample one;
    one.entered = nanoseconds{(1000 * i + 5) * us};
    one.submit = nanoseconds{995 * us};
    m.of.all[load].samples.push_back(one);
  }
  REQUIRE(sg::idle_outside(m.of).size() == 1);
  CHECK(sg::idle_outside(m.of)[0].outside == nanoseconds{0});
  CHECK_FALSE(m.says(limited_by::input));
}

TEST_CASE("idle times take no memory by how large a thread's number is") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 10; ++i) m.run(step, 1000 * i, 5, 10, 300).thread = 50'000'000;
  std::size_t const before = memory::seen().bytes;
  auto const found = sg::idle_outside(m.of);
  CHECK(memory::seen().peak - before < 10'000);
  REQUIRE(found.size() == 1);
  CHECK(found[0].idle == nanoseconds{9 * 700 * us});
}

TEST_CASE("each device has idle times of its own, and of what was not placed or was merged there are none") {
  machine m;
  auto const step = m.phase("step");
  m.run(step, 0, 5, 10, 300);
  CHECK(sg::idle_outside(m.of).empty());
  m.run(step, 1000, 5, 10, 300);
  CHECK(sg::idle_outside(m.of).size() == 1);

  // Two devices: without streams nobody knows which was which.
  m.of.clocks.resize(2);
  m.of.clocks[0].device = 1;
  m.of.clocks[1].device = 0;
  CHECK(sg::idle_outside(m.of).empty());
  m.of.streams.resize(2);
  m.of.streams[0].device = 0;
  m.of.streams[1].device = 1;
  for (int i = 0; i < 2; ++i) m.run(step, 400 + 1000 * i, 5, 10, 100);
  auto& samples = m.of.all[step].samples;
  for (std::size_t i = 0; i < 4; ++i) samples[i].stream = i < 2 ? 1 : 2;
  auto const both = sg::idle_outside(m.of);
  REQUIRE(both.size() == 2);
  CHECK(both[0].device == 0);
  CHECK(both[0].within == nanoseconds{1300 * us});
  CHECK(both[0].idle == nanoseconds{700 * us});
  CHECK(both[1].device == 1);
  CHECK(both[1].within == nanoseconds{1100 * us});
  CHECK(both[1].idle == nanoseconds{900 * us});
  // A span as a whole has no stream; its branches tell.
  auto const all = m.phase("all");
  for (int i = 0; i < 2; ++i) m.run(all, 1000 * i, 5, 10, 300).part = sg::span_part::whole;
  REQUIRE(sg::idle_outside(m.of).size() == 2);
  CHECK(sg::idle_outside(m.of)[0].idle == nanoseconds{700 * us});
  m.of.all[step].runs = 2;
  CHECK(sg::idle_outside(m.of).empty());
  m.of.all[step].runs = 1;
  CHECK(sg::idle_outside(m.of).size() == 2);
  m.of.runs = 2;
  CHECK(sg::idle_outside(m.of).empty());
}

TEST_CASE("a host that is still in a phase when the recording is taken is not outside of every phase") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 10; ++i) m.run(step, 1000 * i, 5, 10, 300);
  CHECK(m.says(limited_by::input));
  sg::sample epoch;
  epoch.submit = sg::absence::still_open;
  m.of.all[m.phase("epoch")].samples.push_back(epoch);
  REQUIRE(sg::idle_outside(m.of).size() == 1);
  CHECK(sg::idle_outside(m.of)[0].idle == nanoseconds{9 * 700 * us});
  CHECK(sg::idle_outside(m.of)[0].outside == nanoseconds{0});
  CHECK_FALSE(m.says(limited_by::input));
}

TEST_CASE("case-08 executions that were not placed leave no device idle: it ran them somewhere there") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 10; ++i) m.run(step, 1000 * i, 5, 10, 300);
  // Every second one had no events left, so that nothing tells when it ran; its neighbours show gaps of 1,700 us.
  for (std::size_t i = 1; i < 10; i += 2) {
    m.of.all[step].samples[i].device = sg::absence::pool_full;
    m.of.all[step].samples[i].queue = sg::absence::pool_full;
  }
  auto const found = sg::idle_outside(m.of);
  REQUIRE(found.size() == 1);
  // From the end of a placed one to the entering of the next.
  CHECK(found[0].idle == nanoseconds{4 * 690 * us});
  CHECK(found[0].longest == nanoseconds{690 * us});
}

TEST_CASE("idle times that the bounds could make are no evidence") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 100; ++i) m.run(step, 25 * i, 1, 2, 20);  // gaps of 5 us, each end give or take 2
  auto const found = sg::idle_outside(m.of);
  REQUIRE(found.size() == 1);
  CHECK(found[0].gaps == 99);
  CHECK(found[0].bound >= 99 * nanoseconds{4 * us});
  CHECK_FALSE(m.says(limited_by::input));
}

TEST_CASE("a long series that kept a choice of its samples tells no idle times, unless it lies in another one") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 10; ++i) m.run(step, 1000 * i, 5, 11, 298);
  m.of.all[step].kept_one_in = 64;
  CHECK(sg::idle_outside(m.of).empty());
  for (sg::sample& each : m.of.all[step].samples) each.parent = 1;
  auto const outer = m.phase("outer");
  for (int i = 0; i < 10; ++i) m.run(outer, 1000 * i, 600, 10, 300);
  m.of.streams.resize(1);
  m.of.clocks[0].device = 0;
  m.of.streams[0].device = 0;
  for (auto& each : m.of.all)
    for (sg::sample& one : each.samples) one.stream = 1;
  CHECK(sg::idle_outside(m.of).size() == 1);
}

TEST_CASE("executions that took no time at all are no idle device") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 3; ++i) m.run(step, 100 * i, 5, 10, 0);
  CHECK(sg::idle_outside(m.of).empty());
}

TEST_CASE("executions that run beside each other are not behind each other, on two devices or two streams") {
  // Each device runs 100 us in every 1000, both at the same time, each behind something else.
  machine m;
  m.of.clocks.resize(2);
  m.of.clocks[0].device = 0;
  m.of.clocks[1].device = 1;
  m.of.streams.resize(3);
  m.of.streams[0].device = m.of.streams[2].device = 0;
  m.of.streams[1].device = 1;
  auto const step = m.phase("step");
  for (int i = 0; i < 20; ++i) {
    m.run(step, 1000 * i, 5, 500, 100).stream = 1;
    m.run(step, 1000 * i + 1, 5, 500, 100).stream = 2;
  }
  CHECK(m.on(step) == verdicts{limited_by::earlier_work});
  for (std::size_t i = 1; i < 40; i += 2) m.of.all[step].samples[i].stream = 3;  // another stream of device 0
  CHECK(m.on(step) == verdicts{limited_by::earlier_work});
  // Two streams that are both always busy are a device that has always the next one.
  machine busy;
  busy.of.streams.resize(2);
  auto const both = busy.phase("both");
  for (int i = 0; i < 20; ++i) {
    busy.run(both, 10 * i, 5, 50 + 90 * i, 100).stream = 1;
    busy.run(both, 10 * i + 1, 5, 99 + 90 * i, 100).stream = 2;
  }
  CHECK(busy.on(both) == verdicts{limited_by::device});
}

TEST_CASE("two runs that were merged do not stand behind each other") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 20; ++i) m.run(step, 1000 * i, 5, 500, 100);
  for (int i = 0; i < 20; ++i) m.run(step, 1000 * i + 100, 5, 500, 100);
  CHECK(m.on(step) == verdicts{limited_by::device});
  m.of.all[step].runs = m.of.runs = 2;
  CHECK(m.on(step) == verdicts{limited_by::earlier_work});
}

TEST_CASE("of a long series the first samples tell what stood behind what: they were all kept") {
  machine m;
  auto const step = m.phase("step");
  for (int i = 0; i < 1024; ++i) m.run(step, 10 * i, 5, 50 + 90 * i, 100);
  for (int i = 200; i < 2000; ++i) m.run(step, 100 * i, 5, 50 + 900 * i, 100);  // one in ten
  m.of.all[step].kept_one_in = 8;
  CHECK(m.on(step) == verdicts{limited_by::device});
}

TEST_CASE("phases of a second one behind the other: the ends drift, and the device is the limit all the same") {
  machine m;
  auto const step = m.phase("step");
  // The device's clock loses 10 us a second.
  for (int i = 0; i < 20; ++i) m.run(step, 10 * i, 5, 50 + 999'990 * i, 999'980);
  CHECK(m.on(step) == verdicts{limited_by::device});
}

TEST_CASE("communication is hidden by compute of its own device alone, and where the bounds leave it open") {
  machine m;
  m.of.clocks.resize(2);
  m.of.streams.resize(2);
  m.of.streams[0].device = 0;
  m.of.streams[1].device = 1;
  auto const gather = m.phase("gather", work_kind::communication);
  auto const forward = m.phase("forward", work_kind::compute);
  for (int i = 0; i < 10; ++i) {
    m.run(gather, 1000 * i, 5, 100, 400).stream = 1;
    m.run(forward, 1000 * i, 5, 50, 600).stream = 2;
  }
  CHECK(m.on(gather).back() == limited_by::exposed);
  for (sg::sample& each : m.of.all[forward].samples) each.stream = 1;
  for (limited_by const each : m.on(gather)) CHECK(each != limited_by::exposed);

  // 4 us of it each time, right behind compute: give or take 2 us for both.
  machine small;
  auto const ping = small.phase("ping", work_kind::communication);
  auto const work = small.phase("work", work_kind::compute);
  for (int i = 0; i < 10; ++i) {
    small.run(work, 1000 * i, 5, 10, 90);
    small.run(ping, 1000 * i, 5, 100, 4);
  }
  for (limited_by const each : small.on(ping)) CHECK(each != limited_by::exposed);
}

TEST_CASE("compute of one run hides no communication of another") {
  machine m;
  auto const gather = m.phase("gather", work_kind::communication);
  auto const forward = m.phase("forward", work_kind::compute);
  for (int i = 0; i < 10; ++i) {
    m.run(gather, 1000 * i, 5, 100, 400);
    m.run(forward, 1000 * i + 600, 5, 100, 200);
  }
  CHECK(m.on(gather).back() == limited_by::exposed);
  m.of.runs = 2;
  for (limited_by const each : m.on(gather)) CHECK(each != limited_by::exposed);
}

TEST_CASE("without places nothing is decided, and a phase that only waits is left alone") {
  machine m;
  auto const step = m.phase("step");
  m.run(step, 0, 5, 10, 300).queue = sg::absence::no_clock;
  CHECK(m.on(step) == verdicts{limited_by::not_known});
  machine waiting;
  auto const wait = waiting.phase("wait", work_kind::wait);
  waiting.run(wait, 0, 300, 5, 300);
  CHECK(waiting.on(wait).empty());
  CHECK(sg::diagnose(sg::recording{}).empty());
}

TEST_CASE("every verdict has words and, where it can be acted on, a next step; the table shows them with the evidence") {
  for (int i = 0; i <= static_cast<int>(limited_by::input); ++i) {
    auto const what = static_cast<limited_by>(i);
    CHECK(std::string{sg::describe(what)} != "unknown");
    CHECK((*sg::next_step(what) == '\0') == (what == limited_by::not_known));
  }
  machine m;
  auto const step = m.phase("step", work_kind::compute);
  for (int i = 0; i < 20; ++i) m.run(step, 100 * i, 40, 5, 42);
  std::ostringstream text;
  sg::report::latency_table(text, m.of);
  CHECK(text.str().find("diagnosis    step: launch-bound: starved 20 of 20, submit 40 us, queue 5 us, device 42 us;") !=
        std::string::npos);
}
