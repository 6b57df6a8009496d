// Would go unseen without these: a command that the tool takes and that answers another question than it says.
#include <streamgauge/measure/ncu_commands.hpp>
#include <streamgauge/measure/nsys_commands.hpp>

#include <doctest/doctest.h>

#include "shell.hpp"

namespace sg = streamgauge;
using words = std::vector<std::string>;

namespace {

sg::profile_choices choices(words program = {"./app"}) {
  sg::profile_choices chosen;
  chosen.program = sg::program_words{std::move(program), ""};
  chosen.rank_variable = "";
  chosen.windows = 1;
  return chosen;
}
std::string nsys(sg::profile_choices const& chosen, sg::graph_detail graphs = sg::graph_detail::whole) {
  return sg::nsys_profile(sg::target_of(chosen), graphs).shell();
}
std::string first_stats(sg::profile_choices const& chosen) {
  return sg::nsys_reports(sg::target_of(chosen)).front().shell();
}
sg::tool_command ncu(sg::profile_choices const& chosen, sg::marked_name const& of = {"step"}) {
  return sg::ncu_overview(sg::target_of(chosen), chosen, sg::ncu_phase_of(of, 1, chosen.style));
}
std::vector<sg::tool_command> details(sg::profile_choices const& chosen, sg::marked_name const& of = {"step"}) {
  return sg::ncu_details(sg::target_of(chosen), chosen, sg::ncu_phase_of(of, 1, chosen.style));
}
std::string joined(words const& all) {
  std::string text;
  for (auto const& each : all) text += each + '\0';
  return text;
}
// The words in one line, as they are.
std::string line(sg::tool_command const& of) {
  std::string text;
  for (auto const& each : of.words) text += (text.empty() ? "" : " ") + each;
  return text;
}

}  // namespace

TEST_CASE("case-46: nsys stops after one window, repeats for several, and takes the whole run without any") {
  auto chosen = choices();
  CHECK(nsys(chosen) ==
        "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --capture-range=cudaProfilerApi \\\n"
        "    --capture-range-end=stop --force-overwrite=true --output=app-nsys ./app");
  CHECK(first_stats(chosen) == "nsys stats --force-export=true --report nvtx_sum app-nsys.nsys-rep");
  chosen.windows = 3;
  CHECK(nsys(chosen).find(" --capture-range=cudaProfilerApi ") != std::string::npos);
  CHECK(nsys(chosen).find(" --capture-range-end=repeat:3 ") != std::string::npos);
  CHECK(first_stats(chosen) == "nsys stats --force-export=true --report nvtx_sum app-nsys.1.nsys-rep");
  chosen.windows = 0;
  CHECK(nsys(chosen) ==
        "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none --force-overwrite=true \\\n"
        "    --output=app-nsys ./app");
}

TEST_CASE("case-47: nsys is told of the guard in its own way, and ncu in its") {
  auto chosen = choices();
  CHECK(nsys(chosen).find("--capture-range=cudaProfilerApi") != std::string::npos);
  CHECK(line(ncu(chosen)).find(" --profile-from-start off ") != std::string::npos);
  chosen.windows = 0;
  CHECK(nsys(chosen).find("--capture-range") == std::string::npos);
  CHECK(line(ncu(chosen)).find("--profile-from-start") == std::string::npos);
}

TEST_CASE("the reports of nsys go from the phases to their kernels, calls and copies") {
  auto const chosen = choices();
  std::string order;
  for (auto const& each : sg::nsys_reports(sg::target_of(chosen))) {
    CHECK_FALSE(each.question.empty());
    order += each.words[each.words.size() - 2] + ' ';
  }
  CHECK(order == "nvtx_sum nvtx_gpu_proj_sum cuda_gpu_kern_sum cuda_api_sum cuda_gpu_mem_time_sum ");
}

TEST_CASE("the first run under ncu takes the basic set, and says all that ncu would otherwise choose by itself") {
  CHECK(line(ncu(choices())) ==
        "ncu --nvtx --nvtx-include step/ --profile-from-start off --target-processes all --replay-mode kernel "
        "--clock-control none --cache-control all --launch-count 20 --set basic --page details -f -o "
        "app-ncu-1-step-basic ./app");
  auto chosen = choices();
  chosen.clocks = sg::clock_choice::base;
  chosen.caches = sg::cache_choice::none;
  chosen.style = sg::range_style::start_end;
  CHECK(line(ncu(chosen, {"a/b", "lib"})) ==
        "ncu --nvtx --nvtx-include lib@a\\/b --profile-from-start off --target-processes all --replay-mode kernel "
        "--clock-control base --cache-control none --launch-count 20 --set basic --page details -f -o "
        "app-ncu-1-a_b-basic ./app");
}

