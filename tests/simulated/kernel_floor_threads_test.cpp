// Without this: threads that collect at a time would each load kernels, or tear what another one measured.

#include <atomic>
#include <thread>
#include <vector>

#include "kernel_machine.hpp"

using namespace kernel_machines;

TEST_CASE_FIXTURE(kernel_machine, "of several threads that collect at a time one measures, and the others say so or have it from there") {
  for (int round = 0; round < 20; ++round) {
    refresh();
    program_stream const stream;
    sg::recorder recorder{sg::mode::time, small_pool};
    sg::allow_kernel_floor(recorder);
    enter_once(recorder, stream.get());
    std::vector<sg::recording> taken(4);
    std::atomic<int> ready{0};
    std::vector<std::thread> threads;
    for (auto& mine : taken)
      threads.emplace_back([&] {
        for (++ready; ready < 4;) std::this_thread::yield();
        mine = recorder.collect();
      });
    for (auto& each : threads) each.join();
    std::size_t with_floor = 0;
    for (auto const& each : taken) {
      sg::device_description const device = only_device(each);
      CHECK(device.event_floor.has_value());
      with_floor += device.kernel_floor ? 1U : 0U;
      if (!device.kernel_floor) CHECK(device.why_no_kernel_floor == "another thread was measuring it");
    }
    CHECK(with_floor >= 1);
    CHECK(simulated::count("cuModuleLoadData") == 1);
    CHECK(collected(recorder).kernel_floor.has_value());
    CHECK(collected(recorder).why_no_kernel_floor.empty());
  }
}
