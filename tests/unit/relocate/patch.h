// Patches a function of this process as the recorder does, with a counter in place of its trampoline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "wrappers/entry/relocate.h"

namespace rdam::test {

/// From construction to destruction every call of the function is counted on its way to the moved prologue.
/// Not thread-safe; one at a time.
class Patch {
  public:
    /// `padding_before` bytes right before the function belong to nobody; `other_entries` are offsets in it.
    Patch(const std::uint8_t* function, std::size_t size, std::uint32_t padding,
          std::size_t padding_before = 0, std::span<const std::uint64_t> other_entries = {});
    ~Patch();
    Patch(const Patch&) = delete;
    Patch& operator=(const Patch&) = delete;
    Patch(Patch&&) = delete;
    Patch& operator=(Patch&&) = delete;

    /// Why it is not patched; empty if it is.
    const std::string& problem() const { return problem_; }
    std::uint64_t calls() const;
    /// How far before the entry the jump stands; 0: at the entry.
    std::size_t jump_before() const { return jump_before_; }

  private:
    void write_stub(const MovedPrologue& moved, std::uint64_t base);
    void write_jump();
    void write_code(std::span<const std::uint8_t> bytes);

    std::uint8_t* function_;
    std::uint8_t* stub_ = nullptr;
    std::size_t jump_before_ = 0;
    std::vector<std::uint8_t> saved_;  ///< from the jump to the end of the patch at the entry
    std::string problem_;
};

}  // namespace rdam::test
