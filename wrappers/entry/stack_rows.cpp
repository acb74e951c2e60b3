#include "wrappers/entry/stack_rows.h"

#include <dwarf.h>

#include <cstdlib>

namespace rdam {

StackRow StackRows::at(std::uint64_t address) const {
    StackRow row;
    Dwarf_Frame* frame = nullptr;
    if (dwarf_cfi_addrframe(tables_.get(), address, &frame) != 0) return row;
    Dwarf_Op* operations = nullptr;
    std::size_t count = 0;
    dwarf_frame_info(frame, &row.code.begin, &row.code.end, nullptr);
    if (dwarf_frame_cfa(frame, &operations, &count) == 0 && count == 1 && operations[0].atom == DW_OP_bregx) {
        row.base = static_cast<unsigned>(operations[0].number);
        row.offset = static_cast<std::int64_t>(operations[0].number2);
        row.known = true;
    }
    std::free(frame);  // NOLINT(*-no-malloc): libdw says so
    return row;
}

}  // namespace rdam
