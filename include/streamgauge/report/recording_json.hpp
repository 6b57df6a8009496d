#pragma once

#include <charconv>
#include <cmath>
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
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/json.hpp>
#include <streamgauge/report/summary_json.hpp>
#include <streamgauge/report/recording_members.hpp>
#include <streamgauge/report/written_histogram.hpp>

namespace streamgauge::report {

/// What a document of `json_of` calls itself. Another version is one that readers of this one cannot read.
inline constexpr char const* recording_schema = "streamgauge.recording";
inline constexpr int recording_version = 1;

/// Whether a part that can be large, or takes time to work out, is in a document.
enum class part : std::uint8_t { left_out, included };

struct recording_choices {
  part samples = part::included;    ///< every sample; without them a document cannot be read back as a recording
  part summaries = part::left_out;  ///< statistics of each series, for readers that have no statistics of their own
};
/// A document that stays small however long the program ran, and cannot be read back.
inline constexpr recording_choices summaries_alone{part::left_out, part::included};

/// Writes the parts of a recording, and keeps account of what JSON has no word for.
class recording_json {
 public:
  explicit recording_json(recording_choices chosen) : chosen_{chosen} {}

  [[nodiscard]] std::string document(recording const& of) && {
    if (chosen_.samples == part::included) {
      std::size_t samples = 0;
      for (auto const& each : of.all) samples += each.samples.size();
      out_.reserve(samples * 160);
    }
    if (chosen_.summaries == part::included) {
      whole_ = &of;
      summaries_.resize(of.all.size());
      auto all = summarize(of);
      for (auto& row : all.rows) summaries_[row.index] = std::move(row.what);
    }
    out_.begin_object();
    out_.member("schema", recording_schema).member("version", recording_version);
    write_members(of);
    write_kept("not_utf8", not_utf8_);
    write_kept("not_finite", not_finite_);
    out_.end();
    return std::move(out_).text();
  }

 private:
  template <class Value>
  void write(Value const& value) {
    if constexpr (std::is_enum_v<Value>) {
      out_.value(word_of(value));
    } else if constexpr (std::is_integral_v<Value>) {
      out_.value(value);
    } else {
      out_.begin_object();
      write_members(value);
      out_.end();
    }
  }
  void write(nanoseconds time) { out_.value(time); }
  void write(double number) {
    if (!std::isfinite(number)) not_finite_.push_back({path_, number != number ? "nan" : number > 0 ? "inf" : "-inf"});
    out_.real(number);
  }
  void write(std::string const& text) {
    if (!is_utf8(text)) not_utf8_.push_back({path_, in_hex(text)});
    out_.value(text);
  }
  template <class Value>
  void write(std::optional<Value> const& perhaps) {
    if (perhaps)
      write(*perhaps);
    else
      out_.value(std::nullopt);
  }
  template <class Value>
  void write(boxed<Value> const& perhaps) {
    if (perhaps)
      write(*perhaps);
    else
      out_.value(std::nullopt);
  }
  template <class Value>
  void write(std::vector<Value> const& list) {
    if constexpr (std::is_integral_v<Value>) {
      out_.line(list, [](Value each, char* at) { return put(each, at); });
      return;
    }
    out_.begin_array();
    for (std::size_t i = 0; i < list.size(); ++i) below(digits(i), [&] { write(list[i]); });
    out_.end();
  }
  void write(histogram const& values) { write(written(values)); }
  void write(series const& of) {
    out_.begin_object();
    write_members(of);
    out_.key("summary");
    auto const index = whole_ ? static_cast<std::size_t>(&of - whole_->all.data()) : 0;
    if (whole_ && summaries_[index])
      write_summary(out_, *summaries_[index]);
    else
      out_.value(std::nullopt);
    out_.end();
  }
  // Columns, so that each list is of one kind.
  void write(std::vector<sample> const& samples) {
    if (chosen_.samples == part::left_out) {
      out_.value(std::nullopt);
      return;
    }
    out_.begin_object();
    write_columns(samples, std::make_index_sequence<sample_member_count>{});
    out_.end();
  }
  template <std::size_t... Column>
  void write_columns(std::vector<sample> const& samples, std::index_sequence<Column...>) {
    (write_column<Column>(samples), ...);
  }
  template <std::size_t Column>
  void write_column(std::vector<sample> const& samples) {
    sample const none;
    std::string const key = std::get<Column>(members_of(none)).key;
    using value_type = std::remove_const_t<std::remove_reference_t<decltype(std::get<Column>(members_of(none)).value)>>;
    if constexpr (std::is_same_v<value_type, observation>) {
      out_.key(key + "_ns").line(samples, [](sample const& one, char* at) {
        auto const& seen = std::get<Column>(members_of(one)).value;
        return seen.known() ? put(seen.value()->count(), at) : put_word(nullptr, at);
      });
      out_.key(key + "_absent").line(samples, [](sample const& one, char* at) {
        auto const& seen = std::get<Column>(members_of(one)).value;
        return put_word(seen.known() ? nullptr : word_of(seen.why_absent()), at);
      });
    } else {
      out_.key(key).line(samples, [](sample const& one, char* at) { return put(std::get<Column>(members_of(one)), at); });
    }
  }
  // Behind a place, and where that ends.
  template <class Value>
  static char* put(member<Value> const& cell, char* at) noexcept {
    return put(cell.value, at);
  }
  template <class Value>
  static char* put(member_or_null<Value> const& cell, char* at) noexcept {
    return cell.is_nothing ? put_word(nullptr, at) : put(cell.value, at);
  }
  template <class Value>
  static char* put(std::optional<Value> const& perhaps, char* at) noexcept {
    return perhaps ? put(*perhaps, at) : put_word(nullptr, at);
  }
  static char* put(nanoseconds time, char* at) noexcept { return put(time.count(), at); }
  template <class Value, class = std::enable_if_t<std::is_enum_v<Value> || std::is_integral_v<Value>>>
  static char* put(Value value, char* at) noexcept {
    if constexpr (std::is_enum_v<Value>)
      return put_word(word_of(value), at);
    else if constexpr (std::is_same_v<Value, bool>)
      return put_plain(value ? "true" : "false", at);
    else
      return std::to_chars(at, at + 24, value).ptr;
  }
  static char* put_plain(char const* text, char* at) noexcept {
    while (*text) *at++ = *text++;
    return at;
  }
  static char* put_word(char const* word, char* at) noexcept {
    if (!word) return put_plain("null", at);
    *at++ = '"';
    at = put_plain(word, at);
    *at++ = '"';
    return at;
  }

