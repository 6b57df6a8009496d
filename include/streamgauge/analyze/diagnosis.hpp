#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/idle_outside.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/timeline.hpp>

namespace streamgauge {

/// What a phase's time is limited by.
enum class limited_by : std::uint8_t {
  not_known,      ///< what was seen does not decide it; `finding::missing` says what would
  floor,          ///< its device time is little more than what the instrument reads
  launches,       ///< the device waits for the host to submit
  earlier_work,   ///< it stands behind other work in its stream or in the hardware's queue
  device,         ///< the device has always the next one before it
  host_copy,      ///< the host itself copies
  late_notice,    ///< the device was done long before the host noticed
  exposed,        ///< communication that nothing hides
  input,          ///< of a device: it idles while the host is in no phase
};

/// The verdict in words.
[[nodiscard]] constexpr char const* describe(limited_by what) noexcept {
  switch (what) {
    case limited_by::not_known: return "not known";
    case limited_by::floor: return "near the floor";
    case limited_by::launches: return "launch-bound";
    case limited_by::earlier_work: return "waiting behind earlier work";
    case limited_by::device: return "device-bound";
    case limited_by::host_copy: return "copied by the host";
    case limited_by::late_notice: return "noticed late";
    case limited_by::exposed: return "communication not hidden";
    case limited_by::input: return "idle outside every phase";
  }
  return "unknown";
}

/// What to do next about it.
[[nodiscard]] constexpr char const* next_step(limited_by what) noexcept {
  switch (what) {
    case limited_by::not_known: return "";
    case limited_by::floor: return "measure several executions as one, or put them into one CUDA graph or one kernel";
    case limited_by::launches: return "capture it into a CUDA graph, fuse its kernels, or queue other work ahead of it";
    case limited_by::earlier_work: return "look at what is queued ahead of it on an nsys timeline, or give it a stream of its own";
    case limited_by::device: return "profile its kernels: sg::profile_plan prints the ncu command for this phase";
    case limited_by::host_copy: return "copy from and to pinned memory (cudaHostAlloc, cudaHostRegister)";
    case limited_by::late_notice: return "wait by spinning, or wait less often and let the host run ahead";
    case limited_by::exposed: return "begin it earlier, on a stream of its own, while compute runs";
    case limited_by::input: return "look at what the host does between phases, and give it a phase: loading, decoding, logging";
  }
  return "";
}

/// The times that a verdict rests on, or what is missing for one. Each is shown with its name.
struct piece_of_evidence {
  char const* what = "";
  std::optional<nanoseconds> time;
  std::optional<std::uint64_t> count;
};

/// One verdict with its evidence.
struct finding {
  std::optional<std::size_t> series;  ///< in `recording::all`; absent: of a device
  std::optional<int> device{};        ///< as the program numbers its devices; absent: of a phase
  limited_by what = limited_by::not_known;
  std::vector<piece_of_evidence> evidence;
  char const* missing = "";  ///< what would decide, where it is not known
};

/// What limits each phase of a recording that was placed on one clock, with the evidence. No verdict rests on a difference
/// that the bounds could make.
/// Requires: a `timeline_recorder`; of any other all phases with a device time are "not known".
/// A template, so that only a unit that asks compiles it.
template <class Recording>
class diagnostician {
 public:
  explicit diagnostician(Recording const& of) : of_{of}, floor_{floor_of(of.environment)} {
    for (std::size_t i = 0; i < of.all.size(); ++i) {
      auto const count = count_placed(of.all[i]);
      if (count.executions == 0 || of.all[i].kind == work_kind::wait) continue;
      if (count.placed > 0)
        examine(i);
      else
        say(i, limited_by::not_known, {}, "no execution was placed on the host's clock (sg::timeline_recorder)");
    }
    for (idle_outside_phases const& idle : idle_outside(of))
      if (10 * idle.outside > idle.within)
        found_.push_back({std::nullopt, idle.device, limited_by::input,
                          {{"of", idle.within, {}}, {"idle", idle.idle, {}}, {"host in no phase", idle.outside, {}},
                           {"gaps", {}, idle.gaps}, {"longest", idle.longest, {}}}, ""});
  }

  [[nodiscard]] std::vector<finding> const& findings() const noexcept { return found_; }

 private:
  static nanoseconds whole(std::optional<fractional_nanoseconds> const& of) noexcept {
    return nanoseconds{static_cast<std::int64_t>(of.value_or(fractional_nanoseconds{0}).count() + 0.5)};
  }
  void say(std::size_t at, limited_by what, std::vector<piece_of_evidence> evidence, char const* missing = "") {
    found_.push_back({at, std::nullopt, what, std::move(evidence), missing});
  }

