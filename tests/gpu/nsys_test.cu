// The bug that would go unseen without this file: a window that collects the warm-up, or nothing, or costs the results
// where nsys ends the program.
#include "tools.cuh"

#include <chrono>
#include <thread>

#include <streamgauge/mark/filter.hpp>
#include <streamgauge/measure/capture_window.hpp>
#include <streamgauge/report/json.hpp>

#include "device.cuh"

namespace {

using namespace std::chrono_literals;

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

// Counts its launches on the device, so that a run can say what really ran there.
__global__ void counted(unsigned int* launches) {
  if (blockIdx.x == 0) ++*launches;
}

constexpr unsigned int executions = 10;
constexpr unsigned int warm = 2;
// What the ten executions print where nothing of them was lost, whoever watches.
std::string const all_of_it = "10 executions on the device, 10 samples, 2 of warm-up, 10 device times, 0 problems\n";

// Ten executions of a phase, number i with a kernel of 100 + i blocks, and kernels of `outside` and more around them all.
class ten_steps {
 public:
  sg::recorder recorder{sg::mode::time};
  sg::phase const step{recorder, "step", sg::warmup{warm}};

  // Says what became of them; the exit code is the number of device times.
  int run(std::chrono::milliseconds pause = 0ms) {
    marked<<<outside, 1, 0, stream_>>>();
    for (unsigned int i = 0; i < executions; ++i) {
      auto const scope = step.enter(stream_);
      std::this_thread::sleep_for(pause);
      counted<<<100 + i, 1, 0, stream_>>>(launches_.at(0));
      if (pause > 0ms) stream_.synchronize();
      std::this_thread::sleep_for(pause);
    }
    marked<<<outside + 1, 1, 0, stream_>>>();
    sg::recording const taken = recorder.collect();
    sg::series const seen = series_of(taken, "step");
    std::size_t known = 0;
    std::size_t warmups = 0;
    for (sg::sample const& each : seen.samples) {
      known += each.device.known() ? 1u : 0u;
      warmups += each.warmup ? 1u : 0u;
    }
    std::printf("%u executions on the device, %zu samples, %zu of warm-up, %zu device times, %zu problems\n",
                launches_.read()[0], seen.samples.size(), warmups, known, taken.problems.size());
    for (sg::problem const& each : taken.problems) std::printf("%s: %s\n", each.phase.c_str(), each.text.c_str());
    std::fflush(stdout);
    return static_cast<int>(known);
  }

 private:
  test_stream const stream_;
  device_values<unsigned int> const launches_{1};
};

int by_executions() {
  ten_steps steps;
  sg::capture_window const window{steps.recorder, steps.step, sg::executions{3, 5}};
  return steps.run();
}
add_child const as_executions{"by_executions", by_executions};

int by_schedule() {
  ten_steps steps;
  sg::capture_window const window{steps.recorder, steps.step, sg::capture_schedule{1, 1, 2, 2}};
  return steps.run();
}
add_child const as_schedule{"by_schedule", by_schedule};

// The program that knows of no tool: its environment decides.
int unchanged() {
  ten_steps steps;
  sg::capture_window const window{steps.recorder};
  return steps.run();
}
add_child const as_unchanged{"unchanged", unchanged};

// Each execution leaves nsys, another process, time to notice its range, before its kernel and behind it.
int slowly() {
  ten_steps steps;
  return steps.run(100ms);
}
add_child const as_slowly{"slowly", slowly};

std::string as_json(sg::recording const& taken) {
  sg::report::json out;
  out.begin_object().key("samples").begin_array();
  for (sg::sample const& each : series_of(taken, "step").samples)
    out.begin_object().member("warmup", each.warmup).member("device_ns", each.device.value()).end();
  return out.end().end().text();
}

int ends_at_stop() {
  ten_steps steps;
  sg::capture_window const window{steps.recorder, steps.step, sg::executions{3, 5}, [](sg::recording const& so_far) {
                                    std::FILE* const file = std::fopen("results.json", "w");
                                    must(file != nullptr, "results.json can be written");
                                    std::string const text = as_json(so_far);
                                    must(std::fputs(text.c_str(), file) >= 0, "results.json holds the text");
                                    must(std::fclose(file) == 0, "results.json is closed");
                                  }};
  steps.run();
  // nsys hears of the Stop and sends a signal, which takes a moment; a minute is far more.
  std::this_thread::sleep_for(60s);
  std::printf("lived on\n");
  return 0;
}
add_child const as_ends_at_stop{"ends_at_stop", ends_at_stop};

// The blocks of the kernels in a report of nsys.
std::string collected(std::string const& report) {
  std::string const text = shell("nsys stats -q --force-export=true --format csv --report cuda_gpu_trace " + report);
  numbers const found = blocks_in_trace(text);
  if (found.empty()) std::printf("%s\n", text.c_str());
  return in_words(found);
}

std::string const begin = "nsys profile --trace=cuda,nvtx --sample=none --cpuctxsw=none -f true ";
std::string const by_windows = begin + "--capture-range=cudaProfilerApi --capture-range-end=";
std::string program(std::string const& name = "two_windows") { return ' ' + self() + " --child=" + name; }

// The environment variable that a window asks, for as long as this lives.
class environment_says {
 public:
  explicit environment_says(char const* value) { setenv("STREAMGAUGE_CAPTURE", value, 1); }
  ~environment_says() { unsetenv("STREAMGAUGE_CAPTURE"); }
  environment_says(environment_says const&) = delete;
  environment_says& operator=(environment_says const&) = delete;
};

}  // namespace

