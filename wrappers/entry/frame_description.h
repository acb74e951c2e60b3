// What .eh_frame says of one function's frames.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/object/object_file.h"

namespace rdam::unwinding {

/// LSB "Linux Standard Base Core", 10.6. All addresses are link-time ones.
struct FrameDescription {
    CodeRange code;
    std::uint64_t code_alignment = 1;
    std::int64_t data_alignment = 1;
    std::uint64_t return_register = 0;
    /// Call frame instructions, in the object's bytes: all functions' of the kind, then its own.
    std::span<const std::uint8_t> initial;
    std::span<const std::uint8_t> program;
    struct Personality {
        std::uint64_t address = 0;
        bool indirect = false;  ///< the address is where a pointer to it is
    };
    std::optional<Personality> personality;
    std::uint64_t landing_table = 0;  ///< its language-specific data; 0: none
};

/// Nothing: no description covers the address, or it is not understood.
std::optional<FrameDescription> frame_description(const ObjectFile& file, std::uint64_t address);

/// Whether addresses of this encoding are in the file what they are in memory, but for the load base.
bool is_settled(const ObjectFile& file, std::uint8_t encoding);

// Reading and writing the bytes of unwind tables.

/// Reads forward through bytes that may be damaged: what would be behind the end is 0, and bad() from then
/// on.
class Cursor {
  public:
    explicit Cursor(std::span<const std::uint8_t> bytes)
        : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}

    bool bad() const { return bad_; }
    bool at_end() const { return at_ == end_; }
    const std::uint8_t* at() const { return at_; }
    std::span<const std::uint8_t> rest() const { return {at_, end_}; }

    std::uint8_t byte();
    /// Little-endian, `size` bytes, at most 8.
    std::uint64_t fixed(unsigned size);
    std::uint64_t uleb();
    std::int64_t sleb();
    void skip(std::uint64_t size);

  private:
    const std::uint8_t* at_;
    const std::uint8_t* end_;
    bool bad_ = false;
};

using Bytes = std::vector<std::uint8_t>;

void put_fixed(Bytes& out, std::uint64_t value, unsigned size);
void put_uleb(Bytes& out, std::uint64_t value);
void put_sleb(Bytes& out, std::int64_t value);
/// In exactly `size` bytes, which must be enough.
void put_padded_uleb(Bytes& out, std::uint64_t value, unsigned size);
void put_bytes(Bytes& out, std::span<const std::uint8_t> bytes);

}  // namespace rdam::unwinding

// Where a function's frame is at each of its instructions, according to the unwind tables.

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
