// Without these: a failed CUDA call loses its status, its text or the place that it was made from; and without exceptions
// a failure would be overlooked. This file is compiled a second time with -fno-exceptions.

#include <streamgauge/measure/error.hpp>

#include <csignal>
#include <string>
#include <type_traits>

#include <streamgauge/measure/interval.hpp>

#include "own_process.hpp"
#include "program.hpp"

using simulated::fresh_machine;
using streamgauge::absence;
using streamgauge::absence_of;
using streamgauge::check;
namespace sg = streamgauge;

static_assert(std::is_base_of_v<std::runtime_error, sg::cuda_error>);
static_assert(std::is_nothrow_copy_constructible_v<sg::cuda_error>);

TEST_CASE_FIXTURE(fresh_machine, "the text of a status names the call, CUDA's words, its name and its number") {
  CHECK(sg::describe(cudaErrorMemoryAllocation, "cudaMalloc") ==
        "cudaMalloc: out of memory (cudaErrorMemoryAllocation, 2)");
}

TEST_CASE_FIXTURE(fresh_machine, "success passes a check without a call or a word") {
  check(cudaSuccess, "cudaMalloc");
  CHECK(simulated::count_all() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "every status means one reason, and success means none") {
  CHECK(absence_of(cudaSuccess) == absence::none);
  CHECK(absence_of(cudaErrorMemoryAllocation) == absence::no_memory);
  CHECK(absence_of(cudaErrorInitializationError) == absence::forked);
  CHECK(absence_of(cudaErrorNoDevice) == absence::no_driver);
  CHECK(absence_of(cudaErrorInsufficientDriver) == absence::no_driver);
  CHECK(absence_of(cudaErrorDeviceUninitialized) == absence::no_context);
  CHECK(absence_of(cudaErrorContextIsDestroyed) == absence::context_gone);
  CHECK(absence_of(cudaErrorStreamCaptureUnsupported) == absence::stream_capture);
  CHECK(absence_of(cudaErrorStreamCaptureImplicit) == absence::capture_elsewhere);
  for (int const sticky : {214, 220, 700, 702, 710, 714, 715, 716, 717, 718, 719})
    CHECK(absence_of(sticky) == absence::earlier_work_failed);
  for (int const other : {1, 400, 999, 12345}) CHECK(absence_of(other) == absence::call_failed);
}

#if defined(__cpp_exceptions)

TEST_CASE_FIXTURE(fresh_machine, "a failed check throws cuda_error with the status, the call and the place") {
  int line = 0;
  try {
    line = __LINE__ + 1;
    check(cudaErrorMemoryAllocation, "cudaMalloc");
    FAIL("it passed");
  } catch (sg::cuda_error const& error) {
    CHECK(error.status() == cudaErrorMemoryAllocation);
    CHECK(std::string{error.what()} == std::string{__FILE__} + ':' + std::to_string(line) +
                                           ": cudaMalloc: out of memory (cudaErrorMemoryAllocation, 2)");
  }
  CHECK_THROWS_AS(check(cudaErrorUnknown), std::runtime_error);
}

TEST_CASE_FIXTURE(fresh_machine, "a check leaves the runtime's last error as it is, so that the program can still see it") {
  simulated::user_scope const user;
  cudaError_t const status = cudaEventCreateWithFlags(nullptr, 0);
  CHECK_THROWS_AS(check(status, "cudaEventCreateWithFlags"), sg::cuda_error);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidValue);
}

TEST_CASE_FIXTURE(fresh_machine, "an interval that cannot be made throws cuda_error") {
  CHECK_THROWS_AS(sg::interval{cudaStreamLegacy}, sg::cuda_error);  // there is no context, and none is made for it
  CHECK_FALSE(simulated::context_created(0));
  CHECK(pending_error() == cudaSuccess);
}

#else

TEST_CASE("aborts in a check" * doctest::skip()) {
  check(cudaErrorMemoryAllocation, "cudaMalloc");
}

TEST_CASE("aborts in a constructor" * doctest::skip()) {
  simulated::reset();
  sg::interval const timer{cudaStreamLegacy};
}

TEST_CASE_FIXTURE(fresh_machine, "case-104 without exceptions a failed check prints the same text and aborts") {
  process_outcome const outcome = in_own_process("aborts in a check");
  CHECK(outcome.signal == SIGABRT);
  CHECK(outcome.errors.find("streamgauge: ") == 0);
  CHECK(outcome.errors.find("error_test.cpp:") != std::string::npos);
  CHECK(outcome.errors.find(": cudaMalloc: out of memory (cudaErrorMemoryAllocation, 2)\n") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "case-104 without exceptions a constructor that fails prints and aborts") {
  process_outcome const outcome = in_own_process("aborts in a constructor");
  CHECK(outcome.signal == SIGABRT);
  CHECK(outcome.errors ==
        "streamgauge: making an event: invalid device context (cudaErrorDeviceUninitialized, 201)\n");
}

#endif
