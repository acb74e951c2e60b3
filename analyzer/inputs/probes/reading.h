// The second look at a text of probes, which fills the trace.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/probes/survey.h"
#include "analyzer/trace/event.h"
#include "wrappers/support/result.h"

namespace rdam::inputs::probes {

struct Readings {
    std::uint64_t lost = 0;            ///< events that the file says are missing, where it says how many
    bool has_lost = false;             ///< events are missing
    std::uint64_t unpaired = 0;        ///< hits of probes without a partner
    std::uint64_t absences = 0;        ///< times off the processors, as far as they were seen to end
    std::uint64_t without_end = 0;     ///< … that were not
    std::uint64_t several_values = 0;  ///< returns with more values than one
    std::set<std::uint32_t> pids;      ///< as far as the lines tell, some at most
    std::string command;               ///< the name of the first thread of the first process

    /// Whether the context switches are there on the whole: perf without -a sees threads go, but not come.
    bool has_both_sides() const { return without_end <= absences / 10; }
};

/// Reads the file once more, into `builder`. Errors: those of the file.
Result<Readings> read_probes(const std::string& path, const Survey& survey, TraceBuilder& builder,
                             const Progress& progress);

/// What the call and the return of a pair are in the trace.
trace::FunctionInfo describe_pair(const std::string& call, const ProbeEvent& at_call,
                                  const ProbeEvent& at_return);

}  // namespace rdam::inputs::probes
