#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/inputs/build/builder_state.h"

namespace rdam::inputs {

/// Exactly `wanted` words: what is missing is 0.
inline std::span<const std::uint64_t> ThreadBuilder::State::exactly(std::size_t wanted,
                                                                    std::span<const std::uint64_t> words) {
    if (words.size() == wanted) [[likely]]
        return words;
    return filled_up(wanted, words);
}

std::span<const std::uint64_t> ThreadBuilder::State::filled_up(std::size_t wanted,
                                                               std::span<const std::uint64_t> words) {
    words = words.first(std::min(words.size(), wanted));
    filled.assign(words.begin(), words.end());
    filled.resize(wanted);
    return filled;
}

void ThreadBuilder::State::append() {
    trace.append(index, encoder);
    encoded = 0;
}

void ThreadBuilder::State::release() {
    append();
    encoder = trace::ChunkEncoder{};
    filled = {};
    open.shrink();
}

/// After each event.
inline void ThreadBuilder::State::flush_if_full() {
    if (++encoded >= trace.events_of_chunk) [[unlikely]]
        append();
}

/// False: the event is earlier than the one before.
inline bool ThreadBuilder::State::takes(std::uint64_t time) {
    if (time < last) [[unlikely]] {
        disordered = true;
        return false;
    }
    first = std::min(first, time);
    last = time;
    return true;
}

inline void ThreadBuilder::State::enter(std::uint64_t time, std::uint32_t function,
                                        std::span<const std::uint64_t> words, std::uint16_t cpu) {
    if (!takes(time)) return;
    if (open.size() == kMaxOpen) {
        ++skipped;
        ++oddities.too_deep;
        return;
    }
    open.push(function);
    ++calls;
    encoder.enter(time + kOrigin, function, cpu, 0, false, 0, exactly(trace.words[function].enter, words));
    flush_if_full();
}

inline void ThreadBuilder::State::put_leave(std::uint64_t time, std::uint32_t function,
                                            std::span<const std::uint64_t> words, std::uint16_t cpu,
                                            bool unwound) {
    encoder.leave(time + kOrigin, function, cpu, unwound, exactly(trace.words[function].leave, words));
    flush_if_full();
}

void ThreadBuilder::State::leave(std::uint64_t time, std::span<const std::uint64_t> words,
                                 std::uint16_t cpu) {
    if (!takes(time)) return;
    if (skipped > 0) {
        --skipped;
        return;
    }
    if (open.empty()) {
        ++oddities.unmatched;
        return;
    }
    const std::uint32_t function = open.innermost();
    open.pop();
    put_leave(time, function, words, cpu);
}

inline void ThreadBuilder::State::leave_function(std::uint64_t time, std::uint32_t function,
                                                 std::span<const std::uint64_t> words, std::uint16_t cpu,
                                                 bool renamed) {
    if (!takes(time)) return;
    const bool is_innermost = !open.empty() && open.innermost() == function;
    // Most likely one of those that were left out.
    if (skipped > 0 && (is_innermost || !open.has(function))) {
        --skipped;
        return;
    }
    if (!is_innermost && !open.has(function)) {
        if (!renamed || open.empty()) {
            ++oddities.unmatched;
            return;
        }
        ++oddities.renamed;
        // The words are of another function than the call.
        words = {};
        function = open.innermost();
    }
    skipped = 0;
    open.end(function);
    put_leave(time, function, words, cpu);
}

void ThreadBuilder::State::pause(std::uint64_t from, std::uint64_t until) {
    encoder.pause(from + kOrigin, std::max(from, until) + kOrigin, trace::PauseReason::other);
    flush_if_full();
}

void ThreadBuilder::State::unwind(std::uint64_t time, std::size_t kept) {
    if (!takes(time)) return;
    if (open.size() + skipped <= kept) return;
    skipped = kept > open.size() ? kept - open.size() : 0;
    while (open.size() > kept) {
        const std::uint32_t function = open.innermost();
        open.pop();
        put_leave(time, function, {}, trace::kNoCpu, true);
    }
}

void ThreadBuilder::State::gap() {
    open.keep(0);
    skipped = 0;
    // What is encoded becomes a chunk of its own: the gap is before the next.
    append();
    encoder.gap();
}

void ThreadBuilder::State::give(GivenEvent event, std::span<const std::uint64_t> words) {
    event.words_at = given_words.size();
    event.words = static_cast<std::uint8_t>(std::min<std::size_t>(words.size(), UINT8_MAX));
    given_words.insert(given_words.end(), words.begin(), words.begin() + event.words);
    given.push_back(event);
}

void ThreadBuilder::State::encode_given() {
    const auto earlier = [](const GivenEvent& a, const GivenEvent& b) { return a.time < b.time; };
    if (!std::is_sorted(given.begin(), given.end(), earlier))
        std::stable_sort(given.begin(), given.end(), earlier);
    for (const GivenEvent& event : given) {
        const std::span<const std::uint64_t> words{given_words.data() + event.words_at, event.words};
        switch (event.what) {
            case GivenEvent::What::enter:
                enter(event.time, event.function, words, event.cpu);
                break;
            case GivenEvent::What::leave:
                leave(event.time, words, event.cpu);
                break;
            case GivenEvent::What::leave_function:
            case GivenEvent::What::leave_renamed:
                leave_function(event.time, event.function, words, event.cpu,
                               event.what == GivenEvent::What::leave_renamed);
                break;
            case GivenEvent::What::pause:
                pause(event.time, words.front());
                break;
            case GivenEvent::What::unwind:
                unwind(event.time, words.front());
                break;
            case GivenEvent::What::gap:
                gap();
                break;
        }
    }
    given = {};
    given_words = {};
}

void ThreadBuilder::State::finish(std::uint64_t end_of_trace) {
    release();
    trace::ThreadInfo& info = trace.info.threads[index];
    const std::uint64_t beginning = std::min(begin.value_or(first), first);
    info.start = beginning == UINT64_MAX ? 0 : beginning + kOrigin;
    info.end = std::max(end.value_or(end_of_trace), last) + kOrigin;
    std::ranges::sort(off_cpu, {}, &trace::OffCpu::out);
    trace::OffCpuEncoder intervals;
    for (trace::OffCpu& each : off_cpu) {
        each.out += kOrigin;
        each.in += kOrigin;
        intervals.add(each);
        if (intervals.full()) trace.append_off_cpu(info.tid, intervals);
    }
    trace.append_off_cpu(info.tid, intervals);
    off_cpu = {};
}

ThreadBuilder::ThreadBuilder(std::unique_ptr<State> state) : state_(std::move(state)) {}
ThreadBuilder::~ThreadBuilder() = default;

void ThreadBuilder::enter(std::uint64_t time, std::uint32_t function, std::span<const std::uint64_t> words,
                          std::uint16_t cpu) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.enter(time, function, words, cpu);
    state.given_open.push(function);
    state.give({.time = time, .function = function, .cpu = cpu, .what = GivenEvent::What::enter}, words);
}

