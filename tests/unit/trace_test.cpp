// Would go unseen without these: a trace that a viewer refuses or draws a thousand times too long, a kernel drawn before its
// launch, a slice that a viewer drops because it overlaps, and device work at a place that nobody measured.
// Field cases: case-89, case-90, case-91, case-93, case-94, case-97. tests/build/traces.py reads what is written as viewers do.

#include <streamgauge/report/trace.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <locale>
#include <random>
#include <sstream>
#include <string>

namespace sg = streamgauge;
using sg::nanoseconds;
using sg::report::in_microseconds;
using sg::report::in_thousandths;

namespace {

constexpr std::int64_t us = 1000;

/// One execution, in nanoseconds: entered, submit, then the device's begin and length, placed within the bound.
sg::sample placed(std::int64_t entered, std::int64_t submit, std::int64_t begin, std::int64_t device, std::int64_t bound,
                  std::uint32_t stream = 1) {
  sg::sample one;
  one.entered = nanoseconds{entered};
  one.submit = nanoseconds{submit};
  one.queue = nanoseconds{begin - entered};
  one.device = nanoseconds{device};
  one.bound = nanoseconds{bound};
  one.stream = stream;
  return one;
}

/// Two streams of device 0 and one of device 1, placed by a good many anchors.
sg::recording placing() {
  sg::recording of;
  of.streams = {{0, 0x55a0, sg::stream_kind::made}, {0, 1, sg::stream_kind::legacy}, {1, 2, sg::stream_kind::per_thread}};
  of.clocks.resize(1);
  of.clocks[0].device = 0;
  of.clocks[0].anchors = 10;
  of.clocks[0].thrown_away = 2;
  of.clocks[0].drift = 3.25e-6;
  of.clocks[0].drift_bound = 1e-7;
  of.environment.library_version = "0.1.0";
  of.environment.devices.resize(1);
  of.environment.devices[0].name = "NVIDIA H200";
  return of;
}

void add(sg::recording& to, char const* phase, std::vector<sg::sample> samples) {
  to.all.emplace_back();
  to.all.back().phase = phase;
  to.all.back().samples = std::move(samples);
}

/// The lines of the events that hold a text.
std::vector<std::string> lines_with(std::string const& trace, std::string const& part) {
  std::vector<std::string> found;
  std::istringstream lines{trace.substr(trace.find("\"traceEvents\""))};
  for (std::string line; std::getline(lines, line);)
    if (line.find(part) != std::string::npos) found.push_back(line.back() == ',' ? line.substr(0, line.size() - 1) : line);
  return found;
}
std::string line_with(std::string const& trace, std::string const& part) {
  auto const found = lines_with(trace, part);
  REQUIRE_MESSAGE(found.size() == 1, found.size() << " lines hold " << part << " in\n" << trace);
  return found[0];
}
bool has(std::string const& trace, std::string const& part) { return trace.find(part) != std::string::npos; }

// What `nest_slices` made of slices, "lane:begin+length" each, in its order.
std::string nested(std::vector<sg::report::drawn_slice> slices) {
  std::size_t const lanes = sg::report::nest_slices(slices);
  std::string text = std::to_string(lanes) + " |";
  for (auto const& each : slices)
    text += " " + std::to_string(each.lane) + ":" + std::to_string(each.begin.count()) + "+" + std::to_string(each.length.count());
  return text;
}
sg::report::drawn_slice from_to(std::int64_t begin, std::int64_t end) {
  return {nanoseconds{begin}, nanoseconds{end}, 0, 0, nanoseconds{0}};
}

// The lanes alone, found by asking one after the other.
std::string nested_one_by_one(std::vector<sg::report::drawn_slice> slices) {
  static_cast<void>(sg::report::nest_slices(slices));  // puts them in order
  std::vector<std::vector<nanoseconds>> open;
  std::string text;
  for (auto const& each : slices) {
    std::size_t lane = 0;
    for (;; ++lane) {
      if (lane == open.size()) open.emplace_back();
      while (!open[lane].empty() && open[lane].back() <= each.begin) open[lane].pop_back();
      if (open[lane].empty() || open[lane].back() >= each.end) break;
    }
    open[lane].push_back(each.end);
    text += " " + std::to_string(lane);
  }
  return std::to_string(open.size()) + " |" + text;
}

struct commas : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("case-93 numbers have exactly three decimals and no exponent, however large") {
  CHECK(in_thousandths(0) == "0.000");
  CHECK(in_thousandths(7) == "0.007");
  CHECK(in_thousandths(-1500) == "-1.500");
  CHECK(in_microseconds(nanoseconds{1'000'000'000'000'000}) == "1000000000000.000");
  CHECK(in_microseconds(nanoseconds{2'592'000'000'000'123}) == "2592000000000.123");  // 30 days
  CHECK(in_thousandths((std::numeric_limits<std::int64_t>::max)()) == "9223372036854775.807");
  CHECK(in_thousandths((std::numeric_limits<std::int64_t>::min)()) == "-9223372036854775.808");
}

TEST_CASE("case-93 the earliest event is 0 and the base stands in the metadata, a month after the recorder was made") {
  auto of = placing();
  std::int64_t const month = 2'592'000'000'000'000;
  add(of, "step", {placed(month + 5, 2 * us, month + 3 * us, 10 * us, us)});
  auto const text = sg::report::trace_of(of);
  CHECK(has(text, "\"base_us\":2592000000000.005,"));
  CHECK(has(line_with(text, "\"cat\":\"host\""), "\"ts\":0.000,\"dur\":2.000,"));
  CHECK(has(line_with(text, "\"cat\":\"device\""), "\"ts\":2.995,\"dur\":10.000,"));
}

TEST_CASE("threads have the numbers that they have, and the largest one costs no more than the smallest") {
  auto of = placing();
  auto one = placed(0, us, 2 * us, us, 100);
  one.thread = 4294967295;
  auto other = placed(5 * us, us, 7 * us, us, 100);
  other.thread = 4000000000;
  add(of, "step", {one, other});
  auto const text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"cat\":\"host\"").size() == 2);
  CHECK(has(text, "\"thread 4294967295\""));
  CHECK(has(text, "\"thread 4000000000\""));
}

TEST_CASE("of a very long name slices bear the beginning, and the whole one stands there once") {
  auto of = placing();
  std::string const fits(1000, 'n');
  std::string const name = std::string(999, 'n') + "\xc3\xa9" + "rest";  // a character lies over the end
  add(of, fits.c_str(), {placed(0, us, 2 * us, us, 100)});
  add(of, name.c_str(), {placed(9 * us, us, 12 * us, us, 100), placed(19 * us, us, 22 * us, us, 100)});
  of.all[1].conditions = {{"rows", std::string(2000, '7')}};
  auto const text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"name\":\"" + fits + "\"").size() == 2);
  CHECK(lines_with(text, "\"name\":\"" + std::string(999, 'n') + "... (otherData.cut_names, series 1)\"").size() == 4);
  CHECK(lines_with(text, "\"rows\":\"" + std::string(1000, '7') + "... (otherData.cut_names, series 1)\"").size() == 4);
  CHECK(has(text, "\"cut_names\":[{\"series\":1,\"name\":\"" + name + "\",\"conditions\":{\"rows\":\"" +
                      std::string(2000, '7') + "\"}}]"));
  of.all.pop_back();
  CHECK_FALSE(has(sg::report::trace_of(of), "cut_names"));
  CHECK(sg::report::in_slice(std::string(2000, '\x80'), 0).size() < 1100);  // no UTF-8 at all
}

TEST_CASE("each slice is on the first lane that has room, however many overlap") {
  std::mt19937_64 random{7};
  for (int round = 0; round < 300; ++round) {
    std::vector<sg::report::drawn_slice> slices;
    std::int64_t const span = 1 + static_cast<std::int64_t>(random() % 200);
    for (auto left = random() % 120; left > 0; --left) {
      auto const begin = static_cast<std::int64_t>(random() % 100);
      slices.push_back(from_to(begin, begin + static_cast<std::int64_t>(random() >> 1U) % span));
    }
    std::string lanes;
    auto drawn = slices;
    std::size_t const count = sg::report::nest_slices(drawn);
    for (auto const& each : drawn) lanes += " " + std::to_string(each.lane);
    REQUIRE(std::to_string(count) + " |" + lanes == nested_one_by_one(slices));
  }
  // Each begins and ends behind the one before: as many lanes. Asking all of them for each would take minutes.
  std::vector<sg::report::drawn_slice> all;
  for (std::int64_t i = 0; i < 100'000; ++i) all.push_back(from_to(i, 200'000 + i));
  CHECK(sg::report::nest_slices(all) == 100'000);
  CHECK(all.back().lane == 99'999);
}

TEST_CASE("case-94 1 ms is 1000.000 and 1500 ns are 1.500, whatever unit is displayed") {
  auto of = placing();
  add(of, "step", {placed(0, 1500, 4 * us, 1'000'000, us)});
  auto const text = sg::report::trace_of(of);
  CHECK(has(text, "{\"displayTimeUnit\":\"ns\","));
  CHECK(has(line_with(text, "\"cat\":\"host\""), "\"ts\":0.000,\"dur\":1.500,"));
  CHECK(has(line_with(text, "\"cat\":\"device\""), "\"ts\":4.000,\"dur\":1000.000,"));
}

TEST_CASE("the events of one execution, letter for letter") {
  auto of = placing();
  auto one = placed(100 * us, 7 * us, 112 * us, 5 * us, 2500);
  one.completion = nanoseconds{34 * us};
  one.waited = sg::wait_policy::spin;
  add(of, "gemm", {one});
  of.all[0].conditions = {{"dtype", "f32"}, {"rows", "256"}};
  auto const text = sg::report::trace_of(of);
  std::string const color = sg::report::trace_color("gemm");
  CHECK(text.substr(text.find("\"traceEvents\"")) ==
        "\"traceEvents\":[\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"host\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"device 0 (NVIDIA H200)\"}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":0,\"name\":\"process_sort_index\",\"args\":{\"sort_index\":1}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":101,\"name\":\"thread_name\",\"args\":{\"name\":\"thread 0\"}},\n"
        "{\"ph\":\"M\",\"pid\":1,\"tid\":101,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":0}},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":101,\"ts\":0.000,\"dur\":7.000,\"name\":\"gemm\",\"cat\":\"host\",\"cname\":\"" + color +
            "\",\"args\":{\"execution\":1,\"conditions\":{\"dtype\":\"f32\",\"rows\":\"256\"},\"submit_us\":7.000}},\n"
        "{\"ph\":\"s\",\"pid\":1,\"tid\":101,\"ts\":0.000,\"id\":1,\"name\":\"submission\",\"cat\":\"flow\"},\n"
        "{\"ph\":\"X\",\"pid\":1,\"tid\":101,\"ts\":7.000,\"dur\":27.000,\"name\":\"wait for gemm\",\"cat\":\"wait\",\"cname\":"
        "\"thread_state_sleeping\",\"args\":{\"execution\":1,\"conditions\":{\"dtype\":\"f32\",\"rows\":\"256\"},\"by\":\"spin\","
        "\"completion_us\":34.000}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":102,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 1: 0x55a0\"}},\n"
        "{\"ph\":\"M\",\"pid\":2,\"tid\":102,\"name\":\"thread_sort_index\",\"args\":{\"sort_index\":1}},\n"
        "{\"ph\":\"X\",\"pid\":2,\"tid\":102,\"ts\":12.000,\"dur\":5.000,\"name\":\"gemm\",\"cat\":\"device\",\"cname\":\"" + color +
            "\",\"args\":{\"execution\":1,\"conditions\":{\"dtype\":\"f32\",\"rows\":\"256\"},\"device_us\":5.000,\"queue_us\":"
            "12.000,\"bound_us\":2.500,\"fed\":\"in time\"}},\n"
        "{\"ph\":\"f\",\"pid\":2,\"tid\":102,\"bp\":\"e\",\"ts\":12.000,\"id\":1,\"name\":\"submission\",\"cat\":\"flow\"},\n"
        "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":0.000,\"name\":\"starved executions\",\"args\":{\"%\":0.000}}\n"
        "]}\n");
}

TEST_CASE("case-89 case-90 names and conditions of any bytes are escaped, and bytes that are no text become U+FFFD") {
  auto of = placing();
  add(of, "A\xff" "B", {placed(0, us, 2 * us, us, 1)});
  add(of, "quote\" back\\slash \n\x1f \xe2\x82\xac", {placed(10 * us, us, 12 * us, us, 1)});
  of.all[1].conditions = {{"k\"", "v\n\xc0\xaf"}};
  of.problems = {{"A\xff", "tab\t", 0, 3}};
  of.environment.tool = "t\"";
  of.environment.devices[0].name = "\x01";
  auto const text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"name\":\"A\xef\xbf\xbd" "B\"").size() == 2);
  CHECK(lines_with(text, "\"name\":\"quote\\\" back\\u005cslash \\n\\u001f \xe2\x82\xac\"").size() == 2);
  CHECK(lines_with(text, "\"conditions\":{\"k\\\"\":\"v\\n\xef\xbf\xbd\xef\xbf\xbd\"}").size() == 2);
  CHECK(has(text, "{\"phase\":\"A\xef\xbf\xbd\",\"text\":\"tab\\t\",\"count\":3}"));
  CHECK(has(text, "\"watched_by\":\"t\\\"\""));
  CHECK(has(text, "device 0 (\\u0001)"));
}

