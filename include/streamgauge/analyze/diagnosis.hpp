#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/floor.hpp>
#include <streamgauge/analyze/idle_outside.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>
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
  explicit diagnostician(Recording const& of) : of_{of} {
    for (std::size_t i = 0; i < of.all.size(); ++i) {
      auto const count = count_placed(of.all[i]);
      if (count.executions == 0 || of.all[i].kind == work_kind::wait) continue;
      if (count.placed > 0)
        examine(i);
      else
        say(i, limited_by::not_known, {},
            of.clocks.empty() ? "no execution was placed on the host's clock (sg::timeline_recorder)"
                              : "no execution was placed on the host's clock");
    }
    for (idle_outside_phases const& idle : idle_outside(of))
      if (10 * (idle.outside - idle.bound) > idle.within)
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

  static constexpr std::uint64_t fewest_clean = 3;

  void examine(std::size_t at) {
    series const& from = of_.all[at];
    split_ = split_latency(from);
    std::size_t const before = found_.size();
    auto const submit = whole(split_.submit);
    auto const queue = whole(split_.queue);
    auto const device = whole(split_.device);
    auto const bound = whole(split_.bound);
    if (auto const floor = floor_under(from); floor && device < near_floor_factor * floor->time)
      say(at, limited_by::floor, {{"device", device, {}}, {describe(floor->kind), floor->time, {}}});
    std::uint64_t const starved = split_.count(feeding::starved);
    std::uint64_t const clean = split_.count(feeding::clean);
    // As long as the device: launches one by one, a copy that the host makes, or a wait inside look alike from outside.
    bool const host_throughout = 5 * submit > 4 * device && device > 20 * bound;
    if (2 * starved >= split_.executions) {
      std::vector<piece_of_evidence> evidence{{"starved", {}, starved}, {"of", {}, split_.executions},
                                              {"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}};
      if (split_.clean_device) evidence.push_back({"clean ones", whole(split_.clean_device), {}});
      // What the host can have held up is no longer than it went on submitting.
      if (10 * (submit - queue) <= device)
        say(at, limited_by::not_known, evidence,
            "it began before all was submitted, but the host was done within a tenth of its time (an nsys timeline tells more)");
      else if (clean >= fewest_clean && 10 * (device - whole(split_.clean_device)) <= device)
        say(at, limited_by::not_known, evidence, "those that had everything before them took as long");
      else if (from.kind == work_kind::transfer && host_throughout)
        say(at, limited_by::host_copy, evidence);
      else if (from.kind == work_kind::undeclared && host_throughout)
        say(at, limited_by::not_known, evidence,
            "its kind is not declared: launches, a copy by the host and a wait inside look alike (sg::work_kind)");
      else
        say(at, limited_by::launches, evidence);
    } else if (2 * clean >= split_.executions) {
      auto const [behind_own, looked_at] = count_behind_own(from);
      auto const waited = queue - submit;
      if (2 * behind_own >= looked_at && looked_at > 0)
        say(at, limited_by::device, {{"right behind the one before", {}, behind_own}, {"of", {}, looked_at},
                                     {"queue", queue, {}}, {"device", device, {}}});
      else if (waited > 4 * bound && 10 * waited > device)
        say(at, limited_by::earlier_work, {{"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}});
    }
    if (split_.notice && split_.waited > 0) {
      auto const notice = whole(split_.notice);
      if (notice > 4 * bound && 2 * notice > device)
        say(at, limited_by::late_notice, {{"late by", notice, {}}, {"device", device, {}}, {"bound", bound, {}},
                                          {"waited for", {}, split_.waited}, {"of", {}, split_.executions}});
    }
    if (from.kind == work_kind::communication) examine_overlap(at);
    if (found_.size() == before)
      say(at, limited_by::not_known, {{"submit", submit, {}}, {"queue", queue, {}}, {"device", device, {}}, {"bound", bound, {}}},
          "neither starved nor waiting by more than the bound");
  }

  // The largest floor of those devices that a phase ran on, as far as its samples tell; else of all.
  [[nodiscard]] std::optional<device_floor> floor_under(series const& from) const {
    std::optional<device_floor> largest;
    for (device_description const& each : of_.environment.devices) {
      auto const floor = floor_of(each);
      if (!floor || (largest && floor->time <= largest->time)) continue;
      bool ran = false;
      for (sample const& one : from.samples) ran = ran || (one.device.known() && device_of(of_, one) == each.ordinal);
      if (ran) largest = floor;
    }
    return largest ? largest : floor_of(of_.environment);
  }

  struct placed {
    nanoseconds begin;
    nanoseconds end;
    nanoseconds bound;
    nanoseconds end_bound;
    std::optional<int> device;
    std::uint32_t stream;
  };
  [[nodiscard]] placed placed_as(sample const& one) const noexcept {
    nanoseconds const begin = one.entered + *one.queue.value();
    return {begin, begin + *one.device.value(), one.bound, end_bound(one), device_of(of_, one), one.stream};
  }

  // How many began when an execution before on their device or their stream ended, and of how many: nothing of the host's
  // lay between. What runs beside others of its phase, on another stream or another device, is behind none of them. Of a
  // series that kept a choice of its samples the first count, which were all kept.
  [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> count_behind_own(series const& from) const {
    std::vector<placed> all;
    for (std::size_t i = 0; i < from.samples.size() && (from.kept_one_in == 1 || i < samples_at_head); ++i)
      if (!from.samples[i].warmup && device_end(from.samples[i])) all.push_back(placed_as(from.samples[i]));
    put_in_order(all, [](placed const& a, placed const& b) { return a.begin < b.begin; });
    bool const one_clock = !of_several_runs(of_);
    std::vector<placed> latest;  // of each stream and, with stream 0, of each device
    auto const behind = [&latest](placed const& next, bool on_stream) {
      std::size_t at = 0;
      while (at < latest.size() && (on_stream ? latest[at].stream != next.stream
                                              : latest[at].stream != 0 || latest[at].device != next.device))
        ++at;
      if (at == latest.size()) {
        latest.push_back(next);
        if (!on_stream) latest.back().stream = 0;
        return false;
      }
      placed& before = latest[at];
      nanoseconds const gap = next.begin - before.end;
      nanoseconds const most = next.bound + before.end_bound;
      if (next.end > before.end) {
        before.end = next.end;
        before.end_bound = next.end_bound;
      }
      return gap <= most && (on_stream || gap >= -most);
    };
    std::uint64_t count = 0;
    for (placed const& each : all) {
      bool const on_device = one_clock && each.device && behind(each, false);
      bool const on_stream = each.stream != 0 && behind(each, true);
      if (on_device || on_stream) ++count;
    }
    return {count, all.size()};
  }

  // Only compute on its own device hides it, and it counts as hidden wherever the bounds leave that open.
  void examine_overlap(std::size_t at) {
    if (of_several_runs(of_))
      return say(at, limited_by::not_known, {}, "what could hide it: runs were merged, whose clocks have no origin in common");
    std::vector<placed> own;
    std::vector<placed> compute;
    nanoseconds widest{0};
    bool all_kept = true;
    for (std::size_t i = 0; i < of_.all.size(); ++i) {
      if (i != at && of_.all[i].kind != work_kind::compute) continue;
      all_kept = all_kept && of_.all[i].kept_one_in == 1;
      for (sample const& one : of_.all[i].samples) {
        if (!device_end(one) || (i == at && one.warmup)) continue;
        (i == at ? own : compute).push_back(placed_as(one));
        if (end_bound(one) > widest) widest = end_bound(one);
      }
    }
    if (compute.empty())
      return say(at, limited_by::not_known, {}, "what could hide it: no phase is declared as compute (sg::work_kind)");
    if (!all_kept)
      return say(at, limited_by::not_known, {}, "what could hide it: of these phases not every execution was kept");
    std::vector<int> devices;
    for (placed const& each : own) {
      bool known = !each.device;
      for (int const other : devices) known = known || other == *each.device;
      if (!known) devices.push_back(*each.device);
    }
    nanoseconds alone{0};
    nanoseconds hidden{0};
    nanoseconds hidden_at_most{0};
    for (int const device : devices) {
      alone += overlap(own, own, device, nanoseconds{0});
      hidden += overlap(own, compute, device, nanoseconds{0});
      hidden_at_most += overlap(own, compute, device, 2 * widest);
    }
    if (2 * hidden_at_most < alone)
      say(at, limited_by::exposed, {{"of", alone, {}}, {"beside compute", hidden, {}}});
  }
  // For how long one of each ran on a device, if all of the second may have been so much longer at either end.
  static nanoseconds overlap(std::vector<placed> const& one, std::vector<placed> const& other, int device, nanoseconds by) {
    std::vector<stretch> first;
    std::vector<stretch> second;
    for (placed const& each : one)
      if (each.device == device) first.push_back({each.begin, each.end});
    for (placed const& each : other)
      if (each.device == device) second.push_back({each.begin - by, each.end + by});
    nanoseconds const sum = busy_times_of(first).busy_union + busy_times_of(second).busy_union;
    first.insert(first.end(), second.begin(), second.end());
    return sum - busy_times_of(first).busy_union;
  }

  Recording const& of_;
  latency_split split_;
  std::vector<finding> found_;
};

/// What limits each phase of a recording; `diagnostician`.
template <class Recording>
[[nodiscard]] std::vector<finding> diagnose(Recording const& of) {
  return diagnostician<Recording>{of}.findings();
}

}  // namespace streamgauge
