#include "analyzer/inputs/chrome/order.h"

#include <algorithm>
#include <cstddef>

namespace rdam::inputs::chrome {
namespace {

/// The values of a "B" and those of its "E", which count where both have a name.
std::uint32_t joined(std::uint32_t begin, std::uint32_t end, std::vector<Value>& values) {
    if (begin == kNoValues) return end;
    if (end == kNoValues || values.size() >= kNoValues / 2) return begin;
    const auto first = static_cast<std::uint32_t>(values.size());
    for (const std::uint32_t list : {begin, end})
        for (std::uint32_t at = list;; ++at) {
            const Value value = values[at];
            values.push_back(value);
            values.back().last = false;
            if (value.last) break;
        }
    values.back().last = true;
    return first;
}

/// Of the calls that are open, the one which the mark ends; `open.size()`: none.
std::size_t ended_by(const Mark& mark, const std::vector<Mark>& open) {
    // A file that means no good may have many that end nothing.
    constexpr std::size_t kMostSearched = 1000;
    if (mark.name == Mark::kNoName) return open.empty() ? 0 : open.size() - 1;
    for (std::size_t back = 1; back <= std::min(open.size(), kMostSearched); ++back)
        if (open[open.size() - back].name == mark.name) return open.size() - back;
    return open.size();
}

std::int64_t last_time(const Thread& thread) {
    std::int64_t last = thread.marks.empty() ? INT64_MIN : thread.marks.back().at;
    for (const Call& call : thread.calls)
        last = std::max(last, call.end);
    return last;
}

}  // namespace

MarkCounts match_marks(Thread& thread, std::vector<Value>& values) {
    MarkCounts counts;
    std::ranges::stable_sort(thread.marks, {}, &Mark::at);
    std::vector<Mark> open;
    const auto add = [&](const Mark& begin, std::int64_t end, bool ends, std::uint32_t its_values) {
        thread.calls.push_back({.begin = begin.at,
                                .end = end,
                                .function = begin.function,
                                .values = its_values,
                                .order = begin.order,
                                .ends = ends});
    };
    for (const Mark& mark : thread.marks) {
        if (mark.begins) {
            open.push_back(mark);
            continue;
        }
        const std::size_t which = ended_by(mark, open);
        if (which == open.size()) {
            ++counts.unmatched;
            continue;
        }
        counts.open += open.size() - which - 1;
        for (std::size_t inner = open.size() - 1; inner > which; --inner)
            add(open[inner], mark.at, false, open[inner].values);
        add(open[which], mark.at, true, joined(open[which].values, mark.values, values));
        open.resize(which);
    }
    counts.open += open.size();
    const std::int64_t last = last_time(thread);
    for (const Mark& mark : open)
        add(mark, last, false, mark.values);
    thread.marks = {};
    for (Call& call : thread.calls)
        if (!call.ends && call.end == call.begin) call.end = last;
    return counts;
}

void sort_calls(Thread& thread) {
    std::ranges::sort(thread.calls, [](const Call& a, const Call& b) {
        if (a.begin != b.begin) return a.begin < b.begin;
        if (a.end != b.end) return a.end > b.end;
        return a.order < b.order;
    });
}

}  // namespace rdam::inputs::chrome
