#pragma once

#include <utility>

namespace streamgauge {

/// A value somewhere else, or none; copies copy it.
/// Why: what is large and seldom there costs its holder a pointer, and a compiler less than a `std::optional`.
/// Throws: only `std::bad_alloc`.
template <class T>
class boxed {
 public:
  boxed() noexcept = default;
  boxed(boxed const& other) : value_{other.value_ ? new T(*other.value_) : nullptr} {}
  boxed(boxed&& other) noexcept : value_{std::exchange(other.value_, nullptr)} {}
  boxed& operator=(boxed other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~boxed() { delete value_; }

  T& emplace() {
    *this = boxed{};
    return *(value_ = new T{});
  }
  [[nodiscard]] bool has_value() const noexcept { return value_ != nullptr; }
  explicit operator bool() const noexcept { return value_ != nullptr; }
  T& operator*() noexcept { return *value_; }
  T const& operator*() const noexcept { return *value_; }
  T* operator->() noexcept { return value_; }
  T const* operator->() const noexcept { return value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace streamgauge
