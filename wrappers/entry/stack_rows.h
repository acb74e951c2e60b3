// Where a function's frame is at each of its instructions, according to the unwind tables.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>

#include "wrappers/object/frame_table.h"

namespace rdam {

/// DWARF's numbers of the registers that frames are addressed by.
inline constexpr unsigned kDwarfRbp = 6;
inline constexpr unsigned kDwarfRsp = 7;

/// A run of instructions with one rule for where the frame is.
struct StackRow {
    CodeRange code;
    unsigned base = 0;  ///< register, DWARF's number
    std::int64_t offset = 0;
    bool known = false;
};

StackRow stack_row_at(Dwarf_CFI* tables, std::uint64_t address);

}  // namespace rdam
