// Would go unseen without these: a point or a roof that is drawn elsewhere than its numbers, a phase that is left out of the
// picture without a word, and a recording without roofs whose page looks as if there were some.
#include <streamgauge/report/roofline_plot.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/report/html.hpp>

namespace sg = streamgauge;
namespace report = streamgauge::report;
using sg::nanoseconds;

namespace {

// 1 Tflop/s and 100 GB/s: they meet at 10 operations a byte.
sg::device_roofs plain_roofs() {
  sg::device_roofs roofs;
  roofs.flops = sg::given_roof(1e12, "by hand");
  roofs.bytes = sg::given_roof(100e9, "by hand");
  return roofs;
}

// Takes 10 us each time.
sg::series phase(std::string name, std::optional<sg::declared_work> work, std::size_t count = 40) {
  sg::series made;
  made.phase = std::move(name);
  made.work = work;
  for (std::size_t i = 0; i < count; ++i) {
    sg::sample one;
    one.submit = nanoseconds{2000};
    one.device = nanoseconds{10'000};
    made.samples.push_back(one);
  }
  return made;
}

// 10 Gflop/s at 1 flop/B, and 100 Gflop/s at 100.
sg::series low() { return phase("low", sg::declared_work{1e5, 5e4, 5e4}); }
sg::series wide() { return phase("wide", sg::declared_work{1e6, 1e4, 0.0}); }

sg::recording of_series(std::vector<sg::series> all) {
  sg::recording made;
  made.all = std::move(all);
  return made;
}

std::string picture_of(sg::recording const& of, sg::device_roofs const& roofs) {
  auto const under = sg::roofline_of(of, roofs);
  report::phase_colors<> colors;
  return report::roofline_plot<>{under, colors, 32}.picture();
}

template <class... Roofs>
std::string page_of(sg::recording const& of, Roofs const&... roofs) {
  std::ostringstream out;
  report::html(out, of, roofs...);
  return out.str();
}

std::size_t count(std::string const& text, std::string const& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++found;
  return found;
}

bool has(std::string const& text, std::string const& part) { return count(text, part) > 0; }

std::vector<std::string> labels_of(report::decades<> const& axis) {
  std::vector<std::string> found;
  for (auto const& each : axis.marks()) found.push_back(each.label);
  return found;
}

}  // namespace

TEST_CASE("marks of an axis of powers of ten have short labels") {
  CHECK(report::decade_label(1, 0) == "1");
  CHECK(report::decade_label(2, 1) == "20");
  CHECK(report::decade_label(5, 2) == "500");
  CHECK(report::decade_label(1, 3) == "1 k");
  CHECK(report::decade_label(2, 11) == "200 G");
  CHECK(report::decade_label(1, 12) == "1 T");
  CHECK(report::decade_label(1, 20) == "100 E");
  CHECK(report::decade_label(1, 21) == "1e21");
  CHECK(report::decade_label(5, -1) == "0.5");
  CHECK(report::decade_label(1, -3) == "0.001");
  CHECK(report::decade_label(2, -4) == "2e-4");
}

TEST_CASE("an axis holds what it was given with room at its ends, two decades at least, and has some seven marks at most") {
  report::decades<> axis;
  CHECK(axis.empty());
  axis.hold(3.0);
  CHECK_FALSE(axis.empty());
  axis.widen(0.25, 0.25);
  CHECK(axis.low() == 2.0);
  CHECK(axis.high() == 4.0);
  CHECK(labels_of(axis) == std::vector<std::string>{"100", "200", "500", "1 k", "2 k", "5 k", "10 k"});
  axis.hold(-1.5);
  CHECK(labels_of(axis) == std::vector<std::string>{"0.1", "1", "10", "100", "1 k", "10 k"});
  axis.hold(-18.0);
  axis.hold(30.0);
  // 48 decades: every seventh.
  CHECK(labels_of(axis) == std::vector<std::string>{"1e-14", "1e-7", "1", "10 M", "100 T", "1e21", "1e28"});
}

TEST_CASE("points, both roofs and the ridge are where their numbers put them") {
  // x: from -0.4 to 2.4 on 72 to 622; y: from 9.6 to 12.25 on 342 to 30, by exponents.
  auto const picture = picture_of(of_series({low(), wide()}), plain_roofs());
  CHECK(has(picture, "<circle cx=\"150.6\" cy=\"294.9\" r=\"6\" class=\"spot c0\"><title>low: 1.000 flop/B, 10.00 Gflop/s, 10.0 % of "
                     "memory</title>"));
  CHECK(has(picture, "<circle cx=\"543.4\" cy=\"177.2\" r=\"6\" class=\"spot c1\"><title>wide: 100.0 flop/B, 100.0 Gflop/s, 10.0 % of "
                     "arithmetic</title>"));
  CHECK(has(picture, "<path d=\"M72 224.3L347 59.4H622\" class=\"roof\"/>"));
  CHECK(has(picture, "<line x1=\"347\" y1=\"59.4\" x2=\"347\" y2=\"342\" class=\"changes\"/>"));
  CHECK(has(picture, ">1.000 Tflop/s<"));
  CHECK(has(picture, ">100.0 GB/s<"));
  CHECK(has(picture, ">ridge 10.00 flop/B<"));
  CHECK(has(picture, "<text x=\"347\" y=\"363\" text-anchor=\"middle\">10</text>"));
  CHECK(has(picture, "<text x=\"66\" y=\"64.4\" text-anchor=\"end\">1 T</text>"));
  // Beside its point, for wide screens and for narrow ones.
  CHECK(has(picture, "<text x=\"163.6\" y=\"298.5\" text-anchor=\"start\" class=\"said hide\">low</text>"));
  CHECK(has(picture, "<text x=\"167.6\" y=\"300.9\" text-anchor=\"start\" class=\"said narrow\">low</text>"));
  CHECK_FALSE(has(picture, "first ring"));
}

TEST_CASE("with one roof that one alone is drawn, with none the points alone") {
  auto roofs = plain_roofs();
  roofs.flops = sg::no_roof(sg::roof_origin::given, "", "unknown");
  // x from -0.4 to 2.4; y from 10 to 13, so from 9.6 to 13.36: the memory's roof leaves at the top, at 2.36.
  auto const memory = picture_of(of_series({low(), wide()}), roofs);
  CHECK(has(memory, "<path d=\"M72 259L614.1 30\" class=\"roof\"/>"));
  CHECK_FALSE(has(memory, "ridge"));
  roofs = plain_roofs();
  roofs.bytes = sg::no_roof(sg::roof_origin::given, "", "unknown");
  auto const arithmetic = picture_of(of_series({low(), wide()}), roofs);
  CHECK(has(arithmetic, "<path d=\"M72 59.4L72 59.4H622\" class=\"roof\"/>"));
  CHECK_FALSE(has(arithmetic, "ridge"));
  auto const none = picture_of(of_series({low(), wide()}), sg::device_roofs{});
  CHECK_FALSE(has(none, "class=\"roof\""));
  CHECK_FALSE(has(none, "under-roof"));
  CHECK(count(none, "<circle") == 2);
}

TEST_CASE("a point above a roof is ringed, and points on each other have one name with their number") {
  auto const above = phase("wrong", sg::declared_work{12e6, 1e4, 1e4});
  auto const picture = picture_of(of_series({low(), above}), plain_roofs());
  CHECK(count(picture, "first ring") == 1);
  CHECK(has(picture, "wrong: 600.0 flop/B, 1.200 Tflop/s, 120.0 % of arithmetic"));
  auto second = low();
  second.phase = "second";
  auto const together = picture_of(of_series({low(), second, wide()}), plain_roofs());
  CHECK(has(together, ">low +1<"));
  CHECK_FALSE(has(together, ">second<"));
  CHECK(has(together, "<title>second: "));
}

TEST_CASE("the points of a picture are those that took the longest, in the order of the recording") {
  auto const of = of_series({phase("short", low().work, 10), phase("longest", low().work, 50), phase("long", low().work, 20)});
  auto const under = sg::roofline_of(of, plain_roofs());
  report::phase_colors<> colors;
  report::roofline_plot<> const plot{under, colors, 2};
  CHECK(plot.with_point() == 3);
  REQUIRE(plot.drawn().size() == 2);
  CHECK(plot.drawn()[0]->phase == "longest");
  CHECK(plot.drawn()[1]->phase == "long");
}

TEST_CASE("what has no point says why") {
  auto const why = [](std::optional<double> flops, std::optional<double> read, std::optional<double> written) {
    auto const under = sg::roofline_of(of_series({phase("a", sg::declared_work{flops, read, written})}), plain_roofs());
    return report::why_no_point(under.rows.at(0));
  };
  CHECK(why(1e5, 5e4, 5e4).empty());
  CHECK(why(0.0, 1e5, 1e5) == "it has no operations: its intensity is 0, and an axis of powers of ten has no 0");
  CHECK(why(1e5, 0.0, 0.0) == "it has no bytes: there is no intensity");
  CHECK(why(0.0, 0.0, 0.0) == "it has neither operations nor bytes");
  CHECK(why(std::nullopt, 1e5, 1e5) == "no operations are declared: flops(), 0 if there are none");
  CHECK(why(1e5, 1e5, std::nullopt) == "no bytes written are declared: writes(), 0 if there are none");
  CHECK(why(1e29, 1e-290, 0.0) == "its numbers are beyond any picture");
  auto const untimed = sg::roofline_of(of_series({phase("a", sg::declared_work{1.0, 1.0, 1.0}, 0)}), plain_roofs());
  CHECK(report::why_no_point(untimed.rows.at(0)) == "no device time of a steady execution");
}

TEST_CASE("a page has the section where work is declared, with the cells and lines of the table, and nowhere else") {
  auto const plain = page_of(of_series({phase("a", std::nullopt)}));
  CHECK_FALSE(has(plain, "oofline"));
  auto const page = page_of(of_series({low(), phase("copy", sg::declared_work{0.0, 1e5, 1e5})}), plain_roofs());
  CHECK(has(page, "<a href=\"#roofline\">Roofline</a>"));
  CHECK(has(page, "<h2 id=\"roofline\">Roofline</h2>"));
  CHECK(has(page, "<td>10.00 G</td><td>10.00 G</td><td>1.000</td>"));
  CHECK(has(page, "<dt>memory</dt>\n<dd>100.0&#160;GB/s, given: by hand</dd>"));
  CHECK(has(page, "<dt>not drawn</dt>\n<dd>copy: it has no operations"));
  CHECK(has(page, "<span class=\"quiet\">10.0 % of memory</span>"));
  auto const none = page_of(of_series({phase("copy", sg::declared_work{0.0, 1e5, 1e5})}), plain_roofs());
  CHECK(has(none, "<p>no picture: no phase has a rate and an intensity above 0</p>"));
  CHECK(has(none, "<dd>copy: it has no operations"));
}

TEST_CASE("without a device, or without its attributes, the points stay and the reason stands where the roofs would") {
  auto of = of_series({low()});
  of.environment.why_no_device = "no <driver>";
  auto page = page_of(of);
  CHECK(has(page, "No roof is drawn: of the arithmetic, no device is described: no &lt;driver&gt;; of the memory, no device is "
                  "described: no &lt;driver&gt;."));
  CHECK(has(page, "<dt>arithmetic</dt>\n<dd>absent: no device is described: no &lt;driver&gt;</dd>"));
  CHECK(has(page, "class=\"spot c0\""));
  of.environment.devices.push_back({});
  of.environment.devices[0].name = "<b>";
  of.environment.devices[0].most_memory_mhz = 1000;
  of.environment.devices[0].memory_bus_bits = 512;
  page = page_of(of);
  // 2 transfers a cycle of 1 GHz on 64 bytes.
  CHECK(has(page, "The line is the roof of the memory of device 0, &lt;b&gt;; that of the arithmetic is absent: the device does not "
                  "tell its compute capability."));
  CHECK(has(page, "128.0&#160;GB/s"));
  CHECK(sg::roofs_of(of.environment).device == 0);
  CHECK(sg::roofs_of(sg::environment{}).flops.why_not == "no device is described");
}

TEST_CASE("two recordings have a roofline each, where they declare work, under the roofs of their own devices") {
  auto before = of_series({low()});
  before.environment.devices.push_back({});
  before.environment.devices[0].most_memory_mhz = 1000;
  before.environment.devices[0].memory_bus_bits = 512;
  auto after = before;
  after.environment.devices[0].memory_bus_bits = 1024;
  std::ostringstream out;
  report::html(out, before, after);
  CHECK(has(out.str(), "<h2 id=\"a-roofline\">"));
  CHECK(has(out.str(), "<a href=\"#b-roofline\">"));
  CHECK(count(out.str(), "<dd>128.0&#160;GB/s") == 1);
  CHECK(count(out.str(), "<dd>256.0&#160;GB/s") == 1);
  after.all[0].work.reset();
  out.str({});
  report::html(out, before, after);
  CHECK(has(out.str(), "a-roofline"));
  CHECK_FALSE(has(out.str(), "b-roofline"));
}

TEST_CASE("a name is no markup in the picture, its titles or the lists") {
  auto evil = low();
  evil.phase = "<script>\xe2\x80\xae\x01";
  auto copy = phase("\"><img src=x>", sg::declared_work{0.0, 1.0, 1.0});
  auto const page = page_of(of_series({evil, copy}), plain_roofs());
  CHECK_FALSE(has(page, "<script"));
  CHECK_FALSE(has(page, "<img"));
  CHECK_FALSE(has(page, "\xe2\x80\xae"));
  CHECK(has(page, "<title>&lt;script&gt;\\u202e\\x01: 1.000 flop/B"));
  CHECK(has(page, "class=\"said hide\">&lt;script&gt;\\u202e\\x01</text>"));
}
