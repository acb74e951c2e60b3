// Which processors belong to which NUMA node, according to sysfs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/trace/event.h"

namespace rdam::agent {

/// `0-3,8,10-11`, which may end with a newline. Empty if it is anything else, or names a processor that no
/// trace can (trace::kNoCpu and above).
std::vector<std::uint32_t> parse_cpu_list(std::string_view text);

/// The nodes that have processors, in the order of their numbers. What cannot be read or understood is left
/// out: no folder, no nodes.
std::vector<trace::NodeInfo> read_nodes(const std::string& folder = "/sys/devices/system/node");

}  // namespace rdam::agent
