#pragma once

#include <cstdint>
#include <dlfcn.h>
#include <optional>
#include <string>

struct nvmlDevice_st;

namespace streamgauge {

/// Where NVML is: the driver brings it.
inline constexpr char nvml_library[] = "libnvidia-ml.so.1";

/// One of NVML's functions, found at run time; null where this NVML lacks it.
template <class... Arguments>
struct nvml_function {
  char const* name;
  int (*call)(Arguments...) = nullptr;

  /// False where the library lacks it.
  bool find(void* library) noexcept {
    call = reinterpret_cast<int (*)(Arguments...)>(dlsym(library, name));
    return call != nullptr;
  }
};

/// NVML's functions that are asked here. Statuses are its own: 0 is success.
struct nvml_api {
  using device = nvmlDevice_st*;
  nvml_function<> init{"nvmlInit_v2"};
  nvml_function<> shutdown{"nvmlShutdown"};
  nvml_function<char const*, device*> handle_by_uuid{"nvmlDeviceGetHandleByUUID"};
  nvml_function<device, device*> whole_of_part{"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"};
  nvml_function<device, int, unsigned int*> clock{"nvmlDeviceGetClockInfo"};
  nvml_function<device, int, unsigned int*> most_clock{"nvmlDeviceGetMaxClockInfo"};
  nvml_function<device, unsigned long long*> reasons{"nvmlDeviceGetCurrentClocksEventReasons"};
  nvml_function<device, unsigned long long*> older_reasons{"nvmlDeviceGetCurrentClocksThrottleReasons"};
  nvml_function<device, int, unsigned int*> temperature{"nvmlDeviceGetTemperature"};
  nvml_function<device, unsigned int*> power{"nvmlDeviceGetPowerUsage"};
  nvml_function<device, unsigned int*> power_limit{"nvmlDeviceGetEnforcedPowerLimit"};
  nvml_function<device, int*, int*> ecc{"nvmlDeviceGetEccMode"};
  char const* (*describe)(int) = nullptr;

  void find(void* library) noexcept {
    init.find(library);
    shutdown.find(library);
    handle_by_uuid.find(library);
    whole_of_part.find(library);
    clock.find(library);
    most_clock.find(library);
    // Since 535 under this name, with the same bits.
    if (!reasons.find(library) && older_reasons.find(library)) reasons = older_reasons;
    temperature.find(library);
    power.find(library);
    power_limit.find(library);
    ecc.find(library);
    describe = reinterpret_cast<char const* (*)(int)>(dlsym(library, "nvmlErrorString"));
  }
};

/// NVML, loaded and started until it is shut down; or the reason why it is not.
/// Why: opened at run time, so nothing is linked and a machine without it lacks its figures alone. The library stays loaded:
/// others may use it too. No destructor shuts it down, since at the process's end and in a forked child it is left alone.
/// Sync: starting it takes some 10 ms, more where no driver keeps the device awake.
/// Threads: any.
class nvml {
 public:
  explicit nvml(char const* library = nvml_library) {
    void* const opened = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (!opened) {
      char const* const why = dlerror();
      why_not_ = why ? why : std::string{library} + " cannot be loaded";
      return;
    }
    api_.find(opened);
    for (char const* const lacked : {api_.init.call ? nullptr : api_.init.name,
                                     api_.shutdown.call ? nullptr : api_.shutdown.name,
                                     api_.handle_by_uuid.call ? nullptr : api_.handle_by_uuid.name})
      if (lacked && why_not_.empty()) why_not_ = lacks(lacked);
    if (!why_not_.empty()) return;
    int const status = api_.init.call();
    if (status != 0) why_not_ = refusal(api_.init.name, status);
  }
  nvml(nvml const&) = delete;
  nvml& operator=(nvml const&) = delete;

  /// Ends what the constructor started; NVML counts, and ends with the last one.
  void shut_down() noexcept {
    if (why_not_.empty()) static_cast<void>(api_.shutdown.call());
    why_not_ = "NVML has ended";  // short, so that nothing is allocated
  }

  /// Empty: it can be asked.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }
  [[nodiscard]] nvml_api const& api() const noexcept { return api_; }

