// The bug that would go unseen without this file: device times that stand elsewhere on the host's clock than where nsys saw
// the kernels run. Under nsys the same process is seen twice: its phases as ranges and its kernels as CUPTI timed them, and
// its samples as the clock map placed them, which asks no tool.
#include "tools.cuh"

#include <chrono>
#include <map>
#include <thread>

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
  sg::recorder recorder{sg::mode::timeline, sg::capacity{20'000, 1024}};
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
    std::this_thread::sleep_for(20ms);
  }
  sg::recording const taken = recorder.collect();
  for (sg::series const& each : taken.all)
    for (sg::sample const& one : each.samples)
      if (one.queue.known())
        std::printf("placed %s %lld %lld %lld\n", each.phase.c_str(), static_cast<long long>(one.queue.value()->count()),
                    static_cast<long long>(device_ns(one)), static_cast<long long>(one.bound.count()));
      else
        std::printf("placed %s not: %s\n", each.phase.c_str(), sg::describe(one.queue.why_absent()));
  for (sg::placed_clock const& each : taken.clocks)
    std::printf("clock: drift %.3f us a second, %llu anchors, %llu thrown away\n", each.drift.value_or(0) * 1e6,
                static_cast<unsigned long long>(each.anchors), static_cast<unsigned long long>(each.thrown_away));
  return 0;
}
add_child const as_mixed{"mixed", mixed};

struct stretch_seen {
  std::int64_t start;
  std::int64_t end;
};

// The rows of a trace of `nsys stats --format csv` whose column `key` holds `value`, in the order of their starts.
std::vector<stretch_seen> rows_of(std::string const& csv, std::string const& key, std::string const& value) {
  std::vector<stretch_seen> found;
  std::vector<std::string> head;
  std::string_view text = csv;
  auto const column = [&](std::string_view name) {
    for (std::size_t i = 0; i < head.size(); ++i)
      if (head[i].substr(0, name.size()) == name) return i;
    return head.size();
  };
  while (!text.empty()) {
    auto const end = text.find('\n');
    std::vector<std::string> const fields = fields_of(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    for (std::string const& each : fields)
      if (each.substr(0, 5) == "Start") head = fields;
    std::size_t const at = column("Start");
    std::size_t const length = column("Duration");
    std::size_t const named = column(key);
    if (head.empty() || fields.size() != head.size() || named >= head.size() || fields[named] != value) continue;
    std::int64_t const start = std::stoll(fields[at]);
    found.push_back({start, start + std::stoll(fields[length])});
  }
  std::sort(found.begin(), found.end(), [](auto const& a, auto const& b) { return a.start < b.start; });
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
  std::string const printed = shell("nsys profile -t cuda,nvtx -o timeline --force-overwrite=true " + self() + " --child=mixed");
  std::string const kernels = shell("nsys stats -q --force-export=true --format csv --report cuda_gpu_trace timeline.nsys-rep");
  std::string const ranges = shell("nsys stats -q --force-export=true --format csv --report nvtx_pushpop_trace timeline.nsys-rep");
  if (auto const at = printed.find("clock: "); at != std::string::npos)
    std::printf("%s\n", printed.substr(at, printed.find('\n', at) - at).c_str());
  for (kind const& each : kinds) {
    CAPTURE(std::string{each.name});
    std::vector<stretch_seen> const ran = rows_of(kernels, "GrdX", std::to_string(each.blocks));
    // Of the default domain the name of a range begins with a colon.
    std::vector<stretch_seen> marked = rows_of(ranges, "Name", std::string{":"} + each.name);
    if (marked.empty()) marked = rows_of(ranges, "Name", each.name);
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
    REQUIRE(places.size() >= 50);
    REQUIRE(ran.size() == places.size());
    REQUIRE(marked.size() == places.size());
    std::size_t held = 0;
    std::vector<std::int64_t> before, after, bounds;
    for (std::size_t i = 0; i < places.size(); ++i) {
      // The range was pushed just before the phase was entered; nsys costs a microsecond or two there.
      std::int64_t const kernel_start = ran[i].start - marked[i].start;
      std::int64_t const kernel_end = ran[i].end - marked[i].start;
      bool const starts_in = places[i].queue - places[i].bound <= kernel_start;
      bool const ends_in = places[i].queue + places[i].device + places[i].bound + 3'000 >= kernel_end;
      if (starts_in && ends_in) ++held;
      before.push_back(kernel_start - places[i].queue);
      after.push_back(places[i].queue + places[i].device - kernel_end);
      bounds.push_back(places[i].bound);
    }
    std::printf("%s: %zu executions, %zu hold their kernel\n", each.name, places.size(), held);
    print_spread("kernel's start behind the placed one", before);
    print_spread("placed end behind the kernel's", after);
    print_spread("bound", bounds);
    CHECK(static_cast<double>(held) >= 0.99 * static_cast<double>(places.size()));
  }
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
