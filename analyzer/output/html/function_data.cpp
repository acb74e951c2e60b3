#include "analyzer/output/html/function_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "analyzer/output/html/page_words.h"
#include "analyzer/output/json_parts.h"
#include "analyzer/output/notes.h"
#include "analyzer/output/symbols.h"
#include "analyzer/report/ranking.h"
#include "analyzer/sequences/sequence_names.h"
#include "tools/trace/clock.h"
#include "wrappers/catalogue/signature.h"

namespace rdam::output {
namespace {

constexpr std::size_t kDriftBins = 48;

/// The calls that a plot shows: a quarter are those that lost most, the rest are spread over the sample.
std::vector<std::size_t> chosen_calls(const score::FunctionRow& row, std::size_t most) {
    const auto& calls = row.sample.calls;
    std::vector<std::size_t> order(calls.size());
    for (std::size_t i = 0; i < order.size(); ++i)
        order[i] = i;
    if (order.size() <= most) return order;
    constexpr std::size_t kPart = 4;
    const auto slowest = static_cast<std::ptrdiff_t>(most / kPart);
    std::partial_sort(order.begin(), order.begin() + slowest, order.end(),
                      [&](std::size_t a, std::size_t b) { return calls[a].lost_ns > calls[b].lost_ns; });
    std::vector<std::size_t> chosen(order.begin(), order.begin() + slowest);
    std::sort(order.begin() + slowest, order.end());
    const std::size_t rest = order.size() - chosen.size(), places = most - chosen.size();
    for (std::size_t i = 0; i < places; ++i)
        chosen.push_back(order[static_cast<std::size_t>(slowest) + i * rest / places]);
    return chosen;
}

struct Weighed {
    double duration = 0, weight = 0;
};

double percentile(const std::vector<Weighed>& sorted, double share) {
    double all = 0, sum = 0;
    for (const Weighed& each : sorted)
        all += each.weight;
    for (const Weighed& each : sorted) {
        sum += each.weight;
        if (sum >= share * all) return each.duration;
    }
    return sorted.empty() ? 0 : sorted.back().duration;
}

Json bins_json(const score::FunctionRow& row, const RunClock& clock, double run_ns) {
    std::vector<std::vector<Weighed>> bins(kDriftBins);
    const double width = run_ns / static_cast<double>(kDriftBins);
    if (!(width > 0)) return Json::array();
    for (const score::ScoredCall& call : row.sample.calls) {
        const double at = clock.since_begin(call.begin) / width;
        bins[static_cast<std::size_t>(std::clamp(at, 0.0, static_cast<double>(kDriftBins - 1)))].push_back(
            {call.duration_ns, call.weight});
    }
    Json out = Json::array();
    for (std::size_t i = 0; i < bins.size(); ++i) {
        std::vector<Weighed>& calls = bins[i];
        if (calls.empty()) continue;
        std::sort(calls.begin(), calls.end(),
                  [](const Weighed& a, const Weighed& b) { return a.duration < b.duration; });
        out.push_back({std::round(width * static_cast<double>(i)), nanoseconds(calls.front().duration),
                       nanoseconds(percentile(calls, 0.5)), nanoseconds(percentile(calls, 0.99))});
    }
    return out;
}

/// The value that a word holds; nothing: it is no number that could be on an axis.
std::optional<double> number(const trace::ParameterInfo& type, std::uint64_t word) {
    const double value = std::visit([](auto decoded) { return static_cast<double>(decoded); },
                                    value_of(static_cast<ValueKind>(type.kind), type.size, word));
    if (!std::isfinite(value)) return {};
    return value;
}

/// Words of a variable, and how to read them.
class Values {
  public:
    /// Nothing: words that mean nothing to people, or are not in the sample.
    static std::optional<Values> of(const PageRun& run, const score::FunctionRow& row,
                                    hints::Variable variable) {
        using Of = hints::Variable::Of;
        const trace::FunctionInfo& function = run.info.functions[row.function];
        Values values{run, row, variable};
        switch (variable.of) {
            case Of::parameter:
                if (variable.number >= function.parameters.size()) return {};
                values.type_ = function.parameters[variable.number];
                if (values.type_.word >= row.sample.words_per_call) return {};
                return values;
            case Of::result:
                if (function.result.empty()) return {};
                values.type_ = function.result.front();
                return values;
            case Of::caller:
                values.type_.kind = static_cast<std::uint8_t>(ValueKind::pointer);
                return values;
            case Of::repeats:
            case Of::calls_inside:
                return values;
            case Of::keys_inside:  // a hash
                break;
        }
        return {};
    }

