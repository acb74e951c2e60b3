// What the user wants of a recording, and where its process stands among those of the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "libprobe/format/settings.h"

namespace rdam::agent {

inline constexpr const char* kFunctionsVariable = "RDAM_FUNCTIONS";

/// What the environment asks for (DESIGN §3).
struct Configuration {
    std::optional<std::string> functions;  ///< RDAM_FUNCTIONS; none: the catalogue's default list
    std::string output;                    ///< RDAM_OUTPUT, expanded
    std::string pattern;                   ///< RDAM_OUTPUT as it is, if that differs
    bool output_has_pid = false;           ///< %p is in it
    std::string run;                       ///< RDAM_RUN without its secret: set by `rdam record`
    std::string whole_run;                 ///< RDAM_RUN with its secret
    bool arguments = true;                 ///< RDAM_ARGS
    bool all_calls = false;                ///< RDAM_ALL_CALLS: marks on the list do not count
    bool verbose = false;                  ///< RDAM_VERBOSE
    bool children = true;                  ///< RDAM_CHILDREN
    bool top = true;                       ///< its parent is not recorded: that it leaves no trace is news
    bool first = true;    ///< top, or started by a mere launcher: what becomes of the list is news
    bool called = false;  ///< by a shell, as scripts call dirname on their way: not what the user means
    settings::Switches switches = settings::Switches::automatic;  ///< RDAM_SWITCHES
    std::string agent_cpus;                                       ///< RDAM_AGENT_CPUS, as it is
};

/// `values`: what the process has read. Texts are read here, from our environment, which is the process's.
/// `forked`: it is a fork child of a recorded process.
Configuration read_configuration(std::uint32_t pid, const settings::Values& values, bool forked);

}  // namespace rdam::agent
