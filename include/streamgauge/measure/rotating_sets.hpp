#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <cstddef>
#include <string>
#include <type_traits>

#include <streamgauge/measure/translation_unit.hpp>
#include <streamgauge/measure/measurement.hpp>

namespace streamgauge {

/// Which set of inputs the next execution works on: execution k on set k modulo their number.
/// Why: between two executions on one set come those on all others, so where the sets together are larger than the L2,
/// nothing of it is left there. Nothing is flushed, so the caches are as full as in a program that goes through its data.
class set_rotation {
 public:
  explicit constexpr set_rotation(std::size_t sets) noexcept : sets_{sets > 0 ? sets : 1} {}

  [[nodiscard]] std::size_t next() noexcept {
    std::size_t const now = next_;
    next_ = (next_ + 1) % sets_;
    return now;
  }
  /// From now on it is always the first set.
  void stay() noexcept { *this = set_rotation{1}; }
  /// After how many intervals of so many executions one begins with the same set again.
  [[nodiscard]] std::size_t intervals_in_a_turn(std::size_t executions) const noexcept {
    std::size_t common = sets_;  // the greatest common divisor, which no number of sets takes long
    for (std::size_t rest = executions % sets_; rest != 0;) {
      std::size_t const next = common % rest;
      common = rest;
      rest = next;
    }
    return sets_ / common;
  }

 private:
  std::size_t sets_;
  std::size_t next_ = 0;
};

/// Whether a callable asks for the number of a set, behind the stream or alone.
template <class Body>
inline constexpr bool takes_a_set = std::is_invocable_v<Body&, cudaStream_t, std::size_t> ||
                                    (!std::is_invocable_v<Body&, cudaStream_t> && std::is_invocable_v<Body&, std::size_t>);

/// Runs what a program wants to know the time of; with the stream and the number of a set where it takes them.
template <class Body>
void run_body(Body& body, stream_ref stream, std::size_t set) {
  if constexpr (std::is_invocable_v<Body&, cudaStream_t, std::size_t>)
    body(stream.handle(), set);
  else if constexpr (std::is_invocable_v<Body&, cudaStream_t>)
    body(stream.handle());
  else if constexpr (std::is_invocable_v<Body&, std::size_t>)
    body(set);
  else
    body();
}

/// Why a callable's inputs cannot be what the choices say; empty where they can.
template <class Body>
[[nodiscard]] std::string why_not_rotating(measure_choices const& chosen) {
  std::string const sets = std::to_string(chosen.sets) + (chosen.sets == 1 ? " set of inputs" : " sets of inputs");
  if (chosen.cache != cache_state::rotating) {
    if (chosen.sets == 1) return {};
    return sets + ", and nothing rotates: choose cache_state::rotating, or leave choices.sets at 1";
  }
  if (chosen.sets < 2) return "nothing rotates over " + sets + ": say in choices.sets how many there are, two or more";
  if (!takes_a_set<Body>) return "nothing rotates: the callable takes no number of a set, as body(stream, set) does";
  return {};
}

}  // namespace streamgauge

#endif
