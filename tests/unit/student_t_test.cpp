// Would go unseen without these: an interval that is too narrow, most of all for few degrees of freedom and for those that
// are not whole.
#include <streamgauge/analyze/student_t.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace sg = streamgauge;

TEST_CASE("the quantiles of Student's t") {
  struct {
    double p, freedom, t;
  } const known[] = {
      {0.975, 1, 12.706204736174698}, {0.975, 2, 4.302652729911275},  {0.975, 3, 3.182446305284263},
      {0.975, 4, 2.7764451051977987}, {0.975, 8, 2.3060041350333704}, {0.975, 30, 2.0422724563012373},
      {0.975, 120, 1.9799304050824413}, {0.975, 1000, 1.9623390808264078}, {0.995, 1, 63.65674116287399},
      {0.9, 5, 1.4758840488244815},   {0.975, 2.5, 3.574654842003683},     {0.975, 7.3, 2.345066736547704},
      {0.5, 3, 0.0},                  {0.025, 4, -2.7764451051977987},
  };
  for (auto const& each : known) {
    INFO(each.freedom);
    auto const found = sg::student_t_quantile(each.p, each.freedom);
    REQUIRE(found);
    CHECK(std::fabs(*found - each.t) <= 1e-8 * (1.0 + std::fabs(each.t)));
  }
  double const nothing = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(sg::student_t_quantile(0.975, 0.5));
  CHECK_FALSE(sg::student_t_quantile(0.0, 3.0));
  CHECK_FALSE(sg::student_t_quantile(1.0, 3.0));
  CHECK_FALSE(sg::student_t_quantile(nothing, 3.0));
  CHECK_FALSE(sg::student_t_quantile(0.975, nothing));
}
