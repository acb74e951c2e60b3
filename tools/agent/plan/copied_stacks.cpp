#include "tools/agent/plan/copied_stacks.h"

#include "tools/base/files.h"

namespace rdam::agent {

std::string_view stacks_copied_by_object(const std::string& path) {
    const std::string_view name = file_name(path);
    if (name.starts_with("_greenlet.") && name.find(".so") != std::string_view::npos) return "greenlet";
    if (name == "continuation.so") return "Ruby's Continuation";
    if (name.starts_with("libaco.so")) return "libaco";
    return {};
}

std::string_view stacks_copied_by_function(std::string_view name) {
    // Both with and without what C++ puts before and behind them.
    constexpr std::string_view kOfGreenlet[] = {"g_switchstack", "slp_switch", "slp_save_state",
                                                "slp_restore_state"};
    for (const std::string_view each : kOfGreenlet) {
        const std::size_t at = name.find(each);
        if (at == std::string_view::npos) continue;
        const bool begins = at == 0 || name[at - 1] == ':';
        const std::size_t behind = at + each.size();
        if (begins && (behind == name.size() || name[behind] == '(')) return "greenlet";
    }
    return {};
}

}  // namespace rdam::agent
