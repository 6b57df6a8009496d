#pragma once

#include <streamgauge/measure/recorder.hpp>

#if defined(STREAMGAUGE_DISABLE)

namespace streamgauge {
inline namespace disabled {
inline void read_devices(recorder const&, char const* = nullptr) noexcept {}
}  // namespace disabled
}  // namespace streamgauge

#else

#include <memory>
#include <mutex>

#include <streamgauge/measure/nvml.hpp>

namespace streamgauge {

/// Whether the process is on its way out: then NVML may have ended before us. Known once this was asked before.
[[nodiscard]] inline bool process_ends() noexcept {
  // Ends among the program's globals: before whatever existed when it was made.
  struct ending {
    std::atomic<bool>& begun;
    ~ending() { begun.store(true); }
  };
  static std::atomic<bool> begun{false};
  static ending const at_exit{begun};
  return begun.load();
}

/// The readings of one device. When they are as many as are kept, every second one goes; the lowest and the highest SM clock
/// stay, and one of each reason that held the clocks back.
class reading_list {
 public:
  static constexpr std::size_t most = 4096;

  void add(device_reading const& fresh) {
    if (all_.size() >= most) thin();
    all_.push_back(fresh);
  }
  [[nodiscard]] std::vector<device_reading> const& all() const noexcept { return all_; }

 private:
  void thin() {
    std::size_t lowest = all_.size();
    std::size_t highest = all_.size();
    for (std::size_t i = 0; i < all_.size(); ++i) {
      if (!all_[i].sm_mhz) continue;
      if (lowest == all_.size() || *all_[i].sm_mhz < *all_[lowest].sm_mhz) lowest = i;
      if (highest == all_.size() || *all_[i].sm_mhz > *all_[highest].sm_mhz) highest = i;
    }
    std::uint64_t reasons = 0;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < all_.size(); ++i) {
      std::uint64_t const mine = all_[i].slowed_by.value_or(0);
      if (i % 2 != 0 && i != lowest && i != highest && (mine & ~reasons) == 0) continue;
      reasons |= mine;
      all_[kept++] = all_[i];
    }
    all_.resize(kept);
  }

  std::vector<device_reading> all_;
};

/// Reads a recorder's devices by NVML and keeps what was read.
/// Why: in a forked child nothing is read, since NVML and the lock are the parent's.
/// Threads: any.
class nvml_reader final : public device_reader {
 public:
  explicit nvml_reader(char const* library) : nvml_{library} {
    notice_forks();
    static_cast<void>(process_ends());
  }
  nvml_reader(nvml_reader const&) = delete;
  nvml_reader& operator=(nvml_reader const&) = delete;

  void close() noexcept override {
    if (forked() || process_ends()) return;
    std::lock_guard<std::mutex> const guard{lock_};
    nvml_.shut_down();
  }

  void read(recorder_core& of) override {
    driver_answer const cuda = driver();
    if (!cuda.api || forked()) return;
    std::lock_guard<std::mutex> const guard{lock_};
    if (!nvml_.why_not().empty()) return;
    of.visit_contexts([&](context_key, int ordinal) {
      if (!find(ordinal)) add(*cuda.api, ordinal);
    });
    for (auto const& each : devices_) read(*each, of.origin());
  }

  void describe(device_description& into) override {
    if (forked()) {
      into.why_no_readings = "the process was forked from the one that reads the devices";
      return;
    }
    std::lock_guard<std::mutex> const guard{lock_};
    into.why_no_readings = nvml_.why_not();
    known_device const* const known = find(into.ordinal);
    if (!known) {
      if (into.why_no_readings.empty()) into.why_no_readings = "it came up after the devices were read";
      return;
    }
    device_description const& seen = known->seen;
    if (!seen.uuid.empty()) into.uuid = seen.uuid;
    if (seen.ecc) into.ecc = seen.ecc;
    if (seen.most_sm_mhz) into.most_sm_mhz = seen.most_sm_mhz;
    if (seen.most_memory_mhz) into.most_memory_mhz = seen.most_memory_mhz;
    into.power_limit_mw = seen.power_limit_mw;
    into.readings = known->readings.all();
    into.why_no_readings = seen.why_no_readings;
    if (into.readings.empty() && into.why_no_readings.empty()) into.why_no_readings = "no figure could be read";
    std::vector<condition> reasons;
    reasons.swap(into.not_read);
    for (condition const& one : seen.not_read) note_not_read(reasons, one.key, one.value);
    for (condition const& one : reasons)
      if (!says(into, one.key)) into.not_read.push_back(one);
  }

 private:
  struct known_device {
    int ordinal;
    device_description seen;
    std::optional<nvml_device> handle;
    reading_list readings;
  };

  [[nodiscard]] bool forked() const noexcept { return fork_generation.load(std::memory_order_relaxed) != made_in_; }

