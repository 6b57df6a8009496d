// The bug that would go unseen without this file: a window that collects the warm-up, or nothing.
#include "tools.cuh"

#include <streamgauge/mark/filter.hpp>

#include "device.cuh"

namespace {

// Five steps of warm-up, then two windows of one step each.
int two_windows() {
  cudaStream_t stream = nullptr;
  sg::check(cudaStreamCreate(&stream), "cudaStreamCreate");
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  auto const one = [&](unsigned int blocks) {
    auto const scope = step.enter(stream);
    marked<<<blocks, 1, 0, stream>>>();
  };
  for (int i = 0; i < 5; ++i) one(outside);
  for (unsigned int window : {1u, 2u}) {
    {
      sg::capture_guard const guard{stream};
      one(window);
    }
    one(outside);
  }
  return 0;
}
add_child const as_windows{"two_windows", two_windows};

// The blocks of the kernels in a report of nsys.
std::string collected(std::string const& report) {
  std::string const text = shell("nsys stats -q --force-export=true --format csv --report cuda_gpu_trace " + report);
  numbers const found = blocks_in_trace(text);
  if (found.empty()) std::printf("%s\n", text.c_str());
  return in_words(found);
}

std::string const begin = "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none -f true ";
std::string program() { return " " + self() + " --child=two_windows"; }

}  // namespace

TEST_CASE(
    "case-46: nsys collects the windows of the guard and nothing of the warm-up, one report for each with repeat") {
  shell(begin + "--capture-range=cudaProfilerApi --capture-range-end=stop -o first" + program());
  CHECK(collected("first.nsys-rep") == "1 ");
  shell(begin + "--capture-range=cudaProfilerApi --capture-range-end=repeat:2 -o each" + program());
  CHECK(collected("each.1.nsys-rep") == "1 ");
  CHECK(collected("each.2.nsys-rep") == "2 ");
}

TEST_CASE("case-57: nsys starts on the registered name of a phase, as the filter prints it") {
  shell(begin + "--capture-range=nvtx --nvtx-capture=" + sg::nsys_capture("step").quoted() +
        " --capture-range-end=stop -o named" + program());
  CHECK(collected("named.nsys-rep") == in_words({outside}));
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
