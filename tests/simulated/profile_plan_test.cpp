// Would go unseen without these: a plan for another program than this one, or for a phase that no tool can select.

#include <algorithm>

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/profile_plan.hpp>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using simulated::fresh_machine;

namespace {

struct my_domain {
  static constexpr char const* name = "my lib";
};

sg::profile_choices choices() {
  sg::profile_choices chosen;
  chosen.program = sg::program_words{{"./my app", "--steps", "3"}, ""};
  chosen.rank_variable = "";
  chosen.windows = 1;
  return chosen;
}
std::size_t places_of(std::string const& text, std::string const& wanted) {
  std::size_t count = 0;
  for (auto at = text.find(wanted); at != std::string::npos; at = text.find(wanted, at + 1)) ++count;
  return count;
}
bool holds(std::string const& text, std::string const& wanted) { return places_of(text, wanted) > 0; }
// The text in one line, without the marks of comments and of lines that go on.
std::string flowing(std::string const& text) {
  std::string flat;
  for (char const each : text)
    if (each != '#' && each != '\\' && (each != '\n' || !flat.empty())) {
      char const shown = each == '\n' ? ' ' : each;
      if (shown != ' ' || flat.empty() || flat.back() != ' ') flat += shown;
    }
  return flat;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "the plan leads from what may be measured over the whole to the kernels of a phase") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const load{recorder, "load it", sg::in_domain<my_domain>};
  simulated::clear_log();
  auto const plan = sg::plan_profile(recorder, load, choices());
  CHECK(calls_of_ours().empty());
  CHECK(plan.lint.empty());
  REQUIRE(plan.steps.size() == 3);
  CHECK(plan.steps[0].commands[0].words == std::vector<std::string>{"nsys", "status", "--environment"});
  CHECK(plan.steps[0].commands[1].words.back() == "/proc/driver/nvidia/params");
  REQUIRE(plan.steps[1].commands.size() == 6);
  CHECK(plan.steps[1].commands[0].words[1] == "profile");
  CHECK(plan.steps[1].commands[1].words[1] == "stats");
  REQUIRE(plan.steps[2].commands.size() == 7);
  for (auto const& each : plan.steps[2].commands) {
    CHECK(each.words[3] == "my lib@load it/");
    CHECK(each.words.back() == "3");
    CHECK_FALSE(each.question.empty());
  }
  auto const text = sg::text_of(plan);
  CHECK(holds(text, "ncu --nvtx --nvtx-include 'my lib@load it/' --profile-from-start off --target-processes all"));
  CHECK(holds(text, "-o my_app-ncu-2-load_it-basic './my app' --steps 3"));
  CHECK_FALSE(holds(text, "step/"));
}

TEST_CASE_FIXTURE(fresh_machine, "case-51: the plan says that tools never run inside one another, and what hangs") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const text = flowing(sg::text_of(sg::plan_profile(recorder, choices())));
  CHECK(holds(text, "nsys and ncu never run inside one another"));
  CHECK(holds(text, "Take the times again without either"));
  CHECK(holds(text, "Kernels that must run at the same time never end under it: collectives of NCCL"));
  CHECK(holds(text, "--replay-mode kernel is wrong about kernels that overlap"));
}

TEST_CASE_FIXTURE(fresh_machine, "without a phase to look at, each phase has its first run; a single one has all") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  CHECK(sg::plan_profile(recorder, choices()).steps[2].commands.size() == 7);
  sg::phase const load{recorder, "load"};
  auto const plan = sg::plan_profile(recorder, choices());
  REQUIRE(plan.steps[2].commands.size() == 2);
  CHECK(plan.steps[2].commands[0].words[3] == "step/");
  CHECK(plan.steps[2].commands[1].words[3] == "load/");
  sg::recorder none;
  CHECK(sg::plan_profile(none, choices()).steps.size() == 2);
  CHECK(holds(sg::text_of(sg::plan_profile(none, choices())), "There is no phase"));
}

TEST_CASE_FIXTURE(fresh_machine, "a phase that ncu cannot select is named with the reason, and gets no command") {
  sg::recorder recorder;
  sg::phase const bad{recorder, "a\\b\nrm -r x"};
  sg::phase const inner{recorder, "decode", sg::in_graphs};
  auto const plan = sg::plan_profile(recorder, choices());
  CHECK(plan.steps[2].commands.empty());
  CHECK(plan.steps[2].notes[0].find("a backslash was not matched by ncu") != std::string::npos);
  CHECK(plan.steps[2].notes[1].find("it is not known which range is around the launch") != std::string::npos);
  CHECK(plan.lint.size() == 2);
  auto const text = sg::text_of(plan);
  CHECK(holds(text, "# lint: \"a\\\\b\\nrm -r x\": ncu cannot"));
  CHECK(holds(text, "--cuda-graph-trace=node"));
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a phase inside a graph is planned for by the range around the launch, and it says why") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const launches{recorder, "launch"};
  sg::phase const inner{recorder, "inner", sg::in_graphs};
  sg::prepare_capture(recorder, stream);
  timed_graph const graph{inner, stream, 1ms};
  sg::graph_replay const replay{launches, graph.executable, graph.graph, stream};
  auto const text = sg::text_of(sg::plan_profile(recorder, inner, choices()));
  CHECK(holds(text, "--nvtx-include launch/"));
  CHECK(holds(text, "--graph-profiling node"));
  CHECK(holds(text, "--graph-profiling graph"));
  CHECK(holds(flowing(text), "this is the range around the launch, \"launch\""));
  CHECK(sg::plan_profile(recorder, inner, choices()).lint.empty());
}

