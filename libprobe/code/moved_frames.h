// Unwind tables for code that no loader knows: what was moved out of functions, and the gates before it.
//
// An unwinder asks the dynamic linker for the tables of an address (_dl_find_object, glibc 2.35). For moved
// code this library answers, with a table in the form of .eh_frame_hdr (LSB "Linux Standard Base
// Core", 10.6.2) that lies behind it: exceptions that moved instructions raise are caught, and stacks that
// are walked there are walked to their end.
#pragma once

#include <cstdint>

namespace rdam::probe {

/// What a mapping's tables are of.
struct FrameCounts {
    std::uint32_t functions = 0;
    std::uint32_t pushing = 0;  ///< functions whose gates push something
    std::uint32_t jumps = 0;    ///< functions whose jump is in the padding before them
};

/// Room for the tables; a multiple of 4.
std::uint32_t frames_size(const FrameCounts& counts);

/// Writes the tables of one mapping of moved code, in ascending order of its addresses.
class FrameTables {
  public:
    /// `at`: where frames_size() bytes are free, a multiple of 4, in the mapping from `mapping` on.
    FrameTables(std::uint64_t at, std::uint64_t mapping, std::uint64_t mapping_size,
                const FrameCounts& counts);

    /// From `begin` on there is code that has pushed nothing.
    void add(std::uint64_t begin);
    /// From `begin` to `end` code that has pushed one register; behind it, it has pushed nothing again.
    void add_pushed(std::uint64_t begin, std::uint64_t end);
    /// From `moved` on there are moved instructions whose frame description is at `description`; 0: they have
    /// none.
    void add_moved(std::uint64_t moved, std::uint64_t description);

    /// A table for a jump in an object's padding, of which its own tables say nothing, for note_jump().
    void add_jump(std::uint64_t jump);
    /// The tables of add_jump(), in the order in which they were added.
    std::uint64_t jump_table(std::uint32_t index) const;

    /// What _dl_find_object() answers.
    std::uint64_t header() const { return header_; }

  private:
    void add_row(std::uint64_t code, std::uint64_t description);

    std::uint64_t header_;
    std::uint64_t entered_;      ///< a description for code at whose begin the call has just been made
    std::uint64_t pushed_;       ///< one for code that has pushed a register since
    std::uint64_t undescribed_;  ///< one that covers nothing
    std::uint64_t jumps_;        ///< the first table of a jump
    std::uint32_t rows_ = 0;
    std::uint32_t jump_count_ = 0;
};

/// From now on unwinders find `table` for the jump at `jump`. Where there are too many of them they do not.
void note_jump(std::uint64_t jump, std::uint64_t table);

/// The code from `low` to `high` is gone.
void forget_jumps(std::uint64_t low, std::uint64_t high);

}  // namespace rdam::probe
