#include "analyzer/export/firefox_samples.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rdam::formats::firefox {

void WholeWeights::make_whole(std::vector<Sample>& samples, std::size_t stacks) {
    owed_.resize(stacks);
    constexpr double kMost = 9e15;  // a number in JSON is exact up to there
    for (Sample& sample : samples) {
        double& owed = owed_[sample.stack];
        owed = std::clamp(owed + (std::isfinite(sample.weight) ? sample.weight : 0.0), -kMost, kMost);
        sample.weight = std::max(std::floor(owed), 0.0);
        owed -= sample.weight;
    }
    for (auto sample = samples.rbegin(); sample != samples.rend(); ++sample) {
        double& owed = owed_[sample->stack];
        const double back = std::min(sample->weight, std::max(std::ceil(-owed), 0.0));
        sample->weight -= back;
        owed += back;
    }
    lower(samples);
}

void WholeWeights::lower(std::vector<Sample>& samples) {
    double sum = 0;
    for (const Sample& sample : samples) {
        double& owed = owed_[sample.stack];
        if (owed < 0) debt_ -= std::exchange(owed, 0.0);
        sum += sample.weight;
    }
    if (debt_ < 1 || sum < 1) return;
    const double share = std::min(debt_ / sum, 1.0);
    double cut = 0;
    for (Sample& sample : samples) {
        cut += sample.weight * share;
        const double whole = std::min(std::floor(cut), sample.weight);
        cut -= whole;
        debt_ -= whole;
        sample.weight -= whole;
    }
}

}  // namespace rdam::formats::firefox
