#pragma once

#include <streamgauge/mark/marked_name.hpp>

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>

namespace streamgauge {
inline namespace disabled {

[[nodiscard]] inline marked_name name_of(phase const&) {
  return {"", "", name_kind::registered, "marking is compiled out by STREAMGAUGE_DISABLE"};
}
[[nodiscard]] inline std::vector<marked_name> names_of(recorder const&) { return {}; }

}  // namespace disabled
}  // namespace streamgauge

#else

#include <streamgauge/measure/phase.hpp>

namespace streamgauge {

/// A phase as tools know it; the range around the launch of its graph stands beside it where a `graph_replay` told.
template <class Name = marked_name>
[[nodiscard]] Name name_of(phase_entry const& entry, mode recorded) {
  Name found;
  found.name = entry.label.text();
  found.domain = entry.domain;
  if (!entry.marks) found.why_unmarked = "the file that made the phase was compiled without NVTX";
  if (recorded == mode::off) found.why_unmarked = "the recorder is off";
  if (auto const* const refused = entry.refused_domain.load(std::memory_order_acquire))
    found.refused.push_back(*refused);
  found.in_graphs = entry.in_graph.load(std::memory_order_relaxed) != nullptr;
  phase_entry const* const launches = found.in_graphs ? entry.launched_by.load(std::memory_order_relaxed) : nullptr;
  if (launches && launches != &entry) found.launched_by.push_back(name_of<Name>(*launches, recorded));
  return found;
}

[[nodiscard]] inline marked_name name_of(phase const& of) { return name_of(of.node().entry, of.node().recorded); }

/// All phases of a recorder so far, in the order in which they were first made.
/// Threads: any.
[[nodiscard]] inline std::vector<marked_name> names_of(recorder const& of) {
  std::vector<marked_name> found;
  for (phase_entry const* each = of.core().entries(); each; each = each->next)
    found.push_back(name_of(*each, of.recorded()));
  for (std::size_t i = 0; i < found.size() / 2; ++i) std::swap(found[i], found[found.size() - 1 - i]);
  return found;
}

}  // namespace streamgauge

#endif

namespace streamgauge {

/// The value of `ncu --nvtx-include` for a phase: of its own range, or of the one around the launch of its graph.
/// Example: `sg::ncu_include(step).quoted()`
[[nodiscard]] inline tool_argument ncu_include(phase const& of, range_style style = range_style::push_pop) {
  return ncu_include(name_of(of), style);
}

/// The same for a phase that is entered inside others, the outermost first.
[[nodiscard]] inline tool_argument ncu_include(std::initializer_list<phase> outer_to_inner) {
  std::vector<marked_name> names;
  for (phase const& each : outer_to_inner) names.push_back(name_of(each));
  return ncu_include_nested(names);
}

/// The value of `nsys profile --nvtx-capture` for a phase. Its name is registered, so nsys needs no variable for it.
[[nodiscard]] inline tool_argument nsys_capture(phase const& of) { return nsys_capture(name_of(of)); }

/// What will go wrong when tools are to find the phases of a recorder, a line each.
[[nodiscard]] inline std::vector<std::string> lint(recorder const& of) { return lint(names_of(of)); }

}  // namespace streamgauge
