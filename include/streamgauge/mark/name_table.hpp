#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

namespace streamgauge {

/// Names that are made known to a tool once each, and the handles that it gave for them.
/// Why: a tool keeps every registered name until it ends, so a program that makes names up as it goes would fill its memory
/// and ours; there is room for a thousand, which no timeline is read beyond.
/// Shape: a name ends at its first NUL, as NVTX's do.
class name_table {
 public:
  static constexpr std::size_t room = 1024;

  /// A tool's handle, or why there is none.
  struct answer {
    void* handle = nullptr;
    char const* why_not = "";
  };

  constexpr name_table() noexcept = default;
  name_table(name_table const&) = delete;
  name_table& operator=(name_table const&) = delete;
  ~name_table() {
    for (entry* each : chains_)
      while (each != nullptr) delete[] reinterpret_cast<char*>(take(each));
  }

  /// The handle for a name; `register_it` is called with the text where the name is new.
  template <class Register>
  [[nodiscard]] answer handle_of(std::string_view name, Register const& register_it) noexcept {
    name = name.substr(0, name.find('\0'));
    entry*& chain = chains_[chain_of(name)];
    for (entry* each = chain; each != nullptr; each = each->next)
      if (each->name() == name) return known(*each);
    if (count_ == room) return {nullptr, "there are 1024 names already: give ranges that differ by a number one name"};
    void* const memory = new (std::nothrow) char[sizeof(entry) + name.size() + 1];
    if (memory == nullptr) return {nullptr, "there is no memory for its name"};
    entry* const made = new (memory) entry{chain, nullptr, name.size()};
    if (!name.empty()) std::memcpy(made->text(), name.data(), name.size());
    made->text()[name.size()] = '\0';
    made->handle = register_it(made->text());
    chain = made;
    ++count_;
    return known(*made);
  }

  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  // The text stands behind it, in the same block.
  struct entry {
    entry* next;
    void* handle;
    std::size_t length;

    [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
    [[nodiscard]] std::string_view name() noexcept { return {text(), length}; }
  };
  static constexpr std::size_t chains = 256;

  static entry* take(entry*& first) noexcept {
    entry* const taken = first;
    first = taken->next;
    return taken;
  }
  static answer known(entry const& of) noexcept {
    if (of.handle == nullptr) return {nullptr, "the tool registers no names, and without one nobody knows the range"};
    return {of.handle, ""};
  }
  // FNV-1a
  static std::size_t chain_of(std::string_view name) noexcept {
    std::uint32_t hash = 2166136261U;
    for (char const each : name) hash = (hash ^ static_cast<unsigned char>(each)) * 16777619U;
    return hash % chains;
  }

  entry* chains_[chains] = {};
  std::size_t count_ = 0;
};

}  // namespace streamgauge
