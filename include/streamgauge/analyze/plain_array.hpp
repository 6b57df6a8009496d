#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace streamgauge {

/// A growing array of plain values that asks for memory without throwing.
/// Why: what is kept while a program runs must not end that program. A vector that finds no memory throws, and ends the
/// program where it was compiled without exceptions.
/// Throws: only `std::bad_alloc`, and only copying does.
template <class T>
class plain_array {
  static_assert(std::is_trivially_copyable_v<T>, "values move by being copied");

 public:
  plain_array() = default;
  plain_array(plain_array const& other) : data_{other.size_ > 0 ? new T[other.size_] : nullptr}, room_{other.size_} {
    append(other.data_, other.size_);
  }
  plain_array(plain_array&& other) noexcept { swap(other); }
  plain_array& operator=(plain_array other) noexcept {
    swap(other);
    return *this;
  }
  ~plain_array() { delete[] data_; }

  [[nodiscard]] T* data() noexcept { return data_; }
  [[nodiscard]] T const* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t room() const noexcept { return room_; }  ///< values that fit without asking for memory

  /// Room for so many in all. False without memory, and then nothing has changed.
  [[nodiscard, gnu::noinline, gnu::cold]] bool reserve(std::size_t room) noexcept {
    if (room <= room_) return true;
    plain_array larger;
    larger.data_ = new (std::nothrow) T[room];
    if (!larger.data_) return false;
    larger.room_ = room;
    larger.append(data_, size_);
    swap(larger);
    return true;
  }

  /// Requires: room for them.
  void append(T const& value) noexcept { data_[size_++] = value; }
  void append(T const* first, std::size_t size) noexcept {
    for (std::size_t i = 0; i < size; ++i) data_[size_ + i] = first[i];
    size_ += size;
  }

  /// How many of the values count from now on, of those that were ever written.
  void resize(std::size_t size) noexcept { size_ = size; }

 private:
  void swap(plain_array& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(room_, other.room_);
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t room_ = 0;
};

}  // namespace streamgauge
