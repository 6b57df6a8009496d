// STREAMGAUGE_CAPTURE and its like in code: which phase's executions are captured, without a compiler.

#include <streamgauge/measure/capture_window.hpp>

#include <cstdlib>

#include "windows_seen.hpp"

using namespace std::chrono_literals;
using namespace windows_seen;
using sg::capture_choice;
using sg::capture_window;

namespace {

class environment_says {
 public:
  explicit environment_says(char const* value) { setenv("STREAMGAUGE_CAPTURE", value, 1); }
  ~environment_says() { unsetenv("STREAMGAUGE_CAPTURE"); }
  environment_says(environment_says const&) = delete;
  environment_says& operator=(environment_says const&) = delete;
};

/// "name|first|count|repeat", with a dash for a first that is left out; or what is wrong.
std::string read(char const* value) {
  capture_choice const found = capture_choice::read(value);
  if (!found.malformed.empty()) return found.malformed;
  return found.phase + '|' + (found.plan.before ? std::to_string(*found.plan.before) : "-") + '|' +
         std::to_string(found.plan.active) + '|' + std::to_string(found.plan.repeat);
}

}  // namespace

TEST_CASE("numbers are taken from the right, and a colon at the end ends the name") {
  struct {
    char const* value;
    char const* means;
  } const cases[] = {
      {"step", "step|-|1|1"},
      {"step:20", "step|20|1|1"},
      {"step:20:5", "step|20|5|1"},
      {"step:20:5:3", "step|20|5|3"},
      {"step:0:1:0", "step|0|1|0"},
      {"step:", "step|-|1|1"},
      {"ns::f", "ns::f|-|1|1"},
      {"ns::f:20", "ns::f|20|1|1"},
      {"ns::f:20:5", "ns::f|20|5|1"},
      {"a::b::c:1:2:3", "a::b::c|1|2|3"},
      {"block:2:", "block:2|-|1|1"},
      {"block:2::20", "block:2|20|1|1"},
      {"block:2::20:5:1", "block:2|20|5|1"},
      {"ns::", "ns:|-|1|1"},
      {"a:1:2:3:4", "a:1|2|3|4"},
      {"20", "20|-|1|1"},
      {"step:x", "step:x|-|1|1"},
      {"step:-1", "step:-1|-|1|1"},
      {"two words:7", "two words|7|1|1"},
      {"step:007", "step|7|1|1"},
  };
  for (auto const& each : cases) {
    CAPTURE(std::string{each.value});
    CHECK(read(each.value) == each.means);
  }
}

TEST_CASE("a value that names no phase, or counts nothing, or too far, is malformed") {
  CHECK(read("") == "it names no phase");
  CHECK(read(":") == "it names no phase");
  CHECK(read(":20") == "it names no phase");
  CHECK(read("::20:5") == "it names no phase");
  CHECK(read("step:20:0") == "its count is 0");
  CHECK(read("step:99999999999999999999") == "a number in it is too large");
  CHECK(read("step:1:18446744073709551616:1") == "a number in it is too large");
}

TEST_CASE_FIXTURE(program, "one line drives a window from the environment") {
  struct {
    char const* value;
    char const* seen;
  } const cases[] = {
      {"", "kkkkkkkk"},           {"step", "[k]kkkkkkk"},         {"step:2", "kk[k]kkkkk"},
      {"step:2:3", "kk[kkk]kkk"}, {"step:1:2:2", "k[kk]k[kk]kk"}, {"step:1:1:0", "k[k]k[k]k[k]k[k]"},
      {"step:7:9", "kkkkkkk[k]"},
  };
  for (auto const& each : cases) {
    CAPTURE(std::string{each.value});
    environment_says const now{each.value};
    simulated::clear_log();
    {
      capture_window window{recorder};
      setenv("STREAMGAUGE_CAPTURE", "step:0", 1);  // too late for this one
      run(8);
    }
    CHECK(kernels() == each.seen);
  }
  CHECK(problems(recorder).empty());
  check_closed();
}

TEST_CASE_FIXTURE(program, "without the variable a window does nothing, and looks after no phase") {
  unsetenv("STREAMGAUGE_CAPTURE");
  capture_window window{recorder};
  CHECK_FALSE(step.node().entry.watched);
  window.step();
  run(2);
  CHECK(kernels() == "kk");
  CHECK(window.notes().empty());
}

TEST_CASE_FIXTURE(program, "the same text in code, and what the program decides wins over the variable") {
  environment_says const now{"step:0:9"};
  capture_window window{recorder, "step:1:2"};
  capture_window by_phase{recorder, step, sg::executions{4, 5}};
  run(6);
  CHECK(kernels() == "k[kk]k[k]k");
}

TEST_CASE_FIXTURE(program, "the phase may be made later, and its name may have colons") {
  environment_says const now{"ns::f:1:1"};
  capture_window window{recorder};
  sg::phase const late{recorder, "ns::f"};
  sg::phase const other{recorder, "f"};
  windows_seen::run(other, stream.get(), 2);
  windows_seen::run(late, stream.get(), 3);
  CHECK(kernels() == "kkk[k]k");
}

