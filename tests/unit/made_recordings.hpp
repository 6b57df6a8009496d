#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/merge.hpp>

/// How large the times of drawn samples are.
enum class drawn_times { any, to_be_summed };

/// Recordings whose members are all drawn, each from a seed: any byte in a name, any number, present and absent.
class drawn_recordings {
 public:
  explicit drawn_recordings(std::uint64_t seed, drawn_times times = drawn_times::any) : random_{seed}, times_{times} {}

  streamgauge::recording next() {
    namespace sg = streamgauge;
    sg::recording made;
    made.recorded = choice<sg::mode>(3);
    made.why_not_measured = text();
    made.environment = environment();
    std::size_t const count = below(5);
    for (std::size_t i = 0; i < count; ++i) made.all.push_back(series());
    for (auto i = below(3); i > 0; --i)
      made.problems.push_back({text(), text(), static_cast<int>(number()), static_cast<std::uint64_t>(number())});
    for (auto i = below(3); i > 0; --i) {
      sg::placed_clock clock;
      clock.device = static_cast<int>(below(4)) - 1;
      clock.anchors = static_cast<std::uint64_t>(number());
      clock.thrown_away = static_cast<std::uint64_t>(number());
      clock.drift = perhaps(real());
      clock.drift_bound = perhaps(real());
      clock.limits = {real(), real(), time()};
      clock.why_not = text();
      made.clocks.push_back(clock);
    }
    made.why_not_placed = text();
    for (auto i = below(3); i > 0; --i)
      made.streams.push_back({static_cast<int>(below(4)) - 1, static_cast<std::uint64_t>(number()),
                              choice<sg::stream_kind>(3)});
    return made;
  }

  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }

  std::string text() {
    switch (below(6)) {
      case 0: return "";
      case 1: return hostile();
      case 2: {
        std::string any(below(12), ' ');
        for (char& each : any) each = static_cast<char>(below(256));
        return any;
      }
      default: return "name " + std::to_string(below(1000));
    }
  }

 private:
  template <class Choice>
  Choice choice(std::uint64_t count) {
    return static_cast<Choice>(below(count));
  }
  template <class Value>
  std::optional<Value> perhaps(Value value) {
    return below(3) == 0 ? std::nullopt : std::optional{value};
  }
  std::string hostile() {
    static char const* const texts[] = {"<script>alert(1)</script>", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "'=1",
                                        "a\"b\\c/d", "f<int, 4>\n\"x\"", "\x1b[31mred\x1b[0m", "\xe2\x80\xae" "abc",
                                        "\xe2\x80\xa8", "A\xff" "B", "\xed\xa0\x80", "\xc0\xaf", "\xe6\x97", "\x7f",
                                        "gr\xc3\xbc\xc3\x9f" "e", "null", "NaN", "{}", ",", "\r\n"};
    return texts[below(sizeof texts / sizeof *texts)];
  }
  std::int64_t number() {
    auto const drawn = static_cast<std::int64_t>(random_());
    switch (below(5)) {
      case 0: return 0;
      case 1: return drawn;
      case 2: return below(2) ? (std::numeric_limits<std::int64_t>::max)() : (std::numeric_limits<std::int64_t>::min)();
      case 3: return (std::int64_t{1} << 53) + static_cast<std::int64_t>(below(3));
      default: return drawn >> below(64);
    }
  }
  double real() {
    switch (below(8)) {
      case 0: return 0.0;
      case 1: return -0.0;
      case 2: return std::numeric_limits<double>::quiet_NaN();
      case 3: return below(2) ? std::numeric_limits<double>::infinity() : -std::numeric_limits<double>::infinity();
      case 4: return std::numeric_limits<double>::denorm_min();
      case 5: return (std::numeric_limits<double>::max)();
      case 6: return static_cast<double>(number());
      default: return static_cast<double>(random_()) * 1e-25;
    }
  }
  std::vector<streamgauge::condition> conditions() {
    std::vector<streamgauge::condition> made;
    for (auto i = below(3); i > 0; --i) made.push_back({text(), text()});
    return made;
  }
  streamgauge::environment environment() {
    namespace sg = streamgauge;
    sg::environment made;
    made.library_version = text();
    made.driver_version = perhaps(static_cast<int>(number()));
    made.runtime_version = perhaps(static_cast<int>(number()));
    made.compiled_runtime_version = perhaps(static_cast<int>(number()));
    for (auto i = below(3); i > 0; --i) made.devices.push_back(device());
    for (std::string* each : {&made.why_no_device, &made.tool, &made.tool_sign, &made.host, &made.cpu, &made.compiler,
                              &made.compiled_as, &made.time, &made.why_no_command})
      *each = text();
    made.host_floor = perhaps(time());
    made.variables = conditions();
    if (below(2)) {
      made.command.emplace();
      for (auto i = below(4); i > 0; --i) made.command->push_back(text());
    }
    made.given = conditions();
    return made;
  }
  streamgauge::device_description device() {
    namespace sg = streamgauge;
    sg::device_description made;
    made.ordinal = static_cast<int>(number());
    for (std::string* each : {&made.name, &made.why_no_floor, &made.why_no_kernel_floor, &made.uuid, &made.why_no_readings})
      *each = text();
    for (auto* each : {&made.event_floor, &made.submit_floor, &made.event_resolution, &made.kernel_floor})
      *each = perhaps(time());
    for (auto* each : {&made.compute_capability, &made.multiprocessors}) *each = perhaps(static_cast<int>(number()));
    for (auto* each : {&made.memory_bytes, &made.l2_bytes}) *each = perhaps(static_cast<std::uint64_t>(number()));
    for (auto* each : {&made.memory_bus_bits, &made.most_sm_mhz, &made.most_memory_mhz, &made.power_limit_mw})
      *each = perhaps(static_cast<std::uint32_t>(number()));
    made.ecc = perhaps(below(2) == 1);
    for (auto i = below(3); i > 0; --i) {
      sg::device_reading reading;
      reading.at = time();
      for (auto* each : {&reading.sm_mhz, &reading.memory_mhz, &reading.temperature, &reading.power_mw})
        *each = perhaps(static_cast<std::uint32_t>(number()));
      reading.slowed_by = perhaps(static_cast<std::uint64_t>(number()));
      made.readings.push_back(reading);
    }
    return made;
  }
  streamgauge::observation seen() {
    if (below(3) == 0) return choice<streamgauge::absence>(streamgauge::absence_count);
    auto const drawn = time().count();
    return streamgauge::nanoseconds{drawn < 0 ? -drawn : drawn};
  }
  // What is longer than 2^57 ns is written, but not read. Statistics add times up.
  streamgauge::nanoseconds time() {
    auto const drawn = number();
    return streamgauge::nanoseconds{drawn / (times_ == drawn_times::any ? 64 : 1024)};
  }
  streamgauge::sample sample() {
    namespace sg = streamgauge;
    sg::sample made;
    made.entered = time();
    for (auto* each : {&made.submit, &made.device, &made.completion, &made.queue, &made.begins}) *each = seen();
    made.parent = perhaps(static_cast<std::uint32_t>(number()));
    for (auto* each : {&made.thread, &made.records_inside, &made.span, &made.stream})
      *each = static_cast<std::uint32_t>(number());
    made.part = choice<sg::span_part>(3);
    made.waited = choice<sg::wait_policy>(3);
    made.warmup = below(2) == 1;
    made.watched = below(2) == 1;
    made.bound = time();
    return made;
  }
  streamgauge::series series() {
    namespace sg = streamgauge;
    sg::series made;
    made.phase = text();
    made.conditions = conditions();
    made.warmup = static_cast<std::size_t>(number());
    for (auto i = below(20); i > 0; --i) made.samples.push_back(sample());
    made.kind = choice<sg::work_kind>(5);
    made.domain = text();
    if (below(2)) made.work = sg::declared_work{perhaps(real()), perhaps(real()), perhaps(real())};
    if (below(2)) sg::thin_to(std::uint64_t{1} << below(8), made);  // with totals
    made.lost = static_cast<std::uint64_t>(number());
    made.runs = static_cast<std::size_t>(number());
    return made;
  }

  std::mt19937_64 random_;
  drawn_times times_;
};
