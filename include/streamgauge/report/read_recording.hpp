#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <streamgauge/sample.hpp>
#include <streamgauge/version.hpp>
#include <streamgauge/report/text.hpp>
#include <streamgauge/report/file.hpp>
#include <streamgauge/report/json.hpp>
#include <streamgauge/report/recording_members.hpp>
#include <streamgauge/report/written_histogram.hpp>
#include <streamgauge/report/possible_values.hpp>
#include <streamgauge/report/recording_json.hpp>
#include <streamgauge/report/checked_json.hpp>
#include <streamgauge/report/json_place.hpp>

namespace streamgauge::report {

/// A recording that was read, or why there is none.
struct read_back {
  std::optional<recording> taken;
  std::string why_not;  ///< empty, or the place and what is wrong there: "/all/3/samples/device_ns/17: ..."

  explicit operator bool() const noexcept { return taken.has_value(); }
};

/// Reads a recording out of a document. The first thing that is wrong ends it.
/// Why: every member is expected once, and none beside them. Whatever is left to guess would be wrong some day.
class recording_reader {
 public:
  using json = nlohmann::json;

  [[nodiscard]] read_back document(json const& root) && {
    check_schema(root);
    if (!at_.failed()) {
      not_utf8_ = extra(root, "not_utf8");
      not_finite_ = extra(root, "not_finite");
    }
    recording taken;
    read_members(root, taken, {"schema", "version", "not_utf8", "not_finite"});
    check_used("not_utf8", not_utf8_);
    check_used("not_finite", not_finite_);
    if (at_.failed()) return {std::nullopt, at_.why_not()};
    return {std::move(taken), ""};
  }

 private:
  template <class Value>
  struct as {};

  void check_schema(json const& root) {
    if (!root.is_object()) return at_.fail("an object was expected, " + at_.found(root));
    auto const schema = root.find("schema");
    if (schema == root.end() || *schema != recording_schema)
      return at_.fail(std::string{"no document of the schema \""} + recording_schema + "\"", "/schema");
    auto const version = root.find("version");
    if (version == root.end() || !version->is_number_integer()) return at_.fail("a version was expected", "/version");
    if (*version != recording_version)
      at_.fail("streamgauge " + std::string{version_string} + " reads version " + digits(recording_version) + ", " +
               at_.found(*version),
           "/version");
  }
  json const* extra(json const& root, char const* key) {
    auto const at = root.find(key);
    if (at != root.end() && at->is_object()) return &*at;
    at_.fail("an object was expected", std::string{"/"} + key);
    return nullptr;
  }
  // What says something of a place that nothing was read from was written by no writer of ours.
  void check_used(char const* key, json const* all) {
    if (at_.failed()) return;
    for (auto const& [path, unused] : all->items()) {
      if (used_.find(path) == used_.end())
        return at_.fail("nothing stands at \"" + escaped(path) + '"', std::string{"/"} + key);
    }
  }

