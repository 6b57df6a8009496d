// The bug that would go unseen without this file: a crash, a message or an exit code of ours when contexts, threads or
// processes end in another order than the objects do. Each story is a child process of its own.
#include "program.hpp"

#include <thread>

#include "device.cuh"

using sg::absence;

struct story {
  cudaStream_t stream = nullptr;

  story() { begin(); }
  void begin() {
    must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) == cudaSuccess, "a stream");
    spin<<<1, 1, 0, stream>>>(us, nullptr);
    must(cudaStreamSynchronize(stream) == cudaSuccess, "a kernel");
  }
  void reset() { must(cudaDeviceReset() == cudaSuccess, "cudaDeviceReset"); }
  void measure(sg::phase const& which, std::uint64_t ns = 10 * us) const {
    auto scope = which.enter(stream);
    spin<<<1, 1, 0, stream>>>(ns, nullptr);
  }
};

absence device_of(sg::recorder& recorder, char const* phase, std::size_t i) {
  auto const seen = series_of(recorder.collect(), phase);
  must(i < seen.samples.size(), "every sample is there");
  return seen.samples[i].device.why_absent();
}

int reset_between_enter_and_leave() {
  story of;
  sg::recorder recorder{sg::mode::time};
  sg::phase scoped{recorder, "scoped"};
  sg::phase started{recorder, "started"};
  of.measure(scoped);
  {
    auto open = started.start(of.stream);
    auto scope = scoped.enter(of.stream);
    of.reset();
  }
  of.begin();
  {
    auto waited = scoped.enter(of.stream);
    of.reset();
    waited.wait(sg::wait_policy::spin);
  }
  of.begin();
  of.measure(scoped);
  must(device_of(recorder, "scoped", 0) == absence::context_gone, "nobody read the first one before the reset");
  must(device_of(recorder, "scoped", 1) == absence::context_gone, "the one that was open lost its device time");
  must(device_of(recorder, "scoped", 2) == absence::context_gone, "so did the one that was waited for");
  must(device_of(recorder, "scoped", 3) == absence::none, "a new life measures again");
  must(device_of(recorder, "started", 0) == absence::context_gone, "a started one too");
  must(cudaPeekAtLastError() == cudaSuccess, "no error left behind");
  return 0;
}
add_child const story_1{"reset_between_enter_and_leave", reset_between_enter_and_leave};

