#pragma once

#include <cstddef>
#include <optional>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/json.hpp>
#include <streamgauge/report/words.hpp>

namespace streamgauge::report {

inline constexpr char const* steadiness_words[] = {"yes", "no", "unknown"};
inline constexpr char const* steady_reason_words[] = {"one_level",          "too_few", "not_a_duration", "zero_level",
                                                      "too_noisy",          "level_shift_at_end", "drift", "wander",
                                                      "several_runs",       "short_steady_part"};
inline constexpr char const* no_confidence_words[] = {"none", "too_few", "not_finite", "too_correlated"};

/// Writes what became of an observable's samples.
inline void write_account(json& out, account const& of) {
  out.begin_object();
  out.member("entered", of.entered).member("kept", of.kept).member("dropped", of.dropped);
  out.member("incomplete", of.incomplete).member("not_asked", of.not_asked);
  out.key("absent").begin_object();
  for (std::size_t i = 1; i < absence_count; ++i)
    if (of.by_reason[i] > 0) out.member(absence_words[i], of.by_reason[i]);
  out.end().end();
}

inline void write_interval(json& out, char const* key, std::optional<median_interval> const& of) {
  out.key(key);
  if (of)
    out.begin_object().member("low_ns", of->low).member("high_ns", of->high).end();
  else
    out.value(std::nullopt);
}

inline void write_stage(json& out, char const* key, stage_statistics const& of) {
  out.key(key).begin_object();
  out.member("count", of.count).member("median_ns", of.median);
  out.member("minimum_ns", of.minimum).member("maximum_ns", of.maximum);
  out.member("q05_ns", of.q05).member("q25_ns", of.q25).member("q75_ns", of.q75);
  out.member("q95_ns", of.q95).member("q99_ns", of.q99);
  out.member("iqr_ns", of.iqr).member("mad_ns", of.mad).member("mean_ns", of.mean);
  out.member("sample_stddev_ns", of.sample_stddev);
  write_interval(out, "confidence", of.confidence);
  write_interval(out, "plain_confidence", of.plain_confidence);
  out.member("why_no_confidence",
             of.confidence ? nullptr : no_confidence_words[static_cast<std::size_t>(of.why_no_confidence)]);
  out.member("correlation", of.correlation).member("drift", of.drift);
  out.key("beyond_1_5_iqr").begin_object();
  out.member("below", of.beyond_1_5_iqr.below).member("above", of.beyond_1_5_iqr.above).end();
  out.key("beyond_3_iqr").begin_object();
  out.member("below", of.beyond_3_iqr.below).member("above", of.beyond_3_iqr.above).end();
  out.member("worst_ns", of.worst).member("worst_index", of.worst_index);
  out.member("one_in", of.one_in).member("of_kept_alone", of.of_kept_alone);
  out.end();
}

inline void write_distribution(json& out, distribution const& of) {
  out.begin_object();
  write_stage(out, "warmup", of.warmup);
  write_stage(out, "steady", of.steady);
  out.key("steadiness").begin_object();
  out.member("verdict", steadiness_words[static_cast<std::size_t>(of.steadiness.verdict)]);
  out.member("reason", steady_reason_words[static_cast<std::size_t>(of.steadiness.reason)]);
  out.member("samples", of.steadiness.samples).member("start", of.steadiness.start);
  out.member("flat_from", of.steadiness.flat_from);
  out.member("smallest_visible_shift", of.steadiness.smallest_visible_shift);
  out.member("excursions", of.steadiness.excursions);
  out.end();
  out.member("before_steady", of.before_steady);
  out.member("first_ns", of.first.value());
  out.member("first_absent", of.first.known() ? nullptr : word_of(of.first.why_absent()));
  out.member("first_sample_outlier", of.first_sample_outlier);
  out.end();
}

inline void write_observable(json& out, char const* key, observable_summary const& of) {
  out.key(key).begin_object();
  out.member("clock", of.clock == clock_domain::host ? "host" : "device");
  out.key("samples");
  write_account(out, of.samples);
  out.key("values");
  write_distribution(out, of.values);
  out.end();
}

inline void write_latency(json& out, latency_split const& of) {
  out.begin_object();
  out.member("executions", of.executions).member("placed", of.placed).member("waited", of.waited);
  out.member("submit_ns", of.submit).member("queue_ns", of.queue).member("device_ns", of.device);
  out.member("end_ns", of.end).member("completion_ns", of.completion).member("notice_ns", of.notice);
  out.member("bound_ns", of.bound).member("widest_bound_ns", of.widest_bound);
  out.member("starved", of.count(feeding::starved)).member("clean", of.count(feeding::clean));
  out.member("feeding_unknown", of.count(feeding::unknown)).member("clean_device_ns", of.clean_device);
  out.end();
}

inline void write_span(json& out, span_summary const& of) {
  out.begin_object();
  out.member("counted", of.counted).member("left_out", of.left_out).member("without_branch", of.without_branch);
  out.member("most_branches", of.most_branches);
  auto const staged = [&](char const* key, staged_statistics const& both) {
    out.key(key).begin_object();
    write_stage(out, "warmup", both.warmup);
    write_stage(out, "steady", both.steady);
    out.end();
  };
  staged("busy_sum", of.busy_sum);
  staged("busy_union", of.busy_union);
  staged("overlap", of.overlap);
  out.key("branches").begin_array();
  for (auto const& each : of.branches) {
    out.begin_object();
    out.member("series", each.index).member("last", each.times).member("median_lead_ns", each.median_lead);
    out.end();
  }
  out.end().end();
}

/// Writes the summary of a series as one object. What it does not have is null; phase and conditions stand beside it.
inline void write_summary(json& out, summary const& of) {
  out.begin_object();
  write_observable(out, "submit", of.submit);
  write_observable(out, "device", of.device);
  out.key("completion").begin_object();
  out.member("clock", "host").member("mixed_policies", of.completion.mixed_policies);
  out.key("samples");
  write_account(out, of.completion.samples);
  out.key("values").begin_object();
  for (auto const policy : {wait_policy::none, wait_policy::spin, wait_policy::block}) {
    out.key(word_of(policy));
    write_distribution(out, of.completion.by(policy));
  }
  out.end().end();
  out.member("kept_one_in", of.kept_one_in).member("watched", of.watched);
  out.member("fewest_records_inside", of.fewest_records_inside).member("most_records_inside", of.most_records_inside);
  out.member("near_resolution", of.near_resolution).member("near_floor", of.near_floor);
  out.member("walls_and_branches", of.walls_and_branches);
  out.key("latency");
  if (of.latency.placed > 0)
    write_latency(out, of.latency);
  else
    out.value(std::nullopt);
  out.key("span");
  if (of.span)
    write_span(out, *of.span);
  else
    out.value(std::nullopt);
  out.end();
}

}  // namespace streamgauge::report
