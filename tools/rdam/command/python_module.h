// The Python that rdam uses where a task is Python's, and the module of rdam's that belongs to this program.
#pragma once

#include <string>

#include "tools/base/result.h"

namespace rdam {

/// RDAM_PYTHON, or `python3`.
std::string python();
/// The folder that the module `rdam` is in: the build tree's, or the installed one.
Result<std::string> find_python_module();

}  // namespace rdam
