// The file of a trace that is made of another one.
#pragma once

#include <string>

#include "wrappers/support/result.h"

namespace rdam::inputs {

/// Descriptors of one file without a name.
struct TemporaryTrace {
    int to_write = -1;
    int to_read = -1;

    /// Messages call the trace `name`.
    static Result<TemporaryTrace> create(const std::string& name);
};

}  // namespace rdam::inputs
