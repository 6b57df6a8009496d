// Which phase to speed up, before anybody does it: phases that wait for each other, the longest path through them, and
// what each phase would do to the end. Nothing here needs CUDA, neither to compile nor to run.
#include <chrono>
#include <iostream>
#include <vector>

#include <streamgauge/analyze/critical_path.hpp>
#include <streamgauge/analyze/stream_graph.hpp>
#include <streamgauge/analyze/stream_timeline.hpp>
#include <streamgauge/analyze/what_if.hpp>
#include <streamgauge/report/critical_path_table.hpp>
#include <streamgauge/report/stream_graph_table.hpp>
#include <streamgauge/report/text.hpp>

namespace sg = streamgauge;
using namespace std::chrono_literals;
using sg::report::with_unit;

int main() {
  // The step of example 04, by hand: two streams, and what waits for what.
  sg::dependency_graph step;
  auto const prepare = step.add("prepare", 2ms);
  auto const compute = step.add("compute", 6ms, {prepare});
  auto const communicate = step.add("communicate", 9ms, {prepare});
  step.add("finalize", 1ms, {compute, communicate});
  sg::report::table(std::cout, step);

  auto const path = sg::critical_path_of(step);
  std::cout << "\ncompute could take " << with_unit(path.nodes[compute.index].slack) << " longer; twice as fast it "
            << "gives " << with_unit(sg::end_if_faster(step, compute, 2.0).end.value()) << ", communicate "
            << with_unit(sg::end_if_faster(step, communicate, 2.0).end.value()) << "\n\n";

  // Two such steps as a tool's trace has them: what ran, on which device and stream, from when to when. The host
  // submitted the second one half a millisecond late.
  std::vector<sg::placed_stretch> ran;
  std::vector<sg::dependency> waits;
  for (auto begin : {0us, 12'500us}) {
    auto const first = ran.size();
    ran.push_back({"prepare", 0, 7, begin, begin + 2ms});
    ran.push_back({"compute", 0, 7, begin + 2ms, begin + 8ms});
    ran.push_back({"communicate", 0, 13, begin + 2ms, begin + 11ms});
    ran.push_back({"finalize", 0, 7, begin + 11ms, begin + 12ms});
    waits.push_back({{first}, {first + 2}});      // communicate waits for an event behind prepare,
    waits.push_back({{first + 2}, {first + 3}});  // and finalize for one behind communicate
  }
  for (auto const& device : sg::timeline_of(ran).devices)
    std::cout << "device " << device.device << ": busy for " << with_unit(device.busy.busy_union) << ", two at once for "
              << with_unit(device.busy.overlap) << ", idle for " << with_unit(device.idle.total.value()) << "\n\n";
  sg::report::table(std::cout, sg::stream_graph_of(ran, waits));
}
