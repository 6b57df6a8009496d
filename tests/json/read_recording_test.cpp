// Without these: a recording that comes back as another one, or a document that was damaged and is believed.

#include <streamgauge/report/read_recording.hpp>

#include <doctest/doctest.h>

#include <clocale>
#include <limits>
#include <string>
#include <vector>

#include <streamgauge/report/file.hpp>
#include <streamgauge/report/same_recording.hpp>

#include "../unit/folder.hpp"
#include "../unit/made_recordings.hpp"

namespace sg = streamgauge;
using nlohmann::json;
using sg::report::json_of;
using sg::report::part;
using sg::report::read_recording;

namespace {

sg::recording small() {
  sg::recording made;
  made.all.resize(1);
  auto& all = made.all[0];
  all.phase = "copy";
  all.samples.resize(3);
  all.samples[0].submit = sg::nanoseconds{1500};
  all.samples[1].device = sg::nanoseconds{0};
  all.samples[2].parent = 0U;
  made.streams.push_back({0, 7, sg::stream_kind::legacy});
  return made;
}

// A series long enough to be thinned, of every magnitude.
sg::series thinned() {
  sg::series made;
  made.phase = "long";
  for (int i = 0; i < 5000; ++i) {
    sg::sample one;
    one.entered = sg::nanoseconds{i};
    one.warmup = i < 10;
    one.waited = static_cast<sg::wait_policy>(i % 3);
    one.submit = sg::nanoseconds{(std::int64_t{1} << (i % 57)) + i % 7};
    one.device = i % 5 == 0 ? sg::observation{sg::absence::pool_full} : sg::nanoseconds{i};
    one.completion = sg::nanoseconds{1'000'000 + i};
    one.records_inside = static_cast<std::uint32_t>(i % 4);
    made.samples.push_back(one);
  }
  sg::thin_to(8, made);
  return made;
}

// The document with one place changed; null takes it out.
std::string with(std::string const& place, json const& value) {
  json document = json::parse(json_of(small()));
  document[json::json_pointer{place}] = value;
  return document.dump();
}
std::string without(std::string const& above, std::string const& key) {
  json document = json::parse(json_of(small()));
  document[json::json_pointer{above}].erase(key);
  return document.dump();
}
std::string why_not(std::string const& text) {
  auto const read = read_recording(text);
  CHECK_FALSE(read);
  return read.why_not;
}

}  // namespace

TEST_CASE("a recording that goes through a file is equal to itself") {
  test_folder const in;
  sg::recording made = small();
  made.all.push_back(thinned());
  made.all[0].phase = "A\xff" "B";
  made.clocks.resize(1);
  made.clocks[0].drift = -0.0;
  made.clocks[0].drift_bound = std::numeric_limits<double>::quiet_NaN();
  REQUIRE(sg::report::write_file(in.file("run.json"), json_of(made)));
  auto const file = sg::report::read_file(in.file("run.json"));
  REQUIRE(file);
  auto const read = read_recording(*file.text);
  CHECK(read.why_not.empty());
  REQUIRE(read);
  CHECK(sg::report::difference(made, *read.taken).empty());
  CHECK(sg::report::same(made, *read.taken));
  // What a long series amounts to is the same as well, though most of its samples were not kept.
  auto const before = sg::summarize(made.all[1]);
  auto const after = sg::summarize(read.taken->all[1]);
  CHECK(before.submit.samples.kept == 5000);
  CHECK(after.submit.samples.kept == 5000);
  CHECK(before.submit.values.steady.q99 == after.submit.values.steady.q99);
  CHECK(before.submit.values.steady.mean == after.submit.values.steady.mean);
  CHECK(before.device.values.steady.sample_stddev == after.device.values.steady.sample_stddev);
  CHECK(json_of(*read.taken) == *file.text);
}

TEST_CASE("whatever a recording holds comes back, and is written as the same document again") {
  drawn_recordings any{1};
  drawn_recordings summed{2, drawn_times::to_be_summed};
  for (int i = 0; i < 1000; ++i) {
    sg::recording const made = i % 16 == 0 ? summed.next() : any.next();
    std::string const text = json_of(made, {part::included, i % 16 == 0 ? part::included : part::left_out});
    auto const read = read_recording(text);
    REQUIRE_MESSAGE(read.why_not.empty(), i);
    REQUIRE_MESSAGE(sg::report::difference(made, *read.taken).empty(), i);
    if (i % 16 != 0) REQUIRE_MESSAGE(json_of(*read.taken) == text, i);
  }
}

