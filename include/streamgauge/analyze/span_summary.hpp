#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <streamgauge/time.hpp>
#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/timeline.hpp>
#include <streamgauge/analyze/distribution.hpp>

namespace streamgauge {

/// Statistics of both stages. The stage of a span's own sample decides.
struct staged_statistics {
  stage_statistics warmup;
  stage_statistics steady;
};

/// One branch of a span: how often the span had to wait for it.
struct last_branch {
  std::size_t index = 0;    ///< of the branch's series in `recording::all`
  std::uint64_t times = 0;  ///< steady executions in which it ended last; of equal ends the earlier series counts
  std::optional<fractional_nanoseconds> median_lead;  ///< to the end before, of those; absent with no other branch
};

/// What the branches of a span amount to, from the executions of which every interval is known.
/// Why: branches run at the same time, so what they took is no elapsed time. The wall is the span's device time; a rate
/// is work over wall.
/// A stream that is only listed has no branch, so it counts for the wall alone.
struct span_summary {
  staged_statistics busy_sum;    ///< the branches' device times added up: an overlap counts twice
  staged_statistics busy_union;  ///< time in which at least one branch ran
  staged_statistics overlap;     ///< time in which at least two branches ran
  // Executions on one device, of both stages: counted + left out + without a branch.
  std::uint64_t counted = 0;
  std::uint64_t left_out = 0;         ///< the span or a branch of it had no interval
  std::uint64_t without_branch = 0;   ///< only listed streams, so there is nothing to add up
  std::uint64_t most_branches = 0;    ///< in one steady execution
  std::vector<last_branch> branches;  ///< in the order of their series
};

/// Joins the spans of a recording with their branches.
/// Shape: sorts all branches once; then each execution costs one binary search and a look at each of its branches.
/// A template, so that only a unit that summarises a recording compiles its bodies; cold, so that it compiles quickly.
template <class Series = series>
class span_join {
 public:
  /// Requires: `all` outlives it.
  [[gnu::cold]] explicit span_join(std::vector<Series> const& all) : all_{all}, slots_(all.size(), all.size()) {
    for (std::size_t i = 0; i < all.size(); ++i)
      for (auto const& one : all[i].samples)
        if (one.part == span_part::branch) branches_.push_back(branch_of(one, i));
    put_in_order(branches_, [](branch const& a, branch const& b) {
      return a.span != b.span ? a.span < b.span : a.ran.begin < b.ran.begin;
    });
  }

  /// Absent for a series that holds no span on one device.
  [[nodiscard, gnu::cold]] std::optional<span_summary> of(std::size_t index) {
    auto const& from = all_[index];
    span_summary found;
    for (auto& each : numbers_) each.clear();
    for (auto const& one : from.samples)
      if (one.part == span_part::whole && one.span != 0) add(found, one, one.warmup ? 0 : 1);
    if (found.counted + found.left_out + found.without_branch == 0) return std::nullopt;
    finish(found);
    return found;
  }

 private:
  struct branch {
    std::uint32_t span;
    bool known;
    std::size_t index;
    stretch ran;
  };

  [[gnu::noinline, gnu::cold]] static branch branch_of(sample const& from, std::size_t index) noexcept {
    auto const begins = from.begins.value();
    auto const device = from.device.value();
    if (!begins || !device) return {from.span, false, index, {}};
    return {from.span, true, index, {*begins, *begins + *device}};
  }

  // The first branch of a span; they stand together.
  [[nodiscard]] std::size_t first_of(std::uint32_t span) const noexcept {
    return partition_index(branches_.size(), [&](std::size_t i) { return branches_[i].span < span; });
  }

  // One execution. `steady` is 1 or 0, as in `numbers_`.
  [[gnu::noinline, gnu::cold]] void add(span_summary& found, sample const& whole, std::size_t steady) {
    auto const first = first_of(whole.span);
    auto last = first;
    bool known = whole.device.known();
    for (; last < branches_.size() && branches_[last].span == whole.span; ++last)
      known = known && branches_[last].known;
    ++(first == last ? found.without_branch : known ? found.counted : found.left_out);
    if (first == last || !known) return;
    timeline_sweep sweep;
    for (auto i = first; i < last; ++i) sweep.add(branches_[i].ran);
    auto const times = sweep.found();
    numbers_[steady].push_back(times.sum.count());
    numbers_[2 + steady].push_back(times.busy_union.count());
    numbers_[4 + steady].push_back(times.overlap.count());
    if (steady != 0) add_last(found, first, last);
  }

  // Which of the branches of one execution ended last, and by how much.
  [[gnu::noinline, gnu::cold]] void add_last(span_summary& found, std::size_t first, std::size_t last) {
    if (last - first > found.most_branches) found.most_branches = last - first;
    auto latest = first;
    std::optional<nanoseconds> before;
    for (auto i = first; i < last; ++i) {
      slot_of(found, branches_[i].index);
      if (i == first) continue;
      bool const later = ends_later(branches_[i], branches_[latest]);
      auto const end = branches_[later ? latest : i].ran.end;
      if (later) latest = i;
      if (!before || *before < end) before = end;
    }
    auto const slot = slot_of(found, branches_[latest].index);
    ++found.branches[slot].times;
    if (before) leads_[slot].push_back((branches_[latest].ran.end - *before).count());
  }

  static bool ends_later(branch const& a, branch const& b) noexcept {
    return a.ran.end != b.ran.end ? b.ran.end < a.ran.end : a.index < b.index;
  }

  // Where a branch stands in the answer; a new one is added.
  [[gnu::noinline, gnu::cold]] std::size_t slot_of(span_summary& found, std::size_t index) {
    auto& slot = slots_[index];
    if (slot < found.branches.size() && found.branches[slot].index == index) return slot;
    slot = found.branches.size();
    found.branches.push_back({index, 0, std::nullopt});
    if (leads_.size() <= slot) leads_.emplace_back();
    leads_[slot].clear();
    return slot;
  }

  [[gnu::noinline, gnu::cold]] void finish(span_summary& found) const {
    found.busy_sum = {statistics_of(numbers_[0]), statistics_of(numbers_[1])};
    found.busy_union = {statistics_of(numbers_[2]), statistics_of(numbers_[3])};
    found.overlap = {statistics_of(numbers_[4]), statistics_of(numbers_[5])};
    for (std::size_t i = 0; i < found.branches.size(); ++i)
      found.branches[i].median_lead = statistics_of(leads_[i]).median;
    put_in_order(found.branches, [](last_branch const& a, last_branch const& b) { return a.index < b.index; });
  }

  std::vector<Series> const& all_;
  std::vector<branch> branches_;  // by span, then by begin
  // Kept from one span to the next, so that nothing is allocated for each.
  std::vector<std::size_t> slots_;        // of each series; only believed if the slot says the same
  std::vector<std::int64_t> numbers_[6];  // sum, union, overlap; warm-up and steady of each
  std::vector<std::vector<std::int64_t>> leads_;
};

}  // namespace streamgauge
