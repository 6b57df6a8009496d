#pragma once

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <streamgauge/sample.hpp>
#include <streamgauge/analyze/summary.hpp>
#include <streamgauge/report/json.hpp>
#include <streamgauge/report/words.hpp>
#include <streamgauge/report/recording_members.hpp>
#include <streamgauge/report/summary_json.hpp>

namespace streamgauge::report {

/// How texts are written. Spreadsheets run what begins with a sign of a formula, also out of a file that is only opened.
enum class csv_text : std::uint8_t {
  plain,        ///< as it is, quoted where it must be
  spreadsheet,  ///< quoted always, with an apostrophe before what begins with = + - @ tab, CR, LF or an apostrophe
};

/// Rows of comma-separated values.
/// Shape: RFC 4180. Every line ends with CR LF, the last one too; what is absent is empty. UTF-8: each byte of a name that
/// is none is U+FFFD, and so is a zero byte, which many readers take for the end. Numbers are in no locale.
class csv_rows {
 public:
  explicit csv_rows(csv_text how) noexcept : how_{how} {}

  csv_rows& text(std::string_view field) {
    next();
    bool quoted = how_ == csv_text::spreadsheet;
    std::string shown = as_utf8(field);
    for (auto zero = shown.find('\0'); zero != std::string::npos; zero = shown.find('\0'))
      shown.replace(zero, 1, "\xef\xbf\xbd");
    if (quoted && !shown.empty() && std::string_view{"=+-@\t\r\n'"}.find(shown.front()) != std::string_view::npos)
      shown.insert(0, 1, '\'');
    quoted = quoted || shown.find_first_of(",\"\r\n") != std::string::npos;
    if (!quoted) {
      written_ += shown;
      return *this;
    }
    written_ += '"';
    for (char const each : shown) {
      if (each == '"') written_ += '"';
      written_ += each;
    }
    written_ += '"';
    return *this;
  }
  /// Of a word of our own, which holds nothing that is to be quoted; null is absent.
  csv_rows& word(char const* plain) {
    next();
    if (plain) written_ += plain;
    return *this;
  }
  csv_rows& absent() { return word(nullptr); }
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  csv_rows& number(Number value) {
    if constexpr (std::is_same_v<Number, bool>) {
      return word(value ? "true" : "false");
    } else {
      next();
      char digits[64];
      auto const end = std::to_chars(digits, digits + sizeof digits, value);
      written_.append(digits, static_cast<std::size_t>(end.ptr - digits));
      return *this;
    }
  }
  template <class Count>
  csv_rows& number(std::chrono::duration<Count, std::nano> time) {
    return number(time.count());
  }
  template <class Number>
  csv_rows& number(std::optional<Number> const& perhaps) {
    return perhaps ? number(*perhaps) : absent();
  }
  csv_rows& end_row() {
    written_ += "\r\n";
    first_ = true;
    return *this;
  }
  [[nodiscard]] std::string rows() && { return std::move(written_); }

 private:
  void next() {
    if (!first_) written_ += ',';
    first_ = false;
  }

  csv_text how_;
  std::string written_;
  bool first_ = true;
};

/// The columns of conditions: one for each key, and one more where a series has a key twice.
class condition_columns {
 public:
  void add(std::vector<condition> const& of) {
    for (std::size_t i = 0; i < of.size(); ++i)
      if (find(of, i) == keys_.size()) keys_.push_back({of[i].key, times_before(of, i)});
  }
  void write_head(csv_rows& into) const {
    for (auto const& each : keys_) into.text("condition " + each.first);
  }
  void write(csv_rows& into, std::vector<condition> const& of) const {
    std::vector<condition const*> at(keys_.size(), nullptr);
    for (std::size_t i = 0; i < of.size(); ++i) at[find(of, i)] = &of[i];
    for (auto const* each : at) each ? into.text(each->value) : into.absent();
  }

 private:
  [[nodiscard]] static std::size_t times_before(std::vector<condition> const& of, std::size_t end) noexcept {
    std::size_t times = 0;
    for (std::size_t i = 0; i < end; ++i)
      if (of[i].key == of[end].key) ++times;
    return times;
  }
  [[nodiscard]] std::size_t find(std::vector<condition> const& of, std::size_t i) const noexcept {
    std::size_t const times = times_before(of, i);
    std::size_t at = 0;
    while (at < keys_.size() && (keys_[at].second != times || keys_[at].first != of[i].key)) ++at;
    return at;
  }

