// A thread's calls with their sequences; and the passes of a Visit: durations by sequence, and calls for a
// visitor.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyzer/calls/matcher.h"
#include "analyzer/mining/sequence_builder.h"
#include "analyzer/mining/sequence_names.h"
#include "analyzer/mining/sequence_store.h"
#include "analyzer/score/thread/resolved_settings.h"
#include "analyzer/views/sequence_log.h"
#include "analyzer/views/visit.h"

namespace rdam::views {

class TimedSink {
  public:
    virtual ~TimedSink() = default;
    /// A call that is timed.
    virtual void timed(std::uint32_t sequence, const calls::Call& call) = 0;
};

/// What all who go through a thread's calls do the same way, so that sequences have the same numbers for all
/// of them. Not thread-safe.
class ThreadSequences : protected calls::CallSink {
  public:
    ThreadSequences(const trace::TraceInfo& info, const score::ResolvedSettings& settings);

    void consume(std::span<const trace::Event> events);
    void gap() { matcher_.gap(); }
    std::vector<std::uint64_t> lasting_ids() const {
        return mining::lasting_ids(store_, info_, settings_.keys);
    }

  protected:
    void begin(const trace::Event& enter);
    std::uint32_t end() { return builder_.close(); }
    void abandon(std::size_t count) { builder_.abandon(count); }
    void finish_matching() { matcher_.finish(); }
    const trace::TraceInfo& info() const { return info_; }
    const score::ResolvedSettings& settings() const { return settings_; }
    const mining::SequenceStore& store() const { return store_; }
    /// During closed(), whether the event has the result of `function`.
    bool gave_result_of(std::uint32_t function) const;
    const trace::Event* event() const {
        return event_;
    }  ///< that the matcher looks at; null: the last is over

    void tree_ended(std::uint64_t /*weight*/) override {}
    virtual void paused(const trace::Event& /*pause*/) {}

  private:
    const trace::TraceInfo& info_;
    const score::ResolvedSettings& settings_;
    mining::SequenceStore store_;
    mining::SequenceBuilder builder_;
    calls::Matcher matcher_;
    std::vector<std::uint64_t> key_values_;  // scratch
    const trace::Event* event_ = nullptr;
};

/// The first pass.
class ThreadCalls final : public ThreadSequences {
  public:
    ThreadCalls(const trace::TraceInfo& info, const score::ResolvedSettings& settings, TimedSink& sink)
        : ThreadSequences(info, settings), sink_(sink) {}
    void finish() { finish_matching(); }

  private:
    void opened(const trace::Event& enter, std::uint64_t /*weight*/) override { begin(enter); }
    void closed(const calls::Call& call) override {
        const std::uint32_t sequence = end();
        if (call.timed) sink_.timed(sequence, call);
    }
    void abandoned(std::size_t count) override { abandon(count); }

    TimedSink& sink_;
};

/// What the calls of a thread are compared with.
class Bases {
  public:
    virtual ~Bases() = default;
    /// Ticks; nothing: the call has none.
    struct Base {
        std::optional<double> whole;  ///< of an outermost call
        std::optional<double> self;   ///< of its self time
    };
    /// Of a timed call.
    virtual Base of(std::uint32_t sequence, const calls::Call& call) = 0;
};

/// A pass with what the calls lost.
class ThreadVisit final : public ThreadSequences {
  public:
    /// All must outlive it. `shown` by function, empty: all.
    ThreadVisit(const trace::TraceInfo& info, const score::ResolvedSettings& settings, Bases& bases,
                const std::vector<bool>& shown, CallVisitor& visitor);

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
    void set_span(const score::TickRange& span) {
        span_ = span;
        last_ = span.begin;
    }
    /// Calls that are still open end at `tsc`.
    void finish(std::uint64_t tsc);

  private:
    struct Open {
        std::uint64_t begin = 0;
        std::uint64_t weight = 1;
        std::uint32_t function = 0;
        bool shown = true;
    };

    void opened(const trace::Event& enter, std::uint64_t weight) override;
    void closed(const calls::Call& call) override;
    void abandoned(std::size_t count) override;
    void paused(const trace::Event& pause) override;
    std::uint64_t in_order(std::uint64_t tsc);
    const std::uint64_t* result_of(std::uint32_t function) const;
    bool is_shown(std::uint32_t function) const { return shown_.empty() || shown_[function]; }

    std::uint32_t sequence_of_closed();

    SequenceLog* log_ = nullptr;
    LogRoom* room_ = nullptr;
    std::optional<SequenceLog::Reader> known_;
    Bases& bases_;
    const std::vector<bool>& shown_;
    CallVisitor& visitor_;
    bool cuts_;
    score::TickRange span_;
    std::uint64_t last_ = 0;
    std::vector<Open> open_;
    std::uint32_t depth_ = 0;  // of calls that are shown
};

}  // namespace rdam::views
