// Without these: a file that was read and then crashes a report, lets it run for hours or take all memory, or shows what is no
// number. What the reader takes, every report has to hold. Sanitizers see what overflows on the way.

#include <streamgauge/report/read_recording.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <streamgauge/analyze/diagnosis.hpp>
#include <streamgauge/analyze/merge.hpp>
#include <streamgauge/analyze/ranks.hpp>
#include <streamgauge/analyze/recording_comparison.hpp>
#include <streamgauge/analyze/roofline.hpp>
#include <streamgauge/analyze/stream_graph.hpp>
#include <streamgauge/report/comparison_markdown.hpp>
#include <streamgauge/report/comparison_table.hpp>
#include <streamgauge/report/csv.hpp>
#include <streamgauge/report/html.hpp>
#include <streamgauge/report/latency_table.hpp>
#include <streamgauge/report/rank_table.hpp>
#include <streamgauge/report/roofline_table.hpp>
#include <streamgauge/report/same_recording.hpp>
#include <streamgauge/report/stream_graph_table.hpp>
#include <streamgauge/report/table.hpp>
#include <streamgauge/report/trace.hpp>

#include "../unit/made_recordings.hpp"

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

/// Recordings of a program that could have run: placed executions on streams, nested phases, spans, thinned series. Then
/// some of their members are changed to what no program would give.
class damaged_recordings {
 public:
  explicit damaged_recordings(std::uint64_t seed) : random_{seed} {}

  sg::recording next() {
    sg::recording made;
    auto const devices = below(3);
    for (int i = 0; i < static_cast<int>(devices); ++i) {
      sg::device_description device{i, "NVIDIA H200", nanoseconds{1300}, nanoseconds{4000}, nanoseconds{32}, ""};
      device.compute_capability = 90;
      device.multiprocessors = 132;
      device.memory_bus_bits = 6144;
      device.most_sm_mhz = 1980;
      device.most_memory_mhz = 3201;
      device.readings.resize(below(4));
      for (auto& each : device.readings) each.sm_mhz = 1980;
      made.environment.devices.push_back(device);
      made.clocks.push_back({i, 20, 0, 1e-6, 1e-7, {}, ""});
    }
    made.streams.resize(below(5));
    for (auto& each : made.streams) each.device = static_cast<int>(below(3)) - 1;
    for (auto left = 1 + below(5); left > 0; --left) made.all.push_back(series(made.streams.size()));
    for (auto left = below(4); left > 0; --left) damage(made);
    return made;
  }

