#include "tests/unit/analysis/recording.h"

#include <utility>

#include "analyzer/report/places.h"
#include "analyzer/report/selection.h"
#include "analyzer/score/kept_times.h"
#include "analyzer/score/thread_analysis.h"
#include "tests/unit/catch.h"

namespace rdam::test {

void ThreadRecording::add(trace::Event event, std::vector<std::uint64_t> words) {
    words_.push_back(std::move(words));
    event.words = words_.back();
    pieces_.back().events.push_back(event);
}

ThreadRecording& ThreadRecording::enter(std::uint64_t tsc, std::uint32_t function,
                                        std::vector<std::uint64_t> words, std::uint64_t caller,
                                        std::uint32_t stack) {
    trace::Event event;
    event.tsc = tsc;
    event.caller = caller;
    event.function = function;
    event.stack = stack;
    event.sampling = std::exchange(sampling_, std::uint8_t{0});
    add(event, std::move(words));
    return *this;
}

ThreadRecording& ThreadRecording::tail_enter(std::uint64_t tsc, std::uint32_t function,
                                             std::vector<std::uint64_t> words) {
    trace::Event event;
    event.tsc = tsc;
    event.function = function;
    event.kind = trace::EventKind::tail_enter;
    add(event, std::move(words));
    return *this;
}

ThreadRecording& ThreadRecording::leave(std::uint64_t tsc, std::uint32_t function) {
    trace::Event event;
    event.tsc = tsc;
    event.function = function;
    event.kind = trace::EventKind::leave;
    add(event, {});
    return *this;
}

ThreadRecording& ThreadRecording::returns(std::uint64_t tsc, std::uint32_t function, std::uint64_t result) {
    trace::Event event;
    event.tsc = tsc;
    event.function = function;
    event.kind = trace::EventKind::leave;
    add(event, {result});
    return *this;
}

ThreadRecording& ThreadRecording::pause(std::uint64_t begin, std::uint64_t end) {
    trace::Event event;
    event.tsc = begin;
    event.until = end;
    event.kind = trace::EventKind::pause;
    add(event, {});
    return *this;
}

ThreadRecording& ThreadRecording::switch_to(std::uint64_t tsc, std::uint64_t stack) {
    trace::Event event;
    event.tsc = tsc;
    event.until = stack;
    event.kind = trace::EventKind::stack_switch;
    add(event, {});
    return *this;
}

ThreadRecording& ThreadRecording::counted(std::uint64_t instructions) {
    pieces_.back().events.back().instructions = instructions;
    return *this;
}

ThreadRecording& ThreadRecording::unwind(std::uint64_t tsc, std::uint32_t function) {
    leave(tsc, function);
    pieces_.back().events.back().unwound = true;
    return *this;
}

ThreadRecording& ThreadRecording::tree(std::uint8_t rate) {
    sampling_ = static_cast<std::uint8_t>(rate + 1);
    return *this;
}

ThreadRecording& ThreadRecording::copy(std::span<const trace::Event> tree, std::uint8_t sampling) {
    for (trace::Event event : tree) {
        event.sampling = std::exchange(sampling, std::uint8_t{0});
        add(event, {event.words.begin(), event.words.end()});
    }
    return *this;
}

ThreadRecording& ThreadRecording::gap() {
    pieces_.push_back({.events = {}, .gap_before = true});
    return *this;
}

ThreadRecording& ThreadRecording::call(std::uint64_t tsc, std::uint32_t function, std::uint64_t duration,
                                       std::vector<std::uint64_t> words) {
    return enter(tsc, function, std::move(words)).leave(tsc + duration, function);
}

Recording::Recording(std::size_t functions, std::uint16_t enter_words) {
    info.clock.source = "rdtscp";
    info.clock.ticks_per_second = 1e9;
    info.process.command = {"./app"};
    info.process.clean_end = true;
    for (std::size_t i = 0; i < functions; ++i) {
        trace::FunctionInfo function;
        function.name = std::string(1, static_cast<char>('a' + i));
        function.linkage_name = function.name;
        function.module = "app";
        function.enter_words = enter_words;
        for (std::uint16_t w = 0; w < enter_words; ++w) {
            trace::ParameterInfo parameter;
            parameter.name = w == 0 ? "k" : "n";
            parameter.word = w;
            function.parameters.push_back(parameter);
        }
        info.functions.push_back(function);
    }
}

ThreadRecording& Recording::thread(std::uint64_t start, std::uint64_t end) {
    trace::ThreadInfo thread;
    thread.tid = static_cast<std::uint32_t>(100 + info.threads.size());
    thread.name = "thread-" + std::to_string(info.threads.size());
    thread.start = start;
    thread.end = end;
    info.threads.push_back(thread);
    return threads.emplace_back();
}

score::ResolvedSettings resolved(const Recording& recording, const score::Settings& settings) {
    auto result = score::resolve(recording.info, settings);
    if (!result) FAIL(result.error().message);
    return std::move(*result);
}

namespace {

/// Events by columns, as packs have them. Of another tool's trace: those without instructions are without all.
class Columns {
  public:
    explicit Columns(std::span<const trace::Event> events) {
        std::uint32_t processor = trace::kNoCpu;
        for (std::uint32_t i = 0; i < events.size(); ++i) {
            const trace::Event& event = events[i];
            op_.push_back(op_of(event));
            tsc_.push_back(event.tsc);
            first_word_.push_back(static_cast<std::uint32_t>(words_.size()));
            if (!event.unwound) words_.insert(words_.end(), event.words.begin(), event.words.end());
            instructions_.push_back(event.instructions);
            counted_ = counted_ || event.instructions != 0;
            if (event.kind >= trace::EventKind::pause)
                untils_.push_back({i, event.until});
            else if (std::exchange(processor, event.cpu) != event.cpu)
                processors_.push_back({i, event.cpu + std::uint32_t{1}});
            if (event.stack != 0) stacks_.push_back({i, event.stack});
            if (event.sampling != 0) sampling_.push_back({i, event.sampling});
        }
    }

