#pragma once

#include <streamgauge/measure/driver.hpp>

namespace streamgauge {

/// The driver's functions that describe a device. One that the driver lacks costs its own figures alone.
struct device_facts_api {
  int (*attribute)(int*, int, int) = nullptr;
  int (*memory)(std::size_t*, int) = nullptr;
  int (*uuid)(unsigned char*, int) = nullptr;           ///< of a part of a device that of the part
  int (*uuid_of_whole)(unsigned char*, int) = nullptr;  ///< as it was before there were parts

  void find() noexcept {
    static_cast<void>(without_trace([this] {
      bool const any[] = {look_up(attribute, "cuDeviceGetAttribute"), look_up(memory, "cuDeviceTotalMem"),
                          look_up(uuid, "cuDeviceGetUuid"), look_up(uuid_of_whole, "cuDeviceGetUuid", 9020)};
      return any[0];
    }));
  }
};

/// A figure of the driver's, or why there is none.
struct device_fact {
  std::optional<int> value;
  std::string why_not;
};

/// Asks the driver what a device is.
/// Why: a figure of 0, where none can be 0, is one that the driver does not know.
template <class Description>
class device_facts {
 public:
  device_facts(driver_api const& cuda, Description& into) : cuda_{cuda}, into_{into} { api_.find(); }

  /// Sync: none. Capture: allowed. No context is made.
  void read() {
    read_uuid();
    read_attribute(&Description::multiprocessors, "multiprocessors", 16);
    read_attribute(&Description::most_sm_mhz, "most_sm_mhz", 13, 1000);
    read_attribute(&Description::most_memory_mhz, "most_memory_mhz", 36, 1000);
    read_attribute(&Description::memory_bus_bits, "memory_bus_bits", 37);
    read_attribute(&Description::l2_bytes, "l2_bytes", 38);
    read_attribute(&Description::compute_capability, "compute_capability", 75);
    if (into_.compute_capability) {
      device_fact const minor = ask(76);
      if (minor.value)
        *into_.compute_capability = 10 * *into_.compute_capability + *minor.value;
      else
        into_.compute_capability.reset();
      if (!minor.value) note_not_read(into_.not_read, "compute_capability", minor.why_not);
    }
    device_fact const ecc = ask(32);
    if (ecc.value) into_.ecc = *ecc.value != 0;
    if (!ecc.value) note_not_read(into_.not_read, "ecc", ecc.why_not);
    read_memory();
    read_scheduling();
  }

  /// The device's UUID as NVML writes it; empty, with the reason noted, where the driver does not say it.
  void read_uuid() {
    unsigned char part[16] = {};
    unsigned char whole[16] = {};
    if (!api_.uuid) return note_not_read(into_.not_read, "uuid", "the driver lacks cuDeviceGetUuid");
    if (int const status = api_.uuid(part, into_.ordinal); status != cudaSuccess)
      return note_not_read(into_.not_read, "uuid", refusal("cuDeviceGetUuid", status));
    // A part of a device has a UUID of its own, which the older function does not know.
    bool is_part = into_.name.find(" MIG ") != std::string::npos;
    if (api_.uuid_of_whole && api_.uuid_of_whole(whole, into_.ordinal) == cudaSuccess)
      for (int i = 0; i < 16; ++i) is_part = is_part || part[i] != whole[i];
    into_.uuid = is_part ? "MIG-" : "GPU-";
    for (int i = 0; i < 16; ++i) {
      if (i == 4 || i == 6 || i == 8 || i == 10) into_.uuid.push_back('-');
      into_.uuid.push_back("0123456789abcdef"[part[i] >> 4]);
      into_.uuid.push_back("0123456789abcdef"[part[i] & 15]);
    }
  }

 private:
  [[nodiscard]] static std::string refusal(char const* call, int status) {
    return streamgauge::describe(static_cast<cudaError_t>(status), call);
  }

  [[nodiscard]] device_fact ask(int attribute) const {
    int value = 0;
    if (!api_.attribute) return {std::nullopt, "the driver lacks cuDeviceGetAttribute"};
    int const status = api_.attribute(&value, attribute, into_.ordinal);
    if (status != cudaSuccess) return {std::nullopt, refusal("cuDeviceGetAttribute", status)};
    return {value, {}};
  }

  template <class Number>
  void read_attribute(std::optional<Number> Description::*figure, char const* name, int attribute, int per = 1) {
    device_fact const found = ask(attribute);
    if (found.value && *found.value > 0)
      into_.*figure = static_cast<Number>(*found.value / per);
    else
      note_not_read(into_.not_read, name, found.value ? "the driver does not know it" : found.why_not);
  }

  void read_memory() {
    std::size_t bytes = 0;
    if (!api_.memory) return note_not_read(into_.not_read, "memory_bytes", "the driver lacks cuDeviceTotalMem");
    int const status = api_.memory(&bytes, into_.ordinal);
    if (status != cudaSuccess)
      return note_not_read(into_.not_read, "memory_bytes", refusal("cuDeviceTotalMem", status));
    into_.memory_bytes = bytes;
  }

  void read_scheduling() {
    unsigned int flags = 0;
    int active = 0;
    int const status = cuda_.primary_state(into_.ordinal, &flags, &active);
    if (status != cudaSuccess)
      return note_not_read(into_.not_read, "scheduling", refusal("cuDevicePrimaryCtxGetState", status));
    unsigned int const how = flags & cudaDeviceScheduleMask;
    into_.scheduling = how == cudaDeviceScheduleSpin           ? "spin"
                       : how == cudaDeviceScheduleYield        ? "yield"
                       : how == cudaDeviceScheduleBlockingSync ? "block"
                                                               : "automatic";
  }

  driver_api const& cuda_;
  Description& into_;
  device_facts_api api_;
};

}  // namespace streamgauge