TEST_CASE("case-91 no locale has a say, and the stream keeps its own") {
  auto of = placing();
  add(of, "step", {placed(0, 1'234'567, 2'000'000, 1'234'567, 1)});
  auto const plain = sg::report::trace_of(of);
  std::locale const with_commas{std::locale::classic(), new commas};
  std::locale const before = std::locale::global(with_commas);
  std::ostringstream out;
  out.imbue(with_commas);
  out.width(3000);
  out.precision(2);
  sg::report::trace(out, of);
  std::locale::global(before);
  CHECK(out.str() == plain);
  CHECK(out.precision() == 2);
  CHECK(has(plain, "\"dur\":1234.567,"));
}

TEST_CASE("case-97 the metadata says how host and device came to one axis, and how far they may be apart on it") {
  auto of = placing();
  add(of, "step", {placed(0, us, 2 * us, us, 500), placed(20 * us, us, 22 * us, us, 2600),
                   placed(40 * us, us, 42 * us, us, 900)});
  auto text = sg::report::trace_of(of);
  CHECK(has(text, "\"alignment\":\"bounded\","));
  CHECK(has(text, "\"alignment_bound_largest_us\":2.600,\"alignment_bound_median_us\":0.900,"));
  CHECK(has(text, "\"clocks\":[{\"device\":0,\"anchors\":8,\"thrown_away\":2,\"drift_ns_a_second\":3250.000,"
                  "\"drift_bound_ns_a_second\":100.000,\"holds_up_to_change_of_drift_ns_a_second\":"));
  CHECK(has(text, "\"left_out\":[],\"slices_cut\":0,\"tracks_of_what_overlaps\":0"));
  CHECK(has(text, "device durations are never rescaled"));

  of.clocks[0].anchors = 3;  // of which two were thrown away
  of.clocks[0].drift.reset();
  of.clocks[0].drift_bound.reset();
  text = sg::report::trace_of(of);
  CHECK(has(text, "\"alignment\":\"approximate\",\"alignment_why\":\"a single anchor tells nothing of the drift"));
  CHECK(has(text, "\"drift_ns_a_second\":null,\"drift_bound_ns_a_second\":null,"));
  of.clocks[0].drift = std::numeric_limits<double>::quiet_NaN();
  of.clocks[0].drift_bound = 1e30;
  CHECK(has(sg::report::trace_of(of), "\"drift_ns_a_second\":null,\"drift_bound_ns_a_second\":null,"));
  of.clocks[0].drift = -3.25e-6;
  CHECK(has(sg::report::trace_of(of), "\"drift_ns_a_second\":-3250.000,"));
}

