// Who is watching, as a process under a tool sees it. Without these a tool would be named by a sign that another one
// shows, or "none" be said where nobody can know.
// Field case: case-50.
#include <doctest/doctest.h>

#include <streamgauge/mark/range.hpp>
#include <streamgauge/mark/tool.hpp>

#include <cstdlib>
#include <string>

#include "injection.hpp"

namespace sg = streamgauge;
using sg::nvtx_answer;
using sg::tool_of;

namespace {

// The signs in the order of `tool_signs`: what NVTX answered, the two injection variables, the session of nsys.
constexpr bool same(char const* a, char const* b) { return *a == *b && (*a == '\0' || same(a + 1, b + 1)); }
static_assert(same(tool_of({nvtx_answer::handle, true, true, true}).name, "nsys"));
static_assert(same(tool_of({nvtx_answer::nothing, false, true, true}).name, "nsys"), "nsys that traces CUDA alone");
static_assert(same(tool_of({nvtx_answer::handle, true, false, false}).name, "ncu or another tool that takes ranges"));
static_assert(same(tool_of({nvtx_answer::nothing, true, false, false}).name,
                   "compute-sanitizer or another tool that takes no ranges"));
static_assert(same(tool_of({nvtx_answer::not_asked, true, false, false}).name, "a tool for NVTX"));
static_assert(same(tool_of({nvtx_answer::nothing, false, true, false}).name, "a tool for CUDA"));
static_assert(same(tool_of({nvtx_answer::handle, false, false, false}).name, "a tool for NVTX"));
static_assert(!tool_of({nvtx_answer::nothing, false, false, false}).known(), "plain ncu shows nothing");
static_assert(!tool_of({}).known());

}  // namespace

TEST_CASE("case-50: under a tool that takes ranges, the variable and the handle together name it") {
  REQUIRE(std::getenv("NVTX_INJECTION64_PATH") != nullptr);
  auto const seen = sg::attached_tool();
  CHECK(seen.known());
  CHECK(std::string{seen.name} == "ncu or another tool that takes ranges");
  CHECK(std::string{seen.sign} == "NVTX_INJECTION64_PATH is set, and NVTX gives handles");
}

TEST_CASE("case-50: the session of nsys names it before all else") {
  setenv("NSYS_PROFILING_SESSION_ID", "7", 1);
  CHECK(std::string{sg::attached_tool().name} == "nsys");
  unsetenv("NSYS_PROFILING_SESSION_ID");
}
