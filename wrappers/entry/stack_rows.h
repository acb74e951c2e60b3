// Where a function's frame is at each of its instructions, according to the unwind tables.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>

#include "wrappers/object/object_file.h"

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

/// The unwind tables of one object. Thread-compatible.
class StackRows {
  public:
    /// `file` must outlive this.
    explicit StackRows(const ObjectFile& file) : tables_{dwarf_getcfi_elf(file.image().handle())} {}

    /// Whether the object has such tables; at() is for those that have.
    bool exist() const { return tables_ != nullptr; }
    StackRow at(std::uint64_t address) const;

  private:
    struct End {
        void operator()(Dwarf_CFI* tables) const { dwarf_cfi_end(tables); }
    };
    std::unique_ptr<Dwarf_CFI, End> tables_;
};

}  // namespace rdam
