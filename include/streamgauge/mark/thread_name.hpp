#pragma once

#include <streamgauge/mark/domain.hpp>

#if defined(STREAMGAUGE_DISABLE) || defined(NVTX_DISABLE) || !defined(NVTX_VERSION) || NVTX_VERSION < 3

namespace streamgauge {
inline namespace disabled {
inline void name_this_thread(char const*) noexcept {}
}  // namespace disabled
}  // namespace streamgauge

#else

#include <cstdint>
#include <sys/syscall.h>
#include <unistd.h>

namespace streamgauge {
inline namespace marking {

/// Gives the calling thread a name in tools; the system's own name of it stays as it is.
/// Why: a timeline of numbered threads tells nobody which one feeds the device. Shape: a null pointer is the empty name.
/// Threads: any; each names itself.
/// Example: `sg::name_this_thread("loader");`
inline void name_this_thread(char const* name) noexcept {
  if (!tool_attached()) return;  // the thread's number costs a system call
  nvtxNameOsThreadA(static_cast<std::uint32_t>(syscall(SYS_gettid)), name != nullptr ? name : "");
}

}  // namespace marking
}  // namespace streamgauge

#endif
