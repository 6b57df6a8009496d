#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/number_places.hpp>

namespace streamgauge {

// Functions are templates, so that only a unit that calls them compiles their bodies.

/// Thins a series to one in `stride` samples; all that were there count in the totals from then on.
/// Throws: only `std::bad_alloc`.
template <class Series>
void thin_to(std::uint64_t stride, Series& all) {
  if (!all.totals) {
    all.totals.emplace();
    for (auto const& one : all.samples)
      if (!all.totals->add(one)) ++all.lost;
  }
  if (stride <= all.kept_one_in) return;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < all.samples.size(); ++i)
    if (i < samples_at_head || stays_at(stride, all.samples[i])) all.samples[kept++] = all.samples[i];
  all.samples.resize(kept);
  all.kept_one_in = stride;
}

/// Whether two descriptions are of one device: by UUID where both have one, else by number and name.
template <class Device>
[[nodiscard, gnu::cold]] bool is_same_device(Device const& a, Device const& b) {
  if (!a.uuid.empty() && !b.uuid.empty()) return a.uuid == b.uuid;
  return a.ordinal == b.ordinal && a.name == b.name;
}

/// Adds what another run's environment has: its devices, and the readings of those that are there already, behind theirs; a
/// tool, and the program's own keys, where there were none. All else is the first one's.
/// Throws: only `std::bad_alloc`.
template <class = void>
[[gnu::cold]] void merge(environment& into, environment const& other) {
  if (into.library_version.empty()) {
    // The first one. What is there already stays.
    environment first = other;
    first.devices.swap(into.devices);
    first.given.swap(into.given);
    if (!into.tool.empty()) {
      first.tool.swap(into.tool);
      first.tool_sign.swap(into.tool_sign);
    }
    std::swap(into, first);
  }
  std::size_t const devices = other.devices.size();
  for (std::size_t i = 0; i < devices; ++i) {
    auto const& device = other.devices[i];
    std::size_t at = 0;
    while (at < into.devices.size() && !is_same_device(into.devices[at], device)) ++at;
    if (at == into.devices.size()) {
      into.devices.push_back(device);
      continue;
    }
    auto& mine = into.devices[at];
    std::size_t const readings = device.readings.size();
    for (std::size_t k = 0; k < readings; ++k) mine.readings.push_back(device.readings[k]);  // also of itself
    if (mine.readings.empty() && mine.why_no_readings.empty()) mine.why_no_readings = device.why_no_readings;
    if (!mine.readings.empty()) mine.why_no_readings.clear();
  }
  std::size_t const given = other.given.size();
  for (std::size_t i = 0; i < given; ++i) {
    bool known = false;
    for (auto const& each : into.given) known = known || each.key == other.given[i].key;
    if (!known) into.given.push_back(other.given[i]);
  }
  if (into.tool.empty()) {
    into.tool = other.tool;
    into.tool_sign = other.tool_sign;
  }
}

/// Numbers the threads of a recording from 0 and its spans from 1, in their order, with no number left out.
/// Throws: only `std::bad_alloc`.
template <class All>
[[gnu::cold]] void number_closely(All& all) {
  std::vector<std::uint32_t> threads;
  std::vector<std::uint32_t> spans{0};  // none is no span's
  for (auto const& each : all) {
    for (auto const& one : each.samples) {
      threads.push_back(one.thread);
      spans.push_back(one.span);
    }
  }
  number_places<> const thread_places{std::move(threads)};
  number_places<> const span_places{std::move(spans)};
  for (auto& each : all) {
    for (auto& one : each.samples) {
      one.thread = static_cast<std::uint32_t>(thread_places.of(one.thread));
      one.span = static_cast<std::uint32_t>(span_places.of(one.span));
    }
  }
}

/// Whether one recording's threads and spans can be numbered on behind those of another.
template <class All>
[[nodiscard, gnu::cold]] bool has_numbers_left(All const& before, All const& behind) noexcept {
  std::uint64_t threads = 0;
  std::uint64_t spans = 0;
  for (auto const* const side : {&before, &behind}) {
    std::uint64_t last_thread = 0;
    std::uint64_t last_span = 0;
    for (auto const& each : *side) {
      for (auto const& one : each.samples) {
        if (one.thread > last_thread) last_thread = one.thread;
        if (one.span > last_span) last_span = one.span;
      }
    }
    threads += last_thread + 1;
    spans += last_span;
  }
  constexpr std::uint64_t most = UINT32_MAX;
  return threads <= most && spans <= most;
}

