#include "analyzer/report/inner_times.h"

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

/// Who has made the recorded calls of a function in a thread.
struct Maker {
    std::uint32_t function = trace::kNoFunction;  ///< kNoFunction: several, or none of the recorded functions
    std::uint64_t calls = 0;
    bool only = true;
};

class Finder {
  public:
    Finder(const trace::TraceInfo& info, const ResolvedSettings& settings,
           std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
           std::span<const trace::TickRange> lives)
        : info_(info), settings_(settings), threads_(threads), merged_(merged), lives_(lives) {}

    /// The functions that are sampled in windows and about which something is known in a thread, and those whose
    /// waits are all theirs.
    std::map<std::uint32_t, std::vector<std::uint32_t>> waiters(std::size_t thread) {
        std::map<std::uint32_t, std::vector<std::uint32_t>> waiters;
        for (const auto& [maker, made] : threads_[thread]->calls_made)
            waiters[maker];
        for (const auto& [waiter, sums] : threads_[thread]->waits_since) {
            std::set<std::uint32_t> seen{waiter};
            for (std::uint32_t maker = maker_of(waiter, thread);
                 is_sampled(maker) && seen.insert(maker).second; maker = maker_of(maker, thread))
                if (is_multiple(waiter, maker, thread)) waiters[maker].push_back(waiter);
        }
        return waiters;
    }

    /// Nothing: others have waited inside it, too, or it is no matter of some calls alone.
    std::optional<WaitTimes> times(std::uint32_t function, std::span<const std::uint32_t> waiters,
                                   std::size_t thread) {
        const ThreadTimes& of_thread = *threads_[thread];
        WaitTimes times;
        if (const auto found = of_thread.known_inside.find(function); found != of_thread.known_inside.end()) {
            for (const std::uint32_t each : found->second.waiters)
                if (std::ranges::find(waiters, each) == waiters.end()) return {};
            times.inside = found->second.times;
            times.squares_inside = found->second.squares;
            times.calls_made_inside = found->second.calls_made;
            times.in_calls_inside = found->second.in_calls;
        }
        if (const auto made = of_thread.calls_made.find(function); made != of_thread.calls_made.end()) {
            times.add(made->second);
            times.calls_made = made->second.calls;
            times.in_calls = made->second.time;
        }
        for (const std::uint32_t waiter : waiters)
            times.add(waits(waiter, info_.functions[function].windowed_since, thread));
        const auto all = calls(function, thread);
        if (times.calls == 0 || !all || 2 * times.calls > *all) return {};
        return times;
    }

  private:
    /// A function whose own waits are recorded has no others.
    bool is_sampled(std::uint32_t function) const {
        return function != trace::kNoFunction && settings_.windowed[function] &&
               !settings_.has_waits(function);
    }

    /// Of a function, since some time.
    WaitSum waits(std::uint32_t waiter, std::uint64_t since, std::size_t thread) {
        const auto first = static_cast<std::size_t>(std::ranges::lower_bound(settings_.sampled_since, since) -
                                                    settings_.sampled_since.begin());
        WaitSum all;
        for (const ThreadTimes::WaitsSince& each : threads_[thread]->waits_since.at(waiter))
            if (each.since >= first) all.add(each.waits);
        // Some of its calls may be from elsewhere, though none of so many is (Laplace's rule of succession).
        const double calls = as_double(makers_.at(waiter)[thread].calls), part = (calls + 1) / (calls + 2);
        all.squares += all.time * all.time * part * (1 - part) / (calls + 3);
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

    /// Whether it may be that each call of `maker` makes the same number of calls of `waiter`.
    bool is_multiple(std::uint32_t waiter, std::uint32_t maker, std::size_t thread) const {
        const auto inner = calls(waiter, thread), outer = calls(maker, thread);
        return inner && outer && *outer >= kEnoughCalls && *inner >= *outer && *inner % *outer == 0;
    }

    std::uint32_t maker_of(std::uint32_t function, std::size_t thread) {
        const auto [found, is_new] = makers_.try_emplace(function);
        if (is_new) found->second = find_makers(function);
        return found->second[thread].function;
    }

    /// By thread.
    std::vector<Maker> find_makers(std::uint32_t function) const {
        std::vector<Maker> makers(threads_.size());
        const auto add = [&](std::size_t thread, const CallerEntry& entry) {
            Maker& maker = makers[thread];
            const std::uint64_t address = threads_[thread]->callers.address(entry.caller);
            if (maker.calls == 0)
                maker.function = trace::caller_at(
                    info_, address, [&](std::uint32_t each) { return !settings_.is_wait(each); });
            maker.calls += entry.calls;
            maker.only = maker.only && maker.function != trace::kNoFunction &&
                         trace::is_caller(info_, info_.functions[maker.function], address);
        };
        for (std::size_t t = 0; t < threads_.size(); ++t)
            threads_[t]->untimed_callers[function].for_each([&](const CallerEntry& each) { add(t, each); });
        merged_.for_each_with_callers(
            function, [&](sequences::GroupId /*id*/, std::span<const ThreadGroup> parts) {
                for (const ThreadGroup& part : parts) {
                    if (!makers[part.thread].only) continue;
                    const auto add_entry = [&](const CallerEntry& each) { add(part.thread, each); };
                    part.times->for_each_caller(add_entry);
                    if (const WindowedTimes* const windowed = part.times->windowed(); windowed != nullptr)
                        windowed->before.for_each_caller(add_entry);
                }
            });
        for (Maker& maker : makers)
            if (!maker.only) maker.function = trace::kNoFunction;
        return makers;
    }

    const trace::TraceInfo& info_;
    const ResolvedSettings& settings_;
    std::span<const std::unique_ptr<ThreadTimes>> threads_;
    const MergedGroups& merged_;
    std::span<const trace::TickRange> lives_;
    std::map<std::uint32_t, std::vector<Maker>> makers_;  // by function and thread
};

}  // namespace

InnerTimes::InnerTimes(const trace::TraceInfo& info, const ResolvedSettings& settings,
                       std::span<const std::unique_ptr<ThreadTimes>> threads, const MergedGroups& merged,
                       std::span<const trace::TickRange> lives) {
    Finder finder{info, settings, threads, merged, lives};
    for (std::size_t thread = 0; thread < threads.size(); ++thread)
        for (const auto& [function, waiters] : finder.waiters(thread))
            if (auto times = finder.times(function, waiters, thread))
                all_.emplace(std::pair{function, thread}, *std::move(times));
}

}  // namespace rdam::score
