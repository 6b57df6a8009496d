// Without these: a forked worker would touch its parent's events, hang on a lock that a thread of the parent held, or give
// numbers that no device ever measured.

#include <streamgauge/measure/capture_guard.hpp>
#include <streamgauge/measure/interval.hpp>
#include <streamgauge/measure/phase.hpp>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "own_process.hpp"
#include "program.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
using streamgauge::absence;
using streamgauge::observation;
namespace sg = streamgauge;

namespace {

constexpr sg::capacity small_pool{1000, 4};

/// Everything of ours that a process may hold when it forks, in the middle of its work.
struct held {
  program_stream stream;
  std::optional<sg::recorder> recorder{std::in_place, sg::mode::time, small_pool};
  std::optional<sg::phase> step{std::in_place, *recorder, "step"};
  std::optional<sg::interval> timer{std::in_place, stream.get()};
  std::optional<sg::event> event{std::in_place, stream.get()};
  std::optional<sg::started_phase> open;

  held() {
    {
      auto scope = step->enter(stream.get());
      simulated::launch(stream.get(), 1ms);
      scope.wait(sg::wait_policy::spin);
    }
    {
      auto const scope = step->enter(stream.get());
      simulated::launch(stream.get(), 2ms);
    }
    timer->start();
    simulated::launch(stream.get(), 3ms);
    timer->stop();
    open.emplace(step->start(stream.get()));
  }
};

/// The test's own conditions in a child, where a failed CHECK of the test framework would be nobody's.
class conditions_of_child {
 public:
  void hold(bool condition, char const* text) {
    if (condition) return;
    ++failed_;
    std::fprintf(stderr, "in the forked child: not so: %s\n", text);
  }
  [[nodiscard]] int exit_code() {
    for (auto const& misuse : simulated::fatal_misuses()) hold(false, misuse.c_str());
    return failed_;
  }

