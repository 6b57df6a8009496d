// Kernels that a program loads through the driver.
//
// Loading may wait for all work of the context, says the CUDA programming guide of lazy loading, and others saw it do so.
// Here it always does. Unmeasured: which of the calls waits; that an unload does not.

#include <algorithm>
#include <string>

#include "captures.hpp"
#include "device.hpp"
#include "driver.hpp"
#include "streams.hpp"

namespace simulated::inside {
namespace {

struct module_answer {
  loaded_module* object = nullptr;
  int status = 0;
};

module_answer find_module(call_in_progress& c, CUmod_st* handle) {
  auto const found = c.m.modules.find(handle);
  if (found == c.m.modules.end()) {
    misuse(c.m, std::string(c.name) + ": a module that was unloaded or never loaded");
    return {nullptr, cudaErrorInvalidResourceHandle};
  }
  auto& home = *found->second.home;
  if (!home.alive) return {nullptr, cudaErrorContextIsDestroyed};
  if (home.id == found->second.home_id) return {&found->second, home.fault};
  misuse(c.m, std::string(c.name) + ": a module of a context that was reset");
  return {nullptr, cudaErrorInvalidResourceHandle};
}

int wait_for_context(call_in_progress& c, context& home) {
  for (auto const& work : all_work(c.m, home))
    if (int const status = wait_for(c, work, home)) return status;
  return 0;
}

}  // namespace

CUresult cuModuleLoadData(CUmod_st** result, void const* image) {
  return driver_call("cuModuleLoadData", {}, [&](auto& c) -> int {
    if (!result || !image) return cudaErrorInvalidValue;
    auto const used = use_context(c);
    if (used.status != 0) return used.status;
    if (int const unsafe = refuse_unsafe(c)) return unsafe;
    std::string const code = static_cast<char const*>(image);
    if (code.rfind(".version ", 0) != 0) return cudaErrorInvalidPtx;
    if (int const status = wait_for_context(c, *used.home)) return status;
    auto const handle = next_handle<CUmod_st*>(c.m);
    c.m.modules[handle] = {used.home, used.home->id, code, {}};
    *result = handle;
    return 0;
  });
}

CUresult cuModuleUnload(CUmod_st* handle) {
  return driver_call(
      "cuModuleUnload", {handle},
      [&](auto& c) -> int {
        auto const found = find_module(c, handle);
        if (!found.object) return found.status;
        if (!std::all_of(found.object->launched.begin(), found.object->launched.end(), is_done))
          misuse(c.m, "cuModuleUnload: a kernel of it is still to run");
        c.m.modules.erase(handle);
        return found.status;
      },
      failing::still_acts);
}

CUresult cuModuleGetFunction(CUfunc_st** result, CUmod_st* handle, char const* name) {
  return driver_call("cuModuleGetFunction", {handle}, [&](auto& c) -> int {
    if (!result || !name) return cudaErrorInvalidValue;
    auto const found = find_module(c, handle);
    if (found.status != 0) return found.status;
    std::string const entry = std::string(".entry ") + name + "(";
    auto const at = found.object->code.find(entry);
    if (at == std::string::npos) return cudaErrorSymbolNotFound;
    if (int const status = wait_for_context(c, *found.object->home)) return status;
    auto const function = next_handle<CUfunc_st*>(c.m);
    c.m.kernels[function] = {handle, name, found.object->code.compare(at + entry.size(), 6, ".param") == 0};
    *result = function;
    return 0;
  });
}

CUresult launch_kernel(CUfunc_st* function, cudaStream_t stream, void** parameters) {
  return driver_call("cuLaunchKernel", {function, stream}, [&](auto& c) -> int {
    auto const kernel = c.m.kernels.find(function);
    if (kernel == c.m.kernels.end()) {
      misuse(c.m, "cuLaunchKernel: a kernel that was never loaded");
      return cudaErrorInvalidResourceHandle;
    }
    auto const found = find_module(c, kernel->second.of);
    if (found.status != 0) return found.status;
    auto const s = find_stream(c, stream);
    if (s.status != 0) return s.status;
    if (s.object->home != found.object->home) return cudaErrorInvalidResourceHandle;
    nanos duration = c.m.kernel_duration;
    if (kernel->second.takes_cycles) {
      if (!parameters) return cudaErrorInvalidValue;
      duration = static_cast<nanos>(*static_cast<std::uint64_t const*>(parameters[0])) * c.m.cycle_time;
    }
    int const status = launch_work(c, stream, duration, 0);
    if (status == 0 && s.object->last) found.object->launched.push_back(s.object->last);
    return status;
  });
}

}  // namespace simulated::inside

namespace simulated {

using inside::at_work;

void set_kernel_duration(nanoseconds duration) {
  at_work at;
  at.m.kernel_duration = duration.count();
}

void set_cycle_time(nanoseconds cycle) {
  at_work at;
  at.m.cycle_time = cycle.count();
}

}  // namespace simulated