void ThreadBuilder::leave(std::uint64_t time, std::span<const std::uint64_t> words, std::uint16_t cpu) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.leave(time, words, cpu);
    if (!state.given_open.empty()) state.given_open.pop();
    state.give({.time = time, .cpu = cpu, .what = GivenEvent::What::leave}, words);
}

void ThreadBuilder::leave_function(std::uint64_t time, std::uint32_t function,
                                   std::span<const std::uint64_t> words, std::uint16_t cpu) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.leave_function(time, function, words, cpu, false);
    if (state.given_open.has(function)) state.given_open.end(function);
    state.give({.time = time, .function = function, .cpu = cpu, .what = GivenEvent::What::leave_function},
               words);
}

void ThreadBuilder::leave_renamed(std::uint64_t time, std::uint32_t function,
                                  std::span<const std::uint64_t> words, std::uint16_t cpu) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.leave_function(time, function, words, cpu, true);
    if (state.given_open.has(function))
        state.given_open.end(function);
    else if (!state.given_open.empty())
        state.given_open.pop();
    state.give({.time = time, .function = function, .cpu = cpu, .what = GivenEvent::What::leave_renamed},
               words);
}

void ThreadBuilder::pause(std::uint64_t begin, std::uint64_t end) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.pause(begin, end);
    const std::array<std::uint64_t, 1> word = {end};
    state.give({.time = begin, .what = GivenEvent::What::pause}, word);
}

void ThreadBuilder::unwind(std::uint64_t time, std::size_t kept) {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.unwind(time, kept);
    state.given_open.keep(kept);
    const std::array<std::uint64_t, 1> word = {kept};
    state.give({.time = time, .what = GivenEvent::What::unwind}, word);
}

void ThreadBuilder::gap() {
    State& state = *state_;
    if (state.trace.order == Order::of_time) return state.gap();
    state.give({.time = state.given.empty() ? 0 : state.given.back().time, .what = GivenEvent::What::gap},
               {});
}

void ThreadBuilder::off_cpu(const trace::OffCpu& interval) {
    state_->off_cpu.push_back(interval);
}

void ThreadBuilder::began(std::uint64_t time) {
    state_->begin = time;
}

void ThreadBuilder::ended(std::uint64_t time) {
    state_->end = time;
}

void ThreadBuilder::release() {
    state_->release();
}

std::size_t ThreadBuilder::depth() const {
    const State& state = *state_;
    return state.trace.order == Order::of_time ? state.open.size() + state.skipped : state.given_open.size();
}

std::uint32_t ThreadBuilder::innermost() const {
    const State& state = *state_;
    return state.trace.order == Order::of_time ? state.open.innermost() : state.given_open.innermost();
}

std::uint64_t ThreadBuilder::last_time() const {
    const State& state = *state_;
    if (state.trace.order == Order::of_time) return state.last;
    return state.given.empty() ? 0 : state.given.back().time;
}

bool ThreadBuilder::disordered() const {
    return state_->disordered;
}

}  // namespace rdam::inputs
