// The first look at a text of probes: which events are there, and which returns belong to which calls.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "analyzer/inputs/build/trace_builder.h"
#include "analyzer/inputs/probes/probes.h"
#include "tools/base/result.h"

namespace rdam::inputs::probes {

/// A value that an event has in some of its lines.
struct Field {
    std::string name;
    bool is_text = false;
    bool is_decimal = false;
    bool is_negative = false;
    bool is_large = false;    ///< a number that does not fit a signed one
    bool is_address = false;  ///< hexadecimal, and so large that it may be one
};

struct ProbeEvent {
    static constexpr std::size_t kMaxFields = 128;  // the kernel's bound

    bool returns = false;
    std::uint64_t lines = 0;
    std::vector<Field> fields;
    std::set<std::string, std::less<>> addresses;  ///< all that stand in its parentheses, some dozens at most
    std::string partner;                           ///< the event of the other end of the same calls; "": none
};

struct Survey {
    std::map<std::string, ProbeEvent, std::less<>> events;
    std::unordered_set<std::uint32_t> threads;  ///< tids that hit probes
    unsigned decimals = 0;                      ///< the most that a time has
    bool is_perf = false;
    std::map<std::string, std::string, std::less<>> header;  ///< `# NAME : VALUE`
    std::uint64_t other_events = 0;                  ///< that are neither of probes nor of the scheduler
    std::set<std::string, std::less<>> other_names;  ///< of these, as many as there is room for
    std::uint64_t switches = 0;                      ///< events of the scheduler
    std::uint64_t steps = 0;                         ///< of function_graph
    std::uint64_t marks = 0;                         ///< of user markers
    std::uint64_t without_columns = 0;               ///< lines of function_graph without a time or a process

    std::uint64_t beyond_names = 0;      ///< events of probes, because there were too many other names before
    std::uint64_t unreadable = 0;        ///< lines that are nothing that a tool writes
    std::uint64_t first_unreadable = 0;  ///< its number, from 1

    std::size_t pairs() const;
};

/// Errors: those of the file; nothing in it is a pair of probes, with what is there instead.
Result<Survey> survey(const std::string& path, const std::string& name, const Dialect& dialect,
                      const Progress& progress);

/// What remains of a return probe's name without what tools and people add to that of the function:
/// `f__return`, `f__return_1`, `f_ret`, `f_return`, `f_exit`, …. The name itself if it has no such ending.
std::string_view without_return(std::string_view event);

}  // namespace rdam::inputs::probes
