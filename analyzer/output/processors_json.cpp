#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/output/json_parts.h"

namespace rdam::output {
namespace {

struct Sum {
    double calls = 0;
    double lost_ns = 0;

    void add(const score::ScoredCall& call) {
        calls += call.weight;
        lost_ns += call.weight * call.lost_ns;
    }
};

/// `all` is the sum over the sample, which represents the function's calls and their loss.
Json sum_json(const Sum& sum, const Sum& all, const score::FunctionRow& row) {
    const double calls = all.calls > 0 ? sum.calls / all.calls : 0;
    const double share = all.lost_ns > 0 ? finite(sum.lost_ns / all.lost_ns) : 0;
    return {{"calls", std::llround(finite(calls * static_cast<double>(row.outermost)))},
            {"lost_ns", nanoseconds(share * row.lost_ns)},
            {"share", share}};
}

}  // namespace

Json nodes_json(const trace::ProcessInfo& process) {
    Json out = Json::array();
    for (const trace::NodeInfo& node : process.nodes)
        out.push_back({{"node", node.number}, {"processors", node.processors}});
    return out;
}

void add_processors(const trace::ProcessInfo& process, const score::FunctionRow& function_row,
                    Json& function) {
    std::map<std::uint16_t, Sum> processors;
    Sum all, moved, changed_node;
    for (const score::ScoredCall& call : function_row.sample.calls) {
        all.add(call);
        if (call.enter_cpu == trace::kNoCpu) continue;
        processors[call.enter_cpu].add(call);
        if (call.leave_cpu == trace::kNoCpu || call.leave_cpu == call.enter_cpu) continue;
        moved.add(call);
        const auto from = node_of(process, call.enter_cpu), to = node_of(process, call.leave_cpu);
        if (from && to && *from != *to) changed_node.add(call);
    }
    if (processors.empty()) return;
    std::vector<std::pair<std::uint16_t, Sum>> rows{processors.begin(), processors.end()};
    std::ranges::stable_sort(rows, std::ranges::greater{},
                             [](const auto& row) { return row.second.lost_ns; });
    Json list = Json::array();
    for (const auto& [processor, sum] : rows) {
        Json& row = list.emplace_back(Json{{"processor", processor}});
        if (const auto node = node_of(process, processor)) row["node"] = *node;
        row.update(sum_json(sum, all, function_row));
    }
    function["processors"] = std::move(list);
    function["migrations"] = sum_json(moved, all, function_row);
    if (!process.nodes.empty())
        function["migrations"]["between_nodes"] = sum_json(changed_node, all, function_row);
}

}  // namespace rdam::output
