#pragma once

#include <cstdint>
#include <cstdlib>

#include <streamgauge/mark/domain.hpp>

namespace streamgauge {

/// What NVTX said when a name was registered or a domain made.
enum class nvtx_answer : std::uint8_t {
  not_asked,  ///< no range was made yet, or marking is compiled out
  nothing,    ///< no handle: no tool takes ranges
  handle,     ///< a handle, which only a tool gives
};

/// The signs of a tool that a process can see from inside. Each is a fact; which tool it is, `tool_of` concludes.
struct tool_signs {
  nvtx_answer nvtx = nvtx_answer::not_asked;
  bool nvtx_injection = false;  ///< NVTX_INJECTION64_PATH is set
  bool cuda_injection = false;  ///< CUDA_INJECTION64_PATH is set
  bool nsys_session = false;    ///< NSYS_PROFILING_SESSION_ID is set
};

/// A tool and the sign that it was known by.
struct seen_tool {
  char const* name = "";  ///< empty: not known
  char const* sign = "";

  /// Why: no sign is no proof. ncu without `--nvtx` shows none, so "no tool" is an answer that nobody can give.
  [[nodiscard]] constexpr bool known() const noexcept { return *name != '\0'; }
};

/// Which tool shows these signs, as nsys, ncu and compute-sanitizer were seen to show them.
[[nodiscard]] constexpr seen_tool tool_of(tool_signs signs) noexcept {
  if (signs.nsys_session) return {"nsys", "NSYS_PROFILING_SESSION_ID is set"};
  if (signs.nvtx_injection && signs.nvtx == nvtx_answer::handle)
    return {"ncu or another tool that takes ranges", "NVTX_INJECTION64_PATH is set, and NVTX gives handles"};
  if (signs.nvtx_injection && signs.nvtx == nvtx_answer::nothing)
    return {"compute-sanitizer or another tool that takes no ranges",
            "NVTX_INJECTION64_PATH is set, and NVTX gives no handle"};
  if (signs.nvtx_injection) return {"a tool for NVTX", "NVTX_INJECTION64_PATH is set"};
  if (signs.cuda_injection) return {"a tool for CUDA", "CUDA_INJECTION64_PATH is set"};
  if (signs.nvtx == nvtx_answer::handle) return {"a tool for NVTX", "NVTX gives handles"};
  return {};
}

/// The signs that stand in the environment, for somebody who knows what NVTX answered.
[[nodiscard]] inline tool_signs tool_signs_with(nvtx_answer nvtx) noexcept {
  auto const is_set = [](char const* variable) {
    char const* const value = std::getenv(variable);
    return value != nullptr && *value != '\0';
  };
  return {nvtx, is_set("NVTX_INJECTION64_PATH"), is_set("CUDA_INJECTION64_PATH"), is_set("NSYS_PROFILING_SESSION_ID")};
}

#if defined(STREAMGAUGE_DISABLE)

inline namespace disabled {
[[nodiscard]] constexpr seen_tool attached_tool() noexcept { return {}; }
}  // namespace disabled

#elif defined(NVTX_DISABLE) || !defined(NVTX_VERSION) || NVTX_VERSION < 3

inline namespace unmarked {
[[nodiscard]] inline seen_tool attached_tool() noexcept { return tool_of(tool_signs_with(nvtx_answer::not_asked)); }
}  // namespace unmarked

#else

inline namespace marking {
/// The tool that is attached to this process, as far as it can be told. It asks NVTX, and the environment.
/// Threads: any, while nobody changes the environment.
/// Example: `if (sg::attached_tool().known()) steps = 1;`
[[nodiscard, gnu::visibility("hidden")]] inline seen_tool attached_tool() noexcept {
  return tool_of(tool_signs_with(tool_attached() ? nvtx_answer::handle : nvtx_answer::nothing));
}
}  // namespace marking

#endif

}  // namespace streamgauge
