#pragma once

#include <optional>
#include <string>

#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/steady_text.hpp>
#include <streamgauge/analyze/stopping.hpp>
#include <streamgauge/report/quantity.hpp>
#include <streamgauge/report/text.hpp>

namespace streamgauge::report {

/// What the instrument reads by itself, and how much of an interval that is: "a phase around an empty kernel reads 2.848
/// us, so a third of this or more is the instrument: ...". Empty where no floor is known.
/// `interval`: the median of one, all of its iterations together; absent: the floor alone.
/// Why: as closely as a median is asked for by default, the steps in which a kernel's end is seen still count at 40 us.
template <class = void>
[[nodiscard, gnu::cold]] std::string floor_note(environment const& from, std::optional<fractional_nanoseconds> interval) {
  auto const floor = floor_of(from);
  if (!floor) return {};
  std::string text = std::string{describe(floor->kind)} + " reads " + unbroken(with_unit(floor->time));
  if (!interval || interval->count() <= 0) return text;
  if (*interval <= fractional_nanoseconds{floor->time})
    return text + ", which is no less than what was measured: there is next to no work on this stream; is it on another one?";
  if (*interval < near_floor_factor * floor->time)
    return text + ", so a third of this or more is the instrument: measure several iterations as one";
  double const step = static_cast<double>(kernel_end_step.count()) / interval->count();
  if (step < stopping_rule{}.width) return text;
  return text + "; an H200 sees a kernel end in steps of up to " + unbroken(with_unit(kernel_end_step)) + ", " +
         unbroken(percent(step)) + " of an interval, which repeating does not show: several iterations share it";
}

}  // namespace streamgauge::report
