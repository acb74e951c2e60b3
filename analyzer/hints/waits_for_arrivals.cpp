// Who comes last to a barrier.
#include <algorithm>
#include <set>
#include <span>
#include <utility>

#include "analyzer/hints/waits_for.h"
#include "analyzer/report/function_row.h"

namespace rdam::hints {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

/// The calls of one barrier, in the order of their begins.
class Rounds {
  public:
    explicit Rounds(std::span<const Wait> calls) : calls_(calls), before_(calls.size(), kNone) {
        std::map<std::size_t, std::size_t> last;  // by thread
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const auto [found, is_first] = last.try_emplace(calls[i].thread, i);
            if (!is_first) before_[i] = std::exchange(found->second, i);
        }
        released_.reserve(calls.size());
    }

    /// The call of another thread that comes last to the round of the `number`th: that begins last of all before any of
    /// those that come after it ends. It hardly waits itself, or it is not the one. Null: it is not known. To be asked
    /// for all calls, in their order.
    const Wait* last_to_come(std::size_t number) {
        const Wait& call = calls_[number];
        const Wait* const last = find(call, before_[number] == kNone ? 0 : released_[before_[number]]);
        released_.push_back(last != nullptr ? last->time.begin : call.time.end);
        return last;
    }

  private:
    /// `since`: all calls that begin then are of the round of `call`, or a later one.
    const Wait* find(const Wait& call, std::uint64_t since) const {
        constexpr double kHardly = 0.2;
        constexpr std::ptrdiff_t kLookedAt = 256;
        const auto first = std::ranges::upper_bound(calls_, call.time.begin, {},
                                                    [](const Wait& other) { return other.time.begin; });
        std::uint64_t end = call.time.end;
        const Wait* last = nullptr;
        for (auto each = first; each != calls_.end() && each->time.begin < end; ++each) {
            // Who has been in this round is in the next one: some are woken sooner than others.
            const std::size_t before = before_[static_cast<std::size_t>(each - calls_.begin())];
            if (before != kNone && calls_[before].time.begin > since) break;
            if (each - first == kLookedAt) return nullptr;
            end = std::min(end, each->time.end);
            if (each->thread != call.thread) last = &*each;
        }
        return last != nullptr && last->time.ticks() <= kHardly * call.time.ticks() ? last : nullptr;
    }

    std::span<const Wait> calls_;
    std::vector<std::size_t> before_;      ///< by call: its thread's call before
    std::vector<std::uint64_t> released_;  ///< … when its round had come, at the latest
};

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
        Rounds rounds{calls};
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const Wait& call = calls[i];
            const Wait* const last = rounds.last_to_come(i);
            const std::uint64_t come = last != nullptr ? last->time.begin : call.time.begin;
            add(call, {call.time.begin, come}, last != nullptr ? last->thread : 0);
            add(call, {come, call.time.end}, last != nullptr ? Held::kWoken : Held::kNotKnown);
        }
    }
}

}  // namespace rdam::hints
