// Any bytes as the times of a thread that are kept in a file, or as changes to such bytes: whatever is accepted makes a
// report. The first byte says which.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyzer/calls/call_stream.h"
#include "analyzer/hints/hints.h"
#include "analyzer/output/json.h"
#include "analyzer/output/text.h"
#include "analyzer/report/regroup.h"
#include "analyzer/report/score_trace.h"
#include "analyzer/report/scores.h"
#include "analyzer/score/kept_times.h"
#include "analyzer/score/thread_analysis.h"
#include "tests/fuzz/read_input.h"

namespace {

using namespace rdam;
using fuzz::require;

constexpr trace::TickRange kRun{1000, 200'000};

/// Functions a, b and c, the last two of which are sampled in windows, and the waits of c.
trace::TraceInfo make_info() {
    trace::TraceInfo info;
    info.clock.ticks_per_second = 1e9;
    info.clock.probe_ticks = 3.5;
    info.clock.step_ticks = 5;
    info.functions.resize(4);
    for (std::uint32_t f = 0; f < info.functions.size(); ++f) {
        info.functions[f].name = std::string(1, static_cast<char>('a' + f));
        info.functions[f].enter_words = 1;
        info.functions[f].parameters.resize(1);
    }
    info.functions[1].windowed_since = 3000;
    info.functions[2].windowed_since = kRun.begin;
    info.functions[3].wait_of = 3;
    for (std::uint64_t begin = kRun.begin; begin < kRun.end; begin += 3000)
        info.windows.push_back({begin, begin + 1000});
    info.stacks.push_back({.function = 0, .caller = 0x1000, .frames = {0x1000, 0x1800}, .truncated = false});
    info.threads.resize(1);
    info.threads[0].tid = 7;
    info.threads[0].start = kRun.begin;
    info.threads[0].end = kRun.end;
    return info;
}

/// Those of a page; with a percentile as the baseline; and those of the screen, which keeps all that could be keys.
score::ResolvedSettings make_settings(const trace::TraceInfo& info, unsigned which) {
    score::Settings wanted{.paths = true, .course = true};
    if (which == 1) wanted.baseline = {.kind = score::Baseline::Kind::percentile, .fraction = 0.25};
    auto settings = score::resolve(info, wanted);
    require(settings.has_value());
    auto all = score::with_samples(info, std::move(*settings));
    return which == 2 ? score::with_candidates(info, std::move(all)) : all;
}

std::unique_ptr<score::ThreadTimes> make_times(const trace::TraceInfo& info,
                                               const score::ResolvedSettings& settings) {
    score::ThreadAnalysis analysis{info, settings};
    analysis.set_life(calls::life_in(info.threads[0], {}));
    analysis.set_course(kRun);
    std::uint64_t now = kRun.begin;
    const auto add = [&](trace::EventKind kind, std::uint32_t function, std::uint64_t after) {
        const std::uint64_t words[] = {now % 3};
        trace::Event event;
        event.tsc = now += after;
        event.until = now + 10;
        event.caller = 0x1000 + now % 4;
        event.function = function;
        event.kind = kind;
        event.stack = kind == trace::EventKind::enter && function == 0 ? 1 : 0;
        if (kind == trace::EventKind::enter) event.words = words;
        analysis.consume({&event, 1});
    };
    for (std::uint64_t round = 0; now < kRun.end - 2000; ++round) {
        using enum trace::EventKind;
        add(enter, 0, 20);
        for (std::uint32_t inner = 1; inner < 3; ++inner) {
            add(enter, inner, 10);
            if (inner == 2 && round % 4 == 0) {
                add(enter, 3, 5);
                add(leave, 3, 200 + round % 50);
            }
            add(leave, inner, 30 + round % 70);
        }
        if (round % 16 == 0) add(pause, 0, 5);
        add(leave, 0, 15);
    }
    return analysis.finish();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    static const trace::TraceInfo info = make_info();
    static const score::ResolvedSettings all_settings[] = {make_settings(info, 0), make_settings(info, 1),
                                                           make_settings(info, 2)};
    static const std::vector<std::uint8_t> all_sound[] = {
        score::kept_times(*make_times(info, all_settings[0])),
        score::kept_times(*make_times(info, all_settings[1])),
        score::kept_times(*make_times(info, all_settings[2]))};
    const score::ResolvedSettings& settings = all_settings[data[0] / 2 % 3];
    const std::vector<std::uint8_t>& sound = all_sound[data[0] / 2 % 3];
    std::span<const std::uint8_t> rest{data + 1, size - 1};
    std::vector<std::uint8_t> bytes{rest.begin(), rest.end()};
    const bool changes = data[0] % 2 == 0;
    if (changes) {
        bytes = sound;
        for (; rest.size() >= 4; rest = rest.subspan(4))
            bytes[(rest[0] | rest[1] << 8 | rest[2] << 16) % bytes.size()] = rest[3];
    }
    score::ThreadList threads;
    threads.push_back(score::times_from(bytes, info, settings, calls::life_in(info.threads[0], {})));
    require(threads.front() != nullptr || !changes || size > 1);
    if (threads.front() == nullptr) return 0;
    const hints::Analysis analysis =
        hints::explain(info, score::make_report({info, {}}, settings, threads, 100));
    output::TraceSymbols symbols{info};
    require(!output::to_text(analysis, symbols, {.threads = true, .sequences = true}).empty());
    require(!output::to_json(analysis, symbols, {}).empty());
    score::AnalyzedTrace trace;
    trace.info = info;
    trace.threads = std::move(threads);
    const auto wanted = score::resolve(info, {});
    if (wanted && score::can_regroup(trace, settings, *wanted))
        require(score::regroup(trace, settings, *wanted).size() == 1);
    return 0;
}
