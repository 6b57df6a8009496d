#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <streamgauge/mark/tool_clock.hpp>

#if !defined(STREAMGAUGE_DISABLE)
#include <streamgauge/mark/process_lock.hpp>
#include <streamgauge/mark/name_table.hpp>
#endif

namespace streamgauge {

/// What became of a range that was submitted.
struct deferred_outcome {
  char const* why_not = "";  ///< why no tool has it; empty where one does
  nanoseconds bound{0};      ///< each end lies at most so far from its true place: the caller's bound and the clock's

  [[nodiscard]] constexpr bool submitted() const noexcept { return *why_not == '\0'; }
};

/// What became of all of them.
struct deferred_counts {
  std::uint64_t submitted = 0;
  std::uint64_t refused = 0;
  std::size_t names = 0;           ///< different ones that the tool was told
  nanoseconds widest_bound{0};     ///< of those submitted
  char const* first_refusal = "";  ///< why the first one was refused; empty where none was
};

#if defined(STREAMGAUGE_DISABLE)

inline namespace disabled {
class deferred_ranges {
 public:
  deferred_ranges() noexcept {}
  explicit deferred_ranges(deferred_calls, rate_stray = {}) noexcept {}
  deferred_ranges(deferred_ranges const&) = delete;
  deferred_ranges& operator=(deferred_ranges const&) = delete;
  ~deferred_ranges() {}  // not defaulted: one that nothing else mentions must not look unused

  template <class Name>
  deferred_outcome submit(Name const&, host_stamp, host_stamp, nanoseconds = nanoseconds{0}) const noexcept {
    return {why_not()};
  }
  void look() const noexcept {}
  [[nodiscard]] char const* why_not() const noexcept { return "marking is compiled out by STREAMGAUGE_DISABLE"; }
  [[nodiscard]] deferred_counts counts() const noexcept { return {}; }
};
}  // namespace disabled

#else

/// Ranges that a tool is told of after the fact, with a begin and an end of their own: nsys shows them on its timeline
/// where they were, for example where the device ran them.
/// Why: a range that is open while the host submits shows when the host submitted. Where a phase ran on the device is known
/// only later. The tool's answer is silence, so `submitted` says that it was told, not that it shows the range.
/// Requires: made a millisecond before the first range is submitted, since the tool's clock is known from then on; one
/// object for long, since each registers its names anew.
/// Throws: nothing. Sync: none. Threads: any.
/// Example: `sg::deferred_ranges device; ...; device.submit("gemm", begun, ended, bound);`
class deferred_ranges {
 public:
  /// Its ranges are in the domain `streamgauge_device`.
  template <class Unit = deferring>
  deferred_ranges() noexcept : deferred_ranges{deferred_calls_in<device_domain, Unit>()} {}
  /// Gives them to another domain.
  /// Example: `sg::deferred_ranges device{sg::deferred_calls_in<my_domain>()};`
  explicit deferred_ranges(deferred_calls const& calls, rate_stray stray = {}) noexcept
      : calls_{&calls}, absent_{calls.open()}, clock_{calls, stray} {}

  deferred_ranges(deferred_ranges const&) = delete;
  deferred_ranges& operator=(deferred_ranges const&) = delete;

  /// Tells the tool of a range. `bound`: how far the caller's stamps may lie from the truth.
  /// Why: a range that ends before it begins is refused, as nobody knows which of the two is wrong. One that is empty goes.
  deferred_outcome submit(std::string_view name, host_stamp begin, host_stamp end,
                          nanoseconds bound = nanoseconds{0}) noexcept {
    process_guard const guard{lock_};
    deferred_outcome const found = try_to_submit(name, begin, end, bound);
    if (found.submitted()) {
      ++counts_.submitted;
      if (found.bound > counts_.widest_bound) counts_.widest_bound = found.bound;
    } else if (++counts_.refused == 1) {
      counts_.first_refusal = found.why_not;
    }
    return found;
  }
  /// A null pointer is the empty name.
  deferred_outcome submit(char const* name, host_stamp begin, host_stamp end,
                          nanoseconds bound = nanoseconds{0}) noexcept {
    return submit(name != nullptr ? std::string_view{name} : std::string_view{}, begin, end, bound);
  }

  /// Looks at the tool's clock. Why: bounds are tight near a look. A submit looks by itself where the last one is a
  /// millisecond old, so this is for a stretch of work that is submitted much later.
  void look() noexcept {
    process_guard const guard{lock_};
    clock_.look();
  }

  /// Why no range can be submitted now, in words; empty where one can. A tool that does not want the domain counts.
  [[nodiscard]] char const* why_not() const noexcept {
    if (*absent_ != '\0') return absent_;
    process_guard const guard{lock_};
    return why_not_now();
  }

  [[nodiscard]] deferred_counts counts() const noexcept {
    process_guard const guard{lock_};
    deferred_counts found = counts_;
    found.names = names_.size();
    return found;
  }

 private:
  deferred_outcome try_to_submit(std::string_view name, host_stamp begin, host_stamp end, nanoseconds bound) noexcept {
    if (*absent_ != '\0') return {absent_};
    if (end < begin) return {"it ends before it begins"};
    if (bound < nanoseconds{0}) return {"its bound is below zero"};
    clock_.look_when_due();
    if (char const* const why = why_not_now(); *why != '\0') return {why};
    auto const from = clock_.place(begin);
    auto const to = clock_.place(end);
    if (!from || !to) return {"its time is too far away from now to be placed on the tool's clock"};
    auto const known = names_.handle_of(name, calls_->register_name);
    if (known.handle == nullptr) return {known.why_not};
    calls_->submit(known.handle, from->ticks, to->ticks);
    auto const placed = from->bound < to->bound ? to->bound : from->bound;
    auto const most = (nanoseconds::max)();
    return {"", bound > most - placed ? most : bound + placed};
  }

  [[nodiscard]] char const* why_not_now() const noexcept {
    return calls_->is_wanted() ? clock_.why_not() : "the tool that listens to NVTX does not want this domain now";
  }

  deferred_calls const* calls_;
  char const* absent_;
  mutable process_lock lock_;
  tool_clock clock_;
  name_table names_;
  deferred_counts counts_;
};

#endif

}  // namespace streamgauge
