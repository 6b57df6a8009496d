#pragma once

#if defined(STREAMGAUGE_DISABLE)
#include <streamgauge/measure/disabled.hpp>
#else

#include <type_traits>

#include <streamgauge/sample.hpp>

namespace streamgauge {

/// Declares what one execution of a phase does: floating-point operations, and bytes that it reads from the device's memory
/// and writes to it. What is left out stays unknown; where there is none of it, say 0.
/// Why: nobody counts it. A rate rests on this word, so reports call it declared.
/// Example: `sg::phase gemm{recorder, "gemm", sg::work{}.flops(2.0 * m * n * k).reads(in_bytes).writes(out_bytes)};`
class work {
 public:
  constexpr work() noexcept = default;

  template <class Number>
  [[nodiscard]] constexpr work flops(Number count) const noexcept {
    return changed(&declared_work::flops, count);
  }
  template <class Number>
  [[nodiscard]] constexpr work reads(Number bytes) const noexcept {
    return changed(&declared_work::bytes_read, bytes);
  }
  template <class Number>
  [[nodiscard]] constexpr work writes(Number bytes) const noexcept {
    return changed(&declared_work::bytes_written, bytes);
  }

  [[nodiscard]] constexpr declared_work const& declared() const noexcept { return declared_; }
  constexpr operator declared_work() const noexcept { return declared_; }

 private:
  template <class Number>
  [[nodiscard]] constexpr work changed(std::optional<double> declared_work::*which, Number number) const noexcept {
    static_assert(std::is_arithmetic_v<Number> && !std::is_same_v<Number, bool>, "work is declared in numbers");
    work other = *this;
    other.declared_.*which = static_cast<double>(number);
    return other;
  }

  declared_work declared_;
};

}  // namespace streamgauge

#endif
