#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/environment.hpp>
#include <streamgauge/observation.hpp>
#include <streamgauge/analyze/boxed.hpp>
#include <streamgauge/analyze/clock_window.hpp>
#include <streamgauge/analyze/observable_totals.hpp>

namespace streamgauge {

/// How the host waits for the device. Part of the result: the two differ by many microseconds.
enum class wait_policy : std::uint8_t {
  none,   ///< the program did not wait through the phase
  spin,   ///< poll until done: the quickest answer, a busy core
  block,  ///< sleep until the driver wakes the thread
};

/// What a recorder does when a phase is entered.
enum class mode : std::uint8_t {
  off,   ///< nothing at all
  mark,  ///< NVTX ranges only
  time,  ///< ranges, host stamps and events
};

/// What the work of a phase is, as the program declares it.
/// Why: an interval on a stream looks the same whatever ran in it. What can only be said of one kind is said where it is
/// declared.
enum class work_kind : std::uint8_t {
  undeclared,
  compute,        ///< kernels
  transfer,       ///< copies between host and device
  communication,  ///< with other devices or machines, to be hidden behind compute
  wait,           ///< nothing but waiting
};

/// What a sample is within a span: the intervals on several streams that are taken together.
enum class span_part : std::uint8_t {
  none,    ///< it belongs to no span
  whole,   ///< the span itself, on one device: its device time is the wall, earliest begin to latest end
  branch,  ///< one stream's part, from where its work began
};

/// One execution of one phase. The observables are never merged: each has its own unit, source and fate.
struct sample {
  nanoseconds entered{0};                      ///< host, since the recording's origin
  observation submit{absence::not_asked};      ///< host: from entering to leaving (or to the wait): the enqueue
  observation device{absence::not_asked};      ///< device: start event to stop event on one stream; of a span the wall
  observation completion{absence::not_asked};  ///< host: from entering until a wait saw the device done
  observation queue{absence::not_asked};       ///< host: from entering until the device began, give or take `bound`
  observation begins{absence::not_asked};      ///< device, a branch: from the earliest begin in its span to its own
  std::optional<std::uint32_t> parent;         ///< index in `recording::all` of the series it was entered in
  std::uint32_t thread = 0;                    ///< which thread entered it, counted from 0 within the recording
  std::uint32_t records_inside = 0;            ///< event records that phases nested in it made meanwhile, on any stream
  std::uint32_t span = 0;                  ///< the same number for a span on one device and its branches; 0: in none, or
                                           ///< of a long series and not every part of the span is sure to be kept
  std::uint32_t stream = 0;                ///< the one of its device time, `recording::streams[stream - 1]`; 0: not known,
                                           ///< and of a span as a whole
  span_part part = span_part::none;        ///< what it is within that span
  wait_policy waited = wait_policy::none;  ///< how completion was observed
  bool warmup = false;   ///< by the phase's own count, or entered inside an execution that was
  bool watched = false;  ///< taken under a tool, or while a capture was open: never mix it with others
  nanoseconds bound{0};  ///< `queue` is off by no more than this; only where it is known
};

/// What all samples of a long series amount to, those included that were not kept one by one.
/// Shape: bounded, some 400 KiB for each observable at the very most and usually a tenth of that.
struct series_totals {
  std::uint64_t count = 0;
  std::uint64_t watched = 0;
  observable_totals submit;
  observable_totals device;
  observable_totals completion[3];  ///< by `wait_policy`; of what was not waited for the first
  std::optional<std::uint32_t> fewest_records_inside;  ///< of those with a device time
  std::optional<std::uint32_t> most_records_inside;
  bool parts[3] = {};  ///< which `span_part` was seen

