// Without these: a document that a reader refuses after a run of hours, a member that it does not have, or a number that
// is another one when it comes back.

#include <streamgauge/report/recording_json.hpp>

#include <doctest/doctest.h>

#include <clocale>
#include <iomanip>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

#include "folder.hpp"
#include "made_recordings.hpp"
#include "shell.hpp"

namespace sg = streamgauge;
using sg::report::json_of;
using sg::report::part;

namespace {

// What Python makes of a document that it reads as strictly as it can: UTF-8, no NaN, no name twice. `print` sees it as d.
std::string python_on(std::string const& text, std::string const& print) {
  test_folder const in;
  put_text(in.file("document"), text);
  put_text(in.file("read.py"),
           "import json, sys\n"
           "def refuse(word): raise ValueError(word)\n"
           "def once(pairs):\n"
           "    if len(dict(pairs)) != len(pairs): raise ValueError('a name twice')\n"
           "    return dict(pairs)\n"
           "text = open('" + in.file("document") + "', 'rb').read().decode('utf-8', 'strict')\n"
           "d = json.loads(text, parse_constant=refuse, object_pairs_hook=once)\n" + print + "\n");
  return printed_by_shell("python3 " + in.file("read.py") + " 2>&1");
}

sg::recording small() {
  sg::recording made;
  made.environment.library_version = "0.1.0";
  made.all.resize(1);
  auto& all = made.all[0];
  all.phase = "copy";
  all.conditions = {{"rows", "256"}};
  all.warmup = 1;
  all.samples.resize(2);
  all.samples[0].entered = sg::nanoseconds{9'007'199'254'740'993};  // 2^53 + 1, which no double holds
  all.samples[0].submit = sg::nanoseconds{1500};
  all.samples[0].warmup = true;
  all.samples[1].submit = sg::absence::no_memory;
  all.samples[1].device = sg::nanoseconds{0};
  all.samples[1].parent = 0U;
  all.samples[1].waited = sg::wait_policy::spin;
  all.samples[1].stream = 1;
  made.streams.push_back({0, 7, sg::stream_kind::legacy});
  return made;
}

struct comma final : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("a recording is written with every key, null where something is absent") {
  std::string const text = json_of(small());
  std::string const expected = R"({
  "schema": "streamgauge.recording",
  "version": 1,
  "recorded": "time",
  "why_not_measured": null,
  "environment": {
    "library_version": "0.1.0",
    "driver_version": null,
    "runtime_version": null,
    "compiled_runtime_version": null,
    "devices": [],
    "why_no_device": null,
    "tool": null,
    "tool_sign": null,
    "host_floor_ns": null,
    "variables": [],
    "host": null,
    "cpu": null,
    "compiler": null,
    "compiled_as": null,
    "time": null,
    "command": null,
    "why_no_command": null,
    "given": [],
    "not_read": []
  },
  "all": [
    {
      "phase": "copy",
      "conditions": [
        {
          "key": "rows",
          "value": "256"
        }
      ],
      "kind": "undeclared",
      "domain": null,
      "warmup": 1,
      "work": null,
      "runs": 1,
      "lost": 0,
      "kept_one_in": 1,
      "totals": null,
      "samples": {
        "entered_ns": [9007199254740993,0],
        "submit_ns": [1500,null],
        "submit_absent": [null,"no_memory"],
        "device_ns": [null,0],
        "device_absent": ["not_asked",null],
        "completion_ns": [null,null],
        "completion_absent": ["not_asked","not_asked"],
        "queue_ns": [null,null],
        "queue_absent": ["not_asked","not_asked"],
        "begins_ns": [null,null],
        "begins_absent": ["not_asked","not_asked"],
        "parent": [null,0],
        "thread": [0,0],
        "records_inside": [0,0],
        "span": [null,null],
        "stream": [null,1],
        "part": ["none","none"],
        "waited": ["none","spin"],
        "warmup": [true,false],
        "watched": [false,false],
        "bound_ns": [null,null]
      },
      "summary": null
    }
  ],
  "problems": [],
  "clocks": [],
  "why_not_placed": null,
  "streams": [
    {
      "device": 0,
      "handle": 7,
      "kind": "legacy"
    }
  ],
  "runs": 1,
  "not_utf8": {},
  "not_finite": {}
}
)";
  CHECK(text == expected);
}

