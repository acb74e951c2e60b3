#include "analyzer/output/html/function_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "analyzer/output/html/page_figures.h"
#include "analyzer/output/html/page_text.h"
#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/report/ranking.h"

namespace rdam::output {
namespace {

Json frames_text(std::uint64_t address, Symbols& symbols) {
    Json out = Json::array();
    for (const StackFrame& frame : symbols.frames(address))
        out.push_back(page_name(frame_text(frame)));
    return out;
}

Json bars_json(const score::FunctionRow& row) {
    Json out = Json::array();
    for (const score::Bar& bar : row.bars)
        out.push_back({nanoseconds(bar.from_ns), nanoseconds(bar.to_ns), bar.calls});
    return out;
}

Json thread_shares(const PageRun& run, const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    for (const score::ThreadShare& part : row.threads) {
        if (out.size() == 2 * limits.lines) break;
        const score::ThreadRow& thread = run.analysis.report.threads[part.thread];
        out.push_back({{"name", thread_name(thread)}});
        out.back().update(page_figures(thread_fields(), {part, thread}));
        if (part.max_ns > 0)
            out.back().update({{"min_ns", nanoseconds(part.min_ns)},
                               {"median_ns", nanoseconds(part.median_ns)},
                               {"p99_ns", nanoseconds(part.p99_ns)},
                               {"max_ns", nanoseconds(part.max_ns)}});
    }
    return out;
}

Json stacks_text(const PageRun& run, const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    constexpr std::size_t kMostFrames = 40;
    for (const score::StackRow& stack : row.stacks) {
        if (out.size() == limits.lines) break;
        Json frames = Json::array();
        std::size_t taken = 0;
        for (; taken < stack.frames.size() && frames.size() < kMostFrames; ++taken)
            for (auto& frame : frames_text(stack.frames[taken], run.symbols))
                frames.push_back(std::move(frame));
        out.push_back({{"samples", stack.samples},
                       {"calls", std::round(finite(stack.calls))},
                       {"frames", std::move(frames)}});
        if (taken < stack.frames.size()) out.back()["more"] = stack.frames.size() - taken;
        if (stack.truncated) out.back()["truncated"] = true;
    }
    return out;
}

Json callers_text(const PageRun& run, const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    for (const score::CallerRow& caller : row.callers) {
        if (out.size() == limits.lines) break;
        out.push_back({{"frames", frames_text(caller.address, run.symbols)},
                       {"calls", caller.calls},
                       {"lost", nanoseconds(caller.lost_ns)},
                       {"share", finite(caller.share)}});
    }
    return out;
}

Json sequences_text(const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    for (const score::SequenceRow& sequence : row.sequences) {
        if (out.size() == limits.lines) break;
        out.push_back({{"name", page_name(sequence.name)}});
        out.back().update(page_figures(sequence_fields(), sequence));
    }
    return out;
}

}  // namespace

std::string thread_name(const score::ThreadRow& thread) {
    if (thread.fiber != 0) return page_name(thread.name);
    return thread.name.empty() ? fmt::format("{}", thread.tid)
                               : fmt::format("{} {}", thread.tid, page_name(thread.name));
}

Json row_json(const score::FunctionRow& row) {
    Json out{{"name", page_name(row.module, row.name)},
             {"standing", standing_name(score::standing(row))},
             {"why", page_text(row.by_design)},
             {"mark", score_mark(row)},
             {"threads", row.threads.size()}};
    out.update(page_figures(function_fields(), row));
    if (row.outermost > 0) out["baseline_ns"] = nanoseconds(row.baseline_ns);
    if (row.unknown()) out["unknown"] = true;
    if (row.estimates_occurrences()) out["estimated"] = true;
    if (row.windowed) out["windowed"] = true;
    return out;
}

std::vector<std::string> hint_sentences(const score::FunctionRow& row, const hints::Hints& found) {
    std::vector<std::string> all;
    for (const hints::Hint& hint : found)
        all.push_back(page_text(hint.text));
    if (row.maybe_recorder) all.push_back(maybe_recorder_advice());
    if (score::at_floor(row)) all.push_back(floor_advice(row));
    if (row.few_occurrences || row.open_ns > 0) all.push_back(page_text(lower_bound_advice(row)));
    if (row.coarse_clock) all.push_back(coarse_clock_advice());
    if (row.minimum_alone) all.push_back(minimum_alone_advice());
    if (row.sampled) all.push_back(sampled_advice());
    return all;
}

Json details_json(const PageRun& run, const score::FunctionRow& row, const RunClock& clock,
                  const PageLimits& limits) {
    const hints::FunctionHints& found = run.analysis.of(row);
    Json out{{"source", page_name(row.source)},
             {"hints", hint_sentences(row, found.hints)},
             {"bars", bars_json(row)},
             {"by_thread", thread_shares(run, row, limits)},
             {"parameters", parameters_json(run, row, limits)},
             {"callers", callers_text(run, row, limits)},
             {"callers_in_all", row.callers.size()},
             {"stacks", stacks_text(run, row, limits)},
             {"stacks_in_all", row.stacks.size()},
             {"sequences", sequences_text(row, limits)},
             {"sequences_in_all", row.scored_sequences + row.single_sequences}};
    if (!row.sample.calls.empty()) out["drift"] = drift_json(run.analysis.report, row, clock, limits);
    add_processors(run.analysis.report.process, row, out);
    if (found.off_share) {
        out["off"] = {{"blocked", finite(found.off_share->blocked)},
                      {"preempted", finite(found.off_share->preempted)}};
        if (run.analysis.report.switches.state == trace::SwitchInfo::State::stopped)
            out["off"]["until"] = nanoseconds(run.analysis.report.switches_until_ns);
    }
    return out;
}

}  // namespace rdam::output