  template <class Value>
  void write_members(Value const& of) {
    std::apply([this](auto const&... each) { (this->write_member(each), ...); }, members_of(of));
  }
  template <class Value>
  void write_member(member<Value> const& of) {
    out_.key(of.key);
    below(of.key, [&] { write(of.value); });
  }
  template <class Value>
  void write_member(member_or_null<Value> const& of) {
    out_.key(of.key);
    if (of.is_nothing)
      out_.value(std::nullopt);
    else
      below(of.key, [&] { write(of.value); });
  }
  template <class Choice, class List>
  void write_member(member_by_word<Choice, List> const& of) {
    out_.key(of.key).begin_object();
    below(of.key, [&] {
      for (std::size_t i = 0; i < word_count<Choice>; ++i) {
        out_.key(words_for<Choice>[i]);
        below(words_for<Choice>[i], [&] { write(of.value[i]); });
      }
    });
    out_.end();
  }

  using kept = std::vector<std::pair<std::string, std::string>>;
  void write_kept(char const* key, kept const& all) {
    out_.key(key).begin_object();
    for (auto const& [path, text] : all) out_.member(path, text);
    out_.end();
  }
  template <class Step>
  void below(std::string_view step, Step take) {
    auto const above = path_.size();
    (path_ += '/') += step;
    take();
    path_.resize(above);
  }

  json out_;
  recording_choices chosen_;
  recording const* whole_ = nullptr;
  std::vector<std::optional<summary>> summaries_;
  std::string path_;  // of what is written, as RFC 6901 has it
  kept not_utf8_;     // paths of texts, and their bytes
  kept not_finite_;   // paths of numbers that are none
};

/// A recording as one JSON document: its schema stands in the README.
/// Shape: some 130 bytes a sample. RFC 8259, in UTF-8 whatever the names hold, independent of any locale.
/// Throws: only `std::bad_alloc`.
/// Example: `write_file("run.json", sg::report::json_of(recorder.collect()))`
[[nodiscard]] inline std::string json_of(recording const& of, recording_choices chosen = {}) {
  return recording_json{chosen}.document(of);
}

/// The same to a stream. Its locale, flags, width and precision neither matter nor change.
template <class Ostream>
void write_json(Ostream& out, recording const& of, recording_choices chosen = {}) {
  std::string const text = json_of(of, chosen);
  out.write(text.data(), static_cast<std::ptrdiff_t>(text.size()));
}

}  // namespace streamgauge::report
