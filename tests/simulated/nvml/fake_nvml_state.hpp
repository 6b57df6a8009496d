#pragma once

#include <atomic>

/// What the fake library answers.
struct fake_nvml_answers {
  char const* known_uuid = "";     ///< a device that is found
  char const* known_part = "";     ///< a part of it, which has neither clocks nor power
  char const* failing = "";        ///< a function that answers `status`
  int status = 0;
  unsigned int sm_mhz = 0;         ///< 1 more with each reading of it where `rises`
  unsigned int rises = 0;
  unsigned int memory_mhz = 0;
  unsigned long long reasons = 0;
  unsigned int temperature = 0;
  unsigned int power_mw = 0;
  unsigned int limit_mw = 0;
  int ecc = 0;
  int started = 0;                 ///< inits less shutdowns
  int inits = 0;
  int asked_of_part = 0;           ///< calls that were given the part
  void (*at_init)() = nullptr;     ///< called by each start
  void (*at_reading)() = nullptr;  ///< called by each reading of the SM clock
};

/// The fake library's whole state, as the library and the tests see it.
struct fake_nvml_state : fake_nvml_answers {
  std::atomic<int> readings{0};  ///< of the SM clock
};
