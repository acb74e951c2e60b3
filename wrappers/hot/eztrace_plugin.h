// `rdam hot --eztrace`: what perf saw, as a plug-in for EZTrace.
#pragma once

#include <string>
#include <vector>

#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_report.h"

namespace rdam {

struct EztracePlugin {
    std::string text;  ///< for eztrace_create_plugin; empty: there is nothing that a plug-in could wrap
    std::vector<std::string> left_out;  ///< "libx.so:f (12.3 %): why"; names are as perf printed them
    std::vector<std::string> modules;   ///< of EZTrace, which record what was left out therefore; sorted
};

/// A plug-in preloads functions of its own, so it sees what the program calls in a shared library, and needs
/// to know what each function takes: from debug information, or from the catalogue. Small leaves are left
/// out, because EZTrace cannot sample. Never fails: a file that cannot be read is a reason to leave out.
EztracePlugin eztrace_plugin(const HotReport& report, const Catalogue& catalogue);

/// The name of the plug-in: `eztrace -t rdam_plugin`.
inline constexpr const char* kEztracePluginName = "rdam_plugin";

}  // namespace rdam
