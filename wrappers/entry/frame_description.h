// What .eh_frame says of one function's frames.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

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

}  // namespace rdam::unwinding
