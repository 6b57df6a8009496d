#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>

namespace streamgauge {

/// One key and value that make executions of a phase comparable: shape, dtype, mode.
struct condition {
  std::string key;
  std::string value;

  [[nodiscard]] friend bool operator==(condition const& a, condition const& b) {
    return a.key == b.key && a.value == b.value;
  }
};

/// What a device said of itself at a moment: NVML's figures.
struct device_reading {
  nanoseconds at{0};                           ///< host, since the recording's origin
  std::optional<std::uint32_t> sm_mhz;
  std::optional<std::uint32_t> memory_mhz;
  std::optional<std::uint64_t> slowed_by;      ///< NVML's bits of clock event reasons; 0: nothing held the clocks back
  std::optional<std::uint32_t> temperature;    ///< degrees Celsius
  std::optional<std::uint32_t> power_mw;
};

/// A device that samples came from.
struct device_description {
  int ordinal = 0;  ///< as the program numbers its devices
  std::string name;
  std::optional<nanoseconds> event_floor;       ///< device time that an empty phase reads, the median of several
  std::optional<nanoseconds> submit_floor;      ///< host time that an empty phase reads: its two records and two stamps
  std::optional<nanoseconds> event_resolution;  ///< the smallest step seen between such readings
  std::string why_no_floor;                     ///< the reason when it was not measured
  std::optional<nanoseconds> kernel_floor{};    ///< device time that a phase around an empty kernel reads, all queued
                                                ///< before the device begins; measured where the program allowed it
  std::string why_no_kernel_floor{};            ///< the reason when it was not; empty as well: nobody had allowed it

  std::string uuid{};                              ///< `GPU-...`, or `MIG-...` of a part of one; empty: not known
  std::optional<int> compute_capability{};         ///< 90 is 9.0
  std::optional<int> multiprocessors{};
  std::optional<std::uint64_t> memory_bytes{};
  std::optional<std::uint64_t> l2_bytes{};
  std::optional<std::uint32_t> memory_bus_bits{};
  std::optional<std::uint32_t> most_sm_mhz{};      ///< the clock that it may reach, not the one that it ran at
  std::optional<std::uint32_t> most_memory_mhz{};
  std::optional<bool> ecc{};                       ///< whether its memory corrects errors
  std::optional<std::uint32_t> power_limit_mw{};
  std::vector<device_reading> readings{};          ///< in the order in which they were taken; of a part of a device, `MIG-`,
                                                   ///< what NVML has of the whole alone is of the whole
  std::string why_no_readings{};                   ///< why there are none, and no power limit: the reason, or empty; empty
                                                   ///< as well: nobody had asked
  std::string scheduling{};                        ///< how a thread waits for it: `automatic`, `spin`, `yield`, `block`, as
                                                   ///< its primary context was made; empty: not known
  std::vector<condition> not_read{};               ///< what could not be read: the member's name, and the reason
};

/// Notes why a figure could not be read; the first reason stays.
template <class Condition>
void note_not_read(std::vector<Condition>& into, std::string_view figure, std::string_view why) {
  for (Condition const& each : into)
    if (each.key == figure) return;
  into.push_back({std::string{figure}, std::string{why}});
}

/// A variable of the process's environment: its name is the key.
using environment_variable = condition;

/// What a result needs to be read again later.
struct environment {
  std::string library_version;
  std::optional<int> driver_version;            ///< as CUDA counts: 13000 is 13.0
  std::optional<int> runtime_version;           ///< the loaded runtime
  std::optional<int> compiled_runtime_version;  ///< the headers that the program was compiled with
  std::vector<device_description> devices;      ///< those that samples came from
  std::string why_no_device;                    ///< empty, or the one line why nothing could be seen of the device
  std::string tool;                             ///< one that was attached; empty: none is known, which proves nothing
  std::string tool_sign;                        ///< what it was known by
  std::optional<nanoseconds> host_floor;        ///< what a pair of host stamps with nothing between reads
  std::vector<environment_variable> variables;  ///< those set that bear on results, by name; secrets withheld
  std::string host{};                           ///< the machine's name; empty: not known
  std::string cpu{};                            ///< its processor; empty: not known
  std::string compiler{};                       ///< with its version
  std::string compiled_as{};                    ///< "C++17, optimised": what the compiler says of its options
  std::string time{};                           ///< when it was collected, UTC: `2026-11-30T16:02:11Z`
  std::optional<std::vector<std::string>> command{};  ///< program and arguments; absent: left out, or not known
  std::string why_no_command{};                 ///< the reason then
  std::vector<condition> given{};               ///< the program's own keys and values
  std::vector<condition> not_read{};            ///< what else could not be read: the member's name, and the reason

  /// The value of a variable; null: it was not set, or is none of those that are kept.
  [[nodiscard]] std::string const* variable(std::string_view name) const noexcept {
    for (environment_variable const& each : variables)
      if (each.key == name) return &each.value;
    return nullptr;
  }
};

}  // namespace streamgauge
