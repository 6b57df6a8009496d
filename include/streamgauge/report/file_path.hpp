#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <unistd.h>

namespace streamgauge {

/// The environment variable that holds this process's rank, by the launchers that set one; null where none is set.
/// Why: of the processes of one job each has its own, so results and tools' reports that are named by it do not meet.
[[nodiscard]] inline char const* rank_variable() noexcept {
  for (char const* const name :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"})
    if (std::getenv(name)) return name;
  return nullptr;
}

/// Text as a part of the name of a file: what is not a letter, a digit, a dash or a low line becomes a low line, and what
/// is beyond 80 characters is left out.
/// Why: file systems take 255 for the whole name, and phases are called as templates are.
[[nodiscard]] inline std::string file_part(std::string_view text) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string part{text.substr(0, 80)};
  for (char& each : part)
    if (plain.find(each) == std::string_view::npos) each = '_';
  return part;
}

namespace report {

/// A path made from a pattern, or why there is none.
struct file_path {
  std::string path;
  std::string why_not;  ///< empty, or what is wrong with the pattern
};

/// This process's rank within its job, in digits; 0 where no launcher says one, as MPI counts what was started alone.
[[nodiscard]] inline file_path rank_here() {
  char const* const variable = rank_variable();
  if (!variable) return {"0", ""};
  std::string const rank = std::getenv(variable);
  if (!rank.empty() && rank.size() <= 20 && rank.find_first_not_of("0123456789") == std::string::npos) return {rank, ""};
  return {"", std::string{"%r is no rank: "} + variable + " holds \"" + rank.substr(0, 40) + '"'};
}

/// The machine's name as a part of a file's name.
[[nodiscard]] inline file_path host_here() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || !*name) return {"", "%h is no name: this machine has none"};
  return {file_part(name), ""};
}

/// A path for this process: %p becomes the number of the process, %r its rank within its job, %h the machine's name, and
/// %% a percent sign. Another letter is refused.
/// Why: processes of one job that write to one path leave only the last one's results.
/// Example: `path_for("results/run-%h-%r.json")`
[[nodiscard]] inline file_path path_for(std::string_view pattern) {
  std::string made;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      made += pattern[i];
      continue;
    }
    char const letter = ++i < pattern.size() ? pattern[i] : '\0';
    file_path part;
    if (letter == '%')
      part.path = "%";
    else if (letter == 'p')
      part.path = std::to_string(::getpid());
    else if (letter == 'r')
      part = rank_here();
    else if (letter == 'h')
      part = host_here();
    else
      part.why_not = '%' + std::string(letter == '\0' ? 0 : 1, letter) +
                     " stands for nothing in a path: %p is the process, %r the rank, %h the host, and %% a percent sign";
    if (!part.why_not.empty()) return {"", part.why_not};
    made += part.path;
  }
  return {made, ""};
}

}  // namespace report

}  // namespace streamgauge