  /// Sees to it that adding the sample cannot fail. False without memory.
  template <class Sample>
  [[nodiscard]] bool make_room(Sample const& one) noexcept {
    auto const stage = one.warmup ? &observable_totals::warmup : &observable_totals::steady;
    return submit.make_room(one.submit, stage) && device.make_room(one.device, stage) &&
           completion[static_cast<std::size_t>(one.waited)].make_room(one.completion, stage);
  }
  /// Takes a sample in. False without memory, and then nothing has changed.
  template <class Sample>
  [[nodiscard, gnu::cold]] bool add(Sample const& one) noexcept {
    if (!make_room(one)) return false;
    auto& waited = completion[static_cast<std::size_t>(one.waited)];
    auto const stage = one.warmup ? &observable_totals::warmup : &observable_totals::steady;
    submit.add(one.submit, stage);
    device.add(one.device, stage);
    waited.add(one.completion, stage);
    ++count;
    if (one.watched) ++watched;
    parts[static_cast<std::size_t>(one.part)] = true;
    if (!one.device.known()) return true;
    std::uint32_t const inside = one.records_inside;
    if (!fewest_records_inside || inside < *fewest_records_inside) fewest_records_inside = inside;
    if (!most_records_inside || inside > *most_records_inside) most_records_inside = inside;
    return true;
  }

  /// Adds those of another part of the same series. False without memory, and then nothing has changed.
  [[nodiscard, gnu::cold]] bool merge(series_totals const& other) noexcept {
    bool merged = submit.make_room(other.submit) && device.make_room(other.device);
    for (std::size_t i = 0; i < 3; ++i) merged = merged && completion[i].make_room(other.completion[i]);
    if (!merged) return false;
    merged = submit.merge(other.submit) && device.merge(other.device);
    for (std::size_t i = 0; i < 3; ++i) merged = merged && completion[i].merge(other.completion[i]);
    count += other.count;
    watched += other.watched;
    for (std::size_t i = 0; i < 3; ++i) parts[i] = parts[i] || other.parts[i];
    if (other.fewest_records_inside && (!fewest_records_inside || *other.fewest_records_inside < *fewest_records_inside))
      fewest_records_inside = other.fewest_records_inside;
    if (other.most_records_inside && (!most_records_inside || *other.most_records_inside > *most_records_inside))
      most_records_inside = other.most_records_inside;
    return merged;
  }
};

/// How many samples at the beginning of a series are kept one by one, however long it becomes: of each thread that measured.
inline constexpr std::size_t samples_at_head = 1024;

/// Whether a sample is among those that a long series keeps: one in `stride`, a power of two.
/// Why: the choice is made by what the sample is, so it is the same wherever it is made: threads and runs can be brought to
/// one stride, and a span stays together with its branches. It is mixed, so that no cycle of the program is favoured.
template <class Sample>
[[nodiscard]] constexpr bool stays_at(std::uint64_t stride, Sample const& one) noexcept {
  std::uint64_t mixed = one.span != 0 ? one.span : static_cast<std::uint64_t>(one.entered.count());
  mixed += 0x9e3779b97f4a7c15U;  // else 0 would always stay, and a clock that stands still fill the memory
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9U;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111ebU;
  return ((mixed ^ (mixed >> 31U)) & (stride - 1)) == 0;
}

/// What one execution of a phase does, as the program declares it: nobody has counted it.
/// Units: floating-point operations, bytes.
struct declared_work {
  std::optional<double> flops;
  std::optional<double> bytes_read;     ///< from the device's memory
  std::optional<double> bytes_written;  ///< to it

  /// Whether two declarations say the same. What is no number differs from nothing.
  [[nodiscard]] friend constexpr bool operator==(declared_work const& a, declared_work const& b) noexcept {
    return alike(a.flops, b.flops) && alike(a.bytes_read, b.bytes_read) && alike(a.bytes_written, b.bytes_written);
  }
  [[nodiscard]] friend constexpr bool operator!=(declared_work const& a, declared_work const& b) noexcept {
    return !(a == b);
  }

