#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <streamgauge/time.hpp>
#include <streamgauge/environment.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// What a roof rests on. It decides what a rate above it means.
enum class roof_origin : std::uint8_t {
  attributes,  ///< worked out from what the device says of itself: nothing can be above
  given,       ///< by the user
  measured,    ///< reached by a measurement: something else may reach a little more
};

/// The most that a device can do of one thing in a second, or why that is not known.
/// Units: floating-point operations, or bytes, a second.
struct roof {
  std::optional<double> per_second;
  roof_origin origin = roof_origin::given;
  std::string source;   ///< in words: never without
  std::string why_not{};  ///< why it is absent: empty, or the reason
};

/// The roofs of one device.
struct device_roofs {
  roof flops{std::nullopt, roof_origin::given, "", "no roof of the arithmetic was given"};
  roof bytes{std::nullopt, roof_origin::given, "", "no roof of the memory was given"};
  std::optional<int> device{};  ///< as the program numbers its devices; absent: of any
};

/// A roof that is absent.
[[nodiscard]] inline roof no_roof(roof_origin origin, std::string source, std::string why_not) {
  return {std::nullopt, origin, std::move(source), std::move(why_not)};
}

/// A roof that the user knows. `source`: where from; a report shows it.
/// Example: `roofs.flops = sg::given_roof(989e12, "the data sheet, bf16 with tensor cores, dense");`
template <class = void>
[[nodiscard]] roof given_roof(double per_second, std::string source) {
  std::string named = "given: " + (source.empty() ? "by the program, which names no source" : source);
  bool const usable = per_second > 0 && per_second < 1e30;
  if (!usable) return no_roof(roof_origin::given, std::move(named), "what was given is no rate above 0");
  return {per_second, roof_origin::given, std::move(named)};
}

/// A roof that something reached: so many operations, or bytes, within that time.
/// Example: `roofs.flops = sg::measured_roof(2.0 * n * n * n, median, "cuBLAS SGEMM, 8192 cubed");`
template <class = void>
[[nodiscard]] roof measured_roof(double amount, fractional_nanoseconds time, std::string what) {
  std::string named = "measured: " + (what.empty() ? "by something that the program does not name" : what);
  bool const usable = amount > 0 && amount < 1e30 && time.count() > 0 && time.count() < 1e30;
  if (!usable)
    return no_roof(roof_origin::measured, std::move(named), "what was measured has no amount or no time above 0");
  return {amount / time.count() * 1e9, roof_origin::measured, std::move(named)};
}

/// How many single-precision operations a multiprocessor begins each clock, outside of tensor cores: its FP32 cores. Absent
/// for architectures that are not listed here.
/// Source: the table of arithmetic throughput in the CUDA C++ Programming Guide, and the architectures' white papers.
[[nodiscard]] constexpr std::optional<int> fp32_cores(int compute_capability) noexcept {
  switch (compute_capability) {
    case 60:
    case 70:
    case 72:
    case 75:
    case 80: return 64;
    case 50:
    case 52:
    case 53:
    case 61:
    case 62:
    case 86:
    case 87:
    case 89:
    case 90:
    case 100:
    case 101:
    case 103:
    case 110:
    case 120:
    case 121: return 128;
    default: return std::nullopt;
  }
}

/// The roofs that follow from what a device says of itself: of the memory twice its clock (two transfers a cycle) times the
/// width of its bus, of the arithmetic two operations (a fused multiply-add) a cycle for each FP32 core at the highest clock.
/// Why: these are peaks, which no program reaches; and work on tensor cores goes above this roof of the arithmetic, so give it
/// one of its own.
template <class = void>
[[nodiscard]] device_roofs roofs_of(device_description const& device) {
  device_roofs found;
  found.device = device.ordinal;
  std::string const flops = "from the device's attributes: FP32 without tensor cores";
  std::string const bytes = "from the device's attributes: twice the memory's clock times the width of its bus";
  auto const absent = [&](std::string const& source, char const* why) {
    return no_roof(roof_origin::attributes, source, why);
  };
  if (!device.most_memory_mhz || *device.most_memory_mhz == 0)
    found.bytes = absent(bytes, "the device does not tell its memory's clock");
  else if (!device.memory_bus_bits || *device.memory_bus_bits == 0)
    found.bytes = absent(bytes, "the device does not tell the width of its memory's bus");
  else
    found.bytes = {2e6 * *device.most_memory_mhz * (*device.memory_bus_bits / 8.0), roof_origin::attributes, bytes};
  if (!device.compute_capability) {
    found.flops = absent(flops, "the device does not tell its compute capability");
  } else if (!fp32_cores(*device.compute_capability)) {
    auto const major = std::to_string(*device.compute_capability / 10);
    auto const minor = std::to_string(*device.compute_capability % 10);
    std::string const why = "compute capability " + major + "." + minor + " is not in the list of architectures";
    found.flops = absent(flops, why.c_str());
  } else if (!device.multiprocessors || *device.multiprocessors <= 0) {
    found.flops = absent(flops, "the device does not tell how many multiprocessors it has");
  } else if (!device.most_sm_mhz || *device.most_sm_mhz == 0) {
    found.flops = absent(flops, "the device does not tell its highest clock");
  } else {
    double const cores = static_cast<double>(*fp32_cores(*device.compute_capability)) * *device.multiprocessors;
    found.flops = {2e6 * cores * *device.most_sm_mhz, roof_origin::attributes, flops};
  }
  return found;
}

/// The roofs of the first device that a recording describes; where it describes none they are absent.
/// Example: `sg::roofs_of(taken.environment)`
template <class = void>
[[nodiscard]] device_roofs roofs_of(environment const& of) {
  if (!of.devices.empty()) return roofs_of(of.devices.front());
  std::string const why = "no device is described" + (of.why_no_device.empty() ? "" : ": " + of.why_no_device);
  device_roofs found;
  found.flops = no_roof(roof_origin::attributes, "", why);
  found.bytes = no_roof(roof_origin::attributes, "", why);
  return found;
}

}  // namespace streamgauge
