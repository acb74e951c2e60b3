#include "analyzer/statistics/division.h"

#include <algorithm>

namespace rdam::score {

void divide_loss(double lost, double base, std::span<LossPart> parts) {
    double raw = 0, time = 0, calls = 0;
    for (LossPart& part : parts) {
        part.lost = std::max(part.time - part.calls * base, 0.0);
        raw += part.lost;
        time += part.time;
        calls += part.calls;
    }
    for (LossPart& part : parts) {
        if (raw > 0)
            part.lost *= lost / raw;
        else if (time > 0)
            part.lost = lost * (part.time / time);
        else
            part.lost = calls > 0 ? lost * (part.calls / calls) : 0;
    }
}

void LossRest::divide_group(const LossPart& whole, double base, double said, std::vector<LossPart>& parts) {
    LossPart rest = whole;
    for (const LossPart& part : parts) {
        rest.calls -= part.calls;
        rest.time -= part.time;
    }
    rest.calls = std::max(rest.calls, 0.0);
    rest.time = rest.calls > 0 ? std::max(rest.time, 0.0) : 0;
    parts.push_back(rest);
    divide_loss(whole.lost, base, parts);
    recorded_.calls += rest.calls;
    recorded_.time += rest.time;
    recorded_.lost += parts.back().lost;
    said_ += said * parts.back().lost;
    parts.pop_back();
}

void LossRest::divide(std::span<LossPart> parts) const {
    const double base = recorded_.calls > 0 ? (recorded_.time - recorded_.lost) / recorded_.calls : 0;
    divide_loss(said_, std::max(base, 0.0), parts);
}

}  // namespace rdam::score