TEST_CASE(
    "case-46: nsys collects the windows of the guard and nothing of the warm-up, one report for each with repeat") {
  shell(by_windows + "stop -o first" + program());
  CHECK(collected("first.nsys-rep") == "1 ");
  shell(by_windows + "repeat:2 -o each" + program());
  CHECK(collected("each.1.nsys-rep") == "1 ");
  CHECK(collected("each.2.nsys-rep") == "2 ");
}

TEST_CASE("case-57: nsys starts on the registered name of a phase, as the filter prints it") {
  shell(begin + "--capture-range=nvtx --nvtx-capture=" + sg::nsys_capture("step").quoted() +
        " --capture-range-end=stop -o named" + program());
  CHECK(collected("named.nsys-rep") == in_words({outside}));
}

TEST_CASE("case-45 and case-49: nsys collects the executions of a window, and the warm-up has run outside") {
  std::string const text = shell(by_windows + "stop -o executions" + program("by_executions"));
  INFO(text);
  CHECK(times_in(text, all_of_it) == 1);
  CHECK(collected("executions.nsys-rep") == "103 104 ");
}

TEST_CASE("case-46: each cycle of a schedule is a report of its own") {
  std::string const text = shell(by_windows + "repeat:2 -o cycles" + program("by_schedule"));
  INFO(text);
  CHECK(times_in(text, all_of_it) == 1);
  CHECK(collected("cycles.1.nsys-rep") == "102 103 ");
  CHECK(collected("cycles.2.nsys-rep") == "106 107 ");
}

TEST_CASE("case-47: the environment opens the window of an unchanged program") {
  struct {
    char const* value;
    char const* inside;
  } const cases[] = {
      {"step:4:3", "104 105 106 "}, {"step", "102 "},  // the first behind the warm-up that the phase declares
  };
  for (auto const& each : cases) {
    CAPTURE(std::string{each.value});
    std::string const set = std::string{"env STREAMGAUGE_CAPTURE="} + each.value + ' ';
    std::string const text = shell(set + by_windows + "stop -o unchanged" + program("unchanged"));
    INFO(text);
    CHECK(times_in(text, all_of_it) == 1);
    CHECK(collected("unchanged.nsys-rep") == each.inside);
  }
}

TEST_CASE("case-46: where nsys ends the program at the Stop, the results were whole on disk before") {
  std::string const text = shell(by_windows + "stop-shutdown -o ended" + program("ends_at_stop"));
  INFO(text);
  CHECK(times_in(text, "lived on") == 0);
  std::string const results = shell("cat results.json");
  // The five samples up to the Stop, written again with the times that were found: the same text to the last byte.
  std::string const key = "\"device_ns\": ";
  sg::series read{"step", {}, warm, {}};
  for (auto at = results.find(key); at != std::string::npos; at = results.find(key, at + 1)) {
    sg::sample one;
    one.warmup = read.samples.size() < warm;
    one.device = sg::nanoseconds{std::stoll(results.substr(at + key.size()))};
    CHECK(one.device.value().value_or(sg::nanoseconds{0}) > sg::nanoseconds{0});
    read.samples.push_back(one);
  }
  CHECK(read.samples.size() == 5);
  sg::recording whole;
  whole.all.push_back(read);
  CHECK(results == as_json(whole));
  CHECK(collected("ended.nsys-rep") == "103 104 ");
}

TEST_CASE("case-49: a capture by the name of a phase begins with its first steady execution") {
  std::string const by_name = begin + "--capture-range=nvtx --nvtx-capture=" + sg::nsys_capture("step").quoted();
  shell(by_name + " --capture-range-end=stop -o steady" + program("slowly"));
  CHECK(collected("steady.nsys-rep") == "102 ");
  // Where the end of the range is ignored: everything from there on.
  shell(by_name + " --capture-range-end=none -o onwards" + program("slowly"));
  CHECK(collected("onwards.nsys-rep") == in_words({102, 103, 104, 105, 106, 107, 108, 109, outside + 1}));
}

TEST_CASE("case-47: without a tool a window changes neither the samples nor the exit code") {
  unsetenv("STREAMGAUGE_CAPTURE");
  outcome const plain = run_child("unchanged");
  CHECK(plain.exit_code == executions);
  CHECK(plain.output == all_of_it);
  auto const check_same = [&](char const* name) {
    CAPTURE(std::string{name});
    outcome const windowed = run_child(name);
    CHECK(windowed.exit_code == plain.exit_code);
    CHECK(windowed.output == plain.output);
    CHECK(windowed.errors == plain.errors);
  };
  check_same("by_executions");
  check_same("by_schedule");
  environment_says const now{"step:4:3"};
  check_same("unchanged");
}

int main(int argc, char** argv) { return run_with_tool("nsys", argc, argv); }