    trace::EventColumns columns() const {
        trace::EventColumns columns{.ops = ops_,
                                    .op = op_,
                                    .tsc = tsc_,
                                    .first_word = first_word_,
                                    .words = words_,
                                    .instructions = {},
                                    .untils = untils_,
                                    .processors = processors_,
                                    .stacks = stacks_,
                                    .sampling = sampling_};
        if (counted_) columns.instructions = instructions_;
        return columns;
    }

  private:
    std::uint32_t op_of(const trace::Event& event) {
        trace::Event op{.caller = event.caller,
                        .function = event.function,
                        .cpu = trace::kNoCpu,
                        .kind = event.kind,
                        .reason = event.reason,
                        .unwound = event.unwound,
                        .words = event.unwound ? event.words : std::span<const std::uint64_t>{}};
        const auto words = static_cast<std::uint8_t>(event.unwound ? 0 : event.words.size());
        const auto known = std::ranges::find_if(ops_, [&](const trace::EventColumns::Op& each) {
            return each.event.caller == op.caller && each.event.function == op.function &&
                   each.event.kind == op.kind && each.event.reason == op.reason &&
                   each.event.unwound == op.unwound && each.words == words;
        });
        if (known != ops_.end()) return static_cast<std::uint32_t>(known - ops_.begin());
        ops_.push_back({op, words});
        return static_cast<std::uint32_t>(ops_.size() - 1);
    }

