// Who comes last to a barrier.
#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <utility>

#include "analyzer/hints/waits_for.h"
#include "analyzer/sequences/known_functions.h"

namespace rdam::hints {
namespace {

constexpr std::size_t kNone = SIZE_MAX;

/// The calls of one barrier, in the order of their begins.
class Rounds {
  public:
    explicit Rounds(std::span<const Wait> calls)
        : calls_(calls), before_(calls.size(), kNone), last_(calls.size()) {
        std::map<std::size_t, std::size_t> latest;  // by thread
        for (std::size_t i = 0; i < calls.size(); ++i) {
            const auto [found, is_first] = latest.try_emplace(calls[i].thread, i);
            if (!is_first) before_[i] = std::exchange(found->second, i);
        }
    }

    /// The call of another thread that comes last to the round of the `number`th: that begins last of all before any of
    /// those that come after it ends. It hardly waits itself, or it is not the one. Null: it is not known. To be asked
    /// for all calls, in their order.
    const Wait* last_to_come(std::size_t number) {
        const Wait& call = calls_[number];
        for (; !released_.empty() && released_.top().end <= call.time.begin; released_.pop())
            since_ = std::max(since_, released_.top().moment);
        const std::size_t found = find(call);
        if (found != kNone) last_[found] = true;
        released_.push({.end = call.time.end,
                        .moment = found != kNone  ? calls_[found].time.begin
                                  : last_[number] ? call.time.begin
                                                  : call.time.end});
        return found != kNone ? &calls_[found] : nullptr;
    }

  private:
    /// When all had come to the round of a call that ends at `end`, at the latest.
    struct Released {
        std::uint64_t end = 0, moment = 0;
        bool operator>(const Released& other) const { return end > other.end; }
    };

    std::size_t find(const Wait& call) const {
        constexpr double kHardly = 0.2;
        constexpr std::size_t kLookedAt = 256;
        const auto first = static_cast<std::size_t>(
            std::ranges::upper_bound(calls_, call.time.begin, {},
                                     [](const Wait& other) { return other.time.begin; }) -
            calls_.begin());
        std::uint64_t end = call.time.end;
        std::size_t last = kNone;
        for (std::size_t each = first; each < calls_.size() && calls_[each].time.begin < end; ++each) {
            // Who has been in this round is in the next one: some are woken sooner than others.
            if (before_[each] != kNone && calls_[before_[each]].time.begin > since_) break;
            if (each - first == kLookedAt) return kNone;
            end = std::min(end, calls_[each].time.end);
            if (calls_[each].thread != call.thread) last = each;
        }
        if (last == kNone || calls_[last].time.ticks() > kHardly * call.time.ticks()) return kNone;
        return last;
    }

    std::span<const Wait> calls_;
    std::vector<std::size_t> before_;  ///< by call: its thread's call before
    std::vector<bool> last_;           ///< … it has come last to the round of a call before it
    /// Of calls that may not have ended when the one begins that is asked about; the first to end first.
    std::priority_queue<Released, std::vector<Released>, std::greater<>> released_;
    std::uint64_t since_ = 0;  ///< what begins then is of that one's round, or of a later one
};

/// By function and key, each in the order of the calls' begins.
std::map<Object, std::vector<Wait>> barriers_in(const trace::TraceInfo& info, const score::Report& report) {
    std::set<std::uint32_t> functions;
    for (std::uint32_t function = 0; function < info.functions.size(); ++function)
        if (sequences::is_barrier(info.functions[function])) functions.insert(function);
    std::map<Object, std::vector<Wait>> barriers;
    for (std::size_t t = 0; t < report.timeline.size(); ++t)
        for (const score::TimedCall& call : report.calls_about_waits(t))
            if (functions.contains(call.function) && call.begin < call.end) {
                const Object object{call.function, call.key};
                barriers[object].push_back(
                    {{call.begin, call.end}, object, call.function, t, "barrier", call.caller});
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
            if (last != nullptr) add(call, {call.time.begin, come}, last->thread, last->caller);
            add(call, {come, call.time.end}, last != nullptr ? Held::kWoken : Held::kNotKnown, 0);
        }
    }
}

}  // namespace rdam::hints
