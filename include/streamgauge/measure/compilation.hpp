#pragma once

#include <streamgauge/sample.hpp>

namespace streamgauge {

// What the compiler says of itself and of its options. It differs between the units of a program, so each unit has its own
// copy, `inline` left out, and the tag below is another type in each: no inline body depends on it.

constexpr char compiler_here[] =
#if defined(__CUDACC__)
    "nvcc with "
#endif
#if !defined(__clang__)
    "GCC "
#endif
    __VERSION__;

constexpr char options_here[] =
#if __cplusplus > 202002L
    "C++23"
#elif __cplusplus > 201703L
    "C++20"
#else
    "C++17"
#endif
#if defined(__OPTIMIZE__)
    ", optimised"
#else
    ", not optimised"
#endif
#if defined(__FAST_MATH__)
    ", fast math"
#endif
#if defined(NDEBUG)
    ", without assertions"
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    ", with a sanitizer"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    ", with a sanitizer"
#endif
#endif
#if defined(__CUDACC_DEBUG__)
    ", device code for debugging"
#endif
    ;

/// Tag of a translation unit: what it was compiled by, and how.
template <char const* Compiler, char const* Options>
struct compilation {
  template <class Environment>
  static void describe(Environment& into) {
    into.compiler = Compiler;
    into.compiled_as = Options;
  }
};
using compiled_here = compilation<compiler_here, options_here>;

}  // namespace streamgauge