    std::vector<trace::EventColumns::Op> ops_;
    std::vector<std::uint32_t> op_, first_word_;
    std::vector<std::uint64_t> tsc_, words_, instructions_;
    std::vector<trace::EventColumns::Until> untils_;
    std::vector<pack::Mark> processors_, stacks_, sampling_;
    bool counted_ = false;
};

void consume(std::span<const trace::Event> events, std::size_t pack, score::ThreadAnalysis& analysis) {
    for (; !events.empty(); events = events.subspan(std::min(pack, events.size()))) {
        const auto part = events.first(std::min(pack, events.size()));
        const Columns owner{part};
        const trace::EventColumns columns = owner.columns();
        for (std::size_t at = 0; at < part.size();) {
            const auto single = analysis.take_trees(columns, at);
            if (single.begin < single.end) {
                std::vector<trace::Event> each(single.end - single.begin);
                columns.events(single.begin, single.end, each.data());
                analysis.consume(each);
            }
            at = single.end;
        }
    }
}

/// The times as they come out of the file in which they are kept: all that is tested of reports is tested of these.
std::unique_ptr<score::ThreadTimes> kept_and_read(const score::ThreadTimes& times,
                                                  const trace::TraceInfo& info,
                                                  const score::ResolvedSettings& settings,
                                                  std::uint32_t thread) {
    auto read =
        score::times_from(score::kept_times(times), info, settings, calls::life_in(info.threads[thread], {}));
    if (!read) FAIL("the times of thread " << thread << " cannot be read again");
    return read;
}

}  // namespace

score::AnalyzedTrace read(const Recording& recording, const score::ResolvedSettings& settings,
                          const score::Selection& asked, std::size_t pack) {
    const auto selection = score::resolve_selection(recording.info, asked);
    if (!selection) FAIL(selection.error().message);
    score::SelectedThreads out;
    out.times.resize(recording.threads.size());
    out.windows.resize(recording.threads.size());
    for (const std::uint32_t t : selection->threads) {
        auto& window = out.windows[t];
        const auto begin_window = [&] {
            if (selection->window)
                window.emplace(*selection->window, recording.info.functions.size(), settings.ignored);
        };
        const auto analyze = [&](std::span<const std::uint64_t> unended) {
            score::ThreadAnalysis analysis{recording.info, settings};
            analysis.set_unended(unended);
            begin_window();
            analysis.set_life(
                calls::life_in(recording.info.threads[t], selection->window.value_or(trace::TickRange{})));
            analysis.set_course(score::course_span(recording.info, selection->window, [&](std::uint32_t of) {
                return recording.info.threads[of].end;
            }));
            for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
                if (piece.gap_before && (!window || window->gap())) analysis.gap();
                if (window || pack == 0)
                    analysis.consume(window ? window->inside(piece.events) : std::span{piece.events});
                else
                    consume(piece.events, pack, analysis);
            }
            return analysis.finish();
        };
        out.times[t] = analyze({});
        if (out.times[t]->counts.hides_calls) {
            calls::UnendedFinder finder{recording.info.functions.size(), settings.ends};
            begin_window();
            for (const ThreadRecording::Piece& piece : recording.threads[t].pieces()) {
                if (piece.gap_before && (!window || window->gap())) finder.gap();
                finder.consume(window ? window->inside(piece.events) : std::span{piece.events});
            }
            const std::vector<std::uint64_t> unended = finder.finish();
            out.times[t] = analyze(unended);
        }
        if (!window && out.times[t]->patterns == nullptr)
            out.times[t] = kept_and_read(*out.times[t], recording.info, settings, t);
    }
    return score::analyzed_trace({recording.info, {}}, asked, *selection, std::move(out));
}

score::Report analyze(const Recording& recording, const score::Settings& settings, std::size_t max_sequences,
                      std::size_t max_sampled) {
    score::ResolvedSettings names = resolved(recording, settings);
    names.max_sampled = max_sampled;
    const score::AnalyzedTrace trace = read(recording, names, settings.selection);
    names.asked_for = trace.shown;
    return score::leave_out(trace,
                            score::make_report(trace.facts(), names, trace.threads, max_sequences, SIZE_MAX));
}

const score::FunctionRow& row(const score::Report& report, std::string_view name) {
    for (const score::FunctionRow& function : report.functions) {
        if (function.name == name) return function;
    }
    FAIL("no function " << name << " in the report");
    return report.functions.front();
}

}  // namespace rdam::test
