#include "tools/trace/packs.h"

#include <cstring>

namespace rdam::trace {

std::optional<PackLayout> pack_layout(std::span<const std::uint8_t> bytes) {
    PackLayout layout;
    if (bytes.size() < sizeof layout.header) return {};
    std::memcpy(&layout.header, bytes.data(), sizeof layout.header);
    const pack::Header& header = layout.header;
    if (header.size > bytes.size() || header.size % 8 != 0 || header.events == 0 ||
        header.events > pack::kMaxEvents || header.ops == 0 || header.ops > pack::kMaxOps || header.step == 0)
        return {};
    layout.ops = sizeof header;
    std::uint64_t at = layout.ops + header.ops * sizeof(pack::Op);
    for (std::size_t i = 0; i < pack::kColumns; ++i) {
        layout.columns[i] = at;
        at += header.bytes[i];
    }
    if (at > header.size || header.size - at >= 8) return {};
    return layout;
}

}  // namespace rdam::trace
