#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/phases_on_device.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>
#include <streamgauge/analyze/diagnosis.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/unmeasured_note.hpp>
#include <streamgauge/report/grid.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/feeding_note.hpp>

namespace streamgauge::report {

/// The lines under a table of latencies: what its columns mean, how far the places can be trusted, what was starved.
/// A template, so that only a unit that prints compiles its bodies.
template <class Recording>
class latency_notes : public note_lines<> {
 public:
  /// `commands`: for each series a command that looks into its kernels, or nothing.
  explicit latency_notes(Recording const& of, std::vector<std::string> const& commands = {})
      : of_{of}, commands_{commands} {}

  [[gnu::cold]] void add_legend() {
    add("submit", "host time from entering a phase to leaving it");
    add("queue", "from entering until the device began; submit lies within it where the device was fed in time");
    add("device", "from the start event to the stop event, by the device's own clock");
    add("end", "from entering until the device was done; completion: until a wait noticed");
    add("+-", "how far queue and end may be off: the median of the bounds");
    add("starved", "the device began before the host had submitted everything, so that its time may hold the host's gaps");
  }

  [[gnu::cold]] void add_feeding(std::string const& name, latency_split const& split) {
    std::string const text = feeding_note(split);
    if (text.empty()) return;
    say(unbroken(name) + ": " + text);
    end("starved");
  }

  [[gnu::cold]] void add_missing(std::string const& name, series const& of, latency_split const& split) {
    if (split.placed == split.executions) return;
    absence why = absence::none;
    for (auto const& one : of.samples)
      if (why == absence::none && one.device.known() && !one.warmup) why = one.queue.why_absent();
    say(unbroken(name) + ": " + digits(split.executions - split.placed) + " of " + digits(split.executions) +
        " not placed: " + describe(why));
    end("not placed");
  }

  [[gnu::cold]] void add_clocks() {
    if (!of_.why_not_placed.empty()) {
      say("not placed: " + escaped(of_.why_not_placed));
      end("clock");
    }
    for (auto const& clock : of_.clocks) {
      say("device ");
      say_signed(clock.device);
      if (!clock.why_not.empty()) {
        say(": not placed: " + escaped(clock.why_not));
      } else {
        say(": " + digits(clock.anchors) + " anchors, " + digits(clock.thrown_away) + " of them too late to count");
        // Over milliseconds nothing can be said of it.
        if (clock.drift && clock.drift_bound && *clock.drift_bound < 10e-6) {
          double const rate = *clock.drift;
          say(rate < 0 ? "; the host's clock loses " : "; the host's clock gains ");
          say_time(fractional_nanoseconds{(rate < 0 ? -rate : rate) * 1e9});
          say(" a second, give or take ");
          say_time(fractional_nanoseconds{*clock.drift_bound * 1e9});
        }
        say("; the bounds hold if that changes by no more than ");
        say_time(fractional_nanoseconds{clock.limits.change_of_drift * 1e9});
        say(" within a second");
      }
      end("clock");
    }
  }

  /// What limits each phase, with the evidence and the next step.
  [[gnu::cold]] void add_findings() {
    for (finding const& each : diagnose(of_)) {
      if (each.series) say(unbroken(identity_of(of_.all[*each.series].phase, of_.all[*each.series].conditions)) + ": ");
      if (each.device) {
        say("device ");
        say_signed(*each.device);
        say(": ");
      }
      say(describe(each.what));
      char const* between = ": ";
      for (piece_of_evidence const& piece : each.evidence) {
        say(std::string_view{piece.what} == "of" && between[0] == ',' ? " " : between);
        say(piece.what);
        say(" ");
        if (piece.time)
          say_time(*piece.time);
        else
          say(digits(piece.count.value_or(0)));
        between = ", ";
      }
      if (*each.missing != '\0') {
        say("; ");
        say(each.missing);
      }
      bool const has_command = each.what == limited_by::device && each.series && *each.series < commands_.size() &&
                               !commands_[*each.series].empty();
      if (*next_step(each.what) != '\0') {
        say("; next: ");
        say(has_command ? "profile its kernels with" : next_step(each.what));
      }
      end("diagnosis");
      if (has_command) add_verbatim(commands_[*each.series]);  // to be copied as it is
    }
  }

