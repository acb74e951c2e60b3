#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analyzer/report/function_row.h"
#include "analyzer/report/windowed_part.h"
#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

struct CallerSums {
    double calls = 0;
    double lost = 0;  ///< ticks
};
using CallerMap = std::map<std::uint64_t, CallerSums>;  // by address

/// What a map has for the numbers of one thread.
class ThreadCallers {
  public:
    /// Both must outlive it.
    ThreadCallers(const CallerNumbers& numbers, CallerMap& map) : numbers_(numbers), map_(map) {}

    CallerSums& operator[](std::uint32_t number) {
        if (number >= known_.size()) known_.resize(number + std::size_t{1});
        if (known_[number] == nullptr) known_[number] = &map_[numbers_.address(number)];
        return *known_[number];
    }

  private:
    const CallerNumbers& numbers_;
    CallerMap& map_;
    std::vector<CallerSums*> known_;  // by number
};

/// For one group in one thread. With the plain minimum as baseline, each caller's part is exact. With other
/// baselines it is not known which of its calls were below: the callers share the group's loss in proportion
/// to the amounts by which their sums exceed the baseline. Each call's loss counts `weight` times.
void add_lost(const GroupTimes& times, const Distribution& outermost, const Base& base, double weight,
              ThreadCallers& callers) {
    if (outermost.count() == 0) return;
    const double lost = weight * score::lost(outermost, base);
    const auto lost_of = [&](const CallerEntry& entry) -> double& { return callers[entry.caller].lost; };
    if (!times.has_callers())
        return times.for_each_caller([&](const CallerEntry& entry) { lost_of(entry) += lost; });
    const auto above = [&](const CallerEntry& entry) {
        return Distribution::lost_from(entry.sum, entry.outermost, base.ticks);
    };
    double all = 0;
    times.for_each_caller([&](const CallerEntry& entry) { all += above(entry); });
    // The calls with pauses alone may be what has been lost: they are in the sums as they were measured.
    if (!(all > 0)) {
        times.for_each_caller([&](const CallerEntry& entry) {
            lost_of(entry) += lost * as_double(entry.outermost) / as_double(outermost.count());
        });
        return;
    }
    times.for_each_caller([&](const CallerEntry& entry) { lost_of(entry) += lost * (above(entry) / all); });
}

void add_calls(const GroupTimes& times, double expansion, ThreadCallers& callers) {
    times.for_each_caller([&](const CallerEntry& entry) {
        callers[entry.caller].calls += expansion * static_cast<double>(entry.calls);
    });
}

void add_part(const RowContext& context, std::uint32_t function, const ThreadGroup& part,
              const Least& process, double said, ThreadCallers& callers) {
    const WindowEstimate* estimate = context.estimate(function, part.thread);
    const PartCalls calls{part, estimate, PartCalls::Which::outermost, context.settings.baseline.step};
    const Base base = calls.empty() ? Base{} : calls.base(context.settings.baseline, process);
    const double expansion = estimate != nullptr ? estimate->expansion() : 1;
    add_calls(*part.times, expansion, callers);
    add_lost(*part.times, estimate != nullptr ? calls.sample() : calls.own(), base, said * expansion,
             callers);
    const WindowedTimes* const windowed = part.times->windowed();
    if (windowed == nullptr) return;
    add_calls(windowed->before, 1, callers);
    add_lost(windowed->before, calls.own(), base, said, callers);
}

/// Of a function that is sampled in windows, it is known of more of its loss than the windows saw, or of
/// less, and not with which caller: they have it in proportion to what the windows saw.
void share_out(double lost, const FunctionRow& row, CallerMap& callers) {
    if (!row.windowed) return;
    double all = 0;
    for (const auto& [address, sums] : callers)
        all += sums.lost;
    if (!(all > 0)) return;
    for (auto& [address, sums] : callers)
        sums.lost *= lost / all;
}

