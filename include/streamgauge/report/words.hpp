#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include <streamgauge/observation.hpp>
#include <streamgauge/sample.hpp>

namespace streamgauge::report {

// The words that files use for what a recording chooses from. They are part of the schema: a new one, or another order,
// is another version of it.

/// The words of a choice, in its order.
template <class Choice>
inline constexpr char const* const* words_for = nullptr;
/// How many there are.
template <class Choice>
inline constexpr std::size_t word_count = 0;

inline constexpr char const* mode_words[] = {"off", "mark", "time"};
inline constexpr char const* wait_policy_words[] = {"none", "spin", "block"};
inline constexpr char const* work_kind_words[] = {"undeclared", "compute", "transfer", "communication", "wait"};
inline constexpr char const* span_part_words[] = {"none", "whole", "branch"};
inline constexpr char const* stream_kind_words[] = {"made", "legacy", "per_thread"};
inline constexpr char const* absence_words[] = {
    "none",          "not_asked",    "several_devices",     "still_open",     "body_threw",      "stream_capture",
    "capture_elsewhere", "pool_full", "no_memory",          "other_thread_stream", "context_gone", "no_context",
    "no_driver",     "driver_too_old", "forked",            "earlier_work_failed", "call_failed", "gate_timeout",
    "branch_open",   "branch_twice", "other_device",        "not_prepared",   "unread",          "not_replayed",
    "other_recorder", "no_clock",    "clocks_disagree",     "negative"};
static_assert(sizeof absence_words / sizeof *absence_words == absence_count, "each reason has its word");

template <>
inline constexpr char const* const* words_for<mode> = mode_words;
template <>
inline constexpr std::size_t word_count<mode> = 3;
template <>
inline constexpr char const* const* words_for<wait_policy> = wait_policy_words;
template <>
inline constexpr std::size_t word_count<wait_policy> = 3;
template <>
inline constexpr char const* const* words_for<work_kind> = work_kind_words;
template <>
inline constexpr std::size_t word_count<work_kind> = 5;
template <>
inline constexpr char const* const* words_for<span_part> = span_part_words;
template <>
inline constexpr std::size_t word_count<span_part> = 3;
template <>
inline constexpr char const* const* words_for<stream_kind> = stream_kind_words;
template <>
inline constexpr std::size_t word_count<stream_kind> = 3;
template <>
inline constexpr char const* const* words_for<absence> = absence_words;
template <>
inline constexpr std::size_t word_count<absence> = absence_count;

/// The word of a choice; null for a number that is none of them.
template <class Choice>
[[nodiscard]] constexpr char const* word_of(Choice chosen) noexcept {
  auto const at = static_cast<std::size_t>(chosen);
  return at < word_count<Choice> ? words_for<Choice>[at] : nullptr;
}

/// The choice that a word names; absent for any other word.
template <class Choice>
[[nodiscard]] std::optional<Choice> choice_of(std::string_view word) noexcept {
  for (std::size_t i = 0; i < word_count<Choice>; ++i)
    if (words_for<Choice>[i] == word) return static_cast<Choice>(i);
  return std::nullopt;
}

}  // namespace streamgauge::report
