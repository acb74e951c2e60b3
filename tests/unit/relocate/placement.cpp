#include "tests/unit/relocate/placement.h"

#include <cstring>
#include <limits>

namespace rdam::test {

std::optional<std::vector<std::uint8_t>> placed_code(const MovedPrologue& moved, std::uint64_t base,
                                                     std::uint64_t place) {
    std::vector<std::uint8_t> code = moved.code;
    for (const plan::Fixup& fixup : moved.fixups) {
        const std::uint64_t target = base + static_cast<std::uint64_t>(fixup.target);
        std::uint8_t* field = code.data() + fixup.code_offset;
        if (fixup.kind == plan::FixupKind::abs64) {
            std::memcpy(field, &target, sizeof target);
            continue;
        }
        const auto distance = static_cast<std::int64_t>(target - (place + fixup.code_offset + 4));
        if (distance < std::numeric_limits<std::int32_t>::min() ||
            distance > std::numeric_limits<std::int32_t>::max())
            return std::nullopt;
        const auto relative = static_cast<std::int32_t>(distance);
        std::memcpy(field, &relative, sizeof relative);
    }
    return code;
}

}  // namespace rdam::test
