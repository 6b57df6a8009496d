// Tests of the simulated runtime itself: streams that wait for a value in the host's memory. Without them a gate would be
// tried on a machine that never holds anything, or that lets go what would hang.

#include <atomic>
#include <thread>

#include "real_time.hpp"
#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::launch;

namespace {

struct wait_functions {
  int (*wait)(cudaStream_t, unsigned long long, unsigned, unsigned) =
      driver<int(cudaStream_t, unsigned long long, unsigned, unsigned)>("cuStreamWaitValue32");
  int (*add)(void*, std::size_t, unsigned) = driver<int(void*, std::size_t, unsigned)>("cuMemHostRegister");
  int (*address)(unsigned long long*, void*, unsigned) =
      driver<int(unsigned long long*, void*, unsigned)>("cuMemHostGetDevicePointer");
};

struct machine_with_words : simulated::fresh_machine {
  no_hang within_minutes;
  cudaStream_t stream = make_stream();
  wait_functions cu;
  std::atomic<std::uint32_t> words[2]{{0}, {0}};
  unsigned long long first = 0;
  unsigned long long second = 0;

  machine_with_words() {
    REQUIRE(cu.add(words, sizeof words, 2) == 0);
    REQUIRE(cu.address(&first, words, 0) == 0);
    second = first + sizeof words[0];
  }

  /// Writes the first word in a while, from another thread.
  std::thread writing(std::uint32_t value) {
    return std::thread{[this, value] {
      really_sleep(20ms);
      words[0] = value;
    }};
  }
};

}  // namespace

TEST_CASE_FIXTURE(machine_with_words, "a stream that waits for a word goes on at the time at which the host wrote it") {
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  timed_work const work{stream, 5us};
  simulated::host_advance(100us);
  CHECK(elapsed_status(work.start, work.stop) == cudaErrorNotReady);
  words[0] = 1;
  auto const written = simulated::host_now();
  simulated::host_advance(1ms);
  CHECK(simulated::stream_end(stream) == written + 5us);
  CHECK(elapsed(work.start, work.stop) == 0.005f);
}

TEST_CASE_FIXTURE(machine_with_words, "what a call costs comes after the look at the words, and so does a stamp's cost") {
  simulated::set_cost("cudaLaunchKernel", 3us);
  simulated::set_cost("steady_clock::now", 7us);
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  launch(stream, 10us);
  words[0] = 1;
  auto const written = simulated::host_now();
  SUBCASE("by a call") { launch(stream, 0us); }
  SUBCASE("by a stamp") { static_cast<void>(std::chrono::steady_clock::now()); }
  CHECK(simulated::stream_end(stream) == written + 10us);
}

