// The bug that would go unseen without this file: a filter that selects nothing, or too much, without a word.
#include "tools.cuh"

#include <streamgauge/mark/filter.hpp>
#include <streamgauge/measure/capture_window.hpp>
#include <streamgauge/measure/graph_replay.hpp>
#include <streamgauge/measure/profile_plan.hpp>

#include "device.cuh"

struct awkward_domain {
  static constexpr char const* name = "my.dom/x@y";
};

namespace {

// Each range launches one kernel with as many blocks as its number; the kernels outside have a thousand more.
void launch(unsigned int number) {
  marked<<<number, 1>>>();
  sg::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

char const* const awkward[] = {"target",
                               "two words",
                               "f<int, 4>",
                               "a/b",
                               "x@y",
                               "v[0]",
                               "p+q",
                               "s*t",
                               "it's",
                               "say \"hi\"",
                               "\xe6\x97\xa5 \xc3\xbc",
                               "a,b",
                               "$HOME `x`",
                               "tab\tin",
                               "new\nline",
                               "50%",
                               "a:b",
                               "(x)",
                               "{y}",
                               "a|b",
                               "^a$",
                               "a=b",
                               "#h",
                               "!n",
                               "a&b",
                               "-dash",
                               " lead",
                               "trail ",
                               "*",
                               "/"};
constexpr unsigned int names = sizeof awkward / sizeof *awkward;

// Everything that the filters below are to tell apart, in one run.
int every_range() {
  launch(outside);
  for (unsigned int i = 0; i < names; ++i) {
    {
      sg::scoped_range const range{awkward[i]};
      launch(i + 1);
    }
    launch(outside + i + 1);
  }
  {
    sg::scoped_range_in<awkward_domain> const range{"a/b"};
    launch(101);
  }
  {
    auto const range = sg::range{"start, end"};
    launch(102);
  }
  {
    sg::scoped_range const outer{"outer"};
    launch(103);
    sg::scoped_range const inner{"inner"};
    launch(104);
  }
  {
    sg::scoped_range const inner{"inner"};  // not inside outer
    launch(105);
  }
  return 0;
}
add_child const as_every_range{"every_range", every_range};

int graph_in_a_range() {
  cudaStream_t stream = nullptr;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  sg::check(cudaStreamCreate(&stream), "cudaStreamCreate");
  sg::recorder recorder;
  sg::phase const launches{recorder, "replay"};
  sg::phase const inner{recorder, "decode", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  sg::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  {
    auto const scope = inner.enter(stream);
    marked<<<7, 1, 0, stream>>>();
  }
  sg::check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  sg::check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  {
    sg::graph_replay replay{launches, executable, graph, stream};
    for (int i = 0; i < 3; ++i) sg::check(replay.launch(), "launch");
  }
  marked<<<outside, 1, 0, stream>>>();
  sg::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return 0;
}
add_child const as_graph{"graph_in_a_range", graph_in_a_range};

// Five executions of a phase alone, and five of one with another inside that has no count of warm-up itself.
int warms_up() {
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase const alone{recorder, "alone", sg::warmup{2}};
  sg::phase const whole{recorder, "whole", sg::warmup{2}};
  sg::phase const part{recorder, "part"};
  for (unsigned int i = 0; i < 5; ++i) {
    {
      auto const scope = alone.enter(stream);
      marked<<<10 + i, 1, 0, stream>>>();
    }
    marked<<<outside + i, 1, 0, stream>>>();
    auto const scope = whole.enter(stream);
    marked<<<20 + i, 1, 0, stream>>>();
    auto const inner = part.enter(stream);
    marked<<<30 + i, 1, 0, stream>>>();
  }
  stream.synchronize();
  return 0;
}
add_child const as_warms_up{"warms_up", warms_up};

int window_of_one() {
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step", sg::warmup{2}};
  sg::capture_window const window{recorder, step, sg::executions{3, 4}};
  marked<<<outside, 1, 0, stream>>>();
  for (unsigned int i = 0; i < 5; ++i) {
    auto const scope = step.enter(stream);
    marked<<<100 + i, 1, 0, stream>>>();
  }
  marked<<<outside + 1, 1, 0, stream>>>();
  stream.synchronize();
  return 0;
}
add_child const as_window_of_one{"window_of_one", window_of_one};

int guarded_step() {
  test_stream const stream;
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step", sg::warmup{2}};
  auto const one = [&] {
    auto const scope = step.enter(stream);
    marked<<<3, 1, 0, stream>>>();
    marked<<<5, 1, 0, stream>>>();
  };
  // What is done once, events made and the kernel loaded, is no call for a range that is replayed.
  one();
  one();
  sg::capture_guard const guard{recorder};
  one();
  return 0;
}
add_child const as_guarded_step{"guarded_step", guarded_step};

// The numbers of blocks of the kernels that ncu profiled.
std::string profiled(std::vector<sg::tool_argument> const& filters, char const* child, char const* option = "") {
  std::string command = "ncu --nvtx --clock-control none --set none --metrics gpu__time_duration.sum";
  command += option;
  for (sg::tool_argument const& each : filters) {
    INFO(each.why_not);
    REQUIRE(each.usable());
    command += " --nvtx-include " + each.quoted();
  }
  std::string const text = shell(command + " " + self() + " --child=" + child);
  numbers const found = blocks_in_details(text);
  if (found.empty()) std::printf("%s\n", text.c_str());
  return in_words(found);
}

// The filter as a program prints it for a phase of its own.
sg::tool_argument filter_of(char const* phase) {
  sg::recorder recorder{sg::mode::mark};
  return sg::ncu_include(sg::phase{recorder, phase});
}

std::string word_behind(std::vector<std::string> const& words, std::string_view option) {
  auto const found = std::find(words.begin(), words.end(), option);
  return found == words.end() || found + 1 == words.end() ? std::string{} : found[1];
}

// The plan's command that replays the range of the guarded step.
sg::tool_command range_replay() {
  sg::recorder recorder{sg::mode::mark};
  sg::profile_choices chosen;
  chosen.program = sg::program_words{{own_path(), "--child=guarded_step"}, ""};
  chosen.rank_variable = "";
  for (sg::profile_step const& each : sg::plan_profile(recorder, sg::phase{recorder, "step"}, chosen).steps)
    for (sg::tool_command const& one : each.commands)
      if (word_behind(one.words, "--replay-mode") == "range") return one;
  FAIL("the plan has no command for range replay");
  return {};
}

// What a run of a command printed, and what ncu prints of the report that it left.
struct ncu_outcome {
  std::string run;
  std::string report;
};
ncu_outcome run_planned(sg::tool_command const& command) {
  std::string const report = word_behind(command.words, "-o");
  REQUIRE_FALSE(report.empty());
  std::string const run = shell(command.shell());
  return {run, shell("ncu --page details --import " + sg::shell_word(report + ".ncu-rep"))};
}

// The same command with another value behind an option.
sg::tool_command with(sg::tool_command command, std::string_view option, char const* value) {
  auto const found = std::find(command.words.begin(), command.words.end(), option);
  REQUIRE(command.words.end() - found > 1);
  found[1] = value;
  return command;
}

// How many blocks ran in each result of a command, which asks for that in place of its section.
std::string blocks_counted(sg::tool_command command) {
  std::replace(command.words.begin(), command.words.end(), std::string{"--section"}, std::string{"--metrics"});
  ncu_outcome const seen = run_planned(with(command, "--metrics", "sm__ctas_launched.sum"));
  std::string const found = values_of("sm__ctas_launched.sum", seen.report);
  if (found.empty()) std::printf("%s\n%s\n", seen.run.c_str(), seen.report.c_str());
  return found;
}

}  // namespace

TEST_CASE(
    "case-60 and case-61: ncu selects by the printed filter exactly the kernels inside, for thirty awkward names") {
  // Every other name, so that one which matched too much would bring a neighbour in.
  for (unsigned int const from : {0u, 1u}) {
    CAPTURE(from);
    std::vector<sg::tool_argument> filters;
    numbers expected;
    for (unsigned int i = from; i < names; i += 2) {
      filters.push_back(sg::ncu_include(awkward[i]));
      expected.insert(i + 1);
    }
    CHECK(profiled(filters, "every_range") == in_words(expected));
  }
}

TEST_CASE("ncu tells nested ranges, domains and start/end ranges apart by the printed filters") {
  CHECK(profiled({sg::ncu_include({"outer", "inner"}), sg::ncu_include("a/b", "my.dom/x@y")}, "every_range") ==
        in_words({101, 104}));
  CHECK(profiled({sg::ncu_include("inner"), sg::ncu_include("start, end", {}, sg::range_style::start_end)},
                 "every_range") == in_words({102, 104, 105}));
}

TEST_CASE("a phase inside a graph is selected by the range around the launch, and by its own name not at all") {
  CHECK(profiled({sg::ncu_include("replay")}, "graph_in_a_range") == in_words({7, 7, 7}));
  CHECK(profiled({sg::ncu_include("decode")}, "graph_in_a_range") == "");
}

TEST_CASE("case-49: ncu spends nothing on warm-up: the filter of a phase selects its steady executions") {
  CHECK(profiled({filter_of("alone")}, "warms_up") == "12 13 14 ");
  CHECK(profiled({sg::ncu_include("warmup/alone")}, "warms_up") == "10 11 ");
}

TEST_CASE("case-49: nor on a phase inside one that warms up") {
  CHECK(profiled({filter_of("part")}, "warms_up") == "32 33 34 ");
}

TEST_CASE("case-47: ncu that does not start by itself profiles the executions of the window") {
  CHECK(profiled({}, "window_of_one", " --profile-from-start off") == "103 ");
}

TEST_CASE("range replay as the plan prints it gives the guarded step as one result, not one for each kernel") {
  sg::tool_command const command = range_replay();
  CHECK(word_behind(command.words, "--nvtx-include") == "step/");
  CHECK(word_behind(command.words, "--section") == "SpeedOfLight");
  CHECK(word_behind(command.words, "--profile-from-start") == "");
  ncu_outcome const seen = run_planned(command);
  INFO(seen.run);
  INFO(seen.report);
  // Each result in a report has the section once, whatever its headline looks like; a kernel's headline has its name.
  CHECK(times_in(seen.report, "Section: GPU Speed Of Light Throughput") == 1);
  CHECK(times_in(seen.report, "marked") == 0);
}

TEST_CASE("what range replay counts is the sum over the kernels of the range, and the guard is no second one") {
  sg::tool_command const printed = range_replay();
  CHECK(blocks_counted(printed) == "8");
  // As printed the command takes one result at most; without that limit a second one would show.
  sg::tool_command const unlimited = with(printed, "--launch-count", "100");
  CHECK(blocks_counted(unlimited) == "8");
  // Kernel by kernel the same range has two.
  CHECK(blocks_counted(with(unlimited, "--replay-mode", "kernel")) == "3 5");
}

int main(int argc, char** argv) { return run_with_tool("ncu", argc, argv); }
