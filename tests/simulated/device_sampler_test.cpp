// Without these: a clock that fell in the middle of a run would go unseen, or the thread that looks for it would outlive what
// it reads, take the program's signals, hold up its end, or hang a forked child.

#include <streamgauge/measure/device_sampler.hpp>

#include <dirent.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "nvml/fake_nvml.hpp"
#include "observed.hpp"
#include "program.hpp"
#include "real_time.hpp"

using namespace std::chrono_literals;
using simulated::fresh_machine;
namespace sg = streamgauge;

namespace {

void enter_once(sg::recorder& recorder) {
  sg::phase const step{recorder, "step"};
  { auto const scope = step.enter(observed::new_stream()); }
}

std::vector<std::string> threads_here() {
  std::vector<std::string> found;
  DIR* const folder = opendir("/proc/self/task");
  REQUIRE(folder != nullptr);
  while (dirent const* const each = readdir(folder))
    if (each->d_name[0] != '.') found.emplace_back(each->d_name);
  closedir(folder);
  return found;
}

}  // namespace

TEST_CASE_FIXTURE(fresh_machine, "it reads at once and every so often while it lives, and what it read stands in the recording") {
  fake_nvml nvml;
  sg::recorder recorder{sg::mode::time};
  enter_once(recorder);
  {
    sg::device_sampler const sampler{recorder, 1ms, nvml.library()};
    REQUIRE(comes_to(nvml, 3));
  }
  int const seen = nvml->readings;
  really_sleep(20ms);
  CHECK(nvml->readings == seen);
  auto const devices = recorder.collect().environment.devices;
  REQUIRE(devices.size() == 1);
  REQUIRE(devices[0].readings.size() == static_cast<std::size_t>(seen) + 1);
  for (std::size_t i = 1; i < devices[0].readings.size(); ++i)
    CHECK(devices[0].readings[i - 1].at <= devices[0].readings[i].at);
  CHECK(devices[0].readings.back().sm_mhz == 1755U);
}

TEST_CASE_FIXTURE(fresh_machine, "a device that comes up later is read from then on, and nothing before a phase was entered") {
  fake_nvml nvml;
  sg::recorder recorder{sg::mode::time};
  sg::device_sampler const sampler{recorder, 1ms, nvml.library()};
  really_sleep(20ms);
  CHECK(nvml->readings == 0);
  enter_once(recorder);
  CHECK(comes_to(nvml, 2));
}

TEST_CASE_FIXTURE(fresh_machine, "it ends at once however long its period is, and its first reading is taken") {
  no_hang const within;
  fake_nvml nvml;
  sg::recorder recorder{sg::mode::time};
  enter_once(recorder);
  for (sg::nanoseconds const period : {sg::nanoseconds{1h}, (sg::nanoseconds::max)()}) {
    int const before = nvml->readings;
    std::chrono::nanoseconds const begun = real_now();
    {
      sg::device_sampler const sampler{recorder, period, nvml.library()};
      REQUIRE(comes_to(nvml, before + 1));
      really_sleep(20ms);
    }
    CHECK(nvml->readings == before + 1);
    CHECK(real_now() - begun < 20s);
  }
}

TEST_CASE_FIXTURE(fresh_machine, "a recorder may end before it: NVML is shut down then, and nothing is read any more") {
  fake_nvml nvml;
  auto recorder = std::make_unique<sg::recorder>(sg::mode::time);
  enter_once(*recorder);
  sg::device_sampler const sampler{*recorder, 1ms, nvml.library()};
  REQUIRE(comes_to(nvml, 2));
  recorder.reset();
  CHECK(nvml->started == 0);
  int const seen = nvml->readings;
  really_sleep(20ms);
  CHECK(nvml->readings == seen);
}

TEST_CASE_FIXTURE(fresh_machine, "where nothing is timed, and without NVML, no thread is needed and none harms") {
  fake_nvml nvml;
  for (sg::mode const mode : {sg::mode::mark, sg::mode::off}) {
    sg::recorder recorder{mode};
    std::size_t const threads = threads_here().size();
    sg::device_sampler const sampler{recorder, 1ms, nvml.library()};
    CHECK(threads_here().size() == threads);
  }
  CHECK(nvml->inits == 0);
  sg::recorder recorder{sg::mode::time};
  enter_once(recorder);
  { sg::device_sampler const sampler{recorder, 1ms, "libnvidia-ml-that-is-not-here.so.1"}; }
  CHECK(recorder.collect().environment.devices.at(0).why_no_readings.find("cannot open") != std::string::npos);
}

TEST_CASE_FIXTURE(fresh_machine, "its thread takes none of the program's signals, and the program's own are as they were") {
  fake_nvml nvml;
  sg::recorder recorder{sg::mode::time};
  enter_once(recorder);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  std::vector<std::string> const threads = threads_here();
  sg::device_sampler const sampler{recorder, 1h, nvml.library()};
  REQUIRE(comes_to(nvml, 1));  // a thread that is about to begin blocks them anyway
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  CHECK(sigismember(&after, SIGUSR1) == sigismember(&before, SIGUSR1));
  int found = 0;
  for (std::string const& each : threads_here()) {
    bool known = false;
    for (std::string const& one : threads) known = known || one == each;
    if (known) continue;
    ++found;
    std::ifstream status{"/proc/self/task/" + each + "/status"};
    std::string word;
    while (status >> word && word != "SigBlk:") continue;
    status >> word;
    REQUIRE(word.size() == 16);
    CHECK((std::stoull(word, nullptr, 16) >> (SIGUSR1 - 1) & 1U) == 1U);
    CHECK((std::stoull(word, nullptr, 16) >> (SIGINT - 1) & 1U) == 1U);
  }
  CHECK(found == 1);
}

TEST_CASE_FIXTURE(fresh_machine, "threads may collect and describe while it reads") {
  fake_nvml nvml;
  sg::recorder recorder{sg::mode::time};
  enter_once(recorder);
  sg::device_sampler const sampler{recorder, 1ms, nvml.library()};
  std::size_t readings[2] = {};
  {
    auto const collect = [&](std::size_t which) {
      for (int i = 0; i < 20; ++i) {
        recorder.describe({"round", i});
        readings[which] = recorder.collect().environment.devices.at(0).readings.size();
      }
    };
    std::thread one{collect, 0};
    std::thread other{collect, 1};
    one.join();
    other.join();
  }
  CHECK(readings[0] >= 20);
  CHECK(readings[1] >= 20);
  CHECK(recorder.collect().environment.given == std::vector<sg::condition>{{"round", "19"}});
}
