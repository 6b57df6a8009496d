#pragma once

// A library in NVML's place: what a test says to it.

#include <dlfcn.h>

#include <doctest/doctest.h>

#include "../real_time.hpp"
#include "fake_nvml_state.hpp"

/// The fake library, as it lies on the disk beside the program; its state afresh.
class fake_nvml {
 public:
  explicit fake_nvml(char const* library = FAKE_NVML) : library_{library} {
    void* const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    REQUIRE_MESSAGE(opened != nullptr, dlerror());
    auto const state = reinterpret_cast<fake_nvml_state* (*)()>(dlsym(opened, "fake_nvml_state_of"));
    REQUIRE((state ? true : false));
    state_ = state();
    static_cast<fake_nvml_answers&>(*state_) = {};
    state_->readings = 0;
    state_->known_uuid = "GPU-00112233-4455-6677-8899-aabbccddeeff";
    state_->known_part = "MIG-00112233-4455-6677-8899-aabbccddee01";
    state_->sm_mhz = 1755;
    state_->memory_mhz = 3201;
    state_->reasons = 0x4;
    state_->temperature = 41;
    state_->power_mw = 612'345;
    state_->limit_mw = 700'000;
    state_->ecc = 1;
  }

  [[nodiscard]] fake_nvml_state* operator->() const { return state_; }
  [[nodiscard]] char const* library() const { return library_; }

 private:
  char const* library_;
  fake_nvml_state* state_;
};

/// Whether the library has read the SM clock so often within ten seconds of real time.
inline bool comes_to(fake_nvml const& nvml, int readings) {
  for (int i = 0; i < 10'000 && nvml->readings < readings; ++i) really_sleep(std::chrono::milliseconds{1});
  return nvml->readings >= readings;
}
