// The bug that would go unseen without this file: device times that stand elsewhere on the host's clock than where nsys saw
// the kernels run. Under nsys the same process is seen twice: its phases as ranges and its kernels as CUPTI timed them, and
// its samples as the clock map placed them, which asks no tool.
#include "nsys_export.cuh"

#include <chrono>
#include <thread>

#include <streamgauge/measure/device_ranges.hpp>
#include <streamgauge/measure/timeline.hpp>

#include "device.cuh"

namespace {

using namespace std::chrono_literals;

// Every phase launches one kernel, of so many blocks that it is known again.
struct kind {
  char const* name;
  unsigned int blocks;
  std::uint64_t length;
};
constexpr kind alone{"alone", 11, 5 * us};
constexpr kind queued{"queued", 12, 20 * us};
constexpr kind beside{"beside", 13, 200 * us};
constexpr kind longer{"longer", 14, 5 * ms};
constexpr kind kinds[] = {alone, queued, beside, longer};

int mixed() {
  warm_up();
  test_stream const stream;
  test_stream const other;
  sg::timeline_recorder recorder{sg::capacity{20'000, 1024}};
  sg::device_ranges shown{recorder};
  std::vector<sg::phase> phases;
  for (kind const& each : kinds) phases.emplace_back(recorder, each.name);
  auto const run = [&](std::size_t which, cudaStream_t on) {
    auto const scope = phases[which].enter(on);
    spin<<<kinds[which].blocks, 1, 0, on>>>(kinds[which].length, nullptr);
  };
  auto const until = sg::host_now() + 8s;
  while (sg::host_now() < until) {
    for (int i = 0; i < 10; ++i) {
      run(0, stream);
      stream.synchronize();
    }
    spin<<<1, 1, 0, stream>>>(1 * ms, nullptr);
    for (int i = 0; i < 10; ++i) {
      run(1, stream);
      run(2, other);
    }
    run(3, stream);
    stream.synchronize();
    other.synchronize();
    shown.look();
    std::this_thread::sleep_for(20ms);
  }
  sg::recording const taken = recorder.collect();
  std::printf("told %zu ranges; %s bound of the tool's clock and the sample %lld ns\n", shown.submit(taken), shown.why_not(),
              static_cast<long long>(shown.counts().widest_bound.count()));
  for (sg::series const& each : taken.all)
    for (sg::sample const& one : each.samples)
      if (one.queue.known())
        std::printf("placed %s %lld %lld %lld\n", each.phase.c_str(), static_cast<long long>(one.queue.value()->count()),
                    static_cast<long long>(one.device.value()->count()), static_cast<long long>(one.bound.count()));
      else
        std::printf("placed %s not: %s\n", each.phase.c_str(), sg::describe(one.queue.why_absent()));
  for (sg::placed_clock const& each : taken.clocks)
    std::printf("clock: drift %.3f us a second, give or take %.3f, %llu anchors, %llu thrown away\n", each.drift.value_or(0) * 1e6,
                each.drift_bound.value_or(0) * 1e6,
                static_cast<unsigned long long>(each.anchors), static_cast<unsigned long long>(each.thrown_away));
  return 0;
}
add_child const as_mixed{"mixed", mixed};

// Those of a kind, by name or by number.
std::vector<exported> of_kind(std::vector<exported> const& all, int kind, std::string const& name) {
  std::vector<exported> found;
  for (exported const& each : all)
    if (each.kind == kind && each.name == name) found.push_back(each);
  return found;
}

std::int64_t share_of(std::vector<std::int64_t> values, double share) {
  REQUIRE_FALSE(values.empty());
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

void print_spread(std::string const& what, std::vector<std::int64_t> const& values) {
  std::printf("  %-40s least %7lld  median %7lld  p95 %7lld  p99 %7lld  most %7lld ns\n", what.c_str(),
              static_cast<long long>(share_of(values, 0)), static_cast<long long>(share_of(values, 0.5)),
              static_cast<long long>(share_of(values, 0.95)), static_cast<long long>(share_of(values, 0.99)),
              static_cast<long long>(share_of(values, 1)));
}

}  // namespace

TEST_CASE("case-97 the places of device times hold the kernels that nsys saw, within their bounds") {
  std::string const printed = shell("nsys profile -t cuda,nvtx --sample=none --cpuctxsw=none -f true -o timeline " + self() + " --child=mixed");
  nsys_export const seen = exported_from("timeline.nsys-rep");
  if (auto const at = printed.find("clock: "); at != std::string::npos)
    std::printf("%s\n", printed.substr(at, printed.find('\n', at) - at).c_str());
  bool const has_deferred = std::string{sg::deferred_ranges{}.why_not()}.find("compiled") == std::string::npos;
  if (auto const at = printed.find("told "); at != std::string::npos)
    std::printf("%s\n", printed.substr(at, printed.find('\n', at) - at).c_str());
  for (kind const& each : kinds) {
    CAPTURE(std::string{each.name});
    std::vector<exported> const ran = of_kind(seen.kernels, static_cast<int>(each.blocks), "");
    std::vector<exported> const marked = of_kind(seen.ranges, 59, each.name);
    std::vector<exported> const shown = of_kind(seen.ranges, 60, each.name);
    struct place {
      std::int64_t queue, device, bound;
    };
    std::vector<place> places;
    std::size_t missing = 0;
    std::string const word = std::string{"placed "} + each.name + " ";
    for (auto at = printed.find(word); at != std::string::npos; at = printed.find(word, at + 1)) {
      place one{};
      if (std::sscanf(printed.c_str() + at + word.size(), "%ld %ld %ld", &one.queue, &one.device, &one.bound) == 3)
        places.push_back(one);
      else
        ++missing;
    }
    CHECK(missing == 0);
    if (places.empty()) std::printf("%.2000s\n", printed.c_str());
    REQUIRE(places.size() >= 50);
    REQUIRE(ran.size() == places.size());
    REQUIRE(marked.size() == places.size());
    std::size_t held = 0;
    std::size_t shown_held = 0;
    std::vector<std::int64_t> before, after, bounds, shown_before, shown_after;
    for (std::size_t i = 0; i < places.size(); ++i) {
      // The range was pushed just before the phase was entered; nsys costs a microsecond or two there.
      std::int64_t const kernel_start = ran[i].begin - marked[i].begin;
      std::int64_t const kernel_end = ran[i].end - marked[i].begin;
      bool const starts_in = places[i].queue - places[i].bound <= kernel_start;
      bool const ends_in = places[i].queue + places[i].device + places[i].bound + 3'000 >= kernel_end;
      if (starts_in && ends_in) ++held;
      before.push_back(kernel_start - places[i].queue);
      after.push_back(places[i].queue + places[i].device - kernel_end);
      bounds.push_back(places[i].bound);
      if (i >= shown.size()) continue;
      // The same stretch, told to nsys after the fact: on its own axis, so no range of ours lies between.
      shown_before.push_back(ran[i].begin - shown[i].begin);
      shown_after.push_back(shown[i].end - ran[i].end);
      if (shown_before.back() + places[i].bound + 1'000 >= 0 && shown_after.back() + places[i].bound + 1'000 >= 0) ++shown_held;
    }
    std::printf("%s: %zu executions, %zu hold their kernel\n", each.name, places.size(), held);
    print_spread("kernel's start behind the placed one", before);
    print_spread("placed end behind the kernel's", after);
    print_spread("bound", bounds);
    if (has_deferred) {
      CHECK(shown.size() == places.size());
      std::printf("  told to nsys after the fact: %zu ranges, %zu hold their kernel\n", shown.size(), shown_held);
      if (!shown_before.empty()) print_spread("kernel's start behind its range's", shown_before);
      if (!shown_after.empty()) print_spread("its range's end behind the kernel's", shown_after);
      CHECK(static_cast<double>(shown_held) >= 0.99 * static_cast<double>(places.size()));
    }
    CHECK(static_cast<double>(held) >= 0.99 * static_cast<double>(places.size()));
  }
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
