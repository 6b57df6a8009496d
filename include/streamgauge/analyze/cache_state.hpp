#pragma once

#include <cstdint>

namespace streamgauge {

/// What an execution finds in the device's caches.
enum class cache_state : std::uint8_t {
  unknown,
  warm,  ///< what ran before left in them: a plain run, ncu with `--cache-control none`
  cold,  ///< nothing of its own: they were flushed before it, as ncu does without that option
  rotating,  ///< what executions on other inputs left: the last one on these is so long ago that nothing of it is there
};

[[nodiscard]] constexpr char const* describe(cache_state of) noexcept {
  switch (of) {
    case cache_state::warm: return "warm";
    case cache_state::cold: return "cold";
    case cache_state::rotating: return "rotating";
    default: return "not known";
  }
}

}  // namespace streamgauge
