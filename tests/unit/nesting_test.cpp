// Would go unseen without these: a tree that mixes threads, loses a series, or hides where one was entered.
#include <streamgauge/analyze/nesting.hpp>

#include <streamgauge/analyze/summary.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

namespace sg = streamgauge;
using sg::nanoseconds;

namespace {

sg::sample inside(std::optional<std::uint32_t> parent) {
  sg::sample made;
  made.submit = nanoseconds{1};
  made.parent = parent;
  return made;
}

sg::series nested(char const* phase, std::initializer_list<std::optional<std::uint32_t>> parents) {
  sg::series made;
  made.phase = phase;
  for (auto const parent : parents) made.samples.push_back(inside(parent));
  return made;
}

// The tree in one line: index@depth.
std::string shape(sg::recording_summary const& of) {
  std::string text;
  for (auto const& row : of.rows)
    text += (text.empty() ? "" : " ") + std::to_string(row.index) + '@' + std::to_string(row.depth);
  return text;
}

constexpr std::nullopt_t on_its_own = std::nullopt;

}  // namespace

TEST_CASE("a series is indented under the one that all its samples were entered in") {
  sg::recording from;
  from.all = {nested("step", {on_its_own, on_its_own}), nested("gemm", {0, 0}), nested("epilogue", {1}),
              nested("tanh", {0, 0}), nested("load", {on_its_own})};
  CHECK(shape(sg::summarize(from)) == "0@0 1@1 2@2 3@1 4@0");
}

TEST_CASE("a child that was made before its parent still stands under it") {
  sg::recording from;
  from.all = {nested("gemm", {1}), nested("step", {on_its_own})};
  CHECK(shape(sg::summarize(from)) == "1@0 0@1");
}

TEST_CASE("a series that was entered in several places is a root that knows where") {
  sg::recording from;
  from.all = {nested("step", {on_its_own}), nested("load", {on_its_own}), nested("copy", {0, 1, 0, on_its_own})};
  auto const found = sg::summarize(from);
  CHECK(shape(found) == "0@0 1@0 2@0");
  auto const& places = found.rows[2].seen_in;
  REQUIRE(places.size() == 3);
  CHECK(places[0].parent == std::size_t{0});
  CHECK(places[0].times == 2);
  CHECK(places[1].parent == std::size_t{1});
  CHECK(places[1].times == 1);
  CHECK_FALSE(places[2].parent.has_value());
  CHECK(places[2].times == 1);
}

TEST_CASE("a series that was entered in one phase under several conditions stands behind the rows of that phase") {
  sg::recording from;
  from.all = {nested("step", {on_its_own}), nested("gemm", {0, 2, 0}), nested("step", {on_its_own}),
              nested("load", {on_its_own})};
  from.all[0].conditions = {{"rows", "1"}};
  from.all[2].conditions = {{"rows", "2"}};
  auto const found = sg::summarize(from);
  CHECK(shape(found) == "0@0 2@0 1@1 3@0");
  REQUIRE(found.rows[2].seen_in.size() == 2);
  CHECK(found.rows[2].seen_in[0].times == 2);
  CHECK(found.rows[2].seen_in[1].times == 1);
}

TEST_CASE("case-67 a worker's own region is a root, whatever was open where the worker was started") {
  // Thread 0 had "launch" open while it started thread 1; the recorder nests per thread, so the worker has no parent.
  sg::recording from;
  from.all = {nested("launch", {on_its_own}), nested("work", {on_its_own})};
  from.all[0].samples[0].submit = nanoseconds{1'000'000};
  from.all[1].samples[0].entered = nanoseconds{500'000};
  from.all[1].samples[0].submit = nanoseconds{100'000'000};
  from.all[1].samples[0].thread = 1;
  auto const found = sg::summarize(from);
  CHECK(shape(found) == "0@0 1@0");
  CHECK(found.rows[0].what.submit.values.steady.maximum == nanoseconds{1'000'000});
}

TEST_CASE("series of one phase stand together, in the order of their conditions' first use") {
  sg::recording from;
  from.all = {nested("step", {on_its_own}), nested("gemm", {0}), nested("tanh", {0}),
              nested("gemm", {0}),          nested("tanh", {0}), nested("gemm", {0})};
  CHECK(shape(sg::summarize(from)) == "0@0 1@1 3@1 5@1 2@1 4@1");
}

TEST_CASE("rings, own parents and parents that do not exist lose no series") {
  sg::recording ring;
  ring.all = {nested("a", {2}), nested("b", {0}), nested("c", {1}), nested("d", {3}), nested("e", {99})};
  auto const found = sg::summarize(ring);
  std::vector<int> seen(5, 0);
  for (auto const& row : found.rows) ++seen[row.index];
  CHECK(seen == std::vector<int>{1, 1, 1, 1, 1});
  CHECK(shape(found) == "1@0 2@1 0@2 3@0 4@0");
}

TEST_CASE("a chain of ten thousand nested series is walked without recursion") {
  sg::recording from;
  from.all.push_back(nested("p", {on_its_own}));
  for (std::uint32_t i = 1; i < 10'000; ++i) from.all.push_back(nested("p", {i - 1}));
  auto const found = sg::summarize(from);
  REQUIRE(found.rows.size() == 10'000);
  CHECK(found.rows.back().index == 9'999);
  CHECK(found.rows.back().depth == 9'999);
}