  template <class Value>
  [[nodiscard]] Value read(json const& node, as<Value>) {
    if constexpr (std::is_enum_v<Value>) {
      if (node.is_string())
        if (auto const chosen = choice_of<Value>(node.get<std::string>())) return *chosen;
      std::string words;
      for (std::size_t i = 0; i < word_count<Value>; ++i) (words += i > 0 ? ", " : "") += words_for<Value>[i];
      at_.fail("one of " + words + " was expected, " + at_.found(node));
      return {};
    } else if constexpr (std::is_same_v<Value, bool>) {
      if (node.is_boolean()) return node.get<bool>();
      at_.fail("true or false was expected, " + at_.found(node));
      return {};
    } else if constexpr (std::is_integral_v<Value>) {
      return at_.whole<Value>(node);
    } else {
      Value made;
      read_members(node, made, {});
      if constexpr (std::is_same_v<Value, number_totals>) at_.fail_if(why_impossible(made));
      return made;
    }
  }
  [[nodiscard]] nanoseconds read(json const& node, as<nanoseconds>) {
    nanoseconds const time{at_.whole<std::int64_t>(node)};
    at_.fail_if(why_impossible(time));
    return time;
  }
  [[nodiscard]] double read(json const& node, as<double>) {
    if (node.is_number()) return node.get<double>();
    auto const at = not_finite_ && node.is_null() ? not_finite_->find(at_.path()) : json::const_iterator{};
    if (!not_finite_ || !node.is_null() || at == not_finite_->end()) {
      at_.fail("a number was expected, " + at_.found(node));
      return 0.0;
    }
    used_.insert(at_.path());
    return at_.not_finite(*at);
  }
  [[nodiscard]] std::string read(json const& node, as<std::string>) {
    if (!node.is_string()) {
      at_.fail("a text was expected, " + at_.found(node));
      return {};
    }
    auto const text = node.get<std::string>();
    auto const at = not_utf8_->find(at_.path());
    if (at == not_utf8_->end()) return text;
    used_.insert(at_.path());
    auto const bytes = at->is_string() ? out_of_hex(at->get<std::string>()) : std::nullopt;
    if (bytes && as_utf8(*bytes) == text) return *bytes;
    at_.fail("its bytes in not_utf8 are not those of this text");
    return {};
  }
  template <class Value>
  [[nodiscard]] std::optional<Value> read(json const& node, as<std::optional<Value>>) {
    if (node.is_null() && !(std::is_same_v<Value, double> && not_finite_->contains(at_.path()))) return std::nullopt;
    return read(node, as<Value>{});
  }
  template <class Value>
  [[nodiscard]] boxed<Value> read(json const& node, as<boxed<Value>>) {
    boxed<Value> made;
    if (node.is_null()) return made;
    read_members(node, made.emplace(), {});
    at_.fail_if(why_impossible(*made));
    return made;
  }
  template <class Value>
  [[nodiscard]] std::vector<Value> read(json const& node, as<std::vector<Value>>) {
    std::vector<Value> made;
    if (!at_.is_list(node)) return made;
    made.reserve(node.size());
    for (std::size_t i = 0; i < node.size() && !at_.failed(); ++i)
      at_.below(digits(i), [&] { made.push_back(read(node[i], as<Value>{})); });
    return made;
  }
  [[nodiscard]] series read(json const& node, as<series>) {
    series made;
    read_members(node, made, {"summary"});
    at_.fail_if(why_impossible(made));
    return made;
  }
  [[nodiscard]] histogram read(json const& node, as<histogram>) {
    auto const from = read(node, as<written_histogram>{});
    if (at_.failed()) return {};
    if (from.maximum) at_.fail_if(why_impossible(nanoseconds{*from.maximum}));
    if (auto made = rebuilt(from)) return std::move(*made);
    at_.fail("these are no buckets, extremes and count of one histogram");
    return {};
  }
  [[nodiscard]] std::vector<sample> read(json const& node, as<std::vector<sample>>);

