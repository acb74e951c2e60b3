#include "analyzer/inputs/otf2/describe.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string_view>

#include "analyzer/inputs/build/remarks.h"
#include "analyzer/otf2/names.h"

namespace rdam::inputs::otf2 {
namespace {

std::string name_of(const Definitions& definitions, const Location& location) {
    const auto group = definitions.groups.find(location.group);
    const std::string_view outer =
        group == definitions.groups.end() ? std::string_view{} : definitions.text(group->second);
    const std::string_view inner = definitions.text(location.name);
    if (inner.empty()) return outer.empty() ? fmt::format("location {}", location.ref) : std::string{outer};
    // EZTrace repeats the group: P#0T#1.
    if (outer.empty() || inner.starts_with(outer)) return std::string{inner};
    return fmt::format("{}: {}", outer, inner);
}

}  // namespace

void add_threads(const Definitions& definitions, std::span<const Location> locations, TraceBuilder& builder) {
    for (const Location& location : locations)
        builder.add_thread(name_of(definitions, location));
}

void describe(const Definitions& definitions, const std::string& anchor, TraceBuilder& builder) {
    trace::TraceInfo& info = builder.info();
    const bool eztrace = std::filesystem::path{anchor}.stem() == "eztrace_log";
    info.process.recorder = eztrace ? "EZTrace" : "OTF2 " + definitions.version;
    if (!definitions.creator.empty())
        info.process.recorder =
            definitions.creator.substr(definitions.is_ours ? rdam::otf2::kExportOf.size() : 0);
    info.process.machine = definitions.machine;
    for (const SystemTreeNode& node : definitions.nodes) {
        if (definitions.text(node.class_name) == "node") info.process.host = definitions.text(node.name);
        // EZTrace's only node is the program.
        if (eztrace) info.process.command = {std::string{definitions.text(node.name)}};
    }
    // The steps in which it moves are not told.
    builder.set_clock("otf2", static_cast<double>(std::max<std::uint64_t>(definitions.clock.per_second, 1)),
                      1);
    if (definitions.is_ours) info.remarks.emplace_back(kExportedRemark);
}

}  // namespace rdam::inputs::otf2
