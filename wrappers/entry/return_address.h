// Functions that read their return address.
#pragma once

#include <cstdint>
#include <optional>

#include "wrappers/entry/frame_description.h"
#include "wrappers/object/object_file.h"

namespace rdam {

/// Finds the instructions with which a function reads its own return address, as for
/// `__builtin_return_address(0)`. Where that address is on the stack is known from the unwind tables: without
/// them, or where they contradict the code, nothing is found. Reads through a copied frame pointer
/// (`__builtin_return_address(1)`) are not seen.
class ReturnAddressReads {
  public:
    /// `file` must outlive this.
    explicit ReturnAddressReads(const ObjectFile& file) : file_{file}, rows_{file} {}

    /// The offset in the function of the first such instruction.
    std::optional<std::uint64_t> first_in(const CodeRange& function) const;

  private:
    const ObjectFile& file_;
    StackRows rows_;
};

}  // namespace rdam