 private:
  int failed_ = 0;
};

/// What a child does with what it inherited.
int use_and_end(held& inherited) {
  conditions_of_child child;
  std::size_t const destroyed = simulated::events_destroyed();
  simulated::clear_log();
  inherited.open->stop();
  {
    auto scope = inherited.step->enter(inherited.stream.get());
    simulated::host_advance(5us);
    scope.wait(sg::wait_policy::block);
  }
  {
    auto scope = inherited.step->enter(cudaStreamLegacy);
    scope.wait(sg::wait_policy::spin);
  }
  { auto const scope = inherited.step->enter(sg::host_only); }
  sg::recording const taken = inherited.recorder->collect();
  child.hold(taken.all.size() == 1 && taken.all[0].samples.size() == 6, "six samples");
  if (taken.all.size() == 1 && taken.all[0].samples.size() == 6) {
    auto const& samples = taken.all[0].samples;
    child.hold(samples[0].device == observation{1ms}, "what was read before the fork is kept");
    for (std::size_t i = 1; i < 5; ++i)
      child.hold(samples[i].device == observation{absence::forked}, "no device time in a child");
    child.hold(samples[3].submit == observation{5us}, "the host's columns go on");
    child.hold(samples[3].completion == observation{absence::forked}, "no completion in a child");
    child.hold(samples[5].device == observation{absence::not_asked}, "a phase on the host alone asks for none");
  }
  child.hold(taken.problems.size() <= 1, "no problem but the note on the legacy stream");
  child.hold(taken.environment.why_no_device == sg::describe(absence::forked), "the reason stands in the environment");
  child.hold(taken.environment.devices.empty(), "no device is described");
  child.hold(inherited.timer->read().why == absence::forked, "an interval says why");
  child.hold(inherited.timer->start().why == absence::forked, "and does not start");
  { sg::capture_guard const guard{inherited.stream.get()}; }
  { sg::capture_guard const guard; }
  { sg::capture_guard const guard{*inherited.recorder}; }
  inherited.event.reset();
  inherited.timer.reset();
  inherited.open.reset();
  inherited.step.reset();
  inherited.recorder.reset();
  child.hold(simulated::events_destroyed() == destroyed, "no event of the parent's is destroyed");
  for (char const* const call : {"cuEventRecord", "cuEventSynchronize", "cuEventElapsedTime", "cuEventDestroy", "cuProfilerStop"})
    child.hold(simulated::count(call) == 0, call);
  child.hold(pending_error() == cudaSuccess, "no error is left");
  return child.exit_code();
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "what a forked child inherits works on the host alone, and dies without touching its parent's events") {
  held inherited;
  simulated::become_forked_child();
  CHECK(use_and_end(inherited) == 0);
  inherited.stream.forget();
}

TEST_CASE_FIXTURE(fresh_machine, "the same in a real child, and the parent goes on as if nothing had been") {
  held inherited;
  CHECK(in_forked_child([&] {
          alarm(60);
          return use_and_end(inherited);
        }) == 0);
  inherited.open->stop();
  {
    auto const scope = inherited.step->enter(inherited.stream.get());
    simulated::launch(inherited.stream.get(), 4ms);
  }
  sg::recording const taken = inherited.recorder->collect();
  REQUIRE(taken.all.at(0).samples.size() == 4);
  CHECK(taken.all[0].samples[0].device == observation{1ms});
  CHECK(taken.all[0].samples[1].device == observation{2ms});
  CHECK(taken.all[0].samples[2].device == observation{0ns});
  CHECK(taken.all[0].samples[3].device == observation{4ms});
  CHECK(inherited.timer->read().time == sg::nanoseconds{3ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a scope that is open while the process forks is left in the child and in the parent") {
  program_stream stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  auto scope = std::make_unique<sg::started_phase>(step.start(stream.get()));
  simulated::launch(stream.get(), 2ms);
  CHECK(in_forked_child([&] {
          alarm(60);
          conditions_of_child child;
          scope.reset();
          sg::recording const taken = recorder.collect();
          child.hold(taken.all.at(0).samples.at(0).device == observation{absence::forked}, "forked");
          child.hold(taken.all.at(0).samples.at(0).submit.known(), "the host's side is kept");
          return child.exit_code();
        }) == 0);
  scope.reset();
  CHECK(recorder.collect().all.at(0).samples.at(0).device == observation{2ms});
}

TEST_CASE_FIXTURE(fresh_machine, "a lock that a thread of the parent holds does not lock the child out") {
  sg::notice_forks();
  sg::brief_lock lock;
  std::atomic<int> turn{0};
  std::thread holder{[&] {
    sg::brief_guard const guard{lock};
    turn = 1;
    while (turn.load() != 2) std::this_thread::yield();
  }};
  while (turn.load() != 1) std::this_thread::yield();
  CHECK(in_forked_child([&] {
          alarm(20);
          { sg::brief_guard const guard{lock}; }
          { sg::brief_guard const guard{lock}; }
          return 0;
        }) == 0);
  turn = 2;
  holder.join();
}

TEST_CASE_FIXTURE(fresh_machine, "a child forked while another thread measures can measure its host side and collect") {
  program_stream const stream;
  sg::recorder recorder{sg::mode::time, small_pool};
  sg::phase const step{recorder, "step"};
  std::atomic<bool> stop{false};
  std::thread busy{[&] {
    while (!stop.load()) {
      auto scope = step.enter(stream.get());
      scope.wait(sg::wait_policy::spin);
    }
  }};
  for (int i = 0; i < 20; ++i) {
    CHECK(in_forked_child([&] {
            alarm(60);
            conditions_of_child child;
            {
              auto const scope = step.enter(stream.get());
              simulated::host_advance(1us);
            }
            sg::recording const taken = recorder.collect();
            std::size_t forked = 0;
            for (sg::sample const& each : taken.all.at(0).samples)
              if (each.device == observation{absence::forked}) ++forked;
            child.hold(forked >= 1, "the child's own sample");
            return child.exit_code();
          }) == 0);
  }
  stop = true;
  busy.join();
  sg::recording const taken = recorder.collect();
  for (sg::sample const& each : taken.all.at(0).samples) CHECK(each.device.known());
}

TEST_CASE_FIXTURE(fresh_machine, "a child whose parent had not called CUDA may measure, as CUDA allows it to") {
  process_outcome const outcome = in_own_process("in a child of a process that had not called CUDA");
  CAPTURE(outcome.output);
  CHECK(outcome.passed());
  CHECK(outcome.errors.empty());
}

TEST_CASE("in a child of a process that had not called CUDA" * doctest::skip()) {
  static sg::recorder recorder{sg::mode::time, small_pool};
  CHECK(in_forked_child([] {
          simulated::reset();  // a child of a process without CUDA starts with everything before it
          program_stream const stream;
          sg::phase const step{recorder, "step"};
          {
            auto const scope = step.enter(stream.get());
            simulated::launch(stream.get(), 2ms);
          }
          return recorder.collect().all.at(0).samples.at(0).device == observation{2ms} ? 0 : 1;
        }) == 0);
}

TEST_CASE("a child leaves by exit with everything of its parent's" * doctest::skip()) {
  simulated::reset();
  static held everything;
  static sg::capture_guard const guard{everything.stream.get()};
  std::fflush(nullptr);
  pid_t const child = fork();
  if (child == 0) std::exit(simulated::fatal_misuses().empty() ? 17 : 18);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 17);
  simulated::begin_unloading();
}

TEST_CASE("case-36 a child that leaves by exit, and its parent, end without a word") {
  process_outcome const outcome = in_own_process("a child leaves by exit with everything of its parent's");
  CAPTURE(outcome.output);
  CAPTURE(outcome.errors);
  CHECK(outcome.passed());
  CHECK(outcome.errors.empty());
}

TEST_CASE("a child forked while another thread registers a name registers it itself, and does not wait for ever") {
  sg::first_use once;
  std::atomic<bool> entered{false};
  std::atomic<bool> released{false};
  std::thread registering{[&] {
    once([&] {
      entered = true;
      while (!released) std::this_thread::yield();
    });
  }};
  while (!entered) std::this_thread::yield();
  CHECK(in_forked_child([&] {
          alarm(60);
          bool ran = false;
          once([&] { ran = true; });
          return ran && once.done() ? 0 : 1;
        }) == 0);
  released = true;
  registering.join();
  CHECK(once.done());
}