TEST_CASE_FIXTURE(program, "case-49 a first that is left out is behind the warm-up that the phase declares") {
  sg::phase const warm{recorder, "warm", sg::warmup{3}};
  capture_window window{recorder, "warm"};
  windows_seen::run(warm, stream.get(), 5);
  CHECK(kernels() == "kkk[k]k");
}

TEST_CASE_FIXTURE(program, "case-49 a first that is left out is behind the warm-up of all conditions") {
  sg::phase const warm{recorder, "warm", sg::warmup{2}};
  capture_window window{recorder, "warm"};
  for (int i = 0; i < 6; ++i) {
    auto const scope = warm.enter(stream.get(), {{"rows", i % 2}});
    simulated::launch(stream.get(), 1ms);
  }
  CHECK(kernels() == "kkkk[k]k");  // a filter for the name selects nothing of the first four
}

TEST_CASE_FIXTURE(program, "case-49 and behind that of what the phase lies in: a phase, or the span of a branch") {
  sg::phase const outer{recorder, "outer", sg::warmup{2}};
  sg::phase const inner{recorder, "inner"};
  SUBCASE("a phase") {
    capture_window window{recorder, "inner"};
    for (int i = 0; i < 4; ++i) {
      auto const scope = outer.enter(sg::host_only);
      windows_seen::run(inner, stream.get(), 1);
    }
  }
  SUBCASE("a span") {
    capture_window window{recorder, inner};
    for (int i = 0; i < 4; ++i) {
      sg::span whole{outer};
      auto const part = whole.branch(stream.get(), inner);
      simulated::launch(stream.get(), 1ms);
    }
  }
  CHECK(kernels() == "kk[k]k");
  check_closed();
}

TEST_CASE_FIXTURE(program, "case-49 where all was warm-up the window says so") {
  sg::phase const warm{recorder, "warm", sg::warmup{5}};
  {
    capture_window window{recorder, "warm"};
    windows_seen::run(warm, stream.get(), 3);
  }
  CHECK(kernels() == "kkk");
  CHECK(problems(recorder) ==
        std::vector<std::string>{
            "warm: a capture window ended and had never opened: executions counted: 3, all of them warm-up"});
}

TEST_CASE_FIXTURE(program, "the environment's window asks before its stop as well") {
  environment_says const now{"step:1:2"};
  std::size_t seen = 0;
  capture_window window{recorder, [&](sg::recording const& so_far) { seen = kept(so_far); }};
  run(4);
  CHECK(seen == 3);
  CHECK(kernels() == "k[kk]k");
}

TEST_CASE_FIXTURE(program, "a malformed value is one clear error, opens nothing and changes no result") {
  {
    environment_says const now{"step:20:0"};
    capture_window window{recorder};
    run(3);
  }
  std::vector<std::string> const expected{
      ": the environment variable STREAMGAUGE_CAPTURE (\"step:20:0\") is not phase[:first[:count[:repeat]]]: its count "
      "is 0; no window opens"};
  CHECK(problems(recorder) == expected);
  CHECK(problems(recorder) == expected);
  CHECK(kernels() == "kkk");
  CHECK(kept(recorder.collect()) == 3);
  sg::recorder other;
  capture_window in_code{other, ":5"};
  CHECK(problems(other) ==
        std::vector<std::string>{
            ": the capture window's text (\":5\") is not phase[:first[:count[:repeat]]]: it names no "
            "phase; no window opens"});
}

TEST_CASE_FIXTURE(program, "a phase that never appeared is reported with those that were entered, and with what was understood") {
  environment_says const now{"stepp:2"};
  {
    capture_window window{recorder};
    sg::phase const other{recorder, "ns::other"};
    run(3);
    std::vector<std::string> const expected{
        "stepp: a capture window waits for this phase, and none of its executions began while the window was there; "
        "entered so far: \"step\". the environment variable STREAMGAUGE_CAPTURE (\"stepp:2\") was read as phase "
        "\"stepp\", first 2, count 1, repeat 1"};
    CHECK(problems(recorder) == expected);
  }
  CHECK(problems(recorder).size() == 1);  // also once the window has ended
  CHECK(kernels() == "kkk");
  sg::recorder empty;
  capture_window window{empty};
  CHECK(problems(empty) ==
        std::vector<std::string>{
            "stepp: a capture window waits for this phase, and none of its executions began while the window was there; "
            "no phase was entered so far. the environment variable STREAMGAUGE_CAPTURE (\"stepp:2\") was read as phase "
            "\"stepp\", first 2, count 1, repeat 1"});
}

TEST_CASE_FIXTURE(program, "a window that was told its end before its beginning says so, and an empty one does nothing") {
  {
    capture_window reversed{recorder, step, sg::executions{25, 20}};
    capture_window empty{recorder, step, sg::executions{1, 1}};
    run(30);
  }
  CHECK(problems(recorder) ==
        std::vector<std::string>{"step: a capture window never opens: its last execution lies before its first"});
}