TEST_CASE("case-97 what was not placed is left out and counted with its reason, never drawn at a place that nobody measured") {
  auto of = placing();
  auto unplaced = placed(10 * us, us, 12 * us, us, 1);
  unplaced.queue = sg::absence::no_clock;
  auto lost = placed(20 * us, us, 22 * us, us, 1);
  lost.device = sg::absence::pool_full;
  lost.queue = sg::absence::pool_full;
  auto stray = placed(30 * us, us, 32 * us, us, 1, 0);
  auto host = placed(40 * us, us, 42 * us, us, 1);
  host.device = host.queue = sg::absence::not_asked;
  add(of, "step", {placed(0, us, 2 * us, us, 1), unplaced, unplaced, lost, stray, host});
  of.all[0].lost = 4;
  auto const text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"cat\":\"device\"").size() == 1);
  CHECK(lines_with(text, "\"cat\":\"host\"").size() == 6);
  CHECK(lines_with(text, "\"ph\":\"s\"").size() == 1);
  CHECK(lines_with(text, "\"ph\":\"f\"").size() == 1);
  CHECK(has(text,
            "\"left_out\":[{\"what\":\"device slices\",\"reason\":\"no device time: every event of the pool was waiting for the "
            "device\",\"count\":1},{\"what\":\"device slices\",\"reason\":\"not placed: nothing told where the device's clock "
            "stood against the host's\",\"count\":2},{\"what\":\"device slices\",\"reason\":\"their stream is not known\","
            "\"count\":1},{\"what\":\"executions\",\"reason\":\"the host had no memory to keep them\",\"count\":4}]"));
}

