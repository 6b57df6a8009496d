// Would go unseen without these: a name that becomes markup, a picture whose numbers a locale or a huge value spoils, an
// outlier or a warm-up that a picture leaves out, and a page that says nothing of what is absent. What a browser makes of
// whole pages is checked in tests/build/html_pages.py.
#include <streamgauge/report/html.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

namespace sg = streamgauge;
namespace report = streamgauge::report;
using sg::nanoseconds;

namespace {

sg::series made_of(char const* phase, std::vector<std::int64_t> const& device, std::size_t warmup = 0) {
  sg::series made;
  made.phase = phase;
  for (auto const each : device) {
    sg::sample one;
    one.submit = nanoseconds{1000};
    one.device = nanoseconds{each};
    one.warmup = made.samples.size() < warmup;
    made.samples.push_back(one);
  }
  return made;
}

std::string page_of(sg::recording const& of) {
  std::ostringstream out;
  report::html(out, of);
  return out.str();
}

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

bool has(std::string const& text, std::string const& part) { return count(text, part) > 0; }

report::run_values<> values_of(sg::series const& from, sg::distribution const& what) {
  return {from, &sg::sample::device, sg::waited_by::any, what};
}

}  // namespace

TEST_CASE("text for a browser holds no markup, no control character and no mark that turns it, and loses nothing") {
  CHECK(report::html_text("<b a='1' c=\"2\">&</b>") == "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;&lt;/b&gt;");
  CHECK(report::html_text(std::string_view{"a\0b\x01\x7f", 5}) == "a\\x00b\\x01\\x7f");
  CHECK(report::html_text("\xff\xed\xa0\x80") == "\\xff\\xed\\xa0\\x80");  // no UTF-8, and a surrogate
  CHECK(report::html_text("\xe2\x80\xae\xd8\x9c\xe2\x81\xa9") == "\\u202e\\u061c\\u2069");
  CHECK(report::html_text("\xef\xbf\xbf\xf0\x9f\xbf\xbf") == "\\uffff\\U0001ffff");
  CHECK(report::html_text("\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x9a\x80") == "\xc3\xa9 \xe4\xbd\xa0 \xf0\x9f\x9a\x80");
  CHECK(report::html_text("a\x1f" "b") == "a&#160;b");
  CHECK(report::html_text("\\n") == "\\n");  // what `escaped` has made does not change
  CHECK(report::html_name("<") == "<bdi>&lt;</bdi>");
}

TEST_CASE("a name is shortened by characters, not by bytes") {
  CHECK(report::shortened("abc", 3) == "abc");
  CHECK(report::shortened("abcd", 3) == "ab\xe2\x80\xa6");
  CHECK(report::shortened("\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9", 3) == "\xc3\xa9\xc3\xa9\xe2\x80\xa6");
}

TEST_CASE("a coordinate has one decimal and is always a number") {
  CHECK(report::coordinate(0.0) == "0");
  CHECK(report::coordinate(-0.04) == "0");
  CHECK(report::coordinate(12.34) == "12.3");
  CHECK(report::coordinate(-12.36) == "-12.4");
  CHECK(report::coordinate(9.96) == "10");
  CHECK(report::coordinate(1e300) == "99999");
  CHECK(report::coordinate(-1e300) == "-99999");
  CHECK(report::coordinate(std::numeric_limits<double>::quiet_NaN()) == "-99999");
}