TEST_CASE("a limit that is none takes every file") {
  test_folder const in;
  REQUIRE(sg::report::write_file(in.file("run.json"), json_of(small())));
  auto const read = sg::report::read_recording_file(in.file("run.json"), {(std::numeric_limits<std::size_t>::max)(), 32});
  CHECK(read.why_not == "");
  CHECK(sg::report::read_recording_file(in.file("run.json"), {10, 32}).why_not ==
        "cannot read " + in.file("run.json") + ": it has more than 11 bytes");
}

TEST_CASE("a decimal comma in the locale changes nothing that is read") {
  if (!std::setlocale(LC_ALL, "de_DE.UTF-8")) MESSAGE("de_DE.UTF-8 is not installed: read in the locale C alone");
  sg::recording made = small();
  made.all[0].work = sg::declared_work{0.1, 1234567.5, 1e300};
  auto const read = read_recording(json_of(made));
  std::setlocale(LC_ALL, "C");
  REQUIRE(read);
  CHECK(sg::report::same(made, *read.taken));
}

TEST_CASE("a difference is named by its place") {
  sg::recording const made = small();
  auto const named = [&](auto change) {
    sg::recording other = made;
    change(other);
    return sg::report::difference(made, other);
  };
  CHECK(named([](sg::recording&) {}) == "");
  CHECK(named([](sg::recording& r) { r.all[0].samples[2].device = sg::nanoseconds{1}; }) == "/all/0/samples/2/device");
  CHECK(named([](sg::recording& r) { r.all[0].samples.pop_back(); }) == "/all/0/samples/2");
  CHECK(named([](sg::recording& r) { r.all[0].totals.emplace(); }) == "/all/0/totals");
  CHECK(named([](sg::recording& r) { r.environment.given.push_back({"a", "b"}); }) == "/environment/given/0");
}

TEST_CASE("what is wrong is named with its place and what was expected") {
  CHECK(why_not(with("/all/0/samples/device_ns/1", "12")) ==
        "/all/0/samples/device_ns/1: a whole number from -9223372036854775808 to 9223372036854775807 was expected, and "
        "\"12\" found");
  CHECK(why_not(with("/all/0/samples/thread/2", 4294967296)) ==
        "/all/0/samples/thread/2: a whole number from 0 to 4294967295 was expected, and 4294967296 found");
  CHECK(why_not(with("/all/0/samples/thread/2", -1)) ==
        "/all/0/samples/thread/2: a whole number from 0 to 4294967295 was expected, and -1 found");
  CHECK(why_not(with("/all/0/samples/entered_ns/0", 1.0)) ==
        "/all/0/samples/entered_ns/0: a whole number from -9223372036854775808 to 9223372036854775807 was expected, and "
        "1.0 found");
  CHECK(why_not(with("/all/0/samples/device_ns/1", -5)) == "/all/0/samples/device_ns/1: a time below zero");
  CHECK(why_not(with("/all/0/samples/device_absent/1", "pool_full")) ==
        "/all/0/samples/device_ns/1: a time, and a reason why there is none");
  CHECK(why_not(with("/all/0/samples/submit_ns/0", nullptr)).find("/all/0/samples/submit_ns/0: one of none, not_asked") ==
        0);
  CHECK(why_not(with("/all/0/samples/warmup", json::array({true, false}))) ==
        "/all/0/samples/warmup: 3 values were expected, one for each sample, and 2 found");
  CHECK(why_not(with("/all/0/samples/queue_absent", json::array({}))) ==
        "/all/0/samples/queue_absent: 3 values were expected, one for each sample, and 0 found");
  CHECK(why_not(with("/all/0/samples/warmup/1", 1)) ==
        "/all/0/samples/warmup/1: true or false was expected, and 1 found");
  CHECK(why_not(with("/all/0/samples/waited/1", "poll")) ==
        "/all/0/samples/waited/1: one of none, spin, block was expected, and \"poll\" found");
  CHECK(why_not(with("/all/0/samples/entered_ns", 7)).find("/all/0/samples/entered_ns: a list was expected") == 0);
  CHECK(why_not(with("/all/0/phase", nullptr)) == "/all/0/phase: a text was expected, and null found");
  CHECK(why_not(with("/all/0/work", json::array())) == "/all/0/work: an object was expected, and an array found");
  CHECK(why_not(with("/recorded", "both")) == "/recorded: one of off, mark, time was expected, and \"both\" found");
  CHECK(why_not(with("/all/0/samples", nullptr)) ==
        "/all/0/samples: the samples were left out when this was written, so it is a recording no more");
  CHECK(why_not("[]") == "/: an object was expected, and an array found");
}

