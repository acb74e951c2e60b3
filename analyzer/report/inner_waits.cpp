#include "analyzer/report/inner_waits.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "analyzer/report/function_row.h"
#include "analyzer/statistics/as_double.h"

namespace rdam::score {
namespace {

/// So few calls may be by chance those that another function has made.
constexpr std::uint64_t kEnoughCalls = 100;

/// Who has made the recorded calls of a function.
struct Maker {
    std::uint32_t function = trace::kNoFunction;  ///< kNoFunction: several, or none of the recorded functions
    std::uint64_t calls = 0;
};

class Finder {
  public:
    Finder(const trace::TraceInfo& info, const ResolvedSettings& settings,
           std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
           std::span<const trace::TickRange> lives)
        : info_(info), settings_(settings), threads_(threads), merged_(merged), lives_(lives) {}

    /// The functions that wait, by the one that is sampled in windows and makes all their calls.
    std::map<std::uint32_t, std::vector<std::uint32_t>> pairs() {
        std::map<std::uint32_t, std::vector<std::uint32_t>> pairs;
        for (const std::uint32_t waiter : waiters()) {
            std::set<std::uint32_t> seen{waiter};
            for (std::uint32_t maker = maker_of(waiter).function;
                 maker != trace::kNoFunction && seen.insert(maker).second; maker = maker_of(maker).function) {
                if (settings_.windowed[maker] && !settings_.has_waits(maker) && is_multiple(waiter, maker))
                    pairs[maker].push_back(waiter);
            }
        }
        return pairs;
    }

    /// Nothing: others have waited inside it, too.
    std::optional<WaitTimes> waits(std::uint32_t function, std::span<const std::uint32_t> waiters,
                                   const ThreadTimes& times) {
        WaitTimes waits;
        if (const auto found = times.waits_inside.find(function); found != times.waits_inside.end()) {
            const WaitsInside& inside = found->second;
            for (const std::uint32_t each : inside.functions)
                if (std::ranges::find(waiters, each) == waiters.end()) return {};
            waits.inside = inside.times;
            waits.squares_inside = inside.squares;
        }
        const auto since =
            std::ranges::lower_bound(settings_.sampled_since, info_.functions[function].windowed_since);
        for (const std::uint32_t waiter : waiters) {
            const auto found = times.waits_since.find(waiter);
            if (found == times.waits_since.end()) continue;
            WaitSum all;
            for (auto i = static_cast<std::size_t>(since - settings_.sampled_since.begin());
                 i < found->second.size(); ++i)
                all.add(found->second[i]);
            // Some of its calls may be from elsewhere, though none of so many is (Laplace's rule of succession).
            const double calls = as_double(maker_of(waiter).calls), part = (calls + 1) / (calls + 2);
            all.squares += all.time * all.time * part * (1 - part) / (calls + 3);
            waits.add(all);
        }
        if (waits.calls == 0) return {};
        return waits;
    }

  private:
    std::set<std::uint32_t> waiters() const {
        std::set<std::uint32_t> all;
        for (const auto& thread : threads_)
            for (const auto& [function, sums] : thread->waits_since)
                all.insert(function);
        return all;
    }

    /// Nothing: it is not known of all of the thread's life.
    std::optional<std::uint64_t> calls(std::uint32_t function, std::size_t thread) const {
        const ThreadTimes& times = *threads_[thread];
        if (!settings_.windowed[function]) return times.per_function[function].calls;
        const auto counted =
            counted_calls(info_.functions[function], function, info_.threads[thread], lives_[thread],
                          times.sampling_windows, times.windowed_calls(function).before);
        if (!counted || counted->error > 0) return {};
        return rounded(counted->calls);
    }

    /// Whether each call of `maker` makes the same number of calls of `waiter`, in all threads.
    bool is_multiple(std::uint32_t waiter, std::uint32_t maker) const {
        std::uint64_t of_waiter = 0, of_maker = 0;
        for (std::size_t thread = 0; thread < threads_.size(); ++thread) {
            const auto inner = calls(waiter, thread), outer = calls(maker, thread);
            if (!inner || !outer || (*outer == 0) != (*inner == 0)) return false;
            if (*outer == 0) continue;
            if (*inner % *outer != 0) return false;
            if (of_maker > 0 && *inner / *outer != of_waiter / of_maker) return false;
            of_waiter += *inner;
            of_maker += *outer;
        }
        return of_maker >= kEnoughCalls;
    }

    const Maker& maker_of(std::uint32_t function) {
        const auto [found, is_new] = makers_.try_emplace(function);
        if (is_new) found->second = find_maker(function);
        return found->second;
    }

    Maker find_maker(std::uint32_t function) const {
        Maker maker;
        bool only = true;
        const auto add = [&](std::size_t thread, const CallerEntry& entry) {
            const std::uint64_t address = threads_[thread]->callers.address(entry.caller);
            if (maker.calls == 0) maker.function = caller_at(address);
            maker.calls += entry.calls;
            only = only && maker.function != trace::kNoFunction &&
                   is_caller(info_, info_.functions[maker.function], address);
        };
        for (std::size_t t = 0; t < threads_.size(); ++t)
            threads_[t]->untimed_callers[function].for_each([&](const CallerEntry& each) { add(t, each); });
        merged_.for_each_group(function, [&](sequences::GroupId id) {
            if (!only) return;
            for (const ThreadGroup& part : merged_.threads[id]) {
                const auto add_entry = [&](const CallerEntry& each) { add(part.thread, each); };
                part.times->for_each_caller(add_entry);
                if (const WindowedTimes* const windowed = part.times->windowed(); windowed != nullptr)
                    windowed->before.for_each_caller(add_entry);
            }
        });
        if (!only) maker.function = trace::kNoFunction;
        return maker;
    }

    std::uint32_t caller_at(std::uint64_t address) const {
        for (std::uint32_t function = 0; function < info_.functions.size(); ++function)
            if (!settings_.is_wait(function) && is_caller(info_, info_.functions[function], address))
                return function;
        return trace::kNoFunction;
    }

    const trace::TraceInfo& info_;
    const ResolvedSettings& settings_;
    std::span<const std::unique_ptr<ThreadTimes>> threads_;
    const MergedGroups& merged_;
    std::span<const trace::TickRange> lives_;
    std::map<std::uint32_t, Maker> makers_;
};

}  // namespace

InnerWaits::InnerWaits(const trace::TraceInfo& info, const ResolvedSettings& settings,
                       std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
                       std::span<const trace::TickRange> lives) {
    Finder finder{info, settings, threads, merged, lives};
    for (const auto& [function, waiters] : finder.pairs()) {
        for (std::size_t thread = 0; thread < threads.size(); ++thread)
            if (auto waits = finder.waits(function, waiters, *threads[thread]))
                all_.emplace(std::pair{function, thread}, *std::move(waits));
    }
}

}  // namespace rdam::score