TEST_CASE("an axis has round marks, at most as many as were asked for, and labels as fine as they are apart") {
  auto const some = report::ticks_within(93.0, 211.0, 5, 1.0);
  CHECK(some.step == 50.0);
  CHECK(some.at == std::vector<double>{100.0, 150.0, 200.0});
  auto const fine = report::ticks_within(9.0031e6, 9.0049e6, 5, 1.0);
  CHECK(fine.step == 500.0);
  REQUIRE(fine.at.size() == 3);
  CHECK(report::tick_label(fine.at[0], fine.step, report::unit::ms) == "9.0035");
  CHECK(report::ticks_within(0.0, 1.0, 5, 1.0).at == std::vector<double>{0.0, 1.0});  // no half nanoseconds
  CHECK(report::ticks_within(7.0, 7.0, 5, 1.0).at == std::vector<double>{7.0});
  // Where doubles are coarser than the step every mark is still a new one.
  auto const huge = report::ticks_within(9.223372036854775e18, 9.223372036854776e18, 5, 1.0);
  for (std::size_t i = 1; i < huge.at.size(); ++i) CHECK(huge.at[i - 1] < huge.at[i]);
  CHECK(huge.at.size() <= 6);
  CHECK(report::tick_label(9.2e18, 1e17, report::unit::s) == "9.2e9");
  CHECK(report::tick_label(150.0, 50.0, report::unit::ns) == "150");
}