  /// What each device ran of the phases, and when it ran none.
  [[gnu::cold]] void add_devices() {
    if (char const* const why = why_no_stretches(of_); *why != '\0') {
      say("none: ");
      say(why);
      end("timeline");
    }
    auto const devices = timeline_of(stretches_of(of_)).devices;
    for (device_times const& each : devices) {
      if (!each.idle.total || !each.idle.within) continue;
      say("device ");
      say_signed(each.device);
      say(": ran phases for ");
      say_time(each.busy.busy_union);
      say(" of ");
      say_time(each.idle.within->end - each.idle.within->begin);
      say(", on " + digits(std::uint64_t{each.streams}) + (each.streams == 1 ? " stream" : " streams"));
      if (each.streams > 1) {
        say(", two or more at once for ");
        say_time(each.busy.overlap);
      }
      say("; none for ");
      say_time(*each.idle.total);
      if (each.idle.longest) {
        say(", at most ");
        say_time(each.idle.longest->end - each.idle.longest->begin);
        say(" in a row");
      }
      end("timeline");
    }
    if (auto const without = count_without_stretch(of_); !devices.empty() && without > 0) {
      say("executions that were not placed, and count as idle here: " + digits(without));
      end("timeline");
    }
  }

 private:
  Recording const& of_;
  std::vector<std::string> commands_;
};

/// The table of latencies and the lines under it, apart. A template, so that only a unit that prints compiles its bodies.
template <class Recording>
class latency_lines {
 public:
  explicit latency_lines(Recording const& of, std::vector<std::string> const& commands = {})
      : legend_{of}, under_{of, commands} {
    auto& host = table_.next_block();
    host.title = "host and device, from entering";
    host.subtitle = "median";
    host.columns = 5;
    for (char const* heading : {"submit", "queue", "device", "end", "completion"}) host.cells.emplace_back(heading);
    auto& trust = table_.next_block();
    trust.title = "how sure";
    trust.subtitle = "of steady ones";
    trust.columns = 3;
    for (char const* heading : {"+-", "starved", "n"}) trust.cells.emplace_back(heading);
    placed_count all;
    for (auto const& each : of.all) {
      auto const count = count_placed(each);
      all.executions += count.executions;
      all.placed += count.placed;
    }
    if (std::string const why = unmeasured_note(of); all.executions == 0 && !why.empty())
      why_none_ = "no device time to place: not measured: " + why;
    else if (all.executions == 0)
      why_none_ = "no device time to place" +
                  (of.environment.why_no_device.empty() ? "" : ": " + escaped(of.environment.why_no_device));
    else if (all.placed == 0 && of.clocks.empty() && of.why_not_placed.empty())
      why_none_ = "nothing placed: the recorder was no sg::timeline_recorder";
    if (!why_none_.empty()) return;
    for (auto const& each : of.all) {
      auto const split = split_latency(each);
      if (split.executions == 0) continue;
      add(each, split);
      if (!of.clocks.empty()) under_.add_missing(identity_of(each.phase, each.conditions), each, split);
    }
    table_.measure(host);
    table_.measure(trust);
    legend_.add_legend();
    under_.add_devices();
    under_.add_findings();
    under_.add_clocks();
  }

  /// Why there is no table; empty where there is one.
  [[nodiscard]] std::string const& why_none() const noexcept { return why_none_; }
  [[nodiscard]] grid<> const& cells() const noexcept { return table_; }
  [[nodiscard]] latency_notes<Recording> const& legend() const noexcept { return legend_; }
  [[nodiscard]] latency_notes<Recording> const& under() const noexcept { return under_; }

  [[nodiscard]] std::string text() {
    if (!why_none_.empty()) return why_none_ + "\n";
    return table_.text().append("\n").append(legend_.text()).append(under_.text());
  }

 private:
  [[gnu::cold]] void add(series const& each, latency_split const& split) {
    auto const time = [](std::optional<fractional_nanoseconds> const& value) {
      return value ? with_unit(*value) : std::string{"-"};
    };
    auto const name = identity_of(each.phase, each.conditions);
    table_.add_line(name, "");
    auto& host = table_.block_at(0).cells;
    std::optional<fractional_nanoseconds> const parts[] = {split.submit, split.queue, split.device, split.end,
                                                           split.completion};
    for (auto const& value : parts) host.push_back(time(value));
    auto& trust = table_.block_at(1).cells;
    trust.push_back(time(split.bound));
    auto const decided = split.count(feeding::starved) + split.count(feeding::clean);
    trust.push_back(decided == 0 ? "-" : digits(split.count(feeding::starved)));
    trust.push_back(digits(split.executions));
    under_.add_feeding(name, split);
  }

  grid<> table_;
  latency_notes<Recording> legend_;
  latency_notes<Recording> under_;
  std::string why_none_;
};

/// Where the time goes between host and device, as a table for people: a line for each phase, medians over its steady
/// executions, each in its own unit.
/// Requires: a `timeline_recorder`; of any other the table says that nothing was placed.
/// `commands`: for each series of the recording what looks into its kernels, as `ncu_commands` has it; shown where the
/// device is the limit.
/// Shape: at most 100 columns wide for names of ordinary length. Why: any `std::ostream`, as `table`.
template <class Ostream, class Recording>
[[gnu::cold]] void latency_table(Ostream& out, Recording const& of, std::vector<std::string> const& commands = {}) {
  std::string const text = latency_lines<Recording>{of, commands}.text();
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
