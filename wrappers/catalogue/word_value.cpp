#include "wrappers/catalogue/word_value.h"

#include <bit>

namespace rdam {

WordValue value_of(ValueKind kind, unsigned size, std::uint64_t word) {
    constexpr unsigned kBits = 64;
    const unsigned unused = size > 0 && size < sizeof word ? kBits - 8U * size : 0;
    const std::uint64_t used = word << unused >> unused;
    switch (kind) {
        case ValueKind::signed_integer:
        case ValueKind::enumeration:
            return std::bit_cast<std::int64_t>(word << unused) >> unused;
        case ValueKind::boolean:
            return used != 0;
        case ValueKind::floating:
            if (size == sizeof(float)) return std::bit_cast<float>(static_cast<std::uint32_t>(word));
            return std::bit_cast<double>(word);
        case ValueKind::pointer:
        case ValueKind::unsigned_integer:
            break;
    }
    return used;
}

}  // namespace rdam