TEST_CASE("of a long series those that were not kept are counted as left out") {
  auto of = placing();
  add(of, "step", {placed(0, us, 2 * us, us, 1), placed(10 * us, us, 12 * us, us, 1)});
  of.all[0].totals.emplace();
  of.all[0].totals->count = 70'000;
  of.all[0].kept_one_in = 2;
  CHECK(has(sg::report::trace_of(of), "\"left_out\":[{\"what\":\"executions\",\"reason\":\"of a long series only some are kept one "
                                      "by one\",\"count\":69998}]"));
}

TEST_CASE("without places the host is drawn alone, and the trace says what to do; merged runs are not drawn at all") {
  sg::recording of;
  auto one = placed(0, us, 2 * us, us, 1, 0);
  one.queue = sg::absence::not_asked;
  add(of, "step", {one});
  auto text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"ph\":\"X\"").size() == 1);
  CHECK(has(text, "\"alignment\":\"none\",\"alignment_why\":\"the recorder was no sg::timeline_recorder\""));
  CHECK_FALSE(has(text, "alignment_bound"));
  CHECK_FALSE(has(text, "alignment_by"));  // nothing was aligned
  of.environment.why_no_device = "no CUDA device";
  CHECK(has(sg::report::trace_of(of), "\"alignment_why\":\"no CUDA device\""));
  of.recorded = sg::mode::mark;
  CHECK(has(sg::report::trace_of(of), "\"alignment_why\":\"not measured: mark, which names ranges for tools only\""));
  of.recorded = sg::mode::time;
  of.why_not_placed = "no room";
  CHECK(has(sg::report::trace_of(of), "\"alignment_why\":\"no room\""));

  of = placing();
  add(of, "step", {placed(0, us, 2 * us, us, 1)});
  of.all[0].runs = 2;
  of.environment.devices[0].readings.resize(1);
  of.environment.devices[0].readings[0].sm_mhz = 1980;
  of.environment.devices[0].readings[0].at = nanoseconds{5};
  text = sg::report::trace_of(of);
  CHECK(lines_with(text, "\"ts\"").empty());
  CHECK(has(text, "\"base_us\":0.000,"));
  CHECK(has(text, "\"alignment\":\"none\",\"alignment_why\":\"merged from several runs, whose clocks have no origin in common; "
                  "draw them one by one\""));
  CHECK(has(text, "\"left_out\":[{\"what\":\"executions\",\"reason\":\"merged from several runs\",\"count\":1}]"));
}

