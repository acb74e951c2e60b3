// A pass over a thread's calls for a visitor, with what they lost.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/views/sequence_log.h"
#include "analyzer/views/thread_calls.h"
#include "analyzer/views/visit.h"

namespace rdam::views {

/// `Bases` has of(sequence, call), asked for each call that is timed.
template <class Bases>
class ThreadVisit final : public ThreadSequences<ThreadVisit<Bases>> {
  public:
    /// All must outlive it. `shown` by function, empty: all.
    ThreadVisit(const trace::TraceInfo& info, const score::ResolvedSettings& settings, Bases& bases,
                const std::vector<bool>& shown, CallVisitor& visitor)
        : ThreadSequences<ThreadVisit>(info, settings),
          bases_(bases),
          shown_(shown),
          all_shown_(shown.empty()),
          visitor_(visitor),
          cuts_(settings.baseline.kind == score::Baseline::Kind::percentile) {}

    /// Before anything is consumed, one of: what is found is kept in `log`; or, not found again, taken from
    /// it, if it is whole.
    void keep_sequences(SequenceLog& log, LogRoom& room) {
        log_ = &log;
        room_ = &room;
    }
    void take_sequences(const SequenceLog& log) {
        if (log.whole()) known_.emplace(log);
    }
    /// Times outside are moved to its ends.
    void set_span(const trace::TickRange& span) {
        span_ = span;
        last_ = span.begin;
    }
    void consume(std::span<const trace::Event> events) {
        for (const trace::Event& event : events) {
            this->see(event);
            if (event.kind == trace::EventKind::pause) [[unlikely]]
                paused(event);
        }
        this->look_away();
    }
    /// Calls that are still open end at `tsc`.
    void finish(std::uint64_t tsc) {
        in_order(tsc);
        this->finish_matching();
    }

  private:
    friend calls::BasicMatcher<ThreadVisit>;

    struct Open {
        std::uint64_t begin = 0;
        std::uint64_t weight = 1;
        std::uint32_t function = 0;
        bool shown = true;
    };

    void opened(const trace::Event& enter, std::uint64_t weight) {
        if (!known_) this->begin(enter);
        // In its place: a copy would read whole words of what has just been written in parts, and wait.
        Open& open = open_.emplace_back();
        open.begin = in_order(enter.tsc);
        open.weight = weight;
        open.function = enter.function;
        open.shown = is_shown(enter.function);
        if (!open.shown) return;
        visitor_.opened({.function = enter.function,
                         .depth = depth_++,
                         .tsc = open.begin,
                         .weight = weight,
                         .cpu = enter.cpu,
                         .words = enter.words});
    }

    void closed(const calls::Call& call) {
        const std::uint32_t sequence = sequence_of_closed(call);
        const bool shown = open_.back().shown;
        const std::uint64_t begin = open_.back().begin;
        open_.pop_back();
        if (!shown) return;
        Closed closed{.function = call.function,
                      .depth = --depth_,
                      .begin = begin,
                      .tsc = in_order(call.last->tsc),
                      .weight = call.weight,
                      .cpu = call.last->cpu,
                      .end = call.end(),
                      .timed = call.timed,
                      .outermost = call.outermost,
                      .sequence = sequence,
                      .result = result_of(call.function)};
        if (call.timed) {
            closed.duration = static_cast<double>(call.duration);
            closed.self = call.self_timed ? static_cast<double>(call.self) : std::nan("");
            const auto [base, self_base] = bases_.of(sequence, call);
            if (base) {
                closed.baseline = base->ticks;
                closed.lost = base->lost(closed.duration, call.held > 0);
                if (cuts_) closed.lost = std::max(closed.lost, 0.0);
            }
            if (self_base) {
                closed.lost_self = self_base->lost(closed.self, call.held > 0);
                if (cuts_) closed.lost_self = std::max(closed.lost_self, 0.0);
            }
        }
        visitor_.closed(closed);
    }

    void abandoned(std::size_t count) {
        if (!known_) this->abandon(count);
        const std::uint64_t tsc = this->event() != nullptr ? in_order(this->event()->tsc) : last_;
        for (; count > 0; --count) {
            const Open open = open_.back();
            open_.pop_back();
            if (open.shown)
                visitor_.closed({.function = open.function,
                                 .depth = --depth_,
                                 .begin = open.begin,
                                 .tsc = tsc,
                                 .weight = open.weight,
                                 .end = calls::End::not_seen});
        }
    }

    void paused(const trace::Event& pause) {
        // The others are made from times off the processor.
        const bool recorded =
            pause.reason != trace::PauseReason::recorder && pause.reason != trace::PauseReason::program;
        if (recorded && pause.tsc <= pause.until && pause.tsc >= span_.begin && pause.until <= span_.end)
            visitor_.paused({.begin = pause.tsc, .end = pause.until, .reason = pause.reason});
    }

    /// Records of signal handlers may be earlier than what came before them.
    std::uint64_t in_order(std::uint64_t tsc) {
        last_ = std::clamp(tsc, last_, std::max(last_, span_.end));
        return last_;
    }

    bool is_shown(std::uint32_t function) const { return all_shown_ || shown_[function]; }

    const std::uint64_t* result_of(std::uint32_t function) const {
        if (this->event()->words.empty()) return nullptr;
        const auto& result = this->info().functions[function].result;
        if (!this->gave_result_of(function) || result.empty() ||
            result[0].word >= this->event()->words.size())
            return nullptr;
        return &this->event()->words[result[0].word];
    }

    std::uint32_t sequence_of_closed(const calls::Call& call) {
        if (known_) return known_->next();
        const std::uint32_t sequence = this->end(call);
        if (log_ != nullptr) log_->add(sequence, *room_);
        return sequence;
    }

    SequenceLog* log_ = nullptr;
    LogRoom* room_ = nullptr;
    std::optional<SequenceLog::Reader> known_;
    Bases& bases_;
    const std::vector<bool>& shown_;
    bool all_shown_;
    CallVisitor& visitor_;
    bool cuts_;
    trace::TickRange span_;
    std::uint64_t last_ = 0;
    std::vector<Open> open_;
    std::uint32_t depth_ = 0;  // of calls that are shown
};

}  // namespace rdam::views
