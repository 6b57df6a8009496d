#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <type_traits>
#include <utility>

// What may differ between the translation units of one program: what a null stream means, and whether exceptions exist.
// It is resolved here, by template tags, where the user's code names a stream or an error is raised. Inside the library
// only explicit handles travel and no inline body depends on these, so units that were built differently link, in any
// order, and behave.

namespace streamgauge {

/// The legacy default stream, named explicitly: a null stream in a unit without the per-thread macro.
[[nodiscard]] inline cudaStream_t legacy_stream() noexcept { return reinterpret_cast<cudaStream_t>(std::uintptr_t{1}); }

/// The calling thread's own default stream, named explicitly: a null stream in a unit with the per-thread macro.
[[nodiscard]] inline cudaStream_t per_thread_stream() noexcept {
  return reinterpret_cast<cudaStream_t>(std::uintptr_t{2});
}

/// Tags of a translation unit: what its null stream is.
struct null_is_legacy {
  [[nodiscard]] static cudaStream_t resolve(cudaStream_t stream) noexcept { return stream ? stream : legacy_stream(); }
};
struct null_is_per_thread {
  [[nodiscard]] static cudaStream_t resolve(cudaStream_t stream) noexcept {
    return stream ? stream : per_thread_stream();
  }
};
#if defined(__CUDART_API_PER_THREAD_DEFAULT_STREAM)
using null_stream_here = null_is_per_thread;
#else
using null_stream_here = null_is_legacy;
#endif

/// Tags of a translation unit: whether an error can be thrown.
struct throwing;
struct aborting;
#if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
using failing_here = throwing;
#else
using failing_here = aborting;
#endif

template <class Stream, class = void>
struct has_get : std::false_type {};
template <class Stream>
struct has_get<Stream,
               std::enable_if_t<std::is_convertible_v<decltype(std::declval<Stream const&>().get()), cudaStream_t>>>
    : std::true_type {};
template <class Stream, class = void>
struct has_handle : std::false_type {};
template <class Stream>
struct has_handle<
    Stream, std::enable_if_t<std::is_convertible_v<decltype(std::declval<Stream const&>().handle()), cudaStream_t>>>
    : std::true_type {};

/// Whether a type can name a stream: it converts to `cudaStream_t`, if only when asked explicitly as owners do, or has
/// `.get()` or `.handle()` that does.
template <class Stream>
inline constexpr bool names_a_stream =
    std::is_constructible_v<cudaStream_t, Stream const&> || has_get<Stream>::value || has_handle<Stream>::value;

/// A stream, not owned, by its explicit handle.
/// Why: a null handle means one stream in one translation unit and another in the next. It is resolved here, where the
/// caller's code names it, and never afterwards.
/// Requires: the stream lives until the scope or interval that it is given to has ended. CUDA crashes on a record on a
/// destroyed stream, and nothing can ask beforehand.
/// Sync: none.
class stream_ref {
 public:
  template <class Stream, class Unit = null_stream_here, class = std::enable_if_t<names_a_stream<Stream>>>
  stream_ref(Stream const& stream, Unit = {}) noexcept : handle_{Unit::resolve(native(stream))} {}

  /// A handle that was resolved before.
  [[nodiscard]] static stream_ref resolved(cudaStream_t handle) noexcept { return stream_ref{handle, 0}; }

  /// The explicit handle: never null.
  [[nodiscard]] cudaStream_t handle() const noexcept { return handle_; }
  [[nodiscard]] bool is_legacy() const noexcept { return handle_ == legacy_stream(); }
  [[nodiscard]] bool is_per_thread() const noexcept { return handle_ == per_thread_stream(); }

 private:
  stream_ref(cudaStream_t handle, int) noexcept : handle_{handle} {}

  template <class Stream>
  static cudaStream_t native(Stream const& stream) noexcept {
    if constexpr (std::is_constructible_v<cudaStream_t, Stream const&>)
      return static_cast<cudaStream_t>(stream);
    else if constexpr (has_get<Stream>::value)
      return stream.get();
    else
      return stream.handle();
  }

  cudaStream_t handle_;
};

/// Given instead of a stream: this phase runs on the host alone.
/// Why: forgetting the stream must not compile, and leaving it out on purpose must be said.
struct host_only_tag {
  explicit constexpr host_only_tag(int) noexcept {}  // so that {} does not make one
};
inline constexpr host_only_tag host_only{0};

}  // namespace streamgauge
