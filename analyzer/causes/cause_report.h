// The output of a tool that reports causes: how many cache misses, lock waits or conflicting accesses
// happened in which function.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rdam::causes {

/// A function, or a source line where the tool knows no more. As the tool printed it: not made safe for a
/// terminal.
struct CauseRow {
    std::string function;     ///< empty: only the line is known
    std::string module;       ///< file name or path of its object; empty: not known
    std::string file;         ///< empty: not known
    std::uint32_t line = 0;   ///< 0: not known
    double share = 0;         ///< of the report's total, the function's own: 0…1
    double with_callees = 0;  ///< the same with what happened in functions it called; = share if not known
    double absolute = 0;      ///< own, in the report's unit
};

/// A source line of a function's code, inlined code included.
struct LineShare {
    std::string function;
    std::string module;  ///< empty: not known
    std::string file;
    std::uint32_t line = 0;
    double share = 0;  ///< of the report's total: 0…1
};

struct CauseReport {
    std::string tool;   ///< "perf report", "coz", …
    std::string label;  ///< what was counted: "cache-misses", "HITM", "D1mr", …
    std::string unit;   ///< of CauseRow::absolute; empty: the tool prints shares only
    std::string file;   ///< where it comes from
    /// False: it says where the program works (time, instructions), not what disturbs it.
    bool disturbs = true;
    /// Whether the shares of several lines of one function add up; else the highest counts.
    bool adds_up = true;
    double total = 0;  ///< in `unit`
    std::vector<CauseRow> rows;
    std::vector<LineShare> lines = {};  ///< if the tool reports lines in addition to functions
};

}  // namespace rdam::causes