int reset_between_samples() {
  story of;
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  for (std::size_t life = 0; life < 4; ++life) {
    for (int i = 0; i < 50; ++i) of.measure(steps);
    must(cudaStreamSynchronize(of.stream) == cudaSuccess, "the work of a life");
    if (life % 2 == 0) recorder.drain();
    of.reset();
    of.begin();
  }
  of.measure(steps, 5 * ms);
  auto const seen = series_of(recorder.collect(), "steps");
  must(seen.samples.size() == 201, "every sample is there");
  for (std::size_t i = 0; i < 200; ++i) {
    bool const was_read = i / 50 % 2 == 0;
    must(seen.samples[i].device.why_absent() == (was_read ? absence::none : absence::context_gone),
         "what was read stays");
    // An event of another life would read as milliseconds or more, or below zero.
    if (was_read) must(seen.samples[i].device.value()->count() >= 10'000, "at least its kernel");
  }
  must(seen.samples[200].device.value().value_or(sg::nanoseconds{0}).count() >= 5'000'000, "the new life's own events");
  return 0;
}
add_child const story_2{"reset_between_samples", reset_between_samples};

int reset_before_collect() {
  story of;
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  sg::interval timer{of.stream};
  sg::event lone{of.stream};
  timer.start();
  for (int i = 0; i < 100; ++i) of.measure(steps);
  timer.stop();
  of.reset();
  auto const taken = recorder.collect();
  must(count_of(series_of(taken, "steps"), absence::context_gone) == 100, "all lost, none forgotten");
  must(taken.problems.empty(), "a reset is no fault");
  auto const got = timer.read();
  must(got.state == sg::interval_state::failed && got.why == absence::context_gone, "an interval says the same");
  must(!cudaPeekAtLastError(), "no error left behind");
  must(!has_context(0), "no context because of us");
  return 0;
}
add_child const story_3{"reset_before_collect", reset_before_collect};

struct globals {
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  ~globals() {
    // A static destructor that still measures: it may not count, it must not crash.
    auto scope = steps.enter(cudaStreamLegacy);
  }
};
globals& all_globals() {
  static globals all;
  return all;
}

void use_globals(story const& of) {
  static sg::interval timer{of.stream};
  static sg::event lone{of.stream};
  thread_local sg::phase mine{all_globals().recorder, "thread_local"};
  thread_local auto open = mine.start(of.stream);
  timer.start();
  for (int i = 0; i < 100; ++i) of.measure(all_globals().steps);
  timer.stop();
}

int statics_at_exit() {
  story const of;
  use_globals(of);
  std::thread{[&] { use_globals(of); }}.join();
  std::thread{[&] { use_globals(of); }}.join();
  return 0;  // from main: thread-locals end, then statics, with work still queued
}
add_child const story_4{"statics_at_exit", statics_at_exit};

int exit_inside_a_phase() {
  story const of;
  use_globals(of);
  std::thread{[&] {
    auto scope = all_globals().steps.enter(of.stream);
    sg::capture_guard const guard{of.stream};
    spin<<<1, 1, 0, of.stream>>>(20 * ms, nullptr);
    std::exit(0);
  }}.join();
  return 1;
}
add_child const story_5{"exit_inside_a_phase", exit_inside_a_phase};

int reset_before_statics() {
  story of;
  use_globals(of);
  of.reset();
  return 0;
}
add_child const story_6{"reset_before_statics", reset_before_statics};

int reset_and_new_life_before_statics() {
  story of;
  use_globals(of);
  of.reset();
  of.begin();
  return 0;
}
add_child const story_7{"reset_and_new_life_before_statics", reset_and_new_life_before_statics};

int forked_child() {
  story const of;
  use_globals(of);
  auto open = all_globals().steps.start(of.stream);
  std::fflush(nullptr);
  pid_t const id = fork();
  if (id == 0) {
    alarm(60);
    sg::recorder own{sg::mode::time};
    sg::phase steps{own, "child"};
    for (int i = 0; i < 2000; ++i) {
      auto scope = all_globals().steps.enter(of.stream);
      auto inner = steps.enter(of.stream);
      auto host = steps.enter(sg::host_only);
    }
    {
      auto waited = steps.enter(of.stream);
      waited.wait(sg::wait_policy::block);
    }
    { sg::capture_guard const guard{of.stream}; }
    std::thread{[&] { auto scope = steps.enter(of.stream); }}.join();
    auto const seen = series_of(own.collect(), "child");
    must(seen.samples.size() == 4002, "a child counts");
    must(count_of(seen, absence::forked) == 2002, "and says why it has no device time");
    must(count_of(seen, absence::not_asked) == 2000, "its host phases are measured");
    must(count_of(series_of(all_globals().recorder.collect(), "steps"), absence::forked) >= 2000, "its parent's too");
    std::exit(0);  // with every static destructor
  }
  int status = 0;
  must(waitpid(id, &status, 0) == id, "the child ends");
  must(WIFEXITED(status) && WEXITSTATUS(status) == 0, "and ends well");
  open.stop();
  of.measure(all_globals().steps);
  auto const seen = series_of(all_globals().recorder.collect(), "steps");
  must(count_of(seen, absence::none) == 102, "the parent goes on measuring");
  return 0;
}
add_child const story_8{"forked_child", forked_child};

int recorder_ends_first() {
  story const of;
  auto* recorder = new sg::recorder{sg::mode::time};
  sg::phase steps{*recorder, "steps"};
  for (int i = 0; i < 100; ++i) of.measure(steps, ms);
  auto open = steps.start(of.stream);
  delete recorder;  // with 100 ms of work still queued
  open.stop();
  of.measure(steps);
  must(cudaStreamSynchronize(of.stream) == cudaSuccess, "the program's work is not disturbed");
  must(cudaPeekAtLastError() == cudaSuccess, "no error left behind");
  return 0;
}
add_child const story_9{"recorder_ends_first", recorder_ends_first};

int stream_ends_before_collect() {
  story of;
  sg::recorder recorder{sg::mode::time};
  sg::phase steps{recorder, "steps"};
  of.measure(steps, 5 * ms);
  must(cudaStreamDestroy(of.stream) == cudaSuccess, "cudaStreamDestroy");
  of.begin();
  of.measure(steps, 10 * us);
  auto const seen = series_of(recorder.collect(), "steps");
  must(seen.samples.at(0).device.value().value_or(sg::nanoseconds{0}).count() >= 5'000'000,
       "read after its stream's end");
  must(seen.samples.at(1).device.known(), "the next stream of that handle is another one");
  return 0;
}
add_child const story_10{"stream_ends_before_collect", stream_ends_before_collect};

TEST_CASE("case-36, case-37: contexts, threads and processes may end in any order") {
  for (child const& each : children()) {
    CAPTURE(each.name);
    auto const got = run_child(each.name);
    INFO(got.output);
    CHECK(got.exit_code == 0);
    if (std::string_view{each.name} == "forked_child") {
      // A guard in a forked child tells, in one line, that there is nothing to capture.
      CHECK(got.errors.find('\n') == (got.errors.empty() ? std::string::npos : got.errors.size() - 1));
    } else {
      CHECK(got.errors == "");
    }
  }
}

int main(int argc, char** argv) { return run_program(argc, argv); }