TEST_CASE("the runs that follow ask a question each, by sections") {
  auto const all = details(choices());
  char const* const sections[] = {
      "--section SpeedOfLight --section SpeedOfLight_RooflineChart --page",
      "--section MemoryWorkloadAnalysis_Tables --section MemoryWorkloadAnalysis_Chart --page",
      "--section Occupancy --section LaunchStats --page",
      "--section SchedulerStats --section WarpStateStats --page",
      "--section SourceCounters --import-source yes --page",
      "--replay-mode range --clock-control none --cache-control all --launch-count 1 --section SpeedOfLight --page",
  };
  REQUIRE(all.size() == std::size(sections));
  for (std::size_t i = 0; i < all.size(); ++i) {
    CHECK(line(all[i]).find(sections[i]) != std::string::npos);
    CHECK(line(all[i]).find("--launch-count 1 ") != std::string::npos);
    // ncu refuses the option where it replays ranges.
    CHECK((line(all[i]).find("--profile-from-start off") == std::string::npos) == (i == 5));
    for (std::size_t j = 0; j < i; ++j) CHECK(all[i].question != all[j].question);
  }
  REQUIRE(all[4].notes.size() == 1);
  CHECK(all[4].notes[0].find("-lineinfo") != std::string::npos);
}

TEST_CASE("of a phase that launches several kernels some can be chosen") {
  auto chosen = choices();
  chosen.kernels.name = "regex:gemm|tanh";
  chosen.kernels.skip = 2;
  chosen.kernels.count = 5;
  CHECK(line(details(chosen)[0]).find(" -k regex:gemm|tanh --launch-skip 2 --launch-count 5 ") != std::string::npos);
  CHECK(details(chosen)[0].shell().find(" -k 'regex:gemm|tanh' ") != std::string::npos);
  CHECK(line(ncu(chosen)).find(" -k ") == std::string::npos);  // which kernels there are is what that run tells
  chosen.kernels = {};
  chosen.kernels.id = "::gemm:3";
  CHECK(line(details(chosen)[0]).find(" --kernel-id ::gemm:3 --launch-count 1 ") != std::string::npos);
}

TEST_CASE("around the launch of a graph ncu takes its kernels one by one, and then the graph as one") {
  sg::marked_name inner{"decode"};
  inner.in_graphs = true;
  inner.launched_by.push_back({"launch"});
  auto const first = line(ncu(choices({"./app", "node"}), inner));
  CHECK(first.find("--nvtx-include launch/ ") != std::string::npos);
  CHECK(first.find(" --graph-profiling node ") != std::string::npos);
  auto const all = details(choices({"./app", "node"}), inner);
  CHECK(all.back().question == "What does the graph reach as a whole?");
  CHECK(line(all.back()).find(" --replay-mode kernel --graph-profiling graph ") != std::string::npos);
  CHECK(all.back().words.back() == "node");
  CHECK(nsys(choices(), sg::graph_detail::nodes).find(" --cuda-graph-trace=node ") != std::string::npos);
}

TEST_CASE("case-51: it warns of kernels that must run at the same time") {
  auto const notes = sg::ncu_notes(choices());
  CHECK(notes.front().find("NCCL") != std::string::npos);
  CHECK(notes.front().find("at the same time never end") != std::string::npos);
}

TEST_CASE("each rank writes a report of its own, and stats read the one of this rank") {
  auto chosen = choices();
  chosen.rank_variable = "OMPI_COMM_WORLD_RANK";
  setenv("OMPI_COMM_WORLD_RANK", "3", 1);
  CHECK(nsys(chosen).find("'--output=app-nsys-rank%q{OMPI_COMM_WORLD_RANK}'") != std::string::npos);
  CHECK(first_stats(chosen) == "nsys stats --force-export=true --report nvtx_sum app-nsys-rank3.nsys-rep");
  CHECK(line(ncu(chosen)).find("-o app-ncu-1-step-basic-rank%q{OMPI_COMM_WORLD_RANK} ./app") != std::string::npos);
  chosen.rank_variable.reset();
  CHECK(sg::target_of(chosen).rank_variable == "OMPI_COMM_WORLD_RANK");
  unsetenv("OMPI_COMM_WORLD_RANK");
  CHECK(sg::target_of(chosen).rank_variable.empty());
}

