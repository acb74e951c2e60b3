#include <algorithm>
#include <map>

#include "analyzer/score/function_row.h"

namespace rdam::score {
namespace {

std::vector<CallerRow> count_callers(const RowContext& context, std::uint32_t function) {
    std::map<std::uint64_t, std::uint64_t> calls;
    for (const auto& thread : context.threads) {
        for (const CallerCounts::Entry& entry : thread->callers()[function].entries())
            calls[entry.caller] += entry.calls;
    }
    std::vector<CallerRow> rows;
    rows.reserve(calls.size());
    for (const auto& [address, count] : calls)
        rows.push_back({.address = address, .calls = count});
    std::ranges::stable_sort(rows, std::ranges::greater{}, &CallerRow::calls);
    return rows;
}

/// Samples of one call stack: the same frames may stand in the trace more than once.
struct Samples {
    std::uint64_t count = 0;
    std::uint64_t caller = 0;
    bool truncated = false;
};

std::map<std::vector<std::uint64_t>, Samples> collect_samples(const RowContext& context,
                                                              std::uint32_t function) {
    std::map<std::vector<std::uint64_t>, Samples> samples;
    for (const std::uint32_t i : context.stacks_of[function]) {
        const trace::StackInfo& stack = context.info.stacks[i];
        Samples& entry = samples[stack.frames];
        entry.count += context.stack_samples[i];
        entry.caller = stack.caller;
        entry.truncated = stack.truncated;
    }
    return samples;
}

}  // namespace

void count_stacks(RowContext& context) {
    context.stack_samples.assign(context.info.stacks.size(), 0);
    for (const auto& thread : context.threads) {
        for (const auto& [stack, samples] : thread->stack_samples())
            context.stack_samples[stack] += samples;
    }
    context.stacks_of.resize(context.info.functions.size());
    for (std::uint32_t i = 0; i < context.stack_samples.size(); ++i) {
        if (context.stack_samples[i] > 0) context.stacks_of[context.info.stacks[i].function].push_back(i);
    }
}

void add_stack_rows(const RowContext& context, FunctionRow& row) {
    row.callers = count_callers(context, row.function);
    const auto samples = collect_samples(context, row.function);

    std::map<std::uint64_t, double> calls_of, samples_of;  // by caller
    for (const CallerRow& caller : row.callers)
        calls_of[caller.address] = static_cast<double>(caller.calls);
    for (const auto& [frames, entry] : samples)
        samples_of[entry.caller] += static_cast<double>(entry.count);
    for (const auto& [frames, entry] : samples) {
        const double fraction = static_cast<double>(entry.count) / samples_of[entry.caller];
        row.stacks.push_back({.samples = entry.count,
                              .calls = calls_of[entry.caller] * fraction,
                              .frames = frames,
                              .truncated = entry.truncated});
    }
    std::ranges::stable_sort(row.stacks, [](const StackRow& a, const StackRow& b) {
        return std::tie(b.calls, b.samples) < std::tie(a.calls, a.samples);
    });
}

}  // namespace rdam::score
