#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <streamgauge/mark/shell_word.hpp>

namespace streamgauge {

/// The two kinds of range that ncu tells apart.
enum class range_style : std::uint8_t {
  push_pop,   ///< `scoped_range`, and phases that were entered
  start_end,  ///< `range`, and phases that were started
};

/// How a range's name reaches the tool.
enum class name_kind : std::uint8_t {
  registered,  ///< a `registered_name`, and the name of every phase
  text,        ///< text that is given with each range
};

/// One element of a tool's command line, or why there can be none.
struct tool_argument {
  std::string raw;      ///< as the program gets it, without any quoting; empty where there is none
  std::string why_not;  ///< empty, or the reason in words
  std::string note{};   ///< what it selects, where that is not the range that was named

  [[nodiscard]] bool usable() const noexcept { return why_not.empty(); }
  /// The same as a word of a POSIX shell.
  [[nodiscard]] std::string quoted() const { return usable() ? shell_word(raw) : std::string{}; }
};

/// The name with a backslash before each of these characters.
[[nodiscard]] inline std::string with_backslashes(std::string_view name, std::string_view before) {
  std::string text;
  for (char const each : name) {
    if (before.find(each) != std::string_view::npos) text += '\\';
    text += each;
  }
  return text;
}

/// Why no tool can match this name; empty where one can.
[[nodiscard]] inline std::string why_no_tool_matches(std::string_view name) {
  if (name.empty()) return "the name is empty";
  if (name.find('\0') != std::string_view::npos) return "the name holds a zero byte, and NVTX ends it there";
  return {};
}

/// Why ncu cannot select a range, or a domain, by this name; empty where it can.
/// Source: some fifty names were tried on an H200 with Nsight Compute 2025.3.1, each beside a kernel outside the range.
[[nodiscard]] inline std::string why_ncu_cannot_match(std::string_view name) {
  std::string const why = why_no_tool_matches(name);
  if (!why.empty()) return why;
  if (name.substr(0, 6) == "regex:") return "ncu takes a name that begins with regex: for a pattern";
  if (name.find('\\') != std::string_view::npos) return "a backslash was not matched by ncu when it was tried";
  if (name.find(';') != std::string_view::npos) return "a semicolon was not matched by ncu when it was tried";
  return {};
}

/// A name as ncu's filters spell it: what is an operator there has a backslash before it, nothing else has.
[[nodiscard]] inline std::string ncu_escaped(std::string_view name) { return with_backslashes(name, "/@[],*+"); }

/// The value of `ncu --nvtx-include` that selects the kernels inside ranges nested so, the outermost first, all of one
/// domain; a domain without a name is NVTX's own default one. ncu wants `--nvtx` beside it.
/// Why: the filter is a grammar of its own, and a name that does not fit it selects nothing without a word.
/// Shape: push/pop ranges end with a slash, `domain@outer/inner/`; a start/end range stands alone, without one.
/// Example: `ncu_include({"outer", "f<int, 4>"}, "my_library").raw` is `my_library@outer/f<int\, 4>/`.
[[nodiscard]] inline tool_argument ncu_include(std::initializer_list<std::string_view> outer_to_inner,
                                               std::string_view domain = {},
                                               range_style style = range_style::push_pop) {
  if (outer_to_inner.size() == 0) return {{}, "no range was named"};
  if (style == range_style::start_end && outer_to_inner.size() > 1)
    return {{}, "start/end ranges lie in no stack, so none is inside another"};
  tool_argument found;
  if (!domain.empty()) {
    found.why_not = why_ncu_cannot_match(domain);
    found.raw = ncu_escaped(domain) + '@';
  }
  for (std::string_view const name : outer_to_inner) {
    if (found.usable()) found.why_not = why_ncu_cannot_match(name);
    found.raw += ncu_escaped(name);
    if (style == range_style::push_pop) found.raw += '/';
  }
  if (!found.usable()) found.raw.clear();
  return found;
}
[[nodiscard]] inline tool_argument ncu_include(std::string_view name, std::string_view domain = {},
                                               range_style style = range_style::push_pop) {
  return ncu_include({name}, domain, style);
}

/// Why `nsys --nvtx-capture` cannot start on a range, or a domain, of this name; empty where it can.
/// Source: tried on an H200 with nsys 2025.3.1.
[[nodiscard]] inline std::string why_nsys_cannot_match(std::string_view name) {
  std::string const why = why_no_tool_matches(name);
  if (!why.empty()) return why;
  if (name.find(',') != std::string_view::npos) return "a comma was not matched by nsys when it was tried";
  if (name.find('"') != std::string_view::npos) return "a double quote was not matched by nsys when it was tried";
  return {};
}

/// The value of `nsys profile --nvtx-capture`, which goes with `--capture-range=nvtx`: the name first, then the domain.
/// Where the name is no registered one, nsys needs `nsys_variable_for(name_kind::text)` beside it.
/// Why: ncu writes the two in the other order; and nsys finds no range of a named domain without that domain.
/// Shape: `name@domain`, or `name` in the default domain, `name@*` where that name holds @ or a backslash, which stands for
/// any domain; the same for push/pop and for start/end.
[[nodiscard]] inline tool_argument nsys_capture(std::string_view name, std::string_view domain = {}) {
  tool_argument found;
  found.why_not = why_nsys_cannot_match(name);
  if (found.usable() && !domain.empty()) found.why_not = why_nsys_cannot_match(domain);
  if (found.usable() && domain == "*") found.why_not = "nsys takes the domain * for any domain";
  if (found.usable() && domain.find('\\') != std::string_view::npos)
    found.why_not = "a backslash in a domain's name was not tried with nsys";
  if (!found.usable()) return found;
  found.raw = with_backslashes(name, "@\\");
  if (!domain.empty())
    found.raw += '@' + with_backslashes(domain, "@");
  else if (found.raw != name)
    found.raw += "@*";  // without it nsys did not match such a name
  return found;
}

/// The option that nsys needs to start on such a name; empty where it needs none.
/// Why: by default it looks at registered names alone, and says nothing of the others.
[[nodiscard]] constexpr std::string_view nsys_variable_for(name_kind kind) noexcept {
  return kind == name_kind::text ? "--env-var=NSYS_NVTX_PROFILER_REGISTER_ONLY=0" : "";
}

}  // namespace streamgauge
