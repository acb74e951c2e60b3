// Runs a program without a shell and collects its output.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libprobe/format/starter.h"
#include "tools/base/result.h"

namespace rdam {

struct ChildOutput {
    int exit_code = 0;  ///< 128 + signal when a signal ended it
    std::string out;
    std::string err;
};

/// `arguments[0]` is looked up in PATH. `environment` entries ("NAME=value", or "NAME" to take one away)
/// change the caller's own. Standard input is empty. An Error means that the program could not be run at all,
/// or that it printed more than `limit` bytes.
Result<ChildOutput> run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment, std::size_t limit);

/// run_child() for output of any size: each piece goes to `take` as it comes. The result contains none of it,
/// only the beginning of stderr.
Result<ChildOutput> run_child(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const std::function<void(std::string_view)>& take);

// Waits for a process that is not our child.

/// Whether the process of this descriptor (pidfd_open) ends within the time. Nothing, after the time is over:
/// not known, because there is no descriptor (negative), or because poll fails, for example if seccomp
/// forbids it.
std::optional<bool> ends_within(int process, std::chrono::milliseconds time);

// Sockets by the names of a run's starter (libprobe/format/starter.h).

/// Closed on exec; accepting does not wait. A file is for its user alone; it stays until somebody removes it.
/// -1: it cannot be, or somebody else has the name. For processes with one thread.
int listen_at(const starter::Name& name);

/// Closed on exec. -1: nobody listens.
int connect_to(const starter::Name& name);

}  // namespace rdam
