// Without these: columns that shift at a comma in a name, and a name that a spreadsheet runs.

#include <streamgauge/report/csv.hpp>

#include <doctest/doctest.h>

#include <locale>
#include <string>

#include "folder.hpp"
#include "made_recordings.hpp"
#include "shell.hpp"

namespace sg = streamgauge;
using sg::report::csv_text;
using sg::report::samples_csv;
using sg::report::summary_csv;

namespace {

// What Python's csv makes of it, strictly; `print` sees the rows as `rows` and those by name as `named`.
std::string python_on(std::string const& text, std::string const& print) {
  test_folder const in;
  put_text(in.file("document"), text);
  put_text(in.file("read.py"),
           "import csv, io\n"
           "text = open('" + in.file("document") + "', 'rb').read().decode('utf-8', 'strict')\n"
           "rows = list(csv.reader(io.StringIO(text, newline=''), strict=True))\n"
           "assert all(len(row) == len(rows[0]) for row in rows)\n"
           "named = [dict(zip(rows[0], row)) for row in rows[1:]]\n" + print + "\n");
  return printed_by_shell("python3 " + in.file("read.py") + " 2>&1");
}

sg::recording one_of(std::string const& phase, std::vector<sg::condition> conditions = {}) {
  sg::recording made;
  made.all.resize(1);
  made.all[0].phase = phase;
  made.all[0].conditions = std::move(conditions);
  made.all[0].samples.resize(1);
  made.all[0].samples[0].submit = sg::nanoseconds{1500};
  return made;
}

}  // namespace

TEST_CASE("samples are rows with every column, empty where something is absent") {
  sg::recording made = one_of("copy", {{"rows", "256"}});
  made.all[0].samples[0].entered = sg::nanoseconds{-7};
  made.all.push_back(made.all[0]);
  made.all[1].phase = "sum";
  made.all[1].conditions = {{"type", "f32"}};
  made.all[1].samples[0].parent = 0U;
  made.all[1].samples[0].device = sg::absence::pool_full;
  made.all[1].samples[0].queue = sg::nanoseconds{3};
  made.all[1].samples[0].waited = sg::wait_policy::block;
  made.all[1].samples[0].warmup = true;
  CHECK(samples_csv(made) ==
        "series,phase,condition rows,condition type,sample,entered_ns,submit_ns,submit_absent,device_ns,device_absent,"
        "completion_ns,completion_absent,queue_ns,queue_absent,begins_ns,begins_absent,parent,thread,records_inside,span,"
        "stream,part,waited,warmup,watched,bound_ns\r\n"
        "0,copy,256,,0,-7,1500,,,not_asked,,not_asked,,not_asked,,not_asked,,0,0,,,none,none,false,false,\r\n"
        "1,sum,,f32,0,-7,1500,,,pool_full,,not_asked,3,,,not_asked,0,0,0,,,none,block,true,false,0\r\n");
}

TEST_CASE("a name with anything in it stays one field, in the head as well (case-98)") {
  for (std::string const name :
       {"f<int, 4>\n\"x\"", "a,b", "\"", "a\r\n", "a\r", "", " a ", "\xe2\x80\xaegr\xc3\xbc\xc3\x9f" "e", "<script>"}) {
    std::string const expected = sg::report::in_hex(name) + " " + sg::report::in_hex("condition " + name) + " " +
                                 sg::report::in_hex(name) + " 1500\n";
    for (auto const how : {csv_text::plain, csv_text::spreadsheet})
      CHECK(python_on(samples_csv(one_of(name, {{name, name}}), how),
                      "print(*(t.encode().hex() for t in (rows[1][1], rows[0][2], rows[1][2])), named[0]['submit_ns'])") ==
            expected);
  }
}

TEST_CASE("a byte that is no UTF-8, and a zero byte, are U+FFFD") {
  CHECK(python_on(samples_csv(one_of(std::string{"a\xff\0b", 4})), "print(rows[1][1] == 'a\\ufffd\\ufffdb')") == "True\n");
}

TEST_CASE("a spreadsheet runs no name, and every name can be told from another") {
  auto const shown = [](std::string const& name) {
    return python_on(samples_csv(one_of(name), csv_text::spreadsheet), "print(repr(rows[1][1]))");
  };
  CHECK(shown("=1+1") == "\"'=1+1\"\n");
  CHECK(shown("+1") == "\"'+1\"\n");
  CHECK(shown("-1") == "\"'-1\"\n");
  CHECK(shown("@SUM(A1)") == "\"'@SUM(A1)\"\n");
  CHECK(shown("\t=1") == "\"'\\t=1\"\n");
  CHECK(shown("\r=1") == "\"'\\r=1\"\n");
  CHECK(shown("\n=1") == "\"'\\n=1\"\n");
  CHECK(shown("'=1") == "\"''=1\"\n");
  CHECK(shown("plain") == "'plain'\n");
  CHECK(shown("a=1") == "'a=1'\n");
  // Quoted always: in some countries a semicolon separates.
  auto const text = samples_csv(one_of("a;=1+1"), csv_text::spreadsheet);
  CHECK(text.find("\r\n0,\"a;=1+1\",0,") != std::string::npos);
  // Numbers are no texts, also below zero; and without the choice names are as they are.
  auto below = one_of("=1+1");
  below.all[0].samples[0].entered = sg::nanoseconds{-7};
  CHECK(samples_csv(below, csv_text::spreadsheet).find("\"'=1+1\",0,-7,1500") != std::string::npos);
  CHECK(samples_csv(below).find("\r\n0,=1+1,0,-7,1500") != std::string::npos);
}