TEST_CASE("warm-up is marked in category, arguments and colour, and what a tool watched in the arguments") {
  auto of = placing();
  auto warm = placed(0, us, 2 * us, us, 1);
  warm.warmup = warm.watched = true;
  add(of, "step", {warm});
  auto const text = sg::report::trace_of(of);
  for (char const* each : {"\"cat\":\"host,warmup\"", "\"cat\":\"device,warmup\""}) {
    auto const line = line_with(text, each);
    CHECK(has(line, "\"cname\":\"grey\""));
    CHECK(has(line, "\"warmup\":true,\"watched\":true"));
  }
}

TEST_CASE("each thread, each stream and the spans of each device have a track, devices in the order of their numbers") {
  auto of = placing();
  auto other = placed(0, us, 5 * us, us, 1, 3);
  other.thread = 11;
  auto whole = placed(0, 9 * us, 2 * us, 8 * us, 1, 0);
  whole.part = sg::span_part::whole;
  whole.span = 5;
  auto branch = placed(us, us, 2 * us, 8 * us, 1, 2);
  branch.part = sg::span_part::branch;
  branch.span = 5;
  of.clocks.resize(2);  // so that only the branch tells the span's device
  of.clocks[1].device = 1;
  of.clocks[1].anchors = 10;
  of.environment.devices.insert(of.environment.devices.begin(), sg::device_description{});
  of.environment.devices[0].ordinal = 1;
  of.environment.devices[0].readings.resize(1);
  add(of, "other", {other});
  add(of, "both", {whole});
  add(of, "part", {branch});
  auto const text = sg::report::trace_of(of);
  std::vector<std::string> names;
  for (auto const& line : lines_with(text, "_name\"")) names.push_back(line.substr(line.find("\"pid\"")));
  std::vector<std::string> const expected{
      "\"pid\":1,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"host\"}}",
      "\"pid\":2,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"device 0 (NVIDIA H200)\"}}",
      "\"pid\":3,\"tid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"device 1\"}}",
      "\"pid\":1,\"tid\":101,\"name\":\"thread_name\",\"args\":{\"name\":\"thread 0\"}}",
      "\"pid\":1,\"tid\":102,\"name\":\"thread_name\",\"args\":{\"name\":\"thread 11\"}}",
      "\"pid\":2,\"tid\":103,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 2: the legacy default stream\"}}",
      "\"pid\":2,\"tid\":104,\"name\":\"thread_name\",\"args\":{\"name\":\"spans\"}}",
      "\"pid\":3,\"tid\":105,\"name\":\"thread_name\",\"args\":{\"name\":\"stream 3: a per-thread default stream\"}}"};
  CHECK(names == expected);
  CHECK(has(line_with(text, "\"cat\":\"device,span\""), "\"pid\":2,\"tid\":104,\"ts\":2.000,\"dur\":8.000,\"name\":\"both\""));
}

