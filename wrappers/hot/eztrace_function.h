// One function of a plug-in, in C.
#pragma once

#include <string>

#include "tools/base/result.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

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