TEST_CASE_FIXTURE(fresh_machine,
                  "the plan is for this program and its arguments; where they are not known it says so") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const own = sg::this_program().words;
  auto const words = sg::plan_profile(recorder).steps[1].commands[0].words;
  REQUIRE(words.size() > own.size());
  CHECK(std::vector<std::string>(words.end() - static_cast<std::ptrdiff_t>(own.size()), words.end()) == own);
  auto unknown = choices();
  unknown.program = sg::program_words{{}, "/proc/self/cmdline cannot be read"};
  auto const plan = sg::plan_profile(recorder, unknown);
  CHECK(plan.steps[1].commands[0].words.back() == "PROGRAM");
  CHECK(holds(flowing(sg::text_of(sg::plan_profile(recorder))), "Where that would print the plan again"));
  CHECK(plan.notes[1] == "PROGRAM stands for this program and its arguments: /proc/self/cmdline cannot be read.");
}

TEST_CASE_FIXTURE(fresh_machine, "ranks are named in the plan, and several windows have reports of their own") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto chosen = choices();
  chosen.rank_variable = "SLURM_PROCID";
  chosen.windows = 4;
  auto const text = sg::text_of(sg::plan_profile(recorder, chosen));
  CHECK(holds(flowing(text), "Each rank writes a report of its own, by SLURM_PROCID"));
  CHECK(places_of(text, "rank%q{SLURM_PROCID}'") == 8);  // nsys once, ncu seven times
  CHECK(holds(text, "--capture-range-end=repeat:4"));
}

TEST_CASE_FIXTURE(fresh_machine, "the text is a script that a shell can read, with nothing in it but the commands") {
  sg::recorder recorder;
  sg::phase const step{recorder, "it's $(exit 7) `x`\nexit 9 # \"y\""};
  auto chosen = choices();
  chosen.program = sg::program_words{{"/a b/it's", "$x", "a\nexit 8"}, ""};
  auto const plan = sg::plan_profile(recorder, chosen);
  // Every tool is a function that prints its words.
  std::string const script =
      "p() { /usr/bin/printf '%s\\0' \"$@\"; }\nncu() { p ncu \"$@\"; }\nnsys() { p nsys \"$@\"; }\ngrep() { p grep "
      "\"$@\"; }\n" +
      sg::text_of(plan);
  std::string expected;
  for (auto const& each : plan.steps)
    for (auto const& command : each.commands)
      for (auto const& word : command.words) expected += word + '\0';
  std::string printed;
  std::FILE* const pipe = popen(script.c_str(), "r");
  REQUIRE(pipe);
  char buffer[4096];
  for (std::size_t count = 0; (count = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) printed.append(buffer, count);
  CHECK(pclose(pipe) == 0);
  CHECK(printed == expected);
}

TEST_CASE_FIXTURE(fresh_machine, "case-46 and case-47: the plan takes the captures that the program asked for, or the whole run") {
  cudaStream_t const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto chosen = choices();
  chosen.windows.reset();
  auto const before = sg::captures_asked();
  { sg::capture_guard const outer{stream}; sg::capture_guard const inner{stream}; }
  CHECK(sg::captures_asked() == before + 1);
  { sg::capture_guard const again{recorder}; }
  CHECK(sg::captures_asked() == before + 2);
  CHECK(sg::target_of(chosen).windows == before + 2);
  auto const text = sg::text_of(sg::plan_profile(recorder, step, chosen));
  CHECK(holds(text, "--capture-range-end=repeat:"));
  chosen.windows = 0;
  auto const whole = sg::text_of(sg::plan_profile(recorder, step, chosen));
  CHECK(holds(flowing(whole), "No capture_guard or capture_window was opened so far, so the commands take the whole run"));
  CHECK_FALSE(holds(whole, "--capture-range"));
  CHECK_FALSE(holds(whole, "--profile-from-start"));
}

TEST_CASE_FIXTURE(fresh_machine, "each series of a recording has the command that looks into its phase's kernels, or none") {
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  sg::phase const load{recorder, "load it", sg::in_domain<my_domain>};
  sg::phase const awkward{recorder, "a\\b"};
  program_stream const stream;
  for (int rows : {1, 2}) {
    auto const scope = load.enter(stream.get(), {{"rows", rows}});
  }
  { auto const scope = step.enter(stream.get()); }
  sg::recording const taken = recorder.collect();
  simulated::clear_log();
  auto const commands = sg::ncu_commands(recorder, taken, choices());
  CHECK(calls_of_ours().empty());
  REQUIRE(commands.size() == taken.all.size());
  for (std::size_t i = 0; i < commands.size(); ++i) {
    CAPTURE(taken.all[i].phase);
    std::string const command = flowing(commands[i]);
    if (taken.all[i].phase == "a\\b") CHECK(command == "");  // ncu matches no backslash
    if (taken.all[i].phase == "step") CHECK(holds(command, "--nvtx-include step/ "));
    if (taken.all[i].phase == "load it") CHECK(holds(command, "--nvtx-include 'my lib@load it/' "));
    if (!command.empty()) CHECK(command.substr(0, 5) == "ncu -");
    if (!command.empty()) CHECK(holds(command, "'./my app' --steps 3"));
  }
  CHECK(std::count(commands.begin(), commands.end(), std::string{}) == 1);
  CHECK(commands.size() >= 4);
}
