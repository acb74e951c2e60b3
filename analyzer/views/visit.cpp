#include "analyzer/views/visit.h"

#include <tsl/robin_map.h>

#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <utility>

#include "analyzer/calls/call_stream.h"
#include "analyzer/calls/matcher.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/sequences/sequence_names.h"
#include "analyzer/views/thread_calls.h"
#include "analyzer/views/thread_visit.h"
#include "tools/base/in_parallel.h"

namespace rdam::views {
namespace {

/// Bytes for the sequences of all calls, in powers of two for each thread: some hundred million calls.
constexpr std::size_t kMaxLogs = std::size_t{256} << 20;

/// Times of each sequence of a thread.
class SequenceTimes {
  public:
    explicit SequenceTimes(bool all) : all_(all) {}

    /// A call, or its self time.
    void add(std::uint32_t sequence, std::uint64_t ticks, const calls::Call& call) {
        const std::uint64_t weight = call.weight;
        if (sequence >= sure_.size()) {
            sure_.resize(sequence + std::size_t{1});
            sums_.resize(sequence + std::size_t{1});
        }
        const bool held = call.held > 0;
        if (held)
            held_[sequence].add(ticks, call);
        else
            sure_[sequence].add(ticks, weight);
        sums_[sequence] += static_cast<double>(ticks) * static_cast<double>(weight);
        if (!all_) return;
        if (sequence >= calls_.size()) {
            calls_.resize(sequence + std::size_t{1});
            held_calls_.resize(sequence + std::size_t{1});
        }
        (held ? held_calls_ : calls_)[sequence].add(ticks, weight);
    }
    std::size_t size() const { return sure_.size(); }
    score::SureLeast least(std::size_t sequence) const {
        score::SureLeast least;
        least.add(sure_[sequence]);
        const Held held = held_of(sequence);
        least.add_unsure(held.seeming, held.bound);
        return least;
    }

    SequenceBase base(const score::Baseline& baseline, std::size_t sequence,
                      const score::Least& process) const {
        const score::SureLeast sure = least(sequence);
        const score::Least own = sure.least();
        const std::uint64_t floor = sure.floor(baseline.step);
        score::Distribution calls;
        if (all_) {
            calls = calls_[sequence];
            calls.merge_unsure(held_calls_[sequence], held_of(sequence).bound, floor);
        }
        const score::Base base = score::base_of(baseline, calls, own, process);
        // In all they have not lost less than nothing, whatever the clock may have erred.
        const double mean = sums_[sequence] / static_cast<double>(std::max<std::uint64_t>(own.count(), 1));
        return {.ticks = base.error > 0 ? std::min(base.ticks, mean) : base.ticks,
                .floor = static_cast<double>(floor)};
    }
    std::vector<SequenceBase> bases(const score::Baseline& baseline) const {
        std::vector<SequenceBase> all;
        for (std::size_t s = 0; s < size(); ++s)
            all.push_back(base(baseline, s, {}));
        return all;
    }

  private:
    struct Held {
        score::Least seeming, bound;

        void add(std::uint64_t ticks, const calls::Call& call) {
            seeming.add(ticks, call.weight);
            bound.add(score::Distribution::saturating_sum(ticks, call.held), call.weight);
        }
    };

    Held held_of(std::size_t sequence) const {
        const auto found = held_.find(static_cast<std::uint32_t>(sequence));
        return found != held_.end() ? found->second : Held{};
    }

    bool all_;
    std::vector<score::Least> sure_;
    tsl::robin_map<std::uint32_t, Held> held_;  // those with calls that may have taken longer
    std::vector<double> sums_;                  // of both
    std::vector<score::Distribution> calls_;
    std::vector<score::Distribution> held_calls_;
};

class Durations {
  public:
    Durations(bool all, bool self_times) : whole(all), self(all), self_times_(self_times) {}

    /// A call that is timed.
    void timed(std::uint32_t sequence, const calls::Call& call) {
        if (call.outermost) whole.add(sequence, call.duration, call);
        if (self_times_ && call.self_timed) self.add(sequence, call.self, call);
    }

    SequenceTimes whole, self;

