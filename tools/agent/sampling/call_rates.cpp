#include "tools/agent/sampling/call_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>

#include "tools/base/printable.h"

namespace rdam::agent {

namespace {

/// Fewer calls a second in one thread cost little, however short they are. Each call has an event at least.
constexpr double kMany = 1e6;
constexpr double kHotSeconds = 0.5;
constexpr double kSeconds = 1;
constexpr double kMinGap = 0.05;
constexpr double kMaxGap = 0.1;
constexpr std::size_t kMaxWatched = 4;
constexpr double kMinOwn = 0.05;
constexpr double kMillion = 1e6;

}  // namespace

/// Null: others are watched just now. Where many threads are hot, they take turns.
CallRates::Watched* CallRates::watch(std::uint32_t thread, std::uint64_t now) {
    const auto known = std::ranges::find(watched_, thread, &Watched::thread);
    if (known != watched_.end()) return &*known;
    if (watched_.size() < kMaxWatched) return &watched_.emplace_back(Watched{thread, now, {}});
    const auto seconds = [&](const Watched& watched) {
        return (static_cast<double>(now) - static_cast<double>(watched.since)) / info_.clock.ticks_per_second;
    };
    const auto longest = std::ranges::max_element(watched_, {}, seconds);
    if (seconds(*longest) < kSeconds) return nullptr;
    *longest = {thread, now, {}};
    return &*longest;
}

void CallRates::keep(Watched& watched, Look look) const {
    watched.looks.push_back(std::move(look));
    double ticks = 0;
    for (const Look& kept : watched.looks)
        ticks += kept.ticks;
    for (; ticks - watched.looks.front().ticks >= kSeconds * info_.clock.ticks_per_second;
         watched.looks.pop_front())
        ticks -= watched.looks.front().ticks;
}

bool CallRates::wants(std::uint32_t thread, const trace::Packs& packs) {
    const double rate = info_.clock.ticks_per_second;
    if (rate <= 0) return false;
    if (threads_.size() <= thread) threads_.resize(thread + 1);
    Thread& data = threads_[thread];
    if (data.since == 0) data = {packs.first_tsc, packs.first_tsc, 0, kMinGap};
    // An event of a signal handler may be earlier than the one before it, and memory may be damaged.
    if (packs.last_tsc <= data.last) {
        data.since = data.last = packs.last_tsc;
        data.events = 0;
        return false;
    }
    const auto chunk_ticks = static_cast<double>(packs.last_tsc - std::exchange(data.last, packs.last_tsc));
    data.events += packs.events;
    const auto ticks = static_cast<double>(packs.last_tsc - data.since);
    if (ticks < data.gap * rate) return false;
    look_ = {.ticks = ticks, .events = static_cast<double>(data.events)};
    data.since = packs.last_tsc;
    data.events = 0;
    data.gap = std::uniform_real_distribution{kMinGap, kMaxGap}(random_);
    if (look_.events * rate < kMany * ticks) {
        const auto watched = std::ranges::find(watched_, thread, &Watched::thread);
        if (watched != watched_.end()) keep(*watched, std::move(look_));
        return false;
    }
    const Watched* watched = watch(thread, packs.last_tsc);
    if (watched == nullptr) return false;
    wanted_ = static_cast<std::size_t>(watched - watched_.data());
    look_.weight = ticks / chunk_ticks;
    look_.seen = packs.events;
    return true;
}

CallRates::Calls& CallRates::calls_of(std::uint32_t function, Look& look) {
    std::uint32_t& place = places_[function];
    if (place == 0) {
        look.calls.push_back({function, 0, 0, 0});
        place = static_cast<std::uint32_t>(look.calls.size());
    }
    return look.calls[place - 1];
}

void CallRates::count(std::span<const trace::Event> events, Look& look) {
    const double limit = info_.clock.probe_ticks + info_.clock.probe_inner_ticks;
    places_.assign(info_.functions.size(), 0);
    open_.clear();
    for (const trace::Event& event : events) {
        // What ends next was begun on another stack.
        if (event.kind == trace::EventKind::stack_switch) open_.clear();
        if (event.kind == trace::EventKind::pause && event.until > event.tsc)
            look.lost += static_cast<double>(event.until - event.tsc);
        if (event.kind >= trace::EventKind::pause || event.function >= places_.size()) continue;
        if (event.kind != trace::EventKind::leave) {
            ++calls_of(event.function, look).calls;
            look.lost += info_.clock.probe_ticks;
            if (event.kind == trace::EventKind::enter) open_.push_back({event.function, event.tsc});
            continue;
        }
        if (open_.empty() || open_.back().function != event.function) {
            open_.clear();
            continue;
        }
        Calls& calls = calls_of(event.function, look);
        ++calls.timed;
        if (static_cast<double>(event.tsc - open_.back().tsc) <= limit) ++calls.within_probe;
        open_.pop_back();
    }
}

void CallRates::see(std::span<const trace::Event> events) {
    count(events, look_);
    keep(watched_[wanted_], std::move(look_));
}

/// Empty: it is not hot, or not short.
std::string CallRates::notice_of(std::uint32_t function, const std::deque<Look>& looks) const {
    const double rate = info_.clock.ticks_per_second;
    bool begun = false;
    double hot = 0;
    double ticks = 0;
    Look sum;
    Calls calls;
    for (const Look& look : looks) {
        const auto found = std::ranges::find(look.calls, function, &Calls::function);
        const Calls here = found != look.calls.end() ? *found : Calls{};
        const bool is_hot =
            here.calls * look.events * rate >= kMany * look.ticks * look.seen && here.calls > 0;
        // What was before a phase that has just begun, or in the look in which it began, is no part of it.
        if (!std::exchange(begun, begun || is_hot)) continue;
        ticks += look.ticks;
        if (is_hot) hot += look.ticks;
        if (look.weight == 0) continue;
        sum.events += look.events;
        sum.seen += look.weight * look.seen;
        sum.lost += look.weight * look.lost;
        calls.calls += look.weight * here.calls;
        calls.timed += look.weight * here.timed;
        calls.within_probe += look.weight * here.within_probe;
    }
    if (hot < kHotSeconds * rate) return {};
    // How many events there are is known better than how long the chunks took that were looked at.
    const double scale = sum.events / sum.seen;
    const double seen_a_second = calls.calls / ticks * rate;
    const double a_second = scale * seen_a_second;
    const double own = std::max(ticks - scale * sum.lost, kMinOwn * ticks);
    // Their median, not their mean: a call in which the thread loses its processor is as long as any.
    const bool is_short = 2 * calls.within_probe >= calls.timed;
    // Chunks of what is called less often in between may be looked at by chance more often than the others:
    // then events that are not theirs count as theirs.
    if (std::min(seen_a_second, a_second) < kMany || !is_short) return {};
    const double millions = a_second / kMillion;
    constexpr double kTen = 9.95;  // what is below it is printed as less
    return fmt::format(
        "{} is called {:.{}f} million times a second by a thread, and most calls take no longer than their "
        "probe, {:.0f} ns: recording every call makes its threads take at least {:.1f} × as long; without "
        "--all-calls (RDAM_ALL_CALLS) its calls are sampled",
        printable(info_.functions[function].name), millions, millions < kTen ? 1 : 0,
        info_.clock.probe_ticks * 1e9 / rate, ticks / own);
}

std::string CallRates::take_notice() {
    if (wanted_ >= watched_.size()) return {};
    const std::deque<Look>& looks = watched_[wanted_].looks;
    if (looks.empty()) return {};
    named_.resize(info_.functions.size());
    for (const Calls& calls : looks.back().calls) {
        if (named_[calls.function] || info_.functions[calls.function].sampled) continue;
        std::string notice = notice_of(calls.function, looks);
        if (notice.empty()) continue;
        named_[calls.function] = true;
        return notice;
    }
    return {};
}

/// Under a budget nothing needs to be said: what is too hot is sampled.
void CostWatch::see(std::uint32_t thread, const trace::Packs& packs) {
    if (shared_.start().max_overhead() != 0 || !rates_.wants(thread, packs)) return;
    if (!decoder_.decode(packs, info_)) return;
    rates_.see(decoder_.events());
    shm::Control& control = shared_.control();
    if (control.notice_size.load() != 0) return;  // the last one is not printed yet
    const std::string notice = rates_.take_notice();
    if (notice.empty()) return;
    const std::string text = "rdam: " + notice + "\n";
    control.notice_size.store(static_cast<std::uint32_t>(text.copy(control.notice, sizeof control.notice)),
                              std::memory_order_release);
}

}  // namespace rdam::agent