  /// "nvmlDeviceGetPowerUsage: Not Supported (NVML 3)".
  [[nodiscard]] std::string refusal(char const* call, int status) const {
    char const* const words = api_.describe ? api_.describe(status) : nullptr;
    return std::string{call} + ": " + (words ? words : "refused") + " (NVML " + std::to_string(status) + ")";
  }
  [[nodiscard]] static std::string lacks(char const* call) { return std::string{"this NVML lacks "} + call; }

 private:
  nvml_api api_;
  std::string why_not_;
};

/// A figure of NVML's, or why there is none.
template <class Number>
struct nvml_answer {
  std::optional<Number> value;
  std::string why_not;
};

/// Which clock is asked for, by NVML's numbers.
enum class nvml_clock : int { sm = 1, memory = 2 };

/// A device as NVML knows it, found by its UUID.
/// Why: NVML numbers devices by their place on the bus and CUDA as CUDA_VISIBLE_DEVICES says; the UUID is the same in both.
/// Of a part of a device, a MIG instance, NVML has neither clocks nor power: what it refuses there is asked of the whole.
/// Requires: the `nvml` outlives it.
class nvml_device {
 public:
  nvml_device(nvml const& of, std::string const& uuid) : nvml_{of}, why_not_{of.why_not()} {
    if (!why_not_.empty()) return;
    nvml_api const& api = of.api();
    int const status = api.handle_by_uuid.call(uuid.c_str(), &handle_);
    if (status != 0) why_not_ = of.refusal(api.handle_by_uuid.name, status);
    if (status != 0 || uuid.compare(0, 4, "MIG-") != 0 || !api.whole_of_part.call) return;
    if (api.whole_of_part.call(handle_, &whole_) != 0) whole_ = nullptr;
  }

  /// Empty: it was found.
  [[nodiscard]] std::string const& why_not() const noexcept { return why_not_; }

  [[nodiscard]] nvml_answer<std::uint32_t> clock(nvml_clock which) const {
    return ask<unsigned int>(nvml_.api().clock, static_cast<int>(which));
  }
  /// The clock that it may reach.
  [[nodiscard]] nvml_answer<std::uint32_t> most_clock(nvml_clock which) const {
    return ask<unsigned int>(nvml_.api().most_clock, static_cast<int>(which));
  }
  /// What holds the clocks back now: `describe_clock_event_reasons` has the words.
  [[nodiscard]] nvml_answer<std::uint64_t> clock_event_reasons() const {
    auto const found = ask<unsigned long long>(nvml_.api().reasons);
    return {found.value, found.why_not};
  }
  /// Of the chip. Units: degrees Celsius.
  [[nodiscard]] nvml_answer<std::uint32_t> temperature() const {
    constexpr int of_the_chip = 0;
    return ask<unsigned int>(nvml_.api().temperature, of_the_chip);
  }
  /// Units: milliwatts.
  [[nodiscard]] nvml_answer<std::uint32_t> power() const { return ask<unsigned int>(nvml_.api().power); }
  [[nodiscard]] nvml_answer<std::uint32_t> power_limit() const { return ask<unsigned int>(nvml_.api().power_limit); }
  /// Whether its memory corrects errors now.
  [[nodiscard]] nvml_answer<bool> ecc() const {
    struct modes {
      int now = 0;
      int after_restart = 0;
    };
    auto const found = answer_of<modes>(nvml_.api().ecc, [](auto call, nvml_api::device of, modes& into) {
      return call(of, &into.now, &into.after_restart);
    });
    return {found.value ? std::optional{found.value->now != 0} : std::nullopt, found.why_not};
  }

 private:
  template <class Number, class Function, class... Given>
  [[nodiscard]] nvml_answer<Number> ask(Function const& function, Given... given) const {
    return answer_of<Number>(
        function, [given...](auto call, nvml_api::device of, Number& into) { return call(of, given..., &into); });
  }

  template <class Answer, class Function, class Call>
  [[nodiscard]] nvml_answer<Answer> answer_of(Function const& function, Call call) const {
    if (!function.call) return {std::nullopt, nvml::lacks(function.name)};
    Answer answer{};
    int status = call(function.call, handle_, answer);
    if (status != 0 && whole_) status = call(function.call, whole_, answer);
    if (status != 0) return {std::nullopt, nvml_.refusal(function.name, status)};
    return {answer, {}};
  }

  nvml const& nvml_;
  std::string why_not_;
  nvml_api::device handle_ = nullptr;
  nvml_api::device whole_ = nullptr;
};

}  // namespace streamgauge
