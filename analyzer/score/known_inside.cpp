// What is known by itself of the time of a thread's calls, whether they are recorded or not: each wait of a lock that is sampled in
// windows, the calls inside of which all are recorded, and the time off the processors.
#include <algorithm>

#include "analyzer/calls/matcher_impl.h"
#include "analyzer/score/thread_analysis.h"

namespace rdam::score {

/// The innermost open call is about to be none. What is known by itself of the time inside it, if it is in a window.
WaitSum ThreadAnalysis::close_in_windows() {
    if (open_.back().cluster == kComplete) --complete_calls_;
    if (open_in_windows_.empty() || open_in_windows_.back().place + 1 != open_.size()) return {};
    const WaitSum others = open_in_windows_.back().others;
    open_in_windows_.pop_back();
    return others;
}

/// kNoFunction: none that is sampled in windows, or one whose waits are recorded.
std::uint32_t ThreadAnalysis::sampled_caller(std::uint32_t caller) {
    constexpr std::uint32_t kNotLooked = trace::kNoFunction - 1;
    if (caller >= callers_.size()) callers_.resize(caller + std::size_t{1}, kNotLooked);
    std::uint32_t& known = callers_[caller];
    if (known != kNotLooked) return known;
    known = trace::kNoFunction;
    for (std::uint32_t function = 0; function < info_.functions.size(); ++function)
        if (is_windowed(function) && !settings_.has_waits(function) &&
            trace::is_caller(info_, info_.functions[function], out_->callers.address(caller)))
            known = function;
    return known;
}

/// If a function that is sampled in windows has made the call, so much of what that one's calls took is known.
void ThreadAnalysis::note_call_made(const calls::Call& call, std::uint64_t caller) {
    if (!call.timed || !call.outermost || call.weight != 1) return;
    const std::uint32_t maker = sampled_caller(out_->callers.of(caller));
    if (maker == trace::kNoFunction || maker == call.function ||
        call.begin < info_.functions[maker].windowed_since)
        return;
    const auto around = std::ranges::find_if(
        open_in_windows_, [&](const OpenInWindow& each) { return open_[each.place].function == maker; });
    // All of a call that began before it was sampled is known.
    if (around != open_in_windows_.end() && open_[around->place].cluster == kComplete) return;
    const WaitSum sum = measured(call);
    out_->calls_made[maker].add(call.function, sum);
    if (around == open_in_windows_.end()) return;
    KnownInside& inside = add_known_inside(*around, sum);
    ++inside.calls_made;
    inside.in_calls += sum.time;
}

KnownInside& ThreadAnalysis::add_known_inside(OpenInWindow& around, const WaitSum& known) {
    const OpenCall& open = open_[around.place];
    around.others.add(known);
    KnownInside& inside = out_->known_inside[open.function];
    inside.times.add(open.cluster, 1, known.time);
    inside.squares += known.squares;
    return inside;
}

/// Of a call in a window.
void ThreadAnalysis::note_off_cpu(const calls::Call& call, const OpenCall& open, const WaitSum& others) {
    if (off_ == nullptr || !call.timed || !call.outermost) return;
    const OffTimes::Sum before = off_->until(call.begin), behind = off_->until(call.last->tsc);
    const auto preempted = static_cast<double>(behind.preempted - before.preempted);
    const auto blocked = static_cast<double>(behind.blocked - before.blocked);
    const auto duration = static_cast<double>(call.duration);
    OffInWindows& times = out_->off_in_windows[call.function];
    times.on.add(open.cluster, 1, std::max(duration - preempted - blocked, 0.0));
    const auto add = [&](double besides, const WaitSum& without, OffInWindows::Inside& inside) {
        const auto part = [&](double off, ClusterSums& sums, double& squares, double& least) {
            const double time = std::min(off, besides);
            if (time <= 0) return;
            besides -= time;
            sums.add(open.cluster, 1, time);
            squares += time * time;
            least = std::min(least, time);
        };
        part(preempted - without.preempted, inside.preempted, inside.preempted_squares,
             inside.least_preempted);
        part(blocked - without.blocked, inside.blocked, inside.blocked_squares, inside.least_blocked);
    };
    const double besides = std::max(duration - static_cast<double>(open.waited), 0.0);
    add(besides, {}, times.inside);
    add(besides - others.time, others, times.besides_others);
}

/// The return address of the call that gave a mutex back. A recorded function that jumps there in place of its last call has left the
/// recorder's return address: behind its first byte stands for it.
std::uint64_t ThreadAnalysis::given_back_from(const trace::Event& enter,
                                              const trace::OwnerWords& words) const {
    const std::uint64_t caller = words.caller ? enter.words[*words.caller] : enter.caller;
    if (caller < settings_.recorder_begin || caller >= settings_.recorder_end || open_.empty()) return caller;
    const trace::FunctionInfo& function = info_.functions[open_.back().function];
    // The function that gives it back is recorded itself.
    if (function.object == info_.functions[enter.function].object) return open_.back().caller;
    return function.object < info_.objects.size() ? info_.objects[function.object].base + function.address + 1
                                                  : 0;
}

void ThreadAnalysis::wait_opened(const trace::Event& enter) {
    const auto& words = settings_.owner_words[enter.function];
    if (!words) return;
    const std::uint64_t mutex = enter.words[words->mutex];
    if (!words->given_back)
        open_wait_ = {.begin = enter.tsc,
                      .mutex = mutex,
                      .owner = static_cast<std::uint32_t>(enter.words[words->owner]),
                      .function = settings_.wait_of[enter.function],
                      .joins = words->joins,
                      .all = words->all};
    else
        (words->all ? out_->mutex_changes : out_->owned_waits)
            .offer({.begin = enter.tsc,
                    .end = enter.tsc,
                    .mutex = mutex,
                    .given_back = true,
                    .caller = given_back_from(enter, *words),
                    .all = words->all});
}

WaitSum ThreadAnalysis::measured(const calls::Call& call) const {
    const auto time = static_cast<double>(call.duration);
    WaitSum sum{.calls = 1, .time = time, .squares = time * time, .least = time};
    if (off_ == nullptr) return sum;
    const OffTimes::Sum before = off_->until(call.begin), behind = off_->until(call.last->tsc);
    sum.blocked = static_cast<double>(behind.blocked - before.blocked);
    sum.preempted = static_cast<double>(behind.preempted - before.preempted);
    return sum;
}

/// Of a function that is sampled in windows: since when, and in which calls of others, if these are in windows.
/// What is inside a call of which all is known is part of that one.
void ThreadAnalysis::note_wait_inside(std::uint32_t function, std::uint64_t begin, const WaitSum& wait) {
    const auto since = std::ranges::upper_bound(settings_.sampled_since, begin);
    if (since == settings_.sampled_since.begin()) return;
    const auto place = static_cast<std::size_t>(since - settings_.sampled_since.begin()) - 1;
    auto& sums = out_->waits_since[function];
    if (sums.empty() || sums.back().since != place) sums.push_back({.since = place, .waits = {}});
    sums.back().waits.add(wait);
    for (OpenInWindow& each : open_in_windows_) {
        const std::uint32_t around = open_[each.place].function;
        if (around == function || each.complete != complete_calls_) continue;
        const bool from_before = open_[each.place].cluster == kComplete;
        if (from_before && begin < info_.functions[around].windowed_since) continue;
        // All of a call that began before it was sampled is known: what waits besides it is not kept.
        std::vector<std::uint32_t>& waiters =
            (from_before ? out_->known_inside[around] : add_known_inside(each, wait)).waiters;
        if (from_before) waiters.push_back(trace::kNoFunction);
        if (std::ranges::find(waiters, function) == waiters.end()) waiters.push_back(function);
    }
}

/// What a call waited that was recorded, or would have been if all were, is in its duration.
void ThreadAnalysis::waited(const calls::Call& wait) {
    const std::uint32_t function = settings_.wait_of[wait.function];
    if (open_wait_.begin == wait.begin && function == open_wait_.function && function != trace::kNoFunction &&
        !settings_.ignored[function]) {
        open_wait_.end = wait.last->tsc;
        const bool nobody_had_it = open_wait_.all && open_wait_.owner == 0;
        (nobody_had_it ? out_->mutex_changes : out_->owned_waits).offer(open_wait_);
        if (nobody_had_it) return;
    }
    if (function == trace::kNoFunction || !is_windowed(function) || settings_.ignored[function]) return;
    const bool seen = !open_.empty() && open_.back().function == function;
    const WaitSum sum = measured(wait);
    WaitTimes& waits = out_->waits[function];
    if (wait.begin < info_.functions[function].windowed_since ||
        (seen && open_.back().cluster == kComplete)) {
        ++waits.complete;
        waits.complete_time += sum.time;
        return;
    }
    note_wait_inside(function, wait.begin, sum);
    waits.add(sum);
    if (!seen || open_.back().cluster == ThreadWindows::kOutside) return;
    open_.back().waited += wait.duration;
    waits.inside.add(open_.back().cluster, 1, sum.time);
    waits.squares_inside += sum.squares;
}

}  // namespace rdam::score
