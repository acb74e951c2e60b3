// What the first instructions of a function do with what its caller has passed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/entry/frame_description.h"
#include "wrappers/object/object_file.h"
#include "wrappers/prototype/prototype.h"

namespace rdam {

/// An argument on its way to where the function keeps it.
struct Arrival {
    ArgumentPlace passed;
    bool changed = false;  ///< what is kept is not all that was passed: the lowest bit of a truth value
};

/// DWARF's number of a register, as the place of an argument; nothing: none is passed there.
std::optional<ArgumentPlace> argument_register(unsigned dwarf_register);

/// The instructions of one function up to its first branch, call or return, which all calls run through.
class EntryBlock {
  public:
    /// `file` and its `rows` must outlive this.
    EntryBlock(const ObjectFile& file, const StackRows& rows, const CodeRange& function);

    /// What the code puts into each of these places before anything else. Places behind the return address
    /// are where the caller has put it. The places must be those of all parameters: what is read from one of
    /// them is the program's own business, no longer an argument on its way.
    std::vector<std::optional<Arrival>> arrivals(const std::vector<FrameBytes>& places) const;

    /// What is in the register, `size` bytes of it, until the function changes it itself: the argument passed
    /// in it if nothing else is ever put there, or the only one that is.
    std::optional<ArgumentPlace> kept_in(unsigned dwarf_register, std::uint64_t size) const;

  private:
    class Walk;
    std::optional<std::int64_t> complete_stack(const Walk& walk) const;

    const StackRows& rows_;
    CodeRange function_;
    std::span<const std::uint8_t> code_;
};

/// The entry blocks of one object. Thread-compatible.
class EntryBlocks {
  public:
    /// `file` must outlive this.
    explicit EntryBlocks(const ObjectFile& file) : file_{file}, rows_{file} {}
    EntryBlock of(const CodeRange& function) const { return {file_, rows_, function}; }

  private:
    const ObjectFile& file_;
    StackRows rows_;
};

}  // namespace rdam
