#include "analyzer/report/group_loss.h"

#include <algorithm>

#include "analyzer/report/windowed_part.h"
#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

RecordedLoss recorded_loss(const Distribution& calls, const Base& base) {
    return {.calls = as_double(calls.count()),
            .time = as_double(calls.sum()),
            .base = base.ticks,
            .lost = lost(calls, base)};
}

RecordedLoss recorded_loss(const SelfTimes& self, const Baseline& baseline, const Least& thread,
                           const Least& process) {
    const Loss::Group loss = self.loss(baseline, thread, process);
    return {
        .calls = as_double(self.count), .time = as_double(self.sum), .base = loss.base, .lost = loss.lost};
}

GroupLoss loss_of(const RowContext& context, std::uint32_t function, const ProcessLeast& process,
                  const ThreadGroup& part) {
    const Baseline& baseline = context.settings.baseline;
    const WindowEstimate* const estimate = context.estimate(function, part.thread);
    const PartCalls calls{part, estimate, PartCalls::Which::outermost, baseline.step};
    const Base base = calls.empty() ? Base{} : calls.base(baseline, process.outermost);
    GroupLoss loss{
        .thread = part.thread,
        .group = static_cast<mining::GroupId>(part.times - context.threads[part.thread]->groups.data()),
        .usual = {.outermost = recorded_loss(calls.own(), base), .self = {}},
        .in_windows = {.outermost = recorded_loss(calls.sample(), base), .self = {}}};
    const WindowedTimes* const windowed = part.times->windowed();
    const Least thread = self_least(*part.times).least();
    const RecordedLoss self = recorded_loss(part.times->self(baseline.step), baseline, thread, process.self);
    if (estimate == nullptr) {
        loss.usual.self = self;
        return loss;
    }
    loss.in_windows.self = self;
    loss.in_windows.stands_for = estimate->expansion();
    if (windowed != nullptr)
        loss.usual.self = recorded_loss(windowed->before.self(baseline.step), baseline, thread, process.self);
    return loss;
}

/// By thread: the part of `losses` that the row reports.
std::vector<double> reported(const RowContext& context, const FunctionRow& row,
                             const std::vector<GroupLoss>& losses) {
    constexpr double kRounding = 1e-9;
    std::vector<double> lost(context.threads.size()), said(context.threads.size(), 1);
    for (const GroupLoss& loss : losses)
        lost[loss.thread] +=
            loss.usual.outermost.lost + loss.in_windows.stands_for * loss.in_windows.outermost.lost;
    for (const ThreadShare& share : row.threads) {
        const double ticks = share.lost_ns / context.ns_per_tick;
        if (share.few_windows)
            said[share.thread] = 0;
        else if (ticks < lost[share.thread] * (1 - kRounding))
            said[share.thread] = ticks / lost[share.thread];
    }
    return said;
}

}  // namespace

std::vector<GroupLoss> group_losses(const RowContext& context, const FunctionRow& row) {
    std::vector<GroupLoss> losses;
    context.merged.for_each_group(row.function, [&](mining::GroupId group) {
        const ProcessLeast process = process_least(context.merged.threads[group]);
        for (const ThreadGroup& part : context.merged.threads[group])
            losses.push_back(loss_of(context, row.function, process, part));
    });
    const std::vector<double> said = reported(context, row, losses);
    for (GroupLoss& loss : losses) {
        loss.usual.said = said[loss.thread];
        loss.in_windows.said = said[loss.thread] * loss.in_windows.stands_for;
    }
    return losses;
}

}  // namespace rdam::score
