#include "analyzer/inputs/rows/counted_calls.h"

#include <algorithm>

namespace rdam::inputs {

CountedCalls::CountedCalls(const trace::TraceInfo& info) {
    for (const trace::FunctionInfo& function : info.functions) {
        counted_.push_back(function.counted && function.windowed_since != 0);
        since_.push_back(function.windowed_since);
    }
}

void CountedCalls::note(std::uint32_t thread, std::uint32_t row, const trace::Event& enter) {
    Recorded& calls = recorded_[key(thread, enter.function)][row];
    ++calls.all;
    if (enter.tsc >= since_[enter.function]) ++calls.sampled;
}

void CountedCalls::divide(const trace::TraceInfo& info, std::vector<trace::ThreadInfo>& rows) const {
    for (std::uint32_t thread = 0; thread < info.threads.size(); ++thread) {
        const std::vector<trace::CallCount>& counts = info.threads[thread].calls;
        rows[thread].calls.clear();
        for (const trace::CallCount& count : counts) {
            const auto found = recorded_.find(key(thread, count.function));
            if (found == recorded_.end()) {
                rows[thread].calls.push_back(count);
                continue;
            }
            std::uint64_t all = 0, sampled = 0;
            for (const auto& [row, calls] : found->second) {
                all += calls.all;
                sampled += calls.sampled;
            }
            const std::uint64_t rest = count.calls > all ? count.calls - all : 0;
            // Shares add up to the whole: each is the difference of two rounded sums.
            std::uint64_t before = 0, given = 0;
            for (const auto& [row, calls] : found->second) {
                before += sampled > 0 ? calls.sampled : calls.all;
                const auto up_to = static_cast<std::uint64_t>(
                    static_cast<long double>(rest) * static_cast<long double>(before) /
                    static_cast<long double>(sampled > 0 ? sampled : all));
                rows[row].calls.push_back({count.function, calls.all + up_to - given});
                given = up_to;
            }
        }
    }
    // A row that several threads have run has a number of each.
    for (trace::ThreadInfo& row : rows) {
        std::ranges::sort(row.calls, {}, &trace::CallCount::function);
        std::size_t kept = 0;
        for (std::size_t i = 0; i < row.calls.size(); ++i) {
            if (kept > 0 && row.calls[kept - 1].function == row.calls[i].function)
                row.calls[kept - 1].calls += row.calls[i].calls;
            else
                row.calls[kept++] = row.calls[i];
        }
        row.calls.resize(kept);
    }
}

}  // namespace rdam::inputs
