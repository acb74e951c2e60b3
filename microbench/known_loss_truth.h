// The scores that a program computes for itself, from its own timestamps, by the definitions of
// docs/analyzer.md. Times are ticks of the time-stamp counter; JSON has nanoseconds.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace known_loss {

/// One call, as measured from inside.
struct Call {
    std::uint32_t shape = 0;  ///< calls of equal shape have done the same: they are one sequence
    bool outermost = true;    ///< false: called from within a call of the same function
    std::uint64_t duration = 0;
    std::uint64_t self = 0;        ///< without the time in other measured calls
    const char* caller = nullptr;  ///< null: of no interest
};

/// The calls of one function in one thread.
struct FunctionCalls {
    std::string name;
    std::vector<Call> calls;
    std::uint64_t unsettled =
        0;  ///< around calls, in gaps between two readings of the clock where a thread lost its processor
};

struct ThreadRecord {
    int tid = 0;
    std::uint64_t duration = 0;   ///< T
    std::uint64_t waited_ns = 0;  ///< for a processor
    std::vector<FunctionCalls> functions;
};

/// `threads` are all of the process, the main thread included, even those without calls.
nlohmann::ordered_json truth(const std::vector<ThreadRecord>& threads, double ticks_per_ns);

}  // namespace known_loss
