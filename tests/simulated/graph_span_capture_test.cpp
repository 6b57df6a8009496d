// Without these: a span that begins on one side of a capture and ends on the other would destroy the program's capture.

#include <optional>

#include "graph_program.hpp"

using namespace graph_program;
using namespace observed;
using namespace std::chrono_literals;
using sg::absence;
using simulated::fresh_machine;

namespace {

struct measured {
  cudaStream_t origin = new_stream(), side = new_stream();
  sg::recorder recorder{sg::mode::time, {1000, 16}};
  sg::phase whole{recorder, "whole", sg::in_graphs};
  sg::phase part{recorder, "part", sg::in_graphs};
  std::optional<sg::span> all;

  measured() { sg::prepare_capture(recorder, origin); }

  void expect_no_wall(absence why) {
    auto const recording = recorder.collect();
    CHECK(missing(sample_of(recording, "whole").device) == why);
    check_accounts(recording);
    check_no_problems(recording);
    CHECK(pending_error() == cudaSuccess);
  }
};

}  // namespace

TEST_CASE_FIXTURE(fresh_machine,
                  "a span begun before a capture of its origin and ended inside leaves the capture whole") {
  measured its;
  its.all.emplace(its.whole, sg::joined, its.origin);
  {
    auto const branch = its.all->branch(its.side, its.part);
    launch(its.side, 5ms);
  }
  begin_capture(its.origin);
  its.all.reset();
  CHECK(kinds_in(end_capture(its.origin)).empty());
  its.expect_no_wall(absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch on a stream that is captured while its origin is not leaves the capture whole") {
  measured its;
  its.all.emplace(its.whole, sg::joined, its.origin);
  begin_capture(its.side);
  {
    auto const branch = its.all->branch(its.side, its.part);
    launch(its.side, 5ms);
  }
  end_capture(its.side);
  its.all.reset();
  its.expect_no_wall(absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine, "isolating a captured stream from an origin that is not leaves the capture whole") {
  measured its;
  begin_capture(its.side);
  its.all.emplace(its.whole, sg::isolated, its.origin, std::initializer_list<sg::stream_ref>{its.side});
  its.all.reset();
  end_capture(its.side);
  its.expect_no_wall(absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine, "a branch on the legacy stream of a captured origin leaves the capture whole") {
  measured its;
  cudaStream_t const blocking = new_stream(cudaStreamDefault);
  begin_capture(blocking);
  its.all.emplace(its.whole, sg::joined, blocking);
  { auto const branch = its.all->branch(cudaStreamLegacy, its.part); }
  its.all.reset();
  end_capture(blocking);
  auto const recording = its.recorder.collect();
  CHECK(missing(sample_of(recording, "whole").device) == absence::capture_elsewhere);
  CHECK(missing(sample_of(recording, "part").device) == absence::capture_elsewhere);
}

TEST_CASE_FIXTURE(fresh_machine, "a span begun inside a capture and ended after it has no wall, and says so") {
  measured its;
  begin_capture(its.origin);
  its.all.emplace(its.whole, sg::joined, its.origin);
  launch(its.origin, 5ms);
  end_capture(its.origin);
  its.all.reset();
  its.expect_no_wall(absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine, "a branch entered after the capture that its span began in has ended is refused") {
  measured its;
  begin_capture(its.origin);
  its.all.emplace(its.whole, sg::joined, its.origin);
  end_capture(its.origin);
  {
    auto const branch = its.all->branch(its.side, its.part);
    launch(its.side, 5ms);
  }
  CHECK(simulated::stream_end(its.side) == simulated::host_now() + 5ms);
  its.all.reset();
  its.expect_no_wall(absence::stream_capture);
}

TEST_CASE_FIXTURE(fresh_machine,
                  "a branch that a capture has no event for does not fork, so that nothing stays unjoined") {
  for (int const lacks : {0, 1, 2}) {
    CAPTURE(lacks);
    simulated::reset();
    cudaStream_t const origin = new_stream(), side = new_stream();
    sg::recorder recorder{sg::mode::time, {1000, 1}};
    sg::phase const whole{recorder, "whole", sg::in_graphs};
    sg::phase const part{recorder, "part", sg::in_graphs};
    sg::phase const plain{recorder, "plain"};
    if (lacks == 2) {
      { auto const outside = plain.enter(origin); }  // events, but none for an edge
      recorder.drain();
    } else {
      sg::prepare_capture(recorder, origin);
    }
    begin_capture(origin);
    {
      sg::span all{whole, sg::joined, origin};
      auto const branch = all.branch(side, lacks == 1 ? plain : part);
      launch(side, 5ms);
    }
    end_capture(origin);
    auto const recording = recorder.collect();
    auto const expected = lacks == 0   ? absence::pool_full
                          : lacks == 1 ? absence::stream_capture
                                       : absence::not_prepared;
    CHECK(missing(sample_of(recording, "whole").device) == expected);
    CHECK(missing(samples_of(recording, lacks == 1 ? "plain" : "part").back().device) == expected);
    check_no_problems(recording);
  }
}

TEST_CASE_FIXTURE(fresh_machine,
                  "an exception that leaves a branch inside a capture passes, and the fork is joined all the same") {
  measured its;
  begin_capture(its.origin);
  try {
    sg::span all{its.whole, sg::joined, its.origin};
    auto const branch = all.branch(its.side, its.part);
    launch(its.side, 1ms);
    throw 7;
  } catch (int) {
  }
  end_capture(its.origin);
  its.expect_no_wall(absence::body_threw);
}

TEST_CASE_FIXTURE(fresh_machine, "an exception that leaves a span inside a capture passes, and the capture lives") {
  measured its;
  begin_capture(its.origin);
  try {
    its.all.reset();
    sg::span all{its.whole, sg::joined, its.origin};
    launch(its.origin, 1ms);
    throw 7;
  } catch (int) {
  }
  end_capture(its.origin);
  its.expect_no_wall(absence::body_threw);
}

TEST_CASE_FIXTURE(fresh_machine, "a branch that there is no memory for does not fork, and the capture lives") {
  bool lost_a_branch = false;
  for (std::size_t filled = 1980; filled < 2010; ++filled) {
    CAPTURE(filled);
    program_stream const origin;
    program_stream const side;
    sg::recorder recorder{sg::capacity{1000, 16}};
    sg::phase const filler{recorder, "filler"};
    sg::phase const forked{recorder, "forked", sg::in_graphs};
    sg::phase const part_of{recorder, "part", sg::in_graphs};
    { sg::span const both{forked, sg::joined, origin}; }
    wait_for(origin.get());
    sg::prepare_capture(recorder, origin);
    simulated::no_memory_scope const none;
    for (std::size_t i = 0; i < filled; ++i) auto const host = filler.enter(sg::host_only);
    captured(origin.get(), [&] {
      sg::span both{forked, sg::joined, origin};
      auto const part = both.branch(side, part_of);
      launch(side.get(), 1ms);
    });
    auto const taken = recorder.collect();
    lost_a_branch =
        lost_a_branch || (series_of(taken, "forked").samples.size() == 2 && series_of(taken, "part").lost == 1);
  }
  CHECK(lost_a_branch);
}
