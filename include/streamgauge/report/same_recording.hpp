#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/recording_members.hpp>
#include <streamgauge/report/written_histogram.hpp>

namespace streamgauge::report {

// Each answers where two values differ first, as a path below them; absent where they are the same in every member.
// Two numbers that are both NaN are the same; 0.0 and -0.0 are not.

/// Where something differs from another.
using first_difference = std::optional<std::string>;

template <class Value>
[[nodiscard]] first_difference difference_of(Value const& a, Value const& b);
template <class Value>
[[nodiscard]] first_difference difference_of(std::vector<Value> const& a, std::vector<Value> const& b);
[[nodiscard]] inline first_difference difference_of(double a, double b) noexcept {
  bool const same = a == b ? __builtin_signbit(a) == __builtin_signbit(b) : a != a && b != b;
  return same ? std::nullopt : first_difference{""};
}
[[nodiscard]] inline first_difference difference_of(histogram const& a, histogram const& b) {
  return written(a) == written(b) ? std::nullopt : first_difference{""};
}
template <class Value>
[[nodiscard]] first_difference difference_of(std::optional<Value> const& a, std::optional<Value> const& b) {
  if (a.has_value() != b.has_value()) return "";
  return a ? difference_of(*a, *b) : std::nullopt;
}
template <class Value>
[[nodiscard]] first_difference difference_of(boxed<Value> const& a, boxed<Value> const& b) {
  if (a.has_value() != b.has_value()) return "";
  return a ? difference_of(*a, *b) : std::nullopt;
}
template <class Value>
[[nodiscard]] first_difference difference_of(std::vector<Value> const& a, std::vector<Value> const& b) {
  std::size_t const both = a.size() < b.size() ? a.size() : b.size();
  for (std::size_t i = 0; i < both; ++i)
    if (auto const found = difference_of(a[i], b[i])) return '/' + digits(i) + *found;
  if (a.size() != b.size()) return '/' + digits(both);
  return std::nullopt;
}
template <class Value, std::size_t Count>
[[nodiscard]] first_difference difference_of(Value const (&a)[Count], Value const (&b)[Count]) {
  for (std::size_t i = 0; i < Count; ++i)
    if (auto const found = difference_of(a[i], b[i])) return '/' + digits(i) + *found;
  return std::nullopt;
}
/// Whether it is made of members.
template <class Value, class = void>
inline constexpr bool has_members = false;
template <class Value>
inline constexpr bool has_members<Value, std::void_t<decltype(members_of(std::declval<Value&>()))>> = true;

template <class Value>
[[nodiscard]] first_difference difference_of(Value const& a, Value const& b) {
  if constexpr (has_members<Value>) {
    first_difference found;
    auto const compare = [&](auto const& mine, auto const& theirs) {
      if (found) return;
      if (auto const inside = difference_of(mine.value, theirs.value)) found = '/' + (mine.key + *inside);
    };
    auto const others = members_of(b);
    std::apply(
        [&](auto const&... mine) {
          std::apply([&](auto const&... theirs) { (compare(mine, theirs), ...); }, others);
        },
        members_of(a));
    return found;
  } else {
    return a == b ? std::nullopt : first_difference{""};
  }
}

/// Where two recordings differ first, as `/all/3/samples/17/device`; empty where every member of one equals the other's.
/// Why: what was written and read back is compared by this, and a plain no would leave the reader to search.
[[nodiscard]] inline std::string difference(recording const& a, recording const& b) {
  return difference_of(a, b).value_or("");
}

/// Whether two recordings are equal in every member.
[[nodiscard]] inline bool same(recording const& a, recording const& b) { return !difference_of(a, b); }

}  // namespace streamgauge::report
