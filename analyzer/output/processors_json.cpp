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

    void add(const score::SampledCall& call) {
        calls += call.weight;
        lost_ns += call.weight * call.lost_ns;
    }
};

Json sum_json(const Sum& sum, double lost_ns) {
    return {{"calls", std::llround(finite(sum.calls))},
            {"lost_ns", nanoseconds(sum.lost_ns)},
            {"share", lost_ns > 0 ? finite(sum.lost_ns / lost_ns) : 0}};
}

}  // namespace

Json nodes_json(const trace::ProcessInfo& process) {
    Json out = Json::array();
    for (const trace::NodeInfo& node : process.nodes)
        out.push_back({{"node", node.number}, {"processors", node.processors}});
    return out;
}

void add_processors(const trace::ProcessInfo& process, const score::Sample& sample, Json& function) {
    std::map<std::uint16_t, Sum> processors;
    Sum all, moved, changed_node;
    for (const score::SampledCall& call : sample.calls) {
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
        row.update(sum_json(sum, all.lost_ns));
    }
    function["processors"] = std::move(list);
    function["migrations"] = sum_json(moved, all.lost_ns);
    if (!process.nodes.empty()) function["migrations"]["between_nodes"] = sum_json(changed_node, all.lost_ns);
}

}  // namespace rdam::output
