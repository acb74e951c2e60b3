// What a group of calls lost, divided among parts of it of which only the number and the time are known.
#pragma once

#include <span>
#include <vector>

namespace rdam::score {

struct LossPart {
    double calls = 0;
    double time = 0;
    double lost = 0;  ///< the result
};

/// Each gets what its calls took beyond `base`, which is exact for a base that they share; none gets less
/// than 0, and what that adds is taken from the others, so that they come to `lost` (≥ 0) together. If none
/// took more than `base`, it is divided by time, or, if they took none, by their number.
void divide_loss(double lost, double base, std::span<LossPart> parts);

/// The calls of several groups that belong to no known part of them.
class LossRest {
  public:
    /// Divides what a group of `whole.calls` calls lost. Of those that are in none of the `parts`, the rest
    /// gets the loss, `said` times.
    void divide_group(const LossPart& whole, double base, double said, std::vector<LossPart>& parts);

    /// Divides what it has got among the parts of its calls, as if they all had the same base.
    void divide(std::span<LossPart> parts) const;

  private:
    LossPart recorded_;
    double said_ = 0;
};

}  // namespace rdam::score