TEST_CASE("a time that no clock gives is refused, on either side of 0 and wherever it stands") {
  constexpr std::int64_t most = std::int64_t{1} << 57;
  std::string const behind = " ns, and no more than 144115188075855872 are read";
  CHECK(read_recording(with("/all/0/samples/entered_ns/0", most)));
  CHECK(read_recording(with("/all/0/samples/entered_ns/0", -most)));
  CHECK(why_not(with("/all/0/samples/entered_ns/0", most + 1)) ==
        "/all/0/samples/entered_ns/0: no clock gives such a time: 144115188075855873" + behind);
  CHECK(why_not(with("/all/0/samples/entered_ns/0", -most - 1)) ==
        "/all/0/samples/entered_ns/0: no clock gives such a time: -144115188075855873" + behind);
  CHECK(why_not(with("/all/0/samples/device_ns/1", (std::numeric_limits<std::int64_t>::max)())) ==
        "/all/0/samples/device_ns/1: no clock gives such a time: 9223372036854775807" + behind);
  CHECK(why_not(with("/all/0/samples/bound_ns/1", most + 1)).find("/all/0/samples/bound_ns/1: no clock gives") == 0);
  CHECK(why_not(with("/environment/host_floor_ns", most + 1)).find("/environment/host_floor_ns: no clock gives") == 0);
  // Nor is it counted in what a long series amounts to.
  sg::recording made;
  made.all.push_back(thinned());
  CHECK(read_recording(json_of(made)));
  sg::sample one;
  one.submit = sg::nanoseconds{most + 1};
  REQUIRE(made.all[0].totals->add(one));
  CHECK(why_not(json_of(made)) ==
        "/all/0/totals/submit/steady/values: no clock gives such a time: 144115188075855873" + behind);
}

TEST_CASE("a member that is missing, unknown or there twice is refused") {
  CHECK(why_not(without("/all/0", "lost")) == "/all/0: \"lost\" is missing");
  CHECK(why_not(without("/all/0/samples", "bound_ns")) == "/all/0/samples: \"bound_ns\" is missing");
  CHECK(why_not(without("/all/0", "summary")) == "/all/0: \"summary\" is missing");
  CHECK(why_not(with("/environment/weather", "fine")) == "/environment: \"weather\" is unknown here");
  CHECK(why_not(with("/notes", "fine")) == "/: \"notes\" is unknown here");
  CHECK(why_not(R"({"schema": "streamgauge.recording", "schema": 1})") == "/schema: this member stands there twice");
  CHECK(why_not(R"({"a": [0, {"b": {"c": 1, "c": 2}}]})") == "/a/1/b/c: this member stands there twice");
}

TEST_CASE("another schema and another version are named before anything else") {
  CHECK(why_not("{}") == "/schema: no document of the schema \"streamgauge.recording\"");
  CHECK(why_not(with("/schema", "trace")) == "/schema: no document of the schema \"streamgauge.recording\"");
  CHECK(why_not(with("/version", 2)) == "/version: streamgauge 0.1.0 reads version 1, and 2 found");
  CHECK(why_not(with("/version", "1")) == "/version: a version was expected");
  CHECK(why_not(with("/version", 1.0)) == "/version: a version was expected");
  CHECK(why_not(R"({"schema": "streamgauge.recording", "version": 99, "all": 5})") ==
        "/version: streamgauge 0.1.0 reads version 1, and 99 found");
}

