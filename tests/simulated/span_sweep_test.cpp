// Fails each CUDA call of each kind of span in turn. Whatever fails: no crash, no hang, no leak, no lost sample, no wrong
// number, no changed dependency of an observed one, and the program's own error stays as it was.

#include <algorithm>
#include <functional>
#include <optional>

#include "program.hpp"
#include "spans_seen.hpp"

using namespace std::chrono_literals;
using namespace observed;
using simulated::launch;

namespace {

constexpr sg::capacity small_pool{1000, 8};

/// The program that is measured: three streams, the third one on another device.
struct program {
  program_stream main;
  program_stream side;
  std::optional<program_stream> far;
  program() {
    select_device(1);
    far.emplace();
    select_device(0);
  }
};

struct scenario {
  char const* name;
  std::function<void(program&, sg::phase const& whole, sg::phase const& part)> play;
  std::vector<nanoseconds> walls;  ///< the only device times that a span may have
  std::vector<nanoseconds> parts;  ///< and its branches
};

std::vector<scenario> every_scenario() {
  return {
      {"observed, spinning",
       [](program& its, sg::phase const& whole, sg::phase const& part) {
         for (int i = 0; i < 3; ++i) {
           wait_for(its.main.get());
           wait_for(its.side.get());
           sg::span both{whole, {its.main}};
           {
             auto const one = both.branch(its.side, part);
             launch(its.side.get(), 1us);
           }
           {
             auto const one = both.branch(its.main, part);
             launch(its.main.get(), 2us);
           }
           if (i > 0) both.wait(sg::wait_policy::spin);
         }
       },
       {2us},
       {1us, 2us}},
      {"joined, asleep",
       [](program& its, sg::phase const& whole, sg::phase const& part) {
         for (int i = 0; i < 3; ++i) {
           sg::span both{whole, sg::joined, its.main};
           {
             auto const one = both.branch(its.main, part);
             launch(its.main.get(), 2us);
           }
           {
             auto const one = both.branch(its.side, part);
             launch(its.side.get(), 4us);
           }
           if (i > 0) both.wait(sg::wait_policy::block);
         }
       },
       {2us, 4us, 6us, 8us, 10us, 12us},  // without an edge that could not be made, the parts shift
       {2us, 4us}},
      {"isolated, with backlog",
       [](program& its, sg::phase const& whole, sg::phase const& part) {
         launch(its.side.get(), 50us);
         sg::span both{whole, sg::isolated, its.main, {its.side}};
         auto const one = both.branch(its.side, part);
         launch(its.side.get(), 4us);
       },
       {4us},
       {4us}},
      {"over two devices",
       [](program& its, sg::phase const& whole, sg::phase const& part) {
         for (int i = 0; i < 2; ++i) {
           sg::span both{whole, {its.side}};
           {
             auto const one = both.branch(its.main, part);
             launch(its.main.get(), 2us);
           }
           auto const one = both.branch(*its.far, part);
           launch(its.far->get(), 3us);
           if (i == 1) both.wait(sg::wait_policy::block);
         }
       },
       {0us, 2us, 3us, 4us, 6us},
       {2us, 3us}},
  };
}

struct failure {
  std::size_t first = 0;  ///< which call fails, counted from 1; 0 for none
  std::size_t how_many = 1;
  int status = cudaSuccess;
  bool error_pending = false;
};

void check_sample(scenario const& each, sg::sample const& sample) {
  bool const whole = sample.part == sg::span_part::whole;
  CHECK((sample.submit.known() || missing(sample.submit) == sg::absence::not_asked));
  if (sample.device.known()) {
    auto const& possible = whole ? each.walls : each.parts;
    // A reading that was not ready yet moves the host on by 100 ns, and with it what is launched later.
    auto const time = *sample.device.value();
    CAPTURE(time);
    CHECK(std::any_of(possible.begin(), possible.end(),
                      [time](nanoseconds one) { return time >= one && time < one + 900ns; }));
  } else {
    auto const what = fate_of(missing(sample.device));
    CHECK((what == sg::fate::dropped || missing(sample.device) == sg::absence::several_devices));
  }
  // The wait is over when the work is done, also where reading back fails later.
  if (whole && sample.completion.known()) CHECK(*sample.completion.value() >= each.walls.front());
  if (!whole && !sample.begins.known()) CHECK(missing(sample.begins) != sg::absence::still_open);
}

/// How many calls of ours there were.
std::size_t play(scenario const& each, failure const& what) {
  simulated::machine_options options;
  options.devices = 2;
  simulated::reset(options);
  sg::the_driver.found.store(false);  // so that the look-ups are part of it
  {
    program its;
    if (what.error_pending) leave_an_error_pending();
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::phase const whole{recorder, "whole"};
    sg::phase const part{recorder, "part"};
    for (std::size_t i = 0; what.first > 0 && i < what.how_many; ++i)
      simulated::fail_nth_call(what.first + i, what.status);
    each.play(its, whole, part);
    if (what.first == 0) CHECK(simulated::injected_failures() == 0);
    simulated::clear_injections();
    sg::recording const taken = [&recorder] {
      simulated::user_scope const user;
      return recorder.collect();
    }();
    std::size_t spans = 0;
    std::size_t branches = 0;
    for (auto const& row : taken.all) {
      CAPTURE(row.conditions.size());
      CHECK(row.lost == 0);
      for (auto const& sample : row.samples) {
        (sample.part == sg::span_part::whole && row.conditions.empty() ? spans : branches) +=
            sample.part != sg::span_part::whole || row.conditions.empty();
        check_sample(each, sample);
      }
    }
    bool const once = std::string{each.name} == "isolated, with backlog";
    CHECK(spans == (once ? 1 : std::string{each.name} == "over two devices" ? 2 : 3));
    CHECK(branches == (once ? 1 : 2 * spans));
    for (auto const& row : taken.all) {
      auto const seen = sg::summarize(row);
      check_account(seen.device.samples, row.samples.size());
      check_account(seen.completion.samples, row.samples.size());
    }
  }
  std::size_t calls = 0;
  std::vector<std::string> failed;
  for (auto const& call : simulated::log()) {
    std::string const name = call.name;
    if (call.by_user || name == "cudaPeekAtLastError" || name == "cudaGetLastError") continue;
    if (++calls >= what.first && calls < what.first + what.how_many && what.first > 0) failed.push_back(name);
  }
  bool by_nature = false;  // a failing call of the runtime's overwrites the pending error, and nothing can put it back
  bool unknown_life = false;
  for (auto const& name : failed) {
    by_nature = by_nature || name.compare(0, 4, "cuda") == 0;
    unknown_life = unknown_life || name == "cuCtxGetId";
  }
  CAPTURE(failed);
  for (auto const& misuse : simulated::fatal_misuses()) FAIL_CHECK("fatal misuse: " << misuse);
  if (!what.error_pending)
    CHECK(pending_error() == cudaSuccess);
  else if (!by_nature)
    CHECK(pending_error() == cudaErrorInvalidValue);
  // Where the driver does not say that a context lives, its events are left alone: touching dead ones would crash.
  if (!unknown_life) CHECK(simulated::live_events() == 0);
  simulated::user_scope const user;
  int device = -1;
  CHECK(cudaGetDevice(&device) == cudaSuccess);
  CHECK(device == 0);
  return calls;
}

}  // namespace

TEST_CASE("case-32 whichever call of a span fails, nothing crashes, leaks, is lost, or is overwritten") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    std::size_t const calls = play(each, {});
    CHECK(calls > 20);
    for (std::size_t nth = 1; nth <= calls; ++nth) {
      for (int const status : {999, 700, 709, 201}) {
        CAPTURE(nth);
        CAPTURE(status);
        play(each, {nth, 1, status, nth % 2 == 0});
      }
    }
  }
}

TEST_CASE("case-32 from whichever call of a span on everything fails, as after a fault, the same holds") {
  for (scenario const& each : every_scenario()) {
    CAPTURE(std::string{each.name});
    std::size_t const calls = play(each, {});
    for (std::size_t nth = 1; nth <= calls; ++nth) {
      CAPTURE(nth);
      play(each, {nth, 300, 700, nth % 2 == 0});
    }
  }
}