TEST_CASE("a key that a series has twice has two columns") {
  auto made = one_of("p", {{"k", "1"}, {"k", "2"}});
  made.all.push_back(one_of("q", {{"k", "3"}}).all[0]);
  CHECK(python_on(samples_csv(made), "print(rows[0][2:4], rows[1][2:4], rows[2][2:4])") ==
        "['condition k', 'condition k'] ['1', '2'] ['3', '']\n");
}

TEST_CASE("summaries are rows for each observable, way of waiting and stage") {
  sg::recording made = one_of("=copy", {{"rows", "256"}});
  auto& samples = made.all[0].samples;
  samples[0].warmup = true;
  for (int i = 1; i <= 4; ++i) {
    sg::sample one;
    one.submit = sg::nanoseconds{i * 10};
    one.device = i == 4 ? sg::observation{sg::absence::pool_full} : sg::nanoseconds{i};
    one.completion = sg::nanoseconds{i};
    one.waited = sg::wait_policy::spin;
    samples.push_back(one);
  }
  auto const text = summary_csv(made);
  CHECK(text.find("series,depth,phase,condition rows,observable,clock,waited,stage,entered,kept,dropped,incomplete,"
                  "not_asked,count,median_ns,minimum_ns,maximum_ns,") == 0);
  CHECK(python_on(text,
                  "for r in named: print(r['observable'], r['clock'], r['waited'] or '-', r['stage'], r['entered'], r['kept'],"
                  " r['dropped'], r['not_asked'], r['count'], r['median_ns'] or '-', r['maximum_ns'] or '-')\n"
                  "print({r['phase'] for r in named}, {r['condition rows'] for r in named})") ==
        "submit host - warmup 5 5 0 0 1 1500 1500\n"
        "submit host - steady 5 5 0 0 4 25 40\n"
        "device device - warmup 4 3 1 1 0 - -\n"
        "device device - steady 4 3 1 1 3 2 3\n"
        "completion host spin warmup 4 4 0 1 0 - -\n"
        "completion host spin steady 4 4 0 1 4 2.5 4\n"
        "completion host block warmup 4 4 0 1 0 - -\n"
        "completion host block steady 4 4 0 1 0 - -\n"
        "{'=copy'} {'256'}\n");
  CHECK(python_on(summary_csv(sg::summarize(made), csv_text::spreadsheet), "print({r['phase'] for r in named})") ==
        "{\"'=copy\"}\n");
}

TEST_CASE("nothing measured is a head alone") {
  CHECK(python_on(samples_csv({}), "print(len(rows), rows[0][:3])") == "1 ['series', 'phase', 'sample']\n");
  CHECK(python_on(summary_csv(sg::recording{}), "print(len(rows))") == "1\n");
}

TEST_CASE("whatever names hold, Python reads as many rows as there are samples") {
  drawn_recordings drawn{7, drawn_times::to_be_summed};
  for (int i = 0; i < 40; ++i) {
    sg::recording const made = drawn.next();
    std::size_t samples = 0;
    for (auto const& each : made.all) samples += each.samples.size();
    auto const how = i % 2 == 0 ? csv_text::plain : csv_text::spreadsheet;
    CHECK(python_on(samples_csv(made, how), "print(len(named))") == std::to_string(samples) + "\n");
    CHECK(python_on(summary_csv(made, how), "print(len(named) % 2)") == "0\n");
  }
}

TEST_CASE("every line ends alike, and no locale has a say (case-91)") {
  struct comma final : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    std::string do_grouping() const override { return "\3"; }
  };
  sg::recording const made = one_of("copy");
  auto const before = summary_csv(made) + samples_csv(made);
  std::locale const old = std::locale::global(std::locale{std::locale::classic(), new comma});
  CHECK(summary_csv(made) + samples_csv(made) == before);
  std::locale::global(old);
  std::size_t ends = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i] != '\n') continue;
    CHECK(before[i - 1] == '\r');
    ++ends;
  }
  CHECK(ends == 2 + 1 + 8);
}