  private:
    bool self_times_;
};

/// The first pass.
class ThreadCalls final : public ThreadSequences<ThreadCalls> {
  public:
    ThreadCalls(const trace::TraceInfo& info, const score::ResolvedSettings& settings, Durations& durations)
        : ThreadSequences(info, settings), durations_(durations) {}
    void finish() { finish_matching(); }

  private:
    friend calls::BasicMatcher<ThreadCalls>;

    void opened(const trace::Event& enter, std::uint64_t /*weight*/) { begin(enter); }
    void closed(const calls::Call& call) {
        const std::uint32_t sequence = end(call);
        if (call.timed) durations_.timed(sequence, call);
    }
    void abandoned(std::size_t count) { abandon(count); }

    Durations& durations_;
};

/// Nothing: the call has none.
struct Base {
    std::optional<SequenceBase> whole;  ///< of an outermost call
    std::optional<SequenceBase> self;   ///< of its self time
};

/// The baselines that are known before the second pass.
class KnownBases {
  public:
    KnownBases(const std::vector<SequenceBase>& whole, const std::vector<SequenceBase>& self)
        : whole_(whole), self_(self) {}

    Base of(std::uint32_t sequence, const calls::Call& call) const {
        return {.whole = call.outermost ? in(whole_, sequence) : std::nullopt,
                .self = call.self_timed ? in(self_, sequence) : std::nullopt};
    }

  private:
    static std::optional<SequenceBase> in(const std::vector<SequenceBase>& bases, std::uint32_t sequence) {
        return sequence < bases.size() ? std::optional{bases[sequence]} : std::nullopt;
    }

    const std::vector<SequenceBase>& whole_;  // by sequence
    const std::vector<SequenceBase>& self_;   // … but none may be known
};

/// The baselines of an EarlyLook, which settle while it reads.
class SettlingBases {
  public:
    SettlingBases(Durations& durations, double error) : durations_(durations), error_(error) {}

    Base of(std::uint32_t sequence, const calls::Call& call) {
        durations_.timed(sequence, call);
        if (!call.outermost) return {};
        if (sequence >= settling_.size()) settling_.resize(sequence + std::size_t{1});
        Settling& own = settling_[sequence];
        const bool first = own.calls++ == 0;
        const bool held = call.held > 0;
        const auto seeming = static_cast<double>(call.duration);
        const double bound = seeming + static_cast<double>(call.held);
        own.bound = std::min(own.bound, bound);
        // What calls seem to have taken sets a baseline only as long as nothing is sure (score::SureLeast).
        const bool first_sure = !held && !own.sure;
        own.sure = own.sure || !held;
        const double ticks = first_sure ? own.bound : own.sure ? bound : seeming;
        if (first || first_sure || ticks < own.base * (1 - EarlyLook::kPart)) {
            own.base = ticks;
            own.unsettled = own.calls - 1;
        }
        return {.whole = SequenceBase{own.base + error_, own.base}, .self = {}};
    }
    std::uint64_t unsettled() const {
        std::uint64_t sum = 0;
        for (const Settling& each : settling_)
            sum += each.unsettled;
        return sum;
    }

  private:
    struct Settling {
        double base = 0;
        double bound = std::numeric_limits<double>::infinity();
        std::uint64_t calls = 0;
        std::uint64_t unsettled = 0;  ///< calls before that
        bool sure = false;            ///< there was a call without pauses
    };

    Durations& durations_;
    double error_;  // score::Baseline::error
    std::vector<Settling> settling_;
};

/// Without calls of which it is not known when they ended.
score::ResolvedSelection of_known_ends(const trace::TraceInfo& info, score::ResolvedSelection selection) {
    const std::vector<bool> known = calls::with_known_ends(info);
    for (std::size_t function = 0; function < known.size(); ++function)
        selection.shown[function] = selection.shown[function] && known[function];
    return selection;
}

/// Where the run is, whatever a damaged trace says: from the first thread's start to the last one's end.
trace::TickRange span_of(const trace::TraceReader& reader, const score::ResolvedSelection& selection) {
    trace::TickRange span{UINT64_MAX, 0};
    for (const std::uint32_t t : selection.threads) {
        if (const std::uint64_t begin = reader.begin_of(t); begin != 0)
            span.begin = std::min(span.begin, begin);
        span.end = std::max(span.end, reader.end_of(t));
    }
    if (selection.window) {
        span.begin = std::max(span.begin == UINT64_MAX ? 0 : span.begin, selection.window->begin);
        span.end = std::min(span.end, selection.window->end);
    }
    if (span.begin >= span.end) span = {span.end, span.end + 1};
    return span;
}

}  // namespace

/// Over both passes.
struct Visit::Counted {
    Progress progress;
    std::atomic<std::uint64_t> events = 0;
    std::mutex mutex;
    std::atomic<bool> stopped = false;