TEST_CASE("the clocks and the starved share are counters; what was not read has no point") {
  auto of = placing();
  // Within the first window one was starved, one not, and of one the bound leaves it open; in a later one both.
  std::int64_t const later = 2'500'000;
  add(of, "step", {placed(us, 10 * us, 2 * us, us, 100), placed(100 * us, us, 102 * us, us, 100),
                   placed(200 * us, us, 201 * us, us, 100), placed(later, 10 * us, later + us, us, 100),
                   placed(later + 100 * us, 10 * us, later + 101 * us, us, 100)});
  of.environment.devices[0].readings.resize(3);
  of.environment.devices[0].readings[0].at = nanoseconds{0};
  of.environment.devices[0].readings[0].sm_mhz = 1980;
  of.environment.devices[0].readings[0].memory_mhz = 3201;
  of.environment.devices[0].readings[1].at = nanoseconds{500 * us};
  of.environment.devices[0].readings[1].sm_mhz = 1755;
  of.environment.devices[0].readings[2].at = nanoseconds{900 * us};
  auto const text = sg::report::trace_of(of);
  std::vector<std::string> const expected{
      "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":1.000,\"name\":\"starved executions\",\"args\":{\"%\":50.000}}",
      "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":2001.000,\"name\":\"starved executions\",\"args\":{\"%\":100.000}}",
      "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":0.000,\"name\":\"SM clock\",\"args\":{\"MHz\":1980.000}}",
      "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":0.000,\"name\":\"memory clock\",\"args\":{\"MHz\":3201.000}}",
      "{\"ph\":\"C\",\"pid\":2,\"tid\":0,\"ts\":500.000,\"name\":\"SM clock\",\"args\":{\"MHz\":1755.000}}"};
  CHECK(lines_with(text, "\"ph\":\"C\"") == expected);
  CHECK(has(text, "\"starved_window_us\":1000.000,"));
}

