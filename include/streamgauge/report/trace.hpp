#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/latency.hpp>
#include <streamgauge/analyze/starved_share.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/nested_slices.hpp>
#include <streamgauge/report/trace_text.hpp>
#include <streamgauge/report/trace_metadata.hpp>
#include <streamgauge/report/trace_tracks.hpp>

namespace streamgauge::report {

/// The colour of a phase, one of those that the format has names for: one name, one colour, in every trace.
[[nodiscard]] constexpr char const* trace_color(std::string_view name) noexcept {
  constexpr char const* colors[] = {"thread_state_running", "thread_state_runnable", "thread_state_iowait",
                                    "rail_response",        "rail_animation",        "rail_idle",
                                    "rail_load",            "good",                  "yellow",
                                    "olive",                "generic_work",          "cq_build_running"};
  std::uint64_t mixed = 0xcbf29ce484222325U;
  for (char const each : name) mixed = (mixed ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
  return colors[(mixed >> 32U) % (sizeof colors / sizeof *colors)];
}

/// Draws a recording.
/// A template, so that only a unit that writes compiles its bodies.
template <class Recording>
class trace_drawing {
 public:
  explicit trace_drawing(Recording const& of) : of_{of}, about_{of} {
    std::uint64_t before = 1;
    for (auto const& each : of.all) {
      executions_before_.push_back(before);
      before += each.samples.size();
    }
    drawn_.resize(before);
  }

  [[nodiscard, gnu::cold]] std::string text() {
    starved_course course;
    if (about_.one_origin()) {
      trace_tracks<Recording> found{of_};
      tracks_.swap(found.all);
      pieces_.swap(found.pieces);
      cut_ = found.cut;
      course = starved_course_of(of_);
      for (auto const& device : of_.environment.devices)
        if (!device.readings.empty()) add_device(device.ordinal);
      for (trace_track const& each : tracks_)
        if (each.device) add_device(*each.device);
      for (starved_window const& each : course.windows) add_device(each.device);
      put_in_order(devices_, [](int a, int b) { return trace_tracks<Recording>::after(b, a); });
    }
    find_base();
    lay_out();
    name_processes();
    for (trace_track const& each : tracks_) draw(each);
    draw_counters(course);
    return out_.written(about_.written(base_, course, cut_, further_));
  }

 private:
  static constexpr std::uint64_t host_process = 1;
  static constexpr std::uint64_t first_track = 101;  // no process has such a number: viewers take that for its main thread

  [[nodiscard]] sample const& sample_of(trace_piece const& of) const { return of_.all[of.series].samples[of.sample]; }
  [[nodiscard]] std::uint64_t execution_of(trace_piece const& of) const { return executions_before_[of.series] + of.sample; }

  void add_device(int device) {
    for (int const each : devices_)
      if (each == device) return;
    devices_.push_back(device);
  }
  [[nodiscard]] std::uint64_t process_of(std::optional<int> device) const noexcept {
    std::size_t at = 0;
    while (device && at < devices_.size() && devices_[at] != *device) ++at;
    return device ? host_process + 1 + at : host_process;
  }

  // The earliest of all that is drawn is 0. A window of starved ones begins with a submission.
  [[gnu::cold]] void find_base() {
    std::optional<nanoseconds> first;
    auto const look_at = [&](nanoseconds when) {
      if (!first || when < *first) first = when;
    };
    for (trace_track const& each : tracks_)
      for (drawn_slice const& one : each.slices) look_at(one.begin);
    for (auto const& device : of_.environment.devices)
      for (device_reading const& each : device.readings)
        if (about_.one_origin() && (each.sm_mhz || each.memory_mhz)) look_at(each.at);
    base_ = first.value_or(nanoseconds{0});
  }

  // Lane by lane, with the lengths to write; and which executions are drawn on both sides, each with some length.
  [[gnu::cold]] void lay_out() {
    for (trace_track& each : tracks_) {
      for (drawn_slice& one : each.slices) {
        one.begin -= base_;
        one.end -= base_;
      }
      each.lanes = nest_slices(each.slices);
      further_ += each.lanes - 1;
      for (drawn_slice const& one : each.slices) {
        trace_piece const& what = pieces_[one.what];
        if (one.length.count() == 0 || what.part == trace_part::wait) continue;
        drawn_[execution_of(what)] |= what.part == trace_part::submit ? 1U : 2U;
      }
      put_in_order(each.slices, [](drawn_slice const& a, drawn_slice const& b) { return a.lane < b.lane; });
    }
  }

  [[gnu::cold]] void name_processes() {
    out_.name_process(host_process, "host", 0);
    for (std::size_t i = 0; i < devices_.size(); ++i) {
      int const number = devices_[i];
      std::string name = number < 0 ? "device not known" : "device " + digits(static_cast<std::uint64_t>(number));
      for (auto const& each : of_.environment.devices)
        if (each.ordinal == number && !each.name.empty()) name += " (" + each.name + ")";
      out_.name_process(host_process + 1 + i, name, 1 + i);
    }
  }

  [[gnu::cold]] void draw(trace_track const& on) {
    auto next = on.slices.begin();
    for (std::size_t lane = 0; lane < on.lanes; ++lane) {
      trace_place const at{process_of(on.device), first_track + named_};
      out_.name_track(at, lane == 0 ? on.label : on.label + ", what overlaps " + digits(lane), named_++);
      for (; next != on.slices.end() && next->lane == lane; ++next) draw(at, *next);
    }
  }

  [[gnu::cold]] void draw(trace_place at, drawn_slice const& each) {
    trace_piece const& what = pieces_[each.what];
    sample const& one = sample_of(what);
    std::string const& phase = of_.all[what.series].phase;
    bool const waits = what.part == trace_part::wait;
    char const* const color = one.warmup ? "grey" : waits ? "thread_state_sleeping" : trace_color(phase);
    std::string categories = waits ? "wait" : what.part == trace_part::submit ? "host" : "device";
    if (one.part == span_part::whole) categories += ",span";
    if (one.warmup) categories += ",warmup";
    std::string const name = in_slice(phase, what.series);
    out_.add_slice(at, each.begin, each.length, waits ? "wait for " + name : name, categories, color, arguments(what));
    if (waits || drawn_[execution_of(what)] != 3) return;
    if (what.part == trace_part::submit)
      out_.begin_arrow(at, each.begin, execution_of(what));
    else
      out_.end_arrow(at, each.begin, execution_of(what));
  }

  [[nodiscard, gnu::cold]] trace_object<> arguments(trace_piece const& of) const {
    sample const& one = sample_of(of);
    trace_object<> args;
    args.number("execution", execution_of(of));
    trace_object<> under;
    for (condition const& each : of_.all[of.series].conditions) under.text(in_slice(each.key, of.series), in_slice(each.value, of.series));
    if (!under.empty()) args.raw("conditions", under.written());
    if (one.warmup) args.raw("warmup", "true");
    if (one.watched) args.raw("watched", "true");
    if (of.part == trace_part::submit) args.time("submit_us", *one.submit.value());
    if (of.part == trace_part::wait) {
      args.text("by", one.waited == wait_policy::block ? "block" : one.waited == wait_policy::spin ? "spin" : "none");
      args.time("completion_us", *one.completion.value());
    }
    if (of.part != trace_part::device) return args;
    args.time("device_us", *one.device.value()).time("queue_us", *one.queue.value()).time("bound_us", one.bound);
    feeding const how = feeding_of(one);
    args.text("fed", how == feeding::clean ? "in time" : how == feeding::starved ? "starved" : "not known");
    if (of.cut) args.raw("cut", "true");
    return args;
  }

  [[gnu::cold]] void draw_counters(starved_course const& course) {
    for (starved_window const& each : course.windows) {
      std::uint64_t const share = (each.starved * 200'000 + each.decided) / (2 * each.decided);
      out_.add_count(process_of(each.device), each.begin - base_, "starved executions", "%", static_cast<std::int64_t>(share));
    }
    for (auto const& device : of_.environment.devices) {
      for (device_reading const& each : device.readings) {
        if (!about_.one_origin()) continue;
        std::uint64_t const process = process_of(device.ordinal);
        if (each.sm_mhz)
          out_.add_count(process, each.at - base_, "SM clock", "MHz", std::int64_t{*each.sm_mhz} * 1000);
        if (each.memory_mhz)
          out_.add_count(process, each.at - base_, "memory clock", "MHz", std::int64_t{*each.memory_mhz} * 1000);
      }
    }
  }

  Recording const& of_;
  trace_metadata<Recording> about_;
  trace_text<> out_;
  std::vector<trace_track> tracks_;
  std::vector<trace_piece> pieces_;
  std::vector<int> devices_;                      // in the order of their processes
  std::vector<std::uint64_t> executions_before_;  // by series; executions are numbered from 1
  std::vector<unsigned char> drawn_;              // by execution: 1 on the host, 2 on the device
  nanoseconds base_{0};
  std::uint64_t named_ = 0;
  std::uint64_t cut_ = 0;
  std::uint64_t further_ = 0;
};

/// A recording as a trace that Perfetto and chrome://tracing open: Trace Event Format, JSON.
/// A track for each host thread (from entering to leaving, and the wait behind it), for each stream, and for each device's
/// spans; an arrow from each submission to its execution; the SM and memory clock where they were read, and the share of
/// starved executions in windows of time, as counters. `otherData` says how far host and device may be apart on that axis,
/// and what was left out.
/// Requires: a `timeline_recorder`; of any other the host's side is drawn alone, and the trace says so.
/// Shape: on each track every two slices nest or follow. Two of one stream that overlap by no more than their bounds are cut;
/// what overlaps otherwise, such as phases that were started and stopped elsewhere, is on further tracks. A wait is drawn on
/// the thread that entered.
/// Units: microseconds with three decimals, from the earliest event on, which is 0. Where a viewer's sum of begin and length,
/// in doubles, would come behind what follows at once, the length is a nanosecond or two shorter; `args` have it exact.
/// Of names beyond 1000 bytes slices bear the beginning, and `otherData` has them whole, once.
/// Example: `std::ofstream{"trace.json"} << sg::report::trace_of(taken);`
template <class Recording>
[[nodiscard, gnu::cold]] std::string trace_of(Recording const& of) {
  return trace_drawing<Recording>{of}.text();
}

/// The same into a stream. Why: any `std::ostream`, as `table`; its locale and format have no say.
template <class Ostream, class Recording>
[[gnu::cold]] void trace(Ostream& out, Recording const& of) {
  std::string const text = trace_of(of);
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