    /// Whether more is wanted.
    bool add(std::uint64_t more) {
        constexpr std::uint64_t kOften = std::uint64_t{1} << 20;
        const std::uint64_t before = events.fetch_add(more);
        if (progress && before / kOften != (before + more) / kOften) {
            const std::lock_guard guard{mutex};
            if (!progress(before + more)) stopped = true;
        }
        return !stopped;
    }
};

Visit::Visit(const trace::TraceReader& reader, score::ResolvedSettings settings,
             score::ResolvedSelection selection, calls::Absences absences)
    : reader_(&reader),
      settings_(std::make_shared<const score::ResolvedSettings>(std::move(settings))),
      selection_(of_known_ends(reader.info(), std::move(selection))),
      absences_(std::make_shared<const calls::Absences>(std::move(absences))),
      counted_(std::make_shared<Counted>()),
      bases_(reader.info().threads.size()),
      unended_(reader.info().threads.size()),
      clock_(trace::time_scale(reader.info())),
      span_(span_of(reader, selection_)) {}

Result<Visit> Visit::prepare(const trace::TraceReader& reader, const score::Settings& settings,
                             const Progress& progress, const Wanted& wanted) {
    auto resolved = score::resolve(reader.info(), settings);
    if (!resolved) return tl::unexpected{resolved.error()};
    auto selection = score::resolve_selection(reader.info(), settings.selection);
    if (!selection) return tl::unexpected{selection.error()};
    auto absences = calls::Absences::of(reader);
    if (!absences) return tl::unexpected{absences.error()};
    Visit visit{reader, std::move(*resolved), std::move(*selection), std::move(*absences)};
    visit.counted_->progress = progress;
    if (auto found = visit.find_baselines(score::threads_for(settings.jobs), wanted); !found)
        return tl::unexpected{found.error()};
    return visit;
}

/// `visitor`: null, or it may stop.
template <class Calls>
Result<void> Visit::read(std::uint32_t thread, Calls& calls, const CallVisitor* visitor) const {
    const auto off_cpu = absences_->thread(thread);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    calls.set_unended(unended_[thread]);
    calls::CallStream stream{*reader_, thread, *off_cpu, stream_options()};
    return stream.read(calls, [&](std::size_t events) {
        return counted_->add(events) && (visitor == nullptr || visitor->goes_on());
    });
}

/// `calls`: a ThreadVisit.
template <class Calls>
Result<void> Visit::show(std::uint32_t thread, Calls& calls, const CallVisitor& visitor) const {
    calls.set_span(span_);
    if (auto done = read(thread, calls, &visitor); !done) return done;
    calls.finish(std::min(reader_->end_of(thread), span_.end));
    return {};
}

/// Before the thread is read, since what is shown at once cannot be taken back.
Result<void> Visit::find_unended(std::uint32_t thread) {
    const auto off_cpu = absences_->thread(thread);
    if (!off_cpu) return tl::unexpected{off_cpu.error()};
    auto found = calls::unended_calls(*reader_, thread, *off_cpu, stream_options(),
                                      [&](std::size_t /*events*/) { return counted_->add(0); });
    if (!found) return tl::unexpected{found.error()};
    unended_[thread] = std::move(*found);
    return {};
}

Result<void> Visit::find_baselines(unsigned jobs, const Wanted& wanted) {
    const score::Baseline& baseline = settings_->baseline;
    const bool all = baseline.kind == score::Baseline::Kind::percentile;
    const bool of_process = baseline.kind == score::Baseline::Kind::process;
    const auto& threads = selection_.threads;
    self_bases_.resize(bases_.size());
    std::vector<std::pair<std::unique_ptr<Durations>, std::vector<std::uint64_t>>> found(threads.size());
    EarlyLook* const early = of_process || all ? nullptr : wanted.early;
    if (early != nullptr) logs_.resize(bases_.size());
    LogRoom room{kMaxLogs};
    std::atomic<std::uint64_t> unsettled = 0;
    const auto find_own = [&](std::size_t i) -> Result<void> {
        if (auto done = find_unended(threads[i]); !done) return done;
        auto durations = std::make_unique<Durations>(all, wanted.self_losses);
        if (early != nullptr) {
            SettlingBases bases{*durations, settings_->baseline.error};
            const auto visitor = early->begin();
            ThreadVisit calls{info(), *settings_, bases, selection_.shown, *visitor};
            calls.keep_sequences(logs_[threads[i]], room);
            if (auto done = show(threads[i], calls, *visitor); !done) return done;
            early->end(*visitor);
            unsettled += bases.unsettled();
        } else {
            ThreadCalls calls{info(), *settings_, *durations};
            if (auto done = read(threads[i], calls, nullptr); !done) return done;
            calls.finish();
            if (of_process) {
                found[i] = {std::move(durations), calls.lasting_ids()};
                return {};
            }
        }
        bases_[threads[i]] = durations->whole.bases(baseline);
        self_bases_[threads[i]] = durations->self.bases(baseline);
        return {};
    };
    if (auto done = score::try_in_parallel(threads.size(), jobs, find_own); !done) return done;
    if (early != nullptr) unsettled_ = unsettled;
    if (!of_process) return {};
    const auto find = [&](SequenceTimes Durations::*times, std::vector<std::vector<SequenceBase>>& bases) {
        std::map<std::uint64_t, score::SureLeast> process;
        for (const auto& [durations, ids] : found) {
            const SequenceTimes& own = (*durations).*times;
            for (std::size_t s = 0; s < own.size(); ++s)
                process[ids[s]].merge(own.least(s));
        }
        for (std::size_t i = 0; i < threads.size(); ++i) {
            const SequenceTimes& own = (*found[i].first).*times;
            for (std::size_t s = 0; s < own.size(); ++s)
                bases[threads[i]].push_back(own.base(baseline, s, process[found[i].second[s]].least()));
        }
    };
    find(&Durations::whole, bases_);
    find(&Durations::self, self_bases_);
    return {};
}

Result<void> Visit::thread(std::uint32_t thread, CallVisitor& visitor) const {
    KnownBases bases{bases_[thread], self_bases_[thread]};
    ThreadVisit calls{info(), *settings_, bases, selection_.shown, visitor};
    if (!logs_.empty()) calls.take_sequences(logs_[thread]);
    return show(thread, calls, visitor);
}

Result<std::vector<trace::OffCpu>> Visit::off_cpu(std::uint32_t thread) const {
    auto all = absences_->thread(thread);
    if (!all) return all;
    std::vector<trace::OffCpu> inside;
    for (trace::OffCpu each : *all) {
        each.out = std::max(each.out, span_.begin);
        each.in = std::min(each.in, span_.end);
        if (each.in > each.out) inside.push_back(each);
    }
    return inside;
}

std::string program_name(const trace::TraceInfo& info) {
    return info.process.command.empty() ? "(unknown program)" : info.process.command.front();
}

constexpr std::size_t kWholeText = SIZE_MAX;

std::string parameters_text(const trace::TraceInfo& info, std::uint32_t function,
                            std::span<const std::uint64_t> words) {
    std::string text;
    for (const trace::ParameterInfo& parameter : info.functions[function].parameters) {
        if (parameter.word >= words.size()) continue;
        if (!text.empty()) text += ", ";
        text +=
            parameter.name + "=" + sequences::shown_value(info, parameter, words[parameter.word], kWholeText);
    }
    return text;
}

std::string result_text(const trace::TraceInfo& info, std::uint32_t function, const std::uint64_t* result) {
    const trace::FunctionInfo& called = info.functions[function];
    if (result == nullptr || called.result.empty()) return {};
    return sequences::shown_value(info, called.result.front(), *result, kWholeText);
}

}  // namespace rdam::views
