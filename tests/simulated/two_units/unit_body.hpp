// The body of both units, once. It is included once in each and has no guard: every name in it is the unit's own.

#include "unit.hpp"

namespace {

namespace sg = streamgauge;

cudaStream_t resolved(cudaStream_t stream) { return sg::stream_ref{stream}.handle(); }

void enter_and_leave(sg::phase const& phase, cudaStream_t stream) {
  auto scope = phase.enter(stream);
  scope.wait(sg::wait_policy::block);
}

void enter_a_null_pointer(sg::phase const& phase) { auto const scope = phase.enter(nullptr, {{"given", "nullptr"}}); }

sg::started_phase start(sg::phase const& phase, cudaStream_t stream) { return phase.start(stream); }

bool throws() {
  try {
    sg::check(cudaErrorInvalidValue, "the unit's own check");
  } catch (sg::cuda_error const& error) {
    return error.status() == cudaErrorInvalidValue;
  }
  return false;
}

constexpr unit this_unit() { return {resolved, enter_and_leave, enter_a_null_pointer, start, throws}; }

}  // namespace
