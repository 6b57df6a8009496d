#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <streamgauge/analyze/verdict.hpp>
#include <streamgauge/measure/translation_unit.hpp>
#include <streamgauge/measure/measurement.hpp>

namespace streamgauge {
#if defined(STREAMGAUGE_DISABLE)
inline namespace disabled {  // its gates are others
#endif

/// A callable with the name that its series gets.
struct contender {
  std::string name;
  std::function<void(cudaStream_t)> body;

  /// `callable`: enqueues on the stream, which it is called with where it takes one. It can be copied.
  template <class Callable>
  contender(std::string called, Callable callable) : name{std::move(called)} {
    if constexpr (std::is_invocable_v<Callable&, cudaStream_t>)
      body = std::move(callable);
    else if constexpr (std::is_invocable_v<Callable&>)
      body = [callable](cudaStream_t) mutable { callable(); };
    else
      static_assert(std::is_same_v<Callable, std::nullptr_t>, "a contender is called with a cudaStream_t, or with nothing");
  }
};

/// What `measure_rounds` found out. Plain values, free of CUDA.
struct contest {
  recording taken;                        ///< a series for each contender, the warm-up rounds marked
  std::vector<std::string> names;
  std::size_t iterations = 1;             ///< in each sample
  declared_work work{};                   ///< of one execution of any of them, as it was declared
  std::vector<comparison> against_first;  ///< of every other contender against the first: "within one run only"
  std::optional<std::size_t> fastest;     ///< the one with the least median; absent without medians
  std::size_t rounds = 0;                 ///< those that count
  stop_cause ended = stop_cause::none;
  fed_by feeding = fed_by::nothing;
  gating gate = gating::not_timed;
  std::size_t overtaken = 0;              ///< intervals that the device began before all was queued, for all the work ahead
  bool watched = false;                   ///< under a tool: nothing here is a result
  nanoseconds took{0};
  std::string why_none;                   ///< why there is no comparison; empty where there is one
};

#if defined(STREAMGAUGE_DISABLE)
}  // namespace disabled
#endif
}  // namespace streamgauge
