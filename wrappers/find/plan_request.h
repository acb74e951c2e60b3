// What is asked of a plan: the list, and the objects of a process.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "wrappers/find/function_list.h"

namespace rdam {

struct LoadedObject {
    std::string path;  ///< absolute; the main executable's real path
    std::string
        build_id;  ///< hex as found in the process's memory; empty: none. A file with another one is refused.
    std::uint64_t base = 0;  ///< load bias: run-time address = base + link-time address
    /// What to open in its place, where nothing can be opened at `path`: a file that was deleted, or is
    /// another process's. Empty: `path`. A plan with such an object is made anew each time.
    std::string open_at = {};
};

struct PlanRequest {
    FunctionList list;
    std::vector<LoadedObject> objects;  ///< the main executable first
    bool has_executable = true;         ///< false: all of `objects` are libraries
    bool record_arguments = true;
    std::vector<std::string> own_objects;  ///< paths never to be touched (librdam.so)
    /// Runs the IFUNC resolver at run-time address `resolver` inside the process and returns the run-time
    /// address of the chosen implementation, 0 when that is impossible. Empty: the objects have not been
    /// relocated yet, so that no resolver can run.
    std::function<std::uint64_t(std::uint64_t resolver)> resolve_ifunc;
    /// Asked between entries: true ends planning, with an incomplete plan for no function. May be empty.
    std::function<bool()> unwanted;
};

/// About files that no process has loaded. The libraries are asked like the program: which of the files is
/// which is not known.
inline PlanRequest request_about(const std::vector<std::string>& paths) {
    PlanRequest request;
    request.has_executable = false;
    for (const std::string& path : paths)
        request.objects.push_back({path, {}, 0});
    return request;
}

}  // namespace rdam
