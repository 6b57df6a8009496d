#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/report/text.hpp>
#include <streamgauge/report/file_path.hpp>
#include <streamgauge/mark/filter.hpp>
#include <streamgauge/measure/profiler_state.hpp>
#include <streamgauge/measure/this_program.hpp>

namespace streamgauge {

/// What ncu does with the clocks of the device while it measures.
enum class clock_choice : std::uint8_t {
  none,  ///< leaves them as they are in the plain run
  base,  ///< locks them to the base clock: comparable between runs, slower than the program is
};

/// What ncu does with the caches before each pass over a kernel.
enum class cache_choice : std::uint8_t {
  all,   ///< empties them: every pass sees the same
  none,  ///< leaves what the work before left there, which in later passes is the kernel's own
};

/// Which kernels of a phase ncu takes, where the phase launches several.
struct kernel_choice {
  std::string name{};     ///< `-k`: the kernel's name without parameters, or regex:EXPRESSION; empty: any
  std::string id{};       ///< `--kernel-id`, in place of the name: context:stream:name:execution, `::gemm:3`
  std::size_t skip = 0;   ///< `--launch-skip`: this many of those that match are left out first
  std::size_t count = 1;  ///< `--launch-count`: this many are taken
};

/// What a plan is made for. Everything has a default that fits a program of one process with one capture window.
struct profile_choices {
  /// Captures that the program opens, by `capture_guard` or `capture_window`; left out: as many as it did so far. 0: none,
  /// the whole run is taken.
  std::optional<std::size_t> windows{};
  kernel_choice kernels{};
  range_style style = range_style::push_pop;  ///< start_end, where the phase is started and not entered
  clock_choice clocks = clock_choice::none;
  cache_choice caches = cache_choice::all;
  std::vector<std::string> settings{};         ///< NAME=value, for the program's environment, beside ours that are set now
  std::optional<program_words> program{};      ///< in place of this process's own command line
  std::optional<std::string> rank_variable{};  ///< in place of what the environment shows; "": a single process
};

/// What every command of one plan has in common.
struct profile_target {
  program_words program;
  std::size_t windows = 0;
  std::vector<std::string> settings;
  std::string rank_variable;  ///< empty: a single process
  std::string report;         ///< what names of reports begin with: that of the program, safe as the name of a file

  /// The program's words, or a word that stands for them.
  [[nodiscard]] std::vector<std::string> words() const {
    return program.words.empty() ? std::vector<std::string>{"PROGRAM"} : program.words;
  }
  /// The name of a report, as the tools take it: they put in the rank.
  [[nodiscard]] std::string report_for(std::string_view what) const {
    return report + '-' + std::string{what} + (rank_variable.empty() ? "" : "-rank%q{" + rank_variable + '}');
  }
  /// The same as the file is called in this process.
  [[nodiscard]] std::string report_here(std::string_view what) const {
    char const* const rank = rank_variable.empty() ? nullptr : std::getenv(rank_variable.c_str());
    return report + '-' + std::string{what} + (rank_variable.empty() ? "" : std::string{"-rank"} + (rank ? rank : "0"));
  }
};

/// The words of a tool, behind those that set the environment where there is something to set.
[[nodiscard]] inline std::vector<std::string> under_settings(profile_target const& of,
                                                             std::initializer_list<char const*> tool) {
  std::vector<std::string> words;
  if (!of.settings.empty()) words.push_back("env");
  for (std::string const& each : of.settings) words.push_back(each);
  for (char const* const each : tool) words.push_back(each);
  return words;
}

[[nodiscard]] inline profile_target target_of(profile_choices const& chosen) {
  profile_target found;
  found.program = chosen.program ? *chosen.program : this_program();
  found.windows = chosen.windows.value_or(captures_asked());
  for (std::string const& each : chosen.settings)
    if (each.find('=') != std::string::npos) found.settings.push_back(each);
  // What this process was told by its environment another shell does not know.
  for (char const* const name : {"STREAMGAUGE", "STREAMGAUGE_CAPTURE"}) {
    char const* const set = std::getenv(name);
    bool named = !set || !*set;
    for (std::string const& each : found.settings) named = named || each.substr(0, each.find('=')) == name;
    if (!named) found.settings.push_back(std::string{name} + '=' + set);
  }
  char const* const rank = rank_variable();
  found.rank_variable = chosen.rank_variable ? *chosen.rank_variable : rank ? rank : "";
  std::string const path = found.program.words.empty() ? "program" : found.program.words.front();
  found.report = file_part(std::string_view{path}.substr(path.find_last_of('/') + 1));
  if (found.report.empty() || found.report.front() == '-') found.report.insert(0, "program");
  return found;
}

}  // namespace streamgauge
