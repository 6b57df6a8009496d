// A process that forks while it holds a stream. Without these: a child would open its parent's gate, wait for a thread that
// it does not have, or hold a stream that is not its own.

#include <thread>

#include "gated.hpp"
#include "own_process.hpp"

using namespace gated;

TEST_CASE_FIXTURE(plain_run, "a child of a process that holds a stream: it holds and opens nothing, and the parent goes on") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  std::optional<sg::gate> gate{std::in_place, 60s};
  { auto const scope = step.enter(stream, *gate); }
  auto const side = new_stream();
  std::optional<sg::held> held{gate->hold(side)};
  int child = -1;
  {
    auto const scope = step.enter(stream, *gate);
    launch(stream, 2us);
    child = in_forked_child([&] {
      alarm(20);
      int wrong = 0;
      if (held->open() != gating::forked) wrong |= 1;
      held.reset();
      {
        auto inner = step.enter(stream, *gate);
        inner.wait(sg::wait_policy::block);
      }
      if (gate->last() != gating::forked) wrong |= 2;
      if (gate->hold(stream).open() != gating::forked) wrong |= 4;
      sg::gate own;
      if (own.hold(stream).open() != gating::forked) wrong |= 8;
      gate.reset();
      if (simulated::count("cuStreamWaitValue32") != 3) wrong |= 16;
      return wrong;  // and the scope of the parent is never left here
    });
    simulated::host_advance(1ms);
    simulated::user_scope const user;
    CHECK(cudaStreamQuery(stream) == cudaErrorNotReady);
    CHECK(cudaStreamQuery(side) == cudaErrorNotReady);
  }
  CHECK(child == 0);
  CHECK(held->open() == gating::gated);
  CHECK(series_of(recorder.collect(), "step").samples[1].device == 2us);
  CHECK(counts(*gate) == "gated 3");
}

TEST_CASE_FIXTURE(plain_run, "a child that leaves its parent's gated scope and ends in good order") {
  auto const stream = new_stream();
  int child = -1;
  {
    sg::recorder recorder;
    sg::phase const step{recorder, "step"};
    sg::gate gate{60s};
    pid_t forked = -1;
    {
      auto const scope = step.enter(stream, gate);
      launch(stream, 1us);
      std::fflush(nullptr);
      forked = fork();
      if (forked == 0) alarm(20);
    }
    if (forked == 0) {
      bool const well = gate.count(gating::gated) == 0 && gate.count(gating::timed_out) == 0 &&
                        missing(recorder.collect().all.at(0).samples.at(0).device) == absence::forked;
      _exit(well ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(forked, &status, 0) == forked);
    child = WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
    CHECK(counts(gate) == "gated 1");
  }
  CHECK(child == 0);
  synchronize(stream);
}

TEST_CASE_FIXTURE(plain_run, "a child whose CUDA works, since its parent used none, is left alone as well") {
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const step{recorder, "step"};
  ++sg::fork_generation;  // as in a child, of which the machine knows nothing
  {
    sg::gate gate;
    {
      auto const scope = step.enter(stream, gate);
      launch(stream, 1us);
      synchronize(stream);
    }
    CHECK(gate.hold(stream).open() == gating::forked);
    CHECK(counts(gate) == "forked 2");
  }
  --sg::fork_generation;
  CHECK(waits() == 0);
  CHECK(sample_of(recorder.collect(), "step").device == 1us);
}

TEST_CASE_FIXTURE(plain_run, "children that are forked while other threads use gates never hang") {
  std::atomic<bool> running{true};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i)
    threads.emplace_back([&, stream = new_stream()] {
      while (running) {
        sg::gate gate{100us};
        auto held = gate.hold(stream);
        launch(stream, 1us);
        held.open();
        synchronize(stream);
      }
    });
  for (int i = 0; i < 30; ++i) {
    int const child = in_forked_child([] {
      alarm(20);
      sg::gate gate;
      return gate.hold(reinterpret_cast<cudaStream_t>(std::uintptr_t{0x40})).open() == gating::forked ? 0 : 1;
    });
    CHECK(child == 0);
  }
  running = false;
  for (auto& each : threads) each.join();
}
