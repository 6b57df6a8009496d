// A library in NVML's place, loaded by its path: the names and the signatures are NVML's, the answers are the test's.
// Compiled with FAKE_NVML_OLD it has the names that NVML had before 535.

#include <cstring>

#include "fake_nvml_state.hpp"

struct nvmlDevice_st {};

namespace {

fake_nvml_state state;

// Two devices by their addresses.
nvmlDevice_st whole;
nvmlDevice_st part;

constexpr int invalid_argument = 2;
constexpr int not_supported = 3;
constexpr int not_found = 6;

int asked(char const* function, void const* device, void const* into) {
  if (std::strcmp(state.failing, function) == 0) return state.status;
  if (device != &whole && device != &part) return invalid_argument;
  if (!into) return invalid_argument;
  if (device != &part) return 0;
  ++state.asked_of_part;
  return not_supported;
}

}  // namespace

extern "C" {

fake_nvml_state* fake_nvml_state_of() { return &state; }

char const* nvmlErrorString(int status) {
  return status == 2 ? "Invalid Argument" : status == 3 ? "Not Supported" : status == 6 ? "Not Found" : "Unknown Error";
}

int nvmlInit_v2() {
  if (std::strcmp(state.failing, "nvmlInit_v2") == 0) return state.status;
  if (state.at_init) state.at_init();
  ++state.inits;
  ++state.started;
  return 0;
}

int nvmlShutdown() {
  --state.started;
  return std::strcmp(state.failing, "nvmlShutdown") == 0 ? state.status : 0;
}

int nvmlDeviceGetHandleByUUID(char const* uuid, nvmlDevice_st** device) {
  if (std::strcmp(state.failing, "nvmlDeviceGetHandleByUUID") == 0) return state.status;
  if (!uuid || !device) return invalid_argument;
  bool const is_whole = std::strcmp(uuid, state.known_uuid) == 0;
  if (!is_whole && std::strcmp(uuid, state.known_part) != 0) return not_found;
  *device = is_whole ? &whole : &part;
  return 0;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(nvmlDevice_st* device, nvmlDevice_st** of) {
  if (std::strcmp(state.failing, "nvmlDeviceGetDeviceHandleFromMigDeviceHandle") == 0) return state.status;
  if (device != &part) return invalid_argument;
  *of = &whole;
  return 0;
}

int nvmlDeviceGetClockInfo(nvmlDevice_st* device, int which, unsigned int* mhz) {
  int const status = asked(which == 1 ? "nvmlDeviceGetClockInfo sm" : "nvmlDeviceGetClockInfo memory", device, mhz);
  if (status != 0) return status;
  if (which != 1 && which != 2) return invalid_argument;
  if (which == 1) ++state.readings;
  if (which == 1 && state.at_reading) state.at_reading();
  *mhz = which == 2 ? state.memory_mhz : state.rises ? state.sm_mhz++ : state.sm_mhz;
  return 0;
}

int nvmlDeviceGetMaxClockInfo(nvmlDevice_st* device, int which, unsigned int* mhz) {
  int const status = asked(which == 1 ? "nvmlDeviceGetMaxClockInfo sm" : "nvmlDeviceGetMaxClockInfo memory", device, mhz);
  if (status != 0) return status;
  *mhz = which == 1 ? 1980 : 3202;
  return 0;
}

#if defined(FAKE_NVML_OLD)
int nvmlDeviceGetCurrentClocksThrottleReasons(nvmlDevice_st* device, unsigned long long* reasons) {
#else
int nvmlDeviceGetCurrentClocksEventReasons(nvmlDevice_st* device, unsigned long long* reasons) {
#endif
  int const status = asked("reasons", device, reasons);
  if (status == 0) *reasons = state.reasons;
  return status;
}

int nvmlDeviceGetTemperature(nvmlDevice_st* device, int sensor, unsigned int* celsius) {
  int const status = asked("nvmlDeviceGetTemperature", device, celsius);
  if (status != 0) return status;
  if (sensor != 0) return invalid_argument;
  *celsius = state.temperature;
  return 0;
}

#if !defined(FAKE_NVML_OLD)
int nvmlDeviceGetPowerUsage(nvmlDevice_st* device, unsigned int* mw) {
  int const status = asked("nvmlDeviceGetPowerUsage", device, mw);
  if (status == 0) *mw = state.power_mw;
  return status;
}
#endif

int nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_st* device, unsigned int* mw) {
  int const status = asked("nvmlDeviceGetEnforcedPowerLimit", device, mw);
  if (status == 0) *mw = state.limit_mw;
  return status;
}

int nvmlDeviceGetEccMode(nvmlDevice_st* device, int* current, int* pending) {
  int const status = asked("nvmlDeviceGetEccMode", device, current);
  if (status != 0) return status;
  if (!pending) return invalid_argument;
  *current = state.ecc;
  *pending = 1 - state.ecc;
  return 0;
}

}  // extern "C"