  void examine(std::size_t at) {
    series const& from = of_.all[at];
    split_ = split_latency(from);
    std::size_t const before = found_.size();
    auto const submit = whole(split_.submit);
    auto const queue = whole(split_.queue);
    auto const device = whole(split_.device);
    auto const bound = whole(split_.bound);
    if (floor_ && device < near_floor_factor * floor_->time)
      say(at, limited_by::floor, {{"device", device, {}}, {describe(floor_->kind), floor_->time, {}}});
    std::uint64_t const starved = split_.count(feeding::starved);
    std::uint64_t const clean = split_.count(feeding::clean);
    // As long as the device: launches one by one, a copy that the host makes, or a wait inside look alike from outside.
    bool const host_throughout = 5 * submit > 4 * device && device > 20 * bound;
    if (2 * starved >= split_.executions) {
      std::vector<piece_of_evidence> evidence{{"starved", {}, starved}, {"of", {}, split_.executions},
                                              {"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}};
      if (split_.clean_device) evidence.push_back({"clean ones", whole(split_.clean_device), {}});
      if (from.kind == work_kind::transfer && host_throughout)
        say(at, limited_by::host_copy, evidence);
      else if (from.kind == work_kind::undeclared && host_throughout)
        say(at, limited_by::not_known, evidence,
            "its kind is not declared: launches, a copy by the host and a wait inside look alike (sg::work_kind)");
      else
        say(at, limited_by::launches, evidence);
    } else if (2 * clean >= split_.executions) {
      std::uint64_t const behind_own = count_behind_own(from);
      auto const waited = queue - submit;
      if (2 * behind_own >= split_.placed)
        say(at, limited_by::device, {{"right behind the one before", {}, behind_own}, {"of", {}, split_.placed},
                                     {"queue", queue, {}}, {"device", device, {}}});
      else if (waited > 4 * bound && 10 * waited > device)
        say(at, limited_by::earlier_work, {{"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}});
    }
    if (split_.notice && split_.waited > 0) {
      auto const notice = whole(split_.notice);
      if (notice > 4 * bound && 2 * notice > device)
        say(at, limited_by::late_notice, {{"done", whole(split_.end), {}}, {"noticed", whole(split_.completion), {}},
                                          {"bound", bound, {}}});
    }
    if (from.kind == work_kind::communication) examine_overlap(at);
    if (found_.size() == before)
      say(at, limited_by::not_known, {{"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}, {"bound", bound, {}}},
          "neither starved nor waiting by more than the bound");
  }

  // How many began when the execution before on the device ended: nothing of the host's lay between.
  static std::uint64_t count_behind_own(series const& from) {
    struct placed {
      nanoseconds begin;
      nanoseconds end;
      nanoseconds bound;
    };
    std::vector<placed> all;
    for (sample const& one : from.samples)
      if (!one.warmup && device_end(one))
        all.push_back({one.entered + *one.queue.value(), one.entered + *device_end(one), one.bound});
    put_in_order(all, [](placed const& a, placed const& b) { return a.begin < b.begin; });
    std::uint64_t count = 0;
    for (std::size_t i = 1; i < all.size(); ++i)
      if (all[i].begin - all[i - 1].end <= all[i].bound + all[i - 1].bound) ++count;
    return count;
  }

  void examine_overlap(std::size_t at) {
    std::vector<stretch> own;
    std::vector<stretch> compute;
    for (std::size_t i = 0; i < of_.all.size(); ++i) {
      if (i != at && of_.all[i].kind != work_kind::compute) continue;
      for (sample const& one : of_.all[i].samples)
        if (!one.warmup && device_end(one))
          (i == at ? own : compute).push_back({one.entered + *one.queue.value(), one.entered + *device_end(one)});
    }
    if (compute.empty())
      return say(at, limited_by::not_known, {}, "what could hide it: no phase is declared as compute (sg::work_kind)");
    auto const alone = busy_times_of(own).busy_union;
    auto const computing = busy_times_of(compute).busy_union;
    std::vector<stretch> both = own;
    both.insert(both.end(), compute.begin(), compute.end());
    auto const hidden = alone + computing - busy_times_of(both).busy_union;
    if (2 * hidden < alone)
      say(at, limited_by::exposed, {{"of", alone, {}}, {"beside compute", hidden, {}}});
  }

  Recording const& of_;
  std::optional<device_floor> floor_;
  latency_split split_;
  std::vector<finding> found_;
};

/// What limits each phase of a recording; `diagnostician`.
template <class Recording>
[[nodiscard]] std::vector<finding> diagnose(Recording const& of) {
  return diagnostician<Recording>{of}.findings();
}

}  // namespace streamgauge