TEST_CASE_FIXTURE(machine_with_words, "the wait is for at least the value, counted round, and what is written stays") {
  words[0] = 0xffff'fffeU;
  REQUIRE(cu.wait(stream, first, 0xffff'fffdU, 0) == 0);
  launch(stream, 1us);
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  REQUIRE(cu.wait(stream, first, 2, 0) == 0);
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  words[0] = 1;
  CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
  words[0] = 3;
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
}

TEST_CASE_FIXTURE(machine_with_words, "work from before is not held, another stream is not, and one that waits for it is") {
  auto const other = make_stream();
  auto const third = make_stream();
  launch(stream, 5us);
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  auto const behind = make_event();
  cudaEventRecord(behind, stream);
  launch(other, 2us);
  cudaStreamWaitEvent(third, behind, 0);
  CHECK(cudaStreamSynchronize(other) == cudaSuccess);
  simulated::host_advance(1ms);
  CHECK(cudaStreamQuery(third) == cudaErrorNotReady);
  words[0] = 1;
  CHECK(cudaStreamQuery(third) == cudaSuccess);
}

TEST_CASE_FIXTURE(machine_with_words, "a call that waits for held work waits really, until another thread writes the word") {
  auto const held_event = make_event();
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  launch(stream, 5us);
  cudaEventRecord(held_event, stream);
  auto const began = simulated::host_now();
  auto const really_began = real_now();
  auto writer = writing(1);
  SUBCASE("for the stream") { CHECK(cudaStreamSynchronize(stream) == cudaSuccess); }
  SUBCASE("for an event") { CHECK(cudaEventSynchronize(held_event) == cudaSuccess); }
  SUBCASE("for the device") { CHECK(cudaDeviceSynchronize() == cudaSuccess); }
  SUBCASE("for a kernel to be loaded") {
    CHECK(simulated::first_launch(make_stream(), 1us) == cudaSuccess);
    CHECK(simulated::host_now() == began + 5us);
  }
  SUBCASE("by polling") {
    simulated::set_poll_limit(1);
    while (cudaEventQuery(held_event) == cudaErrorNotReady) {
    }
  }
  writer.join();
  CHECK(real_now() - really_began >= 15ms);
  CHECK(simulated::host_now() >= began + 5us);
}

TEST_CASE_FIXTURE(machine_with_words, "1020 pieces of work have room behind a wait, and the next one waits really") {
  REQUIRE(cu.wait(stream, first, 1, 0) == 0);
  auto const really_began = real_now();
  for (int i = 0; i < 1020; ++i) REQUIRE(launch(stream, 1us) == cudaSuccess);
  CHECK(words[0] == 0);
  auto writer = writing(1);
  CHECK(launch(stream, 1us) == cudaSuccess);
  CHECK(words[0] == 1);
  writer.join();
  CHECK(real_now() - really_began >= 15ms);
  // Where nothing is held there is room for everything; and it begins at 0 behind the next wait.
  for (int i = 0; i < 2000; ++i) REQUIRE(launch(stream, 1us) == cudaSuccess);
  REQUIRE(cu.wait(stream, first, 2, 0) == 0);
  for (int i = 0; i < 1020; ++i) REQUIRE(launch(stream, 1us) == cudaSuccess);
  words[0] = 2;
  CHECK(cudaStreamSynchronize(stream) == cudaSuccess);
}

TEST_CASE_FIXTURE(machine_with_words, "a kernel's first launch is like any other where nothing is held, but for the wait") {
  launch(make_stream(), 5us);
  auto const began = simulated::host_now();
  CHECK(simulated::first_launch(stream, 2us) == cudaSuccess);
  CHECK(simulated::host_now() == began + 5us);
  CHECK(simulated::stream_end(stream) == began + 7us);
  CHECK(simulated::count("cudaLaunchKernel") == 2);
}

TEST_CASE_FIXTURE(machine_with_words, "a wait needs memory that its own context was told of, by the device's address") {
  CHECK(cu.wait(stream, reinterpret_cast<unsigned long long>(&words[0]), 1, 0) == cudaErrorInvalidValue);
  CHECK(cu.wait(stream, first + sizeof words, 1, 0) == cudaErrorInvalidValue);
  CHECK(cu.wait(stream, first + 2, 1, 0) == cudaErrorInvalidValue);
  CHECK(cu.wait(stream, first, 1, 1) == cudaErrorInvalidValue);
  CHECK(cu.add(words, sizeof words, 2) == cudaErrorHostMemoryAlreadyRegistered);
  CHECK(cu.add(nullptr, sizeof words, 2) == cudaErrorInvalidValue);
  CHECK(cudaStreamQuery(stream) == cudaSuccess);
  cudaDeviceReset();
  auto const next = make_stream();
  unsigned long long address = 0;
  CHECK(cu.wait(next, first, 1, 0) == cudaErrorInvalidValue);
  CHECK(cu.address(&address, words, 0) == cudaErrorInvalidValue);
  CHECK(cu.add(words, sizeof words, 2) == 0);
  CHECK(cu.wait(next, second, 0, 0) == 0);
}

TEST_CASE("memory that one context was told of is none of another's") {
  simulated::machine_options two;
  two.devices = 2;
  simulated::fresh_machine const machine{two};
  auto const here = make_stream();
  wait_functions const cu;
  std::uint32_t word = 0;
  unsigned long long address = 0;
  REQUIRE(cu.add(&word, sizeof word, 2) == 0);
  REQUIRE(cu.address(&address, &word, 0) == 0);
  cudaSetDevice(1);
  CHECK(cu.wait(make_stream(), address, 0, 0) == cudaErrorInvalidValue);
  CHECK(cu.wait(here, address, 0, 0) == 0);
}

TEST_CASE_FIXTURE(machine_with_words, "a wait on a stream that is being captured breaks the capture") {
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed) == cudaSuccess);
  CHECK(cu.wait(stream, first, 1, 0) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
}
