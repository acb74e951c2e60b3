// Whether estimates are right on average, and as far off as they say.
#pragma once

#include <cmath>

#include "tests/unit/catch.h"

namespace rdam::test {

/// Estimates of one number, in standard errors off the truth.
class Deviations {
  public:
    void add(double estimate, double truth, double error) {
        REQUIRE(error > 0);
        const double off = (estimate - truth) / error;
        CHECK(std::abs(off) < 6);
        within_ += std::abs(off) <= 2 ? 1 : 0;
        sum_ += estimate - truth;
        squares_ += (estimate - truth) * (estimate - truth);
        ++count_;
    }
    /// Two standard errors are 95 % of a normal distribution. `slack`: of the mean deviation, in standard
    /// deviations.
    void check(double slack = 0) const {
        CHECK(within_ >= 0.90 * count_);
        CHECK(within_ <= 0.99 * count_);
        const double deviation = std::sqrt(squares_ / count_);
        CHECK(std::abs(sum_ / count_) <= deviation * (4 / std::sqrt(count_) + slack));
    }

  private:
    double count_ = 0, within_ = 0, sum_ = 0, squares_ = 0;
};

}  // namespace rdam::test
