#pragma once

#include <streamgauge/measure/profile_choices.hpp>
#include <streamgauge/measure/tool_command.hpp>

namespace streamgauge {

/// Whether nsys shows the kernels of a graph one by one.
enum class graph_detail : std::uint8_t { whole, nodes };

/// The run under nsys: what happens when, over the capture windows or over the whole run.
/// Why: left out, the action at the end of a range is to stop the program; `stop` lets it run on, and of several windows
/// `repeat:N` keeps N.
/// Source: the options stand in NVIDIA's user guide of nsys.
[[nodiscard]] inline tool_command nsys_profile(profile_target const& of, graph_detail graphs) {
  tool_command made{"Where does the time go: host against device, gaps, copies, what overlaps?", {}};
  made.words = under_settings(of, {"nsys", "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none"});
  if (graphs == graph_detail::nodes) made.words.push_back("--cuda-graph-trace=node");
  if (of.windows > 0) {
    made.words.push_back("--capture-range=cudaProfilerApi");
    made.words.push_back(of.windows == 1
                             ? std::string{"--capture-range-end=stop"}
                             : "--capture-range-end=repeat:" + report::digits(std::uint64_t{of.windows}));
    made.notes.push_back("it collects while a capture_guard or capture_window of the program is open; without one there is no report");
  }
  made.words.push_back("--force-overwrite=true");
  made.words.push_back("--output=" + of.report_for("nsys"));
  for (std::string const& word : of.words()) made.words.push_back(word);
  return made;
}

/// What to read from its report, the overview first.
[[nodiscard]] inline std::vector<tool_command> nsys_reports(profile_target const& of) {
  struct asked {
    char const* report;
    char const* question;
  };
  constexpr asked all[] = {
      {"nvtx_sum", "Which phase takes the host how long?"},
      {"nvtx_gpu_proj_sum", "For which phase is the device busy, and for how long?"},
      {"cuda_gpu_kern_sum", "Which kernels take the device's time?"},
      {"cuda_api_sum", "Which CUDA calls take the host's time?"},
      {"cuda_gpu_mem_time_sum", "How long do copies and fills take?"},
  };
  std::string const file = of.report_here("nsys") + (of.windows > 1 ? ".1" : "") + ".nsys-rep";
  std::vector<tool_command> made;
  for (asked const& each : all) {
    // What an earlier report left beside it would be read, or refused, otherwise.
    made.push_back({each.question, {"nsys", "stats", "--force-export=true"}});
    for (std::string const& word : {std::string{"--report"}, std::string{each.report}, file})
      made.back().words.push_back(word);
  }
  if (of.windows > 1) made.front().notes.push_back("a window has a report of its own: .1, .2 and so on");
  return made;
}

}  // namespace streamgauge
