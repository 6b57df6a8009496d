#pragma once

#include <streamgauge/mark/marked_name.hpp>
#include <streamgauge/measure/profile_choices.hpp>
#include <streamgauge/measure/tool_command.hpp>

namespace streamgauge {

/// How ncu repeats what it measures, since not all counters fit into one pass.
enum class replay_mode : std::uint8_t {
  kernel,       ///< each kernel by itself, its memory put back between the passes
  application,  ///< the whole program, once a pass
  range,        ///< the range as a whole, its kernels side by side as in the program
};
[[nodiscard]] constexpr char const* word_of(replay_mode how) noexcept {
  return how == replay_mode::kernel ? "kernel" : how == replay_mode::application ? "application" : "range";
}

/// A phase with what its commands share: the filter, and a number that keeps names of files apart.
struct ncu_phase {
  marked_name of;
  tool_argument filter;
  std::string report;  ///< `1-step`

  [[nodiscard]] bool is_launch() const noexcept { return !filter.note.empty(); }
};
[[nodiscard]] inline ncu_phase ncu_phase_of(marked_name const& of, std::size_t number, range_style style) {
  return {of, ncu_include(of, style), report::digits(std::uint64_t{number}) + '-' + file_part(of.name)};
}

/// What one run under ncu asks.
struct ncu_question {
  std::string question;
  char const* report;              ///< what its report is called behind the phase
  std::vector<char const*> asked;  ///< options that say what is collected
  char const* note = "";
  replay_mode replay = replay_mode::kernel;
  char const* graphs = "node";  ///< for a phase around launches of a graph: kernel by kernel, or the graph as one
};

/// A run under ncu over kernels of a phase: the phase's filter, what is chosen for every run, and what is asked.
/// Requires: the phase's filter is usable.
/// Source: the options stand in NVIDIA's manual of the ncu command line.
[[nodiscard]] inline tool_command ncu_run(profile_target const& of, profile_choices const& chosen,
                                          ncu_phase const& phase, kernel_choice const& kernels,
                                          ncu_question const& one) {
  tool_command made{one.question, under_settings(of, {"ncu", "--nvtx", "--nvtx-include"})};
  auto const add = [&made](std::initializer_list<std::string_view> words) {
    for (std::string_view const word : words) made.words.emplace_back(word);
  };
  add({phase.filter.raw});
  // Replaying ranges, ncu takes the windows for ranges of their own and refuses the option.
  if (of.windows > 0 && one.replay != replay_mode::range) add({"--profile-from-start", "off"});
  add({"--target-processes", "all", "--replay-mode", word_of(one.replay)});
  if (phase.is_launch()) add({"--graph-profiling", one.graphs});
  add({"--clock-control", chosen.clocks == clock_choice::base ? "base" : "none"});
  add({"--cache-control", chosen.caches == cache_choice::all ? "all" : "none"});
  if (!kernels.id.empty())
    add({"--kernel-id", kernels.id});
  else if (!kernels.name.empty())
    add({"-k", kernels.name});
  if (kernels.skip > 0) add({"--launch-skip", report::digits(std::uint64_t{kernels.skip})});
  if (kernels.count > 0) add({"--launch-count", report::digits(std::uint64_t{kernels.count})});
  for (char const* const each : one.asked) add({each});
  add({"--page", "details", "-f", "-o", of.report_for("ncu-" + phase.report + '-' + one.report)});
  for (std::string const& word : of.words()) add({word});
  if (*one.note) made.notes.push_back(one.note);
  return made;
}

/// The first run: what the phase's kernels are, and what each is like.
[[nodiscard]] inline tool_command ncu_overview(profile_target const& of, profile_choices const& chosen,
                                               ncu_phase const& phase) {
  kernel_choice first;
  first.count = 20;  // of a phase that launches many; each takes a second or so
  return ncu_run(
      of, chosen, phase, first,
      {"Which kernels are in " + in_quotes(phase.of.name) + ", and what is each like?", "basic", {"--set", "basic"}});
}

/// The runs that look closer, a question each, over the kernels that were chosen.
[[nodiscard]] inline std::vector<tool_command> ncu_details(profile_target const& of, profile_choices const& chosen,
                                                           ncu_phase const& phase) {
  constexpr char const* with = "--section";
  ncu_question const all[] = {
      {"How close is it to what the device can do, in arithmetic and in memory?",
       "roofline",
       {with, "SpeedOfLight", with, "SpeedOfLight_RooflineChart"},
       "the chart of the roofline is drawn in ncu-ui"},
      {"Where does its memory traffic go, and how well does it fit the caches?",
       "memory",
       {with, "MemoryWorkloadAnalysis", with, "MemoryWorkloadAnalysis_Tables", with, "MemoryWorkloadAnalysis_Chart"}},
      {"How much of the device can its launch fill, and what limits that?",
       "occupancy",
       {with, "Occupancy", with, "LaunchStats"}},
      {"Do the schedulers have something to issue, and what do the warps wait for?",
       "stalls",
       {with, "SchedulerStats", with, "WarpStateStats"}},
      {"Which lines of the source cost most?",
       "source",
       {with, "SourceCounters", "--import-source", "yes"},
       "lines of the source need device code that was compiled with -lineinfo, and not with -G"},
  };
  std::vector<tool_command> made;
  for (ncu_question const& each : all) made.push_back(ncu_run(of, chosen, phase, chosen.kernels, each));
  ncu_question whole{"What do the kernels of the range reach together, side by side?",
                     "range",
                     {with, "SpeedOfLight"},
                     "only some CUDA calls may stand in a range that is replayed; ncu names one that may not",
                     replay_mode::range};
  if (phase.is_launch())
    whole = {
        "What does the graph reach as a whole?", "graph", {with, "SpeedOfLight"}, "", replay_mode::kernel, "graph"};
  made.push_back(ncu_run(of, chosen, phase, {}, whole));
  return made;
}

/// What holds for every run under ncu, a line each.
[[nodiscard]] inline std::vector<std::string> ncu_notes(profile_choices const& chosen) {
  std::vector<std::string> notes{
      "ncu runs one kernel at a time and repeats it. Kernels that must run at the same time never end under it: "
      "collectives of NCCL or NVSHMEM, and whatever else spins until another kernel, another rank or the host does "
      "something. Leave them out by -k, take range replay where they are of one process, or see --communicator and "
      "--lockstep-kernel-launch in the manual of an ncu that has them.",
      "Where a phase launches several kernels: -k NAME or -k regex:EXPRESSION takes those of a name, --launch-skip N "
      "leaves out the first N that match, --launch-count N takes N, --kernel-id ::NAME:N takes the Nth of a name.",
      "--replay-mode kernel is wrong about kernels that overlap in the program, since each has the device to itself, "
      "and "
      "needs room to save what a kernel writes. --replay-mode application starts the program once a pass and is wrong "
      "where it does not do the same each time. --replay-mode range gives sums over the range, nothing of one kernel.",
  };
  notes.push_back(chosen.clocks == clock_choice::none
                      ? "--clock-control none: the clocks are those of the plain run, and move. base locks them: runs "
                        "compare better, and are slower than the program is."
                      : "--clock-control base: the clocks are locked, so runs compare, and are slower than the program "
                        "is.");
  notes.push_back(
      chosen.caches == cache_choice::all
          ? "--cache-control all: every pass begins with empty caches. none is closer to a kernel that finds "
            "its data there, and later passes find the kernel's own."
          : "--cache-control none: the caches are as they were left, in later passes by the kernel itself.");
  if (chosen.style == range_style::push_pop)
    notes.push_back(
        "The filters are for phases that are entered. One that is started, and so may end elsewhere, has no "
        "slash at the end.");
  return notes;
}

}  // namespace streamgauge
