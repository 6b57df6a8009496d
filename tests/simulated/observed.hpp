#pragma once

// What the tests of the measuring wing ask again and again.

#include <streamgauge/streamgauge.hpp>

#include "runtime/fixture.hpp"

namespace streamgauge {

// A chrono literal is two conversions away from an observation.
template <class Count, class Unit>
[[nodiscard]] constexpr bool operator==(observation of, std::chrono::duration<Count, Unit> time) noexcept {
  return of == observation{nanoseconds{time}};
}

}  // namespace streamgauge

namespace observed {

namespace sg = streamgauge;
using std::chrono::nanoseconds;

/// A stream that does not order with the legacy one, made by the program.
inline cudaStream_t new_stream(unsigned int flags = cudaStreamNonBlocking) {
  simulated::user_scope const user;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreateWithFlags(&stream, flags) == cudaSuccess);
  return stream;
}

/// The one series of a phase.
inline sg::series series_of(sg::recording const& of, std::string const& phase) {
  sg::series const* found = nullptr;
  for (auto const& each : of.all) {
    if (each.phase != phase) continue;
    REQUIRE_MESSAGE(found == nullptr, "two series of " << phase);
    found = &each;
  }
  REQUIRE_MESSAGE(found != nullptr, "no series of " << phase);
  return *found;
}

/// The one sample of a phase.
inline sg::sample sample_of(sg::recording const& of, std::string const& phase) {
  auto const series = series_of(of, phase);
  REQUIRE(series.samples.size() == 1);
  return series.samples.front();
}

/// The values of one observable, in order; the test fails where one is missing.
inline std::vector<nanoseconds> values(sg::series const& of, sg::observation sg::sample::*which) {
  std::vector<nanoseconds> all;
  for (auto const& each : of.samples) {
    CHECK_MESSAGE((each.*which).known(), std::string{sg::describe((each.*which).why_absent())});
    all.push_back((each.*which).value().value_or(nanoseconds{-1}));
  }
  return all;
}
inline std::vector<nanoseconds> device_times(sg::series const& of) { return values(of, &sg::sample::device); }

/// What one observable lacks, for a comparison in one line.
inline sg::absence missing(sg::observation const& of) { return of.why_absent(); }

/// The calls since the last `clear_log` that the program did not make; look-ups left out.
inline std::vector<std::string> calls_of_ours() {
  std::vector<std::string> names;
  for (auto const& each : simulated::log())
    if (!each.by_user && each.kind != simulated::call_kind::look_up) names.emplace_back(each.name);
  return names;
}

/// For each observable: entered = kept + dropped + incomplete, and all samples are accounted for.
inline void check_account(sg::account const& of, std::size_t samples) {
  CHECK(of.entered == of.kept + of.dropped + of.incomplete);
  CHECK(of.entered + of.not_asked == samples);
}

using names = std::vector<std::string>;

}  // namespace observed

namespace doctest {
template <>
struct StringMaker<std::chrono::nanoseconds> {
  static String convert(std::chrono::nanoseconds const& time) {
    return (std::to_string(time.count()) + " ns").c_str();
  }
};
template <>
struct StringMaker<streamgauge::absence> {
  static String convert(streamgauge::absence why) { return streamgauge::describe(why); }
};
template <>
struct StringMaker<streamgauge::observation> {
  static String convert(streamgauge::observation const& of) {
    return of.known() ? (std::to_string(of.value()->count()) + " ns").c_str() : streamgauge::describe(of.why_absent());
  }
};
template <>
struct StringMaker<std::vector<std::chrono::nanoseconds>> {
  static String convert(std::vector<std::chrono::nanoseconds> const& all) {
    std::string text;
    for (auto const& each : all) text += std::to_string(each.count()) + ' ';
    return text.c_str();
  }
};
template <>
struct StringMaker<std::vector<std::string>> {
  static String convert(std::vector<std::string> const& all) {
    std::string text;
    for (auto const& each : all) text += each + ' ';
    return text.c_str();
  }
};
}  // namespace doctest
