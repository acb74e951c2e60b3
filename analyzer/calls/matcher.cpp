#include "analyzer/calls/matcher.h"

#include <algorithm>

#include "analyzer/calls/matcher_impl.h"

namespace rdam::calls {

template class BasicMatcher<CallSink>;

namespace {

std::uint64_t latest_possible(const trace::TraceInfo& info) {
    std::uint64_t latest = 0;
    for (const trace::ThreadInfo& thread : info.threads) {
        if (thread.end == 0) return UINT64_MAX;
        latest = std::max(latest, thread.end);
    }
    const double second = info.clock.ticks_per_second;
    if (latest == 0 || !(second >= 1 && second < 1e12)) return UINT64_MAX;
    const auto slack = static_cast<std::uint64_t>(second);
    return latest > UINT64_MAX - slack ? UINT64_MAX : latest + slack;
}

}  // namespace

KnownEnds KnownEnds::of(const trace::TraceInfo& info) {
    return {.latest = latest_possible(info), .unwound_unseen = info.process.unwound_unseen};
}

bool ends_are_mixed_up(const trace::TraceInfo& info, std::uint32_t function) {
    if (info.process.copied_stacks.empty()) return false;
    const trace::FunctionInfo& about = info.functions[function];
    const bool libc = about.module.starts_with("libc.so") || about.module.starts_with("libc-2") ||
                      about.module.starts_with("libpthread");
    return !(libc && about.waits);
}

std::vector<bool> with_known_ends(const trace::TraceInfo& info) {
    std::vector<bool> known;
    if (info.process.copied_stacks.empty()) return known;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        known.push_back(!ends_are_mixed_up(info, function));
    return known;
}

}  // namespace rdam::calls
