#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/nesting.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/note_lines.hpp>
#include <streamgauge/report/feeding_note.hpp>
#include <streamgauge/report/clock_change_note.hpp>
#include <streamgauge/report/run_notes.hpp>

namespace streamgauge::report {

/// The lines under a table: what its columns mean, how far they can be trusted, and what became of every sample.
/// A template, so that only a unit that prints compiles its bodies.
template <class Summary>
class notes : public run_notes<Summary> {
  using base = run_notes<Summary>;
  using base::add, base::say, base::say_name, base::say_time, base::end, base::line_, base::say_device;
  using base::add_first_sample, base::add_near_floor, base::add_span_legend, base::add_thinning;

 public:
  explicit notes(Summary const& of) : base{of}, of_{of} {}

  /// What the columns mean; only of those that are there.
  [[gnu::cold]] void add_legend() {
    bool any_inside = false;
    for (auto const& row : of_.rows) any_inside = any_inside || row.what.most_records_inside > 0;
    if (entered(submit_of))
      add("submit", "host time from entering a phase to leaving it: with a stream, what it took to enqueue");
    if (entered(device_of))
      add("device", "from the start event to the stop event on the stream, gaps included: not kernel time");
    add_span_legend();
    if (any_inside)
      add("inside", "event records of phases nested in it, on any stream, made while it was open");
    if (entered(completion_of))
      add("completion", "host time from entering until the wait returned; a spin polls, a block sleeps");
  }

  /// What the instrument itself reads.
  [[gnu::cold]] void add_instrument() {
    char const* label = "instrument";
    for (auto const& device : of_.environment.devices) {
      say_device(device);
      if (device.event_floor) {
        say(": an empty phase reads ");
        say_time(*device.event_floor);
        say(" on the device");
        if (device.kernel_floor) {
          say(", one around an empty kernel ");
          say_time(*device.kernel_floor);
        }
      } else {
        say(": what an empty phase reads was not measured");
        if (!device.why_no_floor.empty()) say(": ");
        say(escaped(device.why_no_floor));
      }
      if (device.event_resolution) {
        say(", in steps of ");
        say_time(*device.event_resolution);
      }
      if (device.submit_floor) {
        say(device.kernel_floor ? "; the empty one's submit is " : "; its submit is ");
        say_time(*device.submit_floor);
      }
      end(label);
      label = "";
      // Where nothing was measured, one reason stands for both.
      auto const& why_not = device.why_no_kernel_floor;
      if (why_not.empty() || why_not == device.why_no_floor) continue;
      say("  what one around an empty kernel reads was not measured: ");
      say(escaped(why_not));
      end("");
    }
    if (!of_.environment.host_floor) return;
    say("host: an empty pair of stamps reads ");
    say_time(*of_.environment.host_floor);
    end(label);
  }

  [[gnu::cold]] void add_clocks() {
    char const* label = "clocks";
    for (std::string const& each : clock_lines_of(of_)) {
      add(label, each);
      label = "";
    }
  }

  /// What became of every sample of every observable.
  [[gnu::cold]] void add_accounts() {
    bool any = false;
    for (auto const& row : of_.rows) any = any || row.what.submit.samples.seen() > 0;
    add_account("samples", "submit", submit_of, any ? "no phase was entered outside a graph" : "no phase was entered");
    add_account("", "device", device_of, "no phase was entered with a stream");
    add_account("", "completion", completion_of, "no phase on a stream was waited for");
    for (auto const& row : of_.rows) {
      if (row.what.submit.samples.seen() > 0) continue;
      say(line_.empty() ? "never entered: " : ", ");
      say_name(row.what);
    }
    if (!line_.empty()) end("");
  }

  /// What a reader should know before trusting a row.
  [[gnu::cold]] void add_warnings() {
    for (auto const& row : of_.rows) {
      add_nesting(row);
      auto const& what = row.what;
      add_first_sample(what);
      add_thinning(what);
      if (what.near_floor || what.near_resolution) add_near_floor(what, of_.environment);
      if (std::string const feeding = feeding_note(what.latency); !feeding.empty()) {
        say_name(what);
        say(": " + feeding + ": the device began before all was submitted, so its time may hold the host's gaps");
        end("warning");
      }
      if (what.completion.mixed_policies) {
        say_name(what);
        say(": waited for in more than one way; shown apart, a block wakes later");
        end("warning");
      }
    }
  }

 private:
  using pick = account const& (*)(summary const&);
  static account const& submit_of(summary const& row) { return row.submit.samples; }
  static account const& device_of(summary const& row) { return row.device.samples; }
  static account const& completion_of(summary const& row) { return row.completion.samples; }

  [[nodiscard]] bool entered(pick of) const {
    for (auto const& row : of_.rows)
      if (of(row.what).entered > 0) return true;
    return false;
  }

  [[gnu::cold]] void add_account(char const* label, char const* observable, pick of, char const* why_not_asked) {
    account all;
    for (auto const& row : of_.rows)
      for (std::size_t i = 0; i < absence_count; ++i) all.add(static_cast<absence>(i), of(row.what).by_reason[i]);
    say(observable);
    if (all.entered == 0 && all.count(absence::several_devices) == 0) {
      say(": not asked for, ");
      say(why_not_asked);
      return end(label);
    }
    say(": ");
    say(digits(all.entered));
    say(" entered");
    if (all.kept == all.entered) {
      say(all.entered > 0 ? ", all kept" : "");
    } else {
      say(" = ");
      say(digits(all.kept));
      say(" kept + ");
      say(digits(all.dropped));
      say(" dropped + ");
      say(digits(all.incomplete));
      say(" incomplete");
    }
    end(label);
    for (std::size_t i = 0; i < absence_count; ++i) {
      auto const why = static_cast<absence>(i);
      auto const became = fate_of(why);
      if (became == fate::kept || all.count(why) == 0) continue;
      if (why == absence::not_asked) {
        say("  not asked for:");
      } else {
        say(became == fate::not_asked ? "  not counted " : became == fate::dropped ? "  dropped " : "  incomplete ");
        say(digits(all.count(why)));
        say(", ");
        say(describe(why));
        say(":");
      }
      // The phases that lack a value for this reason, each with its count.
      char const* between = " ";
      for (auto const& row : of_.rows) {
        auto const count = of(row.what).count(why);
        if (count == 0) continue;
        say(between);
        say_name(row.what);
        say(unbreakable_space + digits(count));
        between = ", ";
      }
      end("");
    }
  }

  [[gnu::noinline, gnu::cold]] void add_nesting(summary_row const& of) {
    bool const plain = of.seen_in.size() == 1 && (of.depth > 0 || !of.seen_in.front().parent);
    if (plain || of.seen_in.empty()) return;
    say_name(of.what);
    say(of.depth > 0 ? ": entered " : ": shown as a root, it was entered ");
    char const* between = "";
    for (auto const& at : of.seen_in) {
      if (&at == of.seen_in.data() + 4) {
        say(", and in " + digits(of.seen_in.size() - 4) + " more");
        break;
      }
      say(between);
      say(at.times > 1 ? digits(at.times) + " times " : "once ");
      say(at.parent ? "in " : "on its own");
      for (auto const& row : of_.rows)
        if (at.parent == row.index) say_name(row.what);
      between = ", ";
    }
    if (of.what.kept_one_in > 1) say(", of those kept");
    end("nesting");
  }

  Summary const& of_;
};

}  // namespace streamgauge::report
