// Without these: a rate that rests on work which was declared for another shape, a second declaration that replaces the
// first in silence, or a declaration that costs memory at every entering.

#include <limits>

#include "observed.hpp"

using namespace observed;
using simulated::fresh_machine;
using simulated::launch;

namespace {

// The series of a phase whose only condition has that value; without conditions where it is empty.
sg::series of_rows(sg::recording const& of, std::string const& rows) {
  for (auto const& each : of.all)
    if (rows.empty() ? each.conditions.empty() : each.conditions.size() == 1 && each.conditions[0].value == rows) return each;
  FAIL("no series under rows=" << rows);
  return {};
}

std::optional<double> flops_of(sg::series const& of) { return of.work ? of.work->flops : std::nullopt; }

}  // namespace

TEST_CASE("what is declared stands in the series, and what was left out stays unknown") {
  fresh_machine const machine;
  auto const stream = new_stream();
  sg::recorder recorder;
  std::size_t const m = 256, n = 1024, k = 512;
  sg::phase const gemm{recorder, "gemm", sg::work{}.flops(2.0 * m * n * k).reads(4 * (m * k + k * n)).writes(4 * m * n)};
  sg::phase const sum{recorder, "sum", sg::warmup{1}, sg::work{}.reads(4000), sg::work_kind::compute};
  sg::phase const plain{recorder, "plain"};
  for (auto const* each : {&gemm, &sum, &plain}) { auto const scope = each->enter(stream); }
  auto const taken = recorder.collect();
  auto const declared = series_of(taken, "gemm").work;
  REQUIRE(declared.has_value());
  CHECK(declared->flops == 268435456.0);
  CHECK(declared->bytes_read == 2621440.0);
  CHECK(declared->bytes_written == 1048576.0);
  auto const read = series_of(taken, "sum").work;
  REQUIRE(read.has_value());
  CHECK_FALSE(read->flops.has_value());
  CHECK(read->bytes_read == 4000.0);
  CHECK_FALSE(read->bytes_written.has_value());
  CHECK_FALSE(series_of(taken, "plain").work.has_value());
  CHECK(taken.problems.empty());
}

TEST_CASE("work goes with the conditions that it was declared under, and is never handed on to others") {
  fresh_machine const machine;
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm", sg::work{}.flops(1)};
  { auto const scope = gemm.enter(stream); }
  for (int rows : {128, 256, 128}) { auto const scope = gemm.enter(stream, {{"rows", rows}}, sg::work{}.flops(rows * 10)); }
  sg::phase const wide = gemm.with({{"rows", 512}}, sg::work{}.flops(5120));
  { auto const scope = wide.enter(stream); }
  { auto const scope = gemm.enter(stream, {{"rows", 512}}); }  // the same series, declared already
  { auto const scope = gemm.enter(stream, {{"rows", 1024}}); }
  auto const taken = recorder.collect();
  CHECK(flops_of(of_rows(taken, "")) == 1.0);
  CHECK(flops_of(of_rows(taken, "128")) == 1280.0);
  CHECK(of_rows(taken, "128").samples.size() == 2);
  CHECK(flops_of(of_rows(taken, "256")) == 2560.0);
  CHECK(flops_of(of_rows(taken, "512")) == 5120.0);
  CHECK(of_rows(taken, "512").samples.size() == 2);
  CHECK_FALSE(of_rows(taken, "1024").work.has_value());
  CHECK(taken.problems.empty());
}

TEST_CASE("the first declaration holds; another one later is a problem with its count, the same one is none") {
  fresh_machine const machine;
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const first{recorder, "gemm", sg::work{}.flops(100).reads(8)};
  sg::phase const again{recorder, "gemm", sg::work{}.flops(100).reads(8)};
  sg::phase const other{recorder, "gemm", sg::work{}.flops(101).reads(8)};
  sg::phase const more{recorder, "gemm", sg::work{}.flops(100).reads(8).writes(0)};  // 0 is not unknown
  { auto const scope = other.enter(stream); }
  auto const taken = recorder.collect();
  CHECK(flops_of(series_of(taken, "gemm")) == 100.0);
  CHECK_FALSE(series_of(taken, "gemm").work->bytes_written.has_value());
  REQUIRE(taken.problems.size() == 1);
  CHECK(taken.problems[0].phase == "gemm");
  CHECK(taken.problems[0].count == 2);
  CHECK(taken.problems[0].text.find("its work was declared again, and otherwise") == 0);
}

TEST_CASE("declared on entering under conditions that were seen, work costs no memory; what is no number is no quarrel") {
  fresh_machine const machine;
  auto const stream = new_stream();
  sg::recorder recorder;
  sg::phase const gemm{recorder, "gemm"};
  double const none = std::numeric_limits<double>::quiet_NaN();
  auto const enter = [&] { auto const scope = gemm.enter(stream, {{"rows", 7}}, sg::work{}.flops(none)); };
  enter();
  auto const allocated = simulated::allocation_count();
  enter();
  CHECK(simulated::allocation_count() == allocated);
  CHECK(recorder.collect().problems.empty());
}

TEST_CASE("a recorder that takes no times keeps no work") {
  fresh_machine const machine;
  auto const stream = new_stream();
  for (auto const mode : {sg::mode::off, sg::mode::mark}) {
    sg::recorder recorder{mode};
    sg::phase const gemm{recorder, "gemm", sg::work{}.flops(1)};
    { auto const scope = gemm.enter(stream, {{"rows", 7}}, sg::work{}.flops(2)); }
    auto const taken = recorder.collect();
    for (auto const& each : taken.all) CHECK_FALSE(each.work.has_value());
    CHECK(taken.problems.empty());
  }
}
