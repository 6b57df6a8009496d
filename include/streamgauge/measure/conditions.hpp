#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <initializer_list>
#include <string_view>
#include <type_traits>

#include <streamgauge/sample.hpp>

namespace streamgauge {

/// A name as it is written down: any kind of string; a null pointer is an empty one.
class text {
 public:
  text(char const* characters) noexcept : view_{characters ? std::string_view{characters} : std::string_view{}} {}
  text(std::string_view characters) noexcept : view_{characters} {}
  text(std::string const& characters) noexcept : view_{characters} {}

  [[nodiscard]] std::string_view view() const noexcept { return view_; }

 private:
  std::string_view view_;
};

/// A condition as it is written down: a key with a text or a whole number. Nothing is allocated.
/// Example: `{"dtype", "f32"}`, `{"rows", 256}`
class given_condition {
 public:
  given_condition(text key, text value) noexcept : key_{key.view()}, text_{value.view()} {}
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  given_condition(text key, Integer value) noexcept : key_{key.view()} {
    // Digits by hand: no allocation, no locale.
    using wide = std::conditional_t<std::is_signed_v<Integer>, std::int64_t, std::uint64_t>;
    wide const given = static_cast<wide>(value);
    bool const negative = std::is_signed_v<Integer> && static_cast<std::int64_t>(given) < 0;
    std::uint64_t rest = static_cast<std::uint64_t>(given);
    if (negative) rest = ~rest + 1;
    do {
      digits_[--first_digit_] = static_cast<char>('0' + rest % 10);
      rest /= 10;
    } while (rest != 0);
    if (negative) digits_[--first_digit_] = '-';
  }

  /// Two executions hardly ever share a floating-point value to the last digit: write the text that they shall share.
  template <class Real, std::enable_if_t<std::is_floating_point_v<Real>, int> = 0>
  given_condition(text key, Real value) = delete;

  [[nodiscard]] std::string_view key() const noexcept { return key_; }
  [[nodiscard]] std::string_view value() const noexcept {
    return first_digit_ < sizeof digits_ ? std::string_view{digits_ + first_digit_, sizeof digits_ - first_digit_}
                                         : text_;
  }

 private:
  std::string_view key_;
  std::string_view text_;
  char digits_[24] = {};
  std::size_t first_digit_ = sizeof digits_;
};

/// A set of conditions: sorted by key, one value a key, the later one where a key is given twice.
/// Why: two executions under the same conditions belong to one series in whatever order the conditions were written.
class conditions {
 public:
  conditions() = default;
  conditions(std::initializer_list<given_condition> given) { add(given); }

  [[nodiscard]] std::vector<condition> const& values() const noexcept { return values_; }
  [[nodiscard]] friend bool operator==(conditions const& a, conditions const& b) { return a.values_ == b.values_; }

  [[nodiscard]] bool has(std::string_view key) const noexcept { return find(key) != nullptr; }
  /// These and the added ones; an added value replaces one of the same key.
  [[nodiscard]] conditions with(std::initializer_list<given_condition> added) const {
    conditions both = *this;
    both.add(added);
    return both;
  }

  /// Whether this set is what `base.with(added)` would be, without making it.
  [[nodiscard]] bool equals(conditions const& base, std::initializer_list<given_condition> added) const noexcept {
    for (condition const& mine : values_) {
      given_condition const* const given = last_of(added, mine.key);
      condition const* const based = given ? nullptr : base.find(mine.key);
      if (given ? given->value() != mine.value : !based || based->value != mine.value) return false;
    }
    for (given_condition const& each : added)
      if (!find(each.key())) return false;
    for (condition const& each : base.values_)
      if (!find(each.key)) return false;
    return true;
  }

 private:
  void add(std::initializer_list<given_condition> given) {
    // At the end, then down to its place: a vector's insert would cost every translation unit more to compile.
    for (given_condition const& each : given) {
      std::size_t at = 0;
      while (at < values_.size() && values_[at].key != each.key()) ++at;
      if (at == values_.size()) values_.push_back({std::string{each.key()}, {}});
      values_[at].value = each.value();
      for (; at > 0 && values_[at].key < values_[at - 1].key; --at) std::swap(values_[at], values_[at - 1]);
    }
  }

  [[nodiscard]] condition const* find(std::string_view key) const noexcept {
    for (condition const& each : values_)
      if (each.key == key) return &each;
    return nullptr;
  }
  [[nodiscard]] static given_condition const* last_of(std::initializer_list<given_condition> given,
                                                      std::string_view key) noexcept {
    given_condition const* found = nullptr;
    for (given_condition const& each : given)
      if (each.key() == key) found = &each;
    return found;
  }

  std::vector<condition> values_;
};

}  // namespace streamgauge

#endif