TEST_CASE("bytes and numbers that stand beside must fit the place that they stand for") {
  CHECK(why_not(with("/not_utf8", {{"/all/0/phase", "636f7079ff"}})) ==
        "/all/0/phase: its bytes in not_utf8 are not those of this text");
  CHECK(why_not(with("/not_utf8", {{"/all/0/phase", "zz"}})) ==
        "/all/0/phase: its bytes in not_utf8 are not those of this text");
  CHECK(why_not(with("/not_utf8", {{"/all/0/phase", 7}})) ==
        "/all/0/phase: its bytes in not_utf8 are not those of this text");
  CHECK(why_not(with("/not_utf8", {{"/all/7/phase", "ff"}})) == "/not_utf8: nothing stands at \"/all/7/phase\"");
  CHECK(why_not(with("/not_finite", {{"/all/0/lost", "nan"}})) == "/not_finite: nothing stands at \"/all/0/lost\"");
  CHECK(why_not(with("/not_finite", nullptr)) == "/not_finite: an object was expected");
  sg::recording made = small();
  made.all[0].work = sg::declared_work{std::numeric_limits<double>::infinity(), {}, {}};
  json document = json::parse(json_of(made));
  document["not_finite"]["/all/0/work/flops"] = "huge";
  CHECK(why_not(document.dump()) == "/all/0/work/flops: nan, inf or -inf was expected in not_finite");
}

TEST_CASE("buckets that are none of a histogram are refused") {
  sg::recording made;
  made.all.push_back(thinned());
  json const good = json::parse(json_of(made));
  REQUIRE(read_recording(good.dump()));
  auto const place = std::string{"/all/0/totals/submit/steady/values"};
  auto const broken = [&](std::string const& member, json const& value) {
    json document = good;
    document[json::json_pointer{place + member}] = value;
    return why_not(document.dump());
  };
  auto const expected = place + ": these are no buckets, extremes and count of one histogram";
  CHECK(broken("/count", 1) == expected);
  CHECK(broken("/minimum", 0) == expected);
  CHECK(broken("/maximum", nullptr) == expected);
  CHECK(broken("/first/3", 1) == expected);
  CHECK(broken("/width/3", 2) == expected);
  CHECK(broken("/counts/3", 0) == expected);
  CHECK(broken("/counts/3", (std::numeric_limits<std::uint64_t>::max)()) == expected);
  CHECK(broken("/counts", json::array()) == expected);
  CHECK(broken("/first/0", -4) == expected);
}

TEST_CASE("totals that cannot be what so many executions amount to are refused") {
  sg::recording made;
  made.all.push_back(thinned());
  json const good = json::parse(json_of(made));
  std::string const totals = "/all/0/totals";
  std::string const steady = "/all/0/totals/submit/steady";
  auto const broken = [&](std::string const& place, json const& value) {
    json document = good;
    document[json::json_pointer{place}] = value;
    return why_not(document.dump());
  };
  std::string const count = totals + ": values and reasons do not add up to the count of each observable";
  CHECK(broken(totals + "/count", 4999) == count);
  CHECK(broken(totals + "/device/absent/pool_full", 1001) == count);
  CHECK(broken(totals + "/completion/spin/absent/no_memory", 1) == count);
  CHECK(broken(totals + "/watched", 5001) == totals + ": more were watched than there are");
  CHECK(broken(totals + "/fewest_records_inside", 4) == totals + ": the fewest records inside are more than the most");
  CHECK(broken(totals + "/most_records_inside", nullptr) == totals + ": the fewest records inside are more than the most");
  std::string const sum = steady + ": the sum is none of so many numbers from the smallest to the largest";
  CHECK(broken(steady + "/sum_ns/high", (std::numeric_limits<std::uint64_t>::max)()) == sum);
  CHECK(broken(steady + "/sum_ns", {{"high", 0}, {"low", 0}}) == sum);
  std::string const mean = steady + ": the mean is not between the smallest and the largest number";
  CHECK(broken(steady + "/mean_ns", 1e18) == mean);
  CHECK(broken(steady + "/mean_ns", -1.0) == mean);
  CHECK(broken(steady + "/squared_deviations", -1.0) == steady + ": squared deviations are a number of at least 0");
  CHECK(broken("/all/0/kept_one_in", 3) == "/all/0: one sample is kept in a power of two, and in 3 found");
  CHECK(broken("/all/0/kept_one_in", 0) == "/all/0: one sample is kept in a power of two, and in 0 found");
  CHECK(broken("/all/0/totals", nullptr) == "/all/0: not every sample was kept, and there are no totals of all");
  // Of no number at all there is no sum.
  sg::recording none;
  none.all.resize(1);
  none.all[0].totals.emplace();
  json document = json::parse(json_of(none));
  CHECK(read_recording(document.dump()));
  document[json::json_pointer{steady + "/sum_ns/low"}] = 1;
  CHECK(why_not(document.dump()) == steady + ": these are sums of no number at all");
}

