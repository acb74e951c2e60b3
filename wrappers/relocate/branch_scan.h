// Finds references within a function to its own first bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rdam::relocation {

enum class ReferenceKind : std::uint8_t { jump, call, address };

/// An instruction of the function that names one of its first bytes.
struct Reference {
    std::uint32_t source = 0;      ///< offset of the instruction
    std::uint32_t source_end = 0;  ///< offset behind it
    std::uint32_t target = 0;      ///< offset referred to, < head
    ReferenceKind kind = ReferenceKind::jump;
};

/// Every direct reference from within `body` to its first `head` bytes, by ascending source. Decodes linearly
/// from the first byte, steps over what is no instruction, and decodes once more from every branch target
/// that the sweep had taken for the middle of an instruction (data between the code puts a sweep out of
/// step). Jumps through tables and registers are invisible here.
std::vector<Reference> references_to_head(std::span<const std::uint8_t> body, std::uint32_t head);

}  // namespace rdam::relocation
