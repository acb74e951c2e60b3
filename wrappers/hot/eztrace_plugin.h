// `rdam hot --eztrace`: what perf saw, as a plug-in for EZTrace.
#pragma once

#include <string>
#include <vector>

#include "tools/base/result.h"
#include "wrappers/catalogue/catalogue.h"
#include "wrappers/hot/hot_report.h"
#include "wrappers/prototype/prototype.h"

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

// One function of a plug-in, in C.

struct PluginFunction {
    std::string definitions;  ///< lines for BEGIN_INCLUDE: what the macros of the prelude need
    std::string prototype;    ///< a line: "int32_t f(void* a1, double a2)"
};

/// `linkage_name` becomes C as it is, so functions of C++ can be wrapped, too. `declared`: the C library's
/// headers may declare the function, with the types that it really has. The error is why a plug-in cannot
/// wrap it, without its name.
Result<PluginFunction> plugin_function(const std::string& linkage_name, const Prototype& prototype,
                                       bool declared);

}  // namespace rdam
