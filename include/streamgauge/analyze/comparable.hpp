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

/// How two sets of conditions differ, in words, whatever their order: "n is 1024 in a and 2048 in b". Empty when they do
/// not.
template <class = void>
[[nodiscard, gnu::cold]] std::string why_other_conditions(std::vector<condition> const& a,
                                                          std::vector<condition> const& b) {
  auto const said = [](std::optional<std::string> const& value) { return value ? *value : std::string{"not there"}; };
  auto const differ = [&](std::string const& key) {
    return key + " is " + said(value_of(a, key)) + " in a and " + said(value_of(b, key)) + " in b";
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
[[nodiscard, gnu::cold]] std::optional<std::string> why_not_comparable(comparable const& a, comparable const& b) {
  auto const listed = [](std::vector<std::string> const& names) {
    std::string text;
    for (auto const& name : names) text += (text.empty() ? "" : ", ") + name;
    return text.empty() ? std::string{"none known"} : text;
  };
  auto const named = [](std::string const& text) { return text.empty() ? std::string{"not stated"} : text; };
  if (a.unit != b.unit) return "other units: " + named(a.unit) + " in a, " + named(b.unit) + " in b";
  if (a.clock != b.clock) return "other clocks: one side was read from the device's clock, the other from the host's";
  if (a.phase != b.phase) return "other phases: " + named(a.phase) + " in a, " + named(b.phase) + " in b";
  auto const conditions = why_other_conditions(a.conditions, b.conditions);
  if (!conditions.empty()) return "other conditions: " + conditions;
  if (a.devices != b.devices) return "other devices: " + listed(a.devices) + " in a, " + listed(b.devices) + " in b";
  if (a.waited != b.waited) {
    auto const way = [](std::optional<wait_policy> policy) { return policy ? describe(*policy) : "nothing known"; };
    return std::string{"other ways of waiting: "} + way(a.waited) + " in a, " + way(b.waited) + " in b";
  }
  if (a.cache != b.cache) return "other cache states: " + named(a.cache) + " in a, " + named(b.cache) + " in b";
  if (a.watched == watched_samples::some) return std::string{"some samples of a were taken under a tool, some were not"};
  if (b.watched == watched_samples::some) return std::string{"some samples of b were taken under a tool, some were not"};
  if (a.watched != b.watched)
    return std::string{"the samples of "} + (a.watched == watched_samples::all ? "a" : "b") +
           " were taken under a tool, those of the other side were not";
  return std::nullopt;
}

}  // namespace streamgauge
