#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/critical_path.hpp>
#include <streamgauge/analyze/what_if.hpp>

namespace streamgauge {

/// What one phase of a graph means for the end: all nodes of one name.
struct phase_outlook {
  std::string name;
  std::size_t nodes = 0;
  std::size_t on_path = 0;                    ///< how many of them are members of the critical path
  nanoseconds takes{0};                       ///< all of them added up
  std::optional<nanoseconds> earliest_start;  ///< both absent for several nodes, which have one each
  std::optional<nanoseconds> latest_start;
  nanoseconds slack{0};                       ///< of several nodes the least: for one of them alone
  what_if if_faster;                          ///< the end if each of them were so many times as fast
  what_if if_free;                            ///< the end if none of them took any time
};

/// The critical path of a graph, and for each phase what it would do to the end to speed that phase up, alone.
struct what_ifs {
  double times_as_fast = 2.0;
  critical_path path;
  std::vector<phase_outlook> phases;   ///< in the order in which they were first added
  std::vector<std::size_t> members;    ///< of the path, in order, as places in `phases`
  std::optional<std::size_t> most_won; ///< place of the phase whose being faster gives the earliest end, of equal ones
                                       ///< the first; absent where none gives an earlier one
  std::string reason;                  ///< why there is nothing; empty where there is something
};

/// Speeds up each phase of a graph in turn.
/// Shape: O((n + m) log m), and O(n + m) more for each phase of several nodes.
template <class = void>
[[nodiscard]] what_ifs what_ifs_of(dependency_graph const& of, double times_as_fast = 2.0) {
  what_ifs found;
  found.times_as_fast = times_as_fast;
  speed_trial<> const trial{of};
  found.path = trial.path();
  found.reason = found.path.length ? why_no_speed(times_as_fast) : found.path.reason;
  if (!found.reason.empty()) return found;

  // Nodes of one name stand together in `by_name`, in the order in which they were added.
  std::vector<std::size_t> by_name;
  for (std::size_t i = 0; i < of.size(); ++i) by_name.push_back(i);
  put_in_order(by_name, [&](std::size_t a, std::size_t b) { return of.nodes()[a].name < of.nodes()[b].name; });
  std::vector<std::vector<std::size_t>> groups;
  for (auto const node : by_name) {
    if (groups.empty() || of.nodes()[groups.back().front()].name != of.nodes()[node].name) groups.emplace_back();
    groups.back().push_back(node);
  }
  put_in_order(groups, [](auto const& a, auto const& b) { return a.front() < b.front(); });

  std::vector<std::size_t> phase_of(of.size());
  auto earliest = *found.path.length;
  for (auto const& group : groups) {
    auto const place = found.phases.size();
    found.phases.emplace_back();
    auto& phase = found.phases.back();
    auto const& first = found.path.nodes[group.front()];
    phase.name = of.nodes()[group.front()].name;
    phase.nodes = group.size();
    phase.slack = first.slack;
    if (group.size() == 1) {
      phase.earliest_start = first.earliest_start;
      phase.latest_start = first.latest_start;
    }
    for (auto const node : group) {
      phase_of[node] = place;
      phase.takes += of.nodes()[node].takes;
      if (found.path.nodes[node].slack < phase.slack) phase.slack = found.path.nodes[node].slack;
    }
    phase.if_faster = trial.faster(group, times_as_fast);
    phase.if_free = trial.free(group);
    if (!phase.if_faster.end || *phase.if_faster.end >= earliest) continue;
    earliest = *phase.if_faster.end;
    found.most_won = place;
  }
  for (auto const member : found.path.members) {
    found.members.push_back(phase_of[member.index]);
    ++found.phases[found.members.back()].on_path;
  }
  return found;
}

}  // namespace streamgauge