  std::vector<std::pair<std::string, std::size_t>> keys_;
};

/// Every sample of a recording, one row each, behind a row of names.
/// Shape: series (its place in `recording::all`, which `parent` means), phase, one column for each key of conditions, sample
/// (its place in the series), then the columns that samples have in JSON.
/// Throws: only `std::bad_alloc`.
[[nodiscard]] inline std::string samples_csv(recording const& of, csv_text how = csv_text::plain) {
  csv_rows rows{how};
  condition_columns conditions;
  for (auto const& each : of.all) conditions.add(each.conditions);
  rows.text("series").text("phase");
  conditions.write_head(rows);
  rows.text("sample");
  for (auto const& each : sample_columns()) rows.text(each);
  rows.end_row();
  auto const write = [&](auto const& each) {
    using member_type = std::remove_const_t<std::remove_reference_t<decltype(each)>>;
    using value_type = std::remove_const_t<std::remove_reference_t<decltype(each.value)>>;
    if constexpr (std::is_same_v<value_type, observation>) {
      rows.number(each.value.value()).word(each.value.known() ? nullptr : word_of(each.value.why_absent()));
    } else if constexpr (std::is_same_v<member_type, member_or_null<value_type const>>) {
      each.is_nothing ? rows.absent() : rows.number(each.value);
    } else if constexpr (std::is_enum_v<value_type>) {
      rows.word(word_of(each.value));
    } else {
      rows.number(each.value);
    }
  };
  for (std::size_t at = 0; at < of.all.size(); ++at) {
    series const& from = of.all[at];
    for (std::size_t i = 0; i < from.samples.size(); ++i) {
      rows.number(at).text(from.phase);
      conditions.write(rows, from.conditions);
      rows.number(i);
      std::apply([&](auto const&... each) { (write(each), ...); }, members_of(from.samples[i]));
      rows.end_row();
    }
  }
  return std::move(rows).rows();
}

/// The statistics of a recording, one row for each series, observable, way of waiting and stage, behind a row of names.
/// Shape: what `samples` became stands on each row of an observable, counted over both stages. Times in nanoseconds.
/// Throws: only `std::bad_alloc`.
[[nodiscard]] inline std::string summary_csv(recording_summary const& of, csv_text how = csv_text::plain) {
  csv_rows rows{how};
  condition_columns conditions;
  for (auto const& each : of.rows) conditions.add(each.what.conditions);
  rows.text("series").text("depth").text("phase");
  conditions.write_head(rows);
  for (char const* const name :
       {"observable", "clock", "waited", "stage", "entered", "kept", "dropped", "incomplete", "not_asked", "count",
        "median_ns", "minimum_ns", "maximum_ns", "q05_ns", "q25_ns", "q75_ns", "q95_ns", "q99_ns", "iqr_ns", "mad_ns",
        "mean_ns", "sample_stddev_ns", "confidence_low_ns", "confidence_high_ns", "steady", "one_in", "watched",
        "near_floor", "near_resolution"})
    rows.text(name);
  rows.end_row();
  for (auto const& row : of.rows) {
    summary const& what = row.what;
    auto const stage = [&](char const* name, char const* waited, clock_domain clock, char const* called,
                           account const& samples, distribution const& all, stage_statistics const& one) {
      rows.number(row.index).number(row.depth).text(what.phase);
      conditions.write(rows, what.conditions);
      rows.word(name).word(clock == clock_domain::host ? "host" : "device").word(waited).word(called);
      rows.number(samples.entered).number(samples.kept).number(samples.dropped).number(samples.incomplete);
      rows.number(samples.not_asked).number(one.count).number(one.median).number(one.minimum).number(one.maximum);
      rows.number(one.q05).number(one.q25).number(one.q75).number(one.q95).number(one.q99).number(one.iqr);
      rows.number(one.mad).number(one.mean).number(one.sample_stddev);
      rows.number(one.confidence ? std::optional{one.confidence->low} : std::nullopt);
      rows.number(one.confidence ? std::optional{one.confidence->high} : std::nullopt);
      rows.word(steadiness_words[static_cast<std::size_t>(all.steadiness.verdict)]);
      rows.number(one.one_in).number(what.watched).number(what.near_floor).number(what.near_resolution);
      rows.end_row();
    };
    auto const both = [&](char const* name, char const* waited, clock_domain clock, account const& samples,
                          distribution const& all) {
      stage(name, waited, clock, "warmup", samples, all, all.warmup);
      stage(name, waited, clock, "steady", samples, all, all.steady);
    };
    both("submit", nullptr, what.submit.clock, what.submit.samples, what.submit.values);
    both("device", nullptr, what.device.clock, what.device.samples, what.device.values);
    for (auto const policy : {wait_policy::none, wait_policy::spin, wait_policy::block}) {
      auto const& values = what.completion.by(policy);
      if (policy == wait_policy::none && values.warmup.count + values.steady.count == 0) continue;
      both("completion", word_of(policy), what.completion.clock, what.completion.samples, values);
    }
  }
  return std::move(rows).rows();
}
[[nodiscard]] inline std::string summary_csv(recording const& of, csv_text how = csv_text::plain) {
  return summary_csv(summarize(of), how);
}

}  // namespace streamgauge::report
