#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <streamgauge/time.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/json.hpp>

namespace streamgauge::report {

// The Trace Event Format: one JSON object an event. Everything is built digit by digit, so no locale has a say in it.

/// A whole number of thousandths as a decimal with exactly three digits behind the point, never with an exponent.
[[nodiscard, gnu::noinline, gnu::cold]] inline std::string in_thousandths(std::int64_t number) {
  std::uint64_t const size = number < 0 ? ~static_cast<std::uint64_t>(number) + 1 : static_cast<std::uint64_t>(number);
  std::string const rest = digits(size % 1000);
  std::string text = number < 0 ? "-" : "";
  text.append(digits(size / 1000)).append(1, '.').append(3 - rest.size(), '0');
  return text.append(rest);
}

/// A time in microseconds, the only unit that a trace has: 1.500.
[[nodiscard]] inline std::string in_microseconds(nanoseconds time) { return in_thousandths(time.count()); }

/// Text as a JSON string that Perfetto reads as well.
/// Why: its reader takes a backslash before the closing quote for the escape of it, also where that backslash is escaped
/// itself, and refuses the whole trace. It often shows escapes as they are written, so U+FFFD stands there as itself.
[[nodiscard, gnu::cold]] inline std::string trace_string(std::string_view text) {
  std::string written = json_string(as_utf8(text));
  for (std::size_t at = 0; (at = written.find("\\\\", at)) != written.npos; at += 6) written.replace(at, 2, "\\u005c");
  return written;
}

/// How long a text is at most that each slice bears.
inline constexpr std::size_t longest_in_slice = 1000;

/// A text as each slice of a series bears it: of a long one the beginning, and where the rest is.
/// Why: every execution repeats it, so that a name of 1 MB makes two gigabytes of a thousand of them; viewers show the first
/// hundred characters.
[[nodiscard, gnu::cold]] inline std::string in_slice(std::string_view text, std::size_t series) {
  if (text.size() <= longest_in_slice) return std::string{text};
  // A character of UTF-8 has at most three bytes behind its first one.
  std::size_t end = longest_in_slice;
  for (int i = 0; i < 3 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U; ++i) --end;
  return std::string{text.substr(0, end)} + "... (otherData.cut_names, series " + digits(series) + ")";
}

/// The members of one JSON object, in one line.
/// A template, so that only a unit that writes compiles its bodies.
template <class Text = std::string>
class trace_object {
 public:
  trace_object& text(std::string_view key, std::string_view value) { return raw(key, trace_string(value)); }
  trace_object& number(std::string_view key, std::uint64_t value) { return raw(key, digits(value)); }
  trace_object& time(std::string_view key, nanoseconds value) { return raw(key, in_microseconds(value)); }
  /// Requires: a JSON value.
  [[gnu::cold]] trace_object& raw(std::string_view key, std::string_view value) {
    members_.append(members_.empty() ? "" : ",").append(trace_string(key)).append(":").append(value);
    return *this;
  }
  [[nodiscard]] bool empty() const noexcept { return members_.empty(); }
  [[nodiscard]] Text written() const { return "{" + members_ + "}"; }

 private:
  Text members_;
};

/// Where an event stands: a process and a thread of it, as the format calls what viewers draw as groups and tracks.
struct trace_place {
  std::uint64_t process = 0;
  std::uint64_t track = 0;
};

/// The events of a trace and what belongs to all of them, as text.
/// A template, so that only a unit that writes compiles its bodies.
template <class Text = std::string>
class trace_text {
 public:
  using object = trace_object<Text>;

  /// The name of a process, and its place among the others.
  [[gnu::cold]] void name_process(std::uint64_t process, std::string_view name, std::uint64_t order) {
    add(begin('M', {process, 0}).text("name", "process_name").raw("args", object{}.text("name", name).written()));
    add(begin('M', {process, 0}).text("name", "process_sort_index").raw("args", object{}.number("sort_index", order).written()));
  }
  /// The name of a track, and its place among the others of its process.
  [[gnu::cold]] void name_track(trace_place at, std::string_view name, std::uint64_t order) {
    add(begin('M', at).text("name", "thread_name").raw("args", object{}.text("name", name).written()));
    add(begin('M', at).text("name", "thread_sort_index").raw("args", object{}.number("sort_index", order).written()));
  }
  /// A slice. `color`: one of the format's own names.
  [[gnu::cold]] void add_slice(trace_place at, nanoseconds begins, nanoseconds length, std::string_view name,
                               std::string_view categories, std::string_view color, object const& args) {
    add(begin('X', at).time("ts", begins).time("dur", length).text("name", name).text("cat", categories)
            .text("cname", color).raw("args", args.written()));
  }
  /// An arrow begins at the slice that was written last, which begins at that time.
  [[gnu::cold]] void begin_arrow(trace_place at, nanoseconds when, std::uint64_t id) {
    add(begin('s', at).time("ts", when).number("id", id).text("name", "submission").text("cat", "flow"));
  }
  /// It ends at the slice that was written last, which begins at that time.
  [[gnu::cold]] void end_arrow(trace_place at, nanoseconds when, std::uint64_t id) {
    add(begin('f', at).text("bp", "e").time("ts", when).number("id", id).text("name", "submission").text("cat", "flow"));
  }
  /// A point of a counter. Counters belong to a process. `thousandths`: of the unit.
  [[gnu::cold]] void add_count(std::uint64_t process, nanoseconds when, std::string_view name, std::string_view unit,
                               std::int64_t thousandths) {
    add(begin('C', {process, 0}).time("ts", when).text("name", name)
            .raw("args", object{}.raw(unit, in_thousandths(thousandths)).written()));
  }

  /// The whole document.
  [[nodiscard, gnu::cold]] Text written(object const& about) const {
    return "{\"displayTimeUnit\":\"ns\",\n\"otherData\":" + about.written() + ",\n\"traceEvents\":[" + events_ + "\n]}\n";
  }

 private:
  [[nodiscard]] static object begin(char phase, trace_place at) {
    object one;
    one.text("ph", std::string_view{&phase, 1}).number("pid", at.process).number("tid", at.track);
    return one;
  }
  [[gnu::cold]] void add(object const& one) { events_.append(events_.empty() ? "\n" : ",\n").append(one.written()); }

  Text events_;
};

}  // namespace streamgauge::report