TEST_CASE("case-61: a command through a shell gives its words back, also for a program whose path holds blanks") {
  auto chosen =
      choices({"/opt/my apps/it's \"one\"", "--name", "", "$HOME `id`", "a\nb", "-x", "*", "~", "a\\", "\xc3\xa9"});
  chosen.settings = {"STREAMGAUGE_CAPTURE=a b:3", "EMPTY=", "no setting"};
  for (sg::marked_name const& name : {sg::marked_name{"f<int, 4>", "my lib"}, sg::marked_name{"it's $x `y`\nz"}}) {
    auto all = details(chosen, name);
    all.push_back(ncu(chosen, name));
    all.push_back(sg::nsys_profile(sg::target_of(chosen), sg::graph_detail::nodes));
    for (auto const& each : all) {
      CAPTURE(each.question);
      CHECK(words_from_shell(each.shell()) == joined(each.words));
      CHECK(each.words[0] == "env");
      CHECK(each.words[1] == "STREAMGAUGE_CAPTURE=a b:3");
      CHECK(each.words[2] == "EMPTY=");
      CHECK(each.words[3].substr(0, 1) == "n");
    }
  }
  CHECK(sg::target_of(chosen).report == "it_s__one_");
}

TEST_CASE("case-47: what this process was told by its environment goes into the commands, unless the program says other") {
  auto chosen = choices();
  setenv("STREAMGAUGE_CAPTURE", "step:20:5", 1);
  setenv("STREAMGAUGE", "mark", 1);
  CHECK(sg::target_of(chosen).settings == words{"STREAMGAUGE=mark", "STREAMGAUGE_CAPTURE=step:20:5"});
  CHECK(nsys(chosen).find("env STREAMGAUGE=mark STREAMGAUGE_CAPTURE=step:20:5 nsys profile ") == 0);
  CHECK(line(ncu(chosen)).find("env STREAMGAUGE=mark STREAMGAUGE_CAPTURE=step:20:5 ncu ") == 0);
  chosen.settings = {"STREAMGAUGE_CAPTURE=load", "A=b"};
  CHECK(sg::target_of(chosen).settings == words{"STREAMGAUGE_CAPTURE=load", "A=b", "STREAMGAUGE=mark"});
  setenv("STREAMGAUGE", "", 1);
  unsetenv("STREAMGAUGE_CAPTURE");
  CHECK(sg::target_of(chosen).settings == words{"STREAMGAUGE_CAPTURE=load", "A=b"});
  unsetenv("STREAMGAUGE");
  chosen.settings.clear();
  CHECK(nsys(chosen).find("nsys profile ") == 0);
}

TEST_CASE("names of reports are safe, and differ where phases do") {
  CHECK(sg::ncu_phase_of({"a/b"}, 1, {}).report == "1-a_b");
  CHECK(sg::ncu_phase_of({"a_b"}, 2, {}).report == "2-a_b");
  CHECK(sg::target_of(choices({"-dash"})).report == "program-dash");
  CHECK(sg::target_of(choices({"dir/50%q{x}.out"})).report == "50_q_x__out");
}

TEST_CASE("names of reports fit a file system, also where a phase is called as a template with all its arguments") {
  auto const target = sg::target_of(choices({std::string(250, 'p').c_str()}));
  auto const report = [&](char last, std::size_t number) {
    return target.report_for("ncu-" + sg::ncu_phase_of({std::string(1000, 'f') + last}, number, {}).report + "-occupancy");
  };
  CHECK((report('1', 1) + ".ncu-rep").size() < 255);
  CHECK(report('1', 1) != report('2', 2));
}

TEST_CASE("a comment stays a comment, whatever the program called things") {
  CHECK(sg::shell_comment("a\nrm x") == "# a\\nrm x\n");
  std::string const comment =
      sg::shell_comment("a phase \"x\n$(id)\" " + std::string(300, 'w') + " with more behind it");
  CHECK(comment.back() == '\n');
  for (std::size_t at = 0; at < comment.size(); at = comment.find('\n', at) + 1) CHECK(comment.substr(at, 2) == "# ");
  CHECK(printed_by_shell(comment) == "");
}