  // Into members, each of which must be there; `others` as well, which are read elsewhere.
  template <class Value>
  void read_members(json const& node, Value& of, std::initializer_list<char const*> others) {
    if (at_.failed()) return;
    auto const members = members_of(of);
    std::vector<std::string_view> keys{others.begin(), others.end()};
    std::apply([&](auto const&... each) { (keys.push_back(each.key), ...); }, members);
    if (!at_.has_exactly(node, keys)) return;
    std::apply([&](auto const&... each) { (read_member(node, each), ...); }, members);
  }
  template <class Value>
  void read_member(json const& node, member<Value> const& of) {
    at_.below(of.key, [&] { of.value = read(*node.find(of.key), as<Value>{}); });
  }
  template <class Value>
  void read_member(json const& node, member_or_null<Value> const& of) {
    json const& value = *node.find(of.key);
    at_.below(of.key, [&] { of.value = value.is_null() ? of.nothing : read(value, as<Value>{}); });
  }
  template <std::size_t... Member>
  void read_columns(json const& node, std::vector<sample>& into, std::index_sequence<Member...>) {
    (read_column<Member>(node, into), ...);
  }
  template <std::size_t Member>
  void read_column(json const& node, std::vector<sample>& into) {
    sample none;
    auto const like = std::get<Member>(members_of(none));
    if constexpr (std::is_same_v<decltype(like), member<observation> const>) {
      json const& reasons = *node.find(std::string{like.key} + "_absent");
      at_.below(std::string{like.key} + "_absent", [&] { check_size(reasons, into.size()); });
      each_cell(node, std::string{like.key} + "_ns", into, [&](json const& cell, std::size_t i) {
        std::get<Member>(members_of(into[i])).value = read_observation(cell, reasons[i]);
      });
    } else {
      each_cell(node, like.key, into, [&](json const& cell, std::size_t i) {
        auto const of = std::get<Member>(members_of(into[i]));
        using value_type = std::remove_reference_t<decltype(of.value)>;
        if constexpr (std::is_same_v<decltype(of), member_or_null<value_type> const>)
          of.value = cell.is_null() ? of.nothing : read(cell, as<value_type>{});
        else
          of.value = read(cell, as<value_type>{});
      });
    }
  }
  template <class Take>
  void each_cell(json const& node, std::string const& key, std::vector<sample> const& samples, Take take) {
    json const& column = *node.find(key);
    at_.below(key, [&] {
      if (!check_size(column, samples.size())) return;
      for (std::size_t i = 0; i < samples.size() && !at_.failed(); ++i)
        at_.below_index(i, [&] { take(column[i], i); });
    });
  }
  [[nodiscard]] observation read_observation(json const& time, json const& reason) {
    if (!time.is_null() && !reason.is_null()) at_.fail("a time, and a reason why there is none");
    if (time.is_null()) return read(reason, as<absence>{});
    auto const count = at_.whole<std::int64_t>(time);
    if (count < 0) at_.fail("a time below zero");
    at_.fail_if(why_impossible(nanoseconds{count}));
    return nanoseconds{count};
  }
  bool check_size(json const& column, std::size_t samples) {
    if (!at_.is_list(column)) return false;
    if (column.size() != samples)
      at_.fail(digits(samples) + " values were expected, one for each sample, and " + digits(column.size()) + " found");
    return !at_.failed();
  }
  template <class Choice, class List>
  void read_member(json const& node, member_by_word<Choice, List> const& of) {
    json const& all = *node.find(of.key);
    at_.below(of.key, [&] {
      std::vector<std::string_view> const keys(words_for<Choice>, words_for<Choice> + word_count<Choice>);
      if (!at_.has_exactly(all, keys)) return;
      for (std::size_t i = 0; i < keys.size(); ++i)
        at_.below(keys[i], [&] { of.value[i] = read(*all.find(words_for<Choice>[i]), as<std::remove_extent_t<List>>{}); });
    });
  }

  json_place at_;
  json const* not_utf8_ = nullptr;
  json const* not_finite_ = nullptr;
  std::set<std::string> used_;
};

inline std::vector<sample> recording_reader::read(json const& node, as<std::vector<sample>>) {
  std::vector<sample> made;
  if (node.is_null()) {
    at_.fail("the samples were left out when this was written, so it is a recording no more");
    return made;
  }
  auto const keys = sample_columns();
  if (!at_.has_exactly(node, {keys.begin(), keys.end()})) return made;
  made.resize(node.find(keys.front())->size());
  read_columns(node, made, std::make_index_sequence<sample_member_count>{});
  return made;
}

/// Reads a document of `json_of` that was parsed elsewhere. What parsing lost, two members of one name, is lost.
[[nodiscard]] inline read_back recording_of(nlohmann::json const& root) { return recording_reader{}.document(root); }

/// Reads a document of `json_of`. The recording is equal to the one that was written, or there is none, with the reason.
/// Summaries are passed over: they follow from the rest.
/// Throws: only `std::bad_alloc`, whatever the text is.
/// Example: `if (auto const read = sg::report::read_recording(text)) table(std::cout, *read.taken);`
[[nodiscard]] inline read_back read_recording(std::string_view text, read_limits limits = {}) {
  checked_json const parsed = parse_checked(text, limits);
  if (!parsed.why_not.empty()) return {std::nullopt, parsed.why_not};
  return recording_of(parsed.root);
}

/// Reads a file that holds one. What is wrong begins with the file's name.
/// Throws: only `std::bad_alloc`.
/// Example: `auto const read = sg::report::read_recording_file("run.json"); if (!read) std::cerr << read.why_not;`
[[nodiscard]] inline read_back read_recording_file(std::string const& path, read_limits limits = {}) {
  read_file_text const file = read_file(path, limits.bytes + 1 == 0 ? limits.bytes : limits.bytes + 1);
  if (!file) return {std::nullopt, file.why_not};
  read_back read = read_recording(*file.text, limits);
  if (!read) read.why_not = path + ": " + read.why_not;
  return read;
}

}  // namespace streamgauge::report