/// Adds the samples of another run, another rank or another process of the same program, series by series.
/// Shape: series of one phase and the same conditions become one, its samples behind each other; `series::runs` counts the
/// runs. Threads, spans and streams are numbered on, closely where the numbers would not suffice. Nothing else is changed: a count of all is the sum of the counts.
/// Why: the runs keep their order and never mix, since clocks of two processes have no origin in common; so no steady state
/// is looked for over the seam.
/// Throws: only `std::bad_alloc`.
/// Example: `for (sg::recording const& rank : ranks) sg::merge(all, rank);`
template <class = void>
[[gnu::cold]] void merge(recording& into, recording const& other) {
  if (!has_numbers_left(into.all, other.all)) {
    recording behind = other;
    number_closely(into.all);
    number_closely(behind.all);
    merge(into, behind);
    return;
  }
  std::uint32_t threads = 0;
  std::uint32_t spans = 0;
  auto const streams = static_cast<std::uint32_t>(into.streams.size());
  bool holds_any = false;
  for (auto const& each : into.all) {
    holds_any = holds_any || each.count() + each.lost > 0;
    for (auto const& one : each.samples) {
      if (one.thread >= threads) threads = one.thread + 1;
      if (one.span > spans) spans = one.span;
    }
  }
  bool adds_any = false;
  for (auto const& each : other.all) adds_any = adds_any || each.count() + each.lost > 0;
  if (adds_any) into.runs = holds_any ? into.runs + other.runs : other.runs;
  std::vector<std::uint32_t> place(other.all.size());
  for (std::size_t i = 0; i < other.all.size(); ++i) {
    auto const& wanted = other.all[i];
    std::size_t at = 0;
    while (at < into.all.size() &&
           (into.all[at].phase != wanted.phase || !(into.all[at].conditions == wanted.conditions)))
      ++at;
    place[i] = static_cast<std::uint32_t>(at);
    if (at < into.all.size()) continue;
    into.all.push_back({});
    into.all.back().phase = wanted.phase;
    into.all.back().conditions = wanted.conditions;
    into.all.back().warmup = wanted.warmup;
    into.all.back().kind = wanted.kind;
    into.all.back().domain = wanted.domain;
    into.all.back().work = wanted.work;
  }
  std::uint64_t my_stride = 1;
  std::uint64_t other_stride = 1;
  for (std::size_t i = 0; i < other.all.size(); ++i) {
    auto const& more = other.all[i];
    auto const& mine = into.all[place[i]];
    if (more.kept_one_in > mine.kept_one_in && more.kept_one_in > my_stride && holds_spans(mine))
      my_stride = more.kept_one_in;
    if (mine.kept_one_in > more.kept_one_in && mine.kept_one_in > other_stride && holds_spans(more))
      other_stride = mine.kept_one_in;
  }
  part_spans(my_stride, into.all);
  std::size_t const problems = other.problems.size();
  std::size_t const more_streams = other.streams.size();
  for (std::size_t i = 0; i < other.all.size(); ++i) {
    auto more = other.all[i];
    auto& mine = into.all[place[i]];
    if (!mine.work)
      mine.work = more.work;
    else if (more.work && *more.work != *mine.work)
      into.problems.push_back({mine.phase, "the runs declare different work; that of the first one stands", 0, 1});
    bool const was_empty = mine.count() + mine.lost == 0;
    bool const adds = more.count() + more.lost > 0;
    auto const stride = mine.kept_one_in > more.kept_one_in ? mine.kept_one_in : more.kept_one_in;
    if (mine.totals || more.totals) {
      thin_to(stride, mine);
      thin_to(stride, more);
      if (!mine.totals->merge(*more.totals)) mine.lost += more.totals->count;
    }
    for (auto& one : more.samples) {
      if (one.parent) one.parent = *one.parent < place.size() ? std::optional{place[*one.parent]} : std::nullopt;
      one.thread += threads;
      // One that the other recording does not have must not become one that this one has.
      if (one.stream != 0) one.stream = one.stream <= more_streams ? one.stream + streams : 0;
      if (one.span != 0) one.span = stays_at(other_stride, one) ? one.span + spans : 0;
      mine.samples.push_back(one);
    }
    mine.lost += more.lost;
    if (adds) mine.runs = was_empty ? more.runs : mine.runs + more.runs;
  }
  merge(into.environment, other.environment);
  for (std::size_t i = 0; i < more_streams; ++i) into.streams.push_back(other.streams[i]);
  std::size_t const clocks = other.clocks.size();
  for (std::size_t i = 0; i < clocks; ++i) into.clocks.push_back(other.clocks[i]);
  if (into.why_not_placed.empty()) into.why_not_placed = other.why_not_placed;
  for (std::size_t i = 0; i < problems; ++i) into.problems.push_back(other.problems[i]);  // also where it is the same one
}

}  // namespace streamgauge
