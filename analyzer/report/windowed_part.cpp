#include "analyzer/report/windowed_part.h"

#include <algorithm>

#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

const GroupTimes* own_times(const ThreadGroup& part, const WindowEstimate* estimate) {
    if (estimate == nullptr) return part.times;
    return part.times->windowed() != nullptr ? &part.times->windowed()->before : nullptr;
}

void add_least(const GroupTimes& times, PartCalls::Which which, SureLeast& least) {
    least.add(times.outermost().least());
    if (which == PartCalls::Which::all && times.inner() != nullptr) least.add(times.inner()->least());
    const auto add_held = [&](const GroupTimes::HeldTimes& held) {
        least.add_unsure(held.seeming.least(), held.bound);
    };
    if (times.held() == nullptr) return;
    add_held(times.held()->outermost);
    if (which == PartCalls::Which::all) add_held(times.held()->inner);
}

/// Of both parts.
std::uint64_t floor_of(const ThreadGroup& part, const WindowEstimate* estimate, PartCalls::Which which,
                       std::uint64_t step) {
    SureLeast least;
    add_least(*part.times, which, least);
    if (const GroupTimes* const own = own_times(part, estimate); own != nullptr && own != part.times)
        add_least(*own, which, least);
    return least.floor(step);
}

}  // namespace

PartCalls::Calls::Calls(const GroupTimes* times, Which which, std::uint64_t floor) {
    static const Distribution kNone;
    calls_ = times != nullptr ? &times->outermost() : &kNone;
    if (times == nullptr) return;
    const Distribution* const inner = which == Which::all ? times->inner() : nullptr;
    const GroupTimes::Held* const held = times->held();
    if (inner == nullptr && held == nullptr) return;
    merged_ = times->outermost();
    if (inner != nullptr) merged_.merge(*inner);
    if (held == nullptr) return;
    GroupTimes::HeldTimes unsure = held->outermost;
    if (which == Which::all) unsure.merge(held->inner);
    merged_.merge_unsure(unsure.seeming, unsure.bound, floor);
}

PartCalls::PartCalls(const ThreadGroup& part, const WindowEstimate* estimate, Which which, std::uint64_t step)
    : part_(part),
      estimate_(estimate),
      which_(which),
      expansion_(estimate != nullptr ? estimate->expansion() : 1),
      own_(own_times(part, estimate), which, floor_of(part, estimate, which, step)),
      sample_(estimate != nullptr ? part.times : nullptr, which, floor_of(part, estimate, which, step)) {}

std::uint64_t PartCalls::recorded() const {
    const GroupSampling* sampling = part_.sampling;
    const std::uint64_t unrecorded = sampling == nullptr          ? 0
                                     : which_ == Which::outermost ? sampling->outermost.unrecorded
                                                                  : sampling->all.unrecorded;
    return own().count() - std::min(unrecorded, own().count()) + sample().count();
}

double PartCalls::calls() const {
    return as_double(own().count()) + expansion_ * as_double(sample().count());
}

double PartCalls::time() const {
    return as_double(own().sum()) + expansion_ * as_double(sample().sum());
}

Base PartCalls::base(const Baseline& baseline, const Least& process) const {
    Least thread = own().least();
    thread.merge(sample().least());
    return base_of(baseline, sample().count() > 0 ? sample() : own(), thread, process);
}

double PartCalls::lost(const Base& base) const {
    return score::lost(own(), base) + expansion_ * score::lost(sample(), base);
}

Loss PartCalls::loss(const Base& base) const {
    Loss loss;
    loss.add(sample(), base);
    loss.multiply(expansion_);
    loss.add(own(), base);
    return loss;
}

double PartCalls::tree_variance(const Base& base) const {
    if (part_.sampling == nullptr) return 0;
    const Spread& spread = which_ == Which::outermost ? part_.sampling->outermost : part_.sampling->all;
    return spread.variance(base.ticks);
}

double PartCalls::window_variance(const Base& base) const {
    if (estimate_ == nullptr) return 0;
    std::vector<double> lost(estimate_->clusters());
    add_clusters(base, lost);
    return estimate_->variance(lost);
}

void PartCalls::add_clusters(const Base& base, std::vector<double>& lost) const {
    if (part_.times->windowed() == nullptr) return;
    for (const ClusterSum& sum : part_.times->windowed()->clusters.sums())
        if (sum.cluster < lost.size()) lost[sum.cluster] += sum.time - base.ticks * sum.calls;
}

Least process_least(std::span<const ThreadGroup> parts, PartCalls::Which which) {
    SureLeast least;
    for (const ThreadGroup& part : parts) {
        add_least(*part.times, which, least);
        if (part.times->windowed() != nullptr) add_least(part.times->windowed()->before, which, least);
    }
    return least.least();
}

}  // namespace rdam::score
