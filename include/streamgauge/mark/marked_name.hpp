#pragma once

#include <string>
#include <vector>

#include <streamgauge/mark/filter.hpp>
#include <streamgauge/mark/range_label.hpp>

namespace streamgauge {

/// A range as tools know it: what a phase, or any range of the program, is called. Plain values.
/// Example: `sg::marked_name{"load", "my_library"}`
struct marked_name {
  std::string name;
  std::string domain{};                    ///< empty: NVTX's own default domain
  name_kind kind = name_kind::registered;  ///< how the name reaches the tool
  std::string why_unmarked{};              ///< why no tool sees a range of it; empty where one does
  std::vector<std::string> refused{};      ///< domains that were asked for the same phase later, and not taken
  bool in_graphs = false;                  ///< a phase that was declared for graphs
  std::vector<marked_name>
      launched_by{};  ///< the range around the launch of that graph, where it is known: one at most
};

/// A name in quotes, for running text.
[[nodiscard]] inline std::string in_quotes(std::string_view name) { return '"' + std::string{name} + '"'; }

[[nodiscard]] inline std::string domain_in_words(std::string_view domain) {
  return domain.empty() ? "the default domain" : "domain " + in_quotes(domain);
}

/// The range that a tool can select for it, itself or the one around the launch of its graph; with the reason.
/// Why: a range that was open while a stream was captured is gone when the graph runs. What is open then is the range
/// around the launch.
struct selectable {
  marked_name const* range = nullptr;  ///< null where there is none
  std::string why;                     ///< why it is another one, or none
};
[[nodiscard]] inline selectable selectable_for(marked_name const& of) {
  if (!of.why_unmarked.empty()) return {nullptr, of.why_unmarked};
  if (!of.in_graphs) return {&of, {}};
  std::string const why = in_quotes(of.name) +
                          " is declared for graphs, and a range that is open during the capture selects nothing of "
                          "what the graph runs later";
  if (of.launched_by.empty())
    return {nullptr, why + "; it is not known which range is around the launch: give the phase of its graph_replay"};
  return {&of.launched_by.front(),
          why + "; this is the range around the launch, " + in_quotes(of.launched_by.front().name)};
}

/// The value of `ncu --nvtx-include` for it, or for the range around the launch of its graph; `note` then says so.
[[nodiscard]] inline tool_argument ncu_include(marked_name const& of, range_style style = range_style::push_pop) {
  selectable const found = selectable_for(of);
  if (!found.range) return {{}, found.why};
  auto argument = ncu_include(found.range->name, found.range->domain, style);
  argument.note = found.why;
  return argument;
}

/// The same for ranges that are nested so, the outermost first; all of one domain, and none declared for graphs.
[[nodiscard]] inline tool_argument ncu_include_nested(std::vector<marked_name> const& outer_to_inner) {
  if (outer_to_inner.empty()) return {{}, "no range was named"};
  tool_argument found = ncu_include(std::string_view{outer_to_inner.front().name}, outer_to_inner.front().domain);
  for (std::size_t i = 0; i < outer_to_inner.size(); ++i) {
    marked_name const& each = outer_to_inner[i];
    selectable const range = selectable_for(each);
    if (range.range != &each) return {{}, range.why};
    if (each.domain != outer_to_inner.front().domain)
      return {{},
              in_quotes(each.name) + " is in another domain than " + in_quotes(outer_to_inner.front().name) +
                  "; ncu sees each domain's ranges apart"};
    auto const alone = ncu_include(std::string_view{each.name});
    if (found.usable()) found.why_not = alone.why_not;
    if (i > 0) found.raw += alone.raw;
  }
  if (!found.usable()) found.raw.clear();
  return found;
}

/// The value of `nsys profile --nvtx-capture` for it, or for the range around the launch of its graph.
[[nodiscard]] inline tool_argument nsys_capture(marked_name const& of) {
  selectable const found = selectable_for(of);
  if (!found.range) return {{}, found.why};
  auto argument = nsys_capture(found.range->name, found.range->domain);
  argument.note = found.why;
  return argument;
}

/// What will go wrong when tools are to find these ranges, a line each; empty where nothing will.
/// Shape: which name it is, in quotes, a colon, what happens, and why. Text of the program's stands in it as it is.
[[nodiscard]] inline std::vector<std::string> lint(std::vector<marked_name> const& names) {
  std::vector<std::string> found;
  auto const say = [&found](marked_name const& of, std::string const& what) {
    found.push_back(in_quotes(of.name) + (of.domain.empty() ? "" : " in " + domain_in_words(of.domain)) + ": " + what);
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    marked_name const& each = names[i];
    if (!each.why_unmarked.empty()) {
      say(each, "no tool sees it: " + each.why_unmarked);
      continue;
    }
    auto const ncu = ncu_include(each.name, each.domain);
    auto const nsys = nsys_capture(each.name, each.domain);
    if (!ncu.usable()) say(each, "ncu cannot select it: " + ncu.why_not);
    if (!nsys.usable()) say(each, "nsys cannot start a capture on it: " + nsys.why_not);
    if (each.kind == name_kind::text)
      say(each, "its name is not registered: to start a capture on it nsys needs " +
                    std::string{nsys_variable_for(each.kind)});
    if (each.in_graphs && each.launched_by.empty()) say(each, selectable_for(each).why);
    for (std::string const& refused : each.refused)
      say(each, "it was also asked for in " + domain_in_words(refused) +
                    "; phases of one name are one phase, and its first handle decides");
    for (marked_name const& other : names)
      if (other.domain == each.domain && each.name == warmup_prefix + other.name)
        say(each, "so the range of " + in_quotes(other.name) +
                      " is called while that phase warms up; a filter selects both");
    for (std::size_t j = 0; j < i; ++j)
      if (names[j].name == each.name && names[j].domain != each.domain)
        say(each,
            "there is one of that name in " + domain_in_words(names[j].domain) + " too; a filter finds one of the two");
  }
  return found;
}

}  // namespace streamgauge
