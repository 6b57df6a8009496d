#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <cstdint>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/plain_array.hpp>
#include <streamgauge/measure/event_pool.hpp>
#include <streamgauge/measure/lock.hpp>

namespace streamgauge {

/// A stream that intervals were read on.
struct numbered_stream {
  context_key context;
  cudaStream_t handle = nullptr;
  std::uint32_t thread = 0;  ///< whose per-thread stream it is; 0 for every other
  int device = -1;           ///< the device's number, -1 when CUDA did not say

  [[nodiscard]] bool is(numbered_stream const& other) const noexcept {
    return handle == other.handle && thread == other.thread && context == other.context;
  }
};

/// The streams of a recorder, numbered from 1 in the order in which intervals on them were first read.
/// Why: a sample keeps a number of two bytes where a handle with its context takes twenty. Handles are found by their hash,
/// since some programs make streams by the thousand.
/// Threads: any.
class stream_numbers {
 public:
  static constexpr std::size_t most = 65535;

  stream_numbers() noexcept { static_cast<void>(grow() && make_room()); }  // so that the first of them ask for no memory

  /// The stream's number, given at the first asking; 0 without memory, and for what comes after the last number.
  [[nodiscard]] std::uint16_t number_of(numbered_stream const& wanted) noexcept {
    brief_guard const guard{lock_};
    if (2 * (all_.size() + 1) > places_.size() && !grow()) return 0;
    std::uint16_t& place = place_of(wanted);
    if (place != 0 || all_.size() == most || !make_room()) return place;
    all_.append(wanted);
    return place = static_cast<std::uint16_t>(all_.size());
  }

  /// That of a stream in the context of a pool, on which a thread measured.
  [[nodiscard]] std::uint16_t number_of(cudaStream_t stream, event_pool const& pool, std::uint32_t thread) noexcept {
    return number_of({pool.context(), stream, stream == per_thread_stream() ? thread + 1 : 0, pool.device()});
  }
  /// That of the stream of a slot. Why: a slot is mostly used on one stream again and again, and then no lock is taken.
  [[nodiscard]] std::uint16_t number_of(timed_slot& slot, std::uint32_t thread) noexcept {
    bool const is_known = slot.number != 0 && slot.numbered == slot.stream && slot.stream != per_thread_stream();
    if (is_known) return slot.number;
    slot.numbered = slot.stream;
    return slot.number = number_of(slot.stream, *slot.pool, thread);
  }

  /// What samples name, in the order of their numbers. A template, so that only a unit that collects compiles it.
  template <class Streams>
  void describe(Streams& into) {
    for (std::size_t number = 1, count = size(); number <= count; ++number) {
      numbered_stream const seen = at(number);
      into.emplace_back();
      auto& described = into.back();
      described.device = seen.device;
      described.handle = reinterpret_cast<std::uintptr_t>(seen.handle);
      if (stream_ref::resolved(seen.handle).is_legacy()) described.kind = decltype(described.kind)::legacy;
      if (seen.handle == per_thread_stream()) described.kind = decltype(described.kind)::per_thread;
    }
  }

  [[nodiscard]] std::size_t size() noexcept {
    brief_guard const guard{lock_};
    return all_.size();
  }
  /// Requires: `number` is from 1 to `size()`.
  [[nodiscard]] numbered_stream at(std::size_t number) noexcept {
    brief_guard const guard{lock_};
    return all_.data()[number - 1];
  }

 private:
  // Where the stream's number stands, or 0 where it is to stand. Fewer than half of the places are taken.
  [[nodiscard]] std::uint16_t& place_of(numbered_stream const& wanted) noexcept {
    std::uint64_t mixed = reinterpret_cast<std::uintptr_t>(wanted.handle) + 31 * wanted.context.id + wanted.thread;
    mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;  // as the samples' own: handles differ in few bits
    std::size_t const mask = places_.size() - 1;
    std::size_t at = (mixed ^ (mixed >> 27U)) & mask;
    while (places_.data()[at] != 0 && !all_.data()[places_.data()[at] - 1].is(wanted)) at = (at + 1) & mask;
    return places_.data()[at];
  }
  [[nodiscard]] bool make_room() noexcept {
    return all_.size() < all_.room() || all_.reserve(all_.room() > 0 ? 2 * all_.room() : first_room);
  }
  [[nodiscard, gnu::cold]] bool grow() noexcept {
    std::size_t const wanted = places_.size() > 0 ? 2 * places_.size() : 2 * first_room;
    if (!places_.reserve(wanted)) return false;
    places_.resize(wanted);
    for (std::size_t i = 0; i < wanted; ++i) places_.data()[i] = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) place_of(all_.data()[i]) = static_cast<std::uint16_t>(i + 1);
    return true;
  }
  static constexpr std::size_t first_room = 64;

  brief_lock lock_;  // what follows
  plain_array<numbered_stream> all_;
  plain_array<std::uint16_t> places_;  ///< numbers by the hash of their stream; 0: free
};

}  // namespace streamgauge

#endif