  [[nodiscard]] known_device* find(int ordinal) const noexcept {
    for (auto const& each : devices_)
      if (each->ordinal == ordinal) return each.get();
    return nullptr;
  }

  // What does not change is asked once.
  void add(driver_api const& cuda, int ordinal) {
    auto fresh = std::make_unique<known_device>();
    fresh->ordinal = ordinal;
    device_description& seen = fresh->seen;
    seen.ordinal = ordinal;
    device_facts<device_description>{cuda, seen}.read_uuid();
    if (seen.uuid.empty()) {
      seen.why_no_readings = "its UUID is not known: " + seen.not_read.front().value;
    } else {
      fresh->handle.emplace(nvml_, seen.uuid);
      // Where the driver could not say that it is a part of a device, NVML may know it as one.
      if (!fresh->handle->why_not().empty()) {
        nvml_device const part{nvml_, "MIG-" + seen.uuid.substr(4)};
        if (part.why_not().empty()) {
          fresh->handle.emplace(part);
          seen.uuid.replace(0, 3, "MIG");
        }
      }
      seen.why_no_readings = fresh->handle->why_not();
    }
    if (seen.why_no_readings.empty()) {
      nvml_device const& asked = *fresh->handle;
      seen.ecc = kept(asked.ecc(), seen, "ecc");
      seen.power_limit_mw = kept(asked.power_limit(), seen, "power_limit_mw");
      seen.most_sm_mhz = kept(asked.most_clock(nvml_clock::sm), seen, "most_sm_mhz");
      seen.most_memory_mhz = kept(asked.most_clock(nvml_clock::memory), seen, "most_memory_mhz");
    }
    devices_.push_back(std::move(fresh));
  }

  void read(known_device& of, host_stamp origin) {
    if (!of.seen.why_no_readings.empty()) return;
    device_reading fresh;
    fresh.at = host_now() - origin;
    fresh.sm_mhz = kept(of.handle->clock(nvml_clock::sm), of.seen, "sm_mhz");
    fresh.memory_mhz = kept(of.handle->clock(nvml_clock::memory), of.seen, "memory_mhz");
    fresh.slowed_by = kept(of.handle->clock_event_reasons(), of.seen, "slowed_by");
    fresh.temperature = kept(of.handle->temperature(), of.seen, "temperature");
    fresh.power_mw = kept(of.handle->power(), of.seen, "power_mw");
    if (fresh.sm_mhz || fresh.memory_mhz || fresh.slowed_by || fresh.temperature || fresh.power_mw)
      of.readings.add(fresh);
  }

  template <class Number>
  static std::optional<Number> kept(nvml_answer<Number> const& answer, device_description& of, char const* figure) {
    if (!answer.value) note_not_read(of.not_read, figure, answer.why_not);
    return answer.value;
  }

  // Whether a figure is there after all: what one source lacks another may have.
  [[nodiscard]] static bool says(device_description const& of, std::string const& figure) noexcept {
    return (figure == "uuid" && !of.uuid.empty()) || (figure == "ecc" && of.ecc) ||
           (figure == "most_sm_mhz" && of.most_sm_mhz) || (figure == "most_memory_mhz" && of.most_memory_mhz);
  }

  nvml nvml_;
  unsigned int const made_in_ = fork_generation.load(std::memory_order_relaxed);
  std::mutex lock_;  // what follows
  std::vector<std::unique_ptr<known_device>> devices_;
};

/// Lets a recorder's devices be read so, unless somebody reads them already.
template <class Reader>
void give_reader(recorder& of, std::unique_ptr<Reader> fresh) noexcept {
  device_reader* expected = nullptr;
  if (of.core().describing.reader.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel)) fresh.release();
}

/// Lets each `collect` take a reading of the devices that samples came from, by NVML: their clocks and what holds them back,
/// temperature and power, with the power limit. They stand in the recording's `environment.devices`, those of earlier
/// collects before it, and the table shows the clocks.
/// Why: asked for, and not done by itself, since starting NVML takes some 10 ms and the first reading some 14; later ones
/// take microseconds (H200).
/// Shape: of a device at most 4,096 readings; then every second one goes, but for what `reading_list` says.
/// Requires: `library` is NVML's, wherever it lies.
/// Throws: only `std::bad_alloc`. Without NVML, or where it refuses, the figures are absent with the reason.
/// Threads: any.
/// Example: `sg::recorder recorder; sg::read_devices(recorder);`
inline void read_devices(recorder& of, char const* library = nvml_library) {
  if (of.recorded() != mode::time || of.core().describing.reader.load(std::memory_order_acquire)) return;
  give_reader(of, std::make_unique<nvml_reader>(library));
}

}  // namespace streamgauge

#endif