TEST_CASE("a run is drawn around what is usual; what lies beyond is counted, and warm-up keeps its place") {
  // 2 of warm-up, 40 around 100 us, one outlier, 1 us apart by turns.
  std::vector<std::int64_t> times{900'000, 110'000};
  for (int i = 0; i < 40; ++i) times.push_back(i % 2 == 0 ? 100'000 : 101'000);
  times.push_back(500'000);
  auto const from = made_of("a", times, 2);
  auto const what = sg::distribution_of(from, &sg::sample::device);
  auto const run = values_of(from, what);
  CHECK(run.values() == times);
  REQUIRE(run.warmup().size() == 1);
  CHECK(run.warmup()[0].begin == 0);
  CHECK(run.warmup()[0].end == 2);
  CHECK(run.low() == 100'000 - 50);  // a twentieth of the 1000 between
  CHECK(run.high() == 101'000 + 50);
  CHECK(run.above() == 3);  // the warm-up and the outlier
  CHECK(run.below() == 0);
  report::counted_parts<> const parts{run, nullptr};
  std::uint64_t drawn = 0;
  for (auto const each : parts.counts()) drawn += each;
  CHECK(drawn == 40);
  CHECK(parts.above() == 1);  // the outlier: warm-up is not in it
  CHECK(parts.most() == 20);
}

TEST_CASE("levels stand where they are behind the warm-up, with their changes") {
  std::vector<std::int64_t> times(4, 300'000);
  for (int i = 0; i < 60; ++i) times.push_back(i % 2 == 0 ? 100'000 : 100'200);
  for (int i = 0; i < 40; ++i) times.push_back(i % 2 == 0 ? 120'000 : 120'200);
  auto const from = made_of("a", times, 4);
  auto const what = sg::distribution_of(from, &sg::sample::device);
  auto const run = values_of(from, what);
  REQUIRE(run.levels().size() == 2);
  CHECK(run.levels()[0].at.begin == 4);
  CHECK(run.levels()[0].at.end == 64);
  CHECK(run.levels()[1].at.begin == 64);
  CHECK(run.levels()[1].at.end == 104);
  CHECK_FALSE(run.levels()[0].change);
  REQUIRE(run.levels()[1].change);
  CHECK(*run.levels()[1].change == doctest::Approx(0.1998).epsilon(0.001));
  auto const picture = report::run_plot<>{run}.finished();
  CHECK(has(picture, "+20.0 %"));
  CHECK(has(picture, "class=\"changes\""));
  CHECK(has(picture, "<title>warm-up by its fixed count</title>"));
  CHECK(has(picture, "first 300 us"));
}

TEST_CASE("every value of a short run is a point; of a long one each column has its least and its most") {
  std::vector<std::int64_t> times;
  for (int i = 0; i < 566; ++i) times.push_back(1000 + i % 7);
  auto const short_run = made_of("a", times);
  auto const short_what = sg::distribution_of(short_run, &sg::sample::device);
  auto const points = values_of(short_run, short_what);
  CHECK(count(report::run_plot<>{points}.finished(), "h0") == 566);

  for (int i = 0; i < 100'000; ++i) times.push_back(1000 + i % 7);
  auto const long_run = made_of("a", times);
  auto const long_what = sg::distribution_of(long_run, &sg::sample::device);
  auto const columns = values_of(long_run, long_what);
  auto const picture = report::run_plot<>{columns}.finished();
  CHECK(count(picture, "h0") == 0);
  CHECK(has(picture, "class=\"range\""));
  CHECK(has(picture, "class=\"middle\""));
  CHECK(picture.size() < 20'000);
}

TEST_CASE("a page of nothing says why, and is a page") {
  auto const empty = page_of({});
  CHECK(has(empty, "nothing measured: no phase was made"));
  CHECK(has(empty, "no device time to place"));
  CHECK(has(empty, "no timeline: nothing of the device was placed on the host's clock"));
  CHECK(empty.rfind("<!DOCTYPE html>\n<html lang=\"en\">", 0) == 0);
  CHECK(empty.substr(empty.size() - 16) == "</body>\n</html>\n");
  sg::recording off;
  off.recorded = sg::mode::off;
  off.why_not_measured = "off, <by hand>";
  CHECK(has(page_of(off), "not measured: off, &lt;by hand&gt;"));
}

TEST_CASE("of many phases those that took the longest have details, and all are in the table") {
  sg::recording many;
  std::vector<std::string> names;
  for (int i = 0; i < 40; ++i) names.push_back("phase-" + std::to_string(i));
  for (int i = 0; i < 40; ++i) many.all.push_back(made_of(names[static_cast<std::size_t>(i)].c_str(), {1000 + i, 1000 + i}));
  auto const page = page_of(many);
  CHECK(count(page, "<article ") == report::most_html_phases);
  CHECK(has(page, "Here are the 32 that took the longest of 40"));
  CHECK(has(page, "<article class=\"phase\" id=\"phase-8\">"));  // 32 of 40: from the ninth on
  CHECK_FALSE(has(page, "<article class=\"phase\" id=\"phase-7\">"));
  CHECK(has(page, "<bdi>phase-0</bdi>"));
}

TEST_CASE("one phase has one colour in the whole page") {
  report::phase_colors<> colors;
  CHECK(colors.of("a") == "c0");
  CHECK(colors.of("b") == "c1");
  CHECK(colors.of("a") == "c0");
  for (char const* each : {"c", "d", "e", "f", "g", "h"}) CHECK(colors.of(each) != "c0");
  CHECK(colors.of("i") == "c0");  // eight of them
}

TEST_CASE("what is absent has its reason in the phase, and what a long series kept is told") {
  sg::recording from;
  from.all = {made_of("a", {1000, 1001, 1002})};
  from.all[0].samples[1].device = sg::absence::pool_full;
  CHECK(has(page_of(from), "device interval, without a value: 1 every event of the pool was waiting for the device"));
  from.all[0].kept_one_in = 4;
  CHECK(has(page_of(from), "the first 1024 samples and one in 4 of the others were kept"));
}

TEST_CASE("two recordings have their verdicts first, then each its own sections with places of its own") {
  sg::recording before;
  sg::recording after;
  std::vector<std::int64_t> fast;
  std::vector<std::int64_t> slow;
  for (int i = 0; i < 60; ++i) {
    fast.push_back(100'000 + 32 * (i % 5));
    slow.push_back(110'000 + 32 * (i % 5));
  }
  before.all = {made_of("work", fast)};
  after.all = {made_of("work", slow)};
  std::ostringstream out;
  report::html(out, before, after);
  auto const page = out.str();
  CHECK(has(page, ">slower</span>"));
  CHECK(has(page, "+10.0 %"));
  CHECK(page.find("id=\"comparison\"") < page.find("id=\"a-glance\""));
  CHECK(page.find("id=\"a-glance\"") < page.find("id=\"b-glance\""));
  CHECK(count(page, "id=\"a-phase-0\"") == 1);
  CHECK(count(page, "id=\"b-phase-0\"") == 1);
}

TEST_CASE("a bar of a latency is cut where its parts end") {
  sg::latency_split split;
  split.placed = split.executions = 5;
  split.submit = nanoseconds{100};
  split.queue = nanoseconds{250};
  split.device = nanoseconds{500};
  split.end = nanoseconds{750};
  split.completion = nanoseconds{1000};
  split.notice = nanoseconds{250};
  auto const bar = report::latency_bar(split, "c3");
  CHECK(has(bar, "<rect x=\"0\" y=\"0\" width=\"250\" height=\"19\" class=\"wait\"><title>queue 250 ns</title>"));
  CHECK(has(bar, "<rect x=\"250\" y=\"0\" width=\"500\" height=\"19\" class=\"fill c3\"><title>device 500 ns</title>"));
  CHECK(has(bar, "<rect x=\"750\" y=\"0\" width=\"250\" height=\"19\" class=\"after\"><title>notice 250 ns</title>"));
  CHECK(has(bar, "<rect x=\"0\" y=\"22\" width=\"100\" height=\"8\" class=\"host\"><title>submit 100 ns</title>"));
}

TEST_CASE("of a server's thousand threads and streams the first lanes are drawn, which the page says") {
  sg::recording from;
  from.clocks.resize(1);
  from.clocks[0].device = 0;
  from.streams.resize(1000);  // of devices that nobody knows
  from.all.push_back(made_of("step", std::vector<std::int64_t>(1000, 10'000)));
  for (std::uint32_t i = 0; i < 1000; ++i) {
    auto& one = from.all[0].samples[i];
    one.entered = nanoseconds{100'000 * std::int64_t{i}};
    one.queue = nanoseconds{2000};
    one.thread = i;
    one.stream = i + 1;
  }
  auto const page = page_of(from);
  CHECK(has(page, ">host thread 31<"));
  CHECK_FALSE(has(page, "<p class=\"quiet\">host thread 32<"));
  CHECK(has(page, "<p class=\"quiet\">device not known, stream 32<"));
  CHECK_FALSE(has(page, "<p class=\"quiet\">device not known, stream 33<"));
  CHECK_FALSE(has(page, "device 0, stream"));
  CHECK(has(page, " Of 1000 threads the first 32 are drawn. Of 1000 streams the first 32 are drawn."));
}

TEST_CASE("a timeline has a lane for each thread and each stream, and a bar where something ran") {
  sg::recording from;
  from.streams = {{0, 0x10, sg::stream_kind::made}, {1, 0x20, sg::stream_kind::made}};
  from.all = {made_of("a", {400, 400}), made_of("b", {100})};
  for (std::size_t i = 0; i < 2; ++i) {
    auto& one = from.all[0].samples[i];
    one.entered = nanoseconds{static_cast<std::int64_t>(1000 * i)};
    one.submit = nanoseconds{100};
    one.queue = nanoseconds{200};
    one.stream = 1;
  }
  auto& other = from.all[1].samples[0];
  other.entered = nanoseconds{300};
  other.submit = nanoseconds{50};
  other.queue = nanoseconds{100};
  other.stream = 2;
  other.thread = 3;
  auto const page = page_of(from);
  for (char const* lane : {">host thread 0<", ">host thread 3<", ">device 0, stream 1<", ">device 1, stream 2<"})
    CHECK(has(page, lane));
  // From 0 to 1600 ns on 960 units: a runs from 200 to 600 and from 1200 to 1600, b from 400 to 500.
  CHECK(has(page, "<rect x=\"120\" y=\"0\" width=\"240\" height=\"12\" class=\"fill c0\"><title>a, 400 ns</title>"));
  CHECK(has(page, "<rect x=\"720\" y=\"0\" width=\"240\" height=\"12\" class=\"fill c0\"><title>a, 400 ns</title>"));
  CHECK(has(page, "<rect x=\"240\" y=\"0\" width=\"60\" height=\"12\" class=\"fill c1\"><title>b, 100 ns</title>"));
  from.all[0].runs = 2;
  CHECK(has(page_of(from), "no timeline: merged runs have no origin in common"));
}
