// Without these: an event made on whatever device is current cannot be recorded on the stream, or costs another device a
// context; one destroyed after its context is gone crashes the process.

#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>

#include <memory>
#include <thread>
#include <type_traits>

#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::cuda_error;
using streamgauge::event;
using streamgauge::interval;
using streamgauge::nanoseconds;
namespace sg = streamgauge;

static_assert(!std::is_default_constructible_v<event>);
static_assert(!std::is_copy_constructible_v<event>);
static_assert(std::is_nothrow_move_constructible_v<event>);
static_assert(std::is_nothrow_move_assignable_v<event>);
static_assert(std::is_nothrow_destructible_v<event>);

namespace {

class two_devices : public fresh_machine {
 public:
  two_devices() : fresh_machine{options()} {}

 private:
  static simulated::machine_options options() {
    simulated::machine_options two;
    two.devices = 2;
    return two;
  }
};

/// A stream of device 1, made by another thread, so that this one's current device stays 0 and has no context.
cudaStream_t stream_of_device_1() {
  cudaStream_t stream = nullptr;
  std::thread{[&stream] {
    simulated::user_scope const user;
    cudaSetDevice(1);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  }}.join();
  return stream;
}

int current_device() {
  simulated::user_scope const user;
  int device = -1;
  cudaGetDevice(&device);
  return device;
}

}  // namespace

TEST_CASE_FIXTURE(two_devices, "case-06 an interval's events belong to its stream's device, and the current device gets no context") {
  cudaStream_t const stream = stream_of_device_1();
  REQUIRE_FALSE(simulated::context_created(0));
  {
    interval timer{stream};
    timer.start();
    simulated::host_advance(8ms);  // a launch from here would give device 0 its context by itself
    timer.stop();
    CHECK(timer.wait().time == nanoseconds{8ms});
  }
  CHECK_FALSE(simulated::context_created(0));
  CHECK(current_device() == 0);
  CHECK(simulated::events_created() == simulated::events_destroyed());
}

TEST_CASE_FIXTURE(two_devices, "case-06 a phase on a stream of another device leaves the current device as it was, without a context") {
  cudaStream_t const stream = stream_of_device_1();
  {
    sg::recorder recorder{sg::mode::time, {1000, 4}};
    sg::phase const step{recorder, "step"};
    for (int i = 0; i < 10; ++i) {
      auto const scope = step.enter(stream);
      simulated::host_advance(8ms);
    }
    sg::recording const taken = recorder.collect();
    REQUIRE(taken.all.at(0).samples.size() == 10);
    for (std::size_t i = 0; i < 10; ++i) CHECK(taken.all[0].samples[i].device == sg::observation{8ms});
    REQUIRE(taken.environment.devices.size() == 1);
    CHECK(taken.environment.devices[0].ordinal == 1);
  }
  CHECK_FALSE(simulated::context_created(0));
  CHECK(current_device() == 0);
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(two_devices, "case-06 the current device is the same after a failure in the middle, whichever call fails") {
  cudaStream_t const stream = stream_of_device_1();
  for (char const* const call : {"cuStreamGetCtx", "cuCtxGetId", "cuCtxPushCurrent", "cuEventCreate", "cuEventRecord"}) {
    CAPTURE(call);
    simulated::fail_nth(call, 1, cudaErrorUnknown);
    bool thrown = false;
    try {
      interval timer{stream};
      timer.start();
      timer.stop();
    } catch (cuda_error const& error) {
      thrown = true;
      CHECK(error.status() == cudaErrorUnknown);
    }
    CHECK(thrown == (std::string{call} != "cuEventRecord"));
    CHECK(simulated::injected_failures() > 0);
    CHECK(current_device() == 0);
    CHECK_FALSE(simulated::context_created(0));
    CHECK(pending_error() == cudaSuccess);
    simulated::clear_injections();
  }
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(two_devices, "an event of a context that is current is made there without a second context") {
  program_stream const stream;
  event const made{stream.get()};
  CHECK(made.get() != nullptr);
  CHECK(made.context().handle != nullptr);
  CHECK_FALSE(simulated::context_created(1));
  CHECK(simulated::live_events() == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "case-31 an event that was moved from is null, and no null event is ever destroyed") {
  program_stream const stream;
  {
    event first{stream.get()};
    cudaEvent_t const handle = first.get();
    event second{std::move(first)};
    CHECK(first.get() == nullptr);
    CHECK(second.get() == handle);
    event third{stream.get()};
    third = std::move(second);
    CHECK(third.get() == handle);
    event& same = third;
    third = std::move(same);
    CHECK(third.get() == handle);
    first = std::move(third);
    CHECK(first.get() == handle);
  }
  CHECK(simulated::events_created() == 2);
  CHECK(simulated::events_destroyed() == 2);
  for (auto const& call : simulated::log())
    if (std::string{call.name} == "cuEventDestroy") CHECK(call.handle != nullptr);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "case-37 an event whose device was reset is not touched again, started anew or not") {
  program_stream first_life;
  auto before = std::make_unique<event>(first_life.get());
  auto long_lived = std::make_unique<event>(first_life.get());
  reset_device();
  first_life.forget();
  before.reset();
  CHECK(simulated::count("cuEventDestroy") == 0);
  program_stream const second_life;
  event const after{second_life.get()};
  CHECK_FALSE(after.context() == long_lived->context());
  long_lived.reset();
  CHECK(simulated::count("cuEventDestroy") == 0);
  CHECK(simulated::live_events() == 1);
  CHECK(pending_error() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "an event that cannot be made throws CUDA's status with its text, and nothing is pending") {
  program_stream const stream;
  simulated::fail_nth("cuEventCreate", 1, cudaErrorMemoryAllocation);
  try {
    event const made{stream.get()};
    FAIL("made in spite of it");
  } catch (cuda_error const& error) {
    CHECK(error.status() == cudaErrorMemoryAllocation);
    CHECK(std::string{error.what()} == "making an event: out of memory (cudaErrorMemoryAllocation, 2)");
  }
  CHECK(pending_error() == cudaSuccess);
  CHECK(simulated::live_events() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "case-36 an event that outlives the CUDA runtime is left alone without a word") {
  program_stream stream;
  auto made = std::make_unique<event>(stream.get());
  simulated::begin_unloading();
  stream.forget();
  made.reset();
  CHECK(simulated::events_destroyed() == 0);
}