TEST_CASE("windows of the starved share: the shortest of 1, 2 and 5 ms, 10 and so on of which a hundred hold all") {
  auto const over = [](std::int64_t ms) { return sg::starved_window_over(nanoseconds{ms * 1'000'000}).count() / 1'000'000; };
  CHECK(over(0) == 1);
  CHECK(over(99) == 1);
  CHECK(over(100) == 2);
  CHECK(over(199) == 2);
  CHECK(over(200) == 5);
  CHECK(over(500) == 10);
  CHECK(over(1000) == 20);
  CHECK(over(60'000) == 1000);
  CHECK(sg::starved_window_over((nanoseconds::max)()).count() > 0);
  // A third of three, rounded: 33.333 %. A span as a whole is not counted beside its branches.
  auto of = placing();
  auto whole = placed(0, 10 * us, us, us, 1, 0);
  whole.part = sg::span_part::whole;
  add(of, "step", {placed(0, 10 * us, us, us, 1), placed(1, us, 2 * us, us, 1), placed(2, us, 2 * us, us, 1), whole});
  CHECK(has(line_with(sg::report::trace_of(of), "starved executions"), "{\"%\":33.333}"));
  of.all[0].samples[1] = placed(1, 10 * us, us, us, 1);
  CHECK(has(line_with(sg::report::trace_of(of), "starved executions"), "{\"%\":66.667}"));
}

TEST_CASE("slices of one track nest or follow on each lane; what overlaps otherwise goes to a further one") {
  CHECK(nested({from_to(0, 10), from_to(10, 20), from_to(20, 30)}) == "1 | 0:0+10 0:10+10 0:20+10");
  CHECK(nested({from_to(2, 4), from_to(0, 10), from_to(4, 10), from_to(5, 6)}) == "1 | 0:0+10 0:2+2 0:4+6 0:5+1");
  CHECK(nested({from_to(0, 10), from_to(5, 15)}) == "2 | 0:0+10 1:5+10");
  CHECK(nested({from_to(0, 10), from_to(5, 15), from_to(8, 20), from_to(12, 14), from_to(16, 30)}) ==
        "3 | 0:0+10 1:5+10 2:8+12 0:12+2 0:16+14");
  CHECK(nested({from_to(4000, 4000), from_to(4000, 8000), from_to(4000, 4000), from_to(8000, 8000)}) ==
        "1 | 0:4000+4000 0:4000+0 0:4000+0 0:8000+0");
  CHECK(nested({}) == "0 |");
}

TEST_CASE("case-93 a viewer's doubles never see a slice end behind what follows at once, or outside of the one around it") {
  // 0.1 + 0.2 is more than 0.3 in doubles.
  REQUIRE(sg::report::as_read(nanoseconds{100}) + sg::report::as_read(nanoseconds{200}) > sg::report::as_read(nanoseconds{300}));
  CHECK(nested({from_to(100, 300), from_to(300, 400)}) == "1 | 0:100+199 0:300+100");
  CHECK(nested({from_to(100, 300), from_to(301, 400)}) == "1 | 0:100+200 0:301+99");  // nothing follows at once
  CHECK(nested({from_to(0, 300), from_to(100, 300)}) == "1 | 0:0+300 0:100+199");
  // The outer one is shortened, so what ends with it is as well; what begins in the lost nanosecond stands behind it.
  CHECK(nested({from_to(100, 300), from_to(150, 300), from_to(299, 300), from_to(300, 400)}) ==
        "1 | 0:100+199 0:150+149 0:299+1 0:300+100");
}

TEST_CASE("two of one stream that overlap by no more than their bounds are cut, what overlaps by more goes elsewhere") {
  auto of = placing();
  // The second begins 1 us before the first ends, give or take 1 us each; the third 3 us before the second ends.
  add(of, "step", {placed(0, us, 10 * us, 10 * us, us), placed(5 * us, us, 19 * us, 10 * us, us),
                   placed(6 * us, us, 26 * us, 10 * us, us)});
  auto const text = sg::report::trace_of(of);
  auto const drawn = lines_with(text, "\"cat\":\"device\"");
  REQUIRE(drawn.size() == 3);
  CHECK(has(drawn[0], "\"tid\":102,\"ts\":10.000,\"dur\":10.000,"));
  CHECK(has(drawn[1], "\"tid\":102,\"ts\":20.000,\"dur\":9.000,"));
  CHECK(has(drawn[1], "\"device_us\":10.000,"));  // as it was measured
  CHECK(has(drawn[1], "\"cut\":true"));
  CHECK_FALSE(has(drawn[0], "\"cut\""));
  CHECK(has(drawn[2], "\"tid\":103,\"ts\":26.000,\"dur\":10.000,"));
  CHECK(has(text, "\"slices_cut\":1,\"tracks_of_what_overlaps\":1"));
  CHECK(has(line_with(text, "\"tid\":103,\"name\":\"thread_name\""), "stream 1: 0x55a0, what overlaps 1"));
}

TEST_CASE("a phase that reaches out of the one that it was entered in by no more than the bounds is cut to lie in it") {
  auto of = placing();
  auto inner = placed(us, us, 9 * us, 6 * us, us);  // begins 1 us before its outer one, on the device
  inner.parent = 0;
  auto last = placed(3 * us, us, 15 * us, 6 * us, us);  // ends 1 us behind it
  last.parent = 0;
  auto wild = placed(5 * us, us, 16 * us, 9 * us, us);  // ends 5 us behind it: nothing that bounds explain
  wild.parent = 0;
  add(of, "outer", {placed(0, 8 * us, 10 * us, 10 * us, us)});
  auto early = placed(6 * us, us, 6 * us, 5 * us, us);  // begins 4 us before it
  early.parent = 0;
  add(of, "inner", {inner, last, wild, early});
  auto const found = sg::placed_executions_of(of);
  REQUIRE(found.size() == 5);
  CHECK(found[0].sample == 3);
  CHECK(found[0].begin == nanoseconds{6 * us});
  CHECK_FALSE(found[0].cut);
  // It overlaps the outer one by 1 us, which the bounds explain.
  CHECK(found[1].series == 0);
  CHECK(found[1].begin == nanoseconds{11 * us});
  CHECK(found[1].end == nanoseconds{20 * us});
  CHECK(found[2].sample == 0);
  CHECK(found[2].begin == nanoseconds{11 * us});
  CHECK(found[2].end == nanoseconds{15 * us});
  CHECK(found[2].cut);
  CHECK(found[3].sample == 1);
  CHECK(found[3].begin == nanoseconds{15 * us});
  CHECK(found[3].end == nanoseconds{20 * us});
  CHECK(found[4].sample == 2);
  CHECK(found[4].end == nanoseconds{25 * us});
}

TEST_CASE("the phase that one was entered in is that of its own thread, and only while it was open") {
  sg::series outer;
  outer.samples = {placed(0, 10, 20, 10, 1), placed(20, 10, 40, 10, 1), placed(22, 10, 60, 10, 1)};
  outer.samples[2].thread = 1;
  CHECK(sg::place_around(outer, placed(5, 1, 20, 1, 1)) == 0U);
  CHECK(sg::place_around(outer, placed(25, 1, 40, 1, 1)) == 1U);  // the third is another thread's
  CHECK_FALSE(sg::place_around(outer, placed(15, 1, 40, 1, 1)));  // between two: its own was not kept
  CHECK_FALSE(sg::place_around(outer, placed(31, 1, 40, 1, 1)));
  sg::sample elsewhere = placed(25, 1, 40, 1, 1);
  elsewhere.thread = 7;
  CHECK_FALSE(sg::place_around(outer, elsewhere));
}

TEST_CASE("a phase that is entered inside itself lies in the one that is still open, not in one that was left before") {
  sg::series of;
  of.samples = {placed(0, 100, 200, 100, 1), placed(10, 20, 210, 10, 1), placed(50, 20, 230, 10, 1)};
  CHECK(sg::place_around(of, of.samples[2]) == 0U);
  CHECK(sg::place_around(of, of.samples[1]) == 0U);
  CHECK_FALSE(sg::place_around(of, of.samples[0]));
}

TEST_CASE("what lies in a phase that was moved behind another one goes with it") {
  auto of = placing();
  auto inner = placed(21 * us, us, 19'200, 5 * us, 500);
  inner.parent = 1;
  add(of, "first", {placed(0, us, 10 * us, 10 * us, 500)});
  add(of, "second", {placed(20 * us, 10 * us, 19'100, 20 * us, 500)});
  of.all[1].samples[0].entered = nanoseconds{15 * us};
  of.all[1].samples[0].queue = nanoseconds{4'100};
  inner.entered = nanoseconds{16 * us};
  inner.queue = nanoseconds{3'200};
  add(of, "inner", {inner});
  auto const found = sg::placed_executions_of(of);
  REQUIRE(found.size() == 3);
  CHECK(found[1].series == 1);
  CHECK(found[1].begin == nanoseconds{20 * us});
  CHECK(found[2].series == 2);
  CHECK(found[2].begin == nanoseconds{20 * us});
  CHECK(found[2].end == nanoseconds{24'200});
}

TEST_CASE("a name has one of the format's own colours, the same in every trace") {
  CHECK(std::string{sg::report::trace_color("gemm")} == sg::report::trace_color("gemm"));
  bool differs = false;
  for (char const* each : {"a", "b", "c", "d", "e"}) differs = differs || std::string{sg::report::trace_color(each)} != sg::report::trace_color("a");
  CHECK(differs);
}
