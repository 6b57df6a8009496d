#pragma once

#include <streamgauge/measure/ncu_commands.hpp>
#include <streamgauge/measure/nsys_commands.hpp>
#include <streamgauge/measure/phase_names.hpp>

namespace streamgauge {

/// Commands that answer one kind of question, in the order to run them, with what holds for all of them.
struct profile_step {
  std::string title;
  std::vector<tool_command> commands;
  std::vector<std::string> notes{};
};

/// The way from "which phase is slow" to "why is this kernel slow", as commands for this program. Plain values.
struct profile_plan {
  std::vector<std::string> notes;   ///< what holds for the whole plan
  std::vector<std::string> lint;    ///< what tools will not find, a line each; see `lint`
  std::vector<profile_step> steps;  ///< from the overview to the detail
};

/// The plan over phases that are given by name: the overview, then the details of `chosen` where it is one of them.
/// `detailed` is its place in the list; without one every phase gets its first run under ncu alone.
[[nodiscard]] inline profile_plan plan_for(std::vector<marked_name> const& phases, std::optional<std::size_t> detailed,
                                           profile_choices const& chosen) {
  profile_target const target = target_of(chosen);
  profile_plan made;
  made.notes = {
      "nsys and ncu never run inside one another: one run, one tool. Take the times again without either; what is "
      "measured under a tool holds the tool.",
  };
  if (!target.program.why_not.empty())
    made.notes.push_back("PROGRAM stands for this program and its arguments: " + target.program.why_not + ".");
  else if (!chosen.program)
    made.notes.push_back(
        "The commands start the program as this process was started. Where that would print the plan again, give other "
        "words by profile_choices::program.");
  made.notes.push_back(
      target.windows == 0
          ? "No capture_guard or capture_window was opened so far, so the commands take the whole run, its start and "
            "warm-up too. Behind one, or with profile_choices::windows, they take what it captures."
          : "The program is taken to open " + report::digits(std::uint64_t{target.windows}) +
                (target.windows == 1 ? " capture" : " captures") +
                ", by capture_guard or capture_window: nsys and ncu look at nothing outside.");
  if (!target.rank_variable.empty())
    made.notes.push_back("Each rank writes a report of its own, by " + target.rank_variable +
                         ". The commands stand where the program stands behind mpirun or srun.");
  if (phases.empty())
    made.notes.push_back(
        "There is no phase: none was made so far, or marking is compiled out. So nothing is said of ncu.");
  made.lint = lint(phases);

  profile_step before{
      "What may be measured here",
      {{"May nsys trace here?", {"nsys", "status", "--environment"}},
       {"May ncu read the counters here?", {"grep", "RmProfilingAdminOnly", "/proc/driver/nvidia/params"}}}};
  before.commands.back().notes.push_back(
      "0: every user may. 1: only with CAP_SYS_ADMIN, and others get ERR_NVGPUCTRPERM from ncu");
  made.steps.push_back(before);

  graph_detail graphs = graph_detail::whole;
  for (marked_name const& each : phases)
    if (each.in_graphs) graphs = graph_detail::nodes;
  profile_step overview{"Over the whole, with nsys", {nsys_profile(target, graphs)}};
  for (tool_command& each : nsys_reports(target)) overview.commands.push_back(std::move(each));
  made.steps.push_back(overview);

  if (phases.size() == 1) detailed = 0;
  profile_step kernels{"The kernels of a phase, with ncu", {}};
  for (std::size_t i = 0; i < phases.size(); ++i) {
    if (detailed && *detailed != i) continue;
    ncu_phase const phase = ncu_phase_of(phases[i], i + 1, chosen.style);
    if (!phase.filter.usable()) {
      kernels.notes.push_back(in_quotes(phases[i].name) + " cannot be selected: " + phase.filter.why_not + '.');
      continue;
    }
    kernels.commands.push_back(ncu_overview(target, chosen, phase));
    if (phase.is_launch()) kernels.commands.back().notes.push_back(phase.filter.note);
    if (!detailed) continue;
    for (tool_command& each : ncu_details(target, chosen, phase)) kernels.commands.push_back(std::move(each));
  }
  if (!kernels.commands.empty())
    for (std::string const& each : ncu_notes(chosen)) kernels.notes.push_back(each);
  if (!detailed && phases.size() > 1)
    kernels.notes.push_back("For the sections of one phase, ask for the plan of that phase.");
  if (!phases.empty()) made.steps.push_back(kernels);
  return made;
}

/// The plan for the phases of a recorder.
/// Throws: only `std::bad_alloc`.
/// Sync: none. No CUDA call.
/// Example: `std::cout << sg::text_of(sg::plan_profile(recorder));`
[[nodiscard]] inline profile_plan plan_profile(recorder const& of, profile_choices const& chosen = {}) {
  return plan_for(names_of(of), std::nullopt, chosen);
}

/// The plan that goes into the detail of one phase.
/// Example: `std::cout << sg::text_of(sg::plan_profile(recorder, step));`
[[nodiscard]] inline profile_plan plan_profile(recorder const& of, phase const& detailed,
                                               profile_choices const& chosen = {}) {
  std::vector<marked_name> phases = names_of(of);
  marked_name const wanted = name_of(detailed);
  for (std::size_t i = 0; i < phases.size(); ++i)
    if (phases[i].name == wanted.name) return plan_for(phases, i, chosen);
  phases.push_back(wanted);
  return plan_for(phases, phases.size() - 1, chosen);
}

/// For each series of a recording the first run under ncu of its phase's kernels, as text; empty where ncu cannot select
/// the phase. Ready for `report::latency_table`.
/// Throws: only `std::bad_alloc`.
/// Sync: none. No CUDA call.
/// Example: `sg::report::latency_table(std::cout, taken, sg::ncu_commands(recorder, taken));`
[[nodiscard]] inline std::vector<std::string> ncu_commands(recorder const& of, recording const& taken,
                                                           profile_choices const& chosen = {}) {
  profile_target const target = target_of(chosen);
  std::vector<marked_name> const phases = names_of(of);
  std::vector<std::string> found(taken.all.size());
  for (std::size_t i = 0; i < phases.size(); ++i) {
    ncu_phase const phase = ncu_phase_of(phases[i], i + 1, chosen.style);
    if (!phase.filter.usable()) continue;
    for (std::size_t k = 0; k < taken.all.size(); ++k)
      if (taken.all[k].phase == phases[i].name) found[k] = ncu_overview(target, chosen, phase).shell();
  }
  return found;
}

/// A plan as text.
/// Shape: a script for a POSIX shell, which may be run as it is or line by line. What is said stands in comments: first the
/// plan's notes, then a line `# lint: ` for each finding; for each step `# == title ==`, its notes, and then for each
/// command an empty line, the question, the command's notes, the command. Lines hold about 100 columns.
[[nodiscard]] inline std::string text_of(profile_plan const& plan) {
  std::string text;
  for (std::string const& each : plan.notes) text += shell_comment(each);
  for (std::string const& each : plan.lint) text += shell_comment("lint: " + each);
  for (profile_step const& step : plan.steps) {
    text += '\n' + shell_comment("== " + step.title + " ==");
    for (std::string const& each : step.notes) text += shell_comment(each);
    for (tool_command const& each : step.commands) {
      text += '\n' + shell_comment(each.question);
      for (std::string const& note : each.notes) text += shell_comment("Note: " + note);
      text += each.shell() + '\n';
    }
  }
  return text;
}

}  // namespace streamgauge
