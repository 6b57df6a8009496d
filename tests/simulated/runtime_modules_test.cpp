// Tests of the simulated runtime itself: kernels that a program loads through the driver.

#include <cstdint>
#include <string>

#include "runtime/test_side.hpp"

using namespace std::chrono_literals;
using namespace simulated::test_side;
using simulated::fresh_machine;

namespace {

using module_handle = struct CUmod_st*;
using function_handle = struct CUfunc_st*;

/// The driver's functions about modules, found as a program would find them.
struct module_functions {
  int (*load)(module_handle*, void const*) = driver<int(module_handle*, void const*)>("cuModuleLoadData");
  int (*unload)(module_handle) = driver<int(module_handle)>("cuModuleUnload");
  int (*find)(function_handle*, module_handle,
              char const*) = driver<int(function_handle*, module_handle, char const*)>("cuModuleGetFunction");
  using launch_function = int(function_handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                              cudaStream_t, void**, void**);
  launch_function* launch_from = driver<launch_function>("cuLaunchKernel");

  int launch(function_handle kernel, cudaStream_t stream, void** parameters = nullptr) const {
    return launch_from(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  }
};

constexpr char code[] = ".version 7.0\n.visible .entry nothing() {}\n.visible .entry busy(.param .u64 cycles) {}\n";

struct loaded {
  module_functions cu;
  module_handle code_of = nullptr;
  function_handle nothing = nullptr, busy = nullptr;
  cudaStream_t stream = make_stream();
  loaded() {
    REQUIRE(cu.load(&code_of, code) == 0);
    REQUIRE(cu.find(&nothing, code_of, "nothing") == 0);
    REQUIRE(cu.find(&busy, code_of, "busy") == 0);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "a loaded kernel takes the time that was set, one with a parameter so many cycles") {
  loaded const it;
  CHECK(simulated::live_modules() == 1);
  simulated::set_kernel_duration(1600ns);
  simulated::set_cycle_time(2ns);
  auto const before = simulated::host_now();
  CHECK(it.cu.launch(it.nothing, it.stream) == 0);
  CHECK(simulated::stream_end(it.stream) == before + 1600ns);
  std::uint64_t cycles = 500;
  void* parameters[] = {&cycles};
  CHECK(it.cu.launch(it.busy, it.stream, parameters) == 0);
  CHECK(simulated::stream_end(it.stream) == before + 2600ns);
  CHECK(it.cu.launch(it.busy, it.stream) == cudaErrorInvalidValue);
  CHECK(cudaStreamSynchronize(it.stream) == cudaSuccess);
  CHECK(it.cu.unload(it.code_of) == 0);
  CHECK(simulated::live_modules() == 0);
}

TEST_CASE_FIXTURE(fresh_machine, "what cannot be loaded or found is refused by CUDA's numbers") {
  module_functions const cu;
  module_handle code_of = nullptr;
  function_handle kernel = nullptr;
  CHECK(cu.load(&code_of, code) == cudaErrorDeviceUninitialized);  // no context is current
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
  CHECK(cu.load(&code_of, "nonsense") == cudaErrorInvalidPtx);
  CHECK(cu.load(nullptr, code) == cudaErrorInvalidValue);
  REQUIRE(cu.load(&code_of, code) == 0);
  CHECK(cu.find(&kernel, code_of, "noth") == cudaErrorSymbolNotFound);
  CHECK(cudaPeekAtLastError() == cudaSuccess);
}

TEST_CASE_FIXTURE(fresh_machine, "loading waits for all work of the context, and for ever where it is held") {
  auto const stream = make_stream();
  module_functions const cu;
  module_handle code_of = nullptr;
  REQUIRE(simulated::launch(stream, 5ms) == cudaSuccess);
  auto const end = simulated::stream_end(stream);
  REQUIRE(cu.load(&code_of, code) == 0);
  CHECK(simulated::host_now() == end);
  function_handle kernel = nullptr;
  REQUIRE(simulated::launch(stream, 5ms) == cudaSuccess);
  REQUIRE(cu.find(&kernel, code_of, "nothing") == 0);
  CHECK(simulated::host_now() == end + 5ms);
  simulated::hold(stream);
  REQUIRE(simulated::launch(stream, 1ms) == cudaSuccess);
  CHECK(cu.load(&code_of, code) == cudaErrorUnknown);
  CHECK(mentions(misuses(), "cuModuleLoadData waits for ever"));
  simulated::release(stream);
}

TEST_CASE_FIXTURE(fresh_machine, "loading in a mode that forbids it breaks a capture, in relaxed mode it does not") {
  auto const stream = make_stream();
  module_functions const cu;
  module_handle code_of = nullptr;
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  auto mode = cudaStreamCaptureModeRelaxed;
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(cu.load(&code_of, code) == 0);
  REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  REQUIRE(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  CHECK(cu.load(&code_of, code) == cudaErrorStreamCaptureUnsupported);
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaErrorStreamCaptureInvalidated);
}

TEST_CASE_FIXTURE(fresh_machine, "code pulled from under a kernel, used after it went, or of another life of its context is a misuse") {
  loaded const it;
  SUBCASE("pulled from under a kernel") {
    simulated::set_kernel_duration(1ms);
    REQUIRE(it.cu.launch(it.nothing, it.stream) == 0);
    CHECK(it.cu.unload(it.code_of) == 0);
    CHECK(mentions(misuses(), "a kernel of it is still to run"));
  }
  SUBCASE("used after it went") {
    REQUIRE(it.cu.unload(it.code_of) == 0);
    CHECK(it.cu.launch(it.nothing, it.stream) == cudaErrorInvalidResourceHandle);
    CHECK(mentions(misuses(), "unloaded or never loaded"));
    CHECK(it.cu.unload(it.code_of) == cudaErrorInvalidResourceHandle);
    CHECK(mentions(misuses(), "unloaded or never loaded"));
  }
  SUBCASE("of another life") {
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    CHECK(it.cu.unload(it.code_of) == cudaErrorContextIsDestroyed);
    CHECK(misuses().empty());
    REQUIRE(cudaFree(nullptr) == cudaSuccess);
    CHECK(it.cu.unload(it.code_of) == cudaErrorInvalidResourceHandle);
    CHECK(mentions(misuses(), "a context that was reset"));
  }
}
