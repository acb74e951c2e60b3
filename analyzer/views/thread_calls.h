// A thread's calls with their sequences.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/matcher_impl.h"
#include "analyzer/score/resolved_settings.h"
#include "analyzer/sequences/sequence_builder.h"
#include "analyzer/sequences/sequence_names.h"
#include "analyzer/sequences/sequence_store.h"

namespace rdam::views {

/// What all who go through a thread's calls do the same way, so that sequences have the same numbers for all
/// of them. `Sink` derives from it and has the functions of calls::CallSink, none of them virtual: there are
/// hundreds of millions of calls. Not thread-safe.
template <class Sink>
class ThreadSequences {
  public:
    void consume(std::span<const trace::Event> events) {
        for (const trace::Event& event : events)
            see(event);
        look_away();
    }
    void gap() { matcher_.gap(); }
    /// As BasicMatcher's. Before the events; must outlive it.
    void set_unended(std::span<const std::uint64_t> calls) { matcher_.set_unended(calls); }
    std::vector<std::uint64_t> lasting_ids() const {
        return sequences::lasting_ids(store_, info_, settings_.keys);
    }

  protected:
    ThreadSequences(const trace::TraceInfo& info, const score::ResolvedSettings& settings)
        : info_(info),
          settings_(settings),
          results_(settings.keys),
          store_(info.functions.size()),
          builder_(store_, settings.sequences),
          matcher_(info.functions.size(), settings.cost, settings.ignored, static_cast<Sink&>(*this)) {
        matcher_.set_known_ends(settings.ends);
        matcher_.set_transparent(settings.transparent());
        matcher_.set_sampled(settings.windowed);
        builder_.set_transparent(settings.transparent());
    }

    void see(const trace::Event& event) {
        event_ = &event;
        matcher_.consume(event);
    }
    /// After see(): the event need no longer be there.
    void look_away() { event_ = nullptr; }
    void begin(const trace::Event& enter) {
        builder_.open(enter.function);
        for (const sequences::KeyWord& key : settings_.keys[enter.function])
            builder_.add_key(key.value(enter));
        builder_.set_repeats(settings_.loop_rests.repeats(enter));
    }
    std::uint32_t end(const calls::Call& call) {
        if (results_.any(call.function)) {
            std::uint64_t& value = builder_.key(results_.place(call.function));
            const sequences::KeyWord& key = settings_.keys[call.function][results_.place(call.function)];
            value = key.with_result(value, call.own_leave ? call.last : nullptr);
        }
        return builder_.close();
    }
    void abandon(std::size_t count) { builder_.abandon(count); }
    void finish_matching() { matcher_.finish(); }
    const trace::TraceInfo& info() const { return info_; }
    const score::ResolvedSettings& settings() const { return settings_; }
    const sequences::SequenceStore& store() const { return store_; }
    /// That the matcher looks at; null: the last is over.
    const trace::Event* event() const { return event_; }
    /// During closed(), whether the event has the result of `function`. The leave of a frame has that of the
    /// function that opened it. A function entered by a tail call returned in its place, with the same result
    /// if both have one of the same type.
    bool gave_result_of(std::uint32_t function) const {
        if (event_->kind != trace::EventKind::leave || event_->unwound) return false;
        if (event_->function == function) return true;
        const auto& own = info_.functions[function].result;
        const auto& frames = info_.functions[event_->function].result;
        return !own.empty() && !frames.empty() && own[0].kind == frames[0].kind &&
               own[0].size == frames[0].size && own[0].word == frames[0].word;
    }

    void tree_ended(std::uint64_t /*weight*/) {}
    void wait_opened(const trace::Event& /*enter*/) {}
    void waited(const calls::Call& /*wait*/) {}

  private:
    const trace::TraceInfo& info_;
    const score::ResolvedSettings& settings_;
    sequences::ResultKeys results_;
    sequences::SequenceStore store_;
    sequences::SequenceBuilder builder_;
    calls::BasicMatcher<Sink> matcher_;
    const trace::Event* event_ = nullptr;
};

}  // namespace rdam::views
