#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <streamgauge/observation.hpp>

namespace streamgauge {

/// What a gate did for one hold, or why it left the stream alone.
enum class gating : std::uint8_t {
  gated,      ///< the stream was held until it was opened by the host
  timed_out,  ///< the stream was held, and let go by the time limit
  // Not held: what is measured holds launch gaps, as without a gate.
  already_held,    ///< the stream was held by something further out, which was not let go meanwhile
  warmup,          ///< a warm-up execution of its phase
  given_up,        ///< the phase's gates were let go three times before
  tool_attached,   ///< a tool is attached that may run one thing at a time
  capture_open,    ///< a capture for a profiler is open
  stream_capture,  ///< the stream is being captured into a graph
  legacy_stream,   ///< the legacy stream would hold every blocking stream with it
  forked,          ///< a forked child
  not_timed,       ///< there is no interval to hold back: the recorder is off, only marks, or had no events to give
  no_cuda,         ///< no driver, device or context
  not_supported,   ///< the driver or the device cannot wait for a value in memory
  no_room,         ///< no memory, no thread to watch the time limit, or too many streams held at once
  call_failed,     ///< a CUDA call of the gate's failed
};

inline constexpr std::size_t gating_count = static_cast<std::size_t>(gating::call_failed) + 1;

/// In words that finish the sentence "the gate: ...".
[[nodiscard]] constexpr char const* describe(gating what) noexcept {
  switch (what) {
    case gating::gated: return "the stream was held until everything was queued";
    case gating::timed_out: return "the stream was let go by the time limit before everything was queued";
    case gating::already_held: return "not held: the stream was held already, by something further out";
    case gating::warmup: return "not held: a warm-up execution";
    case gating::given_up: return "not held: the phase's gates were let go by the time limit three times before";
    case gating::tool_attached: return "not held: a tool is attached, which may run one thing at a time";
    case gating::capture_open: return "not held: a capture for a profiler is open";
    case gating::stream_capture: return "not held: the stream is being captured into a graph";
    case gating::legacy_stream:
      return "not held: the legacy stream would hold back every blocking stream; name the one that the work runs on";
    case gating::forked: return "not held: a forked child cannot use its parent's CUDA";
    case gating::not_timed: return "not held: the phase has no device time to take";
    case gating::no_cuda: return "not held: no CUDA driver, device or context";
    case gating::not_supported: return "not held: the driver or the device cannot wait for a value in memory";
    case gating::no_room: return "not held: no memory, no thread, or too many streams are held at once";
    case gating::call_failed: return "not held: a CUDA call of the gate failed";
  }
  return "unknown";
}

/// Why a stream is left alone that nothing can be recorded on.
[[nodiscard]] constexpr gating gating_of(absence why) noexcept {
  switch (why) {
    case absence::stream_capture:
    case absence::capture_elsewhere: return gating::stream_capture;
    case absence::forked: return gating::forked;
    case absence::no_driver:
    case absence::driver_too_old:
    case absence::no_context:
    case absence::context_gone: return gating::no_cuda;
    case absence::no_memory: return gating::no_room;
    case absence::call_failed:
    case absence::earlier_work_failed: return gating::call_failed;
    default: return gating::not_timed;
  }
}

/// What became of the holds of one gate, by reason. Threads: any.
class gating_tally {
 public:
  void add(gating what) noexcept {
    counts_[static_cast<std::size_t>(what)].fetch_add(1, std::memory_order_relaxed);
    last_.store(static_cast<std::int8_t>(what), std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t count(gating what) const noexcept {
    return counts_[static_cast<std::size_t>(what)].load(std::memory_order_relaxed);
  }
  /// Of the hold that ended or was left out last, on any thread; absent before the first.
  [[nodiscard]] std::optional<gating> last() const noexcept {
    auto const last = last_.load(std::memory_order_relaxed);
    if (last < 0) return std::nullopt;
    return static_cast<gating>(last);
  }

 private:
  std::atomic<std::uint64_t> counts_[gating_count] = {};
  std::atomic<std::int8_t> last_{-1};
};

}  // namespace streamgauge
