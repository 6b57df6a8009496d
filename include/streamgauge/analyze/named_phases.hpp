#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/dependency_graph.hpp>
#include <streamgauge/analyze/execution_order.hpp>

namespace streamgauge {

/// A phase as a file or a user gives it: what it waits for is named.
struct named_phase {
  std::string name;
  fractional_nanoseconds takes{0.0};  ///< any chrono duration; exact up to 104 days
  std::vector<std::string> after{};   ///< what must have ended when it begins, in any order of the list
  fractional_nanoseconds lag{0.0};    ///< fixed, behind the end of the last of those
};

/// The graph of phases that name what they come after. Node i is phase i of the list.
///
/// A name that two of them have, a name that none has, a cycle, and a time that is negative, infinite or not a number
/// are refused: `why_refused()` names the culprit.
/// Shape: O((n + m) log n) for n phases that name m others.
template <class = void>
[[nodiscard]] dependency_graph graph_of(std::vector<named_phase> const& phases) {
  dependency_graph made;
  std::vector<std::size_t> by_name;
  for (auto const& each : phases) {
    auto const node = made.add(each.name, each.takes);
    made.set_lag(node, each.lag);
    by_name.push_back(node.index);
  }
  put_in_order(by_name, [&](std::size_t a, std::size_t b) { return phases[a].name < phases[b].name; });
  for (std::size_t i = 1; i < by_name.size(); ++i)
    if (phases[by_name[i - 1]].name == phases[by_name[i]].name)
      made.refuse("two phases are called \"" + phases[by_name[i]].name + "\", numbers " +
                  std::to_string(by_name[i - 1]) + " and " + std::to_string(by_name[i]) +
                  " of the list: give each a name of its own");
  for (std::size_t i = 0; i < phases.size(); ++i) {
    for (auto const& name : phases[i].after) {
      auto const at = partition_index(by_name.size(), [&](std::size_t k) { return phases[by_name[k]].name < name; });
      if (at < by_name.size() && phases[by_name[at]].name == name) made.add_edge({by_name[at]}, {i});
      else
        made.refuse('"' + phases[i].name + "\" comes after \"" + name + "\", and no phase is called that");
    }
  }
  made.refuse(execution_order_of(made).reason);
  return made;
}

}  // namespace streamgauge
