// The Python that rdam uses where a task is Python's, and the module of rdam's that belongs to this program.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tools/base/result.h"

namespace rdam {

/// RDAM_PYTHON, or `python3`.
std::string python();
/// The folder that the module `rdam` is in: the build tree's, or the installed one.
Result<std::string> find_python_module();
/// This process becomes `python3 -m MODULE`, a part of that module, whose exit code is then its own: it finds the request as
/// JSON in argument 2, and the words behind it. Messages name `rdam COMMAND`. Returns only an error: the module or Python
/// is missing, or the request has text that is no UTF-8.
Result<int> become_python_module(std::string_view module, std::string_view command,
                                 const nlohmann::json& request, const std::vector<std::string>& words = {});

}  // namespace rdam