std::vector<CallerRow> count_callers(const RowContext& context, std::span<const ThreadLoss> losses,
                                     const FunctionRow& row) {
    CallerMap callers;
    std::vector<ThreadCallers> of_thread;
    of_thread.reserve(context.threads.size());
    for (const auto& thread : context.threads)
        of_thread.emplace_back(thread->callers, callers);
    context.merged.for_each_with_callers(row.function, [&](sequences::GroupId /*group*/,
                                                           std::span<const ThreadGroup> parts) {
        const Least process = process_least(parts).outermost;
        for (const ThreadGroup& part : parts)
            add_part(context, row.function, part, process, losses[part.thread].said, of_thread[part.thread]);
    });
    for (const auto& thread : context.threads) {
        thread->untimed_callers[row.function].for_each([&](const CallerEntry& entry) {
            callers[thread->callers.address(entry.caller)].calls += static_cast<double>(entry.calls);
        });
    }
    share_out(row.lost_ns / context.ns_per_tick, row, callers);
    callers.erase(0);
    std::vector<CallerRow> rows;
    rows.reserve(callers.size());
    for (const auto& [address, sums] : callers) {
        const double lost = sums.lost * context.ns_per_tick;
        rows.push_back({.address = address,
                        .calls = rounded(sums.calls),
                        .lost_ns = lost,
                        .share = row.lost_ns > 0 ? std::clamp(lost / row.lost_ns, 0.0, 1.0) : 0});
    }
    std::ranges::stable_sort(rows, [](const CallerRow& a, const CallerRow& b) {
        return std::tie(b.lost_ns, b.calls) < std::tie(a.lost_ns, a.calls);
    });
    return rows;
}

/// Samples of one call stack: the same frames may stand in the trace more than once.
struct Samples {
    std::uint64_t count = 0;
    bool truncated = false;
};

/// By caller and frames.
using SampleMap = std::map<std::pair<std::uint64_t, std::vector<std::uint64_t>>, Samples>;

SampleMap collect_samples(const RowContext& context, std::uint32_t function) {
    SampleMap samples;
    for (const std::uint32_t i : context.stacks_of[function]) {
        const trace::StackInfo& stack = context.info.stacks[i];
        Samples& entry = samples[{stack.caller, stack.frames}];
        entry.count += context.stack_samples[i];
        entry.truncated = stack.truncated;
    }
    return samples;
}

}  // namespace

void count_stacks(RowContext& context) {
    context.stack_samples.assign(context.info.stacks.size(), 0);
    for (const auto& thread : context.threads) {
        for (const auto& [stack, samples] : thread->stack_samples)
            context.stack_samples[stack] += samples;
    }
    context.stacks_of.resize(context.info.functions.size());
    for (std::uint32_t i = 0; i < context.stack_samples.size(); ++i) {
        if (context.stack_samples[i] > 0) context.stacks_of[context.info.stacks[i].function].push_back(i);
    }
}

void add_stack_rows(const RowContext& context, std::span<const ThreadLoss> losses, FunctionRow& row) {
    row.callers = count_callers(context, losses, row);
    const SampleMap samples = collect_samples(context, row.function);

    std::map<std::uint64_t, double> calls_of, samples_of;  // by caller
    for (const CallerRow& caller : row.callers)
        calls_of[caller.address] = static_cast<double>(caller.calls);
    for (const auto& [stack, entry] : samples)
        samples_of[stack.first] += static_cast<double>(entry.count);
    for (const auto& [stack, entry] : samples) {
        const double fraction = static_cast<double>(entry.count) / samples_of[stack.first];
        row.stacks.push_back({.samples = entry.count,
                              .calls = calls_of[stack.first] * fraction,
                              .caller = stack.first,
                              .frames = stack.second,
                              .truncated = entry.truncated});
    }
    std::ranges::stable_sort(row.stacks, [](const StackRow& a, const StackRow& b) {
        return std::tie(b.calls, b.samples) < std::tie(a.calls, a.samples);
    });
}

}  // namespace rdam::score
