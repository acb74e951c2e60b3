// The extents of functions according to .eh_frame: known even where every symbol has been stripped.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wrappers/object/elf_image.h"

namespace rdam {

struct CodeRange {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;  ///< first address behind it

    std::uint64_t size() const { return end - begin; }
    bool contains(std::uint64_t address) const { return address >= begin && address < end; }
};

/// The place of a frame description.
struct FramePlace {
    std::size_t section = 0;   ///< which of the object's, one of those named .eh_frame
    std::uint64_t offset = 0;  ///< in it
};

/// Immutable once read; safe to share between threads.
class FrameTable {
  public:
    /// Damaged tables yield what could be read before the damage.
    static FrameTable read(const ElfImage& image, const std::vector<ElfSection>& sections);

    /// The frame description that covers `address`.
    std::optional<CodeRange> find(std::uint64_t address) const;
    /// Where that description is.
    std::optional<FramePlace> place_of(std::uint64_t address) const;
    /// The first description that begins behind `address`.
    std::optional<CodeRange> next(std::uint64_t address) const;
    const std::vector<CodeRange>& ranges() const { return ranges_; }

  private:
    /// ranges_.size(): none covers the address.
    std::size_t index_of(std::uint64_t address) const;

    std::vector<CodeRange> ranges_;  // by begin
    std::vector<FramePlace> places_;
};

// The pointers in unwind tables, in whatever form the compiler chose.

/// Encodings: LSB "Linux Standard Base Core", 10.5.1. Thread-safe.
class EncodedPointers {
  public:
    /// `section` is at the link-time address `address`, in an object for 64 bits or for 32.
    EncodedPointers(std::span<const std::uint8_t> section, std::uint64_t address, bool is_64_bit)
        : section_{section}, address_{address}, is_64_bit_{is_64_bit} {}

    /// Reads one pointer at `position` and advances it; of an indirect one where the pointer is. Nothing: out
    /// of bounds, or an encoding that cannot be resolved without the running program.
    std::optional<std::uint64_t> read(const std::uint8_t*& position, std::uint8_t encoding) const;

  private:
    template <class T>
    std::optional<std::uint64_t> fixed(const std::uint8_t*& position) const;
    std::optional<std::uint64_t> read_value(const std::uint8_t*& position, unsigned format) const;

    std::span<const std::uint8_t> section_;
    std::uint64_t address_;
    bool is_64_bit_;
};

}  // namespace rdam
