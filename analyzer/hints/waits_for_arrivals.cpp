// Who comes last to a barrier.
#include <algorithm>
#include <set>
#include <span>

#include "analyzer/hints/waits_for.h"
#include "analyzer/report/function_row.h"

namespace rdam::hints {
namespace {

/// The call of another thread that comes last: that begins last of all before any of those that come after
/// `call` ends. It hardly waits itself, or it is not the one. Null: it is not known. `calls`: of one barrier, in
/// the order of their begins.
const Wait* last_to_come(const Wait& call, std::span<const Wait> calls) {
    constexpr double kHardly = 0.2;
    constexpr std::ptrdiff_t kLookedAt = 256;
    const auto first = std::ranges::upper_bound(calls, call.time.begin, {},
                                                [](const Wait& other) { return other.time.begin; });
    std::uint64_t end = call.time.end;
    const Wait* last = nullptr;
    for (auto each = first; each != calls.end() && each->time.begin < end; ++each) {
        if (each - first == kLookedAt) return nullptr;
        end = std::min(end, each->time.end);
        if (each->thread != call.thread) last = &*each;
    }
    return last != nullptr && last->time.ticks() <= kHardly * call.time.ticks() ? last : nullptr;
}

/// By function and key, each in the order of the calls' begins.
std::map<Object, std::vector<Wait>> barriers_in(const trace::TraceInfo& info, const score::Report& report) {
    std::set<std::uint32_t> functions;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (score::is_barrier(info.functions[function])) functions.insert(function);
    std::map<Object, std::vector<Wait>> barriers;
    for (std::size_t t = 0; t < report.timeline.size(); ++t)
        for (const score::TimedCall& call : report.calls_about_waits(t))
            if (functions.contains(call.function) && call.begin < call.end) {
                const Object object{call.function, call.key};
                barriers[object].push_back({{call.begin, call.end}, object, call.function, t, "barrier"});
            }
    for (auto& [barrier, calls] : barriers)
        std::ranges::sort(calls, {}, [](const Wait& call) { return call.time.begin; });
    return barriers;
}

}  // namespace

void add_arrivals(const trace::TraceInfo& info, const score::Report& report, const AddPart& add) {
    for (const auto& [barrier, calls] : barriers_in(info, report)) {
        for (const Wait& call : calls) {
            const Wait* const last = last_to_come(call, calls);
            const std::uint64_t come = last != nullptr ? last->time.begin : call.time.begin;
            add(call, {call.time.begin, come}, last != nullptr ? last->thread : 0);
            add(call, {come, call.time.end}, last != nullptr ? Held::kWoken : Held::kNotKnown);
        }
    }
}

}  // namespace rdam::hints
