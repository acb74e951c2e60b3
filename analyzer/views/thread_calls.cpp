#include "analyzer/views/thread_calls.h"

#include <algorithm>

namespace rdam::views {

ThreadSequences::ThreadSequences(const trace::TraceInfo& info, const score::ResolvedSettings& settings)
    : info_(info),
      settings_(settings),
      store_(info.functions.size()),
      builder_(store_, settings.sequences),
      matcher_(info.functions.size(), settings.cost, settings.ignored, *this) {
    matcher_.set_latest(calls::latest_possible(info));
    matcher_.set_transparent(settings.windowed);
    builder_.set_transparent(settings.windowed);
}

void ThreadSequences::consume(std::span<const trace::Event> events) {
    for (const trace::Event& event : events) {
        event_ = &event;
        matcher_.consume({&event, 1});
        if (event.kind == trace::EventKind::pause) paused(event);
    }
    event_ = nullptr;
}

void ThreadSequences::begin(const trace::Event& enter) {
    key_values_.clear();
    for (const mining::KeyWord& key : settings_.keys[enter.function])
        key_values_.push_back(key.value(enter));
    builder_.open(enter.function, key_values_);
    builder_.set_repeats(settings_.loop_rests.repeats(enter));
}

// The leave of a frame has the result of the function that opened it. A function entered by a tail call
// returned in its place, with the same result if both have one of the same type.
bool ThreadSequences::gave_result_of(std::uint32_t function) const {
    if (event_->kind != trace::EventKind::leave || event_->unwound) return false;
    if (event_->function == function) return true;
    const auto& own = info_.functions[function].result;
    const auto& frames = info_.functions[event_->function].result;
    return !own.empty() && !frames.empty() && own[0].kind == frames[0].kind &&
           own[0].size == frames[0].size && own[0].word == frames[0].word;
}

ThreadVisit::ThreadVisit(const trace::TraceInfo& info, const score::ResolvedSettings& settings, Bases& bases,
                         const std::vector<bool>& shown, CallVisitor& visitor)
    : ThreadSequences(info, settings),
      bases_(bases),
      shown_(shown),
      visitor_(visitor),
      cuts_(settings.baseline.kind == score::Baseline::Kind::percentile) {}

/// Records of signal handlers may be earlier than what came before them.
std::uint64_t ThreadVisit::in_order(std::uint64_t tsc) {
    last_ = std::clamp(tsc, last_, std::max(last_, span_.end));
    return last_;
}

void ThreadVisit::opened(const trace::Event& enter, std::uint64_t weight) {
    if (!known_) begin(enter);
    const Open open{in_order(enter.tsc), weight, enter.function, is_shown(enter.function)};
    open_.push_back(open);
    if (!open.shown) return;
    visitor_.opened({.function = enter.function,
                     .depth = depth_++,
                     .tsc = open.begin,
                     .weight = weight,
                     .cpu = enter.cpu,
                     .words = enter.words});
}

const std::uint64_t* ThreadVisit::result_of(std::uint32_t function) const {
    const auto& result = info().functions[function].result;
    if (!gave_result_of(function) || result.empty() || result[0].word >= event()->words.size())
        return nullptr;
    return &event()->words[result[0].word];
}

std::uint32_t ThreadVisit::sequence_of_closed() {
    if (known_) return known_->next();
    const std::uint32_t sequence = end();
    if (log_ != nullptr) log_->add(sequence, *room_);
    return sequence;
}

void ThreadVisit::closed(const calls::Call& call) {
    const std::uint32_t sequence = sequence_of_closed();
    const Open open = open_.back();
    open_.pop_back();
    if (!open.shown) return;
    const bool tail = call.last->kind != trace::EventKind::leave;
    Closed closed{.function = call.function,
                  .depth = --depth_,
                  .begin = open.begin,
                  .tsc = in_order(call.last->tsc),
                  .weight = call.weight,
                  .cpu = call.last->cpu,
                  .end = tail                 ? End::tail
                         : call.last->unwound ? End::unwound
                                              : End::returned,
                  .timed = call.timed,
                  .outermost = call.outermost,
                  .sequence = sequence,
                  .result = result_of(call.function)};
    if (call.timed) {
        closed.duration = static_cast<double>(call.duration);
        closed.self = call.self_timed ? static_cast<double>(call.self) : std::nan("");
        const auto [base, self_base] = bases_.of(sequence, call);
        if (base) {
            closed.baseline = *base;
            closed.lost = closed.duration - *base;
            if (cuts_) closed.lost = std::max(closed.lost, 0.0);
        }
        if (self_base) {
            closed.lost_self = closed.self - *self_base;
            if (cuts_) closed.lost_self = std::max(closed.lost_self, 0.0);
        }
    }
    visitor_.closed(closed);
}

void ThreadVisit::abandoned(std::size_t count) {
    if (!known_) abandon(count);
    const std::uint64_t tsc = event() != nullptr ? in_order(event()->tsc) : last_;
    for (; count > 0; --count) {
        const Open open = open_.back();
        open_.pop_back();
        if (open.shown)
            visitor_.closed({.function = open.function,
                             .depth = --depth_,
                             .begin = open.begin,
                             .tsc = tsc,
                             .weight = open.weight,
                             .end = End::not_seen});
    }
}

void ThreadVisit::paused(const trace::Event& pause) {
    // The others are made from times off the processor.
    const bool recorded =
        pause.reason != trace::PauseReason::recorder && pause.reason != trace::PauseReason::program;
    if (recorded && pause.tsc <= pause.until && pause.tsc >= span_.begin && pause.until <= span_.end)
        visitor_.paused({.begin = pause.tsc, .end = pause.until, .reason = pause.reason});
}

void ThreadVisit::finish(std::uint64_t tsc) {
    in_order(tsc);
    finish_matching();
}

}  // namespace rdam::views