 private:
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  nanoseconds time(std::uint64_t limit) { return nanoseconds{static_cast<std::int64_t>(below(limit))}; }
  std::int64_t wild() {
    constexpr std::int64_t most = std::int64_t{1} << 57U;
    constexpr std::int64_t values[] = {0, 1, -1, most, -most, most - 1, most / 2, -most / 2, 4294967295, 4294967294, 2147483647,
                                       std::int64_t{1} << 53U, 3'600'000'000'000, (std::numeric_limits<std::int64_t>::min)()};
    return below(4) == 0 ? static_cast<std::int64_t>(random_()) >> below(64) : values[below(sizeof values / sizeof *values)];
  }
  std::uint32_t wild_number() { return static_cast<std::uint32_t>(wild()); }
  double wild_real() {
    constexpr double values[] = {0.0, -0.0, 1e300, -1e300, 5e-324, 1e-300, -1.0, std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
    return values[below(sizeof values / sizeof *values)];
  }
  sg::observation wild_seen() {
    if (below(4) == 0) return static_cast<sg::absence>(below(sg::absence_count));
    return nanoseconds{wild() & (std::numeric_limits<std::int64_t>::max)()};
  }

  sg::series series(std::size_t streams) {
    sg::series made;
    made.phase = "phase " + std::to_string(below(3));
    if (below(3) == 0) made.conditions.push_back({"rows", std::to_string(below(2))});
    if (below(2) == 0) made.work = sg::declared_work{1e9, 1e6, 1e6};
    made.kind = static_cast<sg::work_kind>(below(5));
    std::uint64_t const takes = 1000 + below(1'000'000);
    nanoseconds now = time(100'000);
    for (auto left = below(4) == 0 ? below(200) : below(30); left > 0; --left, now += time(2 * takes)) {
      sg::sample one;
      one.entered = now;
      one.submit = time(2000);
      one.device = time(takes);
      if (below(2) == 0) one.completion = time(3 * takes);
      if (below(3) > 0) one.queue = time(takes);
      one.bound = time(500);
      one.thread = static_cast<std::uint32_t>(below(3));
      one.stream = static_cast<std::uint32_t>(below(streams + 1));
      if (below(4) == 0) one.span = static_cast<std::uint32_t>(below(5));
      if (one.span != 0) one.part = static_cast<sg::span_part>(below(3));
      if (one.part == sg::span_part::branch) one.begins = time(1000);
      if (below(4) == 0) one.parent = static_cast<std::uint32_t>(below(6));
      one.waited = static_cast<sg::wait_policy>(below(3));
      one.warmup = made.samples.size() < 3;
      made.samples.push_back(one);
    }
    if (below(5) == 0) sg::thin_to(std::uint64_t{1} << below(4), made);
    return made;
  }

  void damage(sg::recording& of) {
    auto& some = of.all[below(of.all.size())];
    switch (below(8)) {
      case 0:
        for (auto& each : of.environment.devices) {
          each.event_floor = nanoseconds{wild()};
          each.ordinal = static_cast<int>(wild());
          each.memory_bus_bits = wild_number();
          for (auto& reading : each.readings) reading = {nanoseconds{wild()}, wild_number(), wild_number(), 1, {}, {}};
        }
        return;
      case 1:
        for (auto& each : of.clocks) each = {static_cast<int>(wild()), 1, 2, wild_real(), wild_real(), {wild_real(), wild_real(), {}}, ""};
        return;
      case 2:
        for (auto& each : of.streams) each.device = static_cast<int>(wild());
        return;
      case 3: some.work = sg::declared_work{wild_real(), wild_real(), wild_real()}; return;
      case 4:
        some.lost = static_cast<std::uint64_t>(wild());
        some.runs = static_cast<std::size_t>(wild());
        return;
      case 5: of.all.push_back(some); return;
      default:
        for (auto& each : some.samples) {
          if (below(3) > 0) continue;
          switch (below(9)) {
            case 0: each.entered = nanoseconds{wild()}; break;
            case 1: each.submit = wild_seen(); break;
            case 2: each.device = wild_seen(); break;
            case 3: each.completion = wild_seen(); break;
            case 4: each.queue = wild_seen(); break;
            case 5: each.bound = nanoseconds{wild()}; break;
            case 6: each.thread = wild_number(); break;
            case 7: each.span = wild_number(); break;
            default: each.stream = wild_number();
          }
        }
    }
  }

  std::mt19937_64 random_;
};

template <class Report>
std::string text_of(Report report) {
  std::ostringstream out;
  report(out);
  return out.str();
}

/// A text that people read: no number in it is none.
template <class Report>
void check_numbers(Report report) {
  std::string const text = text_of(report);
  CHECK(text.find("nan") == std::string::npos);
  CHECK(text.find("-inf") == std::string::npos);
}

void check_reports(sg::recording const& of) {
  check_numbers([&](auto& out) { sg::report::table(out, of); });
  check_numbers([&](auto& out) { sg::report::latency_table(out, of); });
  check_numbers([&](auto& out) { sg::report::html(out, of); });
  check_numbers([&](auto& out) { sg::report::roofline_table(out, sg::roofline_of(of, sg::roofs_of(of.environment))); });
  check_numbers([&](auto& out) { sg::report::table(out, sg::stream_graph_of(sg::stretches_of(of))); });
  check_numbers([&](auto& out) { out << sg::report::summary_csv(of) << sg::report::samples_csv(of); });
  CHECK(nlohmann::json::accept(sg::report::trace_of(of)));
  auto const again = sg::report::read_recording(sg::report::json_of(of, {sg::report::part::included, sg::report::part::included}));
  CHECK(again.why_not == "");
  if (again) CHECK(sg::report::difference(of, *again.taken) == "");
}

}  // namespace

TEST_CASE("every report holds whatever was read, alone and beside another one") {
  std::size_t taken = 0;
  sg::recording before;
  damaged_recordings damaged{1};
  drawn_recordings any{2};
  for (int round = 0; round < 120; ++round) {
    INFO("round ", round);
    auto read = sg::report::read_recording(sg::report::json_of(round % 8 == 7 ? any.next() : damaged.next()));
    if (!read) continue;
    ++taken;
    check_reports(*read.taken);
    check_numbers([&](auto& out) { sg::report::table(out, sg::compare(before, *read.taken)); });
    check_numbers([&](auto& out) { sg::report::markdown(out, sg::compare_runs({before, *read.taken}, {*read.taken, before})); });
    check_numbers([&](auto& out) { sg::report::html(out, *read.taken, before); });
    check_numbers([&](auto& out) { sg::report::rank_table(out, sg::by_rank({before, *read.taken}), {"0", "1"}); });
    auto both = before;
    sg::merge(both, *read.taken);
    check_numbers([&](auto& out) { sg::report::table(out, both); });
    CHECK(nlohmann::json::accept(sg::report::trace_of(both)));
    before = std::move(*read.taken);
  }
  CHECK(taken > 60);
}