TEST_CASE("integers beyond 2^53 are exact, in Python too") {
  sg::recording made = small();
  made.all[0].lost = (std::numeric_limits<std::uint64_t>::max)();
  made.all[0].samples[0].entered = (sg::nanoseconds::min)();
  made.all[0].samples[1].entered = (sg::nanoseconds::max)();
  CHECK(python_on(json_of(made), "s = d['all'][0]; print(s['lost'], *s['samples']['entered_ns'])") ==
        "18446744073709551615 -9223372036854775808 9223372036854775807\n");
}

TEST_CASE("names come back from Python as they were, keys of conditions as well (case-89)") {
  std::string all;
  for (char each = 0; each < 0x20; ++each) all += each;
  all += "\"\\/\x7f\xe2\x80\xa8\xe2\x80\xae<script>=1+1";
  sg::recording made;
  for (std::string const& each : {all, std::string{}, std::string{"\0", 1}, std::string{"gr\xc3\xbc\xc3\x9f" "e"}}) {
    made.all.emplace_back();
    made.all.back().phase = each;
    made.all.back().conditions = {{each, each}};
    made.problems.push_back({each, each, 0, 1});
  }
  made.environment.command = std::vector<std::string>{all};
  std::string expected;
  for (auto const& each : made.all) expected += sg::report::in_hex(each.phase) + "\n";
  for (char const* const where : {"s['phase'] for s in d['all']", "s['conditions'][0]['key'] for s in d['all']",
                                  "s['conditions'][0]['value'] for s in d['all']", "p['phase'] for p in d['problems']",
                                  "p['text'] for p in d['problems']"})
    CHECK(python_on(json_of(made), std::string{"for t in ("} + where + "): print(t.encode().hex())") == expected);
  CHECK(python_on(json_of(made), "print(d['environment']['command'][0].encode().hex())") ==
        sg::report::in_hex(all) + "\n");
}

TEST_CASE("what is no UTF-8 reads as U+FFFD, and its bytes stand beside (case-90)") {
  sg::recording made;
  for (char const* const each : {"A\xff" "B", "\xe6\x97", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "fine"}) {
    made.all.emplace_back();
    made.all.back().phase = each;
  }
  made.environment.variables = {{"CUDA_\xff", "\xfe"}};
  CHECK(python_on(json_of(made), "print([s['phase'] for s in d['all']] == ['A\\ufffdB', '\\ufffd' * 2, '\\ufffd' * 3, "
                                 "'\\ufffd' * 2, '\\ufffd' * 4, 'fine'])\n"
                                 "for k in d['not_utf8']: print(k, d['not_utf8'][k])") ==
        "True\n"
        "/environment/variables/0/key 435544415fff\n"
        "/environment/variables/0/value fe\n"
        "/all/0/phase 41ff42\n"
        "/all/1/phase e697\n"
        "/all/2/phase eda080\n"
        "/all/3/phase c0af\n"
        "/all/4/phase f4908080\n");
}

TEST_CASE("a number that is none is null, and what it was stands beside (case-88)") {
  sg::recording made;
  made.all.resize(1);
  made.all[0].work = sg::declared_work{std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                       -std::numeric_limits<double>::infinity()};
  made.clocks.resize(1);
  made.clocks[0].drift = -0.0;
  made.clocks[0].limits.drift = 5.0;
  std::string const text = json_of(made);
  CHECK(python_on(text, "w = d['all'][0]['work']; print(w['flops'], w['bytes_read'], w['bytes_written'])\n"
                        "print(d['not_finite'])\n"
                        "print(d['clocks'][0]['drift'], d['clocks'][0]['limits']['drift'], d['clocks'][0]['drift_bound'])") ==
        "None None None\n"
        "{'/all/0/work/flops': 'nan', '/all/0/work/bytes_read': 'inf', '/all/0/work/bytes_written': '-inf'}\n"
        "-0.0 5.0 None\n");
}

