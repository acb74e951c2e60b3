// The traces that one `rdam record` has made.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace rdam {

/// A process of the run that continues, and is recorded, after the program has ended.
struct LivingProcess {
    std::uint32_t pid = 0;
    std::uint32_t own_pid = 0;  ///< in its PID namespace: what its trace says
    std::string program;        ///< its file name; empty: not known
    std::string trace;          ///< which is being written; empty: none has been begun
};

/// Waits until the agents of this run whose processes have ended have closed their traces. Returns the
/// processes that go on, by pid.
std::vector<LivingProcess> await_agents(const std::string& run);

struct RunTrace {
    std::string path;
    std::string program;            ///< its file name
    std::uint64_t start_ticks = 0;  ///< of the process: ProcessInfo::start_ticks
    std::uint64_t threads = 0;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    bool unfinished = false;  ///< the file was not closed: the agent was killed
    bool killed = false;      ///< the program ended without rdam noticing: its remarks have not been printed
    std::vector<std::string> remarks;
};

/// The traces of this run, and of these users, at `output` and, for processes that were forked or executed,
/// beside it (name.PID.bin). In a pattern, %p, %h or %r match any text. Traces of `living` are not included,
/// but noted there.
std::vector<RunTrace> find_traces(const std::string& output, const std::string& run,
                                  const std::vector<unsigned>& users, std::vector<LivingProcess>& living);

/// The paths, as find_traces() has them, of all traces that may be replaced.
std::set<std::string> find_earlier(const std::string& output);

/// Lines for stderr.
std::string describe(const std::vector<LivingProcess>& living);

}  // namespace rdam
