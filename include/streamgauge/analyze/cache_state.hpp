#pragma once

#include <cstdint>

namespace streamgauge {

/// What an execution finds in the device's caches.
enum class cache_state : std::uint8_t {
  unknown,
  warm,  ///< what ran before left in them: a plain run, ncu with `--cache-control none`
  cold,  ///< nothing of its own: they were flushed before it, as ncu does without that option
};

[[nodiscard]] constexpr char const* describe(cache_state of) noexcept {
  return of == cache_state::cold ? "cold" : of == cache_state::warm ? "warm" : "not known";
}

}  // namespace streamgauge
