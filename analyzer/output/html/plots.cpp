#include "analyzer/output/html/plots.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <variant>
#include <vector>

#include "analyzer/output/html/page_text.h"
#include "analyzer/output/json/json_parts.h"
#include "analyzer/trace/clock.h"
#include "wrappers/catalogue/word_value.h"

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

/// The value that a word holds; nothing: it is no number that could be an axis.
std::optional<double> number(const trace::ParameterInfo& parameter, std::uint64_t word) {
    const auto kind = static_cast<ValueKind>(parameter.kind);
    if (kind == ValueKind::pointer) return {};
    const double value = std::visit([](auto decoded) { return static_cast<double>(decoded); },
                                    value_of(kind, parameter.size, word));
    if (!std::isfinite(value)) return {};
    return value;
}

}  // namespace

RunClock run_clock(const trace::TraceInfo& info, const score::Report& report) {
    return {.begin = report.begin, .ns_per_tick = trace::nanoseconds_per_tick(info.clock)};
}

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

Json parameters_json(const score::FunctionRow& row, const trace::FunctionInfo& function,
                     const PageLimits& limits) {
    Json out = Json::array();
    const std::vector<std::size_t> chosen = chosen_calls(row, limits.points);
    for (const score::Explained& each : row.explained) {
        const auto parameter = std::find_if(function.parameters.begin(), function.parameters.end(),
                                            [&](const auto& one) { return one.name == each.name; });
        Json points = Json::array();
        if (parameter != function.parameters.end() && parameter->word < row.sample.words_per_call) {
            for (const std::size_t i : chosen)
                if (const auto value = number(*parameter, row.sample.word(i, parameter->word)))
                    points.push_back({*value, nanoseconds(row.sample.calls[i].duration_ns)});
        }
        out.push_back({{"name", page_name(each.name)},
                       {"explains", finite(each.explains)},
                       {"rdam_with_key", finite(each.rdam_with_key)},
                       {"points", std::move(points)}});
        if (out.size() == limits.lines) break;
    }
    return out;
}

}  // namespace rdam::output
