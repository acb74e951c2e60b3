// The extents of functions according to .eh_frame: known even where every symbol has been stripped.
#pragma once

#include <cstdint>
#include <optional>
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

}  // namespace rdam