    /// Of a call of the sample; nothing: it has none.
    std::optional<std::uint64_t> word(std::size_t call) const {
        using Of = hints::Variable::Of;
        const score::Sample& sample = row_->sample;
        const score::ScoredCall& of = sample.calls[call];
        switch (variable_.of) {
            case Of::parameter:
                return sample.word(call, type_.word);
            case Of::result:
                if (!of.returned) return {};
                return of.result;
            case Of::caller:
                return of.caller;
            case Of::repeats:
                return sample.repeats_of(call, variable_.number);
            case Of::calls_inside:
                return of.inside;
            case Of::keys_inside:
                break;
        }
        return {};
    }

    bool ordered() const {
        return !type_.is_text && static_cast<ValueKind>(type_.kind) != ValueKind::pointer;
    }
    const trace::ParameterInfo& type() const { return type_; }

    std::string text(std::uint64_t word) const {
        if (variable_.of == hints::Variable::Of::caller)
            return word == 0 ? "not known" : page_name(frame_text(run_->symbols.frames(word).front()));
        return page_name(sequences::shown_value(run_->info, type_, word));
    }

  private:
    Values(const PageRun& run, const score::FunctionRow& row, hints::Variable variable)
        : run_(&run), row_(&row), variable_(variable) {}

    const PageRun* run_;
    const score::FunctionRow* row_;
    hints::Variable variable_;
    trace::ParameterInfo type_;
};

Json points_json(const Values& values, const score::FunctionRow& row,
                 const std::vector<std::size_t>& chosen) {
    Json points = Json::array();
    for (const std::size_t i : chosen) {
        const auto word = values.word(i);
        const auto value = word ? number(values.type(), *word) : std::nullopt;
        if (value) points.push_back({*value, nanoseconds(row.sample.calls[i].duration_ns)});
    }
    return points;
}

struct OfValue {
    std::uint64_t word = 0;
    std::vector<Weighed> calls = {};
    double weight = 0;
    double median = 0;
};

void sum_up(OfValue& value) {
    std::sort(value.calls.begin(), value.calls.end(),
              [](const Weighed& a, const Weighed& b) { return a.duration < b.duration; });
    value.median = percentile(value.calls, 0.5);
}

/// In the order of the words.
std::vector<OfValue> by_value(const Values& values, const score::FunctionRow& row) {
    std::map<std::uint64_t, OfValue> found;
    for (std::size_t i = 0; i < row.sample.calls.size(); ++i) {
        const auto word = values.word(i);
        if (!word) continue;
        const score::ScoredCall& call = row.sample.calls[i];
        OfValue& value = found[*word];
        value.word = *word;
        value.calls.push_back({call.duration_ns, call.weight});
        value.weight += call.weight;
    }
    std::vector<OfValue> all;
    all.reserve(found.size());
    for (auto& [word, value] : found)
        all.push_back(std::move(value));
    return all;
}

/// A value of a single call says nothing of the value.
constexpr std::size_t kFewestCalls = 2;

Json values_json(const Values& values, const score::FunctionRow& row, const PageLimits& limits) {
    std::vector<OfValue> all = by_value(values, row);
    const auto rare = std::stable_partition(
        all.begin(), all.end(), [](const OfValue& value) { return value.calls.size() >= kFewestCalls; });
    std::stable_sort(all.begin(), rare,
                     [](const OfValue& a, const OfValue& b) { return a.weight > b.weight; });
    const std::size_t shown =
        std::min(static_cast<std::size_t>(std::distance(all.begin(), rare)), limits.lines);
    OfValue rest;
    for (std::size_t i = shown; i < all.size(); ++i) {
        rest.calls.insert(rest.calls.end(), all[i].calls.begin(), all[i].calls.end());
        rest.weight += all[i].weight;
    }
    const std::size_t others = all.size() - shown;
    all.resize(shown);
    Json out = Json::array();
    if (shown + (others > 0 ? 1 : 0) < 2) return out;
    for (OfValue& value : all)
        sum_up(value);
    sum_up(rest);
    std::stable_sort(all.begin(), all.end(),
                     [](const OfValue& a, const OfValue& b) { return a.median > b.median; });
    const auto add = [&](Json what, const OfValue& value) {
        what.update({{"calls", std::round(finite(value.weight))},
                     {"min", nanoseconds(value.calls.front().duration)},
                     {"median", nanoseconds(value.median)},
                     {"p99", nanoseconds(percentile(value.calls, 0.99))}});
        out.push_back(std::move(what));
    };
    for (const OfValue& value : all)
        add({{"value", values.text(value.word)}}, value);
    if (others > 0) add({{"others", others}}, rest);
    return out;
}

/// `{bins: [[begin_ns, min, median, p99], …], calls: [[begin_ns, duration_ns, lost_ns, thread], …]}`, how the
/// durations move over the run. Bins without calls are left out.
Json drift_json(const score::Report& report, const score::FunctionRow& row, const RunClock& clock,
                const PageLimits& limits) {
    Json calls = Json::array();
    for (const std::size_t i : chosen_calls(row, limits.points)) {
        const score::ScoredCall& call = row.sample.calls[i];
        calls.push_back({std::round(clock.since_begin(call.begin)), nanoseconds(call.duration_ns),
                         nanoseconds(call.lost_ns), call.thread});
    }
    return {{"bins", bins_json(row, clock, report.duration_ns)},
            {"calls", std::move(calls)},
            {"of", row.sample.calls.size()}};
}

/// A plot for each variable of the calls that was asked what it explains, and for each key:
/// `{name, explains, rdam_with_key, …}` (of the caller also `one_has`: share_of_lone_caller()), or `{name, key: true, …}`. Either has `points`
/// (`[[value, duration_ns], …]`), or, where the order of the values means nothing (addresses, texts,
/// callers), `values`
/// (`[{value, calls, min, median, p99}, …]`): the commonest ones, the slowest first, then one with `others`
/// for `value`, the number of the rest. Neither: there is nothing to compare.
Json parameters_json(const PageRun& run, const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    const std::vector<std::size_t> chosen = chosen_calls(row, limits.points);
    const auto add = [&](Json plot, hints::Variable variable) {
        const auto values = Values::of(run, row, variable);
        if (values && values->ordered())
            plot["points"] = points_json(*values, row, chosen);
        else if (values)
            plot["values"] = values_json(*values, row, limits);
        out.push_back(std::move(plot));
    };
    for (const hints::Explained& each : run.analysis.of(row).explained) {
        if (out.size() == limits.lines) return out;
        Json plot{{"name", page_name(each.name)},
                  {"explains", finite(each.explains)},
                  {"rdam_with_key", finite(each.rdam_with_key)}};
        if (each.variable.of == hints::Variable::Of::caller)
            if (const auto share = share_of_lone_caller(row, each.explains)) plot["one_has"] = finite(*share);
        add(std::move(plot), each.variable);
    }
    const auto& parameters = run.info.functions[row.function].parameters;
    for (std::size_t p = 0; p < parameters.size() && out.size() < limits.lines; ++p)
        if (parameters[p].key)
            add({{"name", page_name(parameters[p].name)}, {"key", true}},
                {hints::Variable::Of::parameter, p});
    return out;
}

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

/// A stack, and its share of the function's lost time: that of its caller is divided by the samples.
struct StackShare {
    const score::StackRow* stack = nullptr;
    double share = 0;
};

/// Those that lost most first.
std::vector<StackShare> stacks_by_loss(const score::FunctionRow& row) {
    std::vector<StackShare> shares;
    for (const score::StackRow& stack : row.stacks) {
        const auto caller = std::ranges::find(row.callers, stack.caller, &score::CallerRow::address);
        const bool known = caller != row.callers.end() && caller->calls > 0;
        const double part = known ? std::min(stack.calls / static_cast<double>(caller->calls), 1.0) : 0;
        shares.push_back({&stack, known ? caller->share * part : 0});
    }
    std::ranges::stable_sort(shares, std::ranges::greater{}, &StackShare::share);
    return shares;
}

Json stacks_text(const PageRun& run, const score::FunctionRow& row, const PageLimits& limits) {
    Json out = Json::array();
    constexpr std::size_t kMaxFrames = 40;
    for (const auto& [each, share] : stacks_by_loss(row)) {
        if (out.size() == limits.lines) break;
        const score::StackRow& stack = *each;
        Json frames = Json::array();
        std::size_t taken = 0;
        for (; taken < stack.frames.size() && frames.size() < kMaxFrames; ++taken)
            for (auto& frame : frames_text(stack.frames[taken], run.symbols))
                frames.push_back(std::move(frame));
        out.push_back({{"samples", stack.samples},
                       {"calls", std::round(finite(stack.calls))},
                       {"frames", std::move(frames)}});
        if (row.lost_ns > 0) out.back()["share"] = finite(share);
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

RunClock run_clock(const trace::TraceInfo& info, const score::Report& report) {
    return {.begin = report.begin, .ns_per_tick = trace::nanoseconds_per_tick(info.clock)};
}

std::string thread_name(const score::ThreadRow& thread) {
    if (thread.fiber != 0) return page_name(thread.name);
    return thread.name.empty() ? fmt::format("{}", thread.tid)
                               : fmt::format("{} {}", thread.tid, page_name(thread.name));
}

Json row_json(const score::FunctionRow& row) {
    Json out{{"name", page_name(row.shown)},
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
    if (row.shortest_missing) all.push_back(shortest_missing_advice());
    if (row.minimum_alone) all.push_back(minimum_alone_advice());
    if (row.sampled) all.push_back(sampled_advice());
    return all;
}

Json details_json(const PageRun& run, const score::FunctionRow& row, const RunClock& clock,
                  const PageLimits& limits) {
    const hints::FunctionHints& found = run.analysis.of(row);
    Json out{{"source", page_name(row.source.empty() ? row.module : row.source)},
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