TEST_CASE("no locale and no state of the stream has a say, and neither changes (case-91)") {
  sg::recording made = small();
  made.all[0].work = sg::declared_work{1234567.5, 1234567.0, {}};
  std::string const plain = json_of(made);
  CHECK(plain.find("\"flops\": 1234567.5,") != std::string::npos);
  std::locale const with_comma{std::locale::classic(), new comma};
  std::locale const before = std::locale::global(with_comma);
  std::setlocale(LC_ALL, "de_DE.UTF-8");  // where it is installed
  std::ostringstream out;
  out.imbue(with_comma);
  out << std::setw(40) << std::setprecision(2) << std::hex << std::showpos << std::setfill('*');
  auto const flags = out.flags();
  sg::report::write_json(out, made);
  CHECK(out.str() == plain);
  CHECK(json_of(made) == plain);
  CHECK(out.flags() == flags);
  CHECK(out.precision() == 2);
  CHECK(out.width() == 40);
  CHECK(out.fill() == '*');
  CHECK(out.getloc() == with_comma);
  std::setlocale(LC_ALL, "C");
  std::locale::global(before);
}

TEST_CASE("without its samples a document has the summaries, and its size does not grow") {
  sg::recording made = small();
  made.all[0].samples.clear();
  for (int i = 0; i < 100; ++i) {
    sg::sample one;
    one.submit = sg::nanoseconds{1000 + i};
    one.device = sg::absence::pool_full;
    made.all[0].samples.push_back(one);
  }
  std::string const text = json_of(made, sg::report::summaries_alone);
  CHECK(python_on(text, "s = d['all'][0]; m = s['summary']; print(s['samples'])\n"
                        "print(m['submit']['samples']['kept'], m['submit']['values']['steady']['median_ns'],"
                        " m['submit']['values']['steady']['minimum_ns'])\n"
                        "print(m['device']['samples']['dropped'], m['device']['samples']['absent'],"
                        " m['device']['values']['steady']['median_ns'])\n"
                        "print(m['latency'], m['span'], sorted(m['completion']['values']))") ==
        "None\n100 1049.5 1000\n100 {'pool_full': 100} None\nNone None ['block', 'none', 'spin']\n");
  std::size_t const small_size = text.size();
  for (int i = 0; i < 10'000; ++i) made.all[0].samples.push_back(made.all[0].samples[static_cast<std::size_t>(i) % 100]);
  CHECK(json_of(made, sg::report::summaries_alone).size() < 2 * small_size);
  CHECK(python_on(json_of(made, {part::left_out, part::left_out}), "print(d['all'][0]['summary'])") == "None\n");
}

TEST_CASE("a handle that was never entered has no summary of its own") {
  sg::recording made = small();
  made.all.emplace_back();
  made.all.back().phase = "copy";
  CHECK(python_on(json_of(made, {part::included, part::included}),
                  "print([s['summary'] is None for s in d['all']])") == "[False, True]\n");
}

TEST_CASE("no phase, ten thousand phases and none with a sample are documents like any other") {
  CHECK(python_on(json_of({}), "print(d['all'], d['recorded'])") == "[] time\n");
  sg::recording made;
  for (int i = 0; i < 10'000; ++i) {
    made.all.emplace_back();
    made.all.back().phase = "phase " + std::to_string(i);
  }
  CHECK(python_on(json_of(made, {part::included, part::included}),
                  "print(len(d['all']), d['all'][9999]['phase'], d['all'][0]['samples']['bound_ns'])") ==
        "10000 phase 9999 []\n");
}

TEST_CASE("a choice that is none of the words is null, never a word beside it") {
  sg::recording made = small();
  made.recorded = static_cast<sg::mode>(77);
  made.all[0].samples[0].part = static_cast<sg::span_part>(3);
  CHECK(python_on(json_of(made), "print(d['recorded'], d['all'][0]['samples']['part'])") == "None [None, 'none']\n");
}

TEST_CASE("whatever a recording holds, Python reads the document, and every series with its samples") {
  drawn_recordings drawn{2026, drawn_times::to_be_summed};
  for (int i = 0; i < 40; ++i) {
    sg::recording const made = drawn.next();
    std::string expected = std::to_string(made.all.size()) + "\n";
    for (auto const& each : made.all)
      expected += sg::report::in_hex(sg::report::as_utf8(each.phase)) + " " + std::to_string(each.samples.size()) + "\n";
    auto const found =
        python_on(json_of(made, {part::included, i % 2 == 0 ? part::included : part::left_out}),
                  "print(len(d['all']))\n"
                  "for s in d['all']: print(s['phase'].encode().hex(), *{len(c) for c in s['samples'].values()})");
    CHECK(found == expected);
  }
}
