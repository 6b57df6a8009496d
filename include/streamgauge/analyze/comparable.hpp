#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>

namespace streamgauge {

/// Which samples were taken under a tool, or while a capture was open.
enum class watched_samples : std::uint8_t { none, some, all };

/// What numbers stand for, as far as it decides whether they may be compared. Only what is known has to be filled in;
/// what both sides leave empty is taken to be alike.
struct comparable {
  std::string phase;
  std::vector<condition> conditions;  ///< in any order
  std::vector<std::string> devices;   ///< by name, in the program's order
  std::optional<wait_policy> waited;  ///< of a completion: how it was observed
  std::string cache;                  ///< "cold", "warm": as the program says
  watched_samples watched = watched_samples::none;
  clock_domain clock = clock_domain::host;
  std::string unit = "ns";
  std::string cpu{};                  ///< of a host's time: the processor it was taken on; empty: not known
};

/// A way of waiting, in words.
[[nodiscard]] constexpr char const* describe(wait_policy policy) noexcept {
  switch (policy) {
    case wait_policy::none: return "no wait";
    case wait_policy::spin: return "a spin";
    case wait_policy::block: return "a block";
  }
  return "unknown";
}

/// The value of a condition; absent when there is none of that key.
template <class = void>
[[nodiscard, gnu::cold]] std::optional<std::string> value_of(std::vector<condition> const& all, std::string const& key) {
  for (auto const& each : all)
    if (each.key == key) return each.value;
  return std::nullopt;
}

/// What the two sides are called in a sentence.
struct side_names {
  char const* a = "a";
  char const* b = "b";
};

/// How two sets of conditions differ, in words, whatever their order: "n is 1024 in a and 2048 in b". Empty when they do
/// not.
template <class = void>
[[nodiscard, gnu::cold]] std::string why_other_conditions(std::vector<condition> const& a,
                                                          std::vector<condition> const& b, side_names names = {}) {
  auto const said = [](std::optional<std::string> const& value) { return value ? *value : std::string{"not there"}; };
  auto const differ = [&](std::string const& key) {
    return key + " is " + said(value_of(a, key)) + " in " + names.a + " and " + said(value_of(b, key)) + " in " + names.b;
  };
  for (auto const& each : a)
    if (value_of(b, each.key) != value_of(a, each.key)) return differ(each.key);
  for (auto const& each : b)
    if (!value_of(a, each.key)) return differ(each.key);
  return {};
}

/// Why numbers of a must not be compared with numbers of b, in words; absent when they may.
/// Why: a ratio of things that differ in more than the program's code answers a question that nobody asked.
template <class = void>
[[nodiscard, gnu::cold]] std::optional<std::string> why_not_comparable(comparable const& a, comparable const& b,
                                                                       side_names names = {}) {
  auto const differ = [&](char const* what, std::string const& in_a, std::string const& in_b) {
    auto const named = [](std::string const& text) { return text.empty() ? std::string{"not stated"} : text; };
    return std::string{"other "} + what + ": " + named(in_a) + " in " + names.a + ", " + named(in_b) + " in " + names.b;
  };
  auto const listed = [](std::vector<std::string> const& all) {
    std::string text;
    for (auto const& name : all) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? std::string{"none known"} : text;
  };
  auto const clock = [](clock_domain whose) { return whose == clock_domain::host ? "the host's" : "the device's"; };
  auto const way = [](std::optional<wait_policy> policy) { return policy ? describe(*policy) : ""; };
  if (a.unit != b.unit) return differ("units", a.unit, b.unit);
  if (a.clock != b.clock) return differ("clocks", clock(a.clock), clock(b.clock));
  if (a.phase != b.phase) return differ("phases", a.phase, b.phase);
  auto const conditions = why_other_conditions(a.conditions, b.conditions, names);
  if (!conditions.empty()) return "other conditions: " + conditions;
  if (a.devices != b.devices) return differ("devices", listed(a.devices), listed(b.devices));
  bool const both_known = !a.cpu.empty() && !b.cpu.empty();
  if (a.clock == clock_domain::host && both_known && a.cpu != b.cpu) return differ("processors", a.cpu, b.cpu);
  if (a.waited != b.waited) return differ("ways of waiting", way(a.waited), way(b.waited));
  if (a.cache != b.cache) return differ("cache states", a.cache, b.cache);
  for (auto const* side : {&a, &b})
    if (side->watched == watched_samples::some)
      return std::string{"some samples of "} + (side == &a ? names.a : names.b) +
             " were taken under a tool, some were not";
  if (a.watched != b.watched)
    return std::string{"the samples of "} + (a.watched == watched_samples::all ? names.a : names.b) +
           " were taken under a tool, those of the other side were not";
  return std::nullopt;
}

}  // namespace streamgauge
