// Writing the plan into the program's code.
#pragma once

#include <cstdint>

#include "libprobe/format/shared.h"

namespace rdam::probe {

struct PatchResult {
    std::uint32_t wrapped = 0;
    std::uint32_t changed = 0;  ///< the bytes in memory are not those the plan was made for: left alone
    std::uint32_t no_room = 0;  ///< no memory within reach of the function: left alone
    std::uint32_t closed = 0;   ///< neither the program nor the kernel may write to the code: left alone

    bool none_took() const { return wrapped == 0 && changed + no_room + closed > 0; }
};

/// Fills rdam_functions and globals.addresses, and patches every entry; those of functions that may be
/// sampled in windows lead to a gate (gates.h). Must run while no other thread can be executing the code that
/// is changed. Text is writable only while it is being written, and never executable at the same time.
PatchResult apply_plan(const char* plan_area, const shm::PlanReply& reply);

/// The code from `low` to `high` is gone, and what was moved out of it can never run again: its memory is
/// given back.
void forget_moved_code(std::uint64_t low, std::uint64_t high);

/// The mapping with moved code that `address` is in; no frames: there is none. At any time, in any thread.
struct MovedCode {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::uint64_t frames = 0;  ///< FrameTables::header()
};
MovedCode moved_code_at(std::uint64_t address);

/// Says on stderr what was left alone, and tells the agent where nothing was wrapped.
void report(const PatchResult& result);

/// Prepares the entry that probe cost is measured with; its number is `number`.
void prepare_empty_function(std::uint32_t number);

}  // namespace rdam::probe
