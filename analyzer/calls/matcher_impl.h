// The implementation of BasicMatcher, to be included by users with a sink of their own.
#pragma once

#include <algorithm>
#include <cmath>

#include "analyzer/calls/matcher.h"

namespace rdam::calls {
namespace detail {

// Twelve years at 3 GHz: no call lasts that long, a timestamp is wrong.
inline constexpr std::uint64_t kLongest = std::uint64_t{1} << 60;

// A pause may be earlier in time than calls whose event records precede it: signal handlers reserve their
// records between the reservation of another record and the reading of its clock. More nested handlers than
// this make no sense, and the limit keeps a made-up trace from costing quadratic time.
inline constexpr std::size_t kReordered = 16;

inline std::uint64_t subtract(std::uint64_t from, std::uint64_t amount) {
    return from > amount ? from - amount : 0;
}

inline std::uint64_t weight(std::uint8_t halvings) {
    return std::uint64_t{1} << halvings;
}

/// Rounds a time that is not negative.
inline std::uint64_t rounded(double ticks) {
    constexpr double kHalf = 0.5;
    return static_cast<std::uint64_t>(ticks + kHalf);
}

inline double sane_ticks(double ticks) {
    return std::isfinite(ticks) && ticks > 0 && ticks < 1e9 ? ticks : 0;
}

}  // namespace detail

template <class Sink>
BasicMatcher<Sink>::BasicMatcher(std::size_t functions, ProbeCost cost, const std::vector<bool>& ignored,
                                 Sink& sink)
    : cost_{.total = detail::sane_ticks(cost.total), .inner = detail::sane_ticks(cost.inner)},
      sink_(sink),
      open_(functions),
      per_function_(functions) {
    inner_ticks_ = detail::rounded(cost_.inner);
    mark(ignored, kIgnored);
}

template <class Sink>
void BasicMatcher<Sink>::set_transparent(const std::vector<bool>& transparent) {
    mark(transparent, kTransparent);
}

template <class Sink>
void BasicMatcher<Sink>::set_sampled(const std::vector<bool>& sampled) {
    mark(sampled, kSampled);
}

template <class Sink>
void BasicMatcher<Sink>::set_waits(const std::vector<bool>& waits) {
    mark(waits, kIgnored | kWait);
}

template <class Sink>
void BasicMatcher<Sink>::mark(const std::vector<bool>& functions, unsigned flags) {
    for (std::size_t i = 0; i < std::min(functions.size(), open_.size()); ++i)
        if (functions[i]) open_[i].flags |= static_cast<std::uint8_t>(flags);
}

template <class Sink>
void BasicMatcher<Sink>::consume(const trace::Event& event) {
    switch (event.kind) {
        case trace::EventKind::enter:
            enter(event, false);
            break;
        case trace::EventKind::tail_enter:
            tail_enter(event);
            break;
        case trace::EventKind::leave:
            leave(event);
            break;
        case trace::EventKind::pause:
            pause(event);
            break;
        case trace::EventKind::stack_switch:
            break;  // a trace with these is read by rows (analyzer/inputs/rows)
    }
}

template <class Sink>
bool BasicMatcher<Sink>::takes(const Trees& trees) const {
    if (trees.first < pauses_[0].end || trees.last > ends_.latest || tree_halvings_ != 0) return false;
    if (trees.last - trees.first > detail::kLongest || stack_.size() + trees.depth > kMaxOpen) return false;
    if (stack_.empty()) return true;
    // A signal handler's times are not always within those of the call that it interrupted.
    const Frame& parent = stack_.back();
    return parent.halvings == 0 && parent.enter <= trees.first && parent.enter < trees.first_end;
}

template <class Sink>
void BasicMatcher<Sink>::add(const Trees& trees) {
    counts_.calls += trees.calls;
    entered_ += trees.calls;
    counts_.first = std::min(counts_.first, trees.first);
    counts_.last = std::max(counts_.last, trees.last);
    closed_at_ = trees.last;
    if (stack_.empty()) return;
    stack_.back().nested += trees.calls;
    stack_.back().children += trees.duration;
}

template <class Sink>
void BasicMatcher<Sink>::gap() {
    counts_.abandoned_at_gap += abandon_down_to(0);
}

template <class Sink>
void BasicMatcher<Sink>::finish() {
    for (const Frame& frame : stack_) {
        std::uint64_t& since = per_function_[frame.function].open_since;
        if (!frame.is(kIgnored) && since == 0) since = frame.enter;
    }
    counts_.abandoned_at_end += abandon_down_to(0);
    counts_.probes = entered_;
}

template <class Sink>
void BasicMatcher<Sink>::see(std::uint64_t tsc) {
    if (tsc > ends_.latest) return;
    counts_.first = std::min(counts_.first, tsc);
    counts_.last = std::max(counts_.last, tsc);
}

template <class Sink>
std::uint8_t BasicMatcher<Sink>::halvings_of(const trace::Event& event) const {
    if (event.sampling != 0) return static_cast<std::uint8_t>(event.sampling - 1);
    return stack_.empty() ? std::uint8_t{0} : stack_.back().halvings;
}

template <class Sink>
void BasicMatcher<Sink>::enter_tree(std::uint8_t halvings) {
    if (tree_halvings_ > 0) sink_.tree_ended(detail::weight(tree_halvings_));
    tree_halvings_ = halvings;
}

/// Whether the call that begins now is the next of set_unended().
template <class Sink>
inline bool BasicMatcher<Sink>::begins_unended() {
    if (unended_.empty() || unended_.front() != entered_) [[likely]]
        return false;
    unended_ = unended_.subspan(1);
    return true;
}

template <class Sink>
void BasicMatcher<Sink>::enter(const trace::Event& event, bool tail) {
    if (stack_.size() == kMaxOpen) counts_.abandoned_too_deep += abandon_down_to(0);
    const std::uint8_t halvings = halvings_of(event);
    if (event.sampling != 0 || halvings != tree_halvings_) enter_tree(halvings);
    PerOpen& open = open_[event.function];
    const std::uint64_t paused = paused_until(event.tsc);
    const bool unended = begins_unended();
    opens_outermost_ = open.calls == 0;
    const auto flags =
        static_cast<std::uint8_t>(open.flags | kSelfKnown | (opens_outermost_ ? kOutermost : 0) |
                                  (tail ? kTail : 0) | (unended ? kUnended : 0));
    open.nests = open.calls > 0;
    ++(unended ? open.unended : open.calls);
    if (!tail) ++open.frames;
    if ((flags & kIgnored) == 0) {
        ++counts_.calls;
        ++per_function_[event.function].calls;
        per_function_[event.function].estimated += detail::weight(halvings);
        if (opens_outermost_ && open.unended > 0 && !unended) [[unlikely]]
            ++counts_.inside_unended;
        sink_.opened(event, detail::weight(halvings));
    } else if ((flags & kWait) != 0) {
        sink_.wait_opened(event);
    }
    ++entered_;
    // In its place: a copy would read whole words of what has just been written in parts, and wait for that.
    Frame& frame = stack_.emplace_back();
    frame.enter = event.tsc;
    frame.paused_before = paused;
    frame.function = event.function;
    frame.halvings = halvings;
    frame.flags = flags;
}

template <class Sink>
void BasicMatcher<Sink>::tail_enter(const trace::Event& event) {
    if (stack_.empty()) {
        ++counts_.stray_tail_enters;
        return;
    }
    if (stack_.back().is(kTail)) close_top(event, false);
    enter(event, true);
}

template <class Sink>
void BasicMatcher<Sink>::leave(const trace::Event& event) {
    if (open_[event.function].frames == 0) {
        see(event.tsc);
        ++counts_.unmatched_leaves;
        return;
    }
    // Nearly always.
    if (const Frame& top = stack_.back(); top.function == event.function && !top.is(kTail) && !event.unwound)
        return close_top(event, true);
    std::size_t opener = stack_.size() - 1;
    while (stack_[opener].is(kTail) || stack_[opener].function != event.function)
        --opener;
    if (event.unwound && ends_.unwound_unseen) [[unlikely]] {
        counts_.abandoned_by_jump += abandon_down_to(opener);
        return;
    }
    const bool tail_above = opener + 1 < stack_.size() && stack_[opener + 1].is(kTail);
    const std::size_t keep = opener + (tail_above ? 2 : 1);
    if (keep < stack_.size()) counts_.abandoned_by_jump += abandon_down_to(keep);
    if (tail_above) close_top(event, false);
    close_top(event, !tail_above);
}

template <class Sink>
void BasicMatcher<Sink>::pause(const trace::Event& event) {
    ++counts_.pauses;
    if (event.until < event.tsc || event.until - event.tsc > detail::kLongest) {
        ++counts_.bad_pauses;
        return;
    }
    const std::uint64_t begin = std::max(event.tsc, pauses_[0].end);
    const std::uint64_t end = event.until;
    if (begin >= end) return;
    const std::size_t lowest = stack_.size() > detail::kReordered ? stack_.size() - detail::kReordered : 0;
    for (std::size_t i = stack_.size(); i-- > lowest && stack_[i].enter > begin;) {
        stack_[i].paused_before += std::min(end, stack_[i].enter) - begin;
    }
    counts_.paused += end - begin;
    if (event.reason == trace::PauseReason::buffer_full) counts_.waited += end - begin;
    if (event.reason == trace::PauseReason::recorder) counts_.by_recorder += end - begin;
    if (event.reason == trace::PauseReason::program) counts_.crowded += end - begin;
    if (begin == pauses_[0].end) {
        pauses_[0].end = end;
        return;
    }
    std::ranges::move_backward(pauses_.begin(), pauses_.end() - 1, pauses_.end());
    pauses_[0] = {begin, end};
}

// Event records are nearly in the order of time: a probe that has read the clock may be held, more than once,
// before it reserves its record. Adjacent pauses have been merged.
template <class Sink>
std::uint64_t BasicMatcher<Sink>::paused_until(std::uint64_t tsc) const {
    std::uint64_t paused = counts_.paused;
    for (const Interval& pause : pauses_) {
        if (tsc >= pause.end) break;
        paused -= pause.end - std::max(tsc, pause.begin);
    }
    return paused;
}

template <class Sink>
std::uint64_t BasicMatcher<Sink>::net_duration(const Frame& frame, std::uint64_t tsc,
                                               std::uint64_t held) const {
    return detail::subtract(detail::subtract(tsc - frame.enter, held), probe_ticks(frame.nested));
}

// What a probe costs between others is known to about a quarter. In doubt, nothing is known of it.
template <class Sink>
std::uint64_t BasicMatcher<Sink>::doubtful(const Frame& frame, std::uint64_t duration) const {
    constexpr double kUncertain = 0.25;
    if (!frame.is(kSampled) || frame.nested == 0) return 0;
    const double probes = cost_.total * static_cast<double>(frame.nested);
    return static_cast<double>(duration) < kUncertain * probes ? detail::rounded(probes) : 0;
}

template <class Sink>
std::uint64_t BasicMatcher<Sink>::net_end() const {
    const double probes = cost_.inner + cost_.total * static_cast<double>(entered_ - 1);
    return detail::subtract(detail::subtract(closed_at_, paused_until(closed_at_)), detail::rounded(probes));
}

template <class Sink>
void BasicMatcher<Sink>::close_top(const trace::Event& last, bool own_leave) {
    const std::uint64_t tsc = last.tsc;
    closed_at_ = tsc;
    const Frame& frame = stack_.back();
    PerOpen& open = open_[frame.function];
    --open.calls;
    if (!frame.is(kTail)) --open.frames;

    if (frame.halvings != tree_halvings_) enter_tree(frame.halvings);
    const bool timed = tsc >= frame.enter && tsc - frame.enter <= detail::kLongest && tsc <= ends_.latest;
    const std::uint64_t paused = detail::subtract(paused_until(tsc), frame.paused_before);
    const std::uint64_t duration = timed ? net_duration(frame, tsc, paused) : 0;
    if (timed) {
        counts_.first = std::min(counts_.first, frame.enter);
        counts_.last = std::max(counts_.last, tsc);
    }
    if (!frame.is(kIgnored)) {
        if (!timed) {
            ++counts_.bad_clock;
            ++per_function_[frame.function].bad_clock;
        }
        sink_.closed({.function = frame.function,
                      .outermost = frame.is(kOutermost),
                      .timed = timed,
                      .self_timed = timed && frame.is(kSelfKnown),
                      .duration = duration,
                      .held = paused + doubtful(frame, duration),
                      .weight = detail::weight(frame.halvings),
                      .self = detail::subtract(duration, frame.children),
                      .begin = frame.enter,
                      .nested = frame.nested,
                      .last = &last,
                      .own_leave = own_leave});
    }
    if (frame.is(kWait) && timed)
        sink_.waited({.function = frame.function, .duration = duration, .begin = frame.enter, .last = &last});
    if (stack_.size() == 1) {
        stack_.pop_back();
        return enter_tree(0);
    }
    add_to_parent(frame, stack_[stack_.size() - 2], tsc, duration, timed);
    stack_.pop_back();
}

template <class Sink>
void BasicMatcher<Sink>::add_to_parent(const Frame& frame, Frame& parent, std::uint64_t tsc,
                                       std::uint64_t duration, bool timed) {
    const std::uint64_t shared = detail::subtract(tsc, parent.enter);
    const bool unseen = frame.is(kIgnored | kTransparent);
    if (!(unseen ? frame.is(kSelfKnown) : timed)) parent.flags &= static_cast<std::uint8_t>(~kSelfKnown);
    if (shared == 0 && timed)
        return;  // a signal handler that ran before the neighbouring event had read the clock
    parent.nested += frame.nested + 1;
    parent.children += unseen ? frame.children : std::min(duration, shared);
}

template <class Sink>
std::uint64_t BasicMatcher<Sink>::abandon_down_to(std::size_t keep) {
    std::uint64_t nested = 0;
    std::uint64_t visible = 0;
    while (stack_.size() > keep) {
        const Frame& frame = stack_.back();
        see(frame.enter);
        PerOpen& open = open_[frame.function];
        --(frame.is(kUnended) ? open.unended : open.calls);
        if (!frame.is(kTail)) --open.frames;
        if (open.nests && !frame.is(kIgnored | kUnended)) counts_.hides_calls = true;
        nested += frame.nested + 1;
        if (!frame.is(kIgnored)) {
            ++visible;
            ++per_function_[frame.function].abandoned;
        }
        stack_.pop_back();
    }
    if (stack_.empty()) {
        enter_tree(0);
    } else {
        stack_.back().nested += nested;
        stack_.back().flags &= static_cast<std::uint8_t>(~kSelfKnown);
    }
    if (visible > 0) sink_.abandoned(visible);
    return visible;
}

}  // namespace rdam::calls
