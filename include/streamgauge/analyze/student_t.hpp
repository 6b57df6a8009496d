#pragma once

#include <cmath>
#include <optional>

#include <streamgauge/analyze/statistics.hpp>

namespace streamgauge {

/// Gamma(x + 1/2) / Gamma(x) for x of at least 1/2.
/// Why: <cmath>'s lgamma writes a global of the process, and its differences lose digits.
template <class = void>
[[nodiscard]] double half_step_of_gamma(double x) noexcept {
  double shifted = 1.0;  // upwards, to where five terms are enough
  for (; x < 16.0; x += 1.0) shifted *= x / (x + 0.5);
  double const part = 1.0 / (8.0 * x);
  return shifted * std::sqrt(x) *
         (1.0 - part * (1.0 - part * (0.5 + part * (2.5 - part * (2.625 + part * 49.875)))));
}

/// The t below which Student's distribution with `freedom` degrees of freedom, whole or not, lies with probability `p`.
/// Absent for fewer than one degree of freedom, and for `p` that is not between 0 and 1.
template <class = void>
[[nodiscard]] std::optional<double> student_t_quantile(double p, double freedom) noexcept {
  if (!finite(p) || !finite(freedom) || !(p > 0.0) || !(p < 1.0) || freedom < 1.0) return std::nullopt;
  if (p < 0.5) {
    auto const mirrored = student_t_quantile(1.0 - p, freedom);
    return mirrored ? std::optional{-*mirrored} : std::nullopt;
  }
  constexpr double pi = 3.14159265358979323846;
  double const height = half_step_of_gamma(freedom / 2.0) / std::sqrt(pi);
  double const scale = std::sqrt(freedom);
  // In the angle whose tangent is t / scale the density is a power of the cosine: smooth, and never far to go.
  auto const between_0_and = [&](double t) {
    constexpr int panels = 256;
    double const width = std::atan(t / scale) / panels;
    double sum = 1.0 + std::pow(std::cos(width * panels), freedom - 1.0);
    for (int i = 1; i < panels; ++i) sum += (i % 2 == 0 ? 2.0 : 4.0) * std::pow(std::cos(width * i), freedom - 1.0);
    return height * sum * width / 3.0;
  };
  // Newton from 0: the curve bends down, so every step stays below the answer.
  double t = 0.0;
  for (int step = 0; step < 200; ++step) {
    double const density = height / scale * std::pow(1.0 + t * t / freedom, -(freedom + 1.0) / 2.0);
    double const more = (p - 0.5 - between_0_and(t)) / density;
    t += more;
    if (!finite(t)) return std::nullopt;
    if (!(more > 1e-12 * t)) return t;
  }
  return t;
}

}  // namespace streamgauge
