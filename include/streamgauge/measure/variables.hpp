#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge {

/// Whether a variable of the environment bears on what is measured: those of CUDA, NVIDIA, NSYS, NVTX, NCCL and ours.
[[nodiscard]] inline bool bears_on_results(std::string_view name) noexcept {
  for (std::string_view const family : {"CUDA_", "NVIDIA_", "NSYS_", "NVTX_", "NCCL_", "STREAMGAUGE"})
    if (name.substr(0, family.size()) == family) return true;
  return false;
}

/// Whether a variable's name says that its value is nobody else's business: `NVIDIA_API_KEY` is one.
[[nodiscard]] inline bool keeps_a_secret(std::string_view name) noexcept {
  for (char const* const word : {"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL"})
    if (name.find(word) != std::string_view::npos) return true;
  return false;
}

/// The variables of this process's environment that bear on results, by name. They are read, and never set.
/// Threads: any, while nobody changes the environment.
template <class = void>
[[nodiscard]] std::vector<environment_variable> variables_here() {
  std::vector<environment_variable> found;
  for (char const* const* each = environ; each && *each; ++each) {
    std::string_view const entry{*each};
    std::string_view const name = entry.substr(0, entry.find('='));
    if (name.size() == entry.size() || !bears_on_results(name)) continue;
    std::string_view const value = keeps_a_secret(name) ? "(withheld)" : entry.substr(name.size() + 1);
    found.push_back({std::string{name}, std::string{value}});
  }
  put_in_order(found, [](auto const& a, auto const& b) { return a.key < b.key; });
  return found;
}

}  // namespace streamgauge
