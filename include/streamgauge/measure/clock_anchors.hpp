#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/measure/event.hpp>

namespace streamgauge {

/// An event that says what a device's clock showed at some moment.
struct clock_anchor {
  cudaEvent_t event = nullptr;
  nanoseconds before{0};  ///< host, since the recording's origin: it was recorded after this
  std::int64_t at = 0;    ///< the device's clock, once the device has passed it
  std::int64_t blur = 0;  ///< how far `at` may be off against the first anchor's
};

/// The anchors of one device in the order in which they were recorded: those that the device has passed, then those that
/// wait for it.
/// Why: each is told by elapsed time from the one before, and every event of the program by elapsed time from the nearest,
/// so that no elapsed time spans more than CUDA's float milliseconds can tell. When there are too many, every second one
/// of those that were passed goes: the older, the further apart.
/// Threads: one at a time.
class clock_anchors {
 public:
  static constexpr std::size_t most = 1024;
  static constexpr std::size_t most_waiting = 8;
  static constexpr std::int64_t zero = std::int64_t{1} << 50;  ///< the first anchor's: 13 days, so that none is below 0

  clock_anchors() = default;
  clock_anchors(clock_anchors const&) = delete;
  clock_anchors& operator=(clock_anchors const&) = delete;
  ~clock_anchors() { delete[] all_; }

  /// False without memory.
  [[nodiscard]] bool prepare() noexcept {
    if (!all_) all_ = new (std::nothrow) clock_anchor[most];
    return all_ != nullptr;
  }

  /// Takes an event that the device has passed: the caller gives it away and gets `spare` for it.
  /// Why: where the device does not come to our own, the program's events are the nearest that there are.
  /// Requires: prepared, and a spare.
  void adopt(cudaEvent_t& event, cudaEvent_t& spare, clock_anchor const& passed) noexcept {
    clock_anchor& place = next();
    cudaEvent_t& other = place.event ? place.event : spare;  // what the place had serves again
    std::swap(event, other);
    if (!place.event) std::swap(place.event, spare);
    place.before = passed.before;
    place.at = passed.at;
    place.blur = passed.blur;
    ++count_;
    move_to_passed(count_ - 1);
  }

  /// Whether the device is so far behind that another anchor would say nothing new.
  [[nodiscard]] bool enough_waiting() const noexcept { return waiting() >= most_waiting; }
  [[nodiscard]] std::size_t waiting() const noexcept { return count_ - passed_; }

  /// An anchor to be recorded next; its event may have to be made. Requires: prepared, and not enough waiting.
  [[nodiscard]] clock_anchor& next() noexcept {
    if (count_ == most) thin();
    return all_[count_];
  }
  void recorded() noexcept { ++count_; }

  /// Looks whether the device has passed the oldest anchor that waits: null while it has not, and where none waits.
  /// Sync: none. Capture: allowed.
  [[nodiscard]] clock_anchor const* look(driver_api const& cuda) noexcept {
    while (passed_ < count_) {
      clock_anchor& one = all_[passed_];
      clock_anchor const* const earlier = passed_ > 0 ? &all_[passed_ - 1] : nullptr;
      elapsed_answer const answer = elapsed(cuda, earlier ? earlier->event : one.event, one.event);
      if (answer.status == cudaErrorNotReady) return nullptr;
      if (answer.status != cudaSuccess) {
        take_out(passed_);
        continue;
      }
      one.at = earlier ? earlier->at + answer.time.count() : zero;
      one.blur = earlier ? earlier->blur + rounding_of(answer.time) : 0;
      return &move_to_passed(passed_);
    }
    return nullptr;
  }

  /// The passed anchor that was recorded nearest to a moment of the host; null: none was passed yet.
  [[nodiscard]] clock_anchor const* nearest(nanoseconds host) const noexcept {
    std::size_t const low = partition_index(passed_, [&](std::size_t i) { return all_[i].before < host; });
    if (low == passed_) return passed_ > 0 ? &all_[passed_ - 1] : nullptr;
    bool const earlier_is_nearer = low > 0 && host - all_[low - 1].before < all_[low].before - host;
    return &all_[earlier_is_nearer ? low - 1 : low];
  }

  /// The one that the device passed nearest to a moment of its own clock. Requires: one was passed.
  /// Why: a host that is far ahead recorded its anchors long before the device came to the work.
  [[nodiscard]] clock_anchor const& nearest_on_device(std::int64_t at) const noexcept {
    std::size_t best = 0;
    auto const distance = [&](std::size_t i) { return all_[i].at < at ? at - all_[i].at : all_[i].at - at; };
    for (std::size_t i = 1; i < passed_; ++i)
      if (distance(i) < distance(best)) best = i;
    return all_[best];
  }

  /// By how much an elapsed time may be off that CUDA answered in float milliseconds: half of its last digit.
  [[nodiscard]] static std::int64_t rounding_of(nanoseconds elapsed_time) noexcept {
    std::int64_t const length = elapsed_time.count() < 0 ? -elapsed_time.count() : elapsed_time.count();
    return length / (std::int64_t{1} << 24) + 1;
  }

  /// Destroys the events. Requires: their context lives.
  void destroy(driver_api const& cuda) noexcept {
    for (std::size_t i = 0; all_ && i < most; ++i)
      if (all_[i].event) cuda.event_destroy(std::exchange(all_[i].event, nullptr));
    count_ = passed_ = 0;
  }

 private:
  // Among those that were passed they stand by their host times, so that the nearest is found.
  clock_anchor& move_to_passed(std::size_t from) noexcept {
    for (std::size_t i = from; i > passed_; --i) std::swap(all_[i], all_[i - 1]);
    std::size_t at = passed_++;
    for (; at > 0 && all_[at].before < all_[at - 1].before; --at) std::swap(all_[at], all_[at - 1]);
    return all_[at];
  }
  // Its event serves again: behind those that are in use.
  void take_out(std::size_t at) noexcept {
    for (std::size_t i = at; i + 1 < count_; ++i) std::swap(all_[i], all_[i + 1]);
    --count_;
  }
  void thin() noexcept {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i)
      if (i % 2 == 0 || i >= passed_) std::swap(all_[kept++], all_[i]);
    passed_ = (passed_ + 1) / 2;
    count_ = kept;
  }

  clock_anchor* all_ = nullptr;
  std::size_t count_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace streamgauge

#endif
