#include <algorithm>

#include "tools/trace/event.h"

namespace rdam::trace {

std::string recorded_with(const ProcessInfo& process) {
    return process.recorder.empty() ? "rdam " + process.rdam_version : process.recorder;
}

std::optional<std::uint32_t> node_of(const ProcessInfo& process, std::uint16_t processor) {
    if (processor == kNoCpu) return std::nullopt;
    for (const NodeInfo& node : process.nodes)
        if (std::ranges::find(node.processors, processor) != node.processors.end()) return node.number;
    return std::nullopt;
}

}  // namespace rdam::trace