 private:
  [[nodiscard]] static constexpr bool alike(std::optional<double> const& a, std::optional<double> const& b) noexcept {
    return a.has_value() == b.has_value() && (!a || !(*a < *b || *b < *a));
  }
};

/// The samples of one phase under one set of conditions, in the order in which they were entered.
/// Why: executions that differ (another shape, another type) are never averaged.
/// Shape: every sample, up to 65,536 of a thread at least. Of a longer series the first 1,024 and one in `kept_one_in` of
/// the others; `totals` then holds what all of them amount to.
struct series {
  std::string phase;
  std::vector<condition> conditions;
  std::size_t warmup = 0;  ///< how many executions the phase was told to count as warm-up; which, the samples say
  std::vector<sample> samples;
  std::uint64_t lost = 0;         ///< entered, but the host had no memory to keep anything of them: dropped
  std::size_t runs = 1;           ///< more where recordings were merged: their samples stand one behind the other
  std::uint64_t kept_one_in = 1;  ///< 1: `samples` holds every one
  boxed<series_totals> totals{};  ///< there where it does not
  work_kind kind = work_kind::undeclared;
  std::string domain{};  ///< in which its range is marked; empty: in NVTX's own default domain
  std::optional<declared_work> work{};  ///< what one execution does, where the program said so

  /// How many executions left a sample, kept or not.
  [[nodiscard]] std::uint64_t count() const noexcept { return totals ? totals->count : samples.size(); }
};

/// Whether any of its samples belong to a span.
template <class Series>
[[nodiscard]] bool holds_spans(Series const& of) noexcept {
  for (auto const& one : of.samples)
    if (one.span != 0) return true;
  return false;
}

/// Takes those spans apart of which a part may be missing, where some series was thinned to one in `stride`.
/// Why: what is left of a span would pass for all of it. Each series is thinned as far as it must, and the first samples
/// of two series are not of the same spans where one has several branches of a span.
template <class All>
void part_spans(std::uint64_t stride, All& all) noexcept {
  for (auto& each : all)
    for (auto& one : each.samples)
      if (one.span != 0 && !stays_at(stride, one)) one.span = 0;
}

/// Something that went wrong while measuring; the measured program was not disturbed.
struct problem {
  std::string phase;        ///< where it showed first
  std::string text;         ///< what happened and what helps
  int status = 0;           ///< CUDA's status, 0 when CUDA was not involved
  std::uint64_t count = 1;  ///< how often
};

/// What a stream is to the program.
enum class stream_kind : std::uint8_t { made, legacy, per_thread };

/// A stream that samples were measured on. One that is destroyed and made again with the same handle counts as the same.
struct measured_stream {
  int device = -1;            ///< as the program numbers its devices; -1: not known
  std::uint64_t handle = 0;   ///< the value of its handle
  stream_kind kind = stream_kind::made;
};

/// How a device's clock was placed on the host's, in one life of its context.
struct placed_clock {
  int device = -1;                ///< as the program numbers its devices
  std::uint64_t anchors = 0;      ///< events of ours between two readings of the host's clock
  std::uint64_t thrown_away = 0;  ///< of those, what was seen too late to say much
  std::optional<double> drift;    ///< how much faster the host's clock ran than the device's: 3e-6 is 3 us a second
  std::optional<double> drift_bound;  ///< it was no further than this from that
  clock_limits limits;            ///< what the bounds rest on
  std::string why_not;            ///< empty, or why nothing of the device could be placed
};

/// All series of a recorder with their environment: plain values, free of CUDA, ready to summarise.
struct recording {
  mode recorded = mode::time;
  std::string why_not_measured;  ///< why `recorded` is not `time`: empty, or "off" and who switched it off
  streamgauge::environment environment;
  std::vector<series> all;        ///< in the order in which the phases were first made
  std::vector<problem> problems;  ///< the first one first
  std::vector<placed_clock> clocks{};  ///< of a `timeline_recorder`, the newest first
  std::string why_not_placed{};        ///< why it has none although it was asked to: empty, or the reason
  std::vector<measured_stream> streams{};  ///< as `sample::stream` numbers them from 1
  std::size_t runs = 1;  ///< more where recordings were merged: then host times have no origin in common
};

}  // namespace streamgauge