TEST_CASE("what is no JSON, too large or too deep is refused before it costs anything") {
  std::string const good = json_of(small());
  for (std::size_t size = 0; size + 1 < good.size(); ++size) REQUIRE_FALSE(read_recording(good.substr(0, size)));
  CHECK(why_not(good + "x").find("no JSON: ") == 0);
  CHECK(why_not(std::string{good}.insert(good.size(), 1, '\0')).find("no JSON: a zero byte at byte ") == 0);
  CHECK(why_not("{\"a\": NaN}").find("no JSON: ") == 0);
  CHECK(why_not("{\"a\": 1e999}").find("no JSON: ") == 0);
  CHECK(why_not("{\"\xff\": 1}").find("no JSON: ") == 0);
  CHECK(why_not("").find("no JSON: ") == 0);
  CHECK(sg::report::read_recording(good, {10, 32}).why_not ==
        "the document has " + std::to_string(good.size()) + " bytes, and no more than 10 are read (read_limits::bytes)");
  CHECK(why_not(std::string(1'000'000, '[')).find("/0/0/0") == 0);
  CHECK(why_not(std::string(1'000'000, '[')).find(": nested deeper than 32 levels") != std::string::npos);
  CHECK(sg::report::read_recording("{\"a\": [[1]]}", {100, 2}).why_not == "/a/0: nested deeper than 2 levels");
}

TEST_CASE("a document that was damaged anywhere is read as it stands, or refused with a place") {
  drawn_recordings drawn{3};
  std::string const tokens[] = {"null", "-1", "1e5", "{}", "[]", "\"\"", "18446744073709551616", "true", ",", "\\u0000", "\""};
  std::size_t read_anyhow = 0;
  for (int round = 0; round < 150; ++round) {
    std::string const good = json_of(drawn.next());
    for (int change = 0; change < 25; ++change) {
      std::string damaged = good;
      for (auto times = drawn.below(3) + 1; times > 0; --times) {
        auto const at = static_cast<std::size_t>(drawn.below(damaged.size()));
        auto const length = static_cast<std::size_t>(drawn.below(20));
        switch (drawn.below(5)) {
          case 0: damaged[at] = static_cast<char>(drawn.below(256)); break;
          case 1: damaged.erase(at, length); break;
          case 2: damaged.insert(at, tokens[drawn.below(sizeof tokens / sizeof *tokens)]); break;
          case 3: damaged.insert(at, damaged.substr(static_cast<std::size_t>(drawn.below(damaged.size())), length)); break;
          default: damaged.resize(at + 1);
        }
      }
      auto const read = read_recording(damaged);
      REQUIRE(read.taken.has_value() == read.why_not.empty());
      if (!read) {
        bool const has_place = read.why_not.front() == '/' || read.why_not.find("no JSON: ") == 0;
        REQUIRE_MESSAGE(has_place, read.why_not);
        continue;
      }
      // What was taken is all that stands there: it is written as a document of the same values.
      ++read_anyhow;
      json before = json::parse(damaged);
      for (auto& each : before["all"]) each["summary"] = nullptr;
      json const after = json::parse(json_of(*read.taken));
      before["not_utf8"] = after["not_utf8"];
      REQUIRE_MESSAGE(before == after, json::diff(before, after).dump());
    }
  }
  CHECK(read_anyhow > 50);
}

TEST_CASE("a value of any kind at any place is refused or read, never a crash") {
  sg::recording made = small();
  made.all.push_back(made.all[0]);
  sg::thin_to(2, made.all[1]);
  made.all[1].work.emplace();
  made.environment.devices.resize(1);
  made.environment.devices[0].readings.resize(1);
  made.environment.command = std::vector<std::string>{"a"};
  made.problems.resize(1);
  made.clocks.resize(1);
  json document = json::parse(json_of(made));
  json const flat = document.flatten();
  std::size_t refused = 0;
  for (auto const& [place, unused] : flat.items()) {
    for (json const& other : {json(nullptr), json(-1), json(0.5), json("x"), json::array(), json::object(), json(true)}) {
      for (json::json_pointer at{place}; !at.empty(); at = at.parent_pointer()) {
        json const before = document[at];
        document[at] = other;
        auto const read = sg::report::recording_of(document);
        REQUIRE(read.taken.has_value() == read.why_not.empty());
        if (!read) ++refused;
        document[at] = before;
      }
    }
  }
  CHECK(sg::report::same(*sg::report::recording_of(document).taken, made));
  CHECK(refused > 3000);
}
